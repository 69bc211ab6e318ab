use std::sync::LazyLock;

use num_bigint::{BigInt, BigUint};
use num_traits::One;
use proptest::prelude::*;

use super::*;
use crate::crypto::paillier::{SecretKey, Tuning};
use crate::math::Rational;
use crate::paper::exponential::horizontal::{
    ClassCounts, Horizontal, HorizontalExponential, TaylorKey, ideal_weights,
};
use crate::privacy::taylor::{Taylor, TaylorExponential};
use crate::privacy::{Calibration, Choose};
use crate::protocol::announced::{assert_refuses_what_is_overstated, ending};
use crate::protocol::pair::assert_same_shape;
use crate::protocol::shares::IntegerShare;

/// P1's and P2's view of one key.
static KEYS: LazyLock<[TaylorKey; 2]> = LazyLock::new(|| {
    let key =
        SecretKey::generate_for_tests(512, Tuning::default(), &mut Randomness::seeded(1)).unwrap();
    let peer = TaylorKey::Peer(key.public().clone());
    [peer, TaylorKey::Own(Box::new(key))]
});

const RECORDS: u64 = 50;

fn terms(digits: u32, degree: u32) -> Horizontal {
    Horizontal { taylor: Taylor::new(digits, degree).unwrap(), most_records: RECORDS, sigma: 40 }
}

fn counts(candidates: &[&[[u64; 2]]]) -> ClassCounts {
    let list = |candidate: &&[[u64; 2]]| candidate.iter().map(|row| row.to_vec()).collect();
    ClassCounts::new(2, &candidates.iter().map(list).collect::<Vec<_>>()).unwrap()
}

/// Three candidates with two, three and one children.
fn example() -> [ClassCounts; 2] {
    let first: [&[[u64; 2]]; 3] = [&[[3, 1], [0, 2]], &[[5, 0], [1, 1], [0, 0]], &[[2, 4]]];
    let second: [&[[u64; 2]]; 3] = [&[[0, 9], [4, 4]], &[[0, 0], [7, 2], [3, 3]], &[[6, 6]]];
    [counts(&first), counts(&second)]
}

fn of(role: Role) -> usize {
    usize::from(role == Role::P2)
}

fn candidates(scores: &[u64]) -> Vec<Scored> {
    whole(scores).into_iter().map(Scored::single).collect()
}

#[test]
fn scores_are_sums_of_the_largest_joint_counts() {
    let [first, second] = example();
    // max(3, 10) + max(4, 6), max(5, 0) + max(8, 3) + max(3, 3), max(8, 10).
    assert_eq!(first.ideal_scores(&second), [16, 16, 10]);
}

fn weigh(horizontal: Horizontal, rate: &Rational, counts: &[ClassCounts; 2]) -> Vec<BigInt> {
    let outcome = with_generators(3, |role, session| {
        let mut mechanism = HorizontalExponential::new(session, &KEYS[of(role)], horizontal);
        mechanism.weigh(rate, &counts[of(role)]).unwrap()
    });
    let pairs = outcome.p1.iter().zip(&outcome.p2);
    pairs.map(|(a, b)| a.number() + b.number()).collect()
}

#[test]
fn shared_weights_are_the_polynomial_of_the_scores() {
    let counts = example();
    for (digits, degree, rate) in [(4, 3, (34_657, 100_000)), (1, 1, (1, 2)), (2, 8, (3, 1))] {
        let horizontal = terms(digits, degree);
        let rate = Rational::new(rate.0 as u64, rate.1 as u64).unwrap();
        let expected = ideal_weights(horizontal.taylor, &rate, &counts[0], &counts[1]).unwrap();
        let expected: Vec<BigInt> = expected.into_iter().map(BigInt::from).collect();
        assert_eq!(weigh(horizontal, &rate, &counts), expected);
    }
}

#[test]
fn counts_at_their_bounds_and_empty_tables_are_weighed() {
    let full: [&[[u64; 2]]; 2] = [&[[RECORDS, 0]], &[[0, 0], [RECORDS, 0]]];
    let none: [&[[u64; 2]]; 2] = [&[[0, 0]], &[[0, 0], [0, 0]]];
    let horizontal = terms(3, 4);
    let rate = Rational::new(1u32, 7u32).unwrap();
    for pair in [[&full, &full], [&full, &none], [&none, &none]] {
        let both = pair.map(|party| counts(party));
        let expected = ideal_weights(horizontal.taylor, &rate, &both[0], &both[1]).unwrap();
        let expected: Vec<BigInt> = expected.into_iter().map(BigInt::from).collect();
        assert_eq!(weigh(horizontal, &rate, &both), expected);
    }
}

