//! The division's output bit equals its ideal function, and messages depend on public values only.

use super::*;
use crate::paper::division::{DivisionShape, MOST_USERS, Side, accepts, forecast, ideal};
use crate::protocol::pair::{assert_forecast, assert_same_shape};
use proptest::prelude::*;

type Bits = Vec<bool>;

fn run(shape: &DivisionShape, high: &[bool], present: [&[bool]; 2]) -> Outcome<bool, bool> {
    let side = |role: Role| match role == shape.divider {
        true => Side::Divider { high, present: present[0] },
        false => Side::Other { present: present[1] },
    };
    run_pair(
        Setup::default().seed(1),
        |session| accepts(session, shape, side(Role::P1)).unwrap(),
        |session| accepts(session, shape, side(Role::P2)).unwrap(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn both_learn_whether_the_halves_are_as_required(
        users in prop::collection::vec((any::<bool>(), 0u8..4, 0u8..4), 0..40),
        k in 0u64..6, below in 1u64..12, part in 0u64..12, second: bool,
    ) {
        let delta = (1 + part % below, below);
        let divider = if second { Role::P2 } else { Role::P1 };
        let shape = DivisionShape { users: users.len(), k, delta, divider };
        let high: Bits = users.iter().map(|user| user.0).collect();
        // Most people are at both, so that both answers are common.
        let [first, other]: [Bits; 2] = [
            users.iter().map(|user| user.1 > 0).collect(),
            users.iter().map(|user| user.2 > 0).collect(),
        ];
        let expected = ideal(&shape, &high, &first, &other);
        let outcome = run(&shape, &high, [&first, &other]);
        prop_assert_eq!((outcome.p1, outcome.p2), (expected, expected));
    }
}

/// Table 1 of the paper: ages of A, cut at 50 and at 60; people 1, 2, 5, 6 of ten are common.
#[test]
fn the_papers_table_may_be_divided_at_60_and_not_at_50_as_far_as_a_goes() {
    let there = |people: &[usize]| (1..=10).map(|user| people.contains(&user)).collect::<Bits>();
    let a = there(&[1, 2, 3, 5, 6, 8]);
    // B's people are many, so that A's side decides.
    let b = there(&[1, 2, 5, 6, 4, 7, 9, 10]);
    let shape = DivisionShape { users: 10, k: 2, delta: (2, 3), divider: Role::P1 };
    let cut = |high: &[usize]| {
        let outcome = run(&shape, &there(high), [&a, &b]);
        assert_eq!(outcome.p1, outcome.p2);
        outcome.p1
    };
    // The dummies of A, 4, 7, 9 and 10, are spread over both halves.
    assert!(!cut(&[3, 5, 6, 8, 7, 9]));
    assert!(cut(&[5, 6, 8, 7, 9]));
}

#[test]
fn what_is_sent_depends_on_the_number_of_users_alone_and_as_forecast() {
    let shape = DivisionShape { users: 33, k: 3, delta: (3, 4), divider: Role::P2 };
    let zeros = vec![false; 33];
    let some: Bits = (0..33).map(|user| user % 3 > 0).collect();
    assert_same_shape(&[(&zeros, &zeros), (&some, &some), (&zeros, &some)], |(high, present)| {
        run(&shape, high, [present, present])
    });
    let outcome = run(&shape, &some, [&some, &zeros]);
    assert_forecast(&outcome.transcripts, &outcome.costs, |f| forecast(f, &shape));
}

#[test]
fn a_user_costs_six_gates_at_most_and_other_users_are_refused() {
    let ands = |users| {
        let shape = DivisionShape { users, k: 2, delta: (3, 4), divider: Role::P1 };
        shape.circuit().counts().and
    };
    // What does not grow with users but with their logarithm comes on top.
    assert!(ands(1_000) < 6 * 1_000 + 150, "{}", ands(1_000));
    let shape = DivisionShape { users: 3, k: 1, delta: (1, 1), divider: Role::P1 };
    let few = Side::Divider { high: &[true; 3], present: &[true; 2] };
    let (high, present) = (&[true; 3], &[true; 3]);
    let outcome = run_pair(
        Setup::default(),
        |session| accepts(session, &shape, few),
        // The wrong side: P2 does not divide here.
        |session| accepts(session, &shape, Side::Divider { high, present }),
    );
    assert!(outcome.p1.is_err_and(|e| e.says("Input", "2 bits where one for each of 3 users")));
    assert!(outcome.p2.is_err_and(|e| e.says("Input", "bits where one for each")));
    let shape = DivisionShape { users: MOST_USERS + 1, ..shape };
    let refused = shape.inputs(Side::Other { present: &[] });
    assert!(refused.is_err_and(|e| e.says("Internal", "users are too many")));
}
