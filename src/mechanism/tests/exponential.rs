use num_bigint::BigUint;

use super::*;
use crate::mechanism::exponential::VerticalExponential;
use crate::privacy::exponential::{Exponential, Scaling, highest_score, weights};
use crate::privacy::{self, Calibration, Choose};
use crate::protocol::pair::assert_same_shape;

const BINARY: Scaling = Scaling::Binary { fraction_bits: 64 };
const TINY: Scaling = Scaling::Binary { fraction_bits: 8 };

fn choose<C: Coins>(
    parties: Parties<'_, C>,
    scaling: Scaling,
    largest: u64,
    scores: &OneSided,
) -> Result<usize, Error> {
    let largest = Score::whole(largest).unwrap();
    let mut mechanism = VerticalExponential::new(parties, scaling, largest, 64);
    Ok(mechanism.choose(spend("1"), &Calibration::max(), scores)?.index)
}

fn by_tape(scaling: Scaling, r: &BigUint, p1: &[u64], p2: &[u64]) -> [usize; 2] {
    let outcome = with_tape(&Tape::of_uniforms([r.clone()]), |role, parties| {
        choose(parties, scaling, 1000, &one_sided(role, p1, p2)).unwrap()
    });
    [outcome.p1, outcome.p2]
}

fn single(scaling: Scaling, r: &BigUint, p1: &[u64], p2: &[u64]) -> usize {
    let mut mechanism = Exponential::new(scaling, Tape::of_uniforms([r.clone()]));
    mechanism.choose(spend("1"), &Calibration::max(), &joined(p1, p2)).unwrap().index
}

fn weights_of(scaling: Scaling, p1: &[u64], p2: &[u64]) -> Vec<BigUint> {
    let rate = scaling.rate("", spend("1").epsilon(), &Calibration::max()).unwrap();
    weights(&[whole(p1), whole(p2)].concat(), &rate, scaling).unwrap()
}

#[test]
fn every_r_leads_to_the_winner_of_the_single_party_form() {
    // With f = 8 and scores 0 and 1 the sum is about 2,000: every edge, and all R nearby.
    for (p1, p2) in [(vec![0, 1], vec![1, 0]), (vec![], vec![1, 0]), (vec![1, 0, 0], vec![])] {
        let mut edge = BigUint::ZERO;
        for weight in weights_of(TINY, &p1, &p2) {
            for r in [edge.clone(), &edge + 1u8, &edge + &weight - 1u8] {
                let index = single(TINY, &r, &p1, &p2);
                assert_eq!(by_tape(TINY, &r, &p1, &p2), [index; 2], "R = {r}");
            }
            edge += weight;
        }
    }
}

#[test]
fn long_weights_give_the_winner_of_the_single_party_form() {
    let (p1, p2) = ([3, 900, 1000, 0], [1000, 999, 1000]);
    let mut edge = BigUint::ZERO;
    for weight in weights_of(BINARY, &p1, &p2) {
        for r in [edge.clone(), &edge + &weight - 1u8] {
            assert_eq!(by_tape(BINARY, &r, &p1, &p2), [single(BINARY, &r, &p1, &p2); 2]);
        }
        edge += weight;
    }
}

#[test]
fn scores_beyond_the_bound_count_as_the_bound() {
    let r = BigUint::from(1u8) << 64;
    assert_eq!(by_tape(BINARY, &r, &[5000], &[1000]), by_tape(BINARY, &r, &[1000], &[1000]));
}

#[test]
fn generators_make_both_parties_agree_and_let_candidates_of_either_win() {
    let mut won = [0; 5];
    for seed in 0..60 {
        let outcome = with_generators(seed, |role, parties| {
            choose(parties, BINARY, 40, &one_sided(role, &[2, 2], &[2, 2, 2])).unwrap()
        });
        assert_eq!(outcome.p1, outcome.p2);
        won[outcome.p1] += 1;
    }
    assert!(won.iter().all(|count| *count > 0), "{won:?}");
}

#[test]
fn one_candidate_wins_whoever_has_it_and_none_is_an_error() {
    for (p1, p2) in [(vec![7], vec![]), (vec![], vec![7])] {
        let outcome = with_generators(1, |role, parties| {
            choose(parties, BINARY, 40, &one_sided(role, &p1, &p2)).unwrap()
        });
        assert_eq!((outcome.p1, outcome.p2), (0, 0));
    }
    let outcome =
        with_generators(1, |role, parties| choose(parties, BINARY, 40, &one_sided(role, &[], &[])));
    for answer in [outcome.p1, outcome.p2] {
        let Err(Error::Privacy(cause)) = answer else { panic!("{answer:?}") };
        assert!(matches!(*cause, privacy::Error::NoCandidates));
    }
    assert!(outcome.transcripts.p1.is_empty());
}

#[test]
fn the_transcript_has_the_same_shape_for_all_scores() {
    let scores = [([0, 0], [0]), ([1000, 1], [7]), ([3, 4], [1000])];
    assert_same_shape(&scores, |(p1, p2)| {
        with_generators(3, |role, parties| {
            choose(parties, BINARY, 1000, &one_sided(role, p1, p2)).unwrap()
        })
    });
}

#[test]
fn the_longest_weights_are_those_of_the_single_party_form() {
    // Only the bound is public, so scores above the highest possible one are cut alike.
    let scaling = Scaling::Binary { fraction_bits: 8 };
    let rate = scaling.rate("", spend("1").epsilon(), &Calibration::max()).unwrap();
    assert!(highest_score(&rate, scaling).unwrap() < Score::whole(1 << 20).unwrap());
}
