//! The release models that an agreement can be about, and what each says for itself in it.
//!
//! A model is a variant of [`Model`], a line in [`MODELS`] and an implementation of [`ModelTerms`].

use super::diffgen::{self, CountTable, Entries};
use super::form::{Form, Section};
use super::read::{Divided, Kind};
use super::words::Wording;
use super::{Partition, syntactic, trajectory};
use crate::math::Rational;
use crate::privacy::Epsilon;
use crate::table::{Identifier, Schema};

/// The largest ε at which people may be matched by the oblivious function: 1 + e^ε times its failures stays
/// below δ.
const MOST_EPSILON_BY_FUNCTION: u32 = 15;

/// What is made of the data. Each model has its own promise, and its own terms.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
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

/// Reads the terms of a model.
type ReadTerms = fn(&mut Form<'_>, Sections<'_>, Option<Divided>) -> Option<(Model, usize)>;

/// How the terms of a model are read.
#[derive(Clone, Copy)]
pub(super) struct Reader {
    /// The keys of [release] that are the model's own.
    pub keys: &'static [&'static str],
    /// Whether the data are paths, which have no attributes.
    pub of_paths: bool,
    /// Reads [release] and the model's own section: the terms, and where problems with them as a whole
    /// are noted.
    pub read: ReadTerms,
}

/// Where a model finds its keys.
pub(super) struct Sections<'s> {
    /// The name of the model, which is that of its section, if it has one.
    pub word: &'static str,
    pub release: &'s mut Section,
    pub top: &'s mut Section,
}

/// All models, by the word for them; the first is what an agreement means that names none.
pub(super) const MODELS: &[(&str, Reader)] = &[
    ("diffgen", Reader { keys: diffgen::read::KEYS, of_paths: false, read: diffgen::read::model }),
    (
        "lkc",
        Reader {
            keys: syntactic::read::RELEASE_KEYS,
            of_paths: false,
            read: syntactic::read::model,
        },
    ),
    ("lattice", Reader { keys: &[], of_paths: false, read: syntactic::read::model }),
    ("trajectory", Reader { keys: &[], of_paths: true, read: trajectory::read::model }),
    #[cfg(any(test, feature = "testing"))]
    ("exact-counts", Reader { keys: &[], of_paths: false, read: super::exact_counts::read }),
];

/// What the terms of a model say for themselves. What most models have no answer to has a default.
pub(super) trait ModelTerms: Wording {
    fn word(&self) -> &'static str;

    fn epsilon(&self) -> Option<&Epsilon> {
        None
    }

    fn specializations(&self) -> String {
        "0".to_owned()
    }

    fn noises(&self) -> u32 {
        0
    }

    fn is_paper(&self) -> bool {
        false
    }

    fn in_short(&self) -> String {
        self.word().to_owned()
    }

    /// What stands in the sections [release] and [crypto] of the canonical form.
    fn entries(&self) -> (Entries, Entries) {
        Default::default()
    }

    /// What stands in the model's own section of the canonical form, if it has one.
    fn own_entries(&self) -> Option<Entries> {
        None
    }

    /// The largest group that is required, and of how many parties' people it may be made.
    fn largest_group(&self, _: Option<Kind>) -> Option<(u64, u64)> {
        None
    }

    /// Whether the terms fit the schema; problems are noted at `at`.
    fn check(&self, _: &mut Form<'_>, _: Beside<'_>, _at: usize) {}
}

/// What stands in an agreement beside the terms of its model.
#[derive(Clone, Copy)]
pub(super) struct Beside<'a> {
    pub schema: &'a Schema,
    pub kind: Option<Kind>,
    pub identifier: Option<&'a Identifier>,
}

impl Model {
    pub(super) fn terms(&self) -> &dyn ModelTerms {
        match self {
            Self::DiffGen(terms) => terms,
            Self::Syntactic(terms) => terms,
            Self::Trajectory(terms) => terms,
            #[cfg(any(test, feature = "testing"))]
            Self::ExactCounts => &super::exact_counts::ExactCounts,
        }
    }

    /// The word for it in an agreement.
    pub fn word(&self) -> &'static str {
        self.terms().word()
    }

    /// The privacy budget, where the model spends one.
    pub fn epsilon(&self) -> Option<&Epsilon> {
        self.terms().epsilon()
    }

    /// How many specializations are agreed, as an agreement says it, where the model makes some.
    pub fn specializations(&self) -> String {
        self.terms().specializations()
    }

    /// How many noises every count carries, each drawn with the ε that the counts are given.
    pub fn noises(&self) -> u32 {
        self.terms().noises()
    }

    /// Whether people are matched by encryption unless the agreement says otherwise: the papers do, and
    /// with a very large ε the rare failures of the oblivious function would weigh more than δ allows.
    pub fn matches_by_encryption(&self) -> bool {
        let most = Rational::whole(MOST_EPSILON_BY_FUNCTION);
        self.is_paper() || self.epsilon().is_some_and(|epsilon| *epsilon.value() > most)
    }

    /// Whether everything is done as in the papers.
    pub fn is_paper(&self) -> bool {
        self.terms().is_paper()
    }

    /// What else tells one release from another, in a few words.
    pub fn in_short(&self) -> String {
        self.terms().in_short()
    }

    /// As agreements of before there was a choice meant it.
    pub(super) fn count_under_encryption(&mut self, partition: &Partition, bits: u32) {
        if let (Self::DiffGen(terms), Partition::Vertical { .. }) = (self, partition) {
            terms.count_table = Some(CountTable::Paillier);
            terms.paillier_bits = Some(bits);
        }
    }
}
