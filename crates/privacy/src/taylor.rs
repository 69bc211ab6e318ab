//! The exponential mechanism with a polynomial in place of e^x (thesis, section 7.5.2): the law of
//! the choice over horizontally partitioned data, here for one party that knows all scores. Of the papers:
//! no default uses it.
//!
//! *Inputs*: candidates with whole scores u_i ≥ 0, a spend ε', the utility's Δ; public numbers s of
//! digits and w, the degree. *Output*: candidate i with probability W_i / ΣW,
//! W_i = w!·10^(s·w)·T_w(c'·u_i), T_w(x) = 1 + x + x²/2! + … + x^w/w!, c' = c rounded **down** to s
//! decimal digits. As lcm(2!, …, w!) = w!, every weight is a whole number and nothing is rounded.
//!
//! *Theorem.* The choice is ε'-differentially private for adding or removing one record, where
//! |u_i(D) − u_i(D')| ≤ Δ.
//!
//! *Proof sketch.* d/dx ln T_w(x) = T_{w−1}(x)/T_w(x) ≤ 1 for x ≥ 0, so a score that moves by Δ
//! changes its weight by a factor of at most e^(c'·Δ) ≤ e^(c·Δ), and the rest is as in
//! [`super::exponential`], without a deduction.
//!
//! *Known limit.* Weights grow like u^w, not like e^(c·u). For c·u ≫ w, and c·u reaches hundreds on
//! 30,000 records, the choice is far flatter than the exponential mechanism's: just as private, less
//! useful.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::{Randomness, Rational};
//! use diptych_privacy::taylor::{Taylor, TaylorExponential, weight};
//! use diptych_privacy::{Budget, Calibration, Choose, Epsilon, Score, Scored};
//! use num_bigint::BigUint;
//!
//! // One digit, degree 2: the weight of u is 2!·10²·(1 + u + u²/2).
//! let coefficients = Taylor::new(1, 2)?.coefficients(&Rational::whole(1u32))?;
//! assert_eq!(coefficients, [200u32, 200, 100].map(BigUint::from));
//! assert_eq!(weight(&coefficients, 4), BigUint::from(200u32 * (1 + 4 + 8)));
//!
//! let epsilon: Epsilon = "1".parse()?;
//! let spend = Budget::new(&epsilon).spend_rest("a candidate")?;
//! let scores = [0, 900].into_iter().filter_map(Score::whole);
//! let candidates: Vec<Scored> = scores.map(Scored::single).collect();
//! let mut mechanism = TaylorExponential::new(Taylor::new(1, 16)?, Randomness::from_os()?);
//! let winner = mechanism.choose(spend, &Calibration::max(), &candidates)?;
//! assert_eq!(winner.index, 1, "900^16/16! is about 10^34");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::choice::{
    Calibration, Choice, Choose, SCORE_GRID_BITS, Scored, locate, total_multiplicity,
};
use super::decisions::Decisions;
use super::{Error, Spend};
use crate::math::Rational;

/// Most digits s.
pub const MOST_DIGITS: u32 = 18;
/// Highest degree w.
pub const MOST_DEGREE: u32 = 64;

/// The polynomial's public numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Taylor {
    digits: u32,
    degree: u32,
}

impl Taylor {
    /// s = `digits`, from 1 to 18, and w = `degree`, from 1 to 64.
    ///
    /// # Errors
    /// [`Error::OutOfRange`].
    pub fn new(digits: u32, degree: u32) -> Result<Self, Error> {
        let check = |what, given, most| {
            let range = Error::OutOfRange { what, given, least: 1, most };
            if (1..=most).contains(&given) { Ok(()) } else { Err(range) }
        };
        check("the number of digits of the rate", digits.into(), MOST_DIGITS.into())?;
        check("the degree of the polynomial", degree.into(), MOST_DEGREE.into())?;
        Ok(Self { digits, degree })
    }

    /// Decimal digits s of the rate.
    pub fn digits(&self) -> u32 {
        self.digits
    }

    /// The degree w.
    pub fn degree(&self) -> u32 {
        self.degree
    }

