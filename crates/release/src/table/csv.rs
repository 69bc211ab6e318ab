//! Data files: CSV in one pass, in parallel, with errors that say where and what to do.
//!
//! A header line; UTF-8, commas and quotes as in RFC 4180 unless a [`Dialect`] says otherwise. Columns may stand in any order, columns
//! that the agreement does not name are not looked at. White space around a cell means nothing.
//! The file is read in blocks that end with a record, so memory is the columns' codes and a few
//! megabytes. Whatever the file holds, there is an error or a table, and no panic.

mod cells;
mod dialect;
mod found;
mod memory;
mod outline;
mod records;

pub use dialect::{Dialect, Encoding};
pub use found::{BadValue, BadValues};
pub use memory::{Cells, read_cells};
pub use outline::{ColumnOutline, Looks, MAX_LISTED_VALUES, TableOutline, outline_csv};
pub use records::{Piece, read_records};

use super::{Identifier, Schema, Table};
use crate::Error;
use crate::role::Role;
use cells::{Builder, Header};
use found::Found;
use rayon::prelude::*;
use std::fmt::Display;
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Longest record, in bytes.
pub const MAX_RECORD_BYTES: usize = 1 << 20;
/// What one thread parses at a time, in bytes.
const PIECE_BYTES: usize = 1 << 20;

/// What to read from a file, and how much of it.
#[derive(Clone, Copy, Debug)]
pub struct Reading<'a> {
    /// The attributes and the class.
    pub schema: &'a Schema,
    /// Only the attributes of this owner, and the class unless somebody else holds it; or everything.
    pub owner: Option<Role>,
    /// The column that names individuals, where they are matched.
    pub identifier: Option<&'a Identifier>,
    /// The agreement's public bound on the number of records.
    pub max_records: u64,
}

/// Reads a data file. `progress` is called with the number of bytes just done.
///
/// # Errors
/// Everything that is wrong with the file, with its places.
pub fn read_csv(
    path: &Path,
    reading: &Reading<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Table, Error> {
    let name = path.display().to_string();
    parse_csv(&name, regular_file(path)?, reading, progress)
}

/// Opens a file that cannot keep us waiting for ever, as a pipe could.
///
/// # Errors
/// If it cannot be read.
pub fn regular_file(path: &Path) -> Result<File, Error> {
    let unreadable = |error: std::io::Error| unreadable(path.display(), error);
    if !std::fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(self::unreadable(path.display(), "not a regular file"));
    }
    File::open(path).map_err(unreadable)
}

/// An error for a file that cannot be read.
pub(crate) fn unreadable(file: impl Display, reason: impl Display) -> Error {
    Error::input(format!("{file}: cannot be read ({reason}): check the path and the permissions"))
}

/// An error for a file whose first line does not name the columns that the agreement requires.
fn bad_header(file: &str, problem: impl Display) -> Error {
    Error::input(format!("{file}:1: {problem}"))
}

/// An error for a file without a first line.
fn empty_file(file: &str) -> Error {
    bad_header(file, "the file is empty: its first line must name the columns")
}

/// An error for more records than the agreement's public bound.
fn too_many_records(file: &str, most: u64) -> Error {
    Error::input(format!(
        "{file}: more than {most} records, the agreement's `max_records`: agree on a larger bound"
    ))
}

