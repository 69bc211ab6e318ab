//! The exponential mechanism with exact whole weights.
//!
//! *Inputs*: candidates with scores u_i ≥ 0, a spend ε', the utility's Δ. *Output*: candidate i
//! with probability W_i / ΣW, W_i = ⌊s·e^(c·u_i)⌋, s = 2^f or 10^l.
//!
//! *Theorem.* The choice is ε'-differentially private for adding or removing one record, where
//! |u_i(D) − u_i(D')| ≤ Δ.
//!
//! *Proof sketch.* Rounding reduces a weight by less than 1/s of it, since u_i ≥ 0 makes it at
//! least s. So Pr[i | D]/Pr[i | D'] = (W_i/W'_i)·(ΣW'/ΣW) is within (1 − 1/s)^-2 of the same
//! ratio for the real weights. That one is at most e^(2cΔ); for a monotone utility, where all
//! scores move the same way, one of the two factors is at most 1 and e^(cΔ) suffices. With
//! c = (ε' − d)/(2Δ) or (ε' − d)/Δ and d ≥ −2·ln(1 − 1/s), the bound is e^ε'. For s = 2^f,
//! d = 2^(2−f) will do, as −ln(1 − x) ≤ 2x up to x = 1/2.
//! R is uniform in {0, …, ΣW − 1} and the winner is the first k with R < L_k = W_1 + … + W_k.
//! (The thesis compares R ≤ L_k: candidate 1 then has a unit too many.)
//!
//! *Cost*: weights are f + 1.4427·c·u_i bits long; a table of powers of one base is computed once
//! per choice, then a weight takes some five multiplications, all of the length of the longest
//! weight that a bound on the scores allows ([`ScoreBound`]), or of the longest weight without a
//! bound. A party that chooses alone computes only the leading bits of all weights, and a whole
//! weight only where the leading bits do not decide the winner (`leading`): the winner is the same.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::{Randomness, Rational};
//! use diptych_privacy::exponential::{Exponential, Scaling, weights};
//! use diptych_privacy::{Budget, Calibration, Choose, Epsilon, Score, Scored};
//! use num_bigint::BigUint;
//!
//! let scores: Vec<Score> = [0, 1, 90].into_iter().filter_map(Score::whole).collect();
//! let thesis = Scaling::Decimal { digits: 4 };
//! let exact = weights(&scores[..2], &Rational::whole(1u32), thesis)?;
//! assert_eq!(exact, [10_000u32, 27_182].map(BigUint::from), "1 and e, times 10^4, rounded down");
//!
//! let epsilon: Epsilon = "1".parse()?;
//! let spend = Budget::new(&epsilon).spend_rest("a candidate")?;
//! let candidates: Vec<Scored> = scores.into_iter().map(Scored::single).collect();
//! let mut mechanism = Exponential::new(thesis, Randomness::from_os()?);
//! let winner = mechanism.choose(spend, &Calibration::max(), &candidates)?;
//! assert_eq!(winner.index, 2, "another wins about once in e^88 runs");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod leading;

use std::num::NonZeroU64;

use num_bigint::BigUint;

use super::choice::{
    Calibration, Choice, Choose, SCORE_GRID_BITS, Score, Scored, total_multiplicity,
};
use super::decisions::Decisions;
use super::{Error, Spend};
use crate::math::Rational;
use crate::math::exponential::{Enclosure, Ladder, exp_bits, floor_exp};
use leading::Leading;

/// Longest weight: 128 KiB. At ε = 1 and h = 10 that is enough for 3·10^7 records.
pub const MOST_WEIGHT_BITS: u64 = 1 << 20;

/// Extra bits with which a weight is computed, so that the first attempt almost always determines
/// the floor.
const GUARD_BITS: u64 = 64;

/// The factor by which weights are multiplied before they are rounded down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scaling {
    /// 2^f: the default, with f = σ.
    Binary {
        /// f, from 8 to 256.
        fraction_bits: u32,
    },
    /// 10^l, as in the thesis.
    Decimal {
        /// l, from 1 to 64.
        digits: u32,
    },
}

