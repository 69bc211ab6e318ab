//! `manifest.json`: what was promised and what was released, byte-identical at both parties.
//!
//! It holds the agreement, what is released, what is promised, versions, the hash of the
//! release and, for a release by two parties, the heads of their ledgers and both signatures; a party
//! that releases alone may sign too.
//! What is signed is its format, a zero byte, and the SHA-256 of the *body*: the exact text of the
//! manifest with an empty list of signatures. A manifest has one canonical form; any other form is
//! as invalid as any other content.

use std::fmt;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::agreement::Agreement;
use crate::math::{Rational, hex};
use crate::net::{Fingerprint, Signature};
use crate::privacy::ledger::Hash;
use crate::privacy::{Differential, Promise};
use crate::publish::verify::short_delta;
use crate::release::Release;
use crate::release::tree::output::{Rows, write_csv};
use crate::role::Role;
use crate::table::Cuts;

/// The version of the manifest's form. Older ones are still read: version 2 writes all intervals
/// with both ends, such as `[0..14]`, and version 1 has ε and δ in place of a promise too.
pub const FORMAT: &str = "diptych manifest v3";
const SECOND_FORMAT: &str = "diptych manifest v2";
const FIRST_FORMAT: &str = "diptych manifest v1";
/// What is signed: the format, a zero, and a hash. No other use of an identity's key signs such a
/// text.
pub const SIGNED_BYTES: usize = FORMAT.len() + 1 + 32;
/// Digits of δ, rounded up.
const DELTA_DIGITS: u32 = 30;

/// What the release's file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Described {
    /// SHA-256 of the file.
    pub sha256: String,
    /// Its rows, without the header.
    pub rows: u64,
}

/// An unsigned manifest: byte for byte a function of the agreement, the release, its promise and
/// the heads.
#[derive(Clone, Debug)]
pub struct Draft {
    fields: Map<String, Value>,
    /// The release's file, as it will be written.
    pub release: Described,
}

impl Draft {
    /// The manifest of a release; `heads` are those of P1's and P2's ledgers after the debit.
    ///
    /// # Errors
    /// None in practice: an agreement's canonical form is JSON, and hashing does not fail.
    pub fn new(
        agreement: &Agreement,
        release: &Release,
        promise: &Promise,
        heads: Option<[Hash; 2]>,
    ) -> Result<Self, Error> {
        let canonical: Value =
            serde_json::from_str(&agreement.canonical()).map_err(Error::internal)?;
        let mut hash = Hashing(Sha256::new());
        let rows = write_csv(&release.table, Rows::All, &mut hash).map_err(Error::internal)?;
        let described = Described { sha256: hex::encode(hash.0.finalize()), rows };
        let spends: Vec<Value> = release
            .spends
            .iter()
            .map(|entry| json!({ "name": entry.name, "epsilon": entry.epsilon.to_string() }))
            .collect();
        let file = super::artefacts::RELEASE;
        let mut fields = Map::new();
        let mut put = |key: &str, value: Value| fields.insert(key.to_owned(), value);
        put("format", FORMAT.into());
        put("version", env!("CARGO_PKG_VERSION").into());
        put("agreement_sha256", agreement.hash().to_string().into());
        put("promise", promise_value(promise));
        put("cuts", cuts(&release.table.cuts)?.into());
        put("spends", spends.into());
        put("release", json!({ "file": file, "sha256": described.sha256, "rows": rows }));
        if let Some([p1, p2]) = heads {
            put("ledger_heads", json!({ "p1": p1.to_string(), "p2": p2.to_string() }));
        }
        put("signatures", Value::Array(Vec::new()));
        put("agreement", canonical);
        Ok(Self { fields, release: described })
    }

    /// What an identity signs.
    ///
    /// # Errors
    /// None in practice.
    pub fn to_be_signed(&self) -> Result<Vec<u8>, Error> {
        Ok(to_be_signed(FORMAT, &text(&self.fields)?))
    }

    /// The manifest's text, with the signatures of P1 and P2, of one party that has no role, or with none.
    ///
    /// # Errors
    /// None in practice.
    pub fn signed(
        &self,
        signatures: &[(Option<Role>, Fingerprint, Signature)],
    ) -> Result<String, Error> {
        let mut fields = self.fields.clone();
        let list = signatures
            .iter()
            .map(|(role, fingerprint, signature)| {
                let party = role.map(|role| ("party", role.to_string()));
                let others = [
                    ("fingerprint", fingerprint.to_string()),
                    ("public_key", hex::encode(signature.public_key)),
                    ("signature", hex::encode(signature.bytes)),
                ];
                let entry = party.into_iter().chain(others);
                Value::Object(entry.map(|(key, text)| (key.to_owned(), text.into())).collect())
            })
            .collect();
        fields.insert("signatures".to_owned(), Value::Array(list));
        text(&fields)
    }
}