/// Every R at a tiny size: weights 2 + 2·u... split {0, …, S − 1} as the single-party form does.
#[test]
fn every_r_leads_to_the_winner_of_the_single_party_form() {
    let shares = |role: Role| -> Vec<IntegerShare> {
        // Weights 3, 1 and 2, with masks that make both shares negative and positive.
        let masks = [-700i64, 41, 1 << 30];
        let weights = [3i64, 1, 2];
        let own = |i: usize| if role == Role::P1 { masks[i] } else { weights[i] - masks[i] };
        (0..3).map(|i| IntegerShare::new(own(i).into(), 2)).collect()
    };
    for (r, winner) in [0, 0, 0, 1, 2, 2].into_iter().enumerate() {
        let outcome = with_tape(&Tape::of_uniforms([r as u32]), |role, session| {
            let mut mechanism = HorizontalExponential::new(session, &KEYS[of(role)], terms(1, 1));
            mechanism.pick(&shares(role)).unwrap().index
        });
        assert_eq!((outcome.p1, outcome.p2), (winner, winner), "R = {r}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]
    #[test]
    fn with_the_same_tape_two_parties_choose_as_one(
        first in prop::collection::vec(prop::collection::vec(0u64..20, 4), 1..5),
        second in prop::collection::vec(prop::collection::vec(0u64..20, 4), 5),
        place in 0u32..1000,
    ) {
        let list = |candidates: &[Vec<u64>]| -> ClassCounts {
            let children = |c: &Vec<u64>| c.chunks(2).map(<[u64]>::to_vec).collect::<Vec<_>>();
            ClassCounts::new(2, &candidates.iter().map(children).collect::<Vec<_>>()).unwrap()
        };
        let horizontal = Horizontal { most_records: 80, ..terms(2, 3) };
        let both = [list(&first), list(&second[..first.len()])];
        let rate = Calibration::max().rate(spend("0.25").epsilon());
        let weights = ideal_weights(horizontal.taylor, &rate, &both[0], &both[1]).unwrap();
        let r = weights.iter().sum::<BigUint>() * place / 1000u32;
        let tape = Tape::of_uniforms([r]);
        let scores = both[0].ideal_scores(&both[1]);
        let single = TaylorExponential::new(horizontal.taylor, tape.clone())
            .choose(spend("0.25"), &Calibration::max(), &candidates(&scores))
            .unwrap();
        let outcome = with_tape(&tape, |role, session| {
            HorizontalExponential::new(session, &KEYS[of(role)], horizontal)
                .choose(spend("0.25"), &Calibration::max(), &both[of(role)])
                .unwrap()
        });
        prop_assert_eq!((outcome.p1, outcome.p2), (single, single));
    }
}

/// 300 picks among weights 1, 2 and 3: the statistic has two degrees of freedom and is above 42
/// once in 10^9 by chance; the seed is fixed.
#[test]
fn winners_come_in_proportion_to_their_weights() {
    let outcome = with_generators(7, |role, session| {
        let own = |weight: i64| if role == Role::P1 { weight + 5 } else { -5 };
        let shares: Vec<_> =
            [1, 2, 3].iter().map(|w| IntegerShare::new(own(*w).into(), 2)).collect();
        let mut mechanism = HorizontalExponential::new(session, &KEYS[of(role)], terms(1, 1));
        (0..300).map(|_| mechanism.pick(&shares).unwrap().index).collect::<Vec<_>>()
    });
    assert_eq!(outcome.p1, outcome.p2);
    let mut won = [0f64; 3];
    outcome.p1.iter().for_each(|index| won[*index] += 1.0);
    let expected = [50.0, 100.0, 150.0];
    let chi_square: f64 = won.iter().zip(expected).map(|(n, e)| (n - e).powi(2) / e).sum();
    assert!(chi_square < 42.0, "{won:?}");
}

#[test]
fn what_would_wrap_or_does_not_fit_is_refused_before_anything_is_sent() {
    let [first, _] = example();
    let refuse = |horizontal: Horizontal, rate: Rational, counts: ClassCounts| {
        let outcome = with_generators(5, |role, session| {
            let mut mechanism = HorizontalExponential::new(session, &KEYS[of(role)], horizontal);
            mechanism.weigh(&rate, &counts).unwrap_err()
        });
        assert!(outcome.transcripts.p1.is_empty() && outcome.transcripts.p2.is_empty());
        outcome.p1
    };
    let half = || Rational::new(1u32, 2u32).unwrap();
    let wraps = refuse(terms(18, 20), half(), first.clone());
    assert!(wraps.to_string().contains("lower the degree"), "{wraps}");
    assert!(wraps.says("Internal", "weights of degree 20 with 18 digits"));
    let small = Rational::new(1u32, 1000u32).unwrap();
    assert!(refuse(terms(2, 2), small, first).says("Internal", ""));
    let many = counts(&[&[[RECORDS, 1]]]);
    assert!(refuse(terms(1, 1), half(), many).says("Input", "raise max_records"));
    let none = counts(&[]);
    assert!(refuse(terms(1, 1), half(), none).says("Internal", ""));
    assert!(
        ClassCounts::new(2, &[vec![vec![1]]])
            .is_err_and(|e| e.says("Internal", "one count per class"))
    );
    assert!(ClassCounts::new(0, &[]).is_err_and(|e| e.says("Internal", "one count per class")));
}

#[test]
fn the_largest_weight_that_fits_is_allowed_and_exact() {
    // The bound on the result is tight: one digit more is rejected.
    let [first, second] = example();
    let rate = Rational::new(1u32, 2u32).unwrap();
    let largest = (1..=18).rev().find(|digits| {
        let outcome = with_generators(6, |role, session| {
            let terms = terms(*digits, 20);
            let mut mechanism = HorizontalExponential::new(session, &KEYS[of(role)], terms);
            let counts = if role == Role::P1 { &first } else { &second };
            mechanism
                .weigh(&rate, counts)
                .map(|shares| shares.iter().map(|share| share.number().clone()).collect::<Vec<_>>())
        });
        let (Ok(a), Ok(b)) = (outcome.p1, outcome.p2) else { return false };
        let taylor = Taylor::new(*digits, 20).unwrap();
        let expected = ideal_weights(taylor, &rate, &first, &second).unwrap();
        let sums: Vec<BigInt> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
        assert_eq!(sums, expected.into_iter().map(BigInt::from).collect::<Vec<_>>());
        true
    });
    assert!(largest.is_some_and(|digits| digits < 18));
}

#[test]
fn the_shape_does_not_depend_on_the_counts() {
    let zeros: [&[[u64; 2]]; 3] = [&[[0; 2]; 2], &[[0; 2]; 3], &[[0; 2]]];
    let zeros = [counts(&zeros), counts(&zeros)];
    assert_same_shape(&[example(), zeros], |both| {
        with_generators(9, |role, session| {
            HorizontalExponential::new(session, &KEYS[of(role)], terms(2, 3))
                .choose(spend("1"), &Calibration::max_of_the_papers(), &both[of(role)])
                .unwrap()
        })
    });
}

#[test]
fn one_share_of_a_weight_hides_it() {
    let [first, second] = example();
    let rate = Rational::new(1u32, 2u32).unwrap();
    let outcome = with_generators(10, |role, session| {
        let mut mechanism = HorizontalExponential::new(session, &KEYS[of(role)], terms(2, 3));
        let counts = if role == Role::P1 { &first } else { &second };
        mechanism.weigh(&rate, counts).unwrap()
    });
    for share in outcome.p1.iter().chain(&outcome.p2) {
        // A mask is 40 bits wider than any weight; shorter by 30 bits it is once in 2^30.
        let wide = BigInt::one() << (share.bits() + 10);
        assert!(BigInt::from(share.number().magnitude().clone()) > wide);
    }
}

#[test]
fn a_key_that_is_announced_far_too_long_is_refused() {
    let kinds = assert_refuses_what_is_overstated(|session| {
        ending(TaylorKey::exchange_for_tests(session, 512, Tuning::default()))
    });
    assert_eq!(kinds, [crate::net::Tag::new(*b"hkey")]);
}
