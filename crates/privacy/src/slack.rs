//! δ of a run, and the widths of masks, digits and retries that keep it below 2^-40.
//!
//! A run differs from the exact mechanisms in five ways, each bounded in total variation: digits of
//! noise compared at τ bits, noise cut off at 2^D, masks of σ bits, a random value that T tries may
//! not find, and other failures of probability 2^-64, such as that of the matching of people. If
//! the run is within TV of an ε-private one, it is (ε, δ)-private with δ ≤ (1 + e^ε)·TV: Pr[run(D)
//! ∈ A] ≤ Pr[exact(D) ∈ A] + TV ≤ e^ε·Pr[exact(D') ∈ A] + TV ≤ e^ε·Pr[run(D') ∈ A] + (1 + e^ε)·TV.
//! All arithmetic rounds δ upwards.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::Rational;
//! use diptych_privacy::slack::{Noises, PublicBounds};
//!
//! // A run that puts discrete Laplace noise on 1,000 counts and draws 10 random values.
//! let run = PublicBounds {
//!     epsilon: "1".parse()?,
//!     noises: vec![Noises { count: 2 * 1_000, rate: "1/2".parse()? }],
//!     masked_values: 0,
//!     random_values: 10,
//!     failures: 0,
//! };
//! let widths = run.widths()?;
//! assert!(widths.delta <= Rational::power_of_two(-40));
//! // Noise is cut off at 2^7: 2,000·e^(−128/2) is less than 2^-80.
//! assert_eq!(widths.digits, [7]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::num::NonZeroU64;

use num_bigint::BigUint;

use super::digits::{MOST_DIGITS, MOST_TAU};
use super::{Epsilon, Error};
use crate::math::Rational;
use crate::math::exponential::exp_upper;

/// δ stays at or below 2^-40.
pub const DELTA_BITS: u32 = 40;
/// τ, σ and T are at least this.
pub const LEAST_WIDTH: u32 = 64;

/// The part of δ that failures without a width must leave for the other terms: 2^-6.
const SPARE_BITS: u32 = 6;
/// In tenths, an ε that no run with any failure can have: e^17 is more than 2^24.
const MOST_TENTHS: u64 = 170;

/// What is public about a run before it begins.
#[derive(Clone, Debug)]
pub struct PublicBounds {
    /// The run's ε.
    pub epsilon: Epsilon,
    /// The geometric noises that are drawn digit by digit.
    pub noises: Vec<Noises>,
    /// How many values are opened or handed on under a mask (m1·m2 cells).
    pub masked_values: u64,
    /// How many random values are drawn by retrying.
    pub random_values: u64,
    /// In how many other ways a run may fail, each with probability at most 2^-64.
    pub failures: u64,
}

/// Some geometric noises of one rate.
#[derive(Clone, Debug)]
pub struct Noises {
    /// How many; a discrete Laplace noise counts as two.
    pub count: u64,
    /// Their rate per step.
    pub rate: Rational,
}

/// The widths of a run, and its δ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Widths {
    /// τ: length of the random number behind one digit.
    pub tau: u32,
    /// σ: bits by which a mask is wider than what it hides.
    pub sigma: u32,
    /// T: tries for one random value.
    pub tries: u32,
    /// D for each entry of [`PublicBounds::noises`].
    pub digits: Vec<u32>,
    /// An upper bound of δ.
    pub delta: Rational,
}

impl PublicBounds {
    /// The least widths with δ ≤ 2^-40, and that δ.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] if a noise would need more than 62 digits or a width above 256 bits, and
    /// [`Error::FailuresTooLikely`] if δ would be above 2^-40 whatever the widths are.
    pub fn widths(&self) -> Result<Widths, Error> {
        // Decided only by the terms without a width, so that a smaller ε is never rejected where a
        // larger one is accepted.
        if !bears(self.epsilon.value(), self.failures) {
            return Err(self.failures_too_likely());
        }
        // A quarter of the allowed TV for each of the four terms that have a width; the fifth term
        // is mostly smaller than what rounding leaves. If it is not, the four get half of that, and
        // so on.
        for spare in 2..=u64::from(SPARE_BITS) + 3 {
            let widths = self.widths_with(spare)?;
            if widths.delta <= Rational::power_of_two(-(DELTA_BITS as i32)) {
                return Ok(widths);
            }
        }
        Err(self.failures_too_likely())
    }

    fn failures_too_likely(&self) -> Error {
        Error::FailuresTooLikely {
            epsilon: self.epsilon.clone(),
            failures: self.failures,
            most: largest_epsilon(self.failures),
        }
    }