/// Reads data from any source. `name` is used in messages.
///
/// # Errors
/// Everything that is wrong with the data, with its places.
pub fn parse_csv(
    name: &str,
    source: impl Read,
    reading: &Reading<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Table, Error> {
    parse_csv_as(Dialect::default(), name, source, reading, progress)
}

/// Reads data from any source, in any dialect.
///
/// # Errors
/// As [`parse_csv`].
pub fn parse_csv_as(
    dialect: Dialect,
    name: &str,
    source: impl Read,
    reading: &Reading<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Table, Error> {
    let (dialect, _, source) = dialect.look(source).map_err(|error| unreadable(name, error))?;
    let mut source = dialect.encoding.decoded(source);
    let mut blocks = Blocks::new(name, dialect);
    let mut table = Table::default();
    let mut header: Option<Header<'_>> = None;
    let mut found = Found::default();
    let mut lines_before = 0;
    while let Some(length) = blocks.fill(&mut source)? {
        let block = &blocks.buffer[..length];
        let mut start = 0;
        if header.is_none() {
            let (read, end) = Header::read(name, block, dialect, reading)?;
            (header, start) = (Some(read), end);
        }
        if let Some(header) = &header {
            let ends = piece_ends(&block[start..], dialect);
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let pieces: Vec<_> =
                starts.zip(ends.iter().copied()).map(|(a, b)| (start + a, start + b)).collect();
            let read: Vec<_> =
                pieces.into_par_iter().map(|(a, b)| (a, header.piece(&block[a..b]))).collect();
            for (a, (piece, wrong)) in read {
                let wanted = !wrong.is_empty() || reading.identifier.is_some();
                let before = if wanted { newlines(&block[..a]) } else { 0 };
                found.append(wrong, lines_before + 1 + before);
                table.append(piece, lines_before + 1 + before);
                if table.len() as u64 > reading.max_records {
                    return Err(too_many_records(name, reading.max_records));
                }
            }
        }
        lines_before += newlines(block);
        progress(length);
        blocks.consume(length);
    }
    match header {
        Some(header) if !found.is_empty() => Err(found.into_error(name, &header, &table)),
        Some(header) if table.is_empty() => Ok(Builder::new(&header, &[]).finish().0),
        Some(_) => Ok(table),
        None => Err(empty_file(name)),
    }
}

/// The file, in blocks that end where a record ends.
struct Blocks<'n> {
    name: &'n str,
    dialect: Dialect,
    buffer: Vec<u8>,
    wanted: usize,
    at_end: bool,
}

impl<'n> Blocks<'n> {
    fn new(name: &'n str, dialect: Dialect) -> Self {
        let wanted = PIECE_BYTES * 2 * rayon::current_num_threads();
        Self { name, dialect, buffer: Vec::new(), wanted, at_end: false }
    }

    /// Reads on and returns the length of the next block; nothing at the end.
    fn fill(&mut self, source: &mut impl Read) -> Result<Option<usize>, Error> {
        if !self.at_end {
            let more = self.wanted.max(self.buffer.len() + MAX_RECORD_BYTES) - self.buffer.len();
            let read = source.by_ref().take(more as u64).read_to_end(&mut self.buffer);
            self.at_end = read.map_err(|error| unreadable(self.name, error))? < more;
        }
        if self.at_end {
            return Ok((!self.buffer.is_empty()).then_some(self.buffer.len()));
        }
        match last_record_end(&self.buffer, self.dialect) {
            Some(end) => Ok(Some(end)),
            None => Err(unreadable(
                self.name,
                format!("a record is longer than {MAX_RECORD_BYTES} bytes; is a quote left open?"),
            )),
        }
    }

    fn consume(&mut self, length: usize) {
        self.buffer.drain(..length);
    }
}

fn newlines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

/// Where pieces of about equal size end, each with a whole record; the last is the block's end.
fn piece_ends(block: &[u8], dialect: Dialect) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut target = PIECE_BYTES;
    if block.contains(&dialect.quote) {
        for_each_record_end(block, dialect, |end| {
            if end >= target && end < block.len() {
                ends.push(end);
                target = end + PIECE_BYTES;
            }
        });
    } else {
        while let Some(found) = block.get(target..).and_then(newline_in) {
            let end = target + found + 1;
            if end < block.len() {
                ends.push(end);
            }
            target = end + PIECE_BYTES;
        }
    }
    if !block.is_empty() {
        ends.push(block.len());
    }
    ends
}

fn newline_in(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}

fn last_record_end(buffer: &[u8], dialect: Dialect) -> Option<usize> {
    if !buffer.contains(&dialect.quote) {
        return buffer.iter().rposition(|byte| *byte == b'\n').map(|place| place + 1);
    }
    let mut last = None;
    for_each_record_end(buffer, dialect, |end| last = Some(end));
    last
}

/// Calls `found` with the place after every line feed that is not inside quotes. A quote opens a
/// quoted cell only as its first character, as in the reader that parses the cells.
fn for_each_record_end(bytes: &[u8], dialect: Dialect, mut found: impl FnMut(usize)) {
    #[derive(Clone, Copy)]
    enum State {
        Start,
        Plain,
        Quoted,
        QuoteInQuoted,
    }
    let mut state = State::Start;
    for (place, byte) in bytes.iter().enumerate() {
        let quote = *byte == dialect.quote;
        state = match (state, byte) {
            (State::Quoted, _) if quote => State::QuoteInQuoted,
            (State::Quoted, _) => State::Quoted,
            (State::Start | State::QuoteInQuoted, _) if quote => State::Quoted,
            (_, b'\n') => {
                found(place + 1);
                State::Start
            }
            (_, b'\r') => State::Start,
            (_, other) if *other == dialect.delimiter => State::Start,
            _ => State::Plain,
        };
    }
}

#[cfg(test)]
mod tests;
