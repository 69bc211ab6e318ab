//! Where a mechanism gets its randomness: from a generator, or from a tape in tests.
//!
//! Mechanisms ask for *decisions* (a uniform R, a noise value), not for bits, so the single-party
//! and the two-party form of a mechanism can use the same tape.

#[cfg(any(test, feature = "testing"))]
use std::collections::VecDeque;

use num_bigint::{BigInt, BigUint};
use rand::CryptoRng;

use super::{Error, sampler};
use crate::math::Rational;

/// A source of random decisions.
pub trait Decisions {
    /// A uniform whole number below `bound`.
    ///
    /// # Errors
    /// Only a tape fails.
    fn uniform_below(&mut self, bound: &BigUint) -> Result<BigUint, Error>;

    /// A uniform whole number below a bound that is computed exactly only if necessary.
    ///
    /// # Errors
    /// Those of the bound, and of a tape.
    fn uniform_below_sum(&mut self, sum: &dyn Sum) -> Result<BigUint, Error> {
        self.uniform_below(&sum.exact()?)
    }

    /// One-sided geometric noise: k ≥ 0 with probability ∝ e^(−rate·k).
    ///
    /// # Errors
    /// Only a tape fails.
    fn geometric(&mut self, rate: &Rational) -> Result<BigUint, Error>;

    /// Discrete Laplace noise: k with probability ∝ e^(−rate·|k|).
    ///
    /// # Errors
    /// Only a tape fails.
    fn discrete_laplace(&mut self, rate: &Rational) -> Result<BigInt, Error>;
}

/// A sum whose exact value is computed only on request, since that can be expensive.
pub trait Sum {
    /// Bits of the largest whole number below it.
    ///
    /// # Errors
    /// Those of [`Sum::exact`].
    fn bits_below(&self) -> Result<u64, Error>;

    /// Whether a number is below the sum.
    ///
    /// # Errors
    /// Those of [`Sum::exact`].
    fn is_above(&self, number: &BigUint) -> Result<bool, Error>;

    /// The exact sum.
    ///
    /// # Errors
    /// If it cannot be computed.
    fn exact(&self) -> Result<BigUint, Error>;
}

/// Every cryptographic generator decides exactly, with the samplers of this package.
impl<R: CryptoRng> Decisions for R {
    fn uniform_below(&mut self, bound: &BigUint) -> Result<BigUint, Error> {
        Ok(sampler::uniform_below(bound, self))
    }

    fn uniform_below_sum(&mut self, sum: &dyn Sum) -> Result<BigUint, Error> {
        let bits = sum.bits_below()?;
        loop {
            let candidate = sampler::uniform_of_bits(bits, self);
            if sum.is_above(&candidate)? {
                return Ok(candidate);
            }
        }
    }

    fn geometric(&mut self, rate: &Rational) -> Result<BigUint, Error> {
        Ok(sampler::geometric(rate, self))
    }

    fn discrete_laplace(&mut self, rate: &Rational) -> Result<BigInt, Error> {
        Ok(sampler::discrete_laplace(rate, self))
    }
}

/// One decision on a tape.
#[cfg(any(test, feature = "testing"))]
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Decision {
    /// A uniform number R.
    Uniform(BigUint),
    /// A noise value, one-sided or two-sided.
    Noise(BigInt),
}

/// Decisions made in advance. The command is built without it: a tape gives no privacy.
#[cfg(any(test, feature = "testing"))]
#[derive(Clone, Debug, Default)]
pub struct Tape(VecDeque<Decision>);

#[cfg(any(test, feature = "testing"))]
impl Tape {
    /// A tape of given decisions, the first one first.
    pub fn new(decisions: impl IntoIterator<Item = Decision>) -> Self {
        Self(decisions.into_iter().collect())
    }

    /// A tape of uniform numbers.
    pub fn of_uniforms<T: Into<BigUint>>(values: impl IntoIterator<Item = T>) -> Self {
        Self::new(values.into_iter().map(|value| Decision::Uniform(value.into())))
    }

    /// A tape of noise values.
    pub fn of_noise<T: Into<BigInt>>(values: impl IntoIterator<Item = T>) -> Self {
        Self::new(values.into_iter().map(|value| Decision::Noise(value.into())))
    }

    /// How many decisions are left.
    pub fn remaining(&self) -> usize {
        self.0.len()
    }

    /// The same tape, truncated after so many decisions.
    #[must_use]
    pub fn beginning(&self, decisions: usize) -> Self {
        Self::new(self.0.iter().take(decisions).cloned())
    }

    /// Skips decisions that another party makes.
    pub fn skip(&mut self, decisions: usize) {
        self.0.drain(..decisions.min(self.0.len()));
    }

    fn next_uniform(
        &mut self,
        below: impl FnOnce(&BigUint) -> Result<bool, Error>,
    ) -> Result<BigUint, Error> {
        match self.0.pop_front() {
            Some(Decision::Uniform(value)) if below(&value)? => Ok(value),
            Some(Decision::Uniform(_)) => Err(Error::Tape("R is not below its bound")),
            Some(Decision::Noise(_)) => Err(Error::Tape("R is needed, a noise value comes next")),
            None => Err(Error::Tape("it has ended")),
        }
    }

    fn next_noise(&mut self) -> Result<BigInt, Error> {
        match self.0.pop_front() {
            Some(Decision::Noise(value)) => Ok(value),
            Some(Decision::Uniform(_)) => Err(Error::Tape("a noise value is needed, R comes next")),
            None => Err(Error::Tape("it has ended")),
        }
    }
}

#[cfg(any(test, feature = "testing"))]
impl Decisions for Tape {
    fn uniform_below(&mut self, bound: &BigUint) -> Result<BigUint, Error> {
        self.next_uniform(|value| Ok(value < bound))
    }

    fn uniform_below_sum(&mut self, sum: &dyn Sum) -> Result<BigUint, Error> {
        self.next_uniform(|value| sum.is_above(value))
    }

    fn geometric(&mut self, _rate: &Rational) -> Result<BigUint, Error> {
        let noise = self.next_noise()?;
        noise.to_biguint().ok_or(Error::Tape("one-sided noise is never negative"))
    }

    fn discrete_laplace(&mut self, _rate: &Rational) -> Result<BigInt, Error> {
        self.next_noise()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_gives_its_decisions_in_order_and_no_other_kind() {
        let rate = Rational::whole(1u32);
        let mut tape = Tape::new([
            Decision::Uniform(7u32.into()),
            Decision::Noise((-3).into()),
            Decision::Noise((-3).into()),
            Decision::Uniform(9u32.into()),
            Decision::Noise(1.into()),
        ]);
        assert_eq!(tape.uniform_below(&8u32.into()).unwrap(), 7u32.into());
        assert_eq!(tape.discrete_laplace(&rate).unwrap(), (-3).into());
        assert!(tape.geometric(&rate).is_err(), "negative");
        assert!(tape.uniform_below(&9u32.into()).is_err(), "not below");
        assert!(tape.uniform_below(&9u32.into()).is_err(), "noise");
        assert_eq!(tape.remaining(), 0);
        assert!(tape.geometric(&rate).is_err(), "ended");
    }
}
