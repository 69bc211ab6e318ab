//! The release models that an agreement can be about, and what each says for itself in it.

use super::Partition;
use super::diffgen::{self, CountTable, Entries};
use super::words::Wording;
use super::{syntactic, trajectory};
use crate::math::Rational;
use crate::privacy::{Epsilon, slack};
use crate::protocol::psi::oblivious;
use crate::protocol::shards::failures;

/// The largest ε at which people may be matched by the oblivious function: 1 + e^ε times its failures stays
/// below δ.
const MOST_EPSILON_BY_FUNCTION: u32 = 15;

/// The largest ε at which people may be matched by the oblivious function, in words.
pub(super) fn most_by_function(shards: Option<u32>) -> String {
    let most = MOST_EPSILON_BY_FUNCTION;
    let in_shards = |number: u32| {
        let failures = failures_by_function(number);
        match slack::bears(&Rational::whole(most), failures) {
            true => most.to_string(),
            false => format!("{} in {number} shards", slack::largest_epsilon(failures)),
        }
    };
    shards.map_or_else(|| most.to_string(), in_shards)
}

/// Ways in which matching in so many shards may fail.
fn failures_by_function(shards: u32) -> u64 {
    failures(shards, oblivious::FAILURES)
}

/// What is made of the data. Each model has its own promise, and its own terms.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Model {
    /// A table generalized by private choices, with noisy counts: differentially private.
    DiffGen(diffgen::Terms),
    /// A table generalized until every group is as required, with exact counts.
    Syntactic(syntactic::Terms),
    /// Paths without some of their pairs, with exact counts.
    Trajectory(trajectory::Terms),
    /// Exact counts of the coarsest values: no promise at all. It shows what a model needs.
    #[cfg(any(test, feature = "testing"))]
    ExactCounts,
}

/// A model by its name, before its terms are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    DiffGen,
    Lkc,
    Lattice,
    Trajectory,
    #[cfg(any(test, feature = "testing"))]
    ExactCounts,
}

impl Name {
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("diffgen", Self::DiffGen),
        ("lkc", Self::Lkc),
        ("lattice", Self::Lattice),
        ("trajectory", Self::Trajectory),
        #[cfg(any(test, feature = "testing"))]
        ("exact-counts", Self::ExactCounts),
    ];

    /// The keys of [release] that are the model's own.
    pub fn keys(self) -> &'static [&'static str] {
        match self {
            Self::DiffGen => diffgen::read::KEYS,
            Self::Lkc => syntactic::read::RELEASE_KEYS,
            Self::Lattice | Self::Trajectory => &[],
            #[cfg(any(test, feature = "testing"))]
            Self::ExactCounts => &[],
        }
    }
}

impl Model {
    /// The word for it in an agreement.
    pub fn word(&self) -> &'static str {
        let name = match self {
            Self::DiffGen(_) => Name::DiffGen,
            Self::Syntactic(terms) => return terms.word(),
            Self::Trajectory(_) => Name::Trajectory,
            #[cfg(any(test, feature = "testing"))]
            Self::ExactCounts => Name::ExactCounts,
        };
        Name::ALL[name as usize].0
    }

    /// The privacy budget, where the model spends one.
    pub fn epsilon(&self) -> Option<&Epsilon> {
        match self {
            Self::DiffGen(terms) => Some(&terms.epsilon),
            Self::Syntactic(_) | Self::Trajectory(_) => None,
            #[cfg(any(test, feature = "testing"))]
            Self::ExactCounts => None,
        }
    }

    /// How many specializations are agreed, as an agreement says it, where the model makes some.
    pub fn specializations(&self) -> String {
        match self {
            Self::DiffGen(terms) => terms.specializations.to_string(),
            Self::Syntactic(_) | Self::Trajectory(_) => "0".to_owned(),
            #[cfg(any(test, feature = "testing"))]
            Self::ExactCounts => "0".to_owned(),
        }
    }

    /// How many noises every count carries, each drawn with the ε that the counts are given.
    pub fn noises(&self) -> u32 {
        match self {
            Self::DiffGen(terms) => {
                if terms.noise == diffgen::Noise::TwoParty {
                    2
                } else {
                    1
                }
            }
            Self::Syntactic(_) | Self::Trajectory(_) => 0,
            #[cfg(any(test, feature = "testing"))]
            Self::ExactCounts => 0,
        }
    }

    /// Whether people are matched by encryption unless the agreement says otherwise: the papers do, and
    /// with a very large ε the rare failures of the oblivious function, in each shard if there are some,
    /// would weigh more than δ allows.
    pub fn matches_by_encryption(&self, shards: Option<u32>) -> bool {
        let most = Rational::whole(MOST_EPSILON_BY_FUNCTION);
        let failures = shards.map_or(0, failures_by_function);
        let too_large = |epsilon: &Rational| *epsilon > most || !slack::bears(epsilon, failures);
        self.is_paper() || self.epsilon().is_some_and(|epsilon| too_large(epsilon.value()))
    }

    /// Whether everything is done as in the papers.
    pub fn is_paper(&self) -> bool {
        match self {
            Self::DiffGen(terms) => terms.profile == diffgen::Profile::Paper,
            Self::Syntactic(terms) => terms.is_paper(),
            Self::Trajectory(_) => false,
            #[cfg(any(test, feature = "testing"))]
            Self::ExactCounts => false,
        }
    }

    /// What else tells one release from another, in a few words.
    pub fn in_short(&self) -> String {
        match self {
            Self::DiffGen(terms) => format!(
                "{} {} {} {} {}",
                terms.profile.word(),
                terms.utility.word(),
                terms.selection.word(),
                terms.noise.word(),
                terms.structure_share
            ),
            Self::Syntactic(terms) => terms.in_short(),
            Self::Trajectory(terms) => terms.in_short(),
            #[cfg(any(test, feature = "testing"))]
            Self::ExactCounts => self.word().to_owned(),
        }
    }

    /// What stands in the sections [release] and [crypto] of the canonical form.
    pub(super) fn entries(&self) -> (Entries, Entries) {
        match self {
            Self::DiffGen(terms) => terms.entries(),
            Self::Syntactic(terms) => (terms.release_entries(), Entries::new()),
            Self::Trajectory(_) => Default::default(),
            #[cfg(any(test, feature = "testing"))]
            Self::ExactCounts => Default::default(),
        }
    }

    /// The model's own section of the canonical form, if it has one.
    pub(super) fn section(&self) -> Option<(&'static str, Entries)> {
        match self {
            Self::Syntactic(terms) => Some((terms.word(), terms.entries())),
            Self::Trajectory(terms) => Some((self.word(), terms.entries())),
            _ => None,
        }
    }

    /// As agreements of before there was a choice meant it.
    pub(super) fn count_under_encryption(&mut self, partition: &Partition, bits: u32) {
        if let (Self::DiffGen(terms), Partition::Vertical { .. }) = (self, partition) {
            terms.count_table = Some(CountTable::Paillier);
            terms.paillier_bits = Some(bits);
        }
    }

    /// What it means, in words.
    pub(super) fn wording(&self) -> &dyn Wording {
        match self {
            Self::DiffGen(terms) => terms,
            Self::Syntactic(terms) => terms,
            Self::Trajectory(terms) => terms,
            #[cfg(any(test, feature = "testing"))]
            Self::ExactCounts => &super::words::ExactCounts,
        }
    }
}
