//! The law of every sampler and the privacy of every mechanism, measured; and mechanisms broken on
//! purpose, which the same tests must catch.
//!
//! All generators are seeded, so a verdict does not change from run to run. *False alarms*: each
//! chi-square test would reject a right sampler with probability 10^-6, each comparison of two
//! frequencies a private mechanism with probability below 10^-6, for a seed chosen at random.

use std::collections::BTreeMap;

use diptych::Role;
use diptych::math::exponential::exp;
use diptych::math::{Randomness, Rational};
use diptych::mechanism::OneSided;
use diptych::mechanism::noise::{JointNoise, TwoPartyNoise};
use diptych::mechanism::noisy_max::{NoiseWidths, NoisyMax as TwoPartyNoisyMax, Scores};
use diptych::paper::exponential::VerticalExponential;
use diptych::privacy::decisions::Decisions;
use diptych::privacy::digits::DigitSampler;
use diptych::privacy::exponential::{Exponential, Scaling, weights};
use diptych::privacy::laplace::DiscreteLaplace;
use diptych::privacy::noisy_max::NoisyMax;
use diptych::privacy::sampler::{bernoulli_exp, discrete_laplace, geometric, uniform_below};
use diptych::privacy::{AddNoise, Budget, Calibration, Choose, Epsilon, Score, Scored, Spend};
use diptych::protocol::Workspace;
use diptych::protocol::pair::{Outcome, Setup, run_workspaces};
use diptych::protocol::shares::WordShares;
use num_bigint::BigUint;

/// The normal quantile of 1 − 10^-6.
const Z: f64 = 4.7534;

// --- samplers ---

#[test]
fn uniform_numbers_are_uniform() {
    let mut rng = Randomness::seeded(10);
    let bound = BigUint::from(11u32);
    let drawn = histogram(200_000, || i64::try_from(uniform_below(&bound, &mut rng)).unwrap());
    let law: Vec<_> = (0..11).map(|k| (k, 1.0 / 11.0)).collect();
    assert_fits(&drawn, &law);
}

#[test]
fn bernoulli_of_an_exponential_fits_its_law() {
    for (seed, n, d) in [(11, 1u32, 7u32), (12, 1, 1), (13, 9, 4)] {
        let (mut rng, x) = (Randomness::seeded(seed), fraction(n, d));
        let drawn = histogram(200_000, || i64::from(bernoulli_exp(&x, &mut rng)));
        let p = (-f64::from(n) / f64::from(d)).exp();
        assert_fits(&drawn, &[(0, 1.0 - p), (1, p)]);
    }
}

#[test]
fn geometric_noise_fits_its_law() {
    for (seed, n, d) in [(14, 1u32, 10u32), (15, 3, 2), (16, 12_345, 54_321)] {
        let (mut rng, rate) = (Randomness::seeded(seed), fraction(n, d));
        let drawn = histogram(100_000, || i64::try_from(geometric(&rate, &mut rng)).unwrap());
        assert_fits(&drawn, &geometric_law(f64::from(n) / f64::from(d)));
    }
}

#[test]
fn geometric_noise_by_digits_fits_the_same_law() {
    let mut rng = Randomness::seeded(17);
    let sampler = DigitSampler::new(&fraction(1, 10), 12, 64).unwrap();
    let drawn = histogram(100_000, || sampler.sample(&mut rng) as i64);
    assert_fits(&drawn, &geometric_law(0.1));
}

#[test]
fn discrete_laplace_noise_fits_its_law() {
    for (seed, n, d) in [(18, 1u32, 4u32), (19, 1, 1), (20, 7, 3)] {
        let (mut rng, rate) = (Randomness::seeded(seed), fraction(n, d));
        let drawn =
            histogram(100_000, || i64::try_from(discrete_laplace(&rate, &mut rng)).unwrap());
        let q = (-f64::from(n) / f64::from(d)).exp();
        let law: Vec<_> =
            (-300i64..=300).map(|k| (k, (1.0 - q) / (1.0 + q) * q.powi(k.abs() as i32))).collect();
        assert_fits(&drawn, &law);
    }
}

