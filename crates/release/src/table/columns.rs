//! The records of one party, column by column, as compact codes.

use super::Decimal;
use std::fmt;

/// One column. A record's code is its place among the leaves of the taxonomy, or its grid point.
#[derive(Clone, PartialEq, Eq)]
pub enum Column {
    /// A leaf's place in [`super::Taxonomy::leaves`].
    Categorical(Vec<u16>),
    /// A point of the grid.
    Numeric(Vec<u32>),
    /// Any number of leaves.
    Set(SetColumn),
}

/// Records that hold several leaves each: all items in one list, and where each record's end.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct SetColumn {
    ends: Vec<usize>,
    items: Vec<u16>,
}

/// The records that a party holds. Private: nothing of it is shown by `Debug`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Table {
    columns: Vec<Option<Column>>,
    classes: Vec<u8>,
    identifiers: Option<Vec<String>>,
    /// The position of each record in its file, if it was read with identifiers.
    lines: Vec<u64>,
    /// Per attribute, how many values were out of range and read as the nearest end.
    outside: Vec<u64>,
}

impl Table {
    /// A table from its parts: a column per attribute of the schema, `None` where another party
    /// holds it; the class of each record; its identifier, where individuals are matched.
    /// `None` if the columns differ in length.
    pub fn new(
        columns: Vec<Option<Column>>,
        classes: Vec<u8>,
        identifiers: Option<Vec<String>>,
    ) -> Option<Self> {
        let records = classes.len();
        let fits = columns.iter().flatten().all(|column| column.len() == records)
            && identifiers.as_ref().is_none_or(|identifiers| identifiers.len() == records);
        fits.then_some(Self {
            columns,
            classes,
            identifiers,
            lines: Vec::new(),
            outside: Vec::new(),
        })
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether there is no record; a normal case.
    pub fn is_empty(&self) -> bool {
        self.classes.is_empty()
    }

    /// The column of an attribute, if this party holds it.
    pub fn column(&self, attribute: usize) -> Option<&Column> {
        self.columns.get(attribute)?.as_ref()
    }

    /// Each record's class, by its place in the agreement; zeros in the table of a party that does
    /// not hold it.
    pub fn classes(&self) -> &[u8] {
        &self.classes
    }

    /// Each record's identifier, normalized, where the reading asked for them.
    pub fn identifiers(&self) -> Option<&[String]> {
        self.identifiers.as_deref()
    }

    /// The line of a record in the file that it was read from, where identifiers were read too.
    pub fn line(&self, record: usize) -> Option<u64> {
        self.lines.get(record).copied()
    }

    /// Records the positions in the file.
    pub(super) fn with_lines(self, lines: Vec<u64>) -> Self {
        Self { lines, ..self }
    }

    /// Records how many values were out of range.
    pub(super) fn with_outside(self, outside: Vec<u64>) -> Self {
        Self { outside, ..self }
    }

    /// How many values of an attribute were out of range in the file and read as the nearest end.
    /// Private, as all of the table is.
    pub fn outside(&self, attribute: usize) -> u64 {
        self.outside.get(attribute).copied().unwrap_or(0)
    }

    /// The table of some of the records, in the order given: as a set intersection aligns them.
    /// Places past the end are left out.
    #[must_use]
    pub fn select(&self, records: &[usize]) -> Self {
        let known: Vec<usize> =
            records.iter().copied().filter(|record| *record < self.len()).collect();
        Self {
            columns: self
                .columns
                .iter()
                .map(|column| column.as_ref().map(|column| column.select(&known)))
                .collect(),
            classes: known.iter().map(|record| self.classes[*record]).collect(),
            identifiers: self
                .identifiers
                .as_ref()
                .map(|all| known.iter().map(|record| all[*record].clone()).collect()),
            lines: known.iter().filter_map(|record| self.line(*record)).collect(),
            outside: self.outside.clone(),
        }
    }

    /// Takes the records of `other` behind its own; both were read in the same way. The lines of
    /// `other` are counted from this one.
    pub(crate) fn append(&mut self, mut other: Self, first_line: u64) {
        other.lines.iter_mut().for_each(|line| *line += first_line);
        if self.columns.is_empty() {
            *self = other;
            return;
        }
        for (mine, theirs) in self.columns.iter_mut().zip(other.columns) {
            if let (Some(mine), Some(theirs)) = (mine, theirs) {
                mine.append(theirs);
            }
        }
        for (mine, theirs) in self.outside.iter_mut().zip(other.outside) {
            *mine += theirs;
        }
        self.classes.extend(other.classes);
        self.lines.extend(other.lines);
        if let (Some(mine), Some(theirs)) = (&mut self.identifiers, other.identifiers) {
            mine.extend(theirs);
        }
    }
}

impl Column {
    /// Number of records.
    pub fn len(&self) -> usize {
        match self {
            Self::Categorical(codes) => codes.len(),
            Self::Numeric(points) => points.len(),
            Self::Set(sets) => sets.len(),
        }
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn select(&self, records: &[usize]) -> Self {
        match self {
            Self::Categorical(codes) => {
                Self::Categorical(records.iter().map(|record| codes[*record]).collect())
            }
            Self::Numeric(points) => {
                Self::Numeric(records.iter().map(|record| points[*record]).collect())
            }
            Self::Set(sets) => {
                let mut selected = SetColumn::default();
                records.iter().for_each(|record| selected.push(sets.items(*record)));
                Self::Set(selected)
            }
        }
    }

    fn append(&mut self, other: Self) {
        match (self, other) {
            (Self::Categorical(mine), Self::Categorical(theirs)) => mine.extend(theirs),
            (Self::Numeric(mine), Self::Numeric(theirs)) => mine.extend(theirs),
            (Self::Set(mine), Self::Set(theirs)) => {
                let before = mine.items.len();
                mine.items.extend(theirs.items);
                mine.ends.extend(theirs.ends.into_iter().map(|end| before + end));
            }
            _ => {}
        }
    }
}

impl SetColumn {
    /// Adds a record with these leaves.
    pub fn push(&mut self, items: &[u16]) {
        self.items.extend_from_slice(items);
        self.ends.push(self.items.len());
    }

