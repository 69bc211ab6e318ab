#![doc = include_str!("../README.md")]

#[cfg(feature = "audit")]
pub mod audit;
pub mod budget;
pub mod choice;
pub mod decisions;
pub mod digits;
pub mod epsilon;
pub mod exponential;
pub mod laplace;
pub mod ledger;
pub mod noisy_max;
mod promise;
pub mod sampler;
pub mod slack;
pub mod taylor;

pub use budget::{Budget, Spend};
pub use choice::{AddNoise, Calibration, Choice, Choose, Score, Scored};
pub use epsilon::Epsilon;
pub use promise::{Differential, Promise, Towards};

#[doc(no_inline)]
pub use diptych_primitives::math;
use math::Rational;

/// An error of this package; its message says what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A text is not a privacy budget.
    #[error(
        "epsilon {text:?} {problem}; write a positive decimal number such as \"1.0\" or \"0.25\", \
         with at most 4 digits before the point and 18 after it"
    )]
    Epsilon {
        /// The text, truncated to a printable length.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A spend of zero, on which no mechanism can run.
    #[error("{name:?} would spend nothing; give it a positive part of the budget")]
    EmptySpend {
        /// What it was to be spent on.
        name: String,
    },
    /// The budget does not suffice.
    #[error(
        "{name:?} needs ε {} but only {} is left; lower it or agree on a larger ε",
        wanted.decimal_rounded_up(6), left.decimal_rounded_up(6)
    )]
    BudgetExceeded {
        /// What it was to be spent on.
        name: String,
        /// What it needs.
        wanted: Rational,
        /// What is left.
        left: Rational,
    },
    /// The rounding of weights costs more than the mechanism may spend.
    #[error(
        "rounding of the weights costs ε {} and {name:?} has only {}; use more digits or a larger ε",
        loss.decimal_rounded_up(6), available.decimal_rounded_up(6)
    )]
    RoundingTooCoarse {
        /// The spend.
        name: String,
        /// What rounding costs.
        loss: Rational,
        /// What the mechanism may spend.
        available: Rational,
    },
    /// A number of fraction bits, digits or grid bits that no mechanism supports.
    #[error("{what} is {given}, but must be between {least} and {most}")]
    OutOfRange {
        /// The parameter.
        what: &'static str,
        /// Its value.
        given: u64,
        /// The least value allowed.
        least: u64,
        /// The largest value allowed.
        most: u64,
    },
    /// ε is so large that the failure probability of a run alone would make δ larger than 2^-40.
    #[error(
        "ε is {epsilon}, and at most {most} keeps δ below 2^-40 where a run may fail with a probability of \
         {failures}·2^-64, as matching people in shards may: lower `epsilon` to {most}, or use fewer \
         `shards` or none"
    )]
    FailuresTooLikely {
        /// ε of the run.
        epsilon: Epsilon,
        /// In how many ways it may fail.
        failures: u64,
        /// The largest ε with one decimal.
        most: String,
    },
    /// The sensitivity is zero.
    #[error("a utility with sensitivity 0 does not depend on the data; state its true sensitivity")]
    NoSensitivity,
    /// There is nothing to choose from.
    #[error(
        "there is no candidate to choose from; at least one with a multiplicity above 0 is needed"
    )]
    NoCandidates,
    /// The weights would exceed the supported length.
    #[error(
        "weights of {bits} bits are too long (at most {most}); lower max_records or ε, or select \
         by permute-and-flip, whose cost does not grow with them"
    )]
    WeightsTooLong {
        /// How long they would be.
        bits: u64,
        /// The longest allowed.
        most: u64,
    },
    /// A score is not a multiple of the grid step of the noise.
    #[error(
        "candidate {index} has a score that is not a multiple of 2^-{grid_bits}; use 20 grid bits"
    )]
    OffGrid {
        /// The candidate.
        index: usize,
        /// g: scores are multiples of 2^-g.
        grid_bits: u32,
    },
    /// The rate of a choice is rounded to zero.
    #[error(
        "a rate of {} is 0 at {digits} decimal digits; use more digits or a larger ε",
        rate.decimal_rounded_up(18)
    )]
    RateVanishes {
        /// c of e^(c·u).
        rate: Rational,
        /// Decimal digits s of the rate.
        digits: u32,
    },
    /// A score is not a whole number.
    #[error(
        "the score of candidate {index} is not a whole number; use a utility with whole scores"
    )]
    NotWhole {
        /// The candidate.
        index: usize,
    },
    /// An error of the ledger.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// A tape does not match the mechanism that uses it.
    #[error("the tape does not fit: {0}")]
    Tape(&'static str),
}
