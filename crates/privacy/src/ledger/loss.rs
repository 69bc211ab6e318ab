//! What a run loses beside the ε that counts against the cap.

use std::fmt;

use num_bigint::BigUint;
use serde::{Deserialize, Serialize};

use crate::Epsilon;
use crate::math::Rational;

/// Digits after the point with which δ is entered.
const DIGITS: u32 = 30;

/// δ of a run, as a decimal number of at most 30 digits that is not below it.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Delta(Rational);

/// What the peer of a run may learn from its own view of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Towards {
    /// ε, as everybody: the peer does not know who is in the table.
    Once,
    /// 2ε: the peer learns how many records there are, so its neighbours have a record replaced.
    Twice,
}

/// Whom a cap is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// Whoever reads the releases.
    Anybody,
    /// The peers of runs by two, who see more of a run than its release.
    Peer,
}

impl Delta {
    /// The least δ with 30 digits that is not below `delta`.
    pub fn at_least(delta: &Rational) -> Self {
        let power = BigUint::from(10u32).pow(DIGITS);
        let units = (delta * &Rational::whole(power.clone())).ceil();
        Self(Rational::new(units, power).unwrap_or_else(Rational::zero))
    }

    /// What no run exceeds, and what is counted for one whose δ was not entered.
    pub fn promised() -> Self {
        Self(Rational::power_of_two(-40))
    }

    /// δ as an exact fraction.
    pub fn value(&self) -> &Rational {
        &self.0
    }
}

impl Reader {
    /// The key of the cap in a party file.
    pub(crate) fn key(self) -> &'static str {
        match self {
            Self::Anybody => "cap",
            Self::Peer => "cap_towards_peer",
        }
    }

    /// How the command that raises the cap is given it.
    pub(crate) fn flag(self) -> &'static str {
        match self {
            Self::Anybody => "--cap",
            Self::Peer => "--towards-peer --cap",
        }
    }

    /// What is spent where this cap is concerned.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Anybody => "",
            Self::Peer => " towards the peer",
        }
    }
}

impl Towards {
    /// What the peer may learn of a run that spends so much.
    pub fn loss(self, epsilon: &Epsilon) -> Rational {
        epsilon.value() * &Rational::whole(self.factor())
    }

    /// By which ε is multiplied.
    pub fn factor(self) -> u64 {
        match self {
            Self::Once => 1,
            Self::Twice => 2,
        }
    }
}

impl fmt::Display for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.exact_decimal(DIGITS).unwrap_or_else(|| {
            // The promise alone has more digits.
            self.0.decimal_rounded_up(DIGITS)
        }))
    }
}

impl fmt::Debug for Delta {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Delta({self})")
    }
}

impl From<Delta> for String {
    fn from(value: Delta) -> Self {
        value.to_string()
    }
}

impl TryFrom<String> for Delta {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, &'static str> {
        const WRONG: &str = "expected a decimal number from 0 to 1 with at most 30 digits";
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let digits = fraction.bytes().all(|byte| byte.is_ascii_digit());
        if !matches!(whole, "0" | "1") || !digits || fraction.len() > DIGITS as usize {
            return Err(WRONG);
        }
        let units: BigUint = format!("{whole}{fraction}").parse().map_err(|_| WRONG)?;
        let value = Rational::new(units, BigUint::from(10u32).pow(fraction.len() as u32));
        value.filter(|value| *value <= Rational::whole(1u32)).map(Self).ok_or(WRONG)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delta_is_rounded_up_and_spelt_in_one_way() {
        let third = Delta::at_least(&"1/3".parse().unwrap());
        assert_eq!(third.to_string(), format!("0.{}4", "3".repeat(29)));
        assert_eq!(Delta::at_least(&Rational::zero()).to_string(), "0");
        let small = Delta::at_least(&Rational::power_of_two(-200));
        assert_eq!(small.to_string(), format!("0.{}1", "0".repeat(29)));
        for delta in [third, small] {
            assert_eq!(Delta::try_from(delta.to_string()), Ok(delta));
        }
        let promised = Delta::at_least(Delta::promised().value());
        assert!(promised.value() >= Delta::promised().value());
    }

    #[test]
    fn what_is_no_delta_is_refused() {
        let long = format!("0.{}", "1".repeat(31));
        for text in ["", "2", "1.1", "-0", "0.x", ".5", "00", "1e-3", &long] {
            assert!(Delta::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
