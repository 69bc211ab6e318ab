//! The agreement that two organisations sign: parsing, checking, canonical form, hash, plain words.
//!
//! One TOML file contains everything on which a release depends and nothing private. It is read
//! strictly (an unknown key is an error, and every rule that is broken is reported with its place
//! and a remedy), completed with its defaults, and written in a *canonical form*: JSON with sorted
//! keys, no white space, exact decimals in normal form, text in Unicode NFC, taxonomies inlined.
//! Two files that say the same have the same canonical form, and their SHA-256 is what the parties
//! compare before any data moves. Nothing here depends on the private files of a party.
//!
//! `partition = "local"` describes a release by one party: it has no parties, owners, identifiers
//! or cryptography, and may have set-valued attributes. A two-party agreement can be run by one
//! party too, as the baseline over the joined table; what concerns the other party is then unused.
//!
//! # Example
//!
//! ```
//! use diptych_release::agreement::Agreement;
//!
//! let text = r#"
//!     [release]
//!     id = "illnesses"
//!     partition = "local"
//!     epsilon = "1.0"
//!     specializations = 2
//!     max_records = 1000
//!     [class]
//!     column = "ill"
//!     values = ["yes", "no"]
//!     [[attribute]]
//!     name = "age"
//!     kind = "numeric"
//!     min = 0
//!     max = 99
//!     step = 1
//! "#;
//! let parse = |text: &str| {
//!     Agreement::parse("agreement.toml", text.as_bytes(), &|_| Err("no files here".to_owned()))
//! };
//! let agreement = parse(text)?;
//! assert!(agreement.plain_words().contains("age"));
//!
//! // The same in other words is the same agreement; a misspelt key is an error.
//! assert_eq!(parse(&text.replace("1.0", "1"))?.hash(), agreement.hash());
//! assert_ne!(parse(&text.replace("1.0", "1.1"))?.hash(), agreement.hash());
//! assert!(parse(&text.replace("max_records", "most_records")).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod builtin;
mod canonical;
mod difference;
pub mod diffgen;
mod draft;
#[cfg(any(test, feature = "testing"))]
mod exact_counts;
pub(crate) mod form;
mod model;
pub(crate) mod node;
mod problem;
mod read;
mod rehearsal;
pub mod syntactic;
mod taxonomies;
#[cfg(test)]
mod tests;
pub mod trajectory;
mod words;

pub use builtin::Builtin;
pub use difference::{Difference, first_difference};
pub use diffgen::{CountTable, Noise, Profile, Selection, Transfers, Utility};
pub use draft::{Division, Draft, DraftAttribute, DraftParty};
pub use model::Model;
pub use problem::{Location, Problem, Problems, Rule};
pub use read::MAX_ATTRIBUTES;
pub use rehearsal::noise_bound;
pub use taxonomies::{TaxonomyFormat, read_taxonomy};
pub use words::Block;

use crate::Error;
use crate::math::hex;
use crate::net::Fingerprint;
use crate::privacy::{Epsilon, Towards};
use crate::role::Role;
use crate::table::csv::unreadable;
use crate::table::{Decimal, Identifier, Schema};
use canonical::Format;
use sha2::{Digest, Sha256};
use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

/// Largest agreement or taxonomy file, in bytes.
pub const MAX_FILE_BYTES: usize = 4 << 20;
/// Largest canonical form, in bytes: it must fit one message.
pub const MAX_CANONICAL_BYTES: usize = 16 << 20;
/// Most points of a numeric grid whose splits two parties choose together (in horizontal mode, where
/// the other party alone has the class, and where membership is hidden): every point costs a piece of circuit.
pub const MAX_SHARED_POINTS: u32 = 1_024;

/// Most shards of a release: each has a connection of its own, and a process may often open a thousand files.
pub const MAX_SHARDS: u32 = 256;