impl Scaling {
    /// s.
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an f or l outside its range.
    pub fn scale(self) -> Result<BigUint, Error> {
        let (what, given, least, most) = match self {
            Self::Binary { fraction_bits } => {
                ("the number of fraction bits", fraction_bits, 8, 256)
            }
            Self::Decimal { digits } => ("the number of decimal digits", digits, 1, 64),
        };
        if !(least..=most).contains(&given) {
            let [given, least, most] = [given, least, most].map(u64::from);
            return Err(Error::OutOfRange { what, given, least, most });
        }
        Ok(match self {
            Self::Binary { fraction_bits } => BigUint::from(1u32) << fraction_bits,
            Self::Decimal { digits } => BigUint::from(10u32).pow(digits),
        })
    }

    /// What the rounding of weights costs: 2^(2−f), or the least multiple of 2^-256 that is not
    /// below −2·ln(1 − 10^-l).
    ///
    /// # Errors
    /// [`Error::OutOfRange`] for an f or l outside its range.
    pub fn deduction(self) -> Result<Rational, Error> {
        let scale = self.scale()?;
        Ok(match self {
            Self::Binary { fraction_bits } => Rational::power_of_two(2 - fraction_bits as i32),
            Self::Decimal { .. } => decimal_deduction(scale),
        })
    }

    /// c for a mechanism that may spend `epsilon`, after the deduction.
    ///
    /// # Errors
    /// [`Error::RoundingTooCoarse`] if the deduction leaves nothing.
    pub fn rate(
        self,
        name: &str,
        epsilon: &Rational,
        calibration: &Calibration,
    ) -> Result<Rational, Error> {
        let loss = self.deduction()?;
        match epsilon.checked_sub(&loss) {
            Some(rest) if !rest.is_zero() => Ok(calibration.rate(&rest)),
            _ => Err(Error::RoundingTooCoarse {
                name: name.to_owned(),
                loss,
                available: epsilon.clone(),
            }),
        }
    }
}

/// What is public about the scores of a choice. It determines the size of all the work on weights,
/// so that the time this takes reveals nothing about the scores to a waiting peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScoreBound {
    /// The largest score; higher scores are reduced to it.
    pub largest: Score,
    /// Whether every score is a whole number, whatever the data.
    pub whole: bool,
}

impl ScoreBound {
    /// The bound, lowered to [`highest_score`] if weights up to it would be too long.
    ///
    /// # Errors
    /// As [`highest_score`].
    pub fn fitted(self, rate: &Rational, scaling: Scaling) -> Result<Self, Error> {
        Ok(match weight_bits(self.largest, rate, scaling) {
            Ok(_) => self,
            Err(_) => Self { largest: self.largest.min(highest_score(rate, scaling)?), ..self },
        })
    }
}

/// The weights ⌊s·e^(c·u)⌋, exactly, for c = `rate`. The highest score determines the size of the
/// work, so use this only where no peer can observe the time.
///
/// # Errors
/// [`Error::WeightsTooLong`], and those of [`Scaling::scale`].
pub fn weights(scores: &[Score], rate: &Rational, scaling: Scaling) -> Result<Vec<BigUint>, Error> {
    let largest = scores.iter().copied().max().unwrap_or_default();
    let whole = scores.iter().all(|score| score.steps().trailing_zeros() >= SCORE_GRID_BITS);
    weights_within(scores, rate, scaling, ScoreBound { largest, whole })
}

/// The same weights, for scores within a public bound: every one takes the same multiplications of
/// numbers of the same length.
///
/// These differ: shifting the result into place and whatever is done with it later, since a weight
/// is longer the higher its score is (a pass over 5 KB at most for a million records at ε' = 1/40);
/// a score of 0, whose weight is known; and a weight whose bounds do not agree on the floor, which
/// is computed again with more digits. Of the `GUARD_BITS` at least 56 are correct at the end, so
/// that this happens to one weight in 2^56.
///
/// # Errors
/// [`Error::WeightsTooLong`], and those of [`Scaling::scale`].
pub fn weights_within(
    scores: &[Score],
    rate: &Rational,
    scaling: Scaling,
    bound: ScoreBound,
) -> Result<Vec<BigUint>, Error> {
    let scale = scaling.scale()?;
    let precision = weight_bits(bound.largest, rate, scaling)? + GUARD_BITS;
    if scores.is_empty() {
        return Ok(Vec::new());
    }
    let powers = Powers::new(rate, bound, precision);
    let weight = |score: &Score| {
        let floor = powers.of(*score).and_then(|power| power.floor_scaled(&scale));
        floor.unwrap_or_else(|| powers.floor(*score, &scale))
    };
    Ok(scores.iter().map(weight).collect())
}

