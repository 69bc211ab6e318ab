//! Shards: each holds some of a party's people, and has its own connection to the peer's shard of
//! the same number.
//!
//! What grows with records adds up over disjoint sets of people, so a party may hold its people in
//! shards. The *lead* is the session of the release itself, and sends requests to its shards. Every
//! shard has done a handshake whose terms name the lead's session and the shard's number
//! ([`terms`]): a connection of another run, or of another shard, is rejected there.
//!
//! *Requests and answers* are bytes to this module: a shard may be in this process or in another
//! one ([`Shard`], [`remote`]), and the release defines what they mean.
//!
//! *Order.* Both parties process shards in ascending order and the same number of them at a time
//! ([`Shards::at_once`]), so that the lowest unfinished shard is being processed at both, and
//! nobody waits for a shard that waits for another.
//!
//! *Faults.* A shard that fails sends its peer the reason, as any session does; then no further
//! shard begins, and all others are sent the same. So each side's run ends with a typed error.

pub mod remote;
#[cfg(any(test, feature = "testing"))]
pub mod stand_in;

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use crate::net::{AbortReason, Blame, Costs, Error, Fault, SessionId, Stop, Transcript};
use crate::protocol::Session;

/// Shards that are notified at a time that the run ends.
const MOST_PARTINGS: usize = 64;

/// Ways in which a shard may overflow when people are distributed over shards, in units of 2⁻⁶⁴:
/// each party's and the common ones, each with probability e⁻⁵⁰ in each shard. Finding the common
/// ones fails in `of_one` ways in each.
pub fn failures(shards: u32, of_one: u64) -> u64 {
    let shards = u64::from(shards);
    shards * of_one + 1 + shards / 64
}

/// An answer: it may hold shares, so it is wiped.
pub type Answer = Zeroizing<Vec<u8>>;

/// One of a party's shards, as its lead uses it.
pub trait Shard: Send {
    /// Handles a request, and returns the answer.
    ///
    /// # Errors
    /// Errors of the shard; its peer has been notified.
    fn ask(&mut self, request: &[u8]) -> Result<Answer, Failed>;

    /// Sends the peer's shard an abort with its reason, if it still listens.
    fn abort(&mut self, reason: AbortReason);

    /// Aborts the shard's conversation if it is not over within this time from now.
    fn end_within(&mut self, limit: Duration);

    /// From now on every wait ends when this flag is set.
    fn stop_on(&mut self, stop: &Stop);

    /// Records direction, tag and length of every message to and from the peer from now on.
    fn record_transcript(&mut self);

    /// What the shard's conversation has cost so far.
    fn costs(&self) -> Costs;

    /// Its messages since [`Shard::record_transcript`].
    fn transcript(&self) -> Transcript;
}

/// Whose fault it is that a shard failed: the part of [`Blame`] that is sent between processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Class {
    PeerAborted(AbortReason),
    Closed,
    Slow,
    Stopped,
    Peer,
    Disagreement,
    Input,
    Internal,
}

/// Why a shard did not answer, as sent to its lead: in words, with whose fault it is.
#[derive(Debug, thiserror::Error, Serialize, Deserialize)]
#[error("{words}")]
#[serde(from = "Heard")]
pub struct Failed {
    class: Class,
    words: String,
    /// The connection error that the class stands for.
    #[serde(skip)]
    connection: Option<Error>,
}

/// The serialised form of [`Failed`].
#[derive(Deserialize)]
struct Heard {
    class: Class,
    words: String,
}

impl From<Heard> for Failed {
    fn from(Heard { class, words }: Heard) -> Self {
        Self::new(class, words)
    }
}

impl Failed {
    fn new(class: Class, words: String) -> Self {
        let connection = match class {
            Class::PeerAborted(reason) => Some(Error::PeerAborted(reason)),
            Class::Closed => Some(Error::Closed),
            Class::Slow => Some(Error::Timeout { action: "answer", limit: Duration::ZERO }),
            Class::Stopped => Some(Error::Stopped),
            Class::Peer | Class::Disagreement | Class::Input | Class::Internal => None,
        };
        Self { class, words, connection }
    }

    /// An error of a shard, as its lead reports it.
    pub fn of(error: &impl Fault) -> Self {
        let class = match error.blame() {
            Blame::Connection(Error::PeerAborted(reason)) => Class::PeerAborted(*reason),
            Blame::Connection(Error::Closed) => Class::Closed,
            Blame::Connection(Error::Stopped) => Class::Stopped,
            Blame::Connection(Error::Timeout { .. } | Error::RunTooLong { .. }) => Class::Slow,
            Blame::Connection(error) if error.is_refusal() => Class::Peer,
            Blame::Peer => Class::Peer,
            Blame::Disagreement => Class::Disagreement,
            Blame::Input => Class::Input,
            Blame::Connection(_) | Blame::Internal => Class::Internal,
        };
        Self::new(class, error.to_string())
    }

