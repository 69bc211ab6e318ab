//! Runs all parties of a ring in threads of one process, for tests, examples and experiments.

use std::panic;
use std::thread;

use super::Neighbours;
use crate::math::Randomness;
use crate::net::meter::CpuClock;
use crate::net::{self, Costs, Limits, SessionId, Transcript, memory};
use crate::protocol::Session;
use crate::role::Role;

/// The result of one party.
#[derive(Debug)]
pub struct RingOutcome<T> {
    /// What its closure returned.
    pub output: T,
    /// What passed between it and the party before it.
    pub previous: Costs,
    /// What passed between it and the party after it.
    pub next: Costs,
    /// Direction, tag and length of every message, first those with the party before it.
    pub transcripts: [Transcript; 2],
}

/// Runs `parties` parties to their ends, each in a thread, over channels in memory; there is no
/// handshake. The closure gets the place of its party.
///
/// # Errors
/// If the operating system gives no randomness or no thread.
///
/// # Panics
/// If the closure does.
pub fn run_ring<T: Send>(
    parties: usize,
    party: impl Fn(usize, &mut Neighbours<'_>) -> T + Sync,
) -> Result<Vec<RingOutcome<T>>, net::Error> {
    let mut rng = Randomness::from_os()?;
    let (mut before, mut after) = (Vec::new(), Vec::new());
    for _ in 0..parties {
        let (one, other) = memory::pair(Limits::default());
        let id = SessionId::from_bytes(rng.array());
        after.push(Session::ready(Role::P1, one, rng.fork(), id));
        before.push(Session::ready(Role::P2, other, rng.fork(), id));
    }
    // The session of the last party's next is the first one's previous.
    before.rotate_right(parties.min(1));
    thread::scope(|scope| {
        let mut running = Vec::with_capacity(parties);
        for (place, sessions) in before.into_iter().zip(after).enumerate() {
            let party = &party;
            let work = move || run_one(place, sessions, party);
            let thread = thread::Builder::new().spawn_scoped(scope, work);
            running.push(thread.map_err(net::Error::NoThread)?);
        }
        let outcome = |thread: thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|cause| panic::resume_unwind(cause))
        };
        Ok(running.into_iter().map(outcome).collect())
    })
}

fn run_one<T>(
    place: usize,
    (mut previous, mut next): (Session, Session),
    party: &impl Fn(usize, &mut Neighbours<'_>) -> T,
) -> RingOutcome<T> {
    for session in [&mut previous, &mut next] {
        session.channel.restart_meter(CpuClock::Thread);
        session.channel.record_transcript();
    }
    let mut neighbours = Neighbours { place, previous: &mut previous, next: &mut next };
    let output = party(place, &mut neighbours);
    let transcripts = [previous.channel.transcript(), next.channel.transcript()];
    RingOutcome {
        output,
        previous: previous.channel.costs(),
        next: next.channel.costs(),
        transcripts,
    }
}
