use super::plan::Plan;
use super::*;
use crate::crypto::soft_spoken::Columns;
use crate::protocol::pair::{
    Outcome, Setup, assert_forecast, assert_same_shape, assert_wrong_length, run_pair,
};
use crate::protocol::transfers::{Assumptions, Receiving};

const TINY: Method = Method::Lpn(Sets::TINY);

fn made(seed: u64, method: Method, count: usize) -> Outcome<Sent, Received> {
    run_pair(
        Setup::default().seed(seed),
        |session| send(session, method, count).unwrap(),
        |session| receive(session, method, count).unwrap(),
    )
}

/// Counts for which each of the sets is the last, and the main one iterates.
const COUNTS: [usize; 9] = [0, 1, 13, 14, 40, 48, 150, 500, 5_000];

#[test]
fn elements_are_the_ideal_correlation_and_messages_those_forecast() {
    for (method, count) in COUNTS
        .map(|count| (TINY, count))
        .into_iter()
        .chain([(Method::Direct, 3), (Method::Direct, 600)])
    {
        let outcome = made(1, method, count);
        let (sent, received) = (&outcome.p1, &outcome.p2);
        assert_eq!([sent.b.len(), received.a.len(), received.c.len()], [count; 3]);
        assert_eq!(*received.c, ideal(sent.delta.expose(), &sent.b, &received.a), "{count}");
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            forecast(f, Role::P1, method, count);
        });
    }
    assert_eq!(COUNTS.map(|count| Plan::new(TINY, count).levels.len())[2..], [0, 0, 1, 1, 2, 3, 7]);
}

#[test]
fn elements_are_random_and_differ_between_runs_and_parts_of_a_run() {
    let (one, two) = (made(2, TINY, 3_000).p2, made(3, TINY, 3_000).p2);
    for list in [&one.a, &one.c] {
        let ones: u32 = list.iter().map(|element| element.count_ones()).sum();
        assert!(ones.abs_diff(3_000 * 64) < 1_900, "{ones}: six deviations");
        let mut sorted = list.to_vec();
        sorted.sort_unstable();
        assert!(sorted.windows(2).all(|pair| pair[0] != pair[1]));
    }
    assert!(one.a.iter().zip(two.a.iter()).all(|(one, two)| one != two));
}

#[test]
fn messages_depend_on_the_count_alone() {
    assert_same_shape(&[5, 6, 7], |seed| made(*seed, TINY, 700));
}

#[test]
fn the_method_follows_the_assumptions() {
    assert_eq!(Method::suited_to(Assumptions::NoLpn), Method::Direct);
    assert_eq!(Method::suited_to(Assumptions::Lpn), Method::Lpn(Sets::STANDARD));
}

#[test]
fn messages_of_the_wrong_length_are_typed_errors() {
    // The receiver chooses for eleven trees of two levels in place of ten.
    let outcome = run_pair(
        Setup::default(),
        |session| send(session, TINY, 40).err().unwrap(),
        |session| {
            let mut source = soft_spoken::Receiver::setup(session, Columns::Four).unwrap();
            source.extend(session, BITS * 20, &mut Vec::new()).unwrap();
            source.extend(session, 20, &mut Vec::new()).unwrap();
            session.channel.send_bytes(transfers::CORRECTIONS, &[0; 4]).unwrap();
        },
    );
    assert_wrong_length(&outcome.p1, 3, 4);
    let outcome = run_pair(
        Setup::default(),
        |session| {
            use crate::protocol::transfers::Sending;
            let delta = Delta::random(&mut session.rng);
            let mut source = soft_spoken::Sender::setup(session, Columns::Four, delta).unwrap();
            source.extend(session, BITS * 20, &mut Vec::new()).unwrap();
            source.corrected(session, 20).unwrap();
            session.channel.send_bytes(SUMS, &[0; 319]).unwrap();
        },
        |session| receive(session, TINY, 40).err().unwrap(),
    );
    assert_wrong_length(&outcome.p2, 320, 319);
}

#[test]
fn a_peer_that_stops_is_a_typed_error() {
    let outcome = run_pair(
        Setup::default(),
        |session| send(session, TINY, 40).err().unwrap(),
        |session| drop(soft_spoken::Receiver::setup(session, Columns::Four).unwrap()),
    );
    assert!(matches!(outcome.p1.blame(), crate::net::Blame::Connection(_)), "{:?}", outcome.p1);
}
