//! Forecasts: the messages and the work of a run, counted without running it.
//!
//! A protocol whose messages depend on public numbers alone has, beside the functions that run it,
//! a function `forecast` that takes those numbers and adds to a [`Forecast`] every message and
//! every costly operation of one party, in order. Bytes, messages and rounds come from the meter
//! that counts real conversations, so that a forecast and a run can be compared message by message,
//! as the tests do. Times follow from the operations and what each takes on a machine.
//!
//! *Why messages are described a second time.* Running a protocol's own script against a channel
//! that counts would need the peer's answers (its ciphertexts, labels and shares are computed, not
//! only counted) and the work itself, so a forecast would cost as much as a run; and `dry-run`
//! makes hundreds of them. What can be derived is derived: the loop that makes a release runs as it
//! is, with a `Specializer` that counts, and the lengths of encoded messages come from the codec.
//! The tests that compare both message by message keep the two descriptions consistent.
//!
//! # Example
//!
//! A forecast of set intersection, and the run itself:
//!
//! ```
//! use diptych_mpc::crypto::commutative::Ristretto;
//! use diptych_mpc::Role;
//! use diptych_mpc::protocol::forecast::Forecast;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::psi::{self, intersect};
//!
//! let group = Ristretto::default();
//! let mut forecast = Forecast::new(Role::P1);
//! forecast.record_transcript();
//! psi::forecast_intersect(&mut forecast, &group, 2, 3);
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| intersect(session, &group, &["ada", "bob"], psi::Options::default()),
//!     |session| intersect(session, &group, &["bob", "cyd", "dan"], psi::Options::default()),
//! );
//! assert_eq!(forecast.transcript(), outcome.transcripts.p1);
//! assert_eq!(forecast.costs().total().rounds, outcome.costs.p1.total().rounds);
//! // Two elements of our own and three of the peer's, encrypted once by each side.
//! assert_eq!(forecast.works()[0].1.values().sum::<u64>(), 5);
//! ```

use std::collections::BTreeMap;

use crate::net::codec;
use crate::net::meter::{CpuClock, Meter, PhaseCost};
use crate::net::{Costs, Direction, Error, Message, Tag, Transcript};
use crate::protocol::prepared::Stock;
use crate::protocol::transfers::Source;
use crate::protocol::{Bulk, silent};
use crate::role::Role;

/// An operation that takes time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Work {
    /// An exponentiation of commutative encryption.
    GroupOperation,
    /// The 128 transfers that all others grow from.
    BaseTransfers,
    /// One oblivious transfer, at either side.
    Transfer,
    /// Making an element of vector OLE, at either side.
    Element,
    /// Storing an identifier, or looking one up with its hash.
    Lookup,
    /// Garbling an AND gate.
    Garble,
    /// Evaluating a garbled AND gate.
    Evaluate,
    /// A hash of sums by group, at either side.
    Hash,
    /// Making a Paillier key.
    MakeKey,
    /// Checking the peer's Paillier key.
    CheckKey,
    /// A Paillier encryption by the key's owner.
    Encrypt,
    /// A Paillier decryption.
    Decrypt,
    /// The sum of two ciphertexts.
    Add,
    /// Re-randomising a ciphertext.
    Rerandomise,
    /// A ciphertext times a number, for each bit of the number.
    PowerBit,
}

/// How often each operation is done.
pub type Works = BTreeMap<Work, u64>;

/// One party's side of a conversation that does not take place.
pub struct Forecast {
    role: Role,
    meter: Meter,
    phase: String,
    works: Vec<(String, Works)>,
    set_up: Vec<(Role, Source)>,
    transfers: Source,
    bulk: Bulk,
    noises: Vec<Stock>,
    schedules: [Option<silent::Schedule>; 2],
    /// The messages of each of so many shards, all alike.
    shards: Option<(Box<Self>, usize)>,
}

impl Forecast {
    /// A forecast without messages.
    pub fn new(role: Role) -> Self {
        let meter = Meter::new(CpuClock::Thread);
        let (works, set_up) = (Vec::new(), Vec::new());
        let (phase, noises) = (String::new(), Vec::new());
        let (transfers, bulk) = Default::default();
        let (schedules, shards) = ([None; 2], None);
        Self { role, meter, phase, works, set_up, transfers, bulk, noises, schedules, shards }
    }

    /// Records every message from now on, as [`crate::net::Channel::record_transcript`].
    pub fn record_transcript(&mut self) {
        self.meter.record_transcript();
    }

    /// Adds the messages on the connection of each of so many shards ([`crate::protocol::shards`]).
    pub fn in_shards<T>(&mut self, shards: usize, tell: impl FnOnce(&mut Self) -> T) -> T {
        let role = self.role;
        let (shard, _) = self.shards.get_or_insert_with(|| (Box::new(Self::new(role)), shards));
        shard.record_transcript();
        tell(shard)
    }

    /// Whose side it is.
    pub fn role(&self) -> Role {
        self.role
    }

    /// What follows belongs to this phase, as [`crate::net::Channel::begin_phase`].
    pub fn begin_phase(&mut self, name: &str) {
        name.clone_into(&mut self.phase);
        self.meter.begin_phase(name);
    }

