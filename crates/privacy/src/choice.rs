//! Scores, their calibration, and the traits that one party implements here and two parties
//! implement over a session.

use num_bigint::BigUint;

use super::{Error, Spend};
use crate::math::Rational;
use crate::math::exponential::log2_upper;

/// Scores are multiples of 2^-20.
pub const SCORE_GRID_BITS: u32 = 20;

/// Choosing one of several candidates by score, privately.
pub trait Choose {
    /// What this party knows of the scores: all of them, its own, or its shares.
    type Scores: ?Sized;
    /// What can fail.
    type Error: std::error::Error;

    /// Uses up `spend` and returns the winner. The winner is all that is learned.
    ///
    /// # Errors
    /// Errors of the mechanism; the spend is used up in any case.
    fn choose(
        &mut self,
        spend: Spend,
        calibration: &Calibration,
        scores: &Self::Scores,
    ) -> Result<Choice, Self::Error>;
}

/// Adding noise to counts of disjoint sets of records.
///
/// One record adds 1 to one count, so the whole list costs one spend.
pub trait AddNoise {
    /// What this party knows of the counts: all of them, or its shares.
    type Counts: ?Sized;
    /// What can fail.
    type Error: std::error::Error;

    /// Uses up `spend` and returns the noisy counts, which may be negative.
    ///
    /// # Errors
    /// Errors of the mechanism; the spend is used up in any case.
    fn add_noise(&mut self, spend: Spend, counts: &Self::Counts) -> Result<Vec<i64>, Self::Error>;
}

/// A score ≥ 0 on the grid of multiples of 2^-20.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(u64);

impl Score {
    /// A whole score, such as a count; `None` at 2^44 and above.
    pub fn whole(value: u64) -> Option<Self> {
        (value < 1 << (64 - SCORE_GRID_BITS)).then_some(Self(value << SCORE_GRID_BITS))
    }

    /// `steps · 2^-20`.
    pub fn from_steps(steps: u64) -> Self {
        Self(steps)
    }

    /// The score in steps of 2^-20.
    pub fn steps(self) -> u64 {
        self.0
    }

    /// The score itself.
    pub fn value(self) -> Rational {
        &Rational::whole(self.0) * &Rational::power_of_two(-(SCORE_GRID_BITS as i32))
    }
}

/// What may be chosen: a candidate, or a range of neighbouring grid points (split points) with the
/// same score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scored {
    /// The score of each of them.
    pub score: Score,
    /// How many there are; an empty range never wins.
    pub multiplicity: u64,
}

impl Scored {
    /// A single candidate.
    pub fn single(score: Score) -> Self {
        Self { score, multiplicity: 1 }
    }
}

/// The winner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice {
    /// Position in the list of candidates.
    pub index: usize,
    /// Which point of the candidate's range it is, from 0; all are equally likely.
    pub offset: u64,
}

/// How much one record can change a utility.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Calibration {
    sensitivity: Rational,
    monotone: bool,
    /// Whether every score is a whole number, whatever the data.
    whole: bool,
}

impl Calibration {
    /// A utility of which one record changes each score by at most `sensitivity`. It is *monotone*
    /// if adding a record lowers no score.
    ///
    /// # Errors
    /// [`Error::NoSensitivity`] for 0.
    pub fn new(sensitivity: Rational, monotone: bool) -> Result<Self, Error> {
        if sensitivity.is_zero() {
            return Err(Error::NoSensitivity);
        }
        Ok(Self { sensitivity, monotone, whole: false })
    }

    /// InfoGain over `classes` classes: Δ = log2(classes), rounded up to the grid and raised by two
    /// steps for the approximate logarithm; not monotone.
    pub fn info_gain(classes: u64) -> Self {
        let log = log2_upper(classes, SCORE_GRID_BITS);
        let steps = Rational::power_of_two(1 - SCORE_GRID_BITS as i32);
        Self { sensitivity: &log + &steps, monotone: false, whole: false }
    }

    /// Max and leaf-max: Δ = 1, monotone.
    pub fn max() -> Self {
        Self { sensitivity: Rational::whole(1u32), monotone: true, whole: true }
    }

    /// Max as the papers calibrate it, with the factor 2.
    pub fn max_of_the_papers() -> Self {
        Self { sensitivity: Rational::whole(1u32), monotone: false, whole: true }
    }

