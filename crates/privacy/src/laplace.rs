//! Discrete Laplace noise on counts.
//!
//! *Inputs*: counts of disjoint sets of records, a spend ε. *Output*: each count plus its own
//! noise K, Pr[K = k] ∝ e^(−ε·|k|).
//!
//! *Theorem.* The list of noisy counts is ε-differentially private for adding or removing one
//! record: the record changes one count by 1 (sensitivity 1 in the 1-norm).
//!
//! *Proof sketch.* Pr[K = k]/Pr[K = k ± 1] ≤ e^ε, and the other counts have the same law in both
//! tables. Sums that do not fit 64 bits are clamped, after the noise and so at no cost.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::Randomness;
//! use diptych_privacy::laplace::DiscreteLaplace;
//! use diptych_privacy::{AddNoise, Budget, Epsilon};
//!
//! // One spend for the whole list, as nobody is counted twice.
//! let epsilon: Epsilon = "1".parse()?;
//! let spend = Budget::new(&epsilon).spend_rest("patients by ward")?;
//! let noisy = DiscreteLaplace::new(Randomness::from_os()?).add_noise(spend, &[310, 0, 42])?;
//!
//! assert_eq!(noisy.len(), 3);
//! for (noisy, count) in noisy.iter().zip([310, 0, 42]) {
//!     assert!(noisy.abs_diff(count) < 100, "a noise of 100 comes about once in e^100 runs");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use num_bigint::BigInt;

use super::choice::AddNoise;
use super::decisions::Decisions;
use super::{Error, Spend};

/// The noise of one party that knows all counts.
#[derive(Debug)]
pub struct DiscreteLaplace<D> {
    decisions: D,
}

impl<D: Decisions> DiscreteLaplace<D> {
    /// A mechanism that takes its randomness from `decisions`.
    pub fn new(decisions: D) -> Self {
        Self { decisions }
    }
}

impl<D: Decisions> AddNoise for DiscreteLaplace<D> {
    type Counts = [u64];
    type Error = Error;

    fn add_noise(&mut self, spend: Spend, counts: &[u64]) -> Result<Vec<i64>, Error> {
        counts
            .iter()
            .map(|&count| {
                let noisy = self.decisions.discrete_laplace(spend.epsilon())? + count;
                Ok(clamped(&noisy))
            })
            .collect()
    }
}

fn clamped(value: &BigInt) -> i64 {
    let end = if value.sign() == num_bigint::Sign::Minus { i64::MIN } else { i64::MAX };
    value.try_into().unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Budget;
    use crate::decisions::{Decision, Tape};

    #[test]
    fn every_count_gets_its_own_noise_and_may_become_negative() {
        let epsilon = "1".parse().unwrap();
        let spend = Budget::new(&epsilon).spend("counts", epsilon.value()).unwrap();
        let far = Decision::Noise(BigInt::from(1) << 80);
        let tape = Tape::new([Decision::Noise(2.into()), Decision::Noise((-5).into()), far]);
        let noisy = DiscreteLaplace::new(tape).add_noise(spend, &[10, 1, 0]).unwrap();
        assert_eq!(noisy, [12, -4, i64::MAX]);
    }
}
