//! Runs two closures as two parties in two threads, over an in-memory channel.
//!
//! For tests, benchmarks and experiments: both parties' outputs, transcripts and costs are returned
//! together.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::net::Tag;
//! use diptych_mpc::net::memory::NetworkModel;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//!
//! const PING: Tag = Tag::new(*b"ping");
//! const PONG: Tag = Tag::new(*b"pong");
//!
//! let outcome = run_pair(
//!     Setup::default().network(NetworkModel::LAN),
//!     |session| {
//!         session.channel.send_bytes(PING, b"are you there?")?;
//!         session.channel.receive_bytes(PONG, 3)
//!     },
//!     |session| {
//!         session.channel.receive_bytes(PING, 14)?;
//!         session.channel.send_bytes(PONG, b"yes")
//!     },
//! );
//! outcome.p2?;
//! assert_eq!(outcome.p1?, b"yes");
//! assert_eq!(outcome.costs.p1.total().rounds, 1, "P1 waited once for an answer");
//! assert_eq!(outcome.transcripts.p2.len(), 2);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::panic;
use std::thread;

use crate::math::Randomness;
use crate::net::memory::{self, NetworkModel};
use crate::net::meter::CpuClock;
use crate::net::{self, Channel, Costs, Limits, SessionId, Transcript};
use crate::protocol::{Session, Workspace};
use crate::role::Role;
#[cfg(any(test, feature = "testing"))]
use crate::{net::meter::PhaseCost, protocol::forecast::Forecast};

/// How the two parties are connected.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    limits: Limits,
    network: Option<NetworkModel>,
    shards: usize,
    at_once: usize,
    #[cfg(any(test, feature = "testing"))]
    seed: Option<u64>,
}

impl Setup {
    /// With other limits than the usual ones.
    pub fn limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// With a slower network in between.
    pub fn network(self, network: NetworkModel) -> Self {
        Self { network: Some(network), ..self }
    }

    /// With so many shards, of which some are in work at a time.
    pub fn shards(self, shards: usize, at_once: usize) -> Self {
        Self { shards, at_once, ..self }
    }

    /// With randomness from a fixed seed.
    #[cfg(any(test, feature = "testing"))]
    pub fn seed(self, seed: u64) -> Self {
        Self { seed: Some(seed), ..self }
    }

    fn channels(&self) -> (Channel, Channel) {
        match self.network {
            Some(network) => memory::pair_with_network(self.limits, network),
            None => memory::pair(self.limits),
        }
    }

    /// Both parties' workspaces, with the sessions of their shards.
    fn workspaces(&self) -> (Workspace, Workspace) {
        let mut source = self.source();
        let (first, second) = self.session(&mut source);
        let (mut first, mut second) = (Workspace::from(first), Workspace::from(second));
        for _ in 0..self.shards {
            let (one, other) = self.session(&mut source);
            first.shards.sessions.push(one);
            second.shards.sessions.push(other);
        }
        (first.shards.at_once, second.shards.at_once) = (self.at_once, self.at_once);
        (first, second)
    }

    /// The two ends of one session, from randomness of both and its id.
    fn session(&self, source: &mut Randomness) -> (Session, Session) {
        let (first, second) = self.channels();
        let (rng1, rng2) = (source.fork(), source.fork());
        let id = SessionId::from_bytes(source.array());
        let first = Session::ready(Role::P1, first, rng1, id);
        (first, Session::ready(Role::P2, second, rng2, id))
    }

    #[cfg(any(test, feature = "testing"))]
    fn source(&self) -> Randomness {
        self.seed.map_or_else(os_randomness, Randomness::seeded)
    }

    #[cfg(not(any(test, feature = "testing")))]
    fn source(&self) -> Randomness {
        os_randomness()
    }
}

/// The same thing for each of the two parties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Both<T> {
    /// Of P1.
    pub p1: T,
    /// Of P2.
    pub p2: T,
}

