use num_bigint::{BigInt, BigUint};
use zeroize::Zeroizing;

use super::*;
use crate::circuit::random_value::UniformBelow;
use crate::math::Rational;
use crate::math::exponential::work;
use crate::paper::exponential::VerticalExponential;
use crate::paper::exponential::stepwise::first_above;
use crate::paper::exponential::vertical::{ChoiceShape, PrefixSums};
use crate::privacy::decisions::Decisions;
use crate::privacy::digits::DigitSampler;
use crate::privacy::exponential::{
    Exponential, MOST_WEIGHT_BITS, Scaling, ScoreBound, highest_score, weights,
};
use crate::privacy::{self, Calibration, Choose};
use crate::protocol::coins::{Bits, Coins};
use crate::protocol::pair::assert_same_shape;
use crate::protocol::shares::{Ring, Share};

const BINARY: Scaling = Scaling::Binary { fraction_bits: 64 };
const TINY: Scaling = Scaling::Binary { fraction_bits: 8 };

fn choose(
    session: &mut Session,
    scaling: Scaling,
    largest: u64,
    scores: &OneSided,
) -> Result<usize, Error> {
    let largest = Score::whole(largest).unwrap();
    let mut mechanism = VerticalExponential::new(session, scaling, largest, 64);
    Ok(mechanism.choose(spend("1"), &Calibration::max(), scores)?.index)
}

