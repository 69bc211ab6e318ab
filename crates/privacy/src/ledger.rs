//! The ledger: everything that was ever spent on a party's data sets.
//!
//! A file of JSON lines to which lines are only appended. Each line contains the hash of the line
//! before it, so an edited, removed or reordered line is detected and reported; removed *last*
//! lines are detected by comparing with a head hash kept elsewhere (the manifest of the last
//! release). The whole ε of a run is written and on disk before [`Ledger::debit`] returns, and is
//! never given back.
//!
//! *A torn last line* (the strict beginning of a line, without a newline) is what a crash or a full
//! disk leaves. The debit in it was never acknowledged, so no run used it: the next writer removes
//! it and records that in a line of its own. If only the newline is missing, the entry is complete:
//! readers count it too, and it is kept. A last line that is complete but wrong, or is followed by
//! anything but its newline, or does not begin like an entry, was changed: that is an error.
//!
//! *One writer at a time*: the file is locked as long as a [`Ledger`] exists. Reading needs no
//! lock. Before every line the file's name is looked up again: if the file was moved or replaced
//! meanwhile, nobody would ever read what is written, so nothing is written.
//!
//! *No ledger is created by accident*: [`Ledger::open`] fails if the file does not exist, because
//! in place of a ledger that was moved or lost it would start a new one that counts nothing of what
//! was spent. [`Ledger::create`] creates one, and [`Ledger::begin`] one for a first run, which is
//! removed again if that run enters nothing.
//!
//! *The cap* belongs to a data set: its first debit fixes it, [`Ledger::raise_cap`] raises it in a
//! line of its own. A run may have a lower one. It limits what readers of the releases learn; what
//! peers may learn ([`Towards`]) has a separate cap, if a debit names one.
//!
//! *The peer's head* of every run is entered too ([`Ledger::note_peer`]), so that each side can tell
//! when the other's ledger has lost lines. A head of this ledger that a peer has and the ledger does not
//! know stops runs with that peer until it is acknowledged in a line ([`Ledger::acknowledge`]).
//!
//! *Not protected*: anyone who may write the file can replace it as a whole. The chain has no
//! secret; it makes mistakes and quiet edits visible, by comparison with heads that others keep.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::Randomness;
//! use diptych_privacy::ledger::{Debit, Error, Hash, Ledger, RunId};
//!
//! let directory = tempfile::tempdir()?;
//! let mut ledger = Ledger::create(&directory.path().join("ledger.jsonl"))?;
//! let mut rng = Randomness::from_os()?;
//! let mut debit = |release: &str| -> Result<Debit, diptych_privacy::Error> {
//!     Ok(Debit {
//!         run: RunId(rng.array()),
//!         release: release.to_owned(),
//!         data_set: "patients".to_owned(),
//!         epsilon: Some("1".parse()?),
//!         cap: Some("1.5".parse()?),
//!         agreement: Hash(rng.array()),
//!         peer: "South hospital".to_owned(),
//!         salt: Hash(rng.array()),
//!         delta: None,
//!         towards_peer: None,
//!         cap_towards_peer: None,
//!         out: None,
//!         promise: None,
//!     })
//! };
//! let receipt = ledger.debit(debit("illnesses-2026")?)?;
//! let run = receipt.run();
//! let budget = receipt.into_budget();
//! assert_eq!(budget.expect("ε is spent").total().to_string(), "1");
//! ledger.finish(run)?;
//!
//! // A second release would exceed the cap of 1.5, and does not begin.
//! let refused = ledger.debit(debit("illnesses-2027")?);
//! assert!(matches!(refused, Err(Error::CapReached { .. })));
//! assert_eq!(ledger.history().spent("patients").to_string(), "1");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod entry;
mod history;
mod loss;

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use super::{Budget, Epsilon};
pub use crate::Error;
pub use crate::promise::Towards;
pub use entry::{Debit, Entry, Event, Hash, Rehearsal, RunId};
pub use history::{History, Rehearsals, Run, Status, Torn};
pub use loss::{Delta, Reader};

