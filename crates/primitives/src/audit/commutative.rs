//! `vectors/commutative.json`: the expander, both groups, their keys, and moduli.

use std::collections::HashMap;

use serde_json::Value;

use super::Verdict;
use super::field::{Difference, Examiner, check_groups, judge, same, text};
use crate::Error;
use crate::crypto::commutative::{Domain, Group, Residues, Ristretto, expand_message_xmd};
use crate::math::hex;

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    let mut checked = HashMap::new();
    check_groups(document, &["group", "prime"], |group| {
        examiner(text(group, "type"), group, &mut checked)
            .unwrap_or_else(|unusable| Box::new(move |_| Err(unusable.clone())))
    })
}

/// Groups of residues that were built already: checking a modulus takes seconds.
type Checked = HashMap<Vec<u8>, Residues>;

fn examiner(kind: &str, group: &Value, checked: &mut Checked) -> Result<Examiner<'static>, String> {
    match kind {
        "ExpandMessageXmd" => Ok(Box::new(expand)),
        "SafePrime" => Ok(Box::new(safe_prime)),
        _ => match text(group, "group") {
            "ristretto255" => {
                let ristretto = Ristretto::new();
                in_group(kind, ristretto, ristretto.suite(), group)
            }
            "residues" => {
                let modulus = bytes_of(group, "modulus")?;
                let residues = match checked.get(&modulus) {
                    Some(residues) => residues.clone(),
                    None if text(group, "prime") == "ffdhe3072" => {
                        Residues::ffdhe3072().map_err(|error| error.to_string())?
                    }
                    None => Residues::new(&modulus).map_err(|error| error.to_string())?,
                };
                if residues.modulus_bytes() != modulus {
                    return Err("expected the built-in prime, got another".to_owned());
                }
                checked.insert(modulus, residues.clone());
                let suite = residues.suite();
                let suite = suite.rsplit_once(':').map_or("", |(suite, _)| suite).to_owned();
                in_group(kind, residues, suite, group)
            }
            other => Err(format!("expected a known group, got '{other}'")),
        },
    }
}

fn in_group<G: Group + 'static>(
    kind: &str,
    group: G,
    suite: String,
    described: &Value,
) -> Result<Examiner<'static>, String> {
    same("suite", text(described, "suite"), &suite)?;
    match kind {
        "Encrypt" => Ok(Box::new(move |test| encrypt(&group, test))),
        "Reencrypt" => Ok(Box::new(move |test| reencrypt(&group, test))),
        "Key" => Ok(Box::new(move |test| key(&group, test))),
        other => Err(format!("expected a known type of group, got '{other}'")),
    }
}

fn expand(test: &Value) -> Result<(), String> {
    let length = test["lengthBytes"].as_u64().and_then(|n| usize::try_from(n).ok());
    let length = length.filter(|n| *n <= 1 << 16).ok_or("expected a length, got none")?;
    let mut out = vec![0; length];
    let outcome = expand_message_xmd(&bytes_of(test, "msg")?, &bytes_of(test, "dst")?, &mut out);
    compare_outcome(test, outcome.map(|()| out), "uniform")
}

fn safe_prime(test: &Value) -> Result<(), String> {
    let outcome = Residues::new(&bytes_of(test, "modulus")?).map(|group| group.modulus_bytes());
    compare_outcome(test, outcome, "modulus")
}

fn encrypt<G: Group>(group: &G, test: &Value) -> Result<(), String> {
    let said = |error: Error| error.to_string();
    let session: [u8; 32] = bytes_of(test, "session")?
        .try_into()
        .map_err(|_| "expected 32 bytes of session, got others")?;
    let domain = Domain::new(session);
    let identifier = bytes_of(test, "identifier")?;
    let a = group.key_from_bytes(&bytes_of(test, "keyA")?).map_err(said)?;
    let b = group.key_from_bytes(&bytes_of(test, "keyB")?).map_err(said)?;

    let mut hashed = vec![0; group.element_bytes()];
    group.hash_batch(&domain, &[&identifier], &mut hashed).map_err(said)?;
    same("hash", text(test, "hash"), &hex::encode(&hashed))?;
    let once = group.encrypt(&a, &domain, &identifier).map_err(said)?;
    same("once", text(test, "once"), &hex::encode(&once))?;
    let twice = group.reencrypt(&b, &once).map_err(said)?;
    same("twice", text(test, "twice"), &hex::encode(&twice))?;
    let b_alone = group.decrypt(&a, &twice).map_err(said)?;
    let b_first = group.encrypt(&b, &domain, &identifier).map_err(said)?;
    same("decrypted with keyA", &hex::encode(&b_first), &hex::encode(&b_alone))
}

fn reencrypt<G: Group>(group: &G, test: &Value) -> Result<(), String> {
    let key = group.key_from_bytes(&bytes_of(test, "key")?).map_err(|error| error.to_string())?;
    let outcome = group.reencrypt(&key, &bytes_of(test, "element")?);
    compare_outcome(test, outcome, "reencrypted")
}

fn key<G: Group>(group: &G, test: &Value) -> Result<(), String> {
    let bytes = bytes_of(test, "key")?;
    let outcome = group.key_from_bytes(&bytes).map(|_| bytes);
    compare_outcome(test, outcome, "key")
}

/// Checks an outcome against the result of the test and its flag, and against the bytes in `field`.
fn compare_outcome(
    test: &Value,
    outcome: Result<Vec<u8>, Error>,
    field: &str,
) -> Result<(), String> {
    let compare = |bytes: Vec<u8>| Ok(same(field, text(test, field), &hex::encode(&bytes))?);
    judge(test, outcome.map_err(Difference::Refused).and_then(compare))
}

fn bytes_of(value: &Value, field: &str) -> Result<Vec<u8>, String> {
    let digits = value[field].as_str().ok_or_else(|| format!("expected {field}, got none"))?;
    hex::decode(digits).ok_or_else(|| format!("{field}: expected hex digits, got {digits}"))
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, document};
    use super::*;

    #[test]
    fn every_vector_agrees() {
        assert_all_pass("commutative", check);
    }

    #[test]
    fn a_changed_answer_is_noticed_in_every_type_of_group() {
        let mut document = document("commutative");
        let groups = document["testGroups"].as_array_mut().unwrap();
        // The slow groups would test nothing new here.
        groups.retain(|group| group["group"] != "residues");
        for group in groups.iter_mut() {
            group["tests"].as_array_mut().unwrap().truncate(1);
            let test = &mut group["tests"][0];
            for field in ["uniform", "twice", "reencrypted"] {
                if let Some(digits) = test[field].as_str() {
                    let flipped = if digits.starts_with('0') { "1" } else { "0" };
                    test[field] = Value::from(format!("{flipped}{}", &digits[1..]));
                }
            }
            if group["type"] == "Key" || group["type"] == "SafePrime" {
                group["tests"][0]["result"] = Value::from("invalid");
            }
        }
        let groups = document["testGroups"].as_array().unwrap().len();
        let failed = check(&document).iter().filter(|v| v.failure.is_some()).count();
        assert_eq!(failed, groups);
    }
}