    /// w·u + b, where u is calibrated like this and one record more raises the whole number b by 0 or
    /// 1: Δ is w times as large and 1 more, and monotone stays monotone.
    #[must_use]
    pub fn with_tie_break(&self, weight: u32) -> Self {
        let sensitivity = &(&self.sensitivity * &Rational::whole(weight)) + &Rational::whole(1u32);
        Self { sensitivity, ..self.clone() }
    }

    /// c of e^(c·u): ε/Δ for a monotone utility, ε/(2Δ) otherwise.
    pub fn rate(&self, epsilon: &Rational) -> Rational {
        let factor = if self.monotone { 1u32 } else { 2 };
        let divisor = &self.sensitivity * &Rational::whole(factor);
        // Never zero: every constructor checks it.
        epsilon.checked_div(&divisor).unwrap_or_else(Rational::zero)
    }

    /// The sensitivity Δ: the most by which one record can change a score.
    pub fn sensitivity(&self) -> &Rational {
        &self.sensitivity
    }

    /// Whether every score is a whole number, whatever the data.
    pub fn has_whole_scores(&self) -> bool {
        self.whole
    }

    /// Whether adding a record lowers no score.
    pub fn is_monotone(&self) -> bool {
        self.monotone
    }
}

/// The sum of all multiplicities, if there is anything to choose from.
pub(super) fn total_multiplicity(candidates: &[Scored]) -> Result<u64, Error> {
    let total = candidates.iter().try_fold(0u64, |sum, c| sum.checked_add(c.multiplicity));
    match total {
        Some(0) => Err(Error::NoCandidates),
        Some(total) => Ok(total),
        None => Err(Error::OutOfRange {
            what: "the number of grid points",
            given: u64::MAX,
            least: 1,
            most: u64::MAX - 1,
        }),
    }
}

/// Which candidate, and which of its points, the number `r` falls on when candidate i takes
/// `multiplicity_i · weight_i` consecutive numbers: the first k with r < L_k.
pub fn locate(candidates: &[Scored], weights: &[BigUint], r: &BigUint) -> Option<Choice> {
    let mut rest = r.clone();
    for (index, (candidate, weight)) in candidates.iter().zip(weights).enumerate() {
        let run = weight * candidate.multiplicity;
        if rest < run {
            let offset = (rest / weight).try_into().ok()?;
            return Some(Choice { index, offset });
        }
        rest -= run;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scores_live_on_the_grid() {
        assert_eq!(Score::whole(3).unwrap().steps(), 3 << 20);
        assert_eq!(Score::whole(1 << 44), None);
    }

    #[test]
    fn a_monotone_utility_gets_twice_the_rate() {
        let epsilon = Rational::new(1u32, 10u32).unwrap();
        assert_eq!(Calibration::max().rate(&epsilon), epsilon);
        assert_eq!(
            Calibration::max_of_the_papers().rate(&epsilon),
            Rational::new(1u32, 20u32).unwrap()
        );
        assert!(Calibration::new(Rational::zero(), true).is_err());
    }

    #[test]
    fn a_tie_break_adds_its_own_sensitivity_to_that_of_the_weighted_score() {
        let found = Calibration::max().with_tie_break(8);
        assert_eq!(found.sensitivity(), &Rational::whole(9u32));
        assert!(found.is_monotone() && found.has_whole_scores());
        assert!(!Calibration::info_gain(2).with_tie_break(8).is_monotone());
    }

    #[test]
    fn info_gain_over_one_class_still_has_a_sensitivity() {
        assert!(!Calibration::info_gain(1).sensitivity().is_zero());
        assert!(Calibration::info_gain(2).sensitivity() > &Rational::whole(1u32));
    }

    #[test]
    fn runs_take_as_many_numbers_as_points_times_weight() {
        let candidates = [
            Scored { score: Score::default(), multiplicity: 2 },
            Scored { score: Score::default(), multiplicity: 0 },
            Scored::single(Score::default()),
        ];
        let weights = [3u32, 100, 2].map(BigUint::from);
        let winners: Vec<_> = (0u32..9)
            .map(|r| locate(&candidates, &weights, &r.into()).map(|c| (c.index, c.offset)))
            .collect();
        let (a, b, c) = (Some((0, 0)), Some((0, 1)), Some((2, 0)));
        assert_eq!(winners, [a, a, a, b, b, b, c, c, None]);
    }
}