/// The result of a run of two parties.
#[derive(Debug)]
pub struct Outcome<A, B> {
    /// What P1's closure returned.
    pub p1: A,
    /// What P2's closure returned.
    pub p2: B,
    /// Direction, tag and length of every message, as each party saw them.
    pub transcripts: Both<Transcript>,
    /// What each party spent; CPU time is that of the party's own thread.
    pub costs: Both<Costs>,
}

/// Runs P1 and P2 to their ends. There is no handshake: the session starts ready.
///
/// # Panics
/// If a closure panics, or the operating system gives no randomness or cannot start a thread.
pub fn run_pair<A: Send, B: Send>(
    setup: Setup,
    p1: impl FnOnce(&mut Session) -> A + Send,
    p2: impl FnOnce(&mut Session) -> B + Send,
) -> Outcome<A, B> {
    run_workspaces(setup, |workspace| p1(workspace), |workspace| p2(workspace))
}

/// The same for what needs a [`Workspace`].
///
/// # Panics
/// As [`run_pair`].
#[expect(clippy::expect_used, reason = "documented: there is no run of two without a thread")]
pub fn run_workspaces<A: Send, B: Send>(
    setup: Setup,
    p1: impl FnOnce(&mut Workspace) -> A + Send,
    p2: impl FnOnce(&mut Workspace) -> B + Send,
) -> Outcome<A, B> {
    try_run_workspaces(setup, p1, p2).expect("the operating system gives a thread")
}

/// The same, but returns an error if a thread cannot be started.
///
/// # Errors
/// If the operating system cannot start a thread.
///
/// # Panics
/// If a closure panics, or the operating system gives no randomness.
pub fn try_run_workspaces<A: Send, B: Send>(
    setup: Setup,
    p1: impl FnOnce(&mut Workspace) -> A + Send,
    p2: impl FnOnce(&mut Workspace) -> B + Send,
) -> Result<Outcome<A, B>, net::Error> {
    let (first, second) = setup.workspaces();
    let (first, second) = thread::scope(|scope| {
        let party = thread::Builder::new().spawn_scoped(scope, move || run_party(first, p1));
        let other = party.map_err(net::Error::NoThread)?;
        let second = run_party(second, p2);
        Ok::<_, net::Error>((
            other.join().unwrap_or_else(|cause| panic::resume_unwind(cause)),
            second,
        ))
    })?;
    Ok(Outcome {
        p1: first.output,
        p2: second.output,
        transcripts: Both { p1: first.transcript, p2: second.transcript },
        costs: Both { p1: first.costs, p2: second.costs },
    })
}

struct PartyOutcome<T> {
    output: T,
    transcript: Transcript,
    costs: Costs,
}

fn run_party<T>(
    mut session: Workspace,
    party: impl FnOnce(&mut Workspace) -> T,
) -> PartyOutcome<T> {
    session.channel.restart_meter(CpuClock::Thread);
    session.record_transcript();
    let output = party(&mut session);
    let (transcript, costs) = (session.transcript(), session.costs());
    PartyOutcome { output, transcript, costs }
}

#[expect(clippy::expect_used, reason = "documented: a benchmark without randomness cannot go on")]
fn os_randomness() -> Randomness {
    Randomness::from_os().expect("the operating system gives randomness")
}

/// Runs a protocol once for every input and checks that both parties' transcripts
/// have the same shape each time: what a party can count does not depend on secrets.
///
/// # Panics
/// If two shapes differ; the message names the first message that does.
#[cfg(any(test, feature = "testing"))]
#[expect(clippy::panic, reason = "an assertion for tests")]
pub fn assert_same_shape<I, A, B>(inputs: &[I], mut run: impl FnMut(&I) -> Outcome<A, B>) {
    let mut first: Option<Both<Transcript>> = None;
    for (number, input) in inputs.iter().enumerate() {
        let shape = run(input).transcripts;
        let expected = first.get_or_insert_with(|| shape.clone());
        for (party, expected, got) in
            [("P1", &expected.p1, &shape.p1), ("P2", &expected.p2, &shape.p2)]
        {
            if expected == got {
                continue;
            }
            let longest = expected.len().max(got.len());
            let place = (0..longest).find(|&i| expected.get(i) != got.get(i)).unwrap_or(longest);
            panic!(
                "input {number}: message {place} of {party} is {:?}, but {:?} for input 0",
                got.get(place),
                expected.get(place),
            );
        }
    }
}

