//! Whether a table with exact counts keeps to δ at one site: what the site can see at home.
//!
//! *Inputs*: the released table and the site's own, both as CSV, and the columns of the site. A
//! released value stands for a site's value if it is the same text, an interval that holds it
//! (`[18..56]`, `[0, 15)`, `[85, 99]`), or a value of the column's taxonomy above it.
//! *Cost*: combinations in the release times distinct rows of the site, at most
//! [`MOST_STEPS`].

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::ops::Range;

use super::Delta;
use crate::release::groups::MOST_STEPS;
use crate::table::{Decimal, Taxonomy};

/// Equal rows of a table, and how many people they represent.
type Rows = BTreeMap<Vec<String>, u64>;

/// A column of the site.
#[derive(Clone, Copy, Debug)]
pub struct Column<'a> {
    /// Its name in both tables.
    pub name: &'a str,
    /// What its values generalize to, if they are words.
    pub taxonomy: Option<&'a Taxonomy>,
}

/// What a site sees.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Combinations of the site's columns in the release.
    pub combinations: usize,
    /// Of the combination that tells most: people in the release, and people at the site.
    pub largest: (u64, u64),
    /// People of the site whose combination shows that they are in the release.
    pub certain: u64,
    /// The first combination that tells more than δ, in words.
    pub offender: Option<String>,
}

