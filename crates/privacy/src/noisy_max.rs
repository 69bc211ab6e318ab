//! Noisy maximum: geometric noise on every score, the largest wins, ties to the lowest index.
//!
//! *Inputs*: candidates with scores on a grid of step 2^-g, a spend ε', the utility's Δ.
//! *Output*: argmax_i (u_i·2^g + N_i), N_i independent with Pr[N = k] ∝ e^(−c·2^-g·k), k ≥ 0.
//!
//! *Theorem.* The choice is ε'-differentially private for adding or removing one record, where
//! |u_i(D) − u_i(D')| ≤ Δ, with c = ε'/(2Δ), or c = ε'/Δ for a monotone utility. Nothing is lost
//! to the grid or to ties.
//!
//! *Proof sketch.* Fix the noise of all candidates but i; i wins if N_i ≥ t_i for a threshold t_i
//! that the others set. From D to D' t_i moves by at most 2Δ·2^g steps (monotone: Δ·2^g, as all
//! scores move the same way). The law is memoryless: Pr[N ≥ t + k] ≥ e^(−c·2^-g·k)·Pr[N ≥ t], so
//! Pr[i wins] changes by a factor of e^ε' at most, whatever the others' noise. As g grows the
//! choice approaches permute-and-flip, which is never worse than the exponential mechanism.
//!
//! *Cost*: one noise value per candidate (per grid point of a run), whatever the scores are.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::Randomness;
//! use diptych_privacy::noisy_max::NoisyMax;
//! use diptych_privacy::{Budget, Calibration, Choose, Epsilon, Score, Scored};
//!
//! let epsilon: Epsilon = "1".parse()?;
//! let spend = Budget::new(&epsilon).spend_rest("a candidate")?;
//! let scores = [10, 90, 11].into_iter().filter_map(Score::whole);
//! let candidates: Vec<Scored> = scores.map(Scored::single).collect();
//!
//! let mut mechanism = NoisyMax::new(20, Randomness::from_os()?)?;
//! let winner = mechanism.choose(spend, &Calibration::max(), &candidates)?;
//! assert_eq!(winner.index, 1, "another wins about once in e^79 runs");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use num_bigint::BigUint;

use super::choice::{Calibration, Choice, Choose, SCORE_GRID_BITS, Scored, total_multiplicity};
use super::decisions::Decisions;
use super::{Error, Spend};
use crate::math::Rational;

/// Most noise values in one choice.
pub const MOST_POINTS: u64 = 1 << 24;

/// The noisy maximum of one party that knows all scores.
#[derive(Debug)]
pub struct NoisyMax<D> {
    grid_bits: u32,
    decisions: D,
}

impl<D: Decisions> NoisyMax<D> {
    /// A mechanism on the grid of multiples of 2^-`grid_bits`.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] unless 10 ≤ grid_bits ≤ 20: on a coarser grid there are so many ties
    /// that the choice is worse than the exponential mechanism's, and scores have no finer one.
    pub fn new(grid_bits: u32, decisions: D) -> Result<Self, Error> {
        if !(10..=SCORE_GRID_BITS).contains(&grid_bits) {
            let [given, most] = [grid_bits, SCORE_GRID_BITS].map(u64::from);
            return Err(Error::OutOfRange {
                what: "the number of grid bits",
                given,
                least: 10,
                most,
            });
        }
        Ok(Self { grid_bits, decisions })
    }
}

impl<D: Decisions> Choose for NoisyMax<D> {
    type Scores = [Scored];
    type Error = Error;

