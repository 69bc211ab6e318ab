//! Geometric noise digit by digit.
//!
//! If N is geometric with Pr[N = k] ∝ e^(−rate·k), its binary digits are independent and digit j
//! is 1 with probability 1/(1 + e^(rate·2^j)): e^(−rate·Σ d_j·2^j) is a product over the digits.
//! So each digit is one comparison of a uniform τ-bit number with a constant, which a circuit
//! does without knowing the noise.
//!
//! *Distance from the exact law*: each constant is a floor, off by less than 2^-τ, and D digits end
//! at 2^D, which N exceeds with probability e^(−rate·2^D). The total variation distance is below
//! D·2^-τ + e^(−rate·2^D); [`super::slack`] adds these up into δ.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::{Randomness, Rational};
//! use diptych_privacy::digits::DigitSampler;
//! use num_bigint::BigUint;
//!
//! // Two digits at rate 1: 2^8/(1 + e) = 68.8… and 2^8/(1 + e²) = 30.5…
//! let sampler = DigitSampler::new(&Rational::whole(1u32), 2, 8)?;
//! let numbers = |list: [u32; 2]| list.map(BigUint::from);
//! assert_eq!(sampler.thresholds(), numbers([68, 30]));
//!
//! // 67 is below the first constant, 30 is not below the second, 29 is.
//! assert_eq!(sampler.noise(&numbers([67, 30])), 0b01);
//! assert_eq!(sampler.noise(&numbers([67, 29])), 0b11);
//! assert!(sampler.sample(&mut Randomness::from_os()?) < 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use num_bigint::BigUint;
use rand::CryptoRng;

use super::Error;
use super::sampler::uniform_below;
use crate::math::Rational;
use crate::math::exponential::floor_logistic;

/// Most binary digits of one noise.
pub const MOST_DIGITS: u32 = 62;
/// Longest random number that a digit is compared with.
pub const MOST_TAU: u32 = 256;

/// The constants ⌊2^τ / (1 + e^(rate·2^j))⌋ for j = 0, 1, …: digit j is 1 if a uniform τ-bit
/// number is smaller than the j-th.
///
/// # Errors
/// [`Error::OutOfRange`] for a zero rate, for more than [`MOST_DIGITS`] digits and for a τ that
/// is 0 or above [`MOST_TAU`].
pub fn digit_thresholds(rate: &Rational, digits: u32, tau: u32) -> Result<Vec<BigUint>, Error> {
    let range = |what, given: u32, most: u32| {
        let (given, most) = (u64::from(given), u64::from(most));
        (1..=most).contains(&given).then_some(()).ok_or(Error::OutOfRange {
            what,
            given,
            least: 1,
            most,
        })
    };
    range("the number of noise digits", digits, MOST_DIGITS)?;
    range("the length of a digit's random number", tau, MOST_TAU)?;
    if rate.is_zero() {
        let what = "the rate of the noise";
        return Err(Error::OutOfRange { what, given: 0, least: 1, most: u64::MAX });
    }
    Ok(thresholds(rate, digits, tau))
}

fn thresholds(rate: &Rational, digits: u32, tau: u32) -> Vec<BigUint> {
    let exponents = (0..digits).map(|j| rate * &Rational::power_of_two(j as i32));
    exponents.map(|exponent| floor_logistic(&exponent, tau)).collect()
}

/// Draws geometric noise by its digits: the number of random numbers and comparisons does not
/// depend on the outcome, though a single comparison of big numbers is not constant-time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DigitSampler {
    rate: Rational,
    thresholds: Vec<BigUint>,
    tau: u32,
}

impl DigitSampler {
    /// A sampler for one rate.
    ///
    /// # Errors
    /// Those of [`digit_thresholds`].
    pub fn new(rate: &Rational, digits: u32, tau: u32) -> Result<Self, Error> {
        Ok(Self { rate: rate.clone(), thresholds: digit_thresholds(rate, digits, tau)?, tau })
    }

    /// The constants for random numbers that are one bit longer: floors that are off by less than
    /// 2^-(τ + 1).
    pub fn finer_thresholds(&self) -> Vec<BigUint> {
        thresholds(&self.rate, self.thresholds.len() as u32, self.tau + 1)
    }

    /// The constants that the digits are compared with, digit 0 first.
    pub fn thresholds(&self) -> &[BigUint] {
        &self.thresholds
    }

    /// The length of the random numbers, in bits.
    pub fn tau(&self) -> u32 {
        self.tau
    }

