//! Finds the winner of exact weights from their leading bits.
//!
//! A weight is longer the higher its score is: at 10^7 records 80 KB, and there would be one for
//! every score that a split can have. The winner usually depends on their first bits only. So each
//! weight is bounded by two multiples of 2^shift, with shift such that the sum of all has about
//! [`LEADING_BITS`] bits above it; where these bounds do not decide on which side of a sum R is,
//! the sum is computed exactly. Every R has the same winner as with exact weights.
//!
//! *How often that is.* For m points to choose from, bounds of sums are at most 2·m units apart,
//! and there are m sums that R is compared with; of 2^190 units at least R is in one of those with
//! a chance of m·(2·m + 2)/2^190, which is below 2^-120 for every column (m < 2^32).
//!
//! *What can be timed*: all weights take the same products of the same length, whatever the scores
//! are. R is as long as the sum.

use num_bigint::BigUint;

use super::{GUARD_BITS, Powers, Scaling, ScoreBound, weight_bits, weights_within};
use crate::Error;
use crate::choice::{Choice, Scored, locate};
use crate::decisions::Sum;
use crate::math::Rational;
use crate::math::exponential::{Enclosure, exp};

/// Bits to which a sum of weights is known, somewhat more than necessary.
const LEADING_BITS: u64 = 256;

/// Bounds of all weights, in units of 2^shift.
pub(super) struct Leading<'a> {
    candidates: &'a [Scored],
    rate: &'a Rational,
    scaling: Scaling,
    bound: ScoreBound,
    shift: u64,
    /// The bounds of each weight, the lower one first.
    bounds: Vec<[BigUint; 2]>,
    /// The bounds of the sum of all weights times their multiplicities.
    sum: [BigUint; 2],
}

impl<'a> Leading<'a> {
    /// The bounds for candidates whose scores have this bound.
    ///
    /// # Errors
    /// Those of [`weights_within`].
    pub fn new(
        candidates: &'a [Scored],
        rate: &'a Rational,
        scaling: Scaling,
        bound: ScoreBound,
    ) -> Result<Self, Error> {
        Self::with_bits(LEADING_BITS, candidates, rate, scaling, bound)
    }

    fn with_bits(
        leading_bits: u64,
        candidates: &'a [Scored],
        rate: &'a Rational,
        scaling: Scaling,
        bound: ScoreBound,
    ) -> Result<Self, Error> {
        let scale = scaling.scale()?;
        weight_bits(bound.largest, rate, scaling)?;
        let precision = leading_bits + GUARD_BITS;
        let powers = Powers::new(rate, bound, precision);
        // Where the bound is not a whole number, this is the power of all scores above it; it is
        // computed whether there are such scores or not.
        let highest = exp(&(rate * &bound.largest.value()), precision);
        let power = |candidate: &Scored| {
            let score = candidate.score;
            match powers.of(score) {
                Some(power) => power,
                None if score >= bound.largest => highest.clone(),
                None => exp(&(rate * &score.value()), precision),
            }
        };
        let found: Vec<_> = candidates.iter().map(power).collect();
        let longest = found.iter().map(|power| power.whole_bits()).max().unwrap_or_default();
        let points = candidates.iter().map(|c| c.multiplicity).fold(0, u64::saturating_add);
        let most_bits = longest + scale.bits() + u64::from(u64::BITS - points.leading_zeros());
        let shift = most_bits.saturating_sub(leading_bits);
        let of_weight =
            |(candidate, power): (&Scored, &Enclosure)| match power.floors_scaled(&scale, shift) {
                // Nothing is truncated: where the bounds do not agree, more digits must be
                // computed.
                [low, high] if shift == 0 && low != high => {
                    [(); 2].map(|()| powers.floor(candidate.score, &scale))
                }
                [low, high] => [low, high + u64::from(shift > 0)],
            };
        let bounds: Vec<_> = candidates.iter().zip(&found).map(of_weight).collect();
        let mut sum = [BigUint::ZERO; 2];
        for (candidate, bounds) in candidates.iter().zip(&bounds) {
            add(&mut sum, bounds, candidate.multiplicity);
        }
        Ok(Self { candidates, rate, scaling, bound, shift, bounds, sum })
    }

