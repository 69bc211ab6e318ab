//! Samplers whose output has exactly the stated law: only whole numbers are compared.
//!
//! After Canonne, Kamath and Steinke, *The Discrete Gaussian for Differential Privacy* (2020),
//! algorithms 1 and 2. Rates are rational. Expected cost: a few dozen uniform numbers per sample,
//! whatever the rate. The running time depends on the sample: draw before the phase that uses it.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::{Randomness, Rational};
//! use diptych_privacy::sampler::enumeration::Law;
//! use diptych_privacy::sampler::{bernoulli_exp, discrete_laplace};
//! use num_bigint::BigInt;
//!
//! let half: Rational = "1/2".parse()?;
//! let noise = discrete_laplace(&half, &mut Randomness::from_os()?);
//! assert!(BigInt::from(-200) < noise && noise < BigInt::from(200), "beyond: once in e^100 runs");
//!
//! // Not a sample but the law, from all paths that are likelier than 2^-20: e^(−1/2) = 0.6065…
//! let law = Law::of(20, |path| bernoulli_exp(&half, path));
//! let probability = &law.at_least[&true];
//! assert!(probability > &"6065/10000".parse()? && probability < &"6066/10000".parse()?);
//! assert!(law.unresolved < Rational::power_of_two(-17), "what the unlikelier paths weigh");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod enumeration;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Zero};
use rand::CryptoRng;

use crate::math::Rational;

/// The source of the samplers: uniform numbers.
///
/// Implemented by every cryptographic generator, and by [`enumeration::Path`], which follows each
/// possible sequence of answers in turn and so finds the exact law of a sampler.
pub trait Uniform {
    /// A uniform whole number below `bound`; 0 if the bound is 0.
    fn below(&mut self, bound: &BigUint) -> BigUint;

    /// True with probability n/d, for n ≤ d.
    fn happens(&mut self, n: &BigUint, d: &BigUint) -> bool {
        &self.below(d) < n
    }
}

impl<R: CryptoRng> Uniform for R {
    fn below(&mut self, bound: &BigUint) -> BigUint {
        uniform_below(bound, self)
    }
}

/// A uniform whole number below `bound`, by rejection; 0 if the bound is 0.
pub fn uniform_below(bound: &BigUint, rng: &mut impl CryptoRng) -> BigUint {
    if bound.is_zero() {
        return BigUint::zero();
    }
    let bits = (bound - 1u32).bits();
    loop {
        let candidate = uniform_of_bits(bits, rng);
        if &candidate < bound {
            return candidate;
        }
    }
}

/// A uniform whole number below 2^bits.
pub fn uniform_of_bits(bits: u64, rng: &mut impl CryptoRng) -> BigUint {
    let mut bytes = vec![0u8; bits.div_ceil(8) as usize];
    rng.fill_bytes(&mut bytes);
    let excess = (8 * bytes.len() as u64 - bits) as u32;
    if let Some(top) = bytes.last_mut() {
        *top &= 0xff >> excess;
    }
    BigUint::from_bytes_le(&bytes)
}

/// True with probability e^−x.
pub fn bernoulli_exp(x: &Rational, source: &mut impl Uniform) -> bool {
    let (whole, rest) = x.numerator().div_rem(x.denominator());
    // e^−x = (e^−1)^whole · e^−rest; a failure ends the loop, so a large x costs nothing.
    let mut left = whole;
    while !left.is_zero() {
        if !bernoulli_exp_fraction(&BigUint::one(), &BigUint::one(), source) {
            return false;
        }
        left -= 1u32;
    }
    bernoulli_exp_fraction(&rest, x.denominator(), source)
}

/// Geometric noise: k ≥ 0 with probability (1 − q)·q^k, q = e^−rate, for a positive rate.
///
/// The law of ⌊X/a⌋ for rate a/b, where X has rate 1/b: its remainder modulo b and its
/// quotient are independent, the first an e^−u/b-thinned uniform, the second counted one by one.
pub fn geometric(rate: &Rational, source: &mut impl Uniform) -> BigUint {
    let (a, b) = (rate.numerator(), rate.denominator());
    if a.is_zero() {
        return BigUint::zero(); // no such law; callers refuse a rate of zero
    }
    let remainder = loop {
        let u = source.below(b);
        if bernoulli_exp_fraction(&u, b, source) {
            break u;
        }
    };
    let mut quotient = 0u64;
    while bernoulli_exp_fraction(&BigUint::one(), &BigUint::one(), source) {
        quotient += 1;
    }
    (remainder + b * quotient) / a
}

/// Discrete Laplace noise: k with probability ∝ e^(−rate·|k|), for a positive rate.
pub fn discrete_laplace(rate: &Rational, source: &mut impl Uniform) -> BigInt {
    loop {
        let negative = source.happens(&BigUint::one(), &BigUint::from(2u32));
        let magnitude = geometric(rate, source);
        // Zero occurs with both signs: one of them is rejected.
        if !(negative && magnitude.is_zero()) {
            let value = BigInt::from(magnitude);
            return if negative { -value } else { value };
        }
    }
}

/// True with probability e^−(n/d), for n ≤ d.
///
/// Draws true with probability x, x/2, x/3, … until one is false: the chance that the first
/// false is the k-th is x^(k−1)/(k−1)! − x^k/k!, and its sum over odd k is e^−x.
fn bernoulli_exp_fraction(n: &BigUint, d: &BigUint, source: &mut impl Uniform) -> bool {
    let mut k = 1u64;
    while source.happens(n, &(d * k)) {
        k += 1;
    }
    k % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Randomness;

    #[test]
    fn uniform_numbers_stay_below_the_bound_and_reach_its_ends() {
        let mut rng = Randomness::seeded(1);
        for bound in [1u32, 2, 3, 255, 256, 257] {
            let bound = BigUint::from(bound);
            let drawn: Vec<_> = (0..4000).map(|_| uniform_below(&bound, &mut rng)).collect();
            assert!(drawn.iter().all(|value| value < &bound));
            assert!(drawn.contains(&BigUint::zero()) && drawn.contains(&(&bound - 1u32)));
        }
    }

    #[test]
    fn certain_events_are_certain() {
        let mut rng = Randomness::seeded(2);
        assert!((0..100).all(|_| bernoulli_exp(&Rational::zero(), &mut rng)));
        // The result is false, with probability 1 − e^−10000, and does not take 10,000 steps.
        assert!(!bernoulli_exp(&Rational::whole(10_000u32), &mut rng));
    }

    #[test]
    fn a_very_large_rate_gives_no_noise_and_a_tiny_rate_gives_much() {
        let mut rng = Randomness::seeded(3);
        assert!(geometric(&Rational::whole(1000u32), &mut rng).is_zero());
        assert!(geometric(&Rational::power_of_two(-200), &mut rng).bits() > 150);
    }
}
