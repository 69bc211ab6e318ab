//! One line of the ledger: its fields, its one spelling, its hash.

use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::Error;
use crate::privacy::Epsilon;

/// Longest line that is read.
pub(super) const LONGEST_LINE: usize = 4096;
/// What every line begins with.
pub(super) const LINE_START: &[u8] = br#"{"entry":{"time":"#;
/// Longest name of a release, a data set or a peer, in bytes.
const LONGEST_NAME: usize = 200;
/// Begins what is hashed; its version changes with the format.
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

/// What happened to a run, or to the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub enum Event {
    /// A run is about to begin and its whole ε is spent.
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
}

/// A run's ε, as it is entered before the run begins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Debit {
    /// The run; a retry is another run.
    pub run: RunId,
    /// The agreement's release id.
    pub release: String,
    /// Whose budget is spent.
    pub data_set: String,
    /// How much.
    pub epsilon: Epsilon,
    /// The data set's cap when it was spent.
    pub cap: Epsilon,
    /// The hash of the agreement.
    pub agreement: Hash,
    /// The peer, as the agreement names it.
    pub peer: String,
    /// Random: heads of the ledger stand in manifests, and must not let anyone test guesses about
    /// the cap or the data set's name.
    pub salt: Hash,
}

/// A run's session id.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct RunId(pub [u8; 32]);

/// SHA-256 of something.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Hash(pub [u8; 32]);

/// A line as it stands in the file, without its newline.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    entry: Entry,
    previous: Hash,
    hash: Hash,
}

impl Hash {
    /// What the first line names as the one before it.
    pub const BEGINNING: Hash = Hash([0; 32]);
}

impl Entry {
    /// The line for this entry after a line with the hash `previous`, newline included.
    pub(super) fn to_line(&self, previous: Hash) -> Result<(String, Hash), Error> {
        self.check_names()?;
        let hash = self.hash(previous);
        let line = Line { entry: self.clone(), previous, hash };
        // A struct of strings and numbers always serialises; an empty line would be refused.
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

    fn hash(&self, previous: Hash) -> Hash {
        let entry = serde_json::to_string(self).unwrap_or_default();
        let digest = Sha256::new()
            .chain_update(DOMAIN)
            .chain_update(previous.0)
            .chain_update(entry.as_bytes())
            .finalize();
        Hash(digest.into())
    }

    fn check_names(&self) -> Result<(), Error> {
        let Event::Debited(debit) = &self.event else { return Ok(()) };
        for (what, name) in [
            ("the release id", &debit.release),
            ("the name of the data set", &debit.data_set),
            ("the name of the peer", &debit.peer),
        ] {
            let fits = !name.is_empty() && name.len() <= LONGEST_NAME;
            if !fits || name.chars().any(char::is_control) {
                return Err(Error::BadName { what });
            }
        }
        Ok(())
    }
}

fn to_hex(bytes: &[u8; 32]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn from_hex(text: &str) -> Result<[u8; 32], &'static str> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Ok(byte - b'0'),
        b'a'..=b'f' => Ok(byte - b'a' + 10),
        _ => Err("expected 64 lower-case hexadecimal digits"),
    };
    let mut bytes = [0; 32];
    if text.len() != 64 {
        return Err("expected 64 lower-case hexadecimal digits");
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Ok(bytes)
}

macro_rules! spelt_in_hex {
    ($($name:ident)*) => { $(
        impl From<$name> for String {
            fn from(value: $name) -> Self {
                to_hex(&value.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = &'static str;

            fn try_from(text: String) -> Result<Self, &'static str> {
                from_hex(&text).map(Self)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&to_hex(&self.0))
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
