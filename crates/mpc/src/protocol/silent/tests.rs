use std::collections::HashSet;

use super::*;
use crate::protocol::pair::{
    Outcome, Setup, assert_forecast, assert_same_shape, assert_wrong_length, run_pair,
};

const TINY: Parameters = Parameters::TINY;

fn extended(counts: &[usize], seed: u64) -> Outcome<(Vec<u128>, u128), Vec<u128>> {
    run_pair(
        Setup::default().seed(seed),
        |session| {
            let (delta, mut rows) = (Delta::random(&mut session.rng), Vec::new());
            let mut source = Sender::setup(session, TINY, delta).unwrap();
            for count in counts {
                source.extend(session, *count, &mut rows).unwrap();
            }
            (rows, source.delta().expose())
        },
        |session| {
            let (mut source, mut rows) = (Receiver::setup(session, TINY).unwrap(), Vec::new());
            for count in counts {
                source.extend(session, *count, &mut rows).unwrap();
            }
            rows
        },
    )
}

#[test]
fn an_iteration_feeds_the_next() {
    for parameters in [Parameters::STANDARD, Parameters::TINY] {
        assert!(parameters.outputs() > parameters.inputs() && parameters.levels >= 2);
    }
    let standard = Parameters::STANDARD;
    assert_eq!((standard.outputs(), standard.inputs()), (4_194_304, 284_672));
    assert_eq!(standard.handed_out(), 3_909_632);
    assert_eq!(
        (standard.blocks * standard.sum_bytes(), standard.correction_bytes()),
        (327_680, 2_816)
    );
}

#[test]
fn rows_are_the_ideal_correlation_over_several_iterations_as_forecast() {
    let all = TINY.handed_out();
    for counts in [
        vec![0],
        vec![1],
        vec![all],
        vec![all + 1],
        vec![3, 0, 200, 1, all - 204, 5],
        vec![5 * all + 77],
    ] {
        let outcome = extended(&counts, 4);
        let ((zeros, delta), rows) = (outcome.p1, outcome.p2);
        assert_eq!((zeros.len(), rows.len()), (counts.iter().sum(), counts.iter().sum()));
        assert!(zeros.iter().all(|q| q & 1 == 0));
        assert!(zeros.iter().zip(&rows).all(|(q, t)| q ^ t == delta * (t & 1)));
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            let mut schedule = Schedule::new(TINY);
            forecast_setup(f, Role::P1);
            counts.iter().for_each(|count| forecast(f, Role::P1, &mut schedule, *count));
        });
    }
}

#[test]
fn no_transfer_is_handed_out_twice_or_kept_as_well() {
    // Three iterations and a bit; rows would repeat if one were in two places.
    let outcome = extended(&[3 * TINY.handed_out() + 9], 5);
    let seen: HashSet<u128> = outcome.p1.0.iter().copied().collect();
    assert_eq!(seen.len(), outcome.p1.0.len());

    let kept = run_pair(
        Setup::default().seed(6),
        |session| {
            let (delta, mut rows) = (Delta::random(&mut session.rng), Vec::new());
            let mut source = Sender::setup(session, TINY, delta).unwrap();
            source.extend(session, TINY.handed_out(), &mut rows).unwrap();
            // One more makes the next iteration, whose secret and trees are what was kept.
            source.extend(session, 1, &mut rows).unwrap();
            let (_, secret, trees) = source.0.iteration().parts(0);
            let delta = source.delta().expose();
            (rows, secret.to_vec(), trees.to_vec(), delta)
        },
        |session| {
            let mut source = Receiver::setup(session, TINY).unwrap();
            source.extend(session, TINY.handed_out() + 1, &mut Vec::new()).unwrap();
        },
    );
    let (rows, secret, trees, delta) = kept.p1;
    assert_eq!(secret.len() + trees.len(), TINY.inputs());
    let handed: HashSet<u128> = rows.into_iter().collect();
    for row in secret.iter().chain(&trees) {
        assert!(!handed.contains(row) && !handed.contains(&(row ^ delta)));
    }
}

#[test]
fn noise_has_one_place_in_every_block_and_all_places_occur() {
    let mut seen = HashSet::new();
    for seed in 0..20 {
        let outcome = run_pair(
            Setup::default().seed(seed),
            |session| {
                let delta = Delta::random(&mut session.rng);
                let mut source = Sender::setup(session, TINY, delta).unwrap();
                source.extend(session, 1, &mut Vec::new()).unwrap();
            },
            |session| {
                let mut source = Receiver::setup(session, TINY).unwrap();
                source.extend(session, 1, &mut Vec::new()).unwrap();
                source.0.end().holes().to_vec()
            },
        );
        assert_eq!(outcome.p2.len(), TINY.blocks);
        assert!(outcome.p2.iter().all(|hole| (*hole as usize) < TINY.block()));
        seen.extend(outcome.p2);
    }
    assert_eq!(seen.len(), TINY.block());
}