/// e^(c·u) for scores within a bound.
struct Powers<'a> {
    rate: &'a Rational,
    bound: ScoreBound,
    ladder: Ladder,
    /// Low bits that are 0 in every score.
    zeros: u32,
}

impl<'a> Powers<'a> {
    fn new(rate: &'a Rational, bound: ScoreBound, precision: u64) -> Self {
        // Scores of counts are whole: in larger steps there are fewer digits to multiply.
        let zeros = if bound.whole { SCORE_GRID_BITS } else { 0 };
        let step = Rational::power_of_two(zeros as i32 - SCORE_GRID_BITS as i32);
        let ladder = Ladder::new(&(rate * &step), bound.largest.steps() >> zeros, precision);
        Self { rate, bound, ladder, zeros }
    }

    /// Bounds for the power, with the same work for every score; `None` for a fraction where scores
    /// are whole.
    fn of(&self, score: Score) -> Option<Enclosure> {
        let score = score.min(self.bound.largest);
        let rest = score.steps() & ((1 << self.zeros) - 1);
        Some(self.ladder.power(score.steps() >> self.zeros)).filter(|_| rest == 0)
    }

    /// ⌊s·e^(c·u)⌋, with as many digits as necessary.
    fn floor(&self, score: Score, scale: &BigUint) -> BigUint {
        floor_exp(&(self.rate * &score.min(self.bound.largest).value()), scale)
    }
}

/// An upper bound of the length of a weight, for sizing circuits by a public bound on the scores.
///
/// # Errors
/// [`Error::WeightsTooLong`], and those of [`Scaling::scale`].
pub fn weight_bits(largest: Score, rate: &Rational, scaling: Scaling) -> Result<u64, Error> {
    let bits = exp_bits(&(rate * &largest.value())).saturating_add(scaling.scale()?.bits());
    if bits > MOST_WEIGHT_BITS {
        return Err(Error::WeightsTooLong { bits, most: MOST_WEIGHT_BITS });
    }
    Ok(bits)
}

/// The highest score whose weight is not too long, which depends on public parameters alone. Higher
/// scores are reduced to it. That increases the distance of no two scores, so Δ and monotonicity
/// hold, and whether a choice fails does not depend on the data.
///
/// # Errors
/// [`Error::WeightsTooLong`] if even a score of 0 has too long a weight, and those of
/// [`Scaling::scale`].
pub fn highest_score(rate: &Rational, scaling: Scaling) -> Result<Score, Error> {
    weight_bits(Score::default(), rate, scaling)?;
    let (mut fits, mut too_long) = (0u64, u64::MAX);
    while too_long - fits > 1 {
        let middle = fits + (too_long - fits) / 2;
        match weight_bits(Score::from_steps(middle), rate, scaling) {
            Ok(_) => fits = middle,
            Err(_) => too_long = middle,
        }
    }
    Ok(Score::from_steps(fits))
}

/// The least multiple of 2^-256 that is not below −2·ln(1 − 1/scale).
fn decimal_deduction(scale: BigUint) -> Rational {
    let x = Rational::new(1u32, scale).unwrap_or_else(Rational::zero);
    let (mut sum, mut power) = (Rational::zero(), Rational::whole(1u32));
    let mut k = NonZeroU64::MIN;
    loop {
        // −ln(1−x) = x + x²/2 + …; the remainder after the term with x^k is below x^k.
        power = &power * &x;
        sum = &sum + &power.divided_by(k);
        k = k.saturating_add(1);
        let two = Rational::whole(2u32);
        let low = (&sum * &two).round_up(256);
        // It is irrational, so both bounds round to the same multiple in the end.
        if low == (&(&sum + &power) * &two).round_up(256) {
            return low;
        }
    }
}

/// The exponential mechanism of one party that knows all scores.
#[derive(Debug)]
pub struct Exponential<D> {
    scaling: Scaling,
    largest: Option<Score>,
    decisions: D,
}

impl<D: Decisions> Exponential<D> {
    /// A mechanism that takes its randomness from `decisions`.
    pub fn new(scaling: Scaling, decisions: D) -> Self {
        Self { scaling, largest: None, decisions }
    }

    /// The same with all work on weights sized by a public bound on the scores, for a party whose
    /// peer waits for it. Higher scores are reduced to `largest`.
    #[must_use]
    pub fn within(self, largest: Score) -> Self {
        Self { largest: Some(largest), ..self }
    }
}