    /// The candidate, and which of its points, that `r` selects: the same as with exact weights.
    ///
    /// # Errors
    /// Those of [`weights_within`].
    pub fn locate(&self, r: &BigUint) -> Result<Option<Choice>, Error> {
        let leading = r >> self.shift;
        let mut before = [BigUint::ZERO; 2];
        for (index, (candidate, bounds)) in self.candidates.iter().zip(&self.bounds).enumerate() {
            let mut until = before.clone();
            add(&mut until, bounds, candidate.multiplicity);
            match is_above(&until, &leading) {
                Some(false) => before = until,
                Some(true) => match offset(&leading, &before, bounds) {
                    Some(offset) => return Ok(Some(Choice { index, offset })),
                    None => break,
                },
                None => break,
            }
            if index + 1 == self.candidates.len() {
                return Ok(None);
            }
        }
        Ok(locate(self.candidates, &self.exact_weights()?, r))
    }

    fn exact_weights(&self) -> Result<Vec<BigUint>, Error> {
        let scores: Vec<_> = self.candidates.iter().map(|candidate| candidate.score).collect();
        weights_within(&scores, self.rate, self.scaling, self.bound)
    }
}

impl Sum for Leading<'_> {
    fn bits_below(&self) -> Result<u64, Error> {
        let [low, high] = self.sum.each_ref().map(|sum| {
            let is_power_of_two = sum.trailing_zeros() == sum.bits().checked_sub(1);
            sum.bits() + self.shift - u64::from(is_power_of_two)
        });
        match low == high {
            true => Ok(low),
            false => Ok((self.exact()? - 1u32).bits()),
        }
    }

    fn is_above(&self, number: &BigUint) -> Result<bool, Error> {
        match is_above(&self.sum, &(number >> self.shift)) {
            Some(above) => Ok(above),
            None => Ok(number < &self.exact()?),
        }
    }

    fn exact(&self) -> Result<BigUint, Error> {
        let weights = self.exact_weights()?;
        Ok(self.candidates.iter().zip(&weights).map(|(c, weight)| weight * c.multiplicity).sum())
    }
}

fn add(sum: &mut [BigUint; 2], bounds: &[BigUint; 2], times: u64) {
    sum.iter_mut().zip(bounds).for_each(|(sum, bound)| *sum += bound * times);
}