    /// The widths for which each of four terms is at most 2^-(40 + factor + `spare`).
    fn widths_with(&self, spare: u64) -> Result<Widths, Error> {
        let factor = &Rational::whole(1u32) + &exp_upper(self.epsilon.value(), 64);
        let term_bits = u64::from(DELTA_BITS) + spare + ceil_log2(&factor.ceil());
        let all_noises =
            BigUint::from(self.noises.iter().map(|n| u128::from(n.count)).sum::<u128>());
        let tail_bits = term_bits + ceil_log2(&all_noises);
        let digits = self
            .noises
            .iter()
            .map(|noises| digits_for_tail(&noises.rate, tail_bits))
            .collect::<Result<Vec<_>, _>>()?;
        let sampled = self.sampled_digits(&digits);
        let mut widths = Widths {
            tau: width(term_bits + ceil_log2(&sampled), "τ")?,
            sigma: width(term_bits + ceil_log2(&self.masked_values.into()), "σ")?,
            tries: width(term_bits + ceil_log2(&self.random_values.into()), "the number of tries")?,
            digits,
            delta: Rational::zero(),
        };
        widths.delta = self.delta(&widths)?;
        Ok(widths)
    }

    /// An upper bound of δ for given widths, whose `delta` is ignored.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless there is one number of digits for each kind of noise.
    pub fn delta(&self, widths: &Widths) -> Result<Rational, Error> {
        if widths.digits.len() != self.noises.len() {
            let [given, most] = [widths.digits.len(), self.noises.len()].map(|n| n as u64);
            return Err(Error::OutOfRange { what: "the kinds of noise", given, least: most, most });
        }
        let two_to_minus = |bits: u32| Rational::power_of_two(-(bits as i32));
        let sampled = Rational::whole(self.sampled_digits(&widths.digits));
        let mut distance = &sampled * &two_to_minus(widths.tau);
        for (noises, &digits) in self.noises.iter().zip(&widths.digits) {
            let end = &noises.rate * &Rational::power_of_two(digits as i32);
            distance = &distance + &(&Rational::whole(noises.count) * &exp_neg_upper(&end));
        }
        let masks = &Rational::whole(self.masked_values) * &two_to_minus(widths.sigma);
        let tries = &Rational::whole(self.random_values) * &two_to_minus(widths.tries);
        let failures = &Rational::whole(self.failures) * &two_to_minus(LEAST_WIDTH);
        distance = &(&(&distance + &masks) + &tries) + &failures;
        let factor = &Rational::whole(1u32) + &exp_upper(self.epsilon.value(), 64);
        Ok((&factor * &distance).round_up(512))
    }

    fn sampled_digits(&self, digits: &[u32]) -> BigUint {
        let products = self.noises.iter().zip(digits).map(|(n, &d)| BigUint::from(n.count) * d);
        products.sum()
    }
}

/// Whether a run with this ε may fail in so many ways, each with probability 2^-64: (1 + e^ε) times
/// that must leave 2^-6 of δ for everything else. If it may not, it may not with any larger ε
/// either.
pub fn bears(epsilon: &Rational, failures: u64) -> bool {
    let factor = &Rational::whole(1u32) + &exp_upper(epsilon, 64);
    let units = 1u64 << (LEAST_WIDTH - DELTA_BITS);
    failures == 0
        || &factor * &Rational::whole(failures) <= Rational::whole(units - (units >> SPARE_BITS))
}

/// The largest ε with one decimal for which [`bears`] accepts so many failures, at least one.
pub fn largest_epsilon(failures: u64) -> String {
    let borne = |tenths: &u64| {
        Rational::new(*tenths, 10u32).is_some_and(|epsilon| bears(&epsilon, failures))
    };
    let most = (1..MOST_TENTHS).take_while(borne).count();
    format!("{}.{}", most / 10, most % 10)
}

/// The least D with e^(−rate·2^D) ≤ 2^-bits.
fn digits_for_tail(rate: &Rational, bits: u64) -> Result<u32, Error> {
    // ln 2 < 0.6932, and 2500 · 0.6932 = 1733.
    let needed = Rational::whole(bits * 1733).divided_by(NonZeroU64::MIN.saturating_add(2499));
    (1..=MOST_DIGITS).find(|&d| rate * &Rational::power_of_two(d as i32) >= needed).ok_or(
        Error::OutOfRange {
            what: "the number of noise digits",
            given: u64::from(MOST_DIGITS) + 1,
            least: 1,
            most: u64::from(MOST_DIGITS),
        },
    )
}

/// An upper bound of e^−x, a power of two and at least 2^-4096: log2 e > 1.44269.
fn exp_neg_upper(x: &Rational) -> Rational {
    let bits = (x.numerator() * 144_269u32) / (x.denominator() * 100_000u32);
    Rational::power_of_two(-bits.try_into().unwrap_or(4096).min(4096))
}

fn width(bits: u64, what: &'static str) -> Result<u32, Error> {
    let most = u64::from(MOST_TAU);
    if bits > most {
        return Err(Error::OutOfRange { what, given: bits, least: u64::from(LEAST_WIDTH), most });
    }
    Ok((bits as u32).max(LEAST_WIDTH))
}