#[test]
fn the_difference_of_two_noises_by_digits_is_discrete_laplace() {
    let mut rng = Randomness::seeded(21);
    let sampler = DigitSampler::new(&fraction(1, 2), 10, 64).unwrap();
    let drawn =
        histogram(100_000, || sampler.sample(&mut rng) as i64 - sampler.sample(&mut rng) as i64);
    let q = (-0.5f64).exp();
    let law: Vec<_> =
        (-200i64..=200).map(|k| (k, (1.0 - q) / (1.0 + q) * q.powi(k.abs() as i32))).collect();
    assert_fits(&drawn, &law);
}

#[test]
fn samplers_broken_on_purpose_do_not_fit() {
    let law = geometric_law(0.1);
    let mut rng = Randomness::seeded(22);
    // A rate that is 6 % off; noise that starts at 1; the loop that forgets to reject −0.
    let off = fraction(106, 1000);
    let drawn = histogram(100_000, || i64::try_from(geometric(&off, &mut rng)).unwrap());
    assert!(!fits(&drawn, &law));
    let rate = fraction(1, 10);
    let drawn = histogram(100_000, || 1 + i64::try_from(geometric(&rate, &mut rng)).unwrap());
    assert!(!fits(&drawn, &law));
    let q = (-1f64).exp();
    let laplace: Vec<_> =
        (-60i64..=60).map(|k| (k, (1.0 - q) / (1.0 + q) * q.powi(k.abs() as i32))).collect();
    let one = fraction(1, 1);
    let drawn = histogram(100_000, || {
        let sign = if bernoulli_half(&mut rng) { 1 } else { -1 };
        sign * i64::try_from(geometric(&one, &mut rng)).unwrap()
    });
    assert!(!fits(&drawn, &laplace));
}

// --- the exponential mechanism: exactly, by its whole weights ---

#[test]
fn the_exponential_mechanism_is_exactly_private_on_all_tiny_neighbours() {
    let scalings = [
        Scaling::Binary { fraction_bits: 8 },
        Scaling::Binary { fraction_bits: 64 },
        Scaling::Decimal { digits: 1 },
        Scaling::Decimal { digits: 2 },
    ];
    for scaling in scalings {
        for (calibration, changes) in
            [(Calibration::max(), &[0, 1][..]), (Calibration::max_of_the_papers(), &[-1, 0, 1])]
        {
            let rate = scaling.rate("test", &fraction(1, 2), &calibration).unwrap();
            let worst = worst_ratio(&rate, scaling, changes);
            assert!(worst <= exp(&fraction(1, 2), 200).lower(), "{scaling:?} {calibration:?}");
        }
    }
}

#[test]
fn monotone_calibration_of_a_utility_that_is_not_monotone_is_caught() {
    let scaling = Scaling::Binary { fraction_bits: 64 };
    let rate = scaling.rate("test", &fraction(1, 2), &Calibration::max()).unwrap();
    assert!(worst_ratio(&rate, scaling, &[-1, 0, 1]) > exp(&fraction(1, 2), 200).upper());
}

#[test]
fn weights_rounded_without_the_deduction_are_caught() {
    // c = ε'/2Δ in full, weights ⌊10·e^(c·u)⌋: rounding alone breaks the promise.
    let scaling = Scaling::Decimal { digits: 1 };
    let worst = worst_ratio(&fraction(1, 4), scaling, &[-1, 0, 1]);
    assert!(worst > exp(&fraction(1, 2), 200).upper());
}

// --- every mechanism, by frequencies ---