fn by_tape(scaling: Scaling, r: &BigUint, p1: &[u64], p2: &[u64]) -> [usize; 2] {
    let outcome = with_tape(&Tape::of_uniforms([r.clone()]), |role, session| {
        choose(session, scaling, 1000, &one_sided(role, p1, p2)).unwrap()
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
        let outcome = with_generators(seed, |role, session| {
            choose(session, BINARY, 40, &one_sided(role, &[2, 2], &[2, 2, 2])).unwrap()
        });
        assert_eq!(outcome.p1, outcome.p2);
        won[outcome.p1] += 1;
    }
    assert!(won.iter().all(|count| *count > 0), "{won:?}");
}

#[test]
fn one_candidate_wins_whoever_has_it_and_none_is_an_error() {
    for (p1, p2) in [(vec![7], vec![]), (vec![], vec![7])] {
        let outcome = with_generators(1, |role, session| {
            choose(session, BINARY, 40, &one_sided(role, &p1, &p2)).unwrap()
        });
        assert_eq!((outcome.p1, outcome.p2), (0, 0));
    }
    let outcome =
        with_generators(1, |role, session| choose(session, BINARY, 40, &one_sided(role, &[], &[])));
    for answer in [outcome.p1, outcome.p2] {
        assert!(answer.unwrap_err().says("Internal", "there is no candidate"));
    }
    assert!(outcome.transcripts.p1.is_empty());
}

#[test]
fn the_transcript_has_the_same_shape_for_all_scores() {
    let scores = [([0, 0], [0]), ([1000, 1], [7]), ([3, 4], [1000])];
    assert_same_shape(&scores, |(p1, p2)| {
        with_generators(3, |role, session| {
            choose(session, BINARY, 1000, &one_sided(role, p1, p2)).unwrap()
        })
    });
}

#[test]
fn sums_are_as_wide_as_the_highest_possible_score_needs_and_no_wider() {
    // A bound so high that its weight would be too long is replaced by the highest score.
    let rate = TINY.rate("", spend("1").epsilon(), &Calibration::max()).unwrap();
    let highest = highest_score(&rate, TINY).unwrap();
    let beyond = Score::whole(1 << 21).unwrap();
    assert!(highest < beyond);
    let scores = OneSided { own: vec![], peer: 3 };
    let width = |largest| {
        let bound = ScoreBound { largest, whole: true };
        PrefixSums::new(&scores, Role::P1, bound, &rate, TINY).unwrap().width
    };
    assert_eq!(width(beyond), width(highest));
    assert_eq!(width(highest), MOST_WEIGHT_BITS as usize + 2);
}

#[test]
fn the_work_before_the_first_message_does_not_depend_on_the_scores() {
    let rate = BINARY.rate("", spend("1").epsilon(), &Calibration::max()).unwrap();
    let bound = ScoreBound { largest: Score::whole(1000).unwrap(), whole: true };
    let work_on = |own: [u64; 3]| {
        let scores = OneSided { own: whole(&own), peer: 2 };
        work::take();
        PrefixSums::new(&scores, Role::P1, bound, &rate, BINARY).unwrap();
        work::take()
    };
    let low = work_on([0, 1, 2]);
    assert!(!low.is_empty());
    for scores in [[1000, 999, 998], [512, 0, 17], [3, 3, 1 << 30]] {
        assert_eq!(work_on(scores), low, "{scores:?}");
    }
}

/// Every bit of both parties' coins, at sizes where all can be tried.
#[test]
fn each_candidate_wins_exactly_in_proportion_to_its_weight() {
    let (width, tries) = (3, 1);
    let coins = UniformBelow::new(width, tries).random_bits();
    for weights in [[1u32, 1, 1], [1, 4, 1], [2, 3, 2], [5, 1, 1], [1, 1, 2]] {
        let sums = [weights[0], weights[1], weights[1] + weights[2]];
        let shape = ChoiceShape::new([1, 2], width, tries as u32);
        let circuit = shape.circuit();
        let bits = |value: u32, width: usize| (0..width).map(move |i| value >> i & 1 == 1);
        let mut won = [0u32; 3];
        for joint in 0..1u32 << coins {
            let mask = joint.wrapping_mul(0x9e37_79b9) >> (32 - coins);
            let mut inputs: Vec<bool> =
                bits(sums[0], width).chain(bits(joint ^ mask, coins)).collect();
            inputs
                .extend(bits(sums[1], width).chain(bits(sums[2], width)).chain(bits(mask, coins)));
            let output = circuit.evaluate(&inputs).unwrap();
            let index = usize::from(output[1]) + 2 * usize::from(output[2]);
            if output[0] {
                assert_eq!(index, 0, "a failed choice opens nothing else");
            } else {
                won[index] += 1;
            }
        }
        let each = won[0] / weights[0];
        assert!(each > 0);
        assert_eq!(won, weights.map(|weight| each * weight), "weights {weights:?}");
        // T = 1: it fails with a chance below a half.
        assert!(2 * won.iter().sum::<u32>() > 1 << coins);
    }
}

/// P1's coins are all ones, P2's all zeros: no try succeeds unless every number does.
struct Stubborn(Role);

impl Decisions for Stubborn {
    fn uniform_below(&mut self, _: &BigUint) -> Result<BigUint, privacy::Error> {
        Ok(BigUint::ZERO)
    }

    fn geometric(&mut self, _: &Rational) -> Result<BigUint, privacy::Error> {
        Ok(BigUint::ZERO)
    }

    fn discrete_laplace(&mut self, _: &Rational) -> Result<BigInt, privacy::Error> {
        Ok(BigInt::ZERO)
    }
}

impl Coins for Stubborn {
    fn joint_bytes(&mut self, into: &mut [u8]) {
        into.fill(0);
    }

    fn joint_uniform(&mut self, shape: &UniformBelow, _: &BigUint) -> Result<Bits, privacy::Error> {
        Ok(Zeroizing::new(vec![self.0 == Role::P1; shape.random_bits()]))
    }

    fn joint_geometric(&mut self, _: &DigitSampler, _: usize) -> Result<Bits, privacy::Error> {
        Ok(Bits::default())
    }

    fn joint_laplace(&mut self, _: &DigitSampler, _: usize) -> Result<Bits, privacy::Error> {
        Ok(Bits::default())
    }

    fn own_laplace(&mut self, _: &Rational, _: usize) -> Result<Vec<BigInt>, privacy::Error> {
        Ok(Vec::new())
    }

    fn own_laplace_digits(
        &mut self,
        _: &DigitSampler,
        _: usize,
    ) -> Result<Vec<BigInt>, privacy::Error> {
        Ok(Vec::new())
    }

    fn skip(&mut self, _: usize) {}
}

#[test]
fn a_choice_for_which_no_try_gives_a_number_ends_with_an_error_at_both_parties() {
    let party = |session: &mut Session| {
        let role = session.role;
        session.coins = Box::new(Stubborn(role));
        choose(session, TINY, 9, &one_sided(role, &[1], &[0]))
    };
    let outcome = run_pair(Setup::default().seed(1), party, party);
    for answer in [outcome.p1, outcome.p2] {
        assert!(answer.as_ref().is_err_and(|e| e.says("Internal", "2^-64")), "{answer:?}");
    }
}

#[test]
fn the_comparisons_of_the_papers_find_the_winner_for_every_edge() {
    let (p1, p2) = ([3, 0], [1, 4, 4]);
    let rate = TINY.rate("", spend("1").epsilon(), &Calibration::max()).unwrap();
    let weights = weights_of(TINY, &p1, &p2);
    let outcome = with_generators(5, |role, session| {
        let scores = one_sided(role, &p1, &p2);
        let bound = ScoreBound { largest: Score::whole(10).unwrap(), whole: true };
        let sums = PrefixSums::new(&scores, role, bound, &rate, TINY).unwrap();
        let ring = Ring::PowerOfTwo(sums.width);
        let mask = Share::random(&ring, &mut Randomness::seeded(3));
        let mut edge = BigUint::ZERO;
        for (k, weight) in weights.iter().enumerate() {
            for r in [edge.clone(), &edge + weight - 1u8] {
                let share = match role {
                    Role::P1 => mask.clone(),
                    Role::P2 => mask.negate().plus(&Share::new(&ring, &r.into())).unwrap(),
                };
                assert_eq!(first_above(session, &sums, &share).unwrap(), k);
            }
            edge += weight;
        }
        edge
    });
    assert_eq!(outcome.p1, outcome.p2);
}

#[test]
fn the_papers_way_makes_both_parties_agree_and_tells_nothing_by_its_messages() {
    let paper = |seed, p1: &[u64], p2: &[u64]| {
        with_generators(seed, |role, session| {
            let largest = Score::whole(40).unwrap();
            let mechanism = VerticalExponential::new(session, BINARY, largest, 64);
            let scores = one_sided(role, p1, p2);
            let calibration = Calibration::max_of_the_papers();
            mechanism.as_in_the_papers().choose(spend("1"), &calibration, &scores).unwrap().index
        })
    };
    let mut won = [0; 3];
    for seed in 0..15 {
        let outcome = paper(seed, &[3], &[3, 3]);
        assert_eq!(outcome.p1, outcome.p2);
        won[outcome.p1] += 1;
    }
    assert!(won.iter().all(|count| *count > 0), "{won:?}");
    let scores = [([40], [0, 0]), ([0], [40, 1]), ([0], [0, 40])];
    assert_same_shape(&scores, |(p1, p2)| paper(1, p1, p2));
}

#[test]
fn the_papers_way_takes_the_same_decision_off_a_tape() {
    let (p1, p2) = ([1, 0], [2]);
    let total: BigUint = weights_of(TINY, &p1, &p2).iter().sum();
    for r in [BigUint::ZERO, &total / 2u8, total - 1u8] {
        let outcome = with_tape(&Tape::of_uniforms([r.clone()]), |role, session| {
            let largest = Score::whole(9).unwrap();
            let mechanism = VerticalExponential::new(session, TINY, largest, 64);
            let scores = one_sided(role, &p1, &p2);
            mechanism.as_in_the_papers().choose(spend("1"), &Calibration::max(), &scores).unwrap()
        });
        assert_eq!(outcome.p1.index, single(TINY, &r, &p1, &p2));
        assert_eq!(outcome.p1, outcome.p2);
    }
}

#[test]
fn rounds_do_not_depend_on_the_number_of_candidates() {
    let rounds = |count: usize| {
        let scores = vec![1; count];
        let outcome = with_generators(1, |role, session| {
            choose(session, TINY, 9, &one_sided(role, &scores, &scores)).unwrap()
        });
        outcome.costs.p1.total().rounds
    };
    assert_eq!(rounds(1), rounds(40));
}
