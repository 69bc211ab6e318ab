//! Tables in memory: the same columns, rules and words as for a file, without one.

use super::super::Table;
use super::Reading;
use super::cells::{Builder, Header};
use super::dialect::Dialect;
use super::found::{Found, Places};
use crate::Error;
use crate::table::csv::too_many_records;
use rayon::prelude::*;
use std::ops::Range;
use unicode_normalization::UnicodeNormalization;

/// Records that one thread reads at a time.
const SHARE: usize = 1 << 14;

/// A table in memory whose cells can be had as text, from any thread.
pub trait Cells: Send + Sync {
    /// The columns' names, in their order.
    fn names(&self) -> Vec<String>;

    /// How many records there are.
    fn records(&self) -> usize;

    /// Why the cells of a column cannot be had as text, if they cannot. Only columns that the agreement
    /// names are asked for.
    fn refusal(&self, column: usize) -> Option<String> {
        let _ = column;
        None
    }

    /// Appends a cell as a file would have it; nothing where the value is missing.
    fn write(&self, record: usize, column: usize, text: &mut Vec<u8>);
}

/// Reads a table in memory as [`parse_csv`](super::parse_csv) reads a file. `progress` is told how many
/// records were just done. Messages count rows from 1.
///
/// # Errors
/// Everything that is wrong with the table, with its places.
pub fn read_cells(
    name: &str,
    cells: &dyn Cells,
    reading: &Reading<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Table, Error> {
    let names: Vec<String> = cells.names().iter().map(|name| name.trim().nfc().collect()).collect();
    let header = Header::of_names(name, &names, Places::Rows, Dialect::default(), reading)?;
    let mut wanted = vec![false; names.len()];
    for column in header.wanted() {
        if let Some(problem) = cells.refusal(column) {
            let problem = format!("column `{}`: {problem}", names[column]);
            return Err(Places::Rows.bad_header(name, problem));
        }
        wanted[column] = true;
    }
    let records = cells.records();
    let shares: Vec<Range<usize>> =
        (0..records).step_by(SHARE).map(|start| start..(start + SHARE).min(records)).collect();
    let (mut table, mut found) = (Table::default(), Found::default());
    // As many at a time as there are threads, so that codes are not held twice.
    for some in shares.chunks(2 * rayon::current_num_threads()) {
        let read: Vec<_> = some
            .par_iter()
            .map(|share| {
                let part = read_share(cells, &header, &wanted, share.clone());
                progress(share.len());
                part
            })
            .collect();
        for (part, wrong) in read {
            found.append(wrong, 0);
            table.append(part, 0);
            if table.len() as u64 > reading.max_records {
                return Err(too_many_records(name, reading.max_records));
            }
        }
    }
    match table.is_empty() {
        _ if !found.is_empty() => Err(found.into_error(name, &header, &table)),
        true => Ok(Builder::new(&header, &[]).finish().0),
        false => Ok(table),
    }
}

fn read_share(
    cells: &dyn Cells,
    header: &Header<'_>,
    wanted: &[bool],
    records: Range<usize>,
) -> (Table, Found) {
    let mut builder = Builder::new(header, &[]);
    let (mut record, mut text) = (::csv::ByteRecord::new(), Vec::new());
    for number in records {
        record.clear();
        for (column, wanted) in wanted.iter().enumerate() {
            text.clear();
            if *wanted {
                cells.write(number, column, &mut text);
            }
            record.push_field(&text);
        }
        builder.record_number(number as u64 + 1, &record);
    }
    builder.finish()
}
