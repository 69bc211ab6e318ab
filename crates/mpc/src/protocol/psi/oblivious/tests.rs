use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::*;
use crate::crypto::commutative::Ristretto;
use crate::protocol::pair::{
    Outcome, Setup, assert_forecast, assert_same_shape, assert_wrong_length, run_pair,
};
use crate::protocol::psi::{self, ideal_intersection};
use crate::protocol::vole::Sets;

const TINY: Method = Method::Lpn(Sets::TINY);

type Runs = Outcome<Result<Intersection, Error>, Result<Intersection, Error>>;

fn run(method: Method, seed: u64, a: &[String], b: &[String]) -> Runs {
    run_pair(
        Setup::default().seed(seed),
        |session| intersect(session, method, a, Options::default()),
        |session| intersect(session, method, b, Options::default()),
    )
}

fn names(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|i| format!("person {i}")).collect()
}

/// Both parties' rows name the same individuals in the same order, they are the ideal ones, and the
/// messages those forecast.
fn assert_ideal(method: Method, a: &[String], b: &[String], outcome: Runs) {
    let (p1, p2) = (outcome.p1.unwrap(), outcome.p2.unwrap());
    assert_eq!((p1.peer_size, p2.peer_size), (b.len(), a.len()));
    let first: Vec<&String> = p1.rows.iter().map(|row| &a[*row]).collect();
    let second: Vec<&String> = p2.rows.iter().map(|row| &b[*row]).collect();
    assert_eq!(first, second);
    let mut rows = p1.rows;
    rows.sort_unstable();
    assert_eq!(rows, ideal_intersection(a, b));
    assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
        let turned = f.role() == Role::P2;
        let (own, peer) = if turned { (b.len(), a.len()) } else { (a.len(), b.len()) };
        forecast(f, method, own, peer);
    });
}

#[test]
fn sets_of_every_relation_and_size_give_the_ideal_intersection() {
    for (a, b) in [
        (names(0..0), names(0..0)),
        (names(0..3), names(0..0)),
        (names(0..0), names(0..3)),
        (names(0..5), names(5..9)),
        (names(0..5), names(0..5)),
        (names(0..1), names(0..1_000)),
        (names(0..CHUNK + 9), names(CHUNK..CHUNK + 30)),
        (names(0..400), names(200..600)),
    ] {
        let outcome = run(TINY, 1, &a, &b);
        assert_ideal(TINY, &a, &b, outcome);
    }
}

#[test]
fn the_sets_in_use_give_the_ideal_intersection() {
    for (method, a, b) in [
        (Method::Lpn(Sets::STANDARD), names(0..1_100), names(500..1_700)),
        (Method::Direct, names(0..90), names(30..100)),
    ] {
        let outcome = run(method, 2, &a, &b);
        assert_ideal(method, &a, &b, outcome);
    }
}

#[test]
fn the_result_is_that_of_the_groups() {
    let (a, b) = (names(0..300), names(120..500));
    let outcome = run(TINY, 3, &a, &b);
    let group = Ristretto::new();
    let other = run_pair(
        Setup::default().seed(3),
        |session| psi::intersect(session, &group, &a, Options::default()).unwrap(),
        |session| psi::intersect(session, &group, &b, Options::default()).unwrap(),
    );
    let sorted = |found: Intersection| {
        let mut rows = found.rows;
        rows.sort_unstable();
        (rows, found.peer_size)
    };
    assert_eq!(sorted(outcome.p1.unwrap()), sorted(other.p1));
    assert_eq!(sorted(outcome.p2.unwrap()), sorted(other.p2));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn any_two_sets_give_the_ideal_result(
        seed: u64,
        a in proptest::collection::hash_set("[a-d]{0,3}", 0..40),
        b in proptest::collection::hash_set("[a-d]{0,3}", 0..40),
    ) {
        let (a, b): (Vec<String>, Vec<String>) = (a.into_iter().collect(), b.into_iter().collect());
        assert_ideal(TINY, &a, &b, run(TINY, seed, &a, &b));
    }
}

#[test]
fn messages_depend_on_the_two_sizes_alone() {
    let pairs = [
        (names(0..50), names(0..70)),
        (names(0..50), names(100..170)),
        ((0..50).map(|i| "y".repeat(i)).collect(), names(3..73)),
    ];
    assert_same_shape(&pairs, |(a, b)| run(TINY, 4, a, b));
}

#[test]
fn values_hold_enough_bits_for_all_pairs() {
    for (own, peer, bytes) in
        [(1, 1, 8), (2, 1, 9), (1 << 8, 1, 9), (100_000, 100_000, 13), (1 << 31, 1 << 31, 16)]
    {
        assert_eq!(width(own, peer), bytes, "{own} × {peer}");
    }
    assert_eq!([sender(Role::P1, 5, 5), sender(Role::P2, 5, 5)], [Role::P2; 2]);
    assert_eq!([sender(Role::P1, 6, 5), sender(Role::P2, 5, 6)], [Role::P1; 2]);
}

