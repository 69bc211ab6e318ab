//! One line of the ledger: its fields, its canonical form, its hash.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Error;
use super::loss::Delta;
use crate::math::{Rational, hex};
use crate::{Epsilon, Towards};

/// Longest line that is read.
pub(super) const LONGEST_LINE: usize = 4096;
/// What every line begins with.
pub(super) const LINE_START: &[u8] = br#"{"entry":{"time":"#;
/// Longest name of a release, a data set or a peer, in bytes.
const LONGEST_NAME: usize = 200;
/// Longest path, in bytes. With every character escaped a line is still below [`LONGEST_LINE`].
const LONGEST_PATH: usize = 800;
/// Prefix of what is hashed; its version changes with the format.
const DOMAIN: &[u8] = b"diptych ledger line v1\0";

/// What is entered, and when.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// Seconds since 1970, by this machine's clock.
    pub time: u64,
    /// What happened.
    pub event: Event,
}

/// What happened to a run, to a data set, or to the ledger.
///
/// A ledger outlives the program: new facts are added as new kinds of lines or as optional fields,
/// and existing ones never change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Event {
    /// A run is about to begin, and its whole ε is spent, if it spends any.
    Debited(Box<Debit>),
    /// The run's release is complete.
    Finished {
        /// The run.
        run: RunId,
    },
    /// The run ended without a release.
    Aborted {
        /// The run.
        run: RunId,
    },
    /// A torn last line was removed.
    Repaired {
        /// How long it was.
        bytes: u64,
    },
    /// The peer of a run has debited it too. Later heads from the peer are compared with this one.
    Met {
        /// The run.
        run: RunId,
        /// The head of the peer's ledger right after that.
        head: Hash,
    },
    /// The parties are about to count exactly how many people they have in common, before a release
    /// and without ε.
    Rehearsed(Box<Rehearsal>),
    /// The parties are about to count with noise how many people they have in common, and the whole
    /// ε of that is spent.
    #[serde(rename = "rehearsal_debited")]
    RehearsalDebited(Box<Debit>),
    /// One more exact rehearsal is allowed.
    #[serde(rename = "rehearsal_allowed")]
    RehearsalAllowed {
        /// The data set.
        data_set: String,
        /// The peer, by a name that it had in a rehearsal.
        peer: String,
    },
    /// A data set's cap was raised.
    Raised {
        /// The data set.
        data_set: String,
        /// The cap from now on.
        cap: Epsilon,
        /// Whether it is the cap towards the peer.
        #[serde(default, skip_serializing_if = "is_false")]
        towards_peer: bool,
    },
    /// Lines of this ledger were lost, and its owner knows it.
    Acknowledged {
        /// The peer that has the head.
        peer: String,
        /// A head that this ledger once had.
        head: Hash,
    },
}

/// A run as it is entered before it begins: its ε, or a sentence that says what it promises
/// instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Debit {
    /// The run; a retry is another run.
    pub run: RunId,
    /// The agreement's release id.
    pub release: String,
    /// The data set whose budget is spent.
    pub data_set: String,
    /// How much; `None` where the release promises something other than differential privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epsilon: Option<Epsilon>,
    /// The cap that applied to this run, if it spends ε. The first one for a data set becomes the
    /// data set's cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap: Option<Epsilon>,
    /// The hash of the agreement.
    pub agreement: Hash,
    /// The peer, as the agreement names it.
    pub peer: String,
    /// Random: heads of the ledger are in manifests, and must not let anyone test guesses about the
    /// cap or the data set's name.
    pub salt: Hash,
    /// δ of the run. Lines written before δ was recorded have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delta: Option<Delta>,
    /// What the peer may learn; `None` if there is no peer, or if it was not recorded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub towards_peer: Option<Towards>,
    /// The cap towards the peer that applied to this run, if its party file has one. The first one
    /// for a data set becomes the data set's cap.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_towards_peer: Option<Epsilon>,
    /// The directory of the release, so that it is found even if the next run has another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub out: Option<String>,
    /// What is promised, in words, where it is not differential privacy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub promise: Option<String>,
}

/// An exact rehearsal as it is entered before it begins. It spends no ε, and only one is allowed
/// for a data set and a peer, whatever the agreement, unless a line allows another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rehearsal {
    /// The agreement's release id.
    pub release: String,
    /// The data set whose people are counted.
    pub data_set: String,
    /// The hash of the agreement.
    pub agreement: Hash,
    /// The peer, as the agreement names it.
    pub peer: String,
    /// The fingerprint of the peer's key. Lines written before it was recorded have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fingerprint: Option<Hash>,
    /// Random, like that of a [`Debit`].
    pub salt: Hash,
}

impl Debit {
    /// Either ε, with a cap, or words.
    fn promises_one_thing(&self) -> bool {
        match (&self.epsilon, &self.cap, &self.promise) {
            (Some(_), Some(_), None) => true,
            (None, None, Some(words)) => {
                let losses = self.delta.is_some() || self.towards_peer.is_some();
                !losses && self.cap_towards_peer.is_none() && fits(words, LONGEST_NAME)
            }
            _ => false,
        }
    }

    /// The loss towards the peer, at most; none if there is no peer, or no ε.
    pub fn epsilon_towards_peer(&self) -> Option<Rational> {
        if self.peer == super::NO_PEER {
            return None;
        }
        // Where it was not recorded, the larger is an upper bound for both.
        let towards = self.towards_peer.unwrap_or(Towards::Twice);
        Some(towards.loss(self.epsilon.as_ref()?))
    }

