//! What a ledger says, read line by line: pure, no files.

use std::collections::HashMap;

use serde::de::IgnoredAny;

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
    /// Its length.
    pub bytes: u64,
    /// The line, if only its newline is missing: the entry counts.
    pub(super) complete: Option<String>,
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
            history.torn = Some(history.torn_line(rest)?);
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

    pub(super) fn forget_torn(&mut self) {
        self.torn = None;
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

    fn torn_line(&self, rest: &[u8]) -> Result<Torn, Error> {
        let line = self.entries.len() + 1;
        let bad = |problem| Error::BadLine { line, problem };
        if rest.len() > LONGEST_LINE {
            return Err(bad("it is longer than any line a ledger has"));
        }
        // A cut-off write is the beginning of a line; after a power cut zeros may stand for the rest.
        let written = rest.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
        let agrees = rest[..written].iter().zip(LINE_START).all(|(a, b)| a == b);
        if !agrees {
            return Err(bad("it does not begin as an entry does"));
        }
        let complete = match std::str::from_utf8(rest) {
            Ok(text) if serde_json::from_str::<IgnoredAny>(text).is_ok() => {
                // Whole but for the newline. If it is not good either, it was edited, not cut off.
                self.clone().accept(text)?;
                Some(text.to_owned())
            }
            _ => None,
        };
        Ok(Torn { line, bytes: rest.len() as u64, complete })
    }
}