/// The least k with n ≤ 2^k; 0 for 0.
fn ceil_log2(n: &BigUint) -> u64 {
    if n == &BigUint::ZERO { 0 } else { (n - 1u32).bits() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn bounds(epsilon: &str, count: u64, rate: Rational, cells: u64, choices: u64) -> PublicBounds {
        PublicBounds {
            epsilon: epsilon.parse().unwrap(),
            noises: vec![Noises { count, rate }],
            masked_values: cells,
            random_values: choices,
            failures: 0,
        }
    }

    #[test]
    fn a_run_of_ordinary_size_keeps_the_default_widths() {
        let rate = Rational::new(1u32, 2u32).unwrap();
        let widths = bounds("1", 2 * 1536, rate, 1536, 10).widths().unwrap();
        assert_eq!((widths.tau, widths.sigma, widths.tries), (64, 64, 64));
        assert_eq!(widths.digits, [7]);
        assert!(widths.delta <= Rational::power_of_two(-40));
    }

    #[test]
    fn a_large_run_raises_them() {
        let rate = Rational::new(1u32, 1u64 << 30).unwrap();
        let widths = bounds("10", 1 << 30, rate, 1 << 30, 100).widths().unwrap();
        assert!(widths.tau > 64 && widths.sigma > 64 && widths.digits[0] > 30);
        assert!(widths.delta <= Rational::power_of_two(-40));
    }

    #[test]
    fn a_run_with_nothing_approximate_has_no_delta() {
        let mut none = bounds("1", 0, Rational::whole(1u32), 0, 0);
        none.noises.clear();
        assert!(none.widths().unwrap().delta.is_zero());
    }

    #[test]
    fn failures_that_have_no_width_are_counted_and_too_large_an_epsilon_is_refused() {
        let with = |epsilon: &str| {
            let mut run = bounds(epsilon, 1 << 20, Rational::whole(1u32), u64::MAX, 1 << 19);
            run.failures = 2;
            run
        };
        for epsilon in ["0.1", "1", "10", "15"] {
            let (run, mut none) = (with(epsilon), with(epsilon));
            none.failures = 0;
            let widths = run.widths().unwrap();
            assert!(widths.delta <= Rational::power_of_two(-40), "{epsilon}");
            let more = widths.delta.checked_sub(&none.delta(&widths).unwrap()).unwrap();
            assert!(more >= Rational::power_of_two(-63), "{epsilon}");
        }
        let refused = with("17").widths().unwrap_err();
        assert!(matches!(&refused, Error::FailuresTooLikely { most, .. } if most == "15.9"));
        assert!(refused.to_string().contains("lower `epsilon` to 15.9"), "{refused}");
    }

    #[test]
    fn failures_bound_epsilon_from_above_and_nowhere_else() {
        for failures in [1, 2, 3, 4, 7, 33, 289] {
            let of = |hundredths: u32| {
                let epsilon = format!("{}.{:02}", hundredths / 100, hundredths % 100);
                let mut run = bounds(&epsilon, 1 << 13, Rational::whole(1u32), 0, 8);
                run.failures = failures;
                run.widths()
            };
            let found: Vec<_> = (1..=2000).step_by(3).map(of).collect();
            let runs = found.partition_point(Result::is_ok);
            assert!(runs < found.len() && found[runs..].iter().all(Result::is_err), "{failures}");
            let allowed = Rational::power_of_two(-40);
            assert!(found.iter().flatten().all(|widths| widths.delta <= allowed), "{failures}");
        }
    }

    #[test]
    fn a_rate_that_would_need_endless_digits_is_refused() {
        assert!(bounds("1", 1, Rational::power_of_two(-62), 0, 0).widths().is_err());
        assert!(bounds("1", 1, Rational::zero(), 0, 0).widths().is_err());
        assert!(bounds("9999", 1, Rational::whole(1u32), 0, 0).widths().is_err());
    }

    proptest! {
        #[test]
        fn delta_is_kept_for_all_bounds(
            epsilon in 1u32..20_000, count in 0u64..1 << 40, rate in 1u64..1 << 40,
            cells in 0u64.., choices in 0u64..1 << 20
        ) {
            let epsilon = format!("{}.{:03}", epsilon / 1000, epsilon % 1000);
            let rate = Rational::new(rate, 1u64 << 36).unwrap();
            let bounds = bounds(&epsilon, count, rate, cells, choices);
            let widths = bounds.widths().unwrap();
            prop_assert!(widths.delta <= Rational::power_of_two(-40));
            // With one digit fewer the cut-off would exceed the bound.
            let mut shorter = widths.clone();
            if shorter.digits[0] > 1 {
                shorter.digits[0] -= 1;
                prop_assert!(count == 0 || bounds.delta(&shorter).unwrap() > widths.delta);
            }
        }
    }
}
