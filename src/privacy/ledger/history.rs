//! What a ledger says, read line by line: pure, no files.

use std::collections::HashMap;

use serde::de::IgnoredAny;
use serde_json::Deserializer;

use super::entry::{Debit, Entry, Event, Hash, LINE_START, LONGEST_LINE, RunId};
use super::{Error, MOST_BYTES};
use crate::math::Rational;

/// The entries of a ledger whose every line is good.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<Entry>,
    hashes: Vec<Hash>,
    runs: Vec<Run>,
    index: HashMap<RunId, usize>,
    spent: HashMap<String, Rational>,
    torn: Option<Torn>,
}

/// A run and how it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What was entered before it began.
    pub debit: Debit,
    /// When that was, in seconds since 1970.
    pub time: u64,
    /// How it stands.
    pub status: Status,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its ε is spent and nothing more is known: it is under way, or it was interrupted.
    Debited,
    /// Its release is complete.
    Finished,
    /// It ended without a release.
    Aborted,
}

/// A last line without a newline at its end: a write that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Torn {
    /// Its number, from 1.
    pub line: usize,
    /// How many bytes the file has after its last newline.
    pub bytes: u64,
    /// Whether only its newline is missing: the entry counts, and is among [`History::entries`].
    pub complete: bool,
    /// Zeros at its end, which a power cut leaves where bytes had not reached the disk.
    pub(super) zeros: u64,
}

impl History {
    /// Reads a whole ledger.
    ///
    /// # Errors
    /// [`Error::BadLine`] for the first complete line that is not what was written;
    /// [`Error::TooLong`].
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        if bytes.len() as u64 > MOST_BYTES {
            return Err(Error::TooLong { most: MOST_BYTES });
        }
        let mut history = Self::default();
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|&byte| byte == b'\n') {
            let text = std::str::from_utf8(&rest[..end]).map_err(|_| Error::BadLine {
                line: history.entries.len() + 1,
                problem: "it is not text",
            })?;
            history.accept(text)?;
            rest = &rest[end + 1..];
        }
        if !rest.is_empty() {
            history.torn = Some(history.accept_torn(rest)?);
        }
        Ok(history)
    }

    /// The hash of the last line: kept elsewhere, it shows whether last lines were removed.
    pub fn head(&self) -> Hash {
        self.hashes.last().copied().unwrap_or(Hash::BEGINNING)
    }

    /// Whether `head` was the head at some time: if not, lines were removed since it was noted.
    pub fn has_had_head(&self, head: &Hash) -> bool {
        head == &Hash::BEGINNING || self.hashes.contains(head)
    }

    /// The head right after a run was debited: what its manifest notes.
    pub fn head_of(&self, run: &RunId) -> Option<Hash> {
        let debits = |entry: &Entry| matches!(&entry.event, Event::Debited(d) if &d.run == run);
        let line = self.entries.iter().position(debits)?;
        self.hashes.get(line).copied()
    }

    /// All entries, the oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// All runs, the oldest first.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// A run by its id.
    pub fn run(&self, id: &RunId) -> Option<&Run> {
        self.index.get(id).map(|&index| &self.runs[index])
    }

    /// Runs that were neither finished nor aborted. Their ε is spent; they cannot be resumed.
    pub fn unfinished(&self) -> impl Iterator<Item = &Run> {
        self.runs.iter().filter(|run| run.status == Status::Debited)
    }

    /// The total ε ever debited to a data set, exactly.
    pub fn spent(&self, data_set: &str) -> Rational {
        self.spent.get(data_set).cloned().unwrap_or_else(Rational::zero)
    }

    /// A torn last line, if there is one.
    pub fn torn(&self) -> Option<&Torn> {
        self.torn.as_ref()
    }

    pub(super) fn forget_torn(&mut self) -> Option<Torn> {
        self.torn.take()
    }

    /// The line that an entry makes after the last one.
    pub(super) fn next_line(&self, entry: &Entry) -> Result<String, Error> {
        entry.to_line(self.head()).map(|(line, _)| line)
    }

    /// Takes in the next line, newline removed.
    pub(super) fn accept(&mut self, text: &str) -> Result<(), Error> {
        let bad = |problem| Error::BadLine { line: self.entries.len() + 1, problem };
        let (entry, hash) = Entry::from_line(text, self.head()).map_err(bad)?;
        match &entry.event {
            Event::Debited(debit) => {
                if self.index.contains_key(&debit.run) {
                    return Err(bad("it debits a run that was debited before"));
                }
                let total = &self.spent(&debit.data_set) + debit.epsilon.value();
                self.spent.insert(debit.data_set.clone(), total);
                self.index.insert(debit.run, self.runs.len());
                let status = Status::Debited;
                self.runs.push(Run { debit: Debit::clone(debit), time: entry.time, status });
            }
            Event::Finished { run } | Event::Aborted { run } => {
                let open = self.index.get(run).copied();
                let open = open.filter(|&index| self.runs[index].status == Status::Debited);
                let index = open.ok_or_else(|| bad("it closes a run that is not open"))?;
                self.runs[index].status = match entry.event {
                    Event::Finished { .. } => Status::Finished,
                    _ => Status::Aborted,
                };
            }
            Event::Repaired { .. } => {}
        }
        self.entries.push(entry);
        self.hashes.push(hash);
        Ok(())
    }

    /// What stands after the last newline. Only the strict beginning of a line is a write that was
    /// cut off, with zeros or nothing for its rest; a whole entry counts; all else was changed.
    fn accept_torn(&mut self, rest: &[u8]) -> Result<Torn, Error> {
        let line = self.entries.len() + 1;
        let bad = |problem| Error::BadLine { line, problem };
        if rest.len() > LONGEST_LINE {
            return Err(bad("it is longer than any line a ledger has"));
        }
        let written = rest.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let (written, zeros) = rest.split_at(written);
        if !written.iter().zip(LINE_START).all(|(a, b)| a == b) {
            return Err(bad("it does not begin as an entry does"));
        }
        let mut values = Deserializer::from_slice(written).into_iter::<IgnoredAny>();
        let complete = match values.next() {
            None => false,
            Some(Ok(_)) if values.byte_offset() < written.len() => {
                return Err(bad("it goes on after its end, where a newline should be"));
            }
            Some(Ok(_)) => true,
            Some(Err(error)) if error.is_eof() => false,
            Some(Err(_)) => return Err(bad("it is not the beginning of an entry either")),
        };
        if complete {
            let text = std::str::from_utf8(written).map_err(|_| bad("it is not text"))?;
            self.accept(text)?;
        }
        Ok(Torn { line, bytes: rest.len() as u64, complete, zeros: zeros.len() as u64 })
    }
}
