//! One party's side of a set intersection alone: what both must have in common, and how long it may take.

pub mod column;

use std::time::Duration;

use crate::crypto::commutative::{self, Group, Residues, Ristretto};
use crate::net::{self, Limits};
use crate::protocol::Session;
use crate::protocol::psi::threshold::MOST_IN_CIRCUIT;
use crate::protocol::psi::{self, Cardinality, Intersection, Options};
use crate::protocol::transfers::Assumptions;
use crate::protocol::vole::Method;
use crate::publish::failure::Failure;
use crate::table::identifiers::Normalization;

/// Statistical security of the comparison with a threshold.
const SIGMA: usize = 64;

/// How identifiers are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Matching {
    /// By an oblivious pseudorandom function.
    Oprf,
    /// By commutative encryption in the curve group of RFC 9496.
    Ristretto255,
    /// By commutative encryption modulo the 3072-bit prime of RFC 7919.
    Ffdhe3072,
}

impl Matching {
    /// Each with the word for it.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("oprf", Self::Oprf),
        ("ristretto255", Self::Ristretto255),
        ("ffdhe3072", Self::Ffdhe3072),
    ];

    /// The name under which both sides must mean the same.
    fn suite(self) -> Result<String, Failure> {
        Ok(match self {
            Self::Oprf => "oprf 1".to_owned(),
            Self::Ristretto255 => Ristretto::new().suite().to_owned(),
            Self::Ffdhe3072 => Residues::ffdhe3072()?.suite().to_owned(),
        })
    }
}

/// What both sides learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Which of their own identifiers are common.
    Intersection,
    /// How many are.
    Cardinality,
    /// Whether at least so many are.
    Threshold(u32),
}

/// What was learned, with the number of the peer's identifiers.
#[derive(Clone, Debug)]
pub enum Found {
    /// Which of one's own are common.
    Rows(Intersection),
    /// How many are.
    Number(Cardinality),
    /// Whether enough are.
    Reached {
        /// Whether the threshold is.
        reached: bool,
        /// How many identifiers the peer has.
        peer_size: usize,
    },
}

/// What both sides must have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    mode: Mode,
    matching: Matching,
    rule: Normalization,
}

impl Terms {
    /// The terms; identifiers are compared in the default way unless another is given.
    ///
    /// # Errors
    /// If this way of comparing cannot compute the requested result.
    pub fn new(
        mode: Mode,
        matching: Option<Matching>,
        rule: Normalization,
    ) -> Result<Self, Failure> {
        let matching = match (matching, mode) {
            (None, Mode::Intersection) => Matching::Oprf,
            (None, _) => Matching::Ristretto255,
            (Some(Matching::Oprf), Mode::Cardinality) => {
                return Err(Failure::wrong_input(
                    "--matching oprf cannot count only: whoever holds its values could test \
                     identifiers",
                )
                .advise("leave --matching out, or use ristretto255"));
            }
            (Some(named), _) => named,
        };
        Ok(Self { mode, matching, rule })
    }

    /// How identifiers are compared.
    pub fn matching(&self) -> Matching {
        self.matching
    }

    /// What is compared in the handshake, in place of an agreement's hash.
    ///
    /// # Errors
    /// None in practice.
    pub fn canonical(&self) -> Result<Vec<u8>, Failure> {
        let mode = match self.mode {
            Mode::Intersection => "intersection".to_owned(),
            Mode::Cardinality => "cardinality".to_owned(),
            Mode::Threshold(threshold) => format!("at least {threshold}"),
        };
        let terms = serde_json::json!({
            "protocol": "psi 2",
            "mode": mode,
            "matching": self.matching.suite()?,
            "normalize": self.rule,
        });
        serde_json::to_vec(&terms).map_err(Failure::failed)
    }

    /// The default time limit of a whole run: every wait has its own limit, but a peer that sends
    /// something just before the end of each could delay a run for days. The peer's list may be as
    /// long as `largest_set`, but for that alone the limit is not longer than a day.
    pub fn usual_limit(&self, own: usize, largest_set: u32) -> Duration {
        const LEAST: Duration = Duration::from_secs(600);
        const DAY: Duration = Duration::from_secs(24 * 3600);
        const TIMES: u32 = 10;
        // Of every element: what both sides compute in turn on slow machines, and bytes on the line.
        let (work, bytes) = match (self.mode, self.matching) {
            // 16 merges of 96 bits: an AND takes microseconds and 32 bytes.
            (Mode::Threshold(_), _) => (Duration::from_millis(3), 16 * 96 * 32),
            (_, Matching::Oprf) => (Duration::from_micros(60), 40),
            (_, Matching::Ristretto255) => (Duration::from_micros(600), 64),
            (_, Matching::Ffdhe3072) => (Duration::from_millis(60), 768),
        };
        let time_for = |elements: usize| {
            let elements = u32::try_from(elements).unwrap_or(u32::MAX);
            let line = Limits::time_for(u64::from(elements) * bytes);
            (work.saturating_mul(elements) + line).saturating_mul(TIMES)
        };
        let longest = match self.mode {
            Mode::Threshold(_) => time_for(MOST_IN_CIRCUIT),
            _ => time_for(own.saturating_add(largest_set as usize)),
        };
        longest.min(DAY.max(time_for(own))).max(LEAST)
    }

