//! ε as people write it: a decimal string, kept exactly.

use std::fmt;
use std::str::FromStr;

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use super::Error;
use crate::math::Rational;

/// Most digits before the point. e^9999 is still computed in milliseconds.
const WHOLE_DIGITS: usize = 4;
/// Most digits after the point.
const FRACTION_DIGITS: usize = 18;

/// A positive privacy budget with a finite decimal expansion.
///
/// Grammar: `digits` or `digits.digits`, ASCII, no sign, no exponent, no superfluous leading zero.
/// `Display` gives the shortest form: `1.0` and `1` are the same ε and print alike.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Epsilon(Rational);

impl Epsilon {
    /// The exact value.
    pub fn value(&self) -> &Rational {
        &self.0
    }
}

impl FromStr for Epsilon {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let wrong = |problem| Error::Epsilon { text: text.chars().take(40).collect(), problem };
        let (whole, fraction) = match text.split_once('.') {
            Some((_, "")) => return Err(wrong("ends with the point")),
            Some(parts) => parts,
            None => (text, ""),
        };
        if whole.is_empty() {
            return Err(wrong("has no digit before the point"));
        }
        if !whole.bytes().chain(fraction.bytes()).all(|byte| byte.is_ascii_digit()) {
            return Err(wrong("has a character that is not a digit"));
        }
        if whole.len() > WHOLE_DIGITS || fraction.len() > FRACTION_DIGITS {
            return Err(wrong("is too long"));
        }
        if whole.len() > 1 && whole.starts_with('0') {
            return Err(wrong("starts with a superfluous zero"));
        }
        let digits: BigUint = format!("{whole}{fraction}")
            .parse()
            .map_err(|_| wrong("has a character that is not a digit"))?;
        let value = Rational::new(digits, BigUint::from(10u32).pow(fraction.len() as u32))
            .filter(|value| !value.is_zero())
            .ok_or_else(|| wrong("is zero"))?;
        Ok(Self(value))
    }
}

impl fmt::Display for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Always present: the grammar allows no more digits than this.
        f.write_str(&self.0.exact_decimal(FRACTION_DIGITS as u32).unwrap_or_default())
    }
}

impl fmt::Debug for Epsilon {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Epsilon({self})")
    }
}

impl From<Epsilon> for String {
    fn from(value: Epsilon) -> Self {
        value.to_string()
    }
}

impl TryFrom<String> for Epsilon {
    type Error = Error;

    fn try_from(text: String) -> Result<Self, Error> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_decimal_string_is_kept_exactly() {
        let tenth: Epsilon = "0.1".parse().unwrap();
        assert_eq!(tenth.value(), &Rational::new(1u32, 10u32).unwrap());
        let one: Epsilon = "1.0".parse().unwrap();
        assert_eq!((one.to_string().as_str(), &one), ("1", &"1".parse().unwrap()));
    }

    #[test]
    fn anything_but_a_positive_decimal_is_refused_with_the_reason() {
        for (text, problem) in [
            ("", "has no digit before the point"),
            (".5", "has no digit before the point"),
            ("1.", "ends with the point"),
            ("0", "is zero"),
            ("0.000", "is zero"),
            ("-1", "has a character that is not a digit"),
            ("+1", "has a character that is not a digit"),
            ("1e3", "has a character that is not a digit"),
            ("1.2.3", "has a character that is not a digit"),
            (" 1", "has a character that is not a digit"),
            ("1,5", "has a character that is not a digit"),
            ("١", "has a character that is not a digit"),
            ("01", "starts with a superfluous zero"),
            ("12345", "is too long"),
            ("0.1234567890123456789", "is too long"),
        ] {
            let error = text.parse::<Epsilon>().unwrap_err();
            assert!(error.to_string().contains(problem), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_reads_back_as_the_same(whole in 0u32..10_000, part in "[0-9]{0,18}") {
            let text = if part.is_empty() { whole.to_string() } else { format!("{whole}.{part}") };
            if let Ok(epsilon) = text.parse::<Epsilon>() {
                prop_assert_eq!(epsilon.to_string().parse::<Epsilon>().unwrap(), epsilon);
            }
        }

        #[test]
        fn no_text_panics(text in ".{0,60}") {
            let _ = text.parse::<Epsilon>();
        }
    }
}
