//! Tables that no schema describes: records by the names of their columns, many at a time.

use std::io::Read;

use rayon::prelude::*;

use super::cells::{column, first_record};
use super::{Blocks, Dialect, empty_file, newlines, piece_ends};
use crate::Error;

/// Whole records of a file, one thread's share.
pub struct Piece<'b> {
    bytes: &'b [u8],
    dialect: Dialect,
    fields: usize,
}

impl Piece<'_> {
    /// Calls `see` with each record until it fails, and with its line in the piece, from 0.
    ///
    /// # Errors
    /// The line, and what is wrong there.
    pub fn each(
        &self,
        mut see: impl FnMut(&::csv::ByteRecord, u64) -> Result<(), String>,
    ) -> Result<(), (u64, String)> {
        let mut reader = self.dialect.reader(self.bytes);
        let mut record = ::csv::ByteRecord::new();
        let (mut counted, mut lines) = (0, 0);
        // Bytes in memory always make records.
        while let Ok(true) = reader.read_byte_record(&mut record) {
            let start = record.position().map_or(counted, |place| place.byte() as usize);
            lines += newlines(&self.bytes[counted..start.max(counted)]);
            counted = start.max(counted);
            // Lines without anything are skipped by the reader, but it begins a record with them.
            let blank = self.bytes[counted..].iter().take_while(|b| matches!(b, b'\r' | b'\n'));
            let line = lines + blank.filter(|byte| **byte == b'\n').count() as u64;
            if record.len() != self.fields {
                let problem = format!(
                    "{} fields where the first line has {}: put quotes around cells that hold commas",
                    record.len(),
                    self.fields
                );
                return Err((line, problem));
            }
            see(&record, line).map_err(|problem| (line, problem))?;
        }
        Ok(())
    }
}

/// Reads a table piece by piece. `wanted` are columns, whose places `piece` gets with each piece, on
/// any thread; `take` gets what comes of it, in the order of the file, with the number of lines before.
///
/// # Errors
/// If the file cannot be read, lacks a column, or `take` fails.
pub fn read_records<T: Send>(
    (name, dialect): (&str, Dialect),
    source: impl Read,
    wanted: &[&str],
    progress: &(dyn Fn(usize) + Sync),
    piece: impl Fn(&[usize], &Piece<'_>) -> T + Sync,
    mut take: impl FnMut(T, u64) -> Result<(), Error>,
) -> Result<(), Error> {
    let mut source = dialect.encoding.decoded(source);
    let mut blocks = Blocks::new(name, dialect);
    let mut header: Option<(Vec<usize>, usize)> = None;
    let mut lines = 0;
    while let Some(length) = blocks.fill(&mut source)? {
        let block = &blocks.buffer[..length];
        let mut start = 0;
        if header.is_none() {
            let (names, end) = first_record(name, block, dialect)?;
            let places = wanted.iter().map(|wanted| column(name, &names, wanted));
            header = Some((places.collect::<Result<_, Error>>()?, names.len()));
            start = end;
        }
        if let Some((places, fields)) = &header {
            let ends = piece_ends(&block[start..], dialect);
            let starts = std::iter::once(0).chain(ends.iter().copied());
            let pieces: Vec<_> =
                starts.zip(ends.iter().copied()).map(|(a, b)| (start + a, start + b)).collect();
            let read: Vec<_> = pieces
                .into_par_iter()
                .map(|(a, b)| {
                    let bytes = &block[a..b];
                    (newlines(bytes), piece(places, &Piece { bytes, dialect, fields: *fields }))
                })
                .collect();
            lines += newlines(&block[..start]);
            for (within, read) in read {
                take(read, lines)?;
                lines += within;
            }
        }
        progress(length);
        blocks.consume(length);
    }
    match header {
        Some(_) => Ok(()),
        None => Err(empty_file(name)),
    }
}
