//! Exact decimal numbers with a fixed number of digits.

use crate::Error;
use std::cmp::Ordering;
use std::fmt;

const MAX_WHOLE_DIGITS: usize = 18;
const MAX_DECIMALS: usize = 9;

/// An exact decimal number, such as `-0.25`, in normal form: `1`, `1.0` and `1.00` are equal.
///
/// At most 18 digits before and 9 after the decimal point, so that sums and differences of a few
/// of them at any common scale fit an `i128`. No binary floating point is involved anywhere.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decimal {
    /// The number times `10^scale`.
    units: i128,
    /// As small as possible: the last decimal is not 0.
    scale: u8,
}

impl Decimal {
    /// Zero.
    pub const ZERO: Self = Self { units: 0, scale: 0 };
    /// One.
    pub const ONE: Self = Self { units: 1, scale: 0 };

    /// Reads `-?(0|[1-9][0-9]*)(\.[0-9]+)?` and nothing else.
    ///
    /// # Errors
    /// Text that is written otherwise, or has too many digits.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let unsigned = text.strip_prefix('-').unwrap_or(text);
        let (whole, decimals) = match unsigned.split_once('.') {
            Some((_, "")) => return Err(not_a_decimal(text)),
            Some((whole, decimals)) => (whole, decimals),
            None => (unsigned, ""),
        };
        let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
        let leading_zero = whole.len() > 1 && whole.starts_with('0');
        if whole.is_empty() || leading_zero || !digits(whole) || !digits(decimals) {
            return Err(not_a_decimal(text));
        }
        let decimals = decimals.trim_end_matches('0');
        if whole.len() > MAX_WHOLE_DIGITS || decimals.len() > MAX_DECIMALS {
            return Err(Error::input(format!(
                "`{}` has too many digits: use at most 18 before and 9 after the decimal point",
                super::text::shown(text)
            )));
        }
        let magnitude = whole
            .bytes()
            .chain(decimals.bytes())
            .fold(0_i128, |sum, digit| sum * 10 + i128::from(digit - b'0'));
        let units = if text.starts_with('-') { -magnitude } else { magnitude };
        Ok(Self::from_units(units, decimals.len() as u8))
    }

    /// As [`Decimal::parse`], for the cells of a table: decimals after the ninth are rounded down, as
    /// every value is to the points of its domain, which has no more.
    ///
    /// # Errors
    /// As for [`Decimal::parse`]; too many digits only before the decimal point.
    pub fn parse_rounding_down(text: &str) -> Result<Self, Error> {
        let long = text.find('.').and_then(|dot| text.split_at_checked(dot + 1 + MAX_DECIMALS));
        let Some((kept, dropped)) = long else { return Self::parse(text) };
        if !dropped.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(not_a_decimal(text));
        }
        let number = Self::parse(kept)?;
        if text.starts_with('-') && dropped.bytes().any(|digit| digit != b'0') {
            let scale = MAX_DECIMALS as u8;
            return Ok(Self::from_units(number.floor_units(scale) - 1, scale));
        }
        Ok(number)
    }

    /// `units / 10^scale` in normal form. `scale` is at most 9 wherever this crate calls it.
    pub(super) fn from_units(mut units: i128, mut scale: u8) -> Self {
        while scale > 0 && units % 10 == 0 {
            units /= 10;
            scale -= 1;
        }
        Self { units, scale }
    }

    /// Digits after the decimal point.
    pub fn scale(self) -> u8 {
        self.scale
    }

    /// The number times `10^scale`, rounded down to a whole number.
    pub fn floor_units(self, scale: u8) -> i128 {
        if scale >= self.scale {
            self.units.saturating_mul(power_of_ten(scale - self.scale))
        } else {
            self.units.div_euclid(power_of_ten(self.scale - scale))
        }
    }

    /// Numerator and denominator of the exact value; the denominator is a power of ten.
    pub fn ratio(self) -> (i128, u64) {
        (self.units, 10_u64.pow(u32::from(self.scale)))
    }
}

fn power_of_ten(exponent: u8) -> i128 {
    10_i128.saturating_pow(u32::from(exponent))
}

impl From<i64> for Decimal {
    fn from(whole: i64) -> Self {
        Self { units: i128::from(whole), scale: 0 }
    }
}

impl Ord for Decimal {
    fn cmp(&self, other: &Self) -> Ordering {
        let scale = self.scale.max(other.scale);
        self.floor_units(scale).cmp(&other.floor_units(scale))
    }
}