/// A complete and consistent agreement. It can only be made by reading one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Agreement {
    /// The release's name; safe as a file name.
    pub id: String,
    /// How the data is divided, with what only that form needs.
    pub partition: Partition,
    /// Public bound on the number of records: of each party (vertical), or of all together.
    pub max_records: u64,
    /// Whether the data may have other releases whose promises do not add up with this one's.
    pub accept_composition: bool,
    /// What the parties declare for people.
    pub declared: Declared,
    /// Attributes and class.
    pub schema: Arc<Schema>,
    /// What is made of the data, and with which promise.
    pub model: Model,
    /// The number of shards over which the people of a vertical release are distributed, if they
    /// are.
    pub shards: Option<u32>,
}

/// What the parties declare for the people who sign: part of the hash, and all of it may be left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declared {
    /// What the release is for.
    pub purpose: Option<String>,
    /// How long what is kept where.
    pub retention: Option<String>,
    /// Whom to ask.
    pub contacts: Vec<String>,
    /// The last day (UTC) on which a run may begin, as `2027-03-31`.
    pub valid_until: Option<String>,
}

/// How the data is divided between the parties.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Partition {
    /// The same individuals, different columns.
    Vertical {
        /// Who takes part.
        parties: Parties,
        /// How individuals are recognized.
        identifier: Identifier,
        /// Requirements on the common people.
        matching: Matching,
    },
    /// The same columns, different individuals.
    Horizontal {
        /// Who takes part.
        parties: Parties,
        /// By which column to count the individuals that are in both tables; usually not done.
        overlap_check: Option<Identifier>,
    },
    /// One party holds everything.
    Local,
}

/// The requirements of a vertical release on the people that both parties have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Matching {
    /// A run with fewer common people ends without a release. 0 where neither party learns how many
    /// are.
    pub min_common: u64,
    /// What a rehearsal may reveal, if one is allowed.
    pub rehearse: Option<Rehearsal>,
    /// How common people are found.
    pub by: MatchBy,
    /// Whether the parties learn who is common.
    pub membership: Membership,
}

impl Default for Matching {
    fn default() -> Self {
        let membership = Membership::Shown;
        Self { min_common: 1, rehearse: None, by: MatchBy::Oprf, membership }
    }
}

/// What the parties of a vertical release learn of whom both have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Membership {
    /// Who of its own people is common.
    Shown,
    /// Nothing: neither who is common nor how many are.
    Hidden {
        /// So many records each party seems to have; without it both learn how many there are.
        pad_to: Option<u64>,
    },
}

impl Membership {
    /// Every choice with the word for it in an agreement.
    pub const ALL: &'static [(&'static str, Self)] =
        &[("shown", Self::Shown), ("hidden", Self::Hidden { pad_to: None })];

    /// Whether neither party learns who is common.
    pub fn is_hidden(self) -> bool {
        matches!(self, Self::Hidden { .. })
    }
}

/// The largest ε with hidden membership: with a larger one the failure probability of a hidden join
/// would exceed what δ allows.
pub const MOST_EPSILON_HIDDEN: u32 = 13;

/// How the parties of a vertical release find the people that they have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum MatchBy {
    /// By an oblivious pseudorandom function.
    Oprf,
    /// By commutative encryption in the group ristretto255.
    Ristretto255,
    /// By commutative encryption modulo the 3072-bit prime of RFC 7919.
    Ffdhe3072,
}

impl MatchBy {
    /// Every choice with the word for it in an agreement.
    pub const ALL: &'static [(&'static str, Self)] = &[
        ("oprf", Self::Oprf),
        ("ristretto255", Self::Ristretto255),
        ("ffdhe3072", Self::Ffdhe3072),
    ];

    /// The default of an agreement that names none: see [`Model::matches_by_encryption`].
    pub fn usual(by_encryption: bool) -> Self {
        if by_encryption { Self::Ristretto255 } else { Self::Oprf }
    }

    /// The word for it in an agreement.
    pub fn word(self) -> &'static str {
        match self {
            Self::Oprf => "oprf",
            Self::Ristretto255 => "ristretto255",
            Self::Ffdhe3072 => "ffdhe3072",
        }
    }
}

/// What a rehearsal reveals to both parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Rehearsal {
    /// How many records each has, and how many people are common; outside ε.
    Numbers,
    /// Also of how many common people the class differs; outside ε.
    Labels,
    /// How many people are common, with noise; and how many records each has, unless both are padded.
    Noisy {
        /// What each such rehearsal spends.
        epsilon: Decimal,
    },
}

