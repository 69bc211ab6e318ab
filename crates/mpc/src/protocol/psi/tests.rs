use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;

use super::exchange::chunk_elements;
use super::*;
use crate::crypto::commutative::{Residues, Ristretto};
use crate::net::AbortReason;
use crate::protocol::pair::{
    Outcome, Setup, assert_forecast, assert_same_shape, assert_wrong_length, run_pair,
};
use crate::role::Role;

type Runs<T> = Outcome<Result<T, Error>, Result<T, Error>>;

fn run_intersection<G: Group>(
    group: &G,
    seed: u64,
    a: &[String],
    b: &[String],
) -> Runs<Intersection> {
    run_pair(
        Setup::default().seed(seed),
        |session| intersect(session, group, a, Options::default()),
        |session| intersect(session, group, b, Options::default()),
    )
}

fn run_cardinality<G: Group>(
    group: &G,
    seed: u64,
    a: &[String],
    b: &[String],
) -> Runs<Cardinality> {
    run_pair(
        Setup::default().seed(seed),
        |session| cardinality(session, group, a, Options::default()),
        |session| cardinality(session, group, b, Options::default()),
    )
}

/// Lists around the length of a chunk, and none at all.
#[test]
fn every_message_is_forecast_from_the_two_lengths() {
    let group = Ristretto::default();
    let chunk = chunk_elements(&group);
    for (first, second) in [(0, 0), (3, 0), (chunk, 1), (1, chunk + 1), (chunk + 1, chunk)] {
        let (a, b) = (names(0..first), names(0..second));
        let seen = run_intersection(&group, 1, &a, &b);
        let turn = |role| if role == Role::P1 { (first, second) } else { (second, first) };
        assert_forecast(&seen.transcripts, &seen.costs, |f| {
            let (own, peer) = turn(f.role());
            forecast_intersect(f, &group, own, peer);
        });
        let seen = run_cardinality(&group, 2, &a, &b);
        assert_forecast(&seen.transcripts, &seen.costs, |f| {
            let (own, peer) = turn(f.role());
            forecast_cardinality(f, &group, own, peer);
        });
    }
}

fn names(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|i| format!("person {i}")).collect()
}

/// Both parties' rows name the same individuals in the same order, and they are the ideal ones.
fn assert_ideal(a: &[String], b: &[String], outcome: Runs<Intersection>) {
    let (p1, p2) = (outcome.p1.unwrap(), outcome.p2.unwrap());
    assert_eq!((p1.peer_size, p2.peer_size), (b.len(), a.len()));
    let first: Vec<&String> = p1.rows.iter().map(|row| &a[*row]).collect();
    let second: Vec<&String> = p2.rows.iter().map(|row| &b[*row]).collect();
    assert_eq!(first, second);
    let mut rows = p1.rows;
    rows.sort_unstable();
    assert_eq!(rows, ideal_intersection(a, b));
}

#[test]
fn ten_thousand_against_ten_thousand_give_the_ideal_intersection_in_one_order() {
    let (a, b) = (names(0..10_000), names(7_000..17_000));
    let outcome = run_intersection(&Ristretto::new(), 1, &a, &b);
    assert_ideal(&a, &b, outcome);
}