    /// Runs the protocol, with identifiers from [`Normalization::column`].
    ///
    /// # Errors
    /// Every error that aborts it.
    pub fn run(
        &self,
        session: &mut Session,
        identifiers: &[String],
        options: Options<'_>,
    ) -> Result<Found, Failure> {
        match self.mode {
            Mode::Intersection => {
                let found = intersect(session, self.matching, identifiers, options)?;
                Ok(Found::Rows(session.conclude(found)?))
            }
            Mode::Cardinality => {
                let found = cardinality(session, self.matching, identifiers, options)?;
                Ok(Found::Number(session.conclude(found)?))
            }
            Mode::Threshold(threshold) => {
                let found =
                    psi::threshold::at_least(session, identifiers, threshold as usize, SIGMA);
                let found = session.conclude(found)?;
                Ok(Found::Reached { reached: found.reached, peer_size: found.peer_size })
            }
        }
    }
}

/// The outcome of a conversation, inside of what may go wrong before it.
type Outcome<T> = Result<Result<T, net::Error>, Failure>;

fn intersect(
    session: &mut Session,
    matching: Matching,
    identifiers: &[String],
    options: Options<'_>,
) -> Outcome<Intersection> {
    Ok(match matching {
        Matching::Oprf => {
            let method = Method::suited_to(Assumptions::Lpn);
            psi::oblivious::intersect(session, method, identifiers, options)
        }
        Matching::Ristretto255 => psi::intersect(session, &Ristretto::new(), identifiers, options),
        Matching::Ffdhe3072 => {
            psi::intersect(session, &Residues::ffdhe3072()?, identifiers, options)
        }
    })
}

fn cardinality(
    session: &mut Session,
    matching: Matching,
    identifiers: &[String],
    options: Options<'_>,
) -> Outcome<Cardinality> {
    Ok(if matching == Matching::Ffdhe3072 {
        psi::cardinality(session, &Residues::ffdhe3072()?, identifiers, options)
    } else {
        psi::cardinality(session, &Ristretto::new(), identifiers, options)
    })
}

/// A rule from the names of its steps, separated by commas; "none" has no steps.
///
/// # Errors
/// If there is no such step, or two exclude each other.
pub fn parse_rule(steps: &str) -> Result<Normalization, Failure> {
    let names = steps.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "none");
    Normalization::parse(names).map_err(|error| {
        Failure::wrong_input(error).advise("for example --normalize trim,nfc,uppercase, or none")
    })
}

impl From<commutative::Error> for Failure {
    fn from(error: commutative::Error) -> Self {
        Self::failed(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(mode: Mode, matching: Matching, rule: &Normalization) -> Terms {
        Terms::new(mode, Some(matching), rule.clone()).unwrap()
    }

    #[test]
    fn terms_differ_whenever_the_result_would() {
        let usual = parse_rule("trim,nfc,uppercase").unwrap();
        let [none, no_trim] = ["none", "nfc,uppercase"].map(|steps| parse_rule(steps).unwrap());
        let (oprf, ristretto) = (Matching::Oprf, Matching::Ristretto255);
        let all = [
            (oprf, &usual, Mode::Intersection),
            (ristretto, &usual, Mode::Intersection),
            (Matching::Ffdhe3072, &usual, Mode::Intersection),
            (ristretto, &usual, Mode::Cardinality),
            (ristretto, &none, Mode::Intersection),
            (ristretto, &no_trim, Mode::Intersection),
            (ristretto, &usual, Mode::Threshold(3)),
            (ristretto, &usual, Mode::Threshold(4)),
        ];
        let all =
            all.map(|(matching, rule, mode)| terms(mode, matching, rule).canonical().unwrap());
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other != one));
        }
        let text = String::from_utf8(all[0].clone()).unwrap();
        assert_eq!(
            text,
            r#"{"protocol":"psi 2","mode":"intersection","matching":"oprf 1","normalize":["trim","nfc","uppercase"]}"#
        );
    }

    #[test]
    fn only_an_own_list_so_long_makes_the_limit_longer_than_a_day() {
        let none = Normalization::default();
        let hours = |own, largest_set, matching| {
            let terms = terms(Mode::Intersection, matching, &none);
            terms.usual_limit(own, largest_set).as_secs_f64() / 3600.0
        };
        let (ristretto, residues) = (Matching::Ristretto255, Matching::Ffdhe3072);
        assert_eq!(hours(0, 1, ristretto), 1.0 / 6.0, "ten minutes at least");
        assert_eq!(hours(1000, 1 << 24, ristretto), 24.0);
        assert_eq!(hours(1000, 1 << 24, residues), 24.0);
        let million = hours(1_000_000, 1, ristretto);
        assert!((1.6..24.0).contains(&million), "{million}");
        assert!(hours(1_000_000, 1 << 24, residues) > 160.0);
        assert!(hours(usize::MAX, u32::MAX, residues) > 160.0, "no sum overflows");
        let counted = terms(Mode::Threshold(3), ristretto, &none).usual_limit(5, u32::MAX);
        assert!(counted <= Duration::from_secs(24 * 3600), "{counted:?}");
    }

    #[test]
    fn a_wrong_step_is_wrong_input() {
        assert!(parse_rule("trim, upper").is_err());
        assert_eq!(parse_rule("none").unwrap(), Normalization::default());
    }
}