/// A parsed manifest: every value is what the file says, nothing is verified yet.
#[derive(Clone, Debug)]
pub struct Manifest {
    fields: Map<String, Value>,
    to_be_signed: Vec<u8>,
}

impl Manifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// What is wrong with the text, as the end of a sentence.
    pub fn parse(bytes: &[u8]) -> Result<Self, &'static str> {
        let value: Value = serde_json::from_slice(bytes).map_err(|_| "is not JSON")?;
        let Value::Object(fields) = value else { return Err("is not a manifest") };
        let format = fields.get("format").and_then(Value::as_str);
        let format =
            [FORMAT, SECOND_FORMAT, FIRST_FORMAT].into_iter().find(|known| format == Some(known));
        let format = format.ok_or("is not a manifest of a kind that this version knows")?;
        if text(&fields).ok().as_deref().map(str::as_bytes) != Some(bytes) {
            return Err("is not spelt as it was written");
        }
        let mut body = fields.clone();
        match body.get_mut("signatures") {
            Some(signatures @ Value::Array(_)) => *signatures = Value::Array(Vec::new()),
            _ => return Err("has no list of signatures"),
        }
        let body = text(&body).map_err(|_| "is not a manifest")?;
        let to_be_signed = to_be_signed(format, &body);
        Ok(Self { fields, to_be_signed })
    }

    /// A text of the manifest, by its path such as `["release", "sha256"]`.
    pub fn text(&self, path: &[&str]) -> Option<&str> {
        self.value(path)?.as_str()
    }

    /// A value of the manifest, by its path.
    pub fn value(&self, path: &[&str]) -> Option<&Value> {
        let (first, rest) = path.split_first()?;
        rest.iter().try_fold(self.fields.get(*first)?, |value, key| value.get(key))
    }

    /// What it says is promised.
    pub fn promise(&self) -> Option<Promised<'_>> {
        match self.text(&["format"])? {
            FIRST_FORMAT => Promised::of(&self.fields),
            _ => Promised::of(self.fields.get("promise")?.as_object()?),
        }
    }

    /// The head of a party's ledger right after it was debited.
    pub fn ledger_head(&self, role: Role) -> Option<Hash> {
        let role = role.to_string();
        Hash::try_from(self.text(&["ledger_heads", &role])?.to_owned()).ok()
    }

    /// How many signatures it has, valid or not.
    pub fn signatures(&self) -> usize {
        self.fields.get("signatures").and_then(Value::as_array).map_or(0, Vec::len)
    }

    /// The fingerprint at signature number `index`, valid or not.
    pub fn signer(&self, index: usize) -> Option<Fingerprint> {
        let entry = self.value(&["signatures"])?.get(index)?;
        entry.get("fingerprint")?.as_str()?.parse().ok()
    }

    /// Whether its signature number `index` is one of the party `role` with this fingerprint; a party
    /// that released alone has no role.
    pub fn is_signed_by(&self, index: usize, role: Option<Role>, fingerprint: Fingerprint) -> bool {
        let Some(entry) = self.value(&["signatures"]).and_then(|list| list.get(index)) else {
            return false;
        };
        let field = |key| entry.get(key).and_then(Value::as_str);
        let parts = || {
            let public_key = hex::decode_array(field("public_key")?)?;
            let bytes = hex::decode_array(field("signature")?)?;
            Some(Signature { public_key, bytes })
        };
        let keys = 3 + usize::from(role.is_some());
        field("party") == role.map(|role| role.to_string()).as_deref()
            && field("fingerprint") == Some(&fingerprint.to_string())
            && entry.as_object().is_some_and(|entry| entry.len() == keys)
            && parts().is_some_and(|signature| signature.is_by(fingerprint, &self.to_be_signed))
    }
}

fn text(fields: &Map<String, Value>) -> Result<String, Error> {
    let text = serde_json::to_string_pretty(fields).map_err(Error::internal)?;
    Ok(text + "\n")
}

fn to_be_signed(format: &str, body: &str) -> Vec<u8> {
    [format.as_bytes(), &[0], Sha256::digest(body.as_bytes()).as_slice()].concat()
}

/// Whether a manifest of this format writes all intervals with both ends, whatever their step.
pub(crate) fn has_both_ends(format: Option<&str>) -> bool {
    matches!(format, Some(SECOND_FORMAT | FIRST_FORMAT))
}

