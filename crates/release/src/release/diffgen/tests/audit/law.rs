//! The chance of every option of a draw, from the weights and rates that the library itself uses.
//!
//! A chance is a multiple of 2^-512, with an error below 2^-400; none that occurs is below 2^-300,
//! so a quotient of two is known to 2^-100 of itself.

use num_bigint::BigUint;
use num_traits::{One, Zero};

use crate::math::Rational;
use crate::math::exponential::floor_exp_neg;
use crate::privacy::exponential::{Scaling, weights};
use crate::privacy::noisy_max::rate_per_step;
use crate::privacy::taylor::{Taylor, weight};
use crate::privacy::{Calibration, Score};
use crate::release::diffgen::plan::{FRACTION_BITS, GRID_BITS};

/// Fraction bits of a chance.
pub const BITS: u32 = 512;

/// How one of several scored options is drawn.
#[derive(Clone, Copy, Debug)]
pub enum Law {
    Exponential,
    NoisyMax,
    Polynomial(Taylor),
}

/// What a mechanism is expected to ask its decisions for.
pub enum Asks {
    /// One number below the sum of all weights, each of which is here.
    Uniform(Vec<BigUint>),
    /// One noise with this rate for each of so many options.
    Noise(Rational, usize),
}

impl Law {
    /// The chance of each option, and how the mechanism gets there.
    pub fn chances(
        self,
        epsilon: &Rational,
        calibration: &Calibration,
        scores: &[Score],
    ) -> (Vec<BigUint>, Asks) {
        let weights = match self {
            Self::Exponential => {
                let scaling = Scaling::Binary { fraction_bits: FRACTION_BITS };
                let rate = scaling.rate("a draw", epsilon, calibration).unwrap();
                weights(scores, &rate, scaling).unwrap()
            }
            Self::Polynomial(taylor) => {
                let coefficients = taylor.coefficients(&calibration.rate(epsilon)).unwrap();
                scores.iter().map(|score| weight(&coefficients, score.steps() >> 20)).collect()
            }
            Self::NoisyMax => {
                let rate = rate_per_step(&calibration.rate(epsilon), GRID_BITS);
                let steps: Vec<u64> = scores.iter().map(|score| score.steps()).collect();
                let chances = (0..steps.len()).map(|i| wins(i, &steps, &rate)).collect();
                return (chances, Asks::Noise(rate, steps.len()));
            }
        };
        let total: BigUint = weights.iter().sum();
        let chances = weights.iter().map(|weight| (weight << BITS) / &total).collect();
        (chances, Asks::Uniform(weights))
    }
}

/// The chance that score i plus its noise is the largest, ties to the lowest index.
///
/// Given N_i = k, all others stay below with chance Π_j (1 − q^(k + e_j)), e_j = u_i − u_j, and one
/// more where j comes later; it is 0 before k₀, from where on no exponent is negative. With b_j =
/// q^(k₀ + e_j) and Π_j (1 − b_j·x) = Σ_m c_m·x^m, the sum over all k of (1 − q)·q^k times that is
/// q^k₀·Σ_m c_m·(1 − q)/(1 − q^(m+1)), and the last quotient is 1/(1 + q + … + q^m).
fn wins(i: usize, scores: &[u64], rate: &Rational) -> BigUint {
    let one = BigUint::one() << BITS;
    let ahead: Vec<i128> = scores
        .iter()
        .enumerate()
        .filter(|(j, _)| *j != i)
        .map(|(j, score)| i128::from(scores[i]) - i128::from(*score) + i128::from(j > i))
        .collect();
    let first = ahead.iter().map(|e| -e).max().unwrap_or(0).max(0);
    let power =
        |k: i128| floor_exp_neg(&(rate * &Rational::whole(u128::try_from(k).unwrap())), &one);
    // Coefficients c_m without their sign, which is that of (−1)^m.
    let mut coefficients = vec![one.clone()];
    for e in ahead {
        let b = power(first + e);
        coefficients.push(BigUint::zero());
        for m in (1..coefficients.len()).rev() {
            let more = (&coefficients[m - 1] * &b) >> BITS;
            coefficients[m] += more;
        }
    }
    let q = power(1);
    let (mut sum_of_powers, mut next) = (BigUint::zero(), one.clone());
    let (mut positive, mut negative) = (BigUint::zero(), BigUint::zero());
    for (m, coefficient) in coefficients.iter().enumerate() {
        sum_of_powers += &next;
        next = (&next * &q) >> BITS;
        let term = (coefficient << BITS) / &sum_of_powers;
        if m % 2 == 0 { positive += term } else { negative += term }
    }
    ((positive - negative) * power(first)) >> BITS
}