/// Asserts that an error says that the peer announced `got` bytes where `due` were expected.
///
/// # Panics
/// If it says something else.
#[cfg(test)]
pub(crate) fn assert_wrong_length(error: &dyn net::Fault, due: usize, got: usize) {
    let net::Blame::Connection(net::Error::WrongLength { due: d, got: g, .. }) = error.blame()
    else {
        panic!("{error}")
    };
    assert_eq!((*d, *g), (due, got), "{error}");
}

/// Asserts that both parties sent the messages of a forecast, message by message and phase by
/// phase.
///
/// # Panics
/// If they did not; the message names the first difference.
#[cfg(any(test, feature = "testing"))]
pub fn assert_forecast(
    transcripts: &Both<Transcript>,
    costs: &Both<Costs>,
    forecast_run: impl Fn(&mut Forecast),
) {
    let parties = [(Role::P1, &transcripts.p1, &costs.p1), (Role::P2, &transcripts.p2, &costs.p2)];
    for (role, transcript, costs) in parties {
        let mut forecast = Forecast::new(role);
        forecast.record_transcript();
        forecast_run(&mut forecast);
        let told = forecast.transcript();
        let longest = told.len().max(transcript.len());
        let other = (0..longest).find(|&i| told.get(i) != transcript.get(i));
        let pair = other.map(|place| (place, told.get(place), transcript.get(place)));
        assert_eq!(pair, None, "{role}: forecast and seen");
        let counted = |costs: &Costs| {
            let spoken = costs.phases.iter().filter(|p| p.messages_sent + p.messages_received > 0);
            let one = |p: &PhaseCost| (p.phase.clone(), p.bytes_sent, p.bytes_received, p.rounds);
            spoken.map(one).collect::<Vec<_>>()
        };
        assert_eq!(counted(&forecast.costs()), counted(costs), "{role}");
        assert!(forecast.matches(costs), "{role}: shapes");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::{Direction, Tag};

    const TAG: Tag = Tag::new(*b"test");

    fn talk(length: usize) -> Outcome<(), Vec<u8>> {
        run_pair(
            Setup::default().seed(1),
            move |session| session.channel.send_bytes(TAG, &vec![7; length]).unwrap(),
            move |session| session.channel.receive_bytes(TAG, length).unwrap(),
        )
    }

    #[test]
    fn outputs_transcripts_and_costs_of_both_parties_come_back() {
        let outcome = talk(3);
        assert_eq!(outcome.p2, [7, 7, 7]);
        assert_eq!(outcome.transcripts.p1, [(Direction::Sent, TAG, 3)]);
        assert_eq!(outcome.transcripts.p2, [(Direction::Received, TAG, 3)]);
        assert_eq!(outcome.costs.p1.total().bytes_sent, 11);
        assert_eq!(outcome.costs.p2.total().bytes_received, 11);
    }

    #[test]
    fn parties_share_the_session_id_and_nothing_else_and_a_seed_repeats_all() {
        let run = || {
            run_pair(
                Setup::default().seed(5),
                |session| (session.id, session.role, session.rng.array::<16>()),
                |session| (session.id, session.role, session.rng.array::<16>()),
            )
        };
        let (one, two) = (run(), run());
        assert_eq!(one.p1.0, one.p2.0);
        assert_eq!((one.p1.1, one.p2.1), (Role::P1, Role::P2));
        assert_ne!(one.p1.2, one.p2.2);
        assert_eq!((one.p1, one.p2), (two.p1, two.p2));
    }

    #[test]
    fn equal_shapes_pass() {
        assert_same_shape(&[4, 4], |&length| talk(length));
    }

    #[test]
    #[should_panic(expected = "message 0 of P1")]
    fn a_length_that_depends_on_the_input_is_caught() {
        assert_same_shape(&[4, 5], |&length| talk(length));
    }
}