/// A promise as a manifest states it: nothing is verified yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Promised<'a> {
    /// Differential privacy.
    Differential {
        /// As agreed.
        epsilon: &'a str,
        /// Rounded up.
        delta: &'a str,
    },
    /// Something else, in a sentence.
    Words(&'a str),
}

impl<'a> Promised<'a> {
    fn of(fields: &'a Map<String, Value>) -> Option<Self> {
        let text = |key| fields.get(key).and_then(Value::as_str);
        match text("words") {
            Some(words) => Some(Self::Words(words)),
            None => Some(Self::Differential { epsilon: text("epsilon")?, delta: text("delta")? }),
        }
    }
}

impl fmt::Display for Promised<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differential { epsilon, delta } => {
                write!(f, "ε = {epsilon}, δ ≤ {}", short_delta(delta))
            }
            Self::Words(words) => f.write_str(words),
        }
    }
}

fn promise_value(promise: &Promise) -> Value {
    match promise {
        Promise::Differential(Differential { epsilon, delta, .. }) => {
            json!({ "epsilon": epsilon.to_string(), "delta": delta_text(delta) })
        }
        Promise::Words(words) => json!({ "words": words }),
    }
}

/// A promise after a run, in short.
pub fn in_short(promise: &Promise) -> String {
    match promise {
        Promise::Differential(Differential { epsilon, delta, .. }) => {
            format!("spent ε {epsilon} (δ ≤ {})", short_delta(&delta_text(delta)))
        }
        Promise::Words(words) => format!("promise: {words}"),
    }
}

/// δ rounded up to a decimal number.
pub fn delta_text(delta: &Rational) -> String {
    if delta.is_zero() { "0".to_owned() } else { delta.decimal_rounded_up(DELTA_DIGITS) }
}

/// The specializations in the order they were made, by name.
fn cuts(made: &Cuts) -> Result<Vec<Value>, Error> {
    described(made)?
        .into_iter()
        .map(|(attribute, value, into)| {
            Ok(json!({ "attribute": attribute, "value": value, "into": into }))
        })
        .collect()
}

/// Attribute, value and children of each specialization, as people read them.
///
/// # Errors
/// None in practice: what was made once can be made again.
pub fn described(made: &Cuts) -> Result<Vec<(String, String, Vec<String>)>, Error> {
    let mut cuts = Cuts::topmost(made.schema());
    made.made()
        .iter()
        .map(|made| {
            let candidate = made.candidate;
            let value = cuts.name(candidate);
            let children = cuts.specialize(made)?;
            let name = |value| cuts.name(crate::table::Candidate { value, ..candidate });
            let attribute = cuts.schema().attributes[candidate.attribute].name.clone();
            Ok((attribute, value, children.into_iter().map(name).collect()))
        })
        .collect()
}

/// A writer that only hashes.
pub(super) struct Hashing(pub(super) Sha256);

impl std::io::Write for Hashing {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::net::Identity;

    fn draft() -> Draft {
        let mut fields = Map::new();
        fields.insert("format".into(), FORMAT.into());
        fields.insert("rows".into(), 7.into());
        fields.insert("signatures".into(), Value::Array(Vec::new()));
        Draft { fields, release: Described { sha256: String::new(), rows: 7 } }
    }

    #[test]
    fn a_signed_manifest_reads_back_and_any_change_breaks_its_signatures() {
        let identity = Identity::from_pem(&Identity::generate_pem("x").unwrap()).unwrap();
        let (draft, who) = (draft(), identity.fingerprint());
        let signature = identity.sign(&draft.to_be_signed().unwrap()).unwrap();
        let text = draft.signed(&[(Some(Role::P1), who, signature)]).unwrap();
        let manifest = Manifest::parse(text.as_bytes()).unwrap();
        assert_eq!(manifest.signatures(), 1);
        assert!(manifest.is_signed_by(0, Some(Role::P1), who));
        assert!(
            !manifest.is_signed_by(0, Some(Role::P2), who)
                && !manifest.is_signed_by(1, Some(Role::P1), who)
        );
        for place in 0..text.len() {
            let mut changed = text.clone().into_bytes();
            changed[place] ^= 1;
            let good = Manifest::parse(&changed)
                .is_ok_and(|manifest| manifest.is_signed_by(0, Some(Role::P1), who));
            assert!(!good, "a change at byte {place} was not seen");
        }
    }

    #[test]
    fn another_spelling_of_the_same_manifest_is_refused() {
        let text = draft().signed(&[]).unwrap();
        assert!(Manifest::parse(text.as_bytes()).is_ok());
        let value: Value = serde_json::from_str(&text).unwrap();
        assert!(Manifest::parse(value.to_string().as_bytes()).is_err());
        assert!(Manifest::parse(text.trim_end().as_bytes()).is_err());
    }
}
