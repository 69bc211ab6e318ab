//! Exact non-negative fractions: privacy budgets and rates never pass through a float.

use std::cmp::Ordering;
use std::fmt;
use std::num::NonZeroU64;
use std::ops::{Add, Mul};
use std::str::FromStr;

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, Zero};
use serde::{Deserialize, Serialize};

use crate::Error;

/// Longest text that [`Rational::from_str`] reads: limits what a file can make us allocate.
const LONGEST_TEXT: usize = 4096;

/// A non-negative fraction in lowest terms. Written `n` or `n/d`, in text and in JSON.
///
/// Not constant-time: for public numbers (budgets, rates, thresholds).
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Rational {
    numerator: BigUint,
    denominator: BigUint,
}

impl Rational {
    /// `numerator / denominator` in lowest terms; `None` if the denominator is zero.
    pub fn new(numerator: impl Into<BigUint>, denominator: impl Into<BigUint>) -> Option<Self> {
        let denominator = denominator.into();
        (!denominator.is_zero()).then(|| Self::reduced(numerator.into(), denominator))
    }

    /// A whole number.
    pub fn whole(value: impl Into<BigUint>) -> Self {
        Self { numerator: value.into(), denominator: BigUint::one() }
    }

    /// Zero.
    pub fn zero() -> Self {
        Self::whole(0u32)
    }

    /// `2^exponent`, also for negative exponents.
    pub fn power_of_two(exponent: i32) -> Self {
        let power = BigUint::one() << exponent.unsigned_abs();
        if exponent >= 0 {
            Self::whole(power)
        } else {
            Self { numerator: BigUint::one(), denominator: power }
        }
    }

    /// The numerator in lowest terms.
    pub fn numerator(&self) -> &BigUint {
        &self.numerator
    }

    /// The denominator in lowest terms; never zero.
    pub fn denominator(&self) -> &BigUint {
        &self.denominator
    }

    /// Whether this is zero.
    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// `self − other`, if that is not negative.
    pub fn checked_sub(&self, other: &Self) -> Option<Self> {
        let left = &self.numerator * &other.denominator;
        let right = &other.numerator * &self.denominator;
        (left >= right).then(|| Self::reduced(left - right, &self.denominator * &other.denominator))
    }

    /// `self / other`; `None` if `other` is zero.
    pub fn checked_div(&self, other: &Self) -> Option<Self> {
        Self::new(&self.numerator * &other.denominator, &self.denominator * &other.numerator)
    }

    /// `self / parts`.
    pub fn divided_by(&self, parts: NonZeroU64) -> Self {
        Self::reduced(self.numerator.clone(), &self.denominator * parts.get())
    }

    /// The largest whole number that is not above this.
    pub fn floor(&self) -> BigUint {
        &self.numerator / &self.denominator
    }

    /// The smallest whole number that is not below this.
    pub fn ceil(&self) -> BigUint {
        self.numerator.div_ceil(&self.denominator)
    }

    /// The smallest multiple of `2^-bits` that is not below this.
    pub fn round_up(&self, bits: u32) -> Self {
        let scaled = (&self.numerator << bits).div_ceil(&self.denominator);
        Self::reduced(scaled, BigUint::one() << bits)
    }

    /// The value rounded up to `digits` decimal digits after the point, for display.
    pub fn decimal_rounded_up(&self, digits: u32) -> String {
        let power = BigUint::from(10u32).pow(digits);
        decimal(&(&self.numerator * &power).div_ceil(&self.denominator), &power, digits)
    }

    /// The value rounded to the nearest decimal number with `digits` digits after the point, ties
    /// upwards, for display.
    pub fn decimal_nearest(&self, digits: u32) -> String {
        let power = BigUint::from(10u32).pow(digits);
        let twice = &self.numerator * &power * 2u32 + &self.denominator;
        decimal(&(twice / (&self.denominator * 2u32)), &power, digits)
    }

    /// The exact decimal number, if it has at most `digits` digits after the point.
    pub fn exact_decimal(&self, digits: u32) -> Option<String> {
        let power = BigUint::from(10u32).pow(digits);
        (&power % &self.denominator).is_zero().then(|| {
            let text = self.decimal_rounded_up(digits);
            match text.split_once('.') {
                Some(_) => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
                None => text,
            }
        })
    }

