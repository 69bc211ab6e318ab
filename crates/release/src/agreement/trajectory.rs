//! Paths of people through places, in an agreement: what is required of them, how it is read and
//! written, and what it means in words.
//!
//! Such an agreement has no attributes. Its data are paths, and beside each path the class, some of
//! whose values are protected: whoever knows at most `l` pairs of place and time of a person is left
//! with at least `k` people, of whom at most the part `c` have any one of the protected values.

pub(super) mod read;
pub mod words;

use serde_json::json;

use super::diffgen::{Entries, choice};
use super::form::Form;
use super::model::{Beside, ModelTerms};
use super::read::Kind;
use crate::table::Decimal;

/// Most pairs that somebody may be taken to know: the parts of a set are looked at one by one.
pub const MOST_KNOWN: u32 = 16;

/// What the holders of the paths choose.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Pairs that somebody may know.
    pub l: u32,
    /// People who must share them, at least.
    pub k: u64,
    /// The part of those that may have a protected value: from above 0 to 1, which allows everything.
    pub c: Decimal,
    /// The values of the class that nobody is to be known to have.
    pub protect: Vec<String>,
    /// Sets of pairs that this part of all people share are worth keeping.
    pub support: Decimal,
    /// Which pair is taken out first.
    pub score: Score,
    /// The columns of the data.
    pub columns: Columns,
    /// Times are divided by this, and fractions dropped.
    pub bin: u64,
    /// Whether somebody who stays is counted at the first time alone.
    pub collapse: bool,
}

/// The columns of a table of paths, without the class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Columns {
    /// A path in each row; the identifier, if there is one, must not come twice.
    Wide {
        /// The identifier.
        id: Option<String>,
        /// The path.
        path: String,
    },
    /// A pair in each row.
    Long {
        /// The identifier.
        id: String,
        /// The place.
        location: String,
        /// The time.
        time: String,
    },
}

choice! {
    /// Which pair is taken out first. PG is the violating sets that it would end, UL the frequent ones
    /// that it would break.
    Score {
        /// PG / (UL + 1).
        GainPerLoss = "gain-per-loss",
        /// PG.
        Gain = "gain",
        /// 1 / (UL + 1).
        Loss = "loss",
    }
}

impl Columns {
    /// The column of paths in a release.
    pub const RELEASED: &'static str = "path";

    /// The column that names a person, if there is one.
    pub fn id(&self) -> Option<&String> {
        match self {
            Self::Wide { id, .. } => id.as_ref(),
            Self::Long { id, .. } => Some(id),
        }
    }

    /// Each with the key that names it.
    pub(super) fn named(&self) -> Vec<(&'static str, &str)> {
        match self {
            Self::Wide { id, path } => {
                let id = id.as_deref().map(|id| ("id", id));
                [("path", path.as_str())].into_iter().chain(id).collect()
            }
            Self::Long { id, location, time } => {
                vec![("id", id), ("location", location), ("time", time)]
            }
        }
    }
}

impl ModelTerms for Terms {
    fn word(&self) -> &'static str {
        "trajectory"
    }

    fn in_short(&self) -> String {
        let Self { l, k, c, support, score, .. } = self;
        format!("trajectory ({l}, {k}, {c}) {support} {}", score.word())
    }

    /// What is required holds of each party's paths by themselves.
    fn largest_group(&self, _: Option<Kind>) -> Option<(u64, u64)> {
        Some((self.k, 1))
    }

    fn check(&self, form: &mut Form<'_>, beside: Beside<'_>, at: usize) {
        let identifier = beside.identifier.filter(|_| beside.kind == Some(Kind::Horizontal));
        read::check(form, beside.schema, self, identifier, at);
    }

    fn own_entries(&self) -> Option<Entries> {
        let mut entries = vec![
            (super::syntactic::ACKNOWLEDGE, json!(super::syntactic::ACKNOWLEDGED)),
            ("l", json!(self.l)),
            ("k", json!(self.k)),
            ("c", json!(self.c.to_string())),
            ("protect", json!(self.protect)),
            ("support", json!(self.support.to_string())),
            ("score", json!(self.score.word())),
            ("bin", json!(self.bin)),
            ("collapse", json!(self.collapse)),
        ];
        entries.extend(self.columns.named().into_iter().map(|(key, name)| (key, json!(name))));
        Some(entries)
    }
}
