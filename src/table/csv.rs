//! Data files: CSV in one pass, in parallel, with errors that say where and what to do.
//!
//! UTF-8, commas, a header line; quotes as in RFC 4180. Columns may stand in any order, columns
//! that the agreement does not name are not looked at. White space around a cell means nothing.
//! The file is read in blocks that end with a record, so memory is the columns' codes and a few
//! megabytes. Whatever the file holds, there is an error or a table, and no panic.

mod cells;

use super::{Error, Identifier, Schema, Table, text};
use crate::role::Role;
use cells::{Builder, Header, Problem};
use rayon::prelude::*;
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

/// Reads a data file. `progress` is told how many bytes were just done.
///
/// # Errors
/// The first problem in the file, with its place.
pub fn read_csv(
    path: &Path,
    reading: &Reading<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Table, Error> {
    let name = path.display().to_string();
    let unreadable = |reason: String| Error::Unreadable { file: name.clone(), reason };
    let metadata = std::fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if !metadata.is_file() {
        // A pipe could keep us waiting for ever.
        return Err(unreadable("not a regular file".to_owned()));
    }
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?;
    parse_csv(&name, file, reading, progress)
}

/// Reads data from anywhere. `name` stands in messages.
///
/// # Errors
/// The first problem in the data, with its place.
pub fn parse_csv(
    name: &str,
    mut source: impl Read,
    reading: &Reading<'_>,
    progress: &(dyn Fn(usize) + Sync),
) -> Result<Table, Error> {
    let mut blocks = Blocks::new(name);
    let mut table = Table::default();
    let mut header: Option<Header<'_>> = None;
    let mut lines_before = 0;
    while let Some(length) = blocks.fill(&mut source)? {
        let block = &blocks.buffer[..length];
        let mut start = 0;
        if header.is_none() {
            let (read, end) = Header::read(name, block, reading)?;
            (header, start) = (Some(read), end);
        }
        if let Some(header) = &header {
            let ends = piece_ends(&block[start..]);
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let pieces: Vec<_> =
                starts.zip(ends.iter().copied()).map(|(a, b)| (start + a, start + b)).collect();
            let read: Vec<_> = pieces
                .into_par_iter()
                .map(|(a, b)| header.piece(&block[a..b]).map_err(|problem| (a, problem)))
                .collect();
            for piece in read {
                let piece = piece.map_err(|(offset, problem)| {
                    let at = offset + problem.offset;
                    let line = lines_before + 1 + newlines(&block[..at.min(block.len())]);
                    problem.into_error(name, line)
                })?;
                table.append(piece);
                if table.len() as u64 > reading.max_records {
                    let file = name.to_owned();
                    return Err(Error::TooManyRecords { file, most: reading.max_records });
                }
            }
        }
        lines_before += newlines(block);
        progress(length);
        blocks.consume(length);
    }
    match header {
        Some(header) if table.is_empty() => Ok(Builder::new(&header).finish()),
        Some(_) => Ok(table),
        None => Err(Error::BadHeader {
            file: name.to_owned(),
            problem: "the file is empty: its first line must name the columns".to_owned(),
        }),
    }
}

/// The file, in blocks that end where a record ends.
struct Blocks<'n> {
    name: &'n str,
    buffer: Vec<u8>,
    wanted: usize,
    at_end: bool,
}

impl<'n> Blocks<'n> {
    fn new(name: &'n str) -> Self {
        let wanted = PIECE_BYTES * 2 * rayon::current_num_threads();
        Self { name, buffer: Vec::new(), wanted, at_end: false }
    }

    /// Reads on and returns the length of the next block; nothing at the end.
    fn fill(&mut self, source: &mut impl Read) -> Result<Option<usize>, Error> {
        let unreadable = |error: std::io::Error| Error::Unreadable {
            file: self.name.to_owned(),
            reason: error.to_string(),
        };
        if !self.at_end {
            let more = self.wanted.max(self.buffer.len() + MAX_RECORD_BYTES) - self.buffer.len();
            let read = source.by_ref().take(more as u64).read_to_end(&mut self.buffer);
            self.at_end = read.map_err(unreadable)? < more;
        }
        if self.at_end {
            return Ok((!self.buffer.is_empty()).then_some(self.buffer.len()));
        }
        match last_record_end(&self.buffer) {
            Some(end) => Ok(Some(end)),
            None => Err(Error::Unreadable {
                file: self.name.to_owned(),
                reason: format!(
                    "a record is longer than {MAX_RECORD_BYTES} bytes; is a quote left open?"
                ),
            }),
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
fn piece_ends(block: &[u8]) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut target = PIECE_BYTES;
    if block.contains(&b'"') {
        for_each_record_end(block, |end| {
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

fn last_record_end(buffer: &[u8]) -> Option<usize> {
    if !buffer.contains(&b'"') {
        return buffer.iter().rposition(|byte| *byte == b'\n').map(|place| place + 1);
    }
    let mut last = None;
    for_each_record_end(buffer, |end| last = Some(end));
    last
}

/// Calls `found` with the place after every line feed that is not inside quotes. A quote opens a
/// quoted cell only as its first character, as in the reader that parses the cells.
fn for_each_record_end(bytes: &[u8], mut found: impl FnMut(usize)) {
    #[derive(Clone, Copy)]
    enum State {
        Start,
        Plain,
        Quoted,
        QuoteInQuoted,
    }
    let mut state = State::Start;
    for (place, byte) in bytes.iter().enumerate() {
        state = match (state, byte) {
            (State::Quoted, b'"') => State::QuoteInQuoted,
            (State::Quoted, _) => State::Quoted,
            (State::Start | State::QuoteInQuoted, b'"') => State::Quoted,
            (_, b'\n') => {
                found(place + 1);
                State::Start
            }
            (_, b',' | b'\r') => State::Start,
            _ => State::Plain,
        };
    }
}

impl Problem {
    fn into_error(self, file: &str, line: u64) -> Error {
        let file = file.to_owned();
        match self.cell {
            None => Error::BadRecord { file, line, problem: self.text },
            Some((field, column, value)) => Error::BadCell {
                file,
                line,
                field: field + 1,
                column,
                value: text::shown(&String::from_utf8_lossy(&value)),
                problem: self.text,
            },
        }
    }
}

#[cfg(test)]
mod tests;