    fn reduced(numerator: BigUint, denominator: BigUint) -> Self {
        let common = numerator.gcd(&denominator);
        if common.is_one() {
            return Self { numerator, denominator };
        }
        Self { numerator: numerator / &common, denominator: denominator / &common }
    }
}

/// Writes a whole number of units of 1/`power`, where `power` is 10^`digits`.
fn decimal(scaled: &BigUint, power: &BigUint, digits: u32) -> String {
    let (whole, part) = scaled.div_rem(power);
    if digits == 0 {
        return whole.to_string();
    }
    format!("{whole}.{:0>width$}", part.to_string(), width = digits as usize)
}

impl Add for &Rational {
    type Output = Rational;

    fn add(self, other: &Rational) -> Rational {
        Rational::reduced(
            &self.numerator * &other.denominator + &other.numerator * &self.denominator,
            &self.denominator * &other.denominator,
        )
    }
}

impl Mul for &Rational {
    type Output = Rational;

    fn mul(self, other: &Rational) -> Rational {
        Rational::reduced(
            &self.numerator * &other.numerator,
            &self.denominator * &other.denominator,
        )
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator.is_one() {
            return write!(f, "{}", self.numerator);
        }
        write!(f, "{}/{}", self.numerator, self.denominator)
    }
}

impl FromStr for Rational {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let (numerator, denominator) = text.split_once('/').unwrap_or((text, "1"));
        let digits = |part: &str| -> Result<BigUint, Error> {
            if text.len() > LONGEST_TEXT || !part.bytes().all(|b| b.is_ascii_digit()) {
                return Err(Error::NotAFraction);
            }
            part.parse().map_err(|_| Error::NotAFraction)
        };
        Self::new(digits(numerator)?, digits(denominator)?).ok_or(Error::NotAFraction)
    }
}

impl From<Rational> for String {
    fn from(value: Rational) -> Self {
        value.to_string()
    }
}

impl TryFrom<String> for Rational {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fraction(n: u64, d: u64) -> Rational {
        Rational::new(n, d).unwrap()
    }

    #[test]
    fn fractions_are_kept_in_lowest_terms() {
        assert_eq!(fraction(6, 8).to_string(), "3/4");
        assert_eq!(fraction(0, 8), Rational::zero());
        assert_eq!(Rational::new(1u32, 0u32), None);
    }

    #[test]
    fn subtraction_never_goes_below_zero() {
        assert_eq!(fraction(1, 2).checked_sub(&fraction(1, 3)), Some(fraction(1, 6)));
        assert_eq!(fraction(1, 3).checked_sub(&fraction(1, 2)), None);
    }

    #[test]
    fn decimals_for_people_round_up_and_exact_ones_are_exact() {
        assert_eq!(fraction(1, 3).decimal_rounded_up(3), "0.334");
        let nearest = [(1, 3, "0.333"), (2, 3, "0.667"), (1, 2000, "0.001"), (7, 1, "7.000")];
        for (above, below, text) in nearest {
            assert_eq!(fraction(above, below).decimal_nearest(3), text);
        }
        assert_eq!(fraction(1, 40).exact_decimal(18).as_deref(), Some("0.025"));
        assert_eq!(fraction(100, 1).exact_decimal(18).as_deref(), Some("100"));
        assert_eq!(fraction(1, 3).exact_decimal(18), None);
    }

    #[test]
    fn text_that_is_no_fraction_is_refused() {
        for text in ["", "/", "1/", "/2", "1/0", "+1", "-1", "1.5", "1/2/3", " 1", "1_0", "١"] {
            assert_eq!(text.parse::<Rational>(), Err(Error::NotAFraction), "{text:?}");
        }
        assert_eq!("9".repeat(5000).parse::<Rational>(), Err(Error::NotAFraction));
    }

    proptest! {
        #[test]
        fn arithmetic_obeys_the_laws(a in 0u64.., b in 1u64.., c in 0u64.., d in 1u64..) {
            let (x, y) = (fraction(a, b), fraction(c, d));
            let sum = &x + &y;
            prop_assert_eq!(sum.checked_sub(&y), Some(x.clone()));
            prop_assert!(sum >= x);
            if c > 0 {
                prop_assert_eq!((&x * &y).checked_div(&y), Some(x.clone()));
            }
            prop_assert_eq!(x.to_string().parse::<Rational>(), Ok(x.clone()));
            prop_assert!(x <= x.round_up(20));
            prop_assert!(Rational::whole(x.floor()) <= x && x <= Rational::whole(x.ceil()));
        }
    }
}