/// The two parties.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parties {
    /// The first party.
    pub p1: Party,
    /// The second party.
    pub p2: Party,
}

impl Parties {
    /// One of the two.
    pub fn of(&self, role: Role) -> &Party {
        match role {
            Role::P1 => &self.p1,
            Role::P2 => &self.p2,
        }
    }
}

/// One party, as the other one recognizes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Party {
    /// For people.
    pub name: String,
    /// SHA-256 of the public key of the party's identity.
    pub fingerprint: Fingerprint,
}

/// SHA-256 of an agreement's canonical form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AgreementHash(pub [u8; 32]);

impl Agreement {
    /// Reads the agreement and the taxonomy files it names, which are beside or below it.
    ///
    /// # Errors
    /// If the file cannot be read, or its [`Problems`].
    pub fn load(path: &Path) -> Result<Self, Error> {
        Self::load_with_remarks(path).map(|(agreement, _)| agreement)
    }

    /// The same, with remarks on what is in the file and has no effect.
    ///
    /// # Errors
    /// As [`Agreement::load`].
    pub fn load_with_remarks(path: &Path) -> Result<(Self, Vec<Problem>), Error> {
        let shown = path.display().to_string();
        let bytes = read_file(path).map_err(|reason| unreadable(&shown, reason))?;
        Self::parse_beside(&shown, &bytes, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads an agreement from bytes, with the taxonomy files that it names, which are in
    /// `directory` or below it; with remarks. `name` is used in messages.
    ///
    /// # Errors
    /// The [`Problems`], with every rule that is broken.
    pub fn parse_beside(
        name: &str,
        bytes: &[u8],
        directory: &Path,
    ) -> Result<(Self, Vec<Problem>), Error> {
        let file = |name: &str| read_file(&directory.join(name));
        Ok(read::from_toml(name, bytes, &file)?)
    }

    /// Reads an agreement from bytes. `name` is used in messages; `taxonomy_file` returns the bytes
    /// of a file named by the agreement (a relative path without `..`) or the reason why not.
    ///
    /// # Errors
    /// The [`Problems`], with every rule that is broken.
    pub fn parse(
        name: &str,
        bytes: &[u8],
        taxonomy_file: &dyn Fn(&str) -> Result<Vec<u8>, String>,
    ) -> Result<Self, Error> {
        Ok(read::from_toml(name, bytes, taxonomy_file)?.0)
    }

    /// Reads a canonical form, as a peer sends it or a manifest holds it; that of older manifests too.
    ///
    /// # Errors
    /// The [`Problems`], or that it is not in canonical form.
    pub fn from_canonical(bytes: &[u8]) -> Result<Self, Error> {
        let (mut agreement, format) = read::from_json(bytes)?;
        let is_form = |agreement: &Self, format| {
            canonical::value(agreement, format).to_string().as_bytes() == bytes
        };
        if is_form(&agreement, format) {
            return Ok(agreement);
        }
        for paillier_bits in diffgen::PAILLIER_BITS {
            if format == Format::One && is_form(&agreement, Format::First { paillier_bits }) {
                agreement.model.count_under_encryption(&agreement.partition, paillier_bits);
                return Ok(agreement);
            }
        }
        Err(Error::input(
            "the text is not in canonical form: send exactly what `Agreement::canonical` returns",
        ))
    }

    /// The canonical form of this agreement. Its length is at most [`MAX_CANONICAL_BYTES`].
    pub fn canonical(&self) -> String {
        canonical::value(self, Format::Two).to_string()
    }

    /// SHA-256 of the canonical form.
    pub fn hash(&self) -> AgreementHash {
        AgreementHash(Sha256::digest(self.canonical().as_bytes()).into())
    }

    /// The agreement in plain words, for those who sign it.
    pub fn plain_words(&self) -> String {
        words::as_text(&words::page(self))
    }

    /// The same page in its parts, for other forms than text.
    pub fn page(&self) -> Vec<Block> {
        words::page(self)
    }

    /// What the parties learn about each other's data: one part of [`Agreement::plain_words`].
    pub fn learned_words(&self) -> String {
        words::as_text(&words::learned_page(self))
    }

    /// The columns of the release before the class and the count.
    pub fn columns(&self) -> Vec<&str> {
        match &self.model {
            Model::Trajectory(_) => vec![trajectory::Columns::RELEASED],
            _ => self.schema.attributes.iter().map(|attribute| attribute.name.as_str()).collect(),
        }
    }

    /// The privacy budget of the release, where its model spends one.
    pub fn epsilon(&self) -> Option<&Epsilon> {
        self.model.epsilon()
    }

    /// The two parties, unless the release is local.
    pub fn parties(&self) -> Option<&Parties> {
        match &self.partition {
            Partition::Vertical { parties, .. } | Partition::Horizontal { parties, .. } => {
                Some(parties)
            }
            Partition::Local => None,
        }
    }

    /// The column by which individuals are recognized, where there is one.
    pub fn identifier(&self) -> Option<&Identifier> {
        match &self.partition {
            Partition::Vertical { identifier, .. } => Some(identifier),
            Partition::Horizontal { overlap_check, .. } => overlap_check.as_ref(),
            Partition::Local => None,
        }
    }

    /// The requirements on the common people, where people are matched.
    pub fn matching(&self) -> Option<Matching> {
        match &self.partition {
            Partition::Vertical { matching, .. } => Some(*matching),
            Partition::Horizontal { .. } | Partition::Local => None,
        }
    }

    /// What the parties learn of whom both have, where people are matched.
    pub fn membership(&self) -> Membership {
        self.matching().map_or(Membership::Shown, |matching| matching.membership)
    }

    /// What a noisy rehearsal spends, where one is allowed.
    pub fn rehearse_epsilon(&self) -> Option<Epsilon> {
        match self.matching()?.rehearse? {
            // The reader accepts only a valid ε here.
            Rehearsal::Noisy { epsilon } => epsilon.to_string().parse().ok(),
            Rehearsal::Numbers | Rehearsal::Labels => None,
        }
    }

    /// To how many records both parties' tables are padded, if they are.
    pub fn pad_to(&self) -> Option<u64> {
        match self.membership() {
            Membership::Hidden { pad_to } => pad_to,
            Membership::Shown => None,
        }
    }

    /// How often an ε that is spent under this agreement counts towards the peer. Ledgers, the page that
    /// is signed and dry runs have it from here. Where identifiers are compared, the peer learns how many
    /// records there are, unless tables are padded.
    pub fn towards_peer(&self) -> Towards {
        match &self.partition {
            Partition::Vertical { .. } if self.pad_to().is_none() => Towards::Twice,
            Partition::Horizontal { overlap_check: Some(_), .. } => Towards::Twice,
            Partition::Vertical { .. } | Partition::Horizontal { .. } | Partition::Local => {
                Towards::Once
            }
        }
    }

    /// The most records that a party, or both together, may have: `pad_to`, where that is smaller
    /// than `max_records`.
    pub fn most_records(&self) -> u64 {
        self.pad_to().unwrap_or(self.max_records)
    }
}

impl Partition {
    /// The word for it in an agreement.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Vertical { .. } => "vertical",
            Self::Horizontal { .. } => "horizontal",
            Self::Local => "local",
        }
    }
}

impl fmt::Display for AgreementHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hex::encode(self.0))
    }
}

/// A regular file's bytes; at most one byte more than allowed, so that readers see it is too large.
fn read_file(path: &Path) -> Result<Vec<u8>, String> {
    let metadata = std::fs::metadata(path).map_err(|error| error.to_string())?;
    if !metadata.is_file() {
        // Opening a pipe could block for ever, and a device could be endless.
        return Err("not a regular file".to_owned());
    }
    let mut bytes = Vec::new();
    File::open(path)
        .and_then(|file| file.take(MAX_FILE_BYTES as u64 + 1).read_to_end(&mut bytes))
        .map_err(|error| error.to_string())?;
    Ok(bytes)
}