#[test]
fn choices_are_uniform_bits() {
    let outcome = extended(&[40_000], 7);
    let bits: Vec<usize> = outcome.p2.iter().map(|row| (row & 1) as usize).collect();
    // Five standard deviations each: of ones, of pairs that are equal, and of every place in a byte.
    let ones: usize = bits.iter().sum();
    assert!(ones.abs_diff(20_000) < 500, "{ones}");
    let equal = bits.windows(2).filter(|pair| pair[0] == pair[1]).count();
    assert!(equal.abs_diff(20_000) < 500, "{equal}");
    for place in 0..8 {
        let ones: usize = bits.iter().skip(place).step_by(8).sum();
        assert!(ones.abs_diff(2_500) < 177, "{place}: {ones}");
    }
}

#[test]
fn the_transcript_has_the_same_shape_for_all_randomness() {
    assert_same_shape(&[1, 2, 3], |seed| extended(&[700], *seed));
}

#[test]
fn messages_of_the_wrong_length_are_typed_errors() {
    let outcome = run_pair(
        Setup::default(),
        |session| {
            let mut source = Sender::setup(session, TINY, Delta::new(0)).unwrap();
            source.extend(session, 1, &mut Vec::new()).unwrap_err()
        },
        |session| {
            let mut base = soft_spoken::Receiver::setup(session, BASE).unwrap();
            base.extend(session, TINY.inputs(), &mut Vec::new()).unwrap();
            session.channel.send_bytes(CORRECTIONS, &[0; 5]).unwrap();
        },
    );
    assert_wrong_length(&outcome.p1, 12, 5);
    let outcome = run_pair(
        Setup::default(),
        |session| {
            let mut base = soft_spoken::Sender::setup(session, BASE, Delta::new(0)).unwrap();
            base.extend(session, TINY.inputs(), &mut Vec::new()).unwrap();
            session.channel.receive_bytes(CORRECTIONS, 12).unwrap();
            session.channel.send_bytes(SUMS, &[0; 16]).unwrap();
        },
        |session| {
            let mut source = Receiver::setup(session, TINY).unwrap();
            source.extend(session, 1, &mut Vec::new()).unwrap_err()
        },
    );
    let expected = CHUNK_BLOCKS * TINY.sum_bytes();
    assert_wrong_length(&outcome.p2, expected, 16);
}

#[test]
fn a_peer_that_stops_in_the_middle_is_a_typed_error() {
    let outcome = run_pair(
        Setup::default(),
        |session| {
            let mut source = Sender::setup(session, TINY, Delta::new(0)).unwrap();
            source.extend(session, 1, &mut Vec::new()).unwrap();
        },
        |session| {
            let mut source = Receiver::setup(session, TINY).unwrap();
            source.extend(session, TINY.handed_out(), &mut Vec::new()).unwrap_err()
        },
    );
    assert!(matches!(outcome.p2.blame(), crate::net::Blame::Connection(_)), "{:?}", outcome.p2);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "seconds when optimised, minutes when not")]
fn the_standard_sets_make_the_ideal_correlation() {
    let count = Parameters::STANDARD.handed_out() + 100_000;
    let outcome = run_pair(
        Setup::default().seed(9),
        |session| {
            let (delta, mut rows) = (Delta::random(&mut session.rng), Vec::new());
            let mut source = Sender::setup(session, Parameters::STANDARD, delta).unwrap();
            source.extend(session, count, &mut rows).unwrap();
            (rows, source.delta().expose())
        },
        |session| {
            let mut rows = Vec::new();
            let mut source = Receiver::setup(session, Parameters::STANDARD).unwrap();
            source.extend(session, count, &mut rows).unwrap();
            rows
        },
    );
    let ((zeros, delta), rows) = (outcome.p1, outcome.p2);
    assert_eq!((zeros.len(), rows.len()), (count, count));
    assert!(zeros.iter().zip(&rows).all(|(q, t)| q & 1 == 0 && q ^ t == delta * (t & 1)));
    let ones = rows.iter().filter(|row| *row & 1 == 1).count();
    assert!(ones.abs_diff(count / 2) < 10_000, "{ones}");
}