/// Compares a release with the site's own table. `count` is the column of the release that says how
/// many people a row stands for; without it, each for one.
///
/// # Errors
/// What is wrong with a table, or that the release is not one of the site's people.
pub fn check(
    release: impl io::Read,
    count: Option<&str>,
    site: impl io::Read,
    columns: &[Column<'_>],
    delta: Delta,
) -> Result<Seen, String> {
    let released =
        rows(release, columns, count).map_err(|error| format!("the release: {error}"))?;
    let own = rows(site, columns, None).map_err(|error| format!("the site's table: {error}"))?;
    let steps = (released.len() as u64).saturating_mul(own.len() as u64);
    if steps > MOST_STEPS {
        return Err(format!("{steps} comparisons are more than {MOST_STEPS}: give fewer columns"));
    }
    let mut readings: Vec<HashMap<&str, Reading>> = vec![HashMap::new(); columns.len()];
    for row in released.keys() {
        for ((value, readings), column) in row.iter().zip(&mut readings).zip(columns) {
            readings.entry(value.as_str()).or_insert_with(|| Reading::of(value, column));
        }
    }
    let mut seen =
        Seen { combinations: released.len(), largest: (0, 1), certain: 0, offender: None };
    for (row, common) in &released {
        let stands_for = |own: &&Vec<String>| {
            let mut cells = row.iter().zip(own.iter()).zip(readings.iter().zip(columns));
            cells.all(|((value, own), (known, column))| {
                value == own || known.get(value.as_str()).is_some_and(|one| one.holds(own, column))
            })
        };
        let holders: u64 = own.keys().filter(stands_for).map(|key| own[key]).sum();
        let words = || {
            let each = columns.iter().zip(row);
            let each = each.map(|(column, value)| format!("{} {value}", column.name));
            each.collect::<Vec<_>>().join(", ")
        };
        if holders < *common {
            return Err(format!(
                "{}: {common} people are in the release and {holders} at the site, so it is not a \
                 release of this table",
                words()
            ));
        }
        let (most, of) = seen.largest;
        if u128::from(*common) * u128::from(of) > u128::from(most) * u128::from(holders) {
            seen.largest = (*common, holders);
        }
        seen.certain += if holders == *common { *common } else { 0 };
        if !delta.allows(*common, holders) && seen.offender.is_none() {
            seen.offender = Some(format!("{}: {common} of {holders} people", words()));
        }
    }
    Ok(seen)
}

/// What a released value represents, besides itself.
#[derive(Clone, Debug)]
enum Reading {
    Word,
    Leaves(Range<u32>),
    Interval { from: Decimal, to: Decimal, with_end: bool },
}

impl Reading {
    fn of(value: &str, column: &Column<'_>) -> Self {
        if let Some((taxonomy, found)) =
            column.taxonomy.and_then(|taxonomy| Some((taxonomy, taxonomy.find(value)?)))
        {
            return Self::Leaves(taxonomy.leaf_range(found));
        }
        interval(value).unwrap_or(Self::Word)
    }

    fn holds(&self, own: &str, column: &Column<'_>) -> bool {
        match self {
            Self::Word => false,
            Self::Leaves(leaves) => {
                let found = column.taxonomy.and_then(|t| Some(t.leaf_range(t.find(own)?)));
                found.is_some_and(|own| leaves.start <= own.start && own.end <= leaves.end)
            }
            Self::Interval { from, to, with_end } => Decimal::parse_rounding_down(own)
                .is_ok_and(|own| *from <= own && (own < *to || (*with_end && own == *to))),
        }
    }
}

/// `[18..56]`, `[85, 99]` with their ends, `[0, 15)` without the upper one.
fn interval(text: &str) -> Option<Reading> {
    let inner = text.strip_prefix('[')?;
    let (inner, with_end) = match inner.strip_suffix(']') {
        Some(inner) => (inner, true),
        None => (inner.strip_suffix(')')?, false),
    };
    let (from, to) = inner.split_once("..").or_else(|| inner.split_once(','))?;
    let number = |text: &str| Decimal::parse(text.trim()).ok();
    Some(Reading::Interval { from: number(from)?, to: number(to)?, with_end })
}

/// The rows of a table by the given columns.
fn rows(
    source: impl io::Read,
    columns: &[Column<'_>],
    count: Option<&str>,
) -> Result<Rows, String> {
    let mut reader = csv::ReaderBuilder::new().from_reader(source);
    let header = reader.headers().map_err(|error| error.to_string())?.clone();
    let place = |name: &str| {
        let found = header.iter().position(|known| known.trim() == name);
        found.ok_or_else(|| format!("there is no column `{name}`"))
    };
    let places: Vec<usize> =
        columns.iter().map(|column| place(column.name)).collect::<Result<_, _>>()?;
    let count = count.map(place).transpose()?;
    let (mut rows, mut all) = (Rows::new(), 0u64);
    let mut record = csv::StringRecord::new();
    while reader.read_record(&mut record).map_err(|error| error.to_string())? {
        let line = record.position().map_or(0, csv::Position::line);
        let cell = |place: usize| record.get(place).unwrap_or_default().trim();
        let people: u64 = match count {
            Some(place) => cell(place)
                .parse()
                .map_err(|_| format!("line {line}: `{}` is not a count", cell(place)))?,
            None => 1,
        };
        all = all.checked_add(people).ok_or("the counts are too large")?;
        if people > 0 {
            let row = places.iter().map(|place| cell(*place).to_owned()).collect();
            *rows.entry(row).or_default() += people;
        }
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const TWO_THIRDS: Delta = Delta { above: 2, below: 3 };
    /// Table 1 of the paper: age at A, time and title at B; people 1, 2, 5 and 6 are at both.
    const A: &str = "age\n30\n40\n55\n60\n65\n70\n";
    const B: &str = "hour,title\n16,X\n17,Y\n17.5,X\n16.5,Y\n15,X\n12,Y\n14,Y\n14.5,X\n";

    fn seen(release: &str, site: &str, names: &[&str], delta: Delta) -> Result<Seen, String> {
        let columns: Vec<Column<'_>> =
            names.iter().map(|name| Column { name, taxonomy: None }).collect();
        check(release.as_bytes(), Some("count"), site.as_bytes(), &columns, delta)
    }

    #[test]
    fn the_papers_first_table_exposes_two_people_at_50_and_none_at_60() {
        let cut = |at: u32| format!("age,count\n\"[0, {at})\",2\n\"[{at}, 99]\",2\n");
        let at_50 = seen(&cut(50), A, &["age"], TWO_THIRDS).unwrap();
        assert_eq!((at_50.largest, at_50.certain), ((2, 2), 2));
        assert_eq!(at_50.offender.as_deref(), Some("age [0, 50): 2 of 2 people"));
        let at_60 = seen(&cut(60), A, &["age"], TWO_THIRDS).unwrap();
        assert_eq!((at_60.largest, at_60.certain, at_60.offender), ((2, 3), 0, None));
    }

    /// What the paper prints for B is not possible: user 5 is there at 16:30.
    #[test]
    fn at_the_other_site_half_are_common_and_titles_tell_more() {
        let whole = seen("hour,count\n\"[0, 24]\",4\n", B, &["hour"], TWO_THIRDS).unwrap();
        assert_eq!((whole.largest, whole.offender), ((4, 8), None));
        let halves = "hour,count\n\"[0, 16)\",1\n\"[16, 24]\",3\n";
        let halves = seen(halves, B, &["hour"], TWO_THIRDS).unwrap();
        assert_eq!((halves.largest, halves.offender.is_some()), ((3, 4), true));
        let titles = "hour,title,count\n\"[16, 24]\",Y,2\n\"[16, 24]\",X,1\n\"[0, 16)\",X,1\n";
        let titles = seen(titles, B, &["hour", "title"], TWO_THIRDS).unwrap();
        assert_eq!((titles.largest, titles.certain), ((2, 2), 2));
    }

    #[test]
    fn a_release_of_others_and_columns_that_are_not_there_are_refused() {
        let many = seen("age,count\n\"[0, 99]\",7\n", A, &["age"], TWO_THIRDS).unwrap_err();
        assert!(many.contains("7 people are in the release and 6 at the site"), "{many}");
        let none = seen("age,count\n30,1\n", A, &["hour"], TWO_THIRDS).unwrap_err();
        assert!(none.contains("there is no column `hour`"), "{none}");
        let count = seen("age,count\n30,x\n", A, &["age"], TWO_THIRDS).unwrap_err();
        assert!(count.contains("line 2: `x` is not a count"), "{count}");
    }

    proptest! {
        #[test]
        fn any_texts_are_compared_or_refused(release in "\\PC{0,60}", site in "\\PC{0,60}") {
            let _ = seen(&format!("a,count\n{release}"), &format!("a\n{site}"), &["a"], TWO_THIRDS);
        }

        /// Combinations of fewer columns are never worse: the theorem.
        #[test]
        fn if_full_combinations_are_as_required_so_are_shorter_ones(
            people in prop::collection::vec((0u8..3, 0u8..3, any::<bool>()), 1..60), above in 1u64..10
        ) {
            let row = |(a, b, _): &(u8, u8, bool)| format!("{a},{b}\n");
            let site = "a,b\n".to_owned() + &people.iter().map(row).collect::<String>();
            let common = people.iter().filter(|one| one.2).map(|(a, b, _)| format!("{a},{b},1\n"));
            let release = "a,b,count\n".to_owned() + &common.collect::<String>();
            let delta = Delta { above, below: 10 };
            if seen(&release, &site, &["a", "b"], delta).unwrap().offender.is_none() {
                for fewer in [vec!["a"], vec!["b"], vec![]] {
                    prop_assert_eq!(seen(&release, &site, &fewer, delta).unwrap().offender, None);
                }
            }
        }
    }
}