/// The chances that `size` plus discrete Laplace noise is below `least`, and that it is not.
pub fn kept(epsilon: &Rational, size: u64, least: u64) -> Vec<BigUint> {
    let one = BigUint::one() << BITS;
    let q = |k: u64| floor_exp_neg(&(epsilon * &Rational::whole(k)), &one);
    // Pr[K ≥ m] = q^m/(1 + q) for m > 0, and Pr[K < m] = q^(1−m)/(1 + q) for m ≤ 0.
    let tail = |m: u64| (q(m) << BITS) / (&one + q(1));
    if least > size {
        let kept = tail(least - size);
        vec![one - &kept, kept]
    } else {
        let dropped = tail(size - least + 1);
        vec![dropped.clone(), one - dropped]
    }
}

/// The chances of `count` plus discrete Laplace noise: below 0, each number up to `most`, above it.
pub fn noisy(epsilon: &Rational, count: u64, most: u64) -> Vec<BigUint> {
    let one = BigUint::one() << BITS;
    let q: Vec<BigUint> =
        (0..=most + 1).map(|k| floor_exp_neg(&(epsilon * &Rational::whole(k)), &one)).collect();
    let (below, above) = (count + 1, most - count + 1);
    let tail = |k: u64| (&q[k as usize] << BITS) / (&one + &q[1]);
    let exact = |y: u64| {
        let law = (&one - &q[1]) * &q[y.abs_diff(count) as usize];
        law / (&one + &q[1])
    };
    std::iter::once(tail(below)).chain((0..=most).map(exact)).chain([tail(above)]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rational(n: u32, d: u32) -> Rational {
        Rational::new(n, d).unwrap()
    }

    fn assert_adds_up(chances: &[BigUint]) {
        let (sum, one) = (chances.iter().sum::<BigUint>(), BigUint::one() << BITS);
        let error = if sum > one { sum - one } else { one - sum };
        assert!(error.bits() < u64::from(BITS) - 400, "{} bits", error.bits());
    }

    #[test]
    fn the_chances_of_every_law_add_up_to_one() {
        let scores: Vec<Score> = [3, 9, 9, 0, 4, 12].map(|u| Score::whole(u).unwrap()).to_vec();
        let taylor = Law::Polynomial(Taylor::new(4, 5).unwrap());
        for law in [Law::Exponential, Law::NoisyMax, taylor] {
            assert_adds_up(&law.chances(&rational(1, 3), &Calibration::max(), &scores).0);
        }
        for (size, least) in [(3, 9), (9, 9), (12, 9)] {
            assert_adds_up(&kept(&rational(1, 3), size, least));
            assert_adds_up(&noisy(&rational(1, 3), size, 12));
        }
    }

    /// Two options u and u + d: the second wins unless the first's noise is more than d ahead.
    #[test]
    fn a_noisy_maximum_of_two_has_the_law_of_a_difference() {
        let rate = rational(1, 5);
        // Pr[N₁ ≥ N₂ + d] = q^d/(1 + q): to tie is enough for the lower index.
        let one = BigUint::one() << BITS;
        let q = |k: u32| floor_exp_neg(&(&rate * &Rational::whole(k)), &one);
        let expected = (q(7) << BITS) / (&one + q(1));
        let found = wins(0, &[10, 17], &rate);
        let error = if found > expected { found - expected } else { expected - found };
        assert!(error.bits() < u64::from(BITS) - 400);
    }
}