    /// c'·10^s = ⌊c·10^s⌋.
    ///
    /// # Errors
    /// [`Error::RateVanishes`] if that is zero.
    pub fn whole_rate(&self, rate: &Rational) -> Result<BigUint, Error> {
        let whole = (rate * &Rational::whole(self.power_of_ten(1))).floor();
        if whole.is_zero() {
            return Err(Error::RateVanishes { rate: rate.clone(), digits: self.digits });
        }
        Ok(whole)
    }

    /// The weight as a polynomial in u: A_i = (w!/i!)·10^(s·(w−i))·(c'·10^s)^i, lowest first.
    ///
    /// # Errors
    /// As [`Taylor::whole_rate`].
    pub fn coefficients(&self, rate: &Rational) -> Result<Vec<BigUint>, Error> {
        let whole_rate = self.whole_rate(rate)?;
        let mut falling = BigUint::one();
        let mut coefficients: Vec<BigUint> = (0..=self.degree)
            .rev()
            .map(|i| {
                let coefficient = &falling * self.power_of_ten(self.degree - i) * whole_rate.pow(i);
                // From w!/i! to w!/(i−1)!.
                falling *= i.max(1);
                coefficient
            })
            .collect();
        coefficients.reverse();
        Ok(coefficients)
    }

    fn power_of_ten(&self, factor: u32) -> BigUint {
        BigUint::from(10u32).pow(self.digits * factor)
    }
}

/// The weight of a whole score, given [`Taylor::coefficients`].
pub fn weight(coefficients: &[BigUint], score: u64) -> BigUint {
    coefficients.iter().rev().fold(BigUint::zero(), |sum, a| sum * score + a)
}

/// The mechanism of one party that knows all scores.
#[derive(Debug)]
pub struct TaylorExponential<D> {
    taylor: Taylor,
    decisions: D,
}

impl<D: Decisions> TaylorExponential<D> {
    /// A mechanism that takes its randomness from `decisions`.
    pub fn new(taylor: Taylor, decisions: D) -> Self {
        Self { taylor, decisions }
    }
}

impl<D: Decisions> Choose for TaylorExponential<D> {
    type Scores = [Scored];
    type Error = Error;