#[test]
fn the_exponential_mechanism_passes_the_audit_of_frequencies() {
    let audited = |scores: [u64; 3], seed| {
        let scaling = Scaling::Binary { fraction_bits: 64 };
        let mut mechanism = Exponential::new(scaling, Randomness::seeded(seed));
        let candidates = scores.map(whole);
        histogram(6_000, || choose(&mut mechanism, &Calibration::max(), &candidates))
    };
    assert_private(&audited([2, 2, 2], 30), &audited([2, 3, 3], 31), 1.0);
    // The same mechanism as if it had spent a third only.
    assert!(!is_private(&audited([2, 2, 2], 32), &audited([2, 3, 3], 33), 1.0 / 3.0));
}

#[test]
fn noisy_maximum_passes_the_audit_of_frequencies() {
    let audited = |calibration: &Calibration, scores: [u64; 2], seed| {
        let mut mechanism = NoisyMax::new(10, Randomness::seeded(seed)).unwrap();
        let candidates = scores.map(whole);
        histogram(30_000, || choose(&mut mechanism, calibration, &candidates))
    };
    let (monotone, papers) = (Calibration::max(), Calibration::max_of_the_papers());
    assert_private(&audited(&monotone, [0, 2], 34), &audited(&monotone, [1, 2], 35), 1.0);
    assert_private(&audited(&papers, [0, 3], 36), &audited(&papers, [1, 2], 37), 1.0);
    // Monotone calibration where scores may move apart.
    assert!(!is_private(&audited(&monotone, [0, 3], 38), &audited(&monotone, [1, 2], 39), 1.0));
}

#[test]
fn a_maximum_with_one_noise_for_all_candidates_is_caught() {
    let broken = |scores: [i64; 2], seed| {
        let mut rng = Randomness::seeded(seed);
        histogram(30_000, || {
            let noise = i64::try_from(rng.geometric(&fraction(1, 1)).unwrap()).unwrap();
            i64::from(scores[1] + noise > scores[0] + noise)
        })
    };
    assert!(!is_private(&broken([2, 2], 40), &broken([2, 3], 41), 1.0));
}

#[test]
fn noisy_counts_pass_the_audit_of_frequencies() {
    let audited = |counts: [u64; 2], seed| {
        let mut mechanism = DiscreteLaplace::new(Randomness::seeded(seed));
        histogram(40_000, || {
            let noisy = mechanism.add_noise(spend_one(), &counts).unwrap();
            // Both counts are looked at: what happens to one must not show in the other.
            noisy[0].clamp(-3, 4) * 100 + noisy[1].clamp(1, 5)
        })
    };
    assert_private(&audited([0, 3], 42), &audited([1, 3], 43), 1.0);
    assert!(!is_private(&audited([0, 3], 44), &audited([1, 3], 45), 0.5));
}

#[test]
fn counts_whose_empty_leaves_get_no_noise_are_caught() {
    let broken = |count: i64, seed| {
        let mut rng = Randomness::seeded(seed);
        histogram(40_000, || {
            let noise = i64::try_from(discrete_laplace(&fraction(1, 1), &mut rng)).unwrap();
            if count == 0 { 0 } else { (count + noise).clamp(-3, 4) }
        })
    };
    assert!(!is_private(&broken(0, 46), &broken(1, 47), 1.0));
}

#[test]
fn noisy_maximum_is_no_worse_than_the_exponential_mechanism() {
    // Four candidates, the best one ahead by 1: permute-and-flip picks it at least as often.
    let candidates = [2, 3, 2, 2].map(whole);
    let mut exponential =
        Exponential::new(Scaling::Binary { fraction_bits: 64 }, Randomness::seeded(48));
    let mut noisy = NoisyMax::new(20, Randomness::seeded(49)).unwrap();
    let calibration = Calibration::max();
    let first = histogram(6_000, || choose(&mut exponential, &calibration, &candidates));
    let second = histogram(6_000, || choose(&mut noisy, &calibration, &candidates));
    assert!(second[&1] > first[&1], "{second:?} {first:?}");
}

