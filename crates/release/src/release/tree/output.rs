//! How a release is written: CSV, the same bytes wherever it is made.
//!
//! UTF-8, line feeds, a header; attributes in agreement order, class where there is one, count; one row per leaf and
//! class, zeros included; leaves in lexicographic order of their values' order, the last attribute
//! fastest, classes in agreement order. Intervals are written `[18..56]`, both ends included, and
//! the values of a set `a|b`.

use super::{Generalized, Leaves, PathList};
use crate::agreement::trajectory::Columns;
use crate::release::trajectory::paths::spell;
use crate::table::{Candidate, Domain, Schema, most_leaves};
use std::collections::HashMap;
use std::io::{self, Write};

/// Which rows are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// All of them: the release.
    All,
    /// Those whose count is not 0: a copy for convenience.
    NotZero,
}

/// Writes a table and returns the number of rows.
///
/// # Errors
/// Those of `out`.
pub fn write_csv(table: &Generalized, rows: Rows, out: impl Write) -> io::Result<u64> {
    let schema = table.cuts.schema();
    let mut csv = writer(out);
    if let Leaves::Paths(list) = &table.leaves {
        return write_paths(list, table, csv);
    }
    let header = schema.attributes.iter().map(|attribute| attribute.name.as_str());
    csv.write_record(header.chain(schema.class.name()).chain(["count"]))?;
    let names = Names::new(table);
    let classes = &schema.class.values;
    let mut written = 0;
    let mut count = String::new();
    for (leaf, counts) in table.counts.chunks_exact(classes.len().max(1)).enumerate() {
        let values = names.of(leaf);
        for (class, number) in classes.iter().zip(counts) {
            if rows == Rows::NotZero && *number == 0 {
                continue;
            }
            for value in &values {
                csv.write_field(value)?;
            }
            if !schema.class.is_none() {
                csv.write_field(class)?;
            }
            count.clear();
            count += &number.to_string();
            csv.write_field(&count)?;
            csv.write_record(None::<&[u8]>)?;
            written += 1;
        }
    }
    csv.flush()?;
    Ok(written)
}

/// The one way in which the rows of a release are written.
pub(crate) fn writer<W: Write>(out: W) -> csv::Writer<W> {
    csv::WriterBuilder::new()
        .terminator(csv::Terminator::Any(b'\n'))
        .quote_style(csv::QuoteStyle::Necessary)
        .buffer_capacity(1 << 16)
        .from_writer(out)
}

/// Writes paths, each with its class and count; none is 0.
fn write_paths(
    list: &PathList,
    table: &Generalized,
    mut csv: csv::Writer<impl Write>,
) -> io::Result<u64> {
    let class = &table.cuts.schema().class;
    csv.write_record([Columns::RELEASED, class.column.as_str(), "count"])?;
    let (mut text, mut start) = (String::new(), 0);
    for ((end, place), count) in list.ends.iter().zip(&list.classes).zip(&table.counts) {
        spell(&list.items[start..*end], &list.names, &mut text);
        start = *end;
        csv.write_record([&text, &class.values[*place], &count.to_string()])?;
    }
    csv.flush()?;
    Ok(list.ends.len() as u64)
}

/// Longest interval: two numbers of at most 29 characters, brackets and dots, and `missing or `.
const LONGEST_INTERVAL: usize = 2 * 29 + 4 + 11;
/// Longest count: an i64.
const LONGEST_COUNT: usize = 20;

/// More bytes than [`write_csv`] writes for any release with so many specializations, whatever the
/// data is.
pub fn most_bytes(schema: &Schema, specializations: u32) -> u64 {
    let leaves = most_leaves(schema, specializations, u64::MAX - 1).last().copied().unwrap_or(1);
    most_bytes_of_rows(schema, leaves.saturating_mul(schema.class.values.len() as u64))
}