impl PartialOrd for Decimal {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (magnitude, denominator) =
            (self.units.unsigned_abs(), power_of_ten(self.scale) as u128);
        let sign = if self.units < 0 { "-" } else { "" };
        write!(f, "{sign}{}", magnitude / denominator)?;
        if self.scale > 0 {
            let width = usize::from(self.scale);
            write!(f, ".{:0width$}", magnitude % denominator)?;
        }
        Ok(())
    }
}

impl fmt::Debug for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn not_a_decimal(text: &str) -> Error {
    Error::input(format!(
        "`{}` is not a decimal number: write digits with an optional sign and decimal point, such as \
         12 or -0.5, without exponent, leading zeros or spaces",
        super::text::shown(text)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_number_has_one_normal_form() {
        for (text, normal) in [
            ("1.0", "1"),
            ("1.000000000000000000", "1"),
            ("0.50", "0.5"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("-12.340", "-12.34"),
            ("100", "100"),
            ("0.000000001", "0.000000001"),
            ("999999999999999999.999999999", "999999999999999999.999999999"),
        ] {
            assert_eq!(Decimal::parse(text).unwrap().to_string(), normal, "{text}");
        }
    }

    fn refused(found: Result<Decimal, Error>, why: &str) -> bool {
        found.is_err_and(|error| error.message().contains(why))
    }

    #[test]
    fn anything_else_is_refused() {
        for text in [
            "", "-", ".", ".5", "5.", "+1", "01", "00", "1e3", "1_000", " 1", "1 ", "0x10", "inf",
            "nan", "--1", "1.2.3", "1,5", "\u{661}", "½",
        ] {
            assert!(refused(Decimal::parse(text), "is not a decimal number"), "{text}");
        }
        for text in ["1000000000000000000", "0.0000000001"] {
            assert!(refused(Decimal::parse(text), "has too many digits"), "{text}");
        }
    }

    #[test]
    fn further_decimals_of_a_cell_are_rounded_down() {
        for (text, lower) in [
            ("16.616666666666667", "16.616666666"),
            ("-16.616666666666667", "-16.616666667"),
            ("-0.0000000001", "-0.000000001"),
            ("-1.5000000000", "-1.5"),
            ("0.9999999999", "0.999999999"),
            ("-999999999999999999.9999999999", "-1000000000000000000"),
            ("12", "12"),
            ("-0.25", "-0.25"),
        ] {
            let number = Decimal::parse_rounding_down(text).unwrap();
            assert_eq!(number.to_string(), lower, "{text}");
        }
        for text in
            ["1.000000000x", "1.000000000-", "x.0000000001", "1.00000000½0", "01.0000000000"]
        {
            let found = Decimal::parse_rounding_down(text);
            assert!(refused(found, "is not a decimal number"), "{text}");
        }
        let found = Decimal::parse_rounding_down("1000000000000000000.5");
        assert!(refused(found, "has too many digits"));
    }

    #[test]
    fn rounding_down_goes_towards_minus_infinity() {
        let units = |text: &str, scale| Decimal::parse(text).unwrap().floor_units(scale);
        assert_eq!(units("57.99", 0), 57);
        assert_eq!(units("-57.01", 0), -58);
        assert_eq!(units("57.99", 1), 579);
        assert_eq!(units("57", 2), 5700);
    }

    proptest! {
        #[test]
        fn text_survives_the_round_trip(units in -10_i128.pow(18)..10_i128.pow(18), scale in 0..=9_u8) {
            let number = Decimal::from_units(units, scale);
            prop_assert_eq!(Decimal::parse(&number.to_string()).unwrap(), number);
        }

        #[test]
        fn order_is_the_order_of_the_numbers(a in -10_000_i128..10_000, b in -10_000_i128..10_000, s in 0..=4_u8, t in 0..=4_u8) {
            let (x, y) = (Decimal::from_units(a, s), Decimal::from_units(b, t));
            let scaled = |units: i128, scale: u8| units * 10_i128.pow(4 - u32::from(scale));
            prop_assert_eq!(x.cmp(&y), scaled(a, s).cmp(&scaled(b, t)));
        }

        #[test]
        fn no_text_panics(text in ".{0,40}") {
            let _ = Decimal::parse(&text);
            let _ = Decimal::parse_rounding_down(&format!("1.{text}"));
        }
    }
}