#[test]
fn sets_of_every_relation_and_size_give_the_ideal_intersection() {
    let chunk = chunk_elements(&Ristretto::new());
    for (a, b) in [
        (names(0..0), names(0..0)),
        (names(0..3), names(0..0)),
        (names(0..0), names(0..3)),
        (names(0..5), names(5..9)),
        (names(0..5), names(0..5)),
        (names(0..1), names(0..40)),
        (names(0..2), names(1..chunk + 2)),
    ] {
        let outcome = run_intersection(&Ristretto::new(), 2, &a, &b);
        assert_ideal(&a, &b, outcome);
        let outcome = run_cardinality(&Ristretto::new(), 2, &a, &b);
        let common = ideal_intersection(&a, &b).len();
        assert_eq!(outcome.p1.unwrap(), Cardinality { common, peer_size: b.len() });
        assert_eq!(outcome.p2.unwrap(), Cardinality { common, peer_size: a.len() });
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn any_two_sets_give_the_ideal_result(
        seed: u64,
        a in proptest::collection::hash_set("[a-d]{0,3}", 0..40),
        b in proptest::collection::hash_set("[a-d]{0,3}", 0..40),
    ) {
        let (a, b): (Vec<String>, Vec<String>) = (a.into_iter().collect(), b.into_iter().collect());
        let group = Ristretto::new();
        assert_ideal(&a, &b, run_intersection(&group, seed, &a, &b));
        let common = ideal_intersection(&a, &b).len();
        let counted = run_cardinality(&group, seed, &a, &b);
        prop_assert_eq!(counted.p1.unwrap().common, common);
        prop_assert_eq!(counted.p2.unwrap().common, common);
    }
}

#[test]
fn a_bad_element_in_a_later_chunk_is_named_by_its_place_in_the_list() {
    let group = Ristretto::new();
    let (chunk, width) = (chunk_elements(&group), group.element_bytes());
    let outcome = run_pair(
        Setup::default().seed(14),
        |session| intersect(session, &group, &["p1"], Options::default()),
        |session| {
            let list: Vec<[u8; 4]> = (0..=chunk as u32).map(u32::to_le_bytes).collect();
            let list: Vec<&[u8]> = list.iter().map(<[u8; 4]>::as_slice).collect();
            let mut sent = vec![0; list.len() * width];
            group.hash_batch(&Domain::new([0; 32]), &list, &mut sent).unwrap();
            sent[chunk * width..].fill(0xff);
            session.channel.send(&Announcement { size: list.len() as u64 }).unwrap();
            for part in sent.chunks(chunk * width) {
                session.channel.send_bytes(Tag::new(*b"psi1"), part).unwrap();
            }
            // Stay connected until P1 has found it.
            while session
                .channel
                .receive_bytes(Tag::new(*b"none"), 0)
                .is_err_and(|error| matches!(error, Error::UnexpectedMessage { .. }))
            {}
        },
    );
    assert!(outcome.p1.unwrap_err().says("Peer", &format!("received element {chunk} ")));
}

#[test]
fn the_residues_give_the_same_result() {
    let group = Residues::ffdhe3072().unwrap();
    let (a, b) = (names(0..12), names(8..16));
    assert_ideal(&a, &b, run_intersection(&group, 3, &a, &b));
    assert_eq!(run_cardinality(&group, 3, &a, &b).p1.unwrap().common, 4);
}

#[test]
fn the_order_is_common_but_not_the_input_order() {
    let a = names(0..200);
    let rows = run_intersection(&Ristretto::new(), 4, &a, &a).p1.unwrap().rows;
    assert!(!rows.is_sorted());
}

#[test]
fn messages_depend_on_the_sizes_alone() {
    // Same sizes; nothing, something, everything in common; short and long identifiers.
    let long: Vec<String> = (0..30).map(|i| format!("{i}").repeat(400)).collect();
    let inputs = [
        (names(0..20), names(50..80)),
        (names(0..20), names(10..40)),
        (names(0..20), names(0..30)),
        (names(0..20), long),
    ];
    assert_same_shape(&inputs, |(a, b)| run_intersection(&Ristretto::new(), 5, a, b));
    assert_same_shape(&inputs, |(a, b)| run_cardinality(&Ristretto::new(), 5, a, b));
}

/// A scripted P2 for lists of one chunk: what P1 sent, its elements one by one.
fn view_of_p1<S: AsRef<[u8]> + Sync>(seed: u64, own: &[S]) -> Vec<[u8; 32]> {
    let outcome = run_pair(
        Setup::default().seed(seed),
        |session| intersect(session, &Ristretto::new(), own, Options::default()),
        |session| {
            session.channel.send(&Announcement { size: 0 }).unwrap();
            session.channel.receive::<Announcement>().unwrap();
            let due = own.len() * 32;
            let sent = session.channel.receive_bytes(Tag::new(*b"psi1"), due).unwrap();
            session.channel.send_bytes(Tag::new(*b"psi2"), &sent).unwrap();
            sent.as_chunks::<32>().0.to_vec()
        },
    );
    assert!(outcome.p1.unwrap().rows.is_empty());
    outcome.p2
}

#[test]
fn permuting_the_input_changes_nothing_in_the_peers_view_but_the_random_order() {
    let ordered = names(0..50);
    let mut reversed = ordered.clone();
    reversed.reverse();
    let sorted = |mut view: Vec<[u8; 32]>| {
        view.sort_unstable();
        view
    };
    // The same seed gives the same key: the same elements go out, whatever the order of the input.
    assert_eq!(sorted(view_of_p1(6, &ordered)), sorted(view_of_p1(6, &reversed)));
    assert_ne!(sorted(view_of_p1(6, &ordered)), sorted(view_of_p1(7, &ordered)));

    // And the peer's own result does not change at all.
    let peer = names(25..75);
    let first = run_intersection(&Ristretto::new(), 6, &ordered, &peer).p2.unwrap();
    let second = run_intersection(&Ristretto::new(), 6, &reversed, &peer).p2.unwrap();
    assert_eq!(first, second);
}

#[test]
fn a_row_is_sent_in_every_place_equally_often() {
    // Reversing the input under one seed shows where row 0 went: its element moves to where row 2
    // was.
    let mut seen = [0; 3];
    let rounds = 600;
    for seed in 0..rounds {
        let (abc, abd) = (view_of_p1(seed, &["a", "b", "c"]), view_of_p1(seed, &["x", "b", "c"]));
        let place = abc.iter().zip(&abd).position(|(first, second)| first != second).unwrap();
        seen[place] += 1;
    }
    // Four standard deviations around 200.
    assert!(seen.iter().all(|times| (154..=246).contains(times)), "{seen:?}");
}

#[test]
fn the_cardinality_is_returned_in_another_order_than_it_came() {
    // P1 against a scripted peer that sends known elements: they come back encrypted, but not in
    // order.
    let returned_in_place = |seed| {
        let outcome = run_pair(
            Setup::default().seed(seed),
            |session| cardinality(session, &Ristretto::new(), &["p1"], Options::default()),
            |session| {
                let mut sent = vec![0; 64 * 32];
                let names = names(0..64);
                let list: Vec<&[u8]> = names.iter().map(String::as_bytes).collect();
                Ristretto::new().hash_batch(&Domain::new([0; 32]), &list, &mut sent).unwrap();
                session.channel.send(&Announcement { size: 64 }).unwrap();
                session.channel.receive::<Announcement>().unwrap();
                session.channel.send_bytes(Tag::new(*b"psi1"), &sent).unwrap();
                let theirs = session.channel.receive_bytes(Tag::new(*b"psi1"), 32).unwrap();
                session.channel.send_bytes(Tag::new(*b"psi2"), &theirs).unwrap();
                (sent, session.channel.receive_bytes(Tag::new(*b"psi2"), 64 * 32).unwrap())
            },
        );
        // P1's generator makes its coins, and then its key.
        let mut rng = crate::math::Randomness::seeded(seed).fork();
        rng.fork();
        let key = Ristretto::new().generate_key(&mut rng);
        let (mut sent, returned) = outcome.p2;
        Ristretto::new().reencrypt_batch(&key, &mut sent).unwrap();
        let (sent, returned) = (sent.as_chunks::<32>().0, returned.as_chunks::<32>().0);
        assert!(sent.iter().all(|element| returned.contains(element)));
        sent.iter().zip(returned).filter(|(a, b)| a == b).count()
    };
    assert!(returned_in_place(8) < 16);
}

#[test]
fn a_list_above_the_bound_is_refused_on_either_side() {
    let options = Options { largest_set: 4, ..Options::default() };
    let (a, b) = (names(0..4), names(0..5));
    let outcome = run_pair(
        Setup::default().seed(9),
        |session| {
            let outcome = intersect(session, &Ristretto::new(), &a, options);
            session.conclude(outcome)
        },
        |session| intersect(session, &Ristretto::new(), &b, Options::default()),
    );
    assert!(
        outcome
            .p1
            .is_err_and(|e| e.says("Peer", "the peer's list has 5 identifiers, the limit is 4"))
    );
    assert!(matches!(outcome.p2, Err(Error::PeerAborted(AbortReason::BadMessage))));
    let outcome = run_pair(
        Setup::default().seed(9),
        |session| intersect(session, &Ristretto::new(), &b, options),
        |session| intersect(session, &Ristretto::new(), &a, options),
    );
    assert!(outcome.p1.is_err_and(|e| e.says("Input", "this side's list has")));
    assert!(outcome.p2.is_err());
}

#[test]
fn duplicates_of_ones_own_are_found_before_anything_is_sent() {
    let outcome = run_pair(
        Setup::default().seed(10),
        |session| {
            let twice = ["a", "b", "a", "b"];
            let outcome = intersect(session, &Ristretto::new(), &twice, Options::default());
            session.conclude(outcome)
        },
        |session| session.channel.receive::<Announcement>().map(|_| ()),
    );
    assert!(outcome.p1.is_err_and(|e| e.says("Input", "rows 1 and 3 hold the same")));
    assert!(matches!(outcome.p2, Err(Error::PeerAborted(AbortReason::Stopped))));
}

/// P1 against a peer that sends the given messages.
fn against(announced: u64, sent: Vec<u8>) -> Error {
    let outcome = run_pair(
        Setup::default().seed(11),
        |session| intersect(session, &Ristretto::new(), &["p1"], Options::default()),
        |session| {
            session.channel.send(&Announcement { size: announced }).ok();
            session.channel.receive::<Announcement>().ok();
            session.channel.send_bytes(Tag::new(*b"psi1"), &sent).ok();
            let once = session.channel.receive_bytes(Tag::new(*b"psi1"), 32).unwrap_or_default();
            session.channel.send_bytes(Tag::new(*b"psi2"), &once).ok();
            session.channel.receive_bytes(Tag::new(*b"psi2"), sent.len()).err()
        },
    );
    outcome.p1.unwrap_err()
}

#[test]
fn bad_messages_end_the_run() {
    let mut good = vec![0; 64];
    Ristretto::new().hash_batch(&Domain::new([0; 32]), &[b"x", b"y"], &mut good).unwrap();
    assert_wrong_length(&against(3, good.clone()), 96, 64);
    assert_wrong_length(&against(1, good.clone()), 32, 64);
    assert_wrong_length(&against(2, good[..63].to_vec()), 64, 63);
    assert!(against(u64::MAX, good.clone()).says("Peer", "the peer's list has"));
    let twice = [&good[..32], &good[..32]].concat();
    assert!(against(2, twice).says("Peer", "the peer's list holds an element twice"));
    let identity = [&good[..32], &[0; 32]].concat();
    assert!(against(2, identity).says("Peer", "received element 1 is the identity"));
    let garbage = [&good[..32], &[0xff; 32]].concat();
    assert!(against(2, garbage).says("Peer", "received element 1 is not the canonical"));
}

#[test]
fn what_the_peer_returns_is_checked_too() {
    let returned = |change: fn(&mut Vec<u8>)| {
        run_pair(
            Setup::default().seed(12),
            |session| intersect(session, &Ristretto::new(), &["a", "b"], Options::default()),
            |session| {
                session.channel.send(&Announcement { size: 0 }).unwrap();
                session.channel.receive::<Announcement>().unwrap();
                let mut sent = session.channel.receive_bytes(Tag::new(*b"psi1"), 64).unwrap();
                change(&mut sent);
                session.channel.send_bytes(Tag::new(*b"psi2"), &sent).unwrap();
            },
        )
        .p1
    };
    assert!(returned(|_| {}).is_ok());
    assert!(
        returned(|sent| sent.copy_within(..32, 32))
            .is_err_and(|e| e.says("Peer", "what the peer returned holds an element twice"))
    );
    assert!(returned(|sent| sent[32..].fill(0)).is_err_and(|e| e.says("Peer", "received element")));
    assert_wrong_length(&returned(|sent| sent.truncate(32)).unwrap_err(), 64, 32);
}

#[test]
fn progress_adds_up_to_what_was_announced() {
    let (announced, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (a, b) = (names(0..300), names(0..20));
    run_pair(
        Setup::default().seed(13),
        |session| {
            let options = Options {
                starts: &|total| announced.store(total, Ordering::Relaxed),
                progress: &|just_done| {
                    done.fetch_add(just_done, Ordering::Relaxed);
                },
                ..Options::default()
            };
            intersect(session, &Ristretto::new(), &a, options).unwrap();
        },
        |session| intersect(session, &Ristretto::new(), &b, Options::default()).unwrap(),
    );
    assert_eq!(announced.into_inner(), 320);
    assert_eq!(done.into_inner(), 320);
}