    /// A path as it is entered: absolute, if it fits a line.
    pub fn path_for_line(path: &Path) -> Option<String> {
        let path = std::path::absolute(path).ok()?;
        path.to_str().filter(|text| fits(text, LONGEST_PATH)).map(str::to_owned)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it so")]
fn is_false(value: &bool) -> bool {
    !*value
}

fn fits(text: &str, longest: usize) -> bool {
    !text.is_empty() && text.len() <= longest && !text.chars().any(char::is_control)
}

/// A run's session id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct RunId(pub [u8; 32]);

/// SHA-256 of something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hash(pub [u8; 32]);

/// A line as it is in the file, without its newline.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    entry: Entry,
    previous: Hash,
    hash: Hash,
}

impl Hash {
    /// The previous hash in the first line.
    pub const BEGINNING: Hash = Hash([0; 32]);
}

impl Entry {
    /// The line for this entry after a line with the hash `previous`, newline included.
    pub(super) fn to_line(&self, previous: Hash) -> Result<(String, Hash), Error> {
        self.check_names()?;
        let hash = self.hash(previous);
        let line = Line { entry: self.clone(), previous, hash };
        // A struct of strings and numbers always serialises; an empty line would be rejected.
        let mut text = serde_json::to_string(&line).unwrap_or_default();
        text.push('\n');
        Ok((text, hash))
    }

    /// Reads a line that must follow one with the hash `previous`.
    pub(super) fn from_line(text: &str, previous: Hash) -> Result<(Self, Hash), &'static str> {
        if text.len() > LONGEST_LINE {
            return Err("it is longer than any line a ledger has");
        }
        let line: Line = serde_json::from_str(text).map_err(|_| "it is not an entry")?;
        if line.previous != previous {
            return Err(
                "it does not follow the line before it; a line was removed, added or moved",
            );
        }
        let (expected, hash) =
            line.entry.to_line(previous).map_err(|_| "it has a name that is not allowed")?;
        if hash != line.hash {
            return Err("its hash does not fit its contents");
        }
        if expected.trim_end_matches('\n') != text {
            return Err("it is spelt differently from what was written");
        }
        Ok((line.entry, hash))
    }

    /// Whether a line that cannot be read follows `previous` and has a valid hash: then it was not
    /// changed, but written by a version that knows more kinds of lines.
    pub(super) fn is_of_a_newer_kind(text: &str, previous: Hash) -> bool {
        let parts = || {
            let (entry, hash) = text
                .strip_prefix(r#"{"entry":"#)?
                .rsplit_once(&format!(r#","previous":"{previous}","hash":""#))?;
            let known = serde_json::from_str::<Self>(entry).is_ok();
            Some(!known && hash == format!("{}\"}}", hash_of(entry, previous)))
        };
        text.len() <= LONGEST_LINE && parts() == Some(true)
    }

    fn hash(&self, previous: Hash) -> Hash {
        hash_of(&serde_json::to_string(self).unwrap_or_default(), previous)
    }

    fn check_names(&self) -> Result<(), Error> {
        let names: &[_] = match &self.event {
            Event::Debited(debit) | Event::RehearsalDebited(debit) => &[
                ("the release id", &debit.release),
                ("the name of the data set", &debit.data_set),
                ("the name of the peer", &debit.peer),
            ],
            Event::Rehearsed(rehearsal) => &[
                ("the release id", &rehearsal.release),
                ("the name of the data set", &rehearsal.data_set),
                ("the name of the peer", &rehearsal.peer),
            ],
            Event::RehearsalAllowed { data_set, peer } => {
                &[("the name of the data set", data_set), ("the name of the peer", peer)]
            }
            Event::Raised { data_set, .. } => &[("the name of the data set", data_set)],
            Event::Acknowledged { peer, .. } => &[("the name of the peer", peer)],
            _ => &[],
        };
        for (what, name) in names {
            if !fits(name, LONGEST_NAME) {
                return Err(Error::BadName { what });
            }
        }
        match &self.event {
            Event::Debited(debit) if !debit.promises_one_thing() => {
                Err(Error::BadName { what: "the promise (an ε with a cap, or words)" })
            }
            Event::RehearsalDebited(debit)
                if debit.epsilon.is_none() || !debit.promises_one_thing() =>
            {
                Err(Error::BadName { what: "the promise of a rehearsal (an ε with a cap)" })
            }
            Event::Debited(debit) | Event::RehearsalDebited(debit)
                if debit.out.as_ref().is_some_and(|out| !fits(out, LONGEST_PATH)) =>
            {
                Err(Error::BadName { what: "the path of the release" })
            }
            _ => Ok(()),
        }
    }
}

fn hash_of(entry: &str, previous: Hash) -> Hash {
    let digest = Sha256::new()
        .chain_update(DOMAIN)
        .chain_update(previous.0)
        .chain_update(entry.as_bytes())
        .finalize();
    Hash(digest.into())
}

macro_rules! spelt_in_hex {
    ($($name:ident)*) => { $(
        impl From<$name> for String {
            fn from(value: $name) -> Self {
                hex::encode(value.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = &'static str;

            fn try_from(text: String) -> Result<Self, &'static str> {
                hex::decode_array(&text).map(Self).ok_or("expected 64 lower-case hexadecimal digits")
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&hex::encode(self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "({})"), self)
            }
        }
    )* };
}

spelt_in_hex!(RunId Hash);