    fn choose(
        &mut self,
        spend: Spend,
        calibration: &Calibration,
        candidates: &[Scored],
    ) -> Result<Choice, Error> {
        total_multiplicity(candidates)?;
        let coefficients = self.taylor.coefficients(&calibration.rate(spend.epsilon()))?;
        let whole = |(index, candidate): (usize, &Scored)| {
            let steps = candidate.score.steps();
            let whole = steps >> SCORE_GRID_BITS;
            if whole << SCORE_GRID_BITS == steps {
                Ok(whole)
            } else {
                Err(Error::NotWhole { index })
            }
        };
        let scores = candidates.iter().enumerate().map(whole).collect::<Result<Vec<_>, _>>()?;
        let weights: Vec<_> = scores.iter().map(|score| weight(&coefficients, *score)).collect();
        let total =
            candidates.iter().zip(&weights).map(|(c, weight)| weight * c.multiplicity).sum();
        let r = self.decisions.uniform_below(&total)?;
        locate(candidates, &weights, &r).ok_or(Error::NoCandidates)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choice::Score;
    use crate::decisions::Tape;
    use crate::math::Randomness;
    use crate::{Budget, Epsilon};

    fn rational(numerator: u64, denominator: u64) -> Rational {
        Rational::new(numerator, denominator).unwrap()
    }

    fn spend(epsilon: &str) -> Spend {
        let epsilon: Epsilon = epsilon.parse().unwrap();
        Budget::new(&epsilon).spend("test", epsilon.value()).unwrap()
    }

    fn singles(scores: &[u64]) -> Vec<Scored> {
        scores.iter().map(|&s| Scored::single(Score::whole(s).unwrap())).collect()
    }

    #[test]
    fn the_rate_of_the_thesis_has_four_digits() {
        // ln 2 / 2 = 0.346573590…
        let rate = rational(346_573_590_279, 1_000_000_000_000);
        let taylor = Taylor::new(4, 3).unwrap();
        assert_eq!(taylor.whole_rate(&rate).unwrap(), 3465u32.into());
        let coefficients = taylor.coefficients(&rate).unwrap();
        // 3!·10^12, 3!·10^8·3465, 3·10^4·3465², 3465³.
        let expected = [
            6_000_000_000_000u64,
            6 * 100_000_000 * 3465,
            3 * 10_000 * 3465 * 3465,
            3465 * 3465 * 3465,
        ];
        assert_eq!(coefficients, expected.map(BigUint::from));
    }

    #[test]
    fn weights_are_the_scaled_series() {
        let taylor = Taylor::new(2, 5).unwrap();
        let rate = rational(1, 3);
        let coefficients = taylor.coefficients(&rate).unwrap();
        for score in [0u64, 1, 7, 1000] {
            let x = &rational(33, 100) * &Rational::whole(score);
            let (mut term, mut series) = (Rational::whole(1u32), Rational::whole(1u32));
            for i in 1..=5u32 {
                term = (&term * &x).checked_div(&Rational::whole(i)).unwrap();
                series = &series + &term;
            }
            let scale = BigUint::from(120u32) * BigUint::from(10u32).pow(10);
            let expected = &series * &Rational::whole(scale);
            assert_eq!(Rational::whole(weight(&coefficients, score)), expected);
        }
    }

    /// Neighbouring scores have weights within e^c' of each other; 1 + c + c²/2 + … bounds e^c from
    /// above once the rest is added, so the quotient is compared with a rational above e^(1/3).
    #[test]
    fn one_record_changes_a_weight_by_no_more_than_the_spend_allows() {
        let taylor = Taylor::new(6, 8).unwrap();
        let coefficients = taylor.coefficients(&rational(1, 3)).unwrap();
        for score in 0..2000 {
            let (low, high) = (weight(&coefficients, score), weight(&coefficients, score + 1));
            assert!(high > low);
            // e^(1/3) = 1.39561242508…
            assert!(high * 1_000_000u32 <= low * 1_395_613u32, "score {score}");
        }
    }

    #[test]
    fn every_r_of_a_tape_leads_to_its_winner() {
        let taylor = Taylor::new(1, 2).unwrap();
        let coefficients = taylor.coefficients(&rational(1, 2)).unwrap();
        let weights: Vec<BigUint> = [0, 3, 1].map(|u| weight(&coefficients, u)).to_vec();
        let total: u64 = weights.iter().sum::<BigUint>().try_into().unwrap();
        let mut won = [0u64; 3];
        for r in 0..total {
            let mut mechanism = TaylorExponential::new(taylor, Tape::of_uniforms([r]));
            let papers = Calibration::max_of_the_papers();
            won[mechanism.choose(spend("1"), &papers, &singles(&[0, 3, 1])).unwrap().index] += 1;
        }
        assert_eq!(won.map(BigUint::from).to_vec(), weights);
    }

    #[test]
    fn what_cannot_be_chosen_is_refused() {
        assert!(matches!(Taylor::new(0, 3), Err(Error::OutOfRange { .. })));
        assert!(matches!(Taylor::new(3, 65), Err(Error::OutOfRange { .. })));
        let taylor = Taylor::new(1, 3).unwrap();
        let mut mechanism = TaylorExponential::new(taylor, Randomness::seeded(1));
        let small = mechanism.choose(spend("0.01"), &Calibration::max(), &singles(&[1]));
        assert!(matches!(small, Err(Error::RateVanishes { digits: 1, .. })));
        let none = mechanism.choose(spend("1"), &Calibration::max(), &[]);
        assert!(matches!(none, Err(Error::NoCandidates)));
        let broken = [Scored::single(Score::from_steps(1))];
        let broken = mechanism.choose(spend("1"), &Calibration::max(), &broken);
        assert!(matches!(broken, Err(Error::NotWhole { index: 0 })));
    }
}
