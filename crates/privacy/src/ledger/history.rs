//! The state that follows from the lines of a ledger. No files are used here.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use serde::de::IgnoredAny;
use serde_json::Deserializer;

use super::entry::{Debit, Entry, Event, Hash, LINE_START, LONGEST_LINE, Rehearsal, RunId};
use super::loss::{Delta, Reader};
use super::{Error, MOST_BYTES};
use crate::Epsilon;
use crate::math::Rational;

/// The entries of a ledger, all of whose lines are valid.
#[derive(Clone, Debug, Default)]
pub struct History {
    entries: Vec<Entry>,
    hashes: Vec<Hash>,
    runs: Vec<Run>,
    index: HashMap<RunId, usize>,
    spent: HashMap<String, Rational>,
    caps: BTreeMap<String, Epsilon>,
    caps_towards_peer: BTreeMap<String, Epsilon>,
    /// Heads that this ledger once had and lost.
    acknowledged: HashSet<Hash>,
    torn: Option<Torn>,
}

/// A run and its state.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// What was entered before it began.
    pub debit: Debit,
    /// When that was, in seconds since 1970.
    pub time: u64,
    /// Its state.
    pub status: Status,
    /// The head right after its debit, as in its manifest.
    pub head: Hash,
    /// The head of the peer's ledger right after the peer's debit, if the peer sent it.
    pub peer_head: Option<Hash>,
    /// Whether it is a rehearsal with noise: it spends ε, and produces no release.
    pub is_rehearsal: bool,
}

/// The exact rehearsals with a peer on a data set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rehearsals {
    /// The names that the peer had in them, the oldest first.
    pub names: Vec<String>,
    /// How many there were, ended or not.
    pub held: usize,
    /// How many lines allow one more.
    pub allowed: usize,
}

impl Rehearsals {
    /// How many there may be in all: one, and one for each line that allows one.
    pub fn most(&self) -> usize {
        1 + self.allowed
    }
}

impl Run {
    /// The loss towards the peer, at most; none if there was no peer.
    pub fn epsilon_towards_peer(&self) -> Option<Rational> {
        self.debit.epsilon_towards_peer()
    }

    /// δ, at most; `None` if the promise was not differential privacy.
    pub fn delta(&self) -> Option<Delta> {
        self.debit.epsilon.as_ref()?;
        Some(self.debit.delta.clone().unwrap_or_else(Delta::promised))
    }
}

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Its ε is spent, if it has one, and nothing more is known: it is under way, or was interrupted.
    Debited,
    /// Its release is complete.
    Finished,
    /// It ended without a release.
    Aborted,
}