impl<D: Decisions> Choose for Exponential<D> {
    type Scores = [Scored];
    type Error = Error;

    fn choose(
        &mut self,
        spend: Spend,
        calibration: &Calibration,
        candidates: &[Scored],
    ) -> Result<Choice, Error> {
        total_multiplicity(candidates)?;
        let rate = self.scaling.rate(spend.name(), spend.epsilon(), calibration)?;
        let scores = candidates.iter().map(|candidate| candidate.score);
        let largest = self.largest.or_else(|| scores.max()).unwrap_or_default();
        let whole = calibration.has_whole_scores();
        let bound = ScoreBound { largest, whole }.fitted(&rate, self.scaling)?;
        let weights = Leading::new(candidates, &rate, self.scaling, bound)?;
        let r = self.decisions.uniform_below_sum(&weights)?;
        weights.locate(&r)?.ok_or(Error::NoCandidates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Budget;
    use crate::decisions::Tape;
    use crate::math::Randomness;
    use crate::math::exponential::work;

    const BINARY: Scaling = Scaling::Binary { fraction_bits: 64 };

    fn spend(epsilon: &str) -> Spend {
        let epsilon = epsilon.parse().unwrap();
        let mut budget = Budget::new(&epsilon);
        budget.spend("test", epsilon.value()).unwrap()
    }

    fn singles(scores: &[u64]) -> Vec<Scored> {
        scores.iter().map(|&s| Scored::single(Score::whole(s).unwrap())).collect()
    }

    #[test]
    fn the_thesis_example_has_the_thesis_weights() {
        let scores = [4, 6, 2].map(|u| Score::whole(u).unwrap());
        let one = Rational::whole(1u32);
        for (digits, expected) in [(1, [545u32, 4034, 73]), (2, [5459, 40342, 738])] {
            let found = weights(&scores, &one, Scaling::Decimal { digits }).unwrap();
            assert_eq!(found, expected.map(BigUint::from));
        }
    }

    #[test]
    fn every_r_of_a_tape_leads_to_its_winner() {
        // Scaling 2^8 and c chosen by the mechanism; the winners split {0, …, S−1} by weight.
        let scaling = Scaling::Binary { fraction_bits: 8 };
        let candidates = singles(&[0, 3, 1]);
        let rate = scaling.rate("", &Rational::whole(1u32), &Calibration::max()).unwrap();
        let scores: Vec<_> = candidates.iter().map(|c| c.score).collect();
        let weights = weights(&scores, &rate, scaling).unwrap();
        let total: u64 = weights.iter().sum::<BigUint>().try_into().unwrap();
        let mut won = [0u64; 3];
        for r in 0..total {
            let mut mechanism = Exponential::new(scaling, Tape::of_uniforms([r]));
            let choice = mechanism.choose(spend("1"), &Calibration::max(), &candidates).unwrap();
            won[choice.index] += 1;
        }
        assert_eq!(won.map(BigUint::from).to_vec(), weights);
    }

    #[test]
    fn a_budget_that_rounding_eats_is_refused() {
        let mut mechanism = Exponential::new(Scaling::Decimal { digits: 1 }, Randomness::seeded(1));
        let result = mechanism.choose(spend("0.2"), &Calibration::max(), &singles(&[1, 2]));
        assert!(matches!(result, Err(Error::RoundingTooCoarse { .. })));
    }

    #[test]
    fn the_decimal_deduction_bounds_the_logarithm_from_above() {
        // −2·ln(0.9) = 0.21072103131565…, −2·ln(0.99) = 0.02010067170700…
        let deduction = |digits| Scaling::Decimal { digits }.deduction().unwrap();
        assert_eq!(deduction(1).decimal_rounded_up(13), "0.2107210313157");
        assert_eq!(deduction(2).decimal_rounded_up(13), "0.0201006717071");
        assert_eq!(BINARY.deduction().unwrap(), Rational::power_of_two(-62));
    }

    #[test]
    fn nothing_to_choose_from_and_too_long_weights_are_errors() {
        let mut mechanism = Exponential::new(BINARY, Randomness::seeded(1));
        let none = mechanism.choose(spend("1"), &Calibration::max(), &[]);
        assert!(matches!(none, Err(Error::NoCandidates)));
        let empty_run = Scored { score: Score::default(), multiplicity: 0 };
        let none = mechanism.choose(spend("1"), &Calibration::max(), &[empty_run]);
        assert!(matches!(none, Err(Error::NoCandidates)));
    }

    #[test]
    fn the_work_on_weights_is_the_same_for_all_scores_within_a_bound() {
        let rate = BINARY.rate("", &Rational::whole(1u32), &Calibration::max()).unwrap();
        let whole = |scores: [u64; 4]| scores.map(|score| Score::whole(score).unwrap());
        let bound = ScoreBound { largest: Score::whole(1000).unwrap(), whole: true };
        let work_on = |scores: &[Score]| {
            work::take();
            let found = weights_within(scores, &rate, BINARY, bound).unwrap();
            let work = work::take();
            assert_eq!(found, weights(scores, &rate, BINARY).unwrap(), "the same weights");
            work
        };
        let low = work_on(&whole([0, 0, 0, 0]));
        assert!(low.len() > 4);
        for scores in [[1000, 1000, 1000, 1000], [1, 2, 512, 999], [16, 256, 0, 7]] {
            assert_eq!(work_on(&whole(scores)), low, "{scores:?}");
        }
    }

    #[test]
    fn the_work_on_a_choice_within_a_bound_does_not_depend_on_the_scores() {
        let half = |halves| Score::from_steps(halves << (SCORE_GRID_BITS - 1));
        let runs = |scores: [u64; 3]| {
            scores.map(|score| Scored { score: half(score), multiplicity: 1 + score })
        };
        let info_gain = Calibration::info_gain(2);
        for calibration in [Calibration::max(), info_gain] {
            let work_on = |candidates: &[Scored]| {
                // An R at the very edge of a weight needs all of its digits.
                let mechanism = Exponential::new(BINARY, Randomness::seeded(1));
                work::take();
                mechanism
                    .within(half(1 << 11))
                    .choose(spend("1"), &calibration, candidates)
                    .unwrap();
                work::take()
            };
            let low = work_on(&runs([0, 2, 4]));
            for scores in [[0, 200, 400], [2048, 0, 2], [4, 4, 6]] {
                assert_eq!(work_on(&runs(scores)), low, "{scores:?}");
            }
        }
    }

    #[test]
    fn a_fraction_among_whole_scores_and_a_score_above_the_bound_have_exact_weights() {
        let rate = BINARY.rate("", &Rational::whole(1u32), &Calibration::max()).unwrap();
        let bound = ScoreBound { largest: Score::whole(9).unwrap(), whole: true };
        let scores = [Score::from_steps(5), Score::from_steps(10 << SCORE_GRID_BITS)];
        let found = weights_within(&scores, &rate, BINARY, bound).unwrap();
        let counted = [Score::from_steps(5), bound.largest];
        assert_eq!(found, weights(&counted, &rate, BINARY).unwrap());
    }

    #[test]
    fn whether_a_choice_fails_does_not_depend_on_the_scores() {
        let huge = singles(&[1 << 40, 0, 1 << 41]);
        let rate = BINARY.rate("", &Rational::whole(1u32), &Calibration::max()).unwrap();
        let scores: Vec<_> = huge.iter().map(|c| c.score).collect();
        assert!(matches!(weights(&scores, &rate, BINARY), Err(Error::WeightsTooLong { .. })));
        let highest = highest_score(&rate, BINARY).unwrap();
        assert!(weight_bits(highest, &rate, BINARY).is_ok());
        let next = Score::from_steps(highest.steps() + 1);
        assert!(weight_bits(next, &rate, BINARY).is_err());
        // Both are reduced to the highest score: R below the first weight is the first candidate.
        let mut mechanism = Exponential::new(BINARY, Tape::of_uniforms([0u32]));
        let choice = mechanism.choose(spend("1"), &Calibration::max(), &huge).unwrap();
        assert_eq!(choice.index, 0);
    }

    #[test]
    fn a_single_candidate_always_wins_and_a_far_better_one_nearly_always() {
        let mut mechanism = Exponential::new(BINARY, Randomness::seeded(1));
        let only = mechanism.choose(spend("1"), &Calibration::max(), &singles(&[0])).unwrap();
        assert_eq!(only.index, 0);
        let best = mechanism.choose(spend("1"), &Calibration::max(), &singles(&[0, 900, 5]));
        assert_eq!(best.unwrap().index, 1);
    }
}