#[test]
fn common_rows_come_in_an_order_that_tells_nothing_of_the_lists() {
    let all = names(0..60);
    let outcome = run(TINY, 5, &all, &all);
    let rows = outcome.p1.unwrap().rows;
    assert_ne!(rows, (0..60).collect::<Vec<_>>());
}

#[test]
fn progress_ends_where_it_was_said_to() {
    let (a, b) = (names(0..20), names(10..45));
    let counted = |list: &[String], session: &mut Session| {
        let (total, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let starts = |steps| total.store(steps, Ordering::Relaxed);
        let progress = |steps| {
            done.fetch_add(steps, Ordering::Relaxed);
        };
        let options = Options { starts: &starts, progress: &progress, ..Options::default() };
        intersect(session, TINY, list, options).unwrap();
        (total.into_inner(), done.into_inner())
    };
    let outcome =
        run_pair(Setup::default(), |session| counted(&a, session), |session| counted(&b, session));
    assert_eq!((outcome.p1, outcome.p2), ((75, 75), (35, 35)));
}

#[test]
fn lists_beyond_the_bound_and_duplicates_are_refused() {
    let bounded = |list: &[String], session: &mut Session| {
        intersect(session, TINY, list, Options { largest_set: 5, ..Options::default() })
    };
    let outcome = run_pair(
        Setup::default(),
        |session| bounded(&names(0..5), session).unwrap_err(),
        |session| intersect(session, TINY, &names(0..6), Options::default()).err(),
    );
    assert!(
        outcome.p1.says("Peer", "the peer's list has 6 identifiers, the limit is 5"),
        "{}",
        outcome.p1
    );
    let outcome = run_pair(
        Setup::default(),
        |session| bounded(&[names(0..2), names(1..2)].concat(), session).unwrap_err(),
        |_| (),
    );
    assert!(outcome.p1.says("Input", "rows 2 and 3 hold the same"), "{}", outcome.p1);
    assert_eq!(outcome.transcripts.p1, []);
}

/// A sender of one value that runs `last` where its values are expected.
fn faulty_sender(values: &[u8], values_due: usize) -> Error {
    let outcome = run_pair(
        Setup::default(),
        |session| intersect(session, Method::Direct, &names(0..1), Options::default()).unwrap_err(),
        |session| {
            session.channel.send(&psi::Announcement { size: values_due as u64 }).unwrap();
            session.channel.receive::<psi::Announcement>().unwrap();
            let own = hash_keys(session, Role::P2, &[sha2_of("person 0")]);
            let function = oprf::Sender::setup(session, Method::Direct, 1).unwrap();
            let value = function.evaluate(0, &own)[0];
            let width = width(1, values_due);
            let mut message = values.to_vec();
            if values.is_empty() {
                for _ in 0..values_due {
                    message.extend_from_slice(&value.to_be_bytes()[..width]);
                }
            }
            session.channel.send_bytes(VALUES, &message).unwrap();
        },
    );
    outcome.p1
}

fn sha2_of(text: &str) -> [u8; 32] {
    use sha2::Digest;
    sha2::Sha256::digest(text).into()
}

#[test]
fn a_sender_s_bad_values_are_typed_errors() {
    assert_wrong_length(&faulty_sender(&[0; 9], 2), 18, 9);
    let error = faulty_sender(&[], 2);
    assert!(error.says("Peer", "the peer's list holds an element twice"), "{error}");
}

#[test]
fn a_receiver_s_bad_answer_is_a_typed_error() {
    for (answer, due) in [(vec![0b11], None), (vec![0b100], None), (vec![0; 2], Some(1))] {
        let outcome = run_pair(
            Setup::default(),
            |session| {
                session.channel.send(&psi::Announcement { size: 1 }).unwrap();
                session.channel.receive::<psi::Announcement>().unwrap();
                let keys = hash_keys(session, Role::P2, &["x"]);
                oprf::Receiver::setup(session, Method::Direct, &keys).unwrap();
                session.channel.receive_bytes(VALUES, 18).unwrap();
                session.channel.send_bytes(ANSWER, &answer).unwrap();
            },
            |session| {
                intersect(session, Method::Direct, &names(0..2), Options::default()).unwrap_err()
            },
        );
        match due {
            Some(due) => assert_wrong_length(&outcome.p2, due, answer.len()),
            None => assert!(outcome.p2.says("Peer", "more common identifiers"), "{}", outcome.p2),
        }
    }
}