    /// Something failed here that neither the user nor the peer caused.
    pub fn internal(words: impl Into<String>) -> Self {
        Self::new(Class::Internal, words.into())
    }
}

impl Fault for Failed {
    fn blame(&self) -> Blame<'_> {
        match (&self.connection, self.class) {
            (Some(error), _) => Blame::Connection(error),
            (None, Class::Peer) => Blame::Peer,
            (None, Class::Disagreement) => Blame::Disagreement,
            (None, Class::Input) => Blame::Input,
            (None, _) => Blame::Internal,
        }
    }
}

/// A party's shards, at its lead.
#[derive(Default)]
pub struct Shards {
    /// Connections by number, until the release turns them into shards that answer.
    pub sessions: Vec<Session>,
    /// The shards that answer, by number.
    pub asked: Vec<Box<dyn Shard>>,
    /// How many are processed at a time, the same at both parties; 0 counts as 1.
    pub at_once: usize,
    /// How many records they hold together, where the lead has none of its own to distribute.
    pub records: Option<usize>,
}

/// Prefix of the terms of a shard.
const LABEL: &[u8] = b"diptych shard v1";

/// The result of one shard, by its number.
type Came<T, E> = Vec<(usize, Result<T, E>)>;

/// The terms of the handshake of one of so many shards, under the session of their lead.
pub fn terms(lead: &SessionId, number: usize, shards: usize) -> Vec<u8> {
    let mut terms = LABEL.to_vec();
    terms.extend(lead.as_bytes());
    terms.extend((number as u64).to_le_bytes());
    terms.extend((shards as u64).to_le_bytes());
    terms
}

/// The message for two terms that differ, if either is of a shard: which connections were mixed up.
pub fn crossed(ours: &[u8], theirs: &[u8]) -> Option<String> {
    let shard = |terms: &[u8]| {
        let (lead, rest) = terms.strip_prefix(LABEL)?.split_first_chunk::<32>()?;
        Some((*lead, u64::from_le_bytes(*rest.first_chunk()?)))
    };
    let name = |shard: Option<(_, u64)>| match shard {
        Some((_, number)) => format!("shard {number}"),
        None => "the lead".to_owned(),
    };
    let (ours, theirs) = (shard(ours), shard(theirs));
    let same_run = ours.zip(theirs).is_some_and(|(ours, theirs)| ours.0 == theirs.0);
    let whose = if same_run { "the peer" } else { "another run between the same two parties" };
    ours.or(theirs)?;
    Some(format!("{} of this run was connected to {} of {whose}", name(ours), name(theirs)))
}

impl Shards {
    /// Sends every shard a request, and returns all answers. `request` makes the request of a shard
    /// when its turn comes, and `hear` reads its answer: of both there are as many at a time as
    /// shards being processed.
    ///
    /// # Errors
    /// That of the first shard that failed.
    pub fn each<T: Send, E: Fault + From<Error> + Send>(
        &mut self,
        request: impl Fn(usize) -> Result<Vec<u8>, E> + Sync,
        hear: impl Fn(usize, &[u8]) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let threads = self.at_once.clamp(1, self.asked.len().max(1));
        let queue = Mutex::new(self.asked.iter_mut().enumerate());
        let failed = AtomicBool::new(false);
        let work_through = || {
            let mut came: Came<T, E> = Vec::new();
            while !failed.load(Ordering::Relaxed) {
                // A thread that panicked held the lock for no longer than one step.
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((number, shard)) = next else { break };
                let asked = request(number)
                    .and_then(|request| Ok(shard.ask(&request).map_err(Error::from)?));
                let outcome = asked.and_then(|answer| hear(number, &answer));
                failed.fetch_or(outcome.is_err(), Ordering::Relaxed);
                came.push((number, outcome));
            }
            came
        };
        let came = thread::scope(|scope| {
            let spawn = |_| thread::Builder::new().spawn_scoped(scope, work_through);
            let others: Result<Vec<_>, _> = (1..threads).map(spawn).collect();
            failed.fetch_or(others.is_err(), Ordering::Relaxed);
            let mut came = work_through();
            for other in others.map_err(Error::NoThread)? {
                came.extend(other.join().unwrap_or_else(|cause| panic::resume_unwind(cause)));
            }
            Ok::<_, Error>(came)
        });
        self.gathered(came?)
    }