    /// The leaves that a record holds.
    pub fn items(&self, record: usize) -> &[u16] {
        let start = record.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.items[start..self.ends[record]]
    }

    /// Number of records.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no record.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl fmt::Debug for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Table(..)")
    }
}

impl fmt::Debug for Column {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Column(..)")
    }
}

impl fmt::Debug for SetColumn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SetColumn(..)")
    }
}

/// A whole number written with digits only, or `None`: the fast way in for most numeric cells.
pub(super) fn plain_integer(text: &[u8]) -> Option<i64> {
    if text.is_empty() || text.len() > 18 || (text[0] == b'0' && text.len() > 1) {
        return None;
    }
    text.iter().try_fold(0i64, |sum, byte| {
        byte.is_ascii_digit().then(|| sum * 10 + i64::from(byte - b'0'))
    })
}

/// The whole number that a decimal is, if it is one of at most 18 digits.
pub(super) fn whole(number: Decimal) -> Option<i64> {
    (number.scale() == 0).then(|| number.floor_units(0)).and_then(|units| units.try_into().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selected_records_keep_their_values_in_the_new_order() {
        let mut sets = SetColumn::default();
        [&[1u16, 2][..], &[], &[3]].iter().for_each(|items| sets.push(items));
        let table = Table::new(
            vec![
                Some(Column::Categorical(vec![7, 8, 9])),
                None,
                Some(Column::Numeric(vec![70, 80, 90])),
                Some(Column::Set(sets)),
            ],
            vec![0, 1, 0],
            Some(vec!["a".into(), "b".into(), "c".into()]),
        )
        .unwrap();
        let selected = table.select(&[2, 0, 9]);
        assert_eq!((selected.len(), selected.classes()), (2, &[0u8, 0][..]));
        assert!(selected.column(0) == Some(&Column::Categorical(vec![9, 7])));
        assert!(selected.column(2) == Some(&Column::Numeric(vec![90, 70])));
        let Some(Column::Set(sets)) = selected.column(3) else { panic!("a set") };
        assert_eq!((sets.items(0), sets.items(1)), (&[3u16][..], &[1u16, 2][..]));
        assert_eq!(selected.identifiers().unwrap(), ["c", "a"]);
        assert!(selected.column(1).is_none() && selected.column(4).is_none());
    }

    #[test]
    fn columns_of_different_lengths_are_no_table() {
        assert!(Table::new(vec![Some(Column::Numeric(vec![1]))], vec![], None).is_none());
    }

    #[test]
    fn debug_shows_no_record() {
        let table = Table::new(vec![Some(Column::Numeric(vec![12345]))], vec![0], None).unwrap();
        assert!(!format!("{table:?}{:?}", table.column(0)).contains("12345"));
    }

    #[test]
    fn plain_integers_are_digits_only() {
        assert_eq!(plain_integer(b"0"), Some(0));
        assert_eq!(plain_integer(b"120"), Some(120));
        for text in [&b""[..], b"-1", b"01", b"1.5", b"1a", b"1234567890123456789"] {
            assert_eq!(plain_integer(text), None);
        }
    }
}