/// A last line without a newline: a write that was interrupted.
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

    /// Whether this head was acknowledged as lost.
    pub fn acknowledged(&self, head: &Hash) -> bool {
        self.acknowledged.contains(head)
    }

    /// The newest run with a peer that has sent the head of its ledger.
    pub fn last_met(&self, peer: &str) -> Option<(RunId, Hash)> {
        let with_peer = self.runs.iter().rev().filter(|run| run.debit.peer == peer);
        with_peer.clone().find_map(|run| Some((run.debit.run, run.peer_head?)))
    }

    /// All entries, the oldest first.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// All runs, the oldest first.
    pub fn runs(&self) -> &[Run] {
        &self.runs
    }

    /// The exact rehearsals with a peer on a data set, whatever the agreement. Rehearsals with this
    /// name or this fingerprint are with the same peer, and so are rehearsals with any name or
    /// fingerprint found in those, and so on: neither another name nor another key makes it another
    /// peer.
    pub fn rehearsals(&self, data_set: &str, peer: &str, fingerprint: Option<&Hash>) -> Rehearsals {
        let on_data_set: Vec<_> =
            self.exact_rehearsals().filter(|r| r.data_set == data_set).collect();
        let mut known = HashSet::from([peer]);
        let mut keys: HashSet<Hash> = fingerprint.copied().into_iter().collect();
        loop {
            let before = (known.len(), keys.len());
            for rehearsal in &on_data_set {
                let same_key = rehearsal.fingerprint.is_some_and(|key| keys.contains(&key));
                if same_key || known.contains(rehearsal.peer.as_str()) {
                    known.insert(&rehearsal.peer);
                    keys.extend(rehearsal.fingerprint);
                }
            }
            if (known.len(), keys.len()) == before {
                break;
            }
        }
        let with_peer = on_data_set.iter().filter(|r| known.contains(r.peer.as_str()));
        let mut names: Vec<String> = Vec::new();
        with_peer.clone().for_each(|r| {
            if !names.contains(&r.peer) {
                names.push(r.peer.clone());
            }
        });
        let allows = |entry: &&Entry| {
            matches!(&entry.event, Event::RehearsalAllowed { data_set: of, peer }
                if of == data_set && known.contains(peer.as_str()))
        };
        let (held, allowed) = (with_peer.count(), self.entries.iter().filter(allows).count());
        Rehearsals { names, held, allowed }
    }

    /// All exact rehearsals, the oldest first.
    pub fn exact_rehearsals(&self) -> impl Iterator<Item = &Rehearsal> {
        self.entries.iter().filter_map(|entry| match &entry.event {
            Event::Rehearsed(rehearsal) => Some(&**rehearsal),
            _ => None,
        })
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

    /// The sum of δ over the runs of a data set, at most.
    pub fn delta(&self, data_set: &str) -> Rational {
        let of_data_set = self.runs.iter().filter(|run| run.debit.data_set == data_set);
        let deltas = of_data_set.filter_map(Run::delta);
        deltas.fold(Rational::zero(), |sum, delta| &sum + delta.value())
    }

    /// By peer, the sum of what it may learn of a data set.
    pub fn towards_peers(&self, data_set: &str) -> BTreeMap<&str, Rational> {
        let mut sums = BTreeMap::new();
        for run in self.runs.iter().filter(|run| run.debit.data_set == data_set) {
            if let Some(loss) = run.epsilon_towards_peer() {
                let sum = sums.entry(run.debit.peer.as_str()).or_insert_with(Rational::zero);
                *sum = &*sum + &loss;
            }
        }
        sums
    }

    /// The sum of what all peers may learn of a data set in runs with it.
    pub fn towards_peer(&self, data_set: &str) -> Rational {
        let sums = self.towards_peers(data_set);
        sums.values().fold(Rational::zero(), |sum, loss| &sum + loss)
    }

    /// How many runs of a data set promise something other than ε.
    pub fn runs_without_epsilon(&self, data_set: &str) -> usize {
        let of_data_set = self.runs.iter().filter(|run| run.debit.data_set == data_set);
        of_data_set.filter(|run| run.debit.epsilon.is_none()).count()
    }

    /// Every data set that has a run.
    pub fn data_sets(&self) -> BTreeSet<&str> {
        self.runs.iter().map(|run| run.debit.data_set.as_str()).collect()
    }

    /// A cap of a data set: that of the first debit that names it, or what it was raised to since.
    pub fn cap(&self, data_set: &str, reader: Reader) -> Option<&Epsilon> {
        match reader {
            Reader::Anybody => self.caps.get(data_set),
            Reader::Peer => self.caps_towards_peer.get(data_set),
        }
    }

    /// Whether a run with this `cap` may spend `epsilon`.
    ///
    /// # Errors
    /// [`Error::CapAbove`] if the data set's own cap is lower, [`Error::CapReached`] if its total
    /// would exceed `cap`.
    pub fn check_cap(&self, data_set: &str, epsilon: &Epsilon, cap: &Epsilon) -> Result<(), Error> {
        self.check(data_set, Reader::Anybody, self.spent(data_set), epsilon.value(), Some(cap))
    }

    /// Whether a run may let its peer learn `loss`, under `cap` and the data set's own cap, each if
    /// there is one.
    ///
    /// # Errors
    /// As [`History::check_cap`].
    pub fn check_cap_towards_peer(
        &self,
        data_set: &str,
        loss: &Rational,
        cap: Option<&Epsilon>,
    ) -> Result<(), Error> {
        self.check(data_set, Reader::Peer, self.towards_peer(data_set), loss, cap)
    }

    fn check(
        &self,
        data_set: &str,
        reader: Reader,
        spent: Rational,
        wanted: &Rational,
        cap: Option<&Epsilon>,
    ) -> Result<(), Error> {
        let data_set = data_set.to_owned();
        let fixed = self.cap(&data_set, reader);
        let Some(cap) = cap.or(fixed) else { return Ok(()) };
        if let Some(fixed) = fixed.filter(|fixed| *fixed < cap) {
            let (fixed, wanted) = (Box::new(fixed.clone()), Box::new(cap.clone()));
            return Err(Error::CapAbove { data_set, reader, fixed, wanted });
        }
        if &(&spent + wanted) <= cap.value() {
            return Ok(());
        }
        let (spent, wanted) = (Box::new(spent), Box::new(wanted.clone()));
        let raise = fixed.is_some_and(|fixed| fixed == cap);
        Err(Error::CapReached {
            data_set,
            reader,
            spent,
            wanted,
            cap: Box::new(cap.clone()),
            raise,
        })
    }

    /// Whether a run may follow the earlier ones on its data set, see
    /// [`super::Ledger::check_composition`].
    ///
    /// # Errors
    /// [`Error::DoesNotAddUp`].
    pub fn check_composition(
        &self,
        data_set: &str,
        spends: bool,
        accepted: bool,
    ) -> Result<(), Error> {
        let before = |run: &&Run| {
            let spent = run.debit.epsilon.is_some();
            // A peer that has sent its head may have learned anything, however the run ended.
            let told = run.peer_head.is_some();
            let published = spent || told || run.status != Status::Aborted;
            // A noisy rehearsal releases nothing, and reveals less to the peer than an exact one.
            let of_data_set = run.debit.data_set == data_set && !run.is_rehearsal;
            of_data_set && published && !(spent && spends)
        };
        match self.runs().iter().find(before) {
            Some(run) if !accepted => Err(Error::DoesNotAddUp {
                data_set: data_set.to_owned(),
                release: run.debit.release.clone(),
            }),
            _ => Ok(()),
        }
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

    /// Applies the next line, given without its newline.
    pub(super) fn accept(&mut self, text: &str) -> Result<(), Error> {
        let line = self.entries.len() + 1;
        let bad = |problem| Error::BadLine { line, problem };
        let (entry, hash) =
            Entry::from_line(text, self.head()).map_err(
                |problem| match Entry::is_of_a_newer_kind(text, self.head()) {
                    true => Error::NewerLine { line },
                    false => bad(problem),
                },
            )?;
        match &entry.event {
            Event::Debited(debit) => {
                self.enter_debit(debit, entry.time, hash, false).map_err(bad)?;
            }
            Event::RehearsalDebited(debit) => {
                self.enter_debit(debit, entry.time, hash, true).map_err(bad)?;
            }
            Event::Finished { run } => self.open_run(run).map_err(bad)?.status = Status::Finished,
            Event::Aborted { run } => self.open_run(run).map_err(bad)?.status = Status::Aborted,
            Event::Met { run, head } => {
                let run = self.open_run(run).map_err(bad)?;
                if run.peer_head.replace(*head).is_some() {
                    return Err(bad("it notes the peer's head of a run a second time"));
                }
            }
            Event::Raised { data_set, cap, towards_peer } => {
                let caps = if *towards_peer { &mut self.caps_towards_peer } else { &mut self.caps };
                let fixed = caps.get_mut(data_set).filter(|fixed| **fixed < *cap);
                *fixed.ok_or_else(|| bad("it raises a cap that is not lower"))? = cap.clone();
            }
            Event::Acknowledged { head, .. } => {
                self.acknowledged.insert(*head);
            }
            // Older ledgers have one rehearsal for each agreement: all of them count.
            Event::Rehearsed(_) | Event::RehearsalAllowed { .. } | Event::Repaired { .. } => {}
        }
        self.entries.push(entry);
        self.hashes.push(hash);
        Ok(())
    }

    fn enter_debit(
        &mut self,
        debit: &Debit,
        time: u64,
        head: Hash,
        is_rehearsal: bool,
    ) -> Result<(), &'static str> {
        if self.index.contains_key(&debit.run) {
            return Err("it debits a run that was debited before");
        }
        if let (Some(epsilon), Some(cap)) = (&debit.epsilon, &debit.cap) {
            let total = &self.spent(&debit.data_set) + epsilon.value();
            self.spent.insert(debit.data_set.clone(), total);
            self.caps.entry(debit.data_set.clone()).or_insert_with(|| cap.clone());
        }
        if let Some(cap) = &debit.cap_towards_peer {
            let fixed = self.caps_towards_peer.entry(debit.data_set.clone());
            fixed.or_insert_with(|| cap.clone());
        }
        self.index.insert(debit.run, self.runs.len());
        let (debit, status) = (debit.clone(), Status::Debited);
        self.runs.push(Run { debit, time, status, head, peer_head: None, is_rehearsal });
        Ok(())
    }

    fn open_run(&mut self, run: &RunId) -> Result<&mut Run, &'static str> {
        let index = self.index.get(run).copied();
        let run = index.and_then(|index| self.runs.get_mut(index));
        run.filter(|run| run.status == Status::Debited).ok_or("it is about a run that is not open")
    }

    /// Classifies what follows the last newline. Only the strict beginning of a line is an
    /// interrupted write, padded with zeros or not; a complete entry counts; everything else was
    /// changed.
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