/// Largest ledger that is read: some 100,000 runs.
pub const MOST_BYTES: u64 = 64 << 20;
/// Bytes that debits may not use, for the closing lines of open runs.
const CLOSING_RESERVE: u64 = 1 << 20;
/// Room on disk for the lines of one run: debit, peer's head, end.
const ROOM_FOR_A_RUN: u64 = 3 * entry::LONGEST_LINE as u64;
/// Names the peer of a run that has none.
pub const NO_PEER: &str = "none (local)";

/// An open ledger, locked against other writers.
#[derive(Debug)]
pub struct Ledger {
    path: PathBuf,
    file: File,
    history: History,
    /// Length of the part of the file that is known to be valid.
    length: u64,
    repaired: bool,
    poisoned: bool,
    /// Whether the file is removed again if nothing is entered.
    removed_if_empty: bool,
}

/// The proof that a run's ε is in the ledger, on disk. It can be exchanged for one [`Budget`], if
/// the run spends ε.
#[derive(Debug)]
#[must_use = "the run's budget is debited already"]
pub struct Receipt {
    run: RunId,
    epsilon: Option<Epsilon>,
}

impl Ledger {
    /// Creates a ledger.
    ///
    /// # Errors
    /// [`Error::Exists`] and those of the file.
    pub fn create(path: &Path) -> Result<Self, Error> {
        Self::open_locked(path, true)
    }

    /// Creates a ledger for a first run; it is removed again if nothing was entered when this is
    /// dropped.
    ///
    /// # Errors
    /// As [`Ledger::create`].
    pub fn begin(path: &Path) -> Result<Self, Error> {
        let mut ledger = Self::create(path)?;
        ledger.removed_if_empty = true;
        Ok(ledger)
    }

