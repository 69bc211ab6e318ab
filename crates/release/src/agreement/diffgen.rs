//! DiffGen in an agreement: its terms, how they are read and written, and what they mean in words.

mod crypto;
pub(super) mod read;
pub(super) mod words;

use serde_json::{Value, json};

use super::form::Form;
use super::model::{Beside, ModelTerms};
use crate::privacy::Epsilon;
use crate::privacy::taylor::Taylor;
use crate::table::Decimal;

/// What the parties choose of a release by DiffGen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// The whole privacy budget of the release, exactly.
    pub epsilon: Epsilon,
    /// How many specializations the release makes (h in the papers).
    pub specializations: Specializations,
    /// How candidates are scored.
    pub utility: Utility,
    /// How one of them is chosen; [`Utility::Range`] chooses nothing, and this means nothing there.
    pub selection: Selection,
    /// Who adds noise to the counts.
    pub noise: Noise,
    /// The part of ε for the choices, between 0 and 1; 0 for [`Utility::Range`].
    pub structure_share: Decimal,
    /// Whether everything is done exactly as in the papers.
    pub profile: Profile,
    /// The polynomial in place of the exponential, where a horizontal release chooses by that.
    pub taylor: Option<Taylor>,
    /// How a vertical release makes its table of counts; no other has one.
    pub count_table: Option<CountTable>,
    /// Length of the Paillier modulus, in bits, where a key is made.
    pub paillier_bits: Option<u32>,
    /// What the transfers of two parties may rest on; the papers' know only one kind.
    pub transfers: Option<Transfers>,
}

/// How many specializations a release makes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Specializations {
    /// So many.
    Given(u32),
    /// As many as the records can bear: as many records as are expected, or else as a noisy count
    /// tells, which is part of the release and paid from its ε.
    Auto {
        /// A public guess. It is no number that a party has counted: the release would tell it.
        expected_records: Option<u64>,
    },
}

/// The word for [`Specializations::Auto`].
pub(super) const AUTO: &str = "auto";

/// A word of the agreement that stands for a choice.
macro_rules! choice {
    ($(#[$about:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($(#[$doc])* $variant,)+ }

        impl $name {
            /// Every choice with the word for it in an agreement.
            pub const ALL: &'static [(&'static str, Self)] = &[$(($word, Self::$variant),)+];

            /// The word for it in an agreement.
            pub fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }
        }
    };
}
pub(super) use choice;

choice! {
    /// How a candidate for specialization is scored.
    Utility {
        /// The largest class count of each child, summed.
        Max = "max",
        /// The same over all leaves of the table as it would become.
        LeafMax = "leaf-max",
        /// Information gain about the class.
        InfoGain = "info-gain",
        /// The part of its attribute's range that it covers: of no data.
        Range = "range",
    }
}
choice! {
    /// How a candidate is chosen by its score.
    Selection {
        /// With probability proportional to the exponential of the score.
        Exponential = "exponential",
        /// By the largest score after one-sided noise.
        PermuteAndFlip = "permute-and-flip",
    }
}
choice! {
    /// Who adds noise to the counts.
    Noise {
        /// Each of the two parties adds its own.
        TwoParty = "two-party",
        /// Both together draw one that neither knows.
        Joint = "joint",
        /// There is only one party.
        Single = "single",
    }
}
choice! {
    /// How the parties of a vertical release count together.
    CountTable {
        /// Sums by group: oblivious transfers and hashes.
        Transfers = "transfers",
        /// Sums of ciphertexts under a Paillier key.
        Paillier = "paillier",
    }
}
choice! {
    /// Where the oblivious transfers of a release come from.
    Transfers {
        /// From where they take the fewest bytes: for large releases by silent transfers, which rest
        /// on LPN.
        Auto = "auto",
        /// Never from learning parity with noise (LPN).
        NoLpn = "no-lpn",
    }
}
choice! {
    /// Whether a release follows our choices or exactly the papers'.
    Profile {
        /// The agreement's choices, tight calibration, totals kept.
        Default = "default",
        /// Max, exponential, a noise of each party, half of ε, factor 2, negative counts set to 0.
        Paper = "paper",
    }
}

/// The lengths that a Paillier modulus may have.
pub(super) const PAILLIER_BITS: [u32; 2] = [2048, 3072];

/// The key in [crypto] for where transfers come from.
pub(super) const TRANSFERS: &str = "transfers";

impl Specializations {
    /// As it stands in an agreement.
    fn value(self) -> Value {
        match self {
            Self::Given(number) => json!(number),
            Self::Auto { .. } => json!(AUTO),
        }
    }
}

impl std::fmt::Display for Specializations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Given(number) => write!(f, "{number}"),
            Self::Auto { .. } => f.write_str(AUTO),
        }
    }
}

/// Keys with their values in the canonical form.
pub(super) type Entries = Vec<(&'static str, Value)>;

impl ModelTerms for Terms {
    fn word(&self) -> &'static str {
        "diffgen"
    }

    fn epsilon(&self) -> Option<&Epsilon> {
        Some(&self.epsilon)
    }

    fn specializations(&self) -> String {
        self.specializations.to_string()
    }

    fn noises(&self) -> u32 {
        if self.noise == Noise::TwoParty { 2 } else { 1 }
    }

    fn is_paper(&self) -> bool {
        self.profile == Profile::Paper
    }

    fn in_short(&self) -> String {
        if self.utility == Utility::Range {
            let (profile, utility) = (self.profile.word(), self.utility.word());
            return format!("{profile} {utility} {}", self.noise.word());
        }
        format!(
            "{} {} {} {} {}",
            self.profile.word(),
            self.utility.word(),
            self.selection.word(),
            self.noise.word(),
            self.structure_share
        )
    }

    fn check(&self, form: &mut Form<'_>, beside: Beside<'_>, at: usize) {
        read::enough_to_specialize(form, beside.schema, self, at);
        if self.utility == Utility::Range {
            read::no_sets(form, beside.schema, at);
        }
    }

    fn entries(&self) -> (Entries, Entries) {
        let mut release = vec![
            ("epsilon", json!(self.epsilon.to_string())),
            ("specializations", self.specializations.value()),
            ("utility", json!(self.utility.word())),
            ("noise", json!(self.noise.word())),
            ("profile", json!(self.profile.word())),
        ];
        if self.utility != Utility::Range {
            release.push(("selection", json!(self.selection.word())));
            release.push(("structure_share", json!(self.structure_share.to_string())));
        }
        if let Specializations::Auto { expected_records: Some(records) } = self.specializations {
            release.push(("expected_records", json!(records)));
        }
        if let Some(taylor) = self.taylor {
            release.push(("taylor_digits", json!(taylor.digits())));
            release.push(("taylor_degree", json!(taylor.degree())));
        }
        let count_table = self.count_table.map(|table| ("count_table", json!(table.word())));
        let bits = self.paillier_bits.map(|bits| ("paillier_bits", json!(bits)));
        // Where nothing was said, as before there was a choice.
        let said = self.transfers.filter(|transfers| *transfers != Transfers::Auto);
        let transfers = said.map(|transfers| (TRANSFERS, json!(transfers.word())));
        (release, count_table.into_iter().chain(bits).chain(transfers).collect())
    }
}
