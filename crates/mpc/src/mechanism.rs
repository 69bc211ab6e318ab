//! The traits of `privacy` run by two parties: noisy maximum, noise on counts. Nothing here uses
//! tables. The exponential mechanism by two parties is in [`paper`](crate::paper): no default uses it.
//!
//! | module | what it is for |
//! | --- | --- |
//! | [`noisy_max`] | the largest score after geometric noise (permute-and-flip) |
//! | [`best`] | the best candidate, and the best split, by counts that two parties hold apart |
//! | [`heads`] | which of two parties has the better candidate |
//! | [`largest`] | the largest class count of groups of records, as shares |
//! | [`noise`] | discrete Laplace noise on shared counts: each party's own, or one joint noise |
//! | [`validity`] | whether all cells of a shared table are as required, as one bit |
//! | [`gallery`] | the circuits of these mechanisms that are exported for review |
//!
//! Each mechanism borrows a [`Session`](crate::protocol::Session) with its garbled circuits and
//! coins, or a [`Workspace`](crate::protocol::Workspace) where it draws noise or works in bulk, implements [`Choose`](crate::privacy::Choose) or
//! [`AddNoise`](crate::privacy::AddNoise), and gives both parties the same output. What it opens is
//! the output of a differentially private mechanism and nothing else; all widths come from public
//! bounds. Semi-honest, as everything below it. ([`best`], [`heads`] and [`validity`] open exact results,
//! for models that promise no ε.)
//!
//! *Time.* Between two messages of a mechanism nothing runs whose time depends on a secret. Before
//! the first message there is the making of weights, which takes longer for high scores, and the
//! drawing of a party's own noise, which is a loop: the latter can be done before the counts are
//! made ([`noise::OwnNoise::draw`]), or without one ([`noise::OwnNoise::draw_digits`]).
//!
//! # Example
//!
//! Two hospitals publish which of three illnesses is the most common, and about how many of their
//! patients together have it. Neither shows the other its numbers.
//!
//! ```
//! use diptych_mpc::mechanism::noise::TwoPartyNoise;
//! use diptych_mpc::mechanism::noisy_max::{NoiseWidths, NoisyMax, Scores};
//! use diptych_mpc::Error;
//! use diptych_mpc::privacy::{AddNoise, Budget, Calibration, Choose, Epsilon, Score};
//! use diptych_mpc::protocol::Workspace;
//! use diptych_mpc::protocol::pair::{Setup, run_workspaces};
//! use diptych_mpc::protocol::shares::WordShares;
//!
//! let (epsilon, half): (Epsilon, Epsilon) = ("1".parse()?, "0.5".parse()?);
//! let publish = |session: &mut Workspace, own: &[u64]| -> Result<(usize, i64), Error> {
//!     let mut budget = Budget::new(&epsilon);
//!     let which = budget.spend("which", half.value())?;
//!     let how_many = budget.spend_rest("how many")?;
//!     let counts = WordShares::new(32, own.to_vec())?;
//!
//!     let (largest, widths) = (Score::from_steps(1 << 40), NoiseWidths { tau: 64, digits: 17 });
//!     let mut choice = NoisyMax::new(session, 10, largest, widths)?;
//!     let winner = choice.choose(which, &Calibration::max(), &Scores::Shared(counts))?.index;
//!
//!     let count = WordShares::new(32, vec![own[winner]])?;
//!     Ok((winner, TwoPartyNoise::new(session).add_noise(how_many, &count)?[0]))
//! };
//! let outcome = run_workspaces(
//!     Setup::default(),
//!     |session| publish(session, &[90, 400, 3]),
//!     |session| publish(session, &[120, 310, 5]),
//! );
//! let ((winner, count), at_peer) = (outcome.p1?, outcome.p2?);
//! assert_eq!((winner, count), at_peer);
//! // The second has 500 more than the first, and noise stays below 2^17 steps of 2^-10.
//! assert_eq!(winner, 1);
//! assert!(count.abs_diff(710) < 200);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod best;
pub mod gallery;
pub mod heads;
pub mod largest;
pub mod noise;
pub mod noisy_max;
pub mod validity;

mod digits;
#[cfg(test)]
pub(crate) mod tests;

use crate::Error;
use crate::privacy::Score;

/// Scores of which each party knows its own (vertical data): P1's candidates come first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OneSided {
    /// The scores of this party's candidates.
    pub own: Vec<Score>,
    /// How many candidates the peer has.
    pub peer: usize,
}

pub(crate) fn too_many(what: &str, given: usize, most: usize) -> Error {
    Error::internal(format!("{given} {what} are too many: at most {most} are possible"))
}

/// Counts that do not have one number per class.
pub(crate) fn other_counts() -> Error {
    Error::internal("every child of every candidate needs one count per class; count them alike")
}

/// The sum of a count and its noise does not fit the ring of the shares.
fn ring_too_narrow(given: u32, least: u32) -> Error {
    Error::internal(format!(
        "counts shared over {given} bits leave no room for their noise: share them over at least \
         {least}"
    ))
}

/// The circuit's result is not the number of a candidate.
pub(crate) fn no_such_candidate(index: usize, count: usize) -> Error {
    Error::peer(format!(
        "the peers' circuit named candidate {index} of {count}; the run was aborted"
    ))
}

/// The number of bits that hold 0, …, n − 1.
pub(crate) fn bits_to_count(n: usize) -> usize {
    (usize::BITS - n.saturating_sub(1).leading_zeros()) as usize
}

/// The number with these bits, least significant first; bits beyond 64 are dropped.
pub(crate) fn word(bits: &[bool]) -> u64 {
    bits.iter().take(64).enumerate().fold(0, |word, (i, bit)| word | u64::from(*bit) << i)
}

/// Appends the lowest `width` bits of `value`.
pub(crate) fn push_word(value: u64, width: usize, into: &mut Vec<bool>) {
    into.extend((0..width).map(|i| i < 64 && value >> i & 1 == 1));
}