    /// Opens a ledger that exists and checks every line.
    ///
    /// # Errors
    /// [`Error::Missing`], [`Error::Locked`], [`Error::BadLine`] and those of the file. A torn last
    /// line is not an error: see the module page and [`Ledger::was_repaired`].
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut ledger = Self::open_locked(path, false)?;
        if let Some(torn) = ledger.history.forget_torn() {
            ledger.repair(&torn)?;
        }
        Ok(ledger)
    }

    /// Enters a run, with its whole ε if it spends any. When this returns, the entry is on disk;
    /// only then may the first message that depends on private data be sent.
    ///
    /// # Errors
    /// [`Error::CapReached`], [`Error::KnownRun`], [`Error::BadName`] and those of the file; the
    /// run must then not begin.
    pub fn debit(&mut self, debit: Debit) -> Result<Receipt, Error> {
        self.debit_as(debit, Event::Debited)
    }

    /// The same for a rehearsal with noise: its whole ε is on disk before the first message that depends
    /// on private data, and is never given back.
    ///
    /// # Errors
    /// As [`Ledger::debit`]; the rehearsal must then not begin.
    pub fn debit_rehearsal(&mut self, debit: Debit) -> Result<Receipt, Error> {
        self.debit_as(debit, Event::RehearsalDebited)
    }

    fn debit_as(
        &mut self,
        debit: Debit,
        event: impl FnOnce(Box<Debit>) -> Event,
    ) -> Result<Receipt, Error> {
        if let (Some(epsilon), Some(cap)) = (&debit.epsilon, &debit.cap) {
            self.check_cap(&debit.data_set, epsilon, cap)?;
        }
        if let Some(loss) = debit.epsilon_towards_peer() {
            let cap = debit.cap_towards_peer.as_ref();
            self.history.check_cap_towards_peer(&debit.data_set, &loss, cap)?;
        }
        if self.history.run(&debit.run).is_some() {
            return Err(Error::KnownRun(debit.run));
        }
        let receipt = Receipt { run: debit.run, epsilon: debit.epsilon.clone() };
        self.reserve()?;
        self.append(event(Box::new(debit)))?;
        Ok(receipt)
    }

    /// Enters an exact rehearsal. When this returns, the entry is on disk; only then may
    /// identifiers be compared.
    ///
    /// # Errors
    /// [`Error::RehearsedBefore`], [`Error::BadName`] and those of the file; the rehearsal must then
    /// not begin.
    pub fn rehearse(&mut self, rehearsal: Rehearsal) -> Result<(), Error> {
        let Rehearsal { data_set, peer, fingerprint, .. } = &rehearsal;
        self.check_rehearsal(data_set, peer, fingerprint.as_ref())?;
        self.reserve()?;
        self.append(Event::Rehearsed(Box::new(rehearsal)))
    }

    /// Whether an exact rehearsal with a peer on a data set is allowed: checked before connecting.
    ///
    /// # Errors
    /// [`Error::RehearsedBefore`].
    pub fn check_rehearsal(
        &self,
        data_set: &str,
        peer: &str,
        fingerprint: Option<&Hash>,
    ) -> Result<(), Error> {
        let mut before = self.history.rehearsals(data_set, peer, fingerprint);
        if before.held < before.most() {
            return Ok(());
        }
        let (data_set, last) = (data_set.to_owned(), before.names.pop());
        Err(Error::RehearsedBefore { data_set, peer: last.unwrap_or_else(|| peer.to_owned()) })
    }

    /// Allows one more exact rehearsal on a data set with a peer, by a name that it had in one.
    ///
    /// # Errors
    /// [`Error::NotRehearsed`] and those of the file.
    pub fn allow_rehearsal(&mut self, data_set: &str, peer: &str) -> Result<(), Error> {
        let (data_set, peer) = (data_set.to_owned(), peer.to_owned());
        if self.history.rehearsals(&data_set, &peer, None).held == 0 {
            return Err(Error::NotRehearsed { data_set, peer });
        }
        self.append(Event::RehearsalAllowed { data_set, peer })
    }

    /// Whether a run may spend `epsilon`: checked before connecting.
    ///
    /// # Errors
    /// [`Error::CapReached`] if the data set's total would exceed `cap`, [`Error::CapAbove`] if the
    /// data set's own cap is lower.
    pub fn check_cap(&self, data_set: &str, epsilon: &Epsilon, cap: &Epsilon) -> Result<(), Error> {
        self.history.check_cap(data_set, epsilon, cap)
    }

    /// Whether a run may follow the earlier ones on its data set: checked before connecting.
    /// Promises other than ε do not add up, neither with each other nor with ε, so a run that makes
    /// such a promise, or that follows one that did, must be `accepted`. A run without ε and
    /// without a peer is aborted only before its release is in place; one that was killed stays
    /// open, and counts. A run with a peer counts as soon as both have entered it: when and why it
    /// ended may depend on data, and the peer has learned that.
    ///
    /// # Errors
    /// [`Error::DoesNotAddUp`].
    pub fn check_composition(
        &self,
        data_set: &str,
        spends: bool,
        accepted: bool,
    ) -> Result<(), Error> {
        self.history.check_composition(data_set, spends, accepted)
    }

    /// Raises one of the caps of a data set.
    ///
    /// # Errors
    /// [`Error::UnknownDataSet`], [`Error::NoCapTowardsPeer`], [`Error::NotRaised`] and those of the
    /// file.
    pub fn raise_cap(&mut self, data_set: &str, reader: Reader, cap: Epsilon) -> Result<(), Error> {
        let data_set = data_set.to_owned();
        let known = self.history.runs().iter().any(|run| run.debit.data_set == data_set);
        match self.history.cap(&data_set, reader) {
            None if known && reader == Reader::Peer => Err(Error::NoCapTowardsPeer(data_set)),
            None => Err(Error::UnknownDataSet(data_set)),
            Some(fixed) if *fixed >= cap => {
                let (fixed, wanted) = (Box::new(fixed.clone()), Box::new(cap));
                Err(Error::NotRaised { data_set, fixed, wanted })
            }
            Some(_) => {
                let towards_peer = reader == Reader::Peer;
                self.append(Event::Raised { data_set, cap, towards_peer })
            }
        }
    }

    /// Records that a head of this ledger, which a peer has, is known to be lost: runs with that
    /// peer may continue, and what was entered up to that head does not count.
    ///
    /// # Errors
    /// [`Error::KnownHead`], [`Error::BadName`] and those of the file.
    pub fn acknowledge(&mut self, peer: &str, head: Hash) -> Result<(), Error> {
        match self.history.has_had_head(&head) || self.history.acknowledged(&head) {
            true => Err(Error::KnownHead(head)),
            false => self.append(Event::Acknowledged { peer: peer.to_owned(), head }),
        }
    }

    /// Records the head of the peer's ledger right after it has debited a run.
    ///
    /// # Errors
    /// [`Error::NotOpen`] and those of the file.
    pub fn note_peer(&mut self, run: RunId, head: Hash) -> Result<(), Error> {
        match self.history.run(&run) {
            Some(known) if known.peer_head.is_none() => self.close(run, Event::Met { run, head }),
            _ => Err(Error::NotOpen(run)),
        }
    }

    /// Whether the file's name still refers to this file.
    ///
    /// # Errors
    /// [`Error::Moved`] if it does not, or if the system cannot tell.
    pub fn check_name(&self) -> Result<(), Error> {
        let failed = |source| Error::File { action: "find", path: self.path.clone(), source };
        let own = self.file.metadata().map_err(failed)?;
        match std::fs::metadata(&self.path) {
            Ok(named) if (named.dev(), named.ino()) == (own.dev(), own.ino()) => Ok(()),
            Ok(_) => Err(Error::Moved(self.path.clone())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                Err(Error::Moved(self.path.clone()))
            }
            Err(error) => Err(failed(error)),
        }
    }

    /// Records that a run's release is complete.
    ///
    /// # Errors
    /// [`Error::NotOpen`] and those of the file.
    pub fn finish(&mut self, run: RunId) -> Result<(), Error> {
        self.close(run, Event::Finished { run })
    }

    /// Records that a run ended without a release. Its ε stays spent.
    ///
    /// # Errors
    /// [`Error::NotOpen`] and those of the file.
    pub fn abort(&mut self, run: RunId) -> Result<(), Error> {
        self.close(run, Event::Aborted { run })
    }

    /// Everything entered so far.
    pub fn history(&self) -> &History {
        &self.history
    }

    /// Whether opening found a torn last line and repaired it.
    pub fn was_repaired(&self) -> bool {
        self.repaired
    }

    /// Allocates disk space for the lines of a run, so that a full disk is detected before ε is
    /// spent and not when the run must be closed. Does nothing on filesystems that cannot allocate
    /// in advance.
    ///
    /// # Errors
    /// Those of the file.
    pub fn reserve(&self) -> Result<(), Error> {
        let (action, path) = ("reserve room in", self.path.clone());
        self.make_room().map_err(|source| Error::File { action, path, source })
    }

    #[cfg(any(target_os = "linux", target_os = "android"))]
    fn make_room(&self) -> std::io::Result<()> {
        use rustix::fs::{FallocateFlags, fallocate};
        use rustix::io::Errno;
        loop {
            match fallocate(&self.file, FallocateFlags::KEEP_SIZE, self.length, ROOM_FOR_A_RUN) {
                Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => return Ok(()),
                Err(Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    fn make_room(&self) -> std::io::Result<()> {
        Ok(())
    }

    fn close(&mut self, run: RunId, event: Event) -> Result<(), Error> {
        match self.history.run(&run) {
            Some(known) if known.status == Status::Debited => self.append(event),
            _ => Err(Error::NotOpen(run)),
        }
    }

    fn append(&mut self, event: Event) -> Result<(), Error> {
        if self.poisoned {
            return Err(Error::Poisoned);
        }
        self.check_name()?;
        let entry = Entry { time: now(), event };
        let line = self.history.next_line(&entry)?;
        // A longer file could not be read again. Debits stop early, so that open runs can still be closed.
        let opens = matches!(
            entry.event,
            Event::Debited(_) | Event::Rehearsed(_) | Event::RehearsalDebited(_)
        );
        let reserve = if opens { CLOSING_RESERVE } else { 0 };
        if self.length + line.len() as u64 + reserve > MOST_BYTES {
            return Err(Error::TooLong { most: MOST_BYTES });
        }
        // Until the line is on disk, what the file holds is unknown.
        self.poisoned = true;
        if let Err(error) = self.write_line(line.as_bytes()) {
            // May fail: a torn line is repaired by the next writer.
            let _ = self.file.set_len(self.length).and_then(|()| self.file.sync_all());
            return Err(error);
        }
        self.poisoned = false;
        self.length += line.len() as u64;
        self.history.accept(line.trim_end_matches('\n'))
    }

    fn write_line(&mut self, line: &[u8]) -> Result<(), Error> {
        let failed = |action| {
            let path = self.path.clone();
            move |source| Error::File { action, path, source }
        };
        self.file.seek(SeekFrom::Start(self.length)).map_err(failed("write to"))?;
        self.file.write_all(line).map_err(failed("write to"))?;
        self.file.sync_all().map_err(failed("bring to disk"))
    }

    fn open_locked(path: &Path, new: bool) -> Result<Self, Error> {
        use std::io::ErrorKind::{AlreadyExists, NotFound};
        let action = if new { "create" } else { "open" };
        let failed = |action| move |source| Error::File { action, path: path.to_owned(), source };
        let mut options = OpenOptions::new();
        let mut file = options
            .read(true)
            .write(true)
            .create_new(new)
            .mode(0o600) // what was spent on whose data is nobody else's business
            .open(path)
            .map_err(|error| match error.kind() {
                AlreadyExists => Error::Exists(path.to_owned()),
                NotFound if !new => Error::Missing(path.to_owned()),
                _ => failed(action)(error),
            })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(Error::Locked(path.to_owned())),
            Err(TryLockError::Error(source)) => return Err(failed("lock")(source)),
        }
        // The name must survive a crash as well as the contents.
        sync_directory(path).map_err(failed("bring to disk"))?;
        let bytes = read_bounded(&mut file).map_err(failed("read"))?;
        let history = History::parse(&bytes)?;
        let torn = history.torn().map_or(0, |torn| torn.bytes);
        let length = bytes.len() as u64 - torn;
        let path = path.to_owned();
        let (repaired, poisoned, removed_if_empty) = (false, false, false);
        let ledger = Self { path, file, history, length, repaired, poisoned, removed_if_empty };
        ledger.check_name()?;
        Ok(ledger)
    }

    fn repair(&mut self, torn: &Torn) -> Result<(), Error> {
        if torn.complete {
            // Only the newline is missing: the entry is valid.
            self.length += torn.bytes - torn.zeros;
        }
        self.file.set_len(self.length).and_then(|()| self.file.sync_all()).map_err(|source| {
            let action = "remove the torn end of";
            Error::File { action, path: self.path.clone(), source }
        })?;
        if torn.complete {
            self.write_line(b"\n")?;
            self.length += 1;
        } else {
            self.append(Event::Repaired { bytes: torn.bytes })?;
        }
        self.repaired = true;
        Ok(())
    }
}

impl Drop for Ledger {
    fn drop(&mut self) {
        let empty = self.file.metadata().is_ok_and(|file| file.len() == 0);
        if self.removed_if_empty && empty && self.check_name().is_ok() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// Reads and checks a ledger without locking or changing it.
///
/// # Errors
/// [`Error::Missing`]; [`Error::BadLine`] names the first bad line. A torn last line is not an error: [`History::torn`].
pub fn read(path: &Path) -> Result<History, Error> {
    let failed = |source| Error::File { action: "read", path: path.to_owned(), source };
    let mut file = File::open(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::Missing(path.to_owned()),
        _ => failed(error),
    })?;
    History::parse(&read_bounded(&mut file).map_err(failed)?)
}

impl Receipt {
    /// The run that was debited.
    pub fn run(&self) -> RunId {
        self.run
    }

    /// The budget of this receipt, if the run spends ε.
    pub fn into_budget(self) -> Option<Budget> {
        self.epsilon.as_ref().map(Budget::new)
    }
}

/// Reads one byte more than allowed, so that parsing rejects a file that is too long.
fn read_bounded(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn sync_directory(path: &Path) -> std::io::Result<()> {
    let directory = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    File::open(directory)?.sync_all()
}

/// Seconds since 1970, by the clock that dates all entries; one before that counts as 0.
pub fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |elapsed| elapsed.as_secs())
}

#[cfg(test)]
mod tests;
