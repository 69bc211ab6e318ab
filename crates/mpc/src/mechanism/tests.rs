//! The two-party forms give the same results as the single-party forms.

mod largest;
mod noise;
mod noisy_max;
mod validity;

use super::{Error, OneSided};
use crate::math::Randomness;
use crate::privacy::choice::{Score, Scored};
use crate::privacy::decisions::{Decision, Tape};
use crate::privacy::{Budget, Epsilon, Spend};
use crate::protocol::Workspace;
use crate::protocol::coins::TapeCoins;
use crate::protocol::pair::{Outcome, Setup, run_workspaces};
use crate::role::Role;

pub(crate) fn spend(epsilon: &str) -> Spend {
    let epsilon: Epsilon = epsilon.parse().unwrap();
    Budget::new(&epsilon).spend("test", epsilon.value()).unwrap()
}

pub(crate) fn whole(scores: &[u64]) -> Vec<Score> {
    scores.iter().map(|score| Score::whole(*score).unwrap()).collect()
}

/// All candidates as the single-party form takes them.
pub(crate) fn joined(p1: &[u64], p2: &[u64]) -> Vec<Scored> {
    [whole(p1), whole(p2)].concat().into_iter().map(Scored::single).collect()
}

/// A party's view of the scores.
pub(crate) fn one_sided(role: Role, p1: &[u64], p2: &[u64]) -> OneSided {
    match role {
        Role::P1 => OneSided { own: whole(p1), peer: p2.len() },
        Role::P2 => OneSided { own: whole(p2), peer: p1.len() },
    }
}

/// Runs both parties with coins from generators.
pub(crate) fn with_generators<T: Send>(
    seed: u64,
    party: impl Fn(Role, &mut Workspace) -> T + Sync,
) -> Outcome<T, T> {
    let run = |session: &mut Workspace| {
        let role = session.role;
        party(role, session)
    };
    run_workspaces(Setup::default().seed(seed), run, run)
}

/// Runs both parties with coins from one tape; both must use the same part of it.
pub(crate) fn with_tape<T: Send>(
    tape: &Tape,
    party: impl Fn(Role, &mut Workspace) -> T + Sync,
) -> Outcome<T, T> {
    let (first, second) = TapeCoins::pair(tape);
    let run = |session: &mut Workspace, coins: TapeCoins| {
        let role = session.role;
        session.coins = Box::new(coins);
        let output = party(role, session);
        (output, session.coins.decisions_left())
    };
    let outcome = run_workspaces(
        Setup::default().seed(1),
        |session| run(session, first),
        |session| run(session, second),
    );
    assert_eq!(outcome.p1.1, outcome.p2.1, "both parties are at the same place of the tape");
    Outcome {
        p1: outcome.p1.0,
        p2: outcome.p2.0,
        transcripts: outcome.transcripts,
        costs: outcome.costs,
    }
}

#[test]
fn a_party_passes_over_the_decisions_that_the_peer_makes_alone() {
    let tape = Tape::new([
        Decision::Noise(3.into()),
        Decision::Uniform(5u32.into()),
        Decision::Noise(7.into()),
    ]);
    let rate = crate::math::Rational::whole(1u32);
    let outcome = with_tape(&tape, |role, session| {
        let coins = &mut session.coins;
        match role {
            Role::P1 => coins.skip(2),
            Role::P2 => {
                assert_eq!(coins.discrete_laplace(&rate).unwrap(), 3.into());
                assert_eq!(coins.uniform_below(&6u32.into()).unwrap(), 5u32.into());
            }
        }
        coins.geometric(&rate).unwrap()
    });
    assert_eq!((outcome.p1, outcome.p2), (7u32.into(), 7u32.into()));
}