// --- the same by two parties ---

#[test]
fn a_choice_by_two_parties_fits_the_law_of_its_weights_and_passes_the_audit() {
    let scaling = Scaling::Binary { fraction_bits: 64 };
    let drawn = |scores: [u64; 4], seed| {
        by_two_parties(seed, 4_000, move |session| {
            let scores = one_sided(session.role, scores);
            // T = 12 in place of 64: a failure is an outcome, too.
            let mut mechanism =
                VerticalExponential::new(session, scaling, Score::whole(9).unwrap(), 12);
            mechanism
                .choose(spend_one(), &Calibration::max(), &scores)
                .map_or(-1, |c| c.index as i64)
        })
    };
    let rate = scaling.rate("", &fraction(1, 1), &Calibration::max()).unwrap();
    let scores = [2, 3, 2, 1];
    let of = weights(&scores.map(|u| Score::whole(u).unwrap()), &rate, scaling).unwrap();
    let sum = f64_of(&of.iter().sum());
    let law: Vec<_> = (0..).zip(of.iter().map(|weight| f64_of(weight) / sum)).collect();
    let first = drawn(scores, 50);
    assert_fits(&first, &law);
    assert_private(&first, &drawn([2, 3, 3, 2], 51), 1.0);
    assert!(!is_private(&first, &drawn([2, 3, 3, 2], 52), 0.25));
}

#[test]
fn a_noisy_maximum_by_two_parties_fits_its_law_and_passes_the_audit() {
    let (grid_bits, digits) = (10, 15);
    let drawn = |scores: [u64; 4], seed| {
        by_two_parties(seed, 4_000, move |session| {
            let scores = Scores::OneSided(one_sided(session.role, scores));
            let (largest, widths) = (Score::whole(9).unwrap(), NoiseWidths { tau: 24, digits });
            let mut mechanism = TwoPartyNoisyMax::new(session, grid_bits, largest, widths).unwrap();
            mechanism.choose(spend_one(), &Calibration::max(), &scores).unwrap().index as i64
        })
    };
    // Exactly, over all noises of one candidate and the distribution functions of the others.
    let rate = (-(grid_bits as f64)).exp2();
    let ends = 1i64 << digits;
    let at_most = |k: i64| if k < 0 { 0.0 } else { 1.0 - (-rate * (k + 1) as f64).exp() };
    let scores = [2, 3, 2, 1];
    let wins = |i: usize| -> f64 {
        let chance = |k: i64| {
            let noisy = (scores[i] << grid_bits) as i64 + k;
            let beats =
                |j: usize| at_most(noisy - (scores[j] << grid_bits) as i64 - i64::from(j < i));
            (at_most(k) - at_most(k - 1)) * (0..4).filter(|&j| j != i).map(beats).product::<f64>()
        };
        (0..ends).map(chance).sum()
    };
    let law: Vec<_> = (0..4).map(|i| (i as i64, wins(i))).collect();
    let first = drawn(scores, 53);
    assert_fits(&first, &law);
    assert_private(&first, &drawn([2, 3, 3, 2], 54), 1.0);
    assert!(!is_private(&first, &drawn([2, 3, 3, 2], 55), 0.25));
}