/// Whether a value between these bounds is above every number with these leading bits; `None` if
/// that depends on the truncated bits.
fn is_above([low, high]: &[BigUint; 2], leading: &BigUint) -> Option<bool> {
    match (leading < low, leading >= high) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// ⌊(r − before)/weight⌋, if it does not depend on the truncated bits. R is not below `before`.
fn offset(leading: &BigUint, before: &[BigUint; 2], weight: &[BigUint; 2]) -> Option<u64> {
    if weight[0] == BigUint::ZERO {
        return None;
    }
    let least = (leading - &before[1]) / &weight[1];
    let most = (leading - &before[0]) / &weight[0];
    if least == most { least.try_into().ok() } else { None }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::choice::Score;
    use crate::decisions::Decisions;
    use crate::math::Randomness;

    const BINARY: Scaling = Scaling::Binary { fraction_bits: 8 };

    fn scored((score, multiplicity): (u64, u64)) -> Scored {
        Scored { score: Score::whole(score).unwrap(), multiplicity }
    }

    fn bound(candidates: &[Scored]) -> ScoreBound {
        let largest = candidates.iter().map(|candidate| candidate.score).max().unwrap();
        ScoreBound { largest, whole: true }
    }

    proptest! {
        /// Few leading bits often leave the winner undecided, many never do.
        #[test]
        fn every_r_has_the_winner_that_it_has_with_exact_weights(
            candidates in prop::collection::vec((0u64..400, 0u64..5), 1..12),
            rate in 1u64..100,
            leading_bits in prop::sample::select(vec![4, 8, 12, 20, 64, 256]),
            seed: u64,
        ) {
            let candidates: Vec<_> = candidates.into_iter().map(scored).collect();
            prop_assume!(candidates.iter().any(|candidate| candidate.multiplicity > 0));
            let (rate, bound) = (Rational::new(rate, 50u32).unwrap(), bound(&candidates));
            let found = Leading::with_bits(leading_bits, &candidates, &rate, BINARY, bound).unwrap();
            let (sum, weights) = (found.exact().unwrap(), found.exact_weights().unwrap());
            prop_assert_eq!(found.bits_below().unwrap(), (&sum - 1u32).bits());

            let mut rng = Randomness::seeded(seed);
            let mut edge = BigUint::ZERO;
            let mut tried: Vec<BigUint> = (0..8).map(|_| rng.uniform_below(&sum).unwrap()).collect();
            for (candidate, weight) in candidates.iter().zip(&weights) {
                tried.extend([edge.clone(), &edge + weight / 2u32, &edge + weight]);
                edge += weight * candidate.multiplicity;
                tried.extend([&edge + 1u32, edge.clone()]);
                tried.extend((edge > BigUint::ZERO).then(|| &edge - 1u32));
            }
            for r in tried {
                prop_assert_eq!(found.is_above(&r).unwrap(), r < sum);
                prop_assert_eq!(found.locate(&r).unwrap(), locate(&candidates, &weights, &r), "{}", r);
            }

            let exact = Randomness::seeded(seed).uniform_below(&sum).unwrap();
            prop_assert_eq!(Randomness::seeded(seed).uniform_below_sum(&found).unwrap(), exact);
        }
    }

    /// Happens where `max_records` allows more than the longest weight: the highest score is then
    /// not a whole number.
    #[test]
    fn scores_above_the_bound_weigh_as_much_as_it_does() {
        let candidates = [3, 40, 41, 900, 901].map(|score| scored((score, 2)));
        let rate = Rational::new(1u32, 3u32).unwrap();
        for steps in [40 << 20, (40 << 20) + 12_345, (700 << 20) + 1] {
            let bound = ScoreBound { largest: Score::from_steps(steps), whole: true };
            let found = Leading::new(&candidates, &rate, BINARY, bound).unwrap();
            let weights = found.exact_weights().unwrap();
            assert_eq!(weights[3], weights[4]);
            let mut edge = BigUint::ZERO;
            for weight in &weights {
                for r in [&edge + 1u32, &edge + weight, &edge + 2u32 * weight - 1u32] {
                    assert_eq!(found.locate(&r).unwrap(), locate(&candidates, &weights, &r), "{r}");
                }
                edge += 2u32 * weight;
            }
            assert_eq!(found.exact().unwrap(), edge);
        }
    }

    #[test]
    fn long_weights_are_cut_off_and_short_ones_are_not() {
        let rate = Rational::whole(1u32);
        for (scores, cut) in [([0, 3, 100], false), ([0, 3, 900], true)] {
            let candidates = scores.map(|score| scored((score, 1)));
            let found = Leading::new(&candidates, &rate, BINARY, bound(&candidates)).unwrap();
            assert_eq!(found.shift > 0, cut);
            assert!(found.sum[1].bits() <= LEADING_BITS + 1 && found.sum[0].bits() > 100);
            assert_eq!(found.sum[0] == found.sum[1], !cut, "what is short is exact");
        }
    }

    /// Ten million records within a second: weights have 600,000 bits.
    #[test]
    fn a_choice_among_many_high_scores_takes_no_long_numbers() {
        let candidates: Vec<_> = (0..20_000).map(|score| scored((score * 800, 3))).collect();
        let bound = ScoreBound { largest: Score::whole(1 << 24).unwrap(), whole: true };
        let rate = Rational::new(1u32, 40u32).unwrap();
        let found = Leading::new(&candidates, &rate, BINARY, bound).unwrap();
        let bits = found.bits_below().unwrap();
        assert!((570_000..580_000).contains(&bits), "{bits}");
        let r = Randomness::seeded(1).uniform_below_sum(&found).unwrap();
        assert_eq!(found.locate(&r).unwrap().unwrap().index, 19_999);
    }
}
