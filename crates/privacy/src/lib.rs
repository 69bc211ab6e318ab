//! Exact samplers, the traits for choosing and noising with their single-party forms, budget
//! accounting, the ledger. It knows nothing of networks.
//!
//! | page | what it is for |
//! | --- | --- |
//! | [`epsilon`] | ε from a decimal string, exactly |
//! | [`sampler`] | Bernoulli(e^−x), geometric and discrete Laplace without a float |
//! | [`digits`] | geometric noise digit by digit: the constants that circuits compare with |
//! | [`decisions`] | where a mechanism gets its randomness: a generator, or a tape in tests |
//! | [`choice`] | scores, calibration, the traits [`Choose`] and [`AddNoise`] |
//! | [`exponential`] | the exponential mechanism with exact whole weights |
//! | [`taylor`] | the same with the thesis' polynomial in place of e^x, for horizontal data |
//! | [`noisy_max`] | the largest score after geometric noise (permute-and-flip) |
//! | [`laplace`] | discrete Laplace noise on counts |
//! | [`budget`] | spending ε: the right to run one mechanism, at most once |
//! | [`slack`] | δ of a run, and the widths that keep it below 2^-40 |
//! | [`ledger`] | what was spent on a data set, for ever |
//! | `audit` | test vectors, with the feature `audit` |
//!
//! Neighbours are tables that differ by one record added or removed, everywhere in this package.
//!
//! *Attacks avoided.* No probability passes through a float, so the low bits of an output cannot
//! give its input away (Mironov 2012); no budget is spent twice, since a [`Spend`] cannot be
//! copied. *Not avoided here*: running times. Samplers loop and weights are as long as scores are
//! high, so whoever speaks to a peer draws noise and computes weights before the phase that uses
//! them ([`digits::DigitSampler`] alone draws and compares equally often whatever the outcome).
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::Randomness;
//! use diptych_privacy::exponential::{Exponential, Scaling};
//! use diptych_privacy::laplace::DiscreteLaplace;
//! use diptych_privacy::{AddNoise, Budget, Calibration, Scored, Choose, Epsilon, Score};
//!
//! // Which of three illnesses is the most common, and about how many people have it?
//! let people = [210, 710, 8];
//! let (epsilon, half): (Epsilon, Epsilon) = ("1".parse()?, "0.5".parse()?);
//! let mut budget = Budget::new(&epsilon);
//! let mut rng = Randomness::from_os()?;
//!
//! let scores = people.iter().filter_map(|count| Score::whole(*count));
//! let candidates: Vec<Scored> = scores.map(Scored::single).collect();
//! let mut mechanism = Exponential::new(Scaling::Binary { fraction_bits: 64 }, rng.fork());
//! let spend = budget.spend("which", half.value())?;
//! let winner = mechanism.choose(spend, &Calibration::max(), &candidates)?.index;
//!
//! let spend = budget.spend_rest("how many")?;
//! let count = DiscreteLaplace::new(rng).add_noise(spend, &[people[winner]])?[0];
//!
//! // Another illness wins about once in e^250 runs, and the noise is as seldom so large.
//! assert_eq!(winner, 1);
//! assert!(count.abs_diff(710) < 500);
//! assert!(budget.remaining().is_zero());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use promise::Promise;

use diptych_primitives::math;
use math::Rational;

/// What went wrong in this room, and what to do about it.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A text is not a privacy budget.
    #[error(
        "epsilon {text:?} {problem}; write a positive decimal number such as \"1.0\" or \"0.25\", \
         with at most 4 digits before the point and 18 after it"
    )]
    Epsilon {
        /// The text, cut to a printable length.
        text: String,
        /// What is wrong with it.
        problem: &'static str,
    },
    /// A spend of nothing: a mechanism cannot run on it.
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
    /// The sensitivity is zero.
    #[error("a utility with sensitivity 0 does not depend on the data; state its true sensitivity")]
    NoSensitivity,
    /// There is nothing to choose from.
    #[error(
        "there is no candidate to choose from; at least one with a multiplicity above 0 is needed"
    )]
    NoCandidates,
    /// The weights would be longer than a machine should be asked to handle.
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
    /// A score has digits below the grid of the noise.
    #[error(
        "candidate {index} has a score that is not a multiple of 2^-{grid_bits}; use 20 grid bits"
    )]
    OffGrid {
        /// The candidate.
        index: usize,
        /// g: scores are multiples of 2^-g.
        grid_bits: u32,
    },
    /// The rate of a choice has no digit left.
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
    /// The ledger stands in the way.
    #[error(transparent)]
    Ledger(#[from] ledger::Error),
    /// A tape does not fit the mechanism that it drives.
    #[error("the tape does not fit: {0}")]
    Tape(&'static str),
}