    fn choose(
        &mut self,
        spend: Spend,
        calibration: &Calibration,
        candidates: &[Scored],
    ) -> Result<Choice, Error> {
        let points = total_multiplicity(candidates)?;
        if points > MOST_POINTS {
            let what = "the number of grid points";
            return Err(Error::OutOfRange { what, given: points, least: 1, most: MOST_POINTS });
        }
        if self.grid_bits < SCORE_GRID_BITS && !calibration.has_whole_scores() {
            // Rejected by public parameters: whether an actual score is on a coarser grid would
            // depend on the data.
            let what = "the number of grid bits for a utility that is not whole";
            let (given, needed) = (u64::from(self.grid_bits), u64::from(SCORE_GRID_BITS));
            return Err(Error::OutOfRange { what, given, least: needed, most: needed });
        }
        let rate = rate_per_step(&calibration.rate(spend.epsilon()), self.grid_bits);
        let mut best: Option<(BigUint, Choice)> = None;
        for (index, candidate) in candidates.iter().enumerate() {
            let score = grid_score(index, candidate, self.grid_bits)?;
            for offset in 0..candidate.multiplicity {
                let noisy = self.decisions.geometric(&rate)? + score;
                if best.as_ref().is_none_or(|(most, _)| &noisy > most) {
                    best = Some((noisy, Choice { index, offset }));
                }
            }
        }
        best.map(|(_, choice)| choice).ok_or(Error::NoCandidates)
    }
}

/// The rate of the noise per grid step, c·2^-g.
pub fn rate_per_step(rate: &Rational, grid_bits: u32) -> Rational {
    rate * &Rational::power_of_two(-(grid_bits as i32))
}

/// A candidate's score in grid steps.
///
/// # Errors
/// [`Error::OffGrid`] if the score is not a multiple of the step.
pub fn grid_score(index: usize, candidate: &Scored, grid_bits: u32) -> Result<u64, Error> {
    let steps = candidate.score.steps();
    let shift = SCORE_GRID_BITS.saturating_sub(grid_bits);
    let score = steps >> shift;
    if score << shift != steps {
        return Err(Error::OffGrid { index, grid_bits });
    }
    Ok(score)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decisions::Tape;
    use crate::{Budget, Epsilon, Score};

    fn choose(grid_bits: u32, candidates: &[Scored], noise: &[i64]) -> Result<Choice, Error> {
        let epsilon: Epsilon = "1".parse()?;
        let spend = Budget::new(&epsilon).spend("test", epsilon.value())?;
        let tape = Tape::of_noise(noise.iter().copied());
        NoisyMax::new(grid_bits, tape)?.choose(spend, &Calibration::max(), candidates)
    }

    fn whole(score: u64, multiplicity: u64) -> Scored {
        Scored { score: Score::whole(score).unwrap(), multiplicity }
    }

    #[test]
    fn the_largest_sum_wins_and_ties_go_to_the_lowest_index() {
        let candidates = [whole(1, 1), whole(2, 1), whole(0, 1)];
        let step = 1 << 10;
        let won = |noise: [i64; 3]| choose(10, &candidates, &noise).unwrap().index;
        assert_eq!(won([0, 0, 0]), 1);
        assert_eq!(won([step, 0, 2 * step]), 0);
        assert_eq!(won([step - 1, 0, 2 * step]), 1);
        assert_eq!(won([0, 0, 2 * step + 1]), 2);
    }

    #[test]
    fn each_point_of_a_run_has_its_own_noise() {
        let candidates = [whole(1, 2), whole(1, 0), whole(1, 3)];
        let choice = choose(20, &candidates, &[0, 4, 1, 5, 5]).unwrap();
        assert_eq!(choice, Choice { index: 2, offset: 1 });
    }

    #[test]
    fn scores_off_the_grid_and_grids_too_coarse_are_refused() {
        let odd = Scored::single(Score::from_steps(1));
        assert!(matches!(choose(19, &[odd], &[0]), Err(Error::OffGrid { index: 0, .. })));
        assert!(choose(20, &[odd], &[0]).is_ok());
        assert!(matches!(choose(9, &[odd], &[0]), Err(Error::OutOfRange { .. })));
        assert!(matches!(choose(21, &[odd], &[0]), Err(Error::OutOfRange { .. })));
        assert!(matches!(choose(20, &[], &[]), Err(Error::NoCandidates)));
        assert!(choose(20, &[whole(0, u64::MAX)], &[]).is_err());
    }
}