    /// The results of the shards, in their order; if one failed, all are notified.
    fn gathered<T, E: Fault>(&mut self, mut came: Came<T, E>) -> Result<Vec<T>, E> {
        came.sort_by_key(|(number, _)| *number);
        let outcome: Result<Vec<T>, E> = came.into_iter().map(|(_, outcome)| outcome).collect();
        if let Err(error) = &outcome {
            let reason = error.blame().reason().unwrap_or(AbortReason::Stopped);
            self.abort(reason);
        }
        outcome
    }

    /// Notifies all of them at once: each may wait a moment for a peer that is gone.
    fn abort(&mut self, reason: AbortReason) {
        let threads = self.asked.len().min(MOST_PARTINGS);
        let queue = Mutex::new(self.asked.iter_mut());
        let tell = || {
            let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
            while let Some(shard) = next() {
                shard.abort(reason);
            }
        };
        thread::scope(|scope| {
            for _ in 1..threads {
                // If the system cannot start more threads, the existing ones do it.
                let _ = thread::Builder::new().spawn_scoped(scope, tell);
            }
            tell();
        });
    }

    /// What all of their conversations have cost.
    pub(super) fn costs(&self) -> impl Iterator<Item = Costs> {
        let connected = self.sessions.iter().map(|shard| shard.channel.costs());
        connected.chain(self.asked.iter().map(|shard| shard.costs()))
    }

    /// Their messages, shard after shard.
    pub(super) fn transcript(&self) -> impl Iterator<Item = Transcript> {
        let connected = self.sessions.iter().map(|shard| shard.channel.transcript());
        connected.chain(self.asked.iter().map(|shard| shard.transcript()))
    }

    pub(super) fn record_transcript(&mut self) {
        self.sessions.iter_mut().for_each(|shard| shard.channel.record_transcript());
        self.asked.iter_mut().for_each(|shard| shard.record_transcript());
    }

    pub(super) fn end_within(&mut self, limit: Duration) {
        self.sessions.iter_mut().for_each(|shard| shard.channel.end_within(limit));
        self.asked.iter_mut().for_each(|shard| shard.end_within(limit));
    }

    pub(super) fn stop_on(&mut self, stop: &Stop) {
        self.sessions.iter_mut().for_each(|shard| shard.channel.stop_on(stop.clone()));
        self.asked.iter_mut().for_each(|shard| shard.stop_on(stop));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Condvar};

    use super::stand_in::{Answers, StandIn};
    use super::*;
    use crate::math::Randomness;
    use crate::net::{Limits, Tag, codec, memory};
    use crate::protocol::Workspace;
    use crate::protocol::pair::{Setup, run_workspaces};
    use crate::role::Role;

    #[test]
    fn connections_that_were_taken_for_each_other_are_named() {
        let [lead, other] = [1, 2].map(|byte| SessionId::from_bytes([byte; 32]));
        let ours = terms(&lead, 3, 8);
        let another = "another run between the same two parties";
        for (theirs, words) in [
            (
                terms(&other, 3, 8),
                format!("shard 3 of this run was connected to shard 3 of {another}"),
            ),
            (b"{}".to_vec(), format!("shard 3 of this run was connected to the lead of {another}")),
            (terms(&lead, 4, 8), "shard 3 of this run was connected to shard 4 of the peer".into()),
        ] {
            assert_eq!(crossed(&ours, &theirs), Some(words));
        }
        assert!(crossed(b"{}", &ours).unwrap().starts_with("the lead of this run was"));
        assert_eq!(crossed(b"{}", b"diptych shard v1 and so on"), None);
    }

    #[test]
    fn a_shard_of_another_number_or_of_another_run_is_refused() {
        let [lead, other] = [1, 2].map(|byte| SessionId::from_bytes([byte; 32]));
        for (theirs, meets) in [
            (terms(&lead, 3, 8), true),
            (terms(&lead, 4, 8), false),
            (terms(&lead, 3, 9), false),
            (terms(&other, 3, 8), false),
        ] {
            let ours = terms(&lead, 3, 8);
            let (first, second) = memory::pair(Limits::default());
            let establish = |channel, role, terms: &[u8], seed| {
                Session::establish(channel, role, terms, Randomness::seeded(seed)).map(|_| ())
            };
            let (one, two) = thread::scope(|scope| {
                let one = scope.spawn(|| establish(first, Role::P1, &ours, 1));
                let two = establish(second, Role::P2, &theirs, 2);
                (one.join().unwrap(), two)
            });
            for met in [one, two] {
                assert_eq!(met.is_ok(), meets);
                assert!(meets || matches!(met, Err(Error::Terms { .. })));
            }
        }
    }

    /// A shard that sends one byte and waits for another, or fails at once; it answers its number and id.
    struct Talks {
        session: Session,
        fails: bool,
    }