#[test]
fn counts_with_noise_by_two_parties_fit_their_laws_and_pass_the_audit() {
    let q = (-1f64).exp();
    let laplace = |k: i64| (1.0 - q) / (1.0 + q) * q.powi(k.abs() as i32);
    let joint: Vec<_> = (-60..=60).map(|k| (k, laplace(k))).collect();
    let two: Vec<_> = (-60..=60)
        .map(|k| (k, (-90..=90).map(|j: i64| laplace(j) * laplace(k - j)).sum()))
        .collect();
    // Many equal counts at once: as good as many runs.
    let samples = 20_000;
    let counts = |session: &Workspace, count: u64| {
        let mask = 0x0123_4567_89ab_cdef;
        let share = if session.role == Role::P1 { mask } else { count.wrapping_sub(mask) };
        WordShares::new(32, vec![share; samples]).unwrap()
    };
    let of_joint = |count: u64, seed| {
        all_at_once(seed, move |session| {
            let counts = counts(session, count);
            let mut mechanism = JointNoise::new(session, NoiseWidths { tau: 24, digits: 6 });
            mechanism.add_noise(spend_one(), &counts).unwrap()
        })
    };
    let of_two = |count: u64, seed| {
        all_at_once(seed, move |session| {
            let counts = counts(session, count);
            TwoPartyNoise::new(session).add_noise(spend_one(), &counts).unwrap()
        })
    };
    let first = of_joint(0, 56);
    assert_fits(&first, &joint);
    assert_private(&first, &of_joint(1, 57), 1.0);
    assert!(!is_private(&first, &of_joint(1, 58), 0.5));
    assert_fits(&of_two(0, 59), &two);
    assert!(!fits(&of_two(0, 60), &joint), "two noises are not one");
}

// --- helpers ---

/// One party's view of the scores of four candidates, two of each party.
fn one_sided(role: Role, scores: [u64; 4]) -> OneSided {
    let own = if role == Role::P1 { &scores[..2] } else { &scores[2..] };
    OneSided { own: own.iter().map(|u| Score::whole(*u).unwrap()).collect(), peer: 2 }
}

/// Draws again and again in one session; both parties must agree each time.
fn by_two_parties(
    seed: u64,
    samples: usize,
    draw: impl Fn(&mut Workspace) -> i64 + Sync,
) -> Histogram {
    let party = |session: &mut Workspace| (0..samples).map(|_| draw(session)).collect::<Vec<_>>();
    agreed(run_workspaces(Setup::default().seed(seed), party, party))
}

/// Draws many values in one go.
fn all_at_once(seed: u64, draw: impl Fn(&mut Workspace) -> Vec<i64> + Sync) -> Histogram {
    let party = |session: &mut Workspace| draw(session);
    agreed(run_workspaces(Setup::default().seed(seed), party, party))
}

fn agreed(outcome: Outcome<Vec<i64>, Vec<i64>>) -> Histogram {
    assert_eq!(outcome.p1, outcome.p2);
    let mut drawn = outcome.p1.into_iter();
    histogram(drawn.len() as u32, || drawn.next().unwrap())
}

fn f64_of(number: &BigUint) -> f64 {
    number.to_string().parse().unwrap()
}

type Histogram = BTreeMap<i64, u64>;

fn histogram(samples: u32, mut draw: impl FnMut() -> i64) -> Histogram {
    let mut counts = Histogram::new();
    for _ in 0..samples {
        *counts.entry(draw()).or_default() += 1;
    }
    counts
}

#[track_caller]
fn assert_fits(drawn: &Histogram, law: &[(i64, f64)]) {
    assert!(fits(drawn, law), "{drawn:?}");
}

/// Pearson's chi-square test at a false-alarm rate of 10^-6. Cells that expect fewer than 10 are
/// put together; an outcome outside the law's support is a misfit.
fn fits(drawn: &Histogram, law: &[(i64, f64)]) -> bool {
    let samples = drawn.values().sum::<u64>() as f64;
    let count = |k: &i64| drawn.get(k).copied().unwrap_or(0) as f64;
    let (mut statistic, mut cells) = (0.0, 0u32);
    let (mut rest_expected, mut rest_seen) = (0.0, 0.0);
    for (k, p) in law {
        let expected = samples * p;
        if expected < 10.0 {
            rest_expected += expected;
            rest_seen += count(k);
        } else {
            statistic += (count(k) - expected).powi(2) / expected;
            cells += 1;
        }
    }
    let inside: f64 = law.iter().map(|(k, _)| count(k)).sum();
    if inside < samples {
        return false;
    }
    if rest_expected > 10.0 {
        statistic += (rest_seen - rest_expected).powi(2) / rest_expected;
        cells += 1;
    }
    // Wilson and Hilferty's approximation of the quantile, good to a percent here.
    let freedom = f64::from(cells - 1);
    let cube = 1.0 - 2.0 / (9.0 * freedom) + Z * (2.0 / (9.0 * freedom)).sqrt();
    statistic < freedom * cube.powi(3)
}