    /// One noise value.
    pub fn sample(&self, rng: &mut impl CryptoRng) -> u64 {
        let bound = BigUint::from(1u32) << self.tau;
        let uniforms: Vec<_> = self.thresholds.iter().map(|_| uniform_below(&bound, rng)).collect();
        self.noise(&uniforms)
    }

    /// The noise that given uniform numbers produce, digit 0 first: what the circuits compute.
    pub fn noise(&self, uniforms: &[BigUint]) -> u64 {
        let digits = uniforms.iter().zip(&self.thresholds).map(|(u, threshold)| u < threshold);
        digits.enumerate().fold(0, |noise, (j, digit)| noise | u64::from(digit) << j)
    }

    /// The exact probability that this sampler draws `noise`, roundings included.
    pub fn probability(&self, noise: u64) -> Rational {
        let total = BigUint::from(1u32) << self.tau;
        if noise >> self.thresholds.len() != 0 {
            return Rational::zero();
        }
        let ways =
            self.thresholds.iter().enumerate().fold(BigUint::from(1u32), |ways, (j, threshold)| {
                match noise >> j & 1 {
                    1 => ways * threshold,
                    _ => ways * (&total - threshold),
                }
            });
        let scale = -((self.thresholds.len() as u32 * self.tau) as i32);
        &Rational::whole(ways) * &Rational::power_of_two(scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exponential::floor_exp_neg;

    fn rate(n: u32, d: u32) -> Rational {
        Rational::new(n, d).unwrap()
    }

    #[test]
    fn the_probabilities_of_a_sampler_add_up_to_one() {
        let sampler = DigitSampler::new(&rate(1, 3), 6, 10).unwrap();
        let total = (0..64).fold(Rational::zero(), |sum, k| &sum + &sampler.probability(k));
        assert_eq!(total, Rational::whole(1u32));
        assert_eq!(sampler.probability(64), Rational::zero());
    }

    #[test]
    fn the_distance_from_the_geometric_law_is_within_the_stated_bound() {
        let (digits, tau, rate) = (7, 12, rate(1, 10));
        let sampler = DigitSampler::new(&rate, digits, tau).unwrap();
        let one = BigUint::from(1u32) << 100;
        let exact = |k: u64| {
            // (1 − e^−rate)·e^(−rate·k), within 2^-98
            let power = |k| floor_exp_neg(&(&rate * &Rational::whole(k)), &one);
            Rational::new(power(k) - power(k + 1), one.clone()).unwrap()
        };
        let mut twice_distance = Rational::zero();
        for k in 0..128 {
            let (p, q) = (sampler.probability(k), exact(k));
            let difference = p.checked_sub(&q).or_else(|| q.checked_sub(&p)).unwrap();
            twice_distance = &twice_distance + &difference;
        }
        let tail = floor_exp_neg(&(&rate * &Rational::whole(128u32)), &one);
        let tail = Rational::new(tail, one).unwrap();
        let distance = &(&twice_distance + &tail) * &Rational::power_of_two(-1);
        let bound = &(&Rational::whole(digits) * &Rational::power_of_two(-(tau as i32))) + &tail;
        assert!(distance < bound, "{distance} against {bound}");
        assert!(!distance.is_zero());
    }

    #[test]
    fn finer_constants_are_the_same_with_a_bit_more() {
        let sampler = DigitSampler::new(&rate(1, 10), 7, 12).unwrap();
        let finer = sampler.finer_thresholds();
        assert_eq!(finer, digit_thresholds(&rate(1, 10), 7, 13).unwrap());
        assert!(
            finer.iter().zip(sampler.thresholds()).all(|(fine, coarse)| &(fine >> 1u32) == coarse)
        );
    }

    #[test]
    fn digits_of_no_weight_get_the_threshold_zero() {
        let thresholds = digit_thresholds(&rate(1, 1), 20, 16).unwrap();
        assert_eq!(thresholds[0], BigUint::from(17_625u32)); // 65536/(1+e) = 17625.3…
        assert!(thresholds[5..].iter().all(|t| t == &BigUint::ZERO));
    }

    #[test]
    fn parameters_without_sense_are_refused() {
        assert!(digit_thresholds(&Rational::zero(), 4, 16).is_err());
        assert!(digit_thresholds(&rate(1, 1), 0, 16).is_err());
        assert!(digit_thresholds(&rate(1, 1), 63, 16).is_err());
        assert!(digit_thresholds(&rate(1, 1), 4, 0).is_err());
        assert!(digit_thresholds(&rate(1, 1), 4, 257).is_err());
    }
}