/// More bytes than [`write_csv`] writes for any release with so many rows.
pub fn most_bytes_of_rows(schema: &Schema, rows: u64) -> u64 {
    // Between quotes, with every quote doubled, and a separator.
    let field = |longest: usize| 2 * longest as u64 + 3;
    let longest = |names: &mut dyn Iterator<Item = usize>| field(names.max().unwrap_or(0));
    let values = schema.attributes.iter().map(|attribute| match &attribute.domain {
        Domain::Categorical(taxonomy) => {
            longest(&mut taxonomy.values().map(|value| taxonomy.name(value).len()))
        }
        Domain::Set(taxonomy) => {
            field(taxonomy.values().map(|value| taxonomy.name(value).len() + 1).sum())
        }
        Domain::Numeric(_) => field(LONGEST_INTERVAL),
    });
    let classes = &schema.class.values;
    let class = longest(&mut classes.iter().map(String::len));
    let row = values.sum::<u64>() + class + field(LONGEST_COUNT);
    let names = schema.attributes.iter().map(|attribute| field(attribute.name.len()));
    let header = names.sum::<u64>() + field(schema.class.column.len()) + field("count".len());
    rows.saturating_mul(row).saturating_add(header)
}

/// The values of every leaf, as they are written.
struct Names<'r> {
    leaves: &'r Leaves,
    /// Per attribute, the values on its cut.
    on_cut: Vec<Vec<String>>,
    /// Per attribute, from a coordinate to its name, where leaves are listed.
    by_coordinate: Vec<HashMap<u32, String>>,
}

impl<'r> Names<'r> {
    fn new(table: &'r Generalized) -> Self {
        let cuts = &table.cuts;
        let attributes = 0..cuts.schema().attributes.len();
        let name = |attribute: usize| {
            cuts.of(attribute)
                .iter()
                .map(move |value| cuts.name(Candidate { attribute, value: *value }))
        };
        let on_cut: Vec<Vec<String>> = attributes.clone().map(|a| name(a).collect()).collect();
        let by_coordinate = match &table.leaves {
            Leaves::CrossProduct | Leaves::Paths(_) => Vec::new(),
            Leaves::Listed(list) => attributes
                .map(|attribute| {
                    let keys = cuts.of(attribute).iter().map(|value| value.key());
                    let by_key: HashMap<u32, String> =
                        keys.zip(on_cut[attribute].iter().cloned()).collect();
                    match cuts.schema().attributes[attribute].domain {
                        Domain::Set(_) => sets(&list.sets, &by_key),
                        _ => by_key,
                    }
                })
                .collect(),
        };
        Self { leaves: &table.leaves, on_cut, by_coordinate }
    }

    fn of(&self, leaf: usize) -> Vec<&str> {
        match self.leaves {
            Leaves::Paths(_) => Vec::new(),
            Leaves::CrossProduct => {
                let mut rest = leaf;
                let mut values: Vec<&str> = self
                    .on_cut
                    .iter()
                    .rev()
                    .map(|cut| {
                        let value = &cut[rest % cut.len()];
                        rest /= cut.len();
                        value.as_str()
                    })
                    .collect();
                values.reverse();
                values
            }
            Leaves::Listed(list) => list.coordinates[leaf]
                .iter()
                .zip(&self.by_coordinate)
                .map(|(coordinate, names)| names.get(coordinate).map_or("", String::as_str))
                .collect(),
        }
    }
}

/// The names of the sets whose values are all on the attribute's cut.
fn sets(all: &[Vec<u32>], by_key: &HashMap<u32, String>) -> HashMap<u32, String> {
    let name = |keys: &Vec<u32>| {
        let names: Option<Vec<&str>> =
            keys.iter().map(|key| by_key.get(key).map(String::as_str)).collect();
        Some(names?.join("|"))
    };
    (0u32..).zip(all).filter_map(|(number, keys)| Some((number, name(keys)?))).collect()
}