#[track_caller]
fn assert_private(a: &Histogram, b: &Histogram, epsilon: f64) {
    assert!(is_private(a, b, epsilon), "{a:?} {b:?}");
}

/// Whether no outcome is significantly more than e^ε times as frequent on one side as on the other.
/// Both histograms have the same number of samples; the bound on Z allows for all outcomes tested.
fn is_private(a: &Histogram, b: &Histogram, epsilon: f64) -> bool {
    let factor = epsilon.exp();
    let exceeds =
        |x: f64, y: f64| x - factor * y > (Z + 1.0) * (x + factor * factor * y).sqrt() + 5.0;
    a.keys().chain(b.keys()).all(|k| {
        let [x, y] = [a, b].map(|h| h.get(k).copied().unwrap_or(0) as f64);
        !exceeds(x, y) && !exceeds(y, x)
    })
}

/// The largest ratio of a candidate's probabilities over all tables of three candidates with small
/// scores or one that outweighs them, and all neighbours whose scores differ by `changes`.
fn worst_ratio(rate: &Rational, scaling: Scaling, changes: &[i64]) -> Rational {
    let by_score: Vec<BigUint> = {
        let scores: Vec<_> = (0..=31).map(|u| Score::whole(u).unwrap()).collect();
        weights(&scores, rate, scaling).unwrap()
    };
    let probability = |scores: [i64; 3], i: usize| {
        let sum: BigUint = scores.iter().map(|&u| &by_score[u as usize]).sum();
        Rational::new(by_score[scores[i] as usize].clone(), sum).unwrap()
    };
    let triples = |values: &[i64]| -> Vec<[i64; 3]> {
        let pairs = values.iter().flat_map(|&x| values.iter().map(move |&y| (x, y)));
        pairs.flat_map(|(x, y)| values.iter().map(move |&z| [x, y, z])).collect()
    };
    let mut worst = Rational::zero();
    for scores in triples(&[0, 1, 2, 30]) {
        for change in triples(changes) {
            let next = [0, 1, 2].map(|i| scores[i] + change[i]);
            if next.iter().any(|u| !(0..=31).contains(u)) {
                continue;
            }
            for i in 0..3 {
                let (p, q) = (probability(scores, i), probability(next, i));
                let ratio = p.checked_div(&q).unwrap().max(q.checked_div(&p).unwrap());
                worst = worst.max(ratio);
            }
        }
    }
    worst
}

fn choose<M: Choose<Scores = [Scored]>>(
    mechanism: &mut M,
    calibration: &Calibration,
    candidates: &[Scored],
) -> i64 {
    let choice = mechanism.choose(spend_one(), calibration, candidates);
    choice.ok().map_or(-1, |choice| choice.index as i64)
}

fn spend_one() -> Spend {
    let one: Epsilon = "1".parse().unwrap();
    Budget::new(&one).spend_rest("test").unwrap()
}

fn whole(score: u64) -> Scored {
    Scored::single(Score::whole(score).unwrap())
}

fn bernoulli_half(rng: &mut Randomness) -> bool {
    uniform_below(&BigUint::from(2u32), rng) == BigUint::ZERO
}

fn geometric_law(rate: f64) -> Vec<(i64, f64)> {
    let q = (-rate).exp();
    (0..2000).map(|k| (k, (1.0 - q) * q.powi(k as i32))).collect()
}

fn fraction(n: u32, d: u32) -> Rational {
    Rational::new(n, d).unwrap()
}