    impl Answers for Talks {
        fn ask(&mut self, request: &[u8]) -> Result<Answer, Failed> {
            let talk = |session: &mut Session| {
                session.channel.send_bytes(Tag::new(*b"test"), b"x")?;
                session.channel.receive_bytes(Tag::new(*b"test"), 1)?;
                Ok(Zeroizing::new([request, session.id.as_bytes()].concat()))
            };
            let outcome = if self.fails { Err(Error::Closed) } else { talk(&mut self.session) };
            self.session.conclude(outcome).map_err(|error| Failed::of(&error))
        }

        fn abort(&mut self, reason: AbortReason) {
            self.session.channel.abort(reason);
        }
    }

    /// Asks every shard for its number; one of them may fail.
    fn ask_all(session: &mut Workspace, failing: Option<usize>) -> Result<Vec<Vec<u8>>, Error> {
        let connected = std::mem::take(&mut session.shards.sessions);
        for (number, shard) in connected.into_iter().enumerate() {
            let fails = failing == Some(number) && shard.role == Role::P1;
            session.shards.asked.push(Box::new(StandIn(Talks { session: shard, fails })));
        }
        session.shards.each(|number| Ok(vec![number as u8]), |_, answer| Ok(answer.to_vec()))
    }

    /// Shard 2 of 5 fails at P1 alone; P2 processes all of them, or waits for the first.
    #[test]
    fn a_shard_that_fails_ends_all_others_with_its_reason() {
        for at_once in [1, 2, 5] {
            let party = |session: &mut Workspace| ask_all(session, Some(2));
            let outcome = run_workspaces(Setup::default().shards(5, at_once), party, party);
            let (one, two) = (outcome.p1.unwrap_err(), outcome.p2.unwrap_err());
            assert!(matches!(one.blame(), Blame::Connection(Error::Closed)), "{one:?}");
            let stopped = Blame::Connection(&Error::PeerAborted(AbortReason::Stopped));
            assert_eq!(format!("{:?}", two.blame()), format!("{stopped:?}"));
        }
    }

    /// A shard that fails, and whose abort does not end before as many are under way as may be.
    struct Parts(Arc<(Mutex<usize>, Condvar)>);

    impl Answers for Parts {
        fn ask(&mut self, _: &[u8]) -> Result<Answer, Failed> {
            Err(Failed::internal("gone"))
        }

        fn abort(&mut self, _: AbortReason) {
            let (begun, more) = &*self.0;
            let mut begun = begun.lock().unwrap();
            *begun += 1;
            more.notify_all();
            // One after another, the first would wait for ever.
            let longest = Duration::from_secs(120);
            let waited = more.wait_timeout_while(begun, longest, |begun| *begun < MOST_PARTINGS);
            assert!(!waited.unwrap().1.timed_out(), "they part one after another");
        }
    }

    #[test]
    fn shards_whose_peers_are_gone_part_at_the_same_time() {
        let begun = Arc::new((Mutex::new(0), Condvar::new()));
        let mut shards = Shards::default();
        for _ in 0..2 * MOST_PARTINGS {
            shards.asked.push(Box::new(StandIn(Parts(begun.clone()))));
        }
        let outcome: Result<Vec<()>, Error> = shards.each(|_| Ok(Vec::new()), |_, _| Ok(()));
        assert!(matches!(outcome, Err(Error::Shard(_))));
        assert_eq!(*begun.0.lock().unwrap(), 2 * MOST_PARTINGS);
    }

    #[test]
    fn what_shards_come_to_is_in_their_order() {
        for at_once in [0, 1, 3, 9] {
            let party = |session: &mut Workspace| ask_all(session, None);
            let outcome = run_workspaces(Setup::default().shards(7, at_once), party, party);
            let (one, two) = (outcome.p1.unwrap(), outcome.p2.unwrap());
            assert_eq!(one, two, "shards of one number have one session");
            assert!(one.iter().map(|told| told[0]).eq(0..7));
        }
    }

    /// The message to the peer and the outcome of the run are the same as without a process in
    /// between.
    #[test]
    fn whose_fault_it_is_crosses_from_one_process_to_another() {
        let slow = Error::Timeout { action: "answer", limit: Duration::from_secs(1) };
        let bad = Error::Malformed { tag: Tag::new(*b"test"), problem: "short" };
        let aborted = Error::PeerAborted(AbortReason::OverCap);
        for error in [Error::Closed, Error::Stopped, slow, bad, aborted] {
            let bytes = codec::encode(&Failed::of(&error)).unwrap();
            let heard: Failed = codec::decode(&bytes).unwrap();
            assert_eq!(heard.blame().reason(), error.blame().reason(), "{error}");
            assert_eq!(heard.to_string(), error.to_string());
        }
        assert!(codec::decode::<Failed>(&[9; 40]).is_err());
    }
}
