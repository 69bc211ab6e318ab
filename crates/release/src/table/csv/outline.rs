//! What a table looks like from outside: names of columns, and whether they hold numbers.

use super::super::{Decimal, MAX_TEXT, clean_text};
use super::dialect::Dialect;
use super::{Blocks, bad_header, regular_file, unreadable};
use crate::Error;
use std::collections::BTreeSet;
use std::path::Path;

/// Records after which a column's kind is decided.
const LOOKED_AT: usize = 1_000;
/// Most columns of a table whose outline is taken.
pub const MAX_OUTLINED_COLUMNS: usize = 10_000;
/// Most distinct values of a column that are listed.
pub const MAX_LISTED_VALUES: usize = 200;

/// A column, as far as it can be described without an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnOutline {
    /// From the first line.
    pub name: String,
    /// What its cells look like.
    pub looks: Looks,
    /// Its distinct values, if they were asked for and are few enough to list.
    pub values: Option<Vec<String>>,
}

/// What the cells of a column look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// There are none.
    Empty,
    /// All are decimal numbers.
    Numeric,
    /// Some are not.
    Text,
}

/// Reads the first line of a table and looks at the kinds of its cells: at those of the first
/// records, or with `with_values` of all, whose values are then listed.
///
/// # Errors
/// If the file cannot be read, or its first line does not name columns.
pub fn outline_csv(path: &Path, with_values: bool) -> Result<Vec<ColumnOutline>, Error> {
    let name = path.display().to_string();
    let file = regular_file(path)?;
    let bad = |problem: &str| bad_header(&name, problem);
    let looked = Dialect::recognized().look(file);
    let (dialect, _, source) = looked.map_err(|error| unreadable(&name, error))?;
    let mut source = dialect.encoding.decoded(source);
    let mut blocks = Blocks::new(&name, dialect);
    let mut columns: Vec<Growing> = Vec::new();
    let mut records = 0;
    while let Some(length) = blocks.fill(&mut source)? {
        let mut reader = dialect.reader(&blocks.buffer[..length]);
        let mut record = ::csv::ByteRecord::new();
        while matches!(reader.read_byte_record(&mut record), Ok(true)) {
            if columns.is_empty() {
                columns = header(&record).map_err(|problem| bad(&problem))?;
                continue;
            }
            let cells = record.iter().map(<[u8]>::trim_ascii);
            records += 1;
            columns.iter_mut().zip(cells).for_each(|(column, cell)| column.take(cell, with_values));
            if records >= LOOKED_AT && !with_values {
                return Ok(columns.into_iter().map(|column| column.finish(false)).collect());
            }
        }
        blocks.consume(length);
    }
    if columns.is_empty() {
        return Err(bad("the first line must name the columns"));
    }
    Ok(columns.into_iter().map(|column| column.finish(with_values)).collect())
}

/// The columns that the first line names.
fn header(record: &::csv::ByteRecord) -> Result<Vec<Growing>, String> {
    if record.len() > MAX_OUTLINED_COLUMNS {
        return Err(format!(
            "the first line has {} columns, and at most {MAX_OUTLINED_COLUMNS} are read: give a file \
             with a first line of the columns that are to be released, nothing else",
            record.len()
        ));
    }
    let named = record.iter().enumerate().map(|(place, name)| {
        let wrong = |what: &str| format!("the name of column {} {what}", place + 1);
        let name = std::str::from_utf8(name.trim_ascii())
            .map_err(|_| wrong("is not UTF-8: save the file as UTF-8, or write the name anew"))?;
        // What could not be decoded is U+FFFD.
        if name.contains('\u{fffd}') {
            return Err(wrong("holds what is no character: save the file as UTF-8"));
        }
        Growing::new(name).map_err(|error| wrong(&format!("cannot be used: {error}")))
    });
    named.collect()
}

struct Growing {
    outline: ColumnOutline,
    filled: usize,
    values: BTreeSet<String>,
}

impl Growing {
    fn new(name: &str) -> Result<Self, Error> {
        let name = clean_text(name.trim_start_matches('\u{feff}'))?;
        let outline = ColumnOutline { name, looks: Looks::Empty, values: None };
        Ok(Self { outline, filled: 0, values: BTreeSet::new() })
    }

    fn take(&mut self, cell: &[u8], with_values: bool) {
        if cell.is_empty() {
            return;
        }
        self.filled += 1;
        let text = std::str::from_utf8(cell).ok();
        let number = text.is_some_and(|text| Decimal::parse_rounding_down(text).is_ok());
        self.outline.looks = match self.outline.looks {
            Looks::Text => Looks::Text,
            _ if number => Looks::Numeric,
            _ => Looks::Text,
        };
        if let (true, Some(text)) = (with_values && self.values.len() <= MAX_LISTED_VALUES, text)
            && text.len() <= 4 * MAX_TEXT
        {
            self.values.insert(text.to_owned());
        }
    }

    fn finish(self, with_values: bool) -> ColumnOutline {
        // Where most records have a value of their own, the values are people's, not the world's.
        let own = self.values.len() > 20 && 2 * self.values.len() > self.filled;
        let few = with_values && self.values.len() <= MAX_LISTED_VALUES && !own;
        let clean = || self.values.iter().map(|value| clean_text(value).ok()).collect();
        ColumnOutline { values: if few { clean() } else { None }, ..self.outline }
    }
}
