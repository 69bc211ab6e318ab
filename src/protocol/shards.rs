//! Sessions of shards: each talks to the peer's shard of the same number, over a connection of its own.
//!
//! What grows with records adds up over disjoint sets of people, so a party may hold its people in
//! shards. The *lead* is the session of the release itself; its shards' sessions are here. Every one of them had
//! a handshake whose terms name the lead's session and the shard's number ([`terms`]): a connection of
//! another run, or of another shard, is refused there.
//!
//! *Order.* Both parties take shards in ascending order and have the same number of them in work
//! ([`Shards::at_once`]), so that the lowest shard that is not done is in work at both, and nobody waits
//! for a shard that waits for another.
//!
//! *Faults.* A shard that fails tells its peer why, as any session does; then no further shard begins,
//! and all others are told the same. So each side's run ends with a typed error.

use std::panic;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

use crate::net::{AbortReason, Error, Fault, SessionId};
use crate::protocol::Session;

/// The sessions of a party's shards.
#[derive(Default)]
pub struct Shards {
    /// By number.
    pub sessions: Vec<Session>,
    /// How many are in work at a time, the same at both parties; 0 counts as 1.
    pub at_once: usize,
}

/// What one shard came to, by its number.
type Came<T, E> = Vec<(usize, Result<T, E>)>;

/// The terms of the handshake of one of so many shards, under the session of their lead.
pub fn terms(lead: &SessionId, number: usize, shards: usize) -> Vec<u8> {
    let mut terms = b"diptych shard v1".to_vec();
    terms.extend(lead.as_bytes());
    terms.extend((number as u64).to_le_bytes());
    terms.extend((shards as u64).to_le_bytes());
    terms
}

impl Shards {
    /// Does the same on every shard, each with its own part, and returns what came of each.
    ///
    /// # Errors
    /// That of the first shard that failed.
    pub fn each<P: Send, T: Send, E: Fault + From<Error> + Send>(
        &mut self,
        parts: Vec<P>,
        work: impl Fn(&mut Session, P) -> Result<T, E> + Sync,
    ) -> Result<Vec<T>, E> {
        let threads = self.at_once.clamp(1, self.sessions.len().max(1));
        let queue = Mutex::new(self.sessions.iter_mut().zip(parts).enumerate());
        let failed = AtomicBool::new(false);
        let work_through = || {
            let mut came: Came<T, E> = Vec::new();
            while !failed.load(Ordering::Relaxed) {
                // A thread that panicked held the lock for no longer than one step.
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((number, (session, part))) = next else { break };
                let outcome = work(session, part);
                let outcome = session.conclude(outcome);
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

    /// What the shards came to, in their order; if one failed, all are told.
    fn gathered<T, E: Fault>(&mut self, mut came: Came<T, E>) -> Result<Vec<T>, E> {
        came.sort_by_key(|(number, _)| *number);
        let outcome: Result<Vec<T>, E> = came.into_iter().map(|(_, outcome)| outcome).collect();
        if let Err(error) = &outcome {
            let reason = error.blame().reason().unwrap_or(AbortReason::Stopped);
            self.sessions.iter_mut().for_each(|session| session.channel.abort(reason));
        }
        outcome
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Randomness;
    use crate::net::{Limits, Tag, memory};
    use crate::protocol::pair::{Setup, run_pair};
    use crate::role::Role;

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

    /// Shard 2 of 5 fails at P1 alone; P2 has all of them in work, or waits for the first.
    #[test]
    fn a_shard_that_fails_ends_all_others_with_its_reason() {
        for at_once in [1, 2, 5] {
            let party = |session: &mut Session| {
                session.shards.each((0..5).collect(), |shard, number| {
                    if number == 2 && shard.role == Role::P1 {
                        return Err(Error::Closed);
                    }
                    shard.channel.send_bytes(Tag::new(*b"test"), b"x")?;
                    shard.channel.receive_bytes(Tag::new(*b"test"), 1)?;
                    Ok(number)
                })
            };
            let outcome = run_pair(Setup::default().shards(5, at_once), party, party);
            assert!(matches!(outcome.p1, Err(Error::Closed)), "{:?}", outcome.p1);
            let stopped = matches!(outcome.p2, Err(Error::PeerAborted(AbortReason::Stopped)));
            assert!(stopped, "{:?}", outcome.p2);
        }
    }

    #[test]
    fn what_shards_come_to_is_in_their_order() {
        for at_once in [0, 1, 3, 9] {
            let party = |session: &mut Session| {
                session.shards.each((0..7).collect(), |shard, number: u64| {
                    Ok::<_, Error>((number, *shard.id.as_bytes()))
                })
            };
            let outcome = run_pair(Setup::default().shards(7, at_once), party, party);
            let (one, two) = (outcome.p1.unwrap(), outcome.p2.unwrap());
            assert_eq!(one, two, "shards of one number have one session");
            assert!(one.iter().map(|(number, _)| *number).eq(0..7));
        }
    }
}