    /// A message of so many bytes, without its header.
    pub fn message(&mut self, from: Role, tag: Tag, bytes: usize) {
        let sent = from == self.role;
        let direction = if sent { Direction::Sent } else { Direction::Received };
        self.meter.count(direction, tag, bytes);
    }

    /// A message of so many bytes each way: this party sends before it waits for the peer's.
    pub fn exchange(&mut self, tag: Tag, bytes: usize) {
        self.message(self.role, tag, bytes);
        self.message(self.role.peer(), tag, bytes);
    }

    /// A message that is as long as this one.
    ///
    /// # Errors
    /// If it cannot be encoded.
    pub fn message_like<M: Message>(&mut self, from: Role, message: &M) -> Result<(), Error> {
        self.message(from, M::TAG, length(message)?);
        Ok(())
    }

    /// Messages each way that are as long as this one.
    ///
    /// # Errors
    /// If it cannot be encoded.
    pub fn exchange_like<M: Message>(&mut self, message: &M) -> Result<(), Error> {
        self.exchange(M::TAG, length(message)?);
        Ok(())
    }

    /// This party does something so many times.
    pub fn work(&mut self, work: Work, times: usize) {
        let place = self.works.iter().position(|(phase, _)| *phase == self.phase);
        let place = place.unwrap_or_else(|| {
            self.works.push((self.phase.clone(), Works::new()));
            self.works.len() - 1
        });
        *self.works[place].1.entry(work).or_default() += times as u64;
    }

    /// Where transfers come from, as [`crate::protocol::Session::use_transfers`].
    pub fn use_transfers(&mut self, source: Source) {
        self.transfers = source;
    }

    /// Where transfers from `sender` come from.
    pub(super) fn transfers_from(&self, sender: Role) -> Source {
        let set_up = self.set_up.iter().find(|(role, _)| *role == sender);
        set_up.map_or(self.transfers, |(_, source)| *source)
    }

    /// How work in bulk is done, as [`crate::protocol::Workspace::bulk`].
    pub fn do_bulk(&mut self, bulk: Bulk) {
        self.bulk = bulk;
    }

    /// How work in bulk is done.
    pub fn bulk(&self) -> Bulk {
        self.bulk
    }

    /// Borrows the number of noises that would be left, together with the forecast.
    pub(super) fn with_noises<T>(
        &mut self,
        work: impl FnOnce(&mut Vec<Stock>, &mut Self) -> T,
    ) -> T {
        let mut noises = std::mem::take(&mut self.noises);
        let result = work(&mut noises, self);
        self.noises = noises;
        result
    }

    /// How far silent transfers from `sender` have come, if there were any.
    pub(super) fn schedule(&self, sender: Role) -> Option<silent::Schedule> {
        self.schedules[sender as usize]
    }

    pub(super) fn keep_schedule(&mut self, sender: Role, schedule: silent::Schedule) {
        self.schedules[sender as usize] = Some(schedule);
    }

    /// Whether this is the first time that `garbler` garbles.
    pub(super) fn sets_up(&mut self, garbler: Role) -> bool {
        let first = self.set_up.iter().all(|(role, _)| *role != garbler);
        if first {
            self.set_up.push((garbler, self.transfers));
        }
        first
    }

    /// Bytes, messages and rounds by phase; all times are 0.
    pub fn costs(&self) -> Costs {
        let mut costs = self.meter.costs();
        if let Some((shard, times)) = &self.shards {
            costs.include(&shard.costs(), *times);
        }
        costs.phases.retain(|phase| phase.messages_sent + phase.messages_received > 0);
        for phase in &mut costs.phases {
            (phase.wall, phase.cpu) = Default::default();
        }
        costs
    }

    /// Whether a conversation had these phases with the same messages in the same order, judged by
    /// bytes, rounds and shapes; it may have had other phases.
    pub fn matches(&self, seen: &Costs) -> bool {
        let counted = |phase: &PhaseCost| {
            let (wall, cpu) = Default::default();
            PhaseCost { wall, cpu, ..phase.clone() }
        };
        let seen: Vec<PhaseCost> = seen.phases.iter().map(counted).collect();
        self.costs().phases.iter().all(|due| seen.contains(due))
    }

    /// What this party does in each phase, in the order in which they begin.
    pub fn works(&self) -> Vec<(String, Works)> {
        let mut all = self.works.clone();
        let Some((shard, times)) = &self.shards else { return all };
        for (phase, works) in shard.works() {
            let place = all.iter().position(|(name, _)| *name == phase).unwrap_or_else(|| {
                all.push((phase, Works::new()));
                all.len() - 1
            });
            for (work, count) in works {
                *all[place].1.entry(work).or_default() += count * *times as u64;
            }
        }
        all
    }

    /// Every message in order, from when they were recorded; then those of each shard.
    pub fn transcript(&self) -> Transcript {
        let mut transcript = self.meter.transcript();
        if let Some((shard, times)) = &self.shards {
            let of_one = shard.transcript();
            (0..*times).for_each(|_| transcript.extend_from_slice(&of_one));
        }
        transcript
    }
}

/// The bytes of a message, without its header.
fn length<M: Message>(message: &M) -> Result<usize, Error> {
    let bytes =
        codec::encode(message).map_err(|problem| Error::Malformed { tag: M::TAG, problem })?;
    Ok(bytes.len())
}
