//! The vectors of Paillier, on the portable and on the vector path. Encryptions that the owner
//! makes in a run are computed with the secret and with the public key; an invalid test must be
//! rejected for the reason in its flag.

use num_bigint::{BigInt, BigUint};
use serde_json::Value;

use super::Verdict;
use super::field::{self, check_groups, expect_equal, judge, number, numbers, text};
use crate::Error;
use crate::crypto::paillier::{
    Backend, Ciphertext, Packing, PublicKey, Returned, SecretKey, Tuning,
};
use crate::math::Randomness;

/// Checks a document whose algorithm is `Paillier`.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_groups(document, &[], |group| {
        let kind = text(group, "type");
        let keys = keys(&group["key"]);
        Box::new(move |test| judge(test, examine(kind, &keys, test)))
    })
}

type Difference = field::Difference<Error>;

/// The outcome of a test: no difference, a difference, or an error of the code under test.
type Outcome = Result<(), Difference>;

/// The key of a group, on the portable and on the vector path.
///
/// # Errors
/// If it is not a key.
pub fn keys(key: &Value) -> Result<[SecretKey; 2], String> {
    let (p, q, h): (_, _, BigUint) = (number(key, "p")?, number(key, "q")?, number(key, "h")?);
    let make = |backend| {
        let tuning = Tuning { backend, table_bytes: 1 << 20 };
        SecretKey::assemble(&p, &q, h.clone(), tuning).map_err(|error| error.to_string())
    };
    Ok([make(Backend::Portable)?, make(Backend::Vector)?])
}

fn examine(kind: &str, keys: &Result<[SecretKey; 2], String>, test: &Value) -> Outcome {
    let examine = match kind {
        "PublicKey" => return public_key(test),
        "TextbookEncrypt" => textbook,
        "DjnEncrypt" => djn,
        "Decrypt" => decrypt,
        "Sum" => sum,
        "AddPlain" => add_plain,
        "MulPlain" => mul_plain,
        "Signed" => signed,
        "Packed" => packed,
        _ => return Err(format!("no such type of group: {kind:?}").into()),
    };
    keys.as_ref().map_err(String::clone)?.iter().try_for_each(|key| examine(key, test))
}

fn textbook(key: &SecretKey, test: &Value) -> Outcome {
    let (m, r, c) = (number(test, "m")?, number(test, "r")?, number(test, "c")?);
    let public = key.public().encrypt_with_nonce(&m, &r)?;
    same("c", &c, &value_of(|bytes| public.write(bytes)))?;
    same("m", &m, &key.decrypt(&returned(key, &c)?))
}

fn djn(key: &SecretKey, test: &Value) -> Outcome {
    let (m, a, c) = (number(test, "m")?, number(test, "a")?, number(test, "c")?);
    same("c, public key", &c, &key.public().encrypt_with_exponent(&m, &a)?)?;
    let owner = key.encrypt_with_exponent(&m, &a)?;
    same("c, owner", &c, &value_of(|bytes| owner.write(bytes)))?;
    same("m", &m, &key.decrypt(&returned(key, &c)?))
}

fn decrypt(key: &SecretKey, test: &Value) -> Outcome {
    let c = number(test, "c")?;
    // Eight at once take the vector path.
    let eight = vec![returned(key, &c)?; 8];
    let m = number(test, "m")?;
    key.decrypt_all(&eight, &|_| ()).iter().try_for_each(|found| same("m", &m, found))
}

fn sum(key: &SecretKey, test: &Value) -> Outcome {
    let items = numbers(test, "c")?;
    let items = items.iter().map(|c| working(key, c));
    let items = items.collect::<Result<Vec<Ciphertext>, Difference>>()?;
    let total = key.public().sum(&items.iter().collect::<Vec<_>>());
    homomorphic(key, test, "sum", &total)
}

fn add_plain(key: &SecretKey, test: &Value) -> Outcome {
    let c = working(key, &number(test, "c")?)?;
    let out = key.public().add_plain(&c, &number(test, "k")?)?;
    homomorphic(key, test, "out", &out)
}

fn mul_plain(key: &SecretKey, test: &Value) -> Outcome {
    let c = working(key, &number(test, "c")?)?;
    let (k, bits) = (number::<BigInt>(test, "k")?, size(test, "bits")?);
    if let Some(k) = k.to_biguint() {
        homomorphic(key, test, "out", &key.public().mul_plain(&c, &k, bits)?)?;
    }
    homomorphic(key, test, "out", &key.public().mul_plain_signed(&c, &k, bits)?)
}

fn homomorphic(key: &SecretKey, test: &Value, field: &str, out: &Ciphertext) -> Outcome {
    let found = key.public().number(out);
    same(field, &number(test, field)?, &found)?;
    same("m", &number(test, "m")?, &key.decrypt(&returned(key, &found)?))
}

fn signed(key: &SecretKey, test: &Value) -> Outcome {
    let (value, m) = (number(test, "value")?, number(test, "m")?);
    same("m", &m, &key.public().encode_signed(&value)?)?;
    same("value", &value, &key.public().decode_signed(&m)?)
}

fn packed(key: &SecretKey, test: &Value) -> Outcome {
    let values: Vec<BigUint> = numbers(test, "values")?;
    let packing = Packing::new(key.public(), size(test, "width")?)?;
    same("slots", &size(test, "slots")?, &packing.slots())?;
    let m = number(test, "m")?;
    same("m", &m, &packing.pack(&values)?)?;
    same("values", &values, &packing.unpack(&m, values.len())?)
}

fn public_key(test: &Value) -> Outcome {
    let (n, h, bits) = (number(test, "n")?, number(test, "h")?, size(test, "bits")?);
    let mut bytes = padded(&n, bits / 8);
    bytes.extend(padded(&h, bits / 4));
    let mut rng = Randomness::from_os()?;
    let key = PublicKey::from_bytes(&bytes, bits, Tuning::default(), &mut rng)?;
    same("n", &n, key.modulus())?;
    same("h", &h, key.base())?;
    same("bytes", &bytes, &key.to_bytes())
}

fn returned(key: &SecretKey, c: &BigUint) -> Result<Returned, Difference> {
    let bytes = padded(c, key.public().ciphertext_bytes());
    key.read(&bytes, 1)?.pop().ok_or_else(|| missing("c"))
}

fn working(key: &SecretKey, c: &BigUint) -> Result<Ciphertext, Difference> {
    let bytes = padded(c, key.public().ciphertext_bytes());
    key.public().read(&bytes, 1)?.pop().ok_or_else(|| missing("c"))
}

fn value_of(write: impl Fn(&mut Vec<u8>)) -> BigUint {
    let mut bytes = Vec::new();
    write(&mut bytes);
    BigUint::from_bytes_be(&bytes)
}

/// Big-endian at a fixed width; longer if the number is.
fn padded(number: &BigUint, width: usize) -> Vec<u8> {
    let digits = number.to_bytes_be();
    let mut bytes = vec![0; width.saturating_sub(digits.len())];
    bytes.extend(digits);
    bytes
}

fn same<T: PartialEq + std::fmt::Debug>(what: &str, expected: &T, found: &T) -> Outcome {
    Ok(expect_equal(what, expected, found)?)
}

fn size(test: &Value, field: &str) -> Result<usize, Difference> {
    let number = test[field].as_u64().ok_or_else(|| missing(field))?;
    usize::try_from(number).map_err(|_| missing(field))
}

fn missing(field: &str) -> Difference {
    Difference::Differs(format!("the vector's field {field:?} is missing or malformed"))
}

impl From<Error> for Difference {
    fn from(error: Error) -> Self {
        Self::Refused(error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::document;
    use super::*;

    /// The first test of the first group of a kind, alone.
    fn one_of(kind: &str, result: &str) -> Value {
        let mut document = document("paillier");
        let groups = document["testGroups"].as_array_mut().unwrap();
        groups.retain(|group| group["type"] == kind);
        for group in groups.iter_mut() {
            group["tests"].as_array_mut().unwrap().retain(|test| test["result"] == result);
        }
        groups.retain(|group| !group["tests"].as_array().unwrap().is_empty());
        groups.truncate(1);
        groups[0]["tests"].as_array_mut().unwrap().truncate(1);
        document
    }

    fn failed(document: &Value) -> bool {
        let verdicts = check(document);
        assert_eq!(verdicts.len(), 1);
        verdicts[0].failure.is_some()
    }

    #[test]
    fn a_vector_that_was_tampered_with_fails_in_every_group() {
        let fields = [
            ("TextbookEncrypt", "c"),
            ("DjnEncrypt", "c"),
            ("Decrypt", "m"),
            ("Sum", "sum"),
            ("AddPlain", "out"),
            ("MulPlain", "out"),
            ("Signed", "m"),
            ("Packed", "m"),
        ];
        for (kind, field) in fields {
            let mut document = one_of(kind, "valid");
            assert!(!failed(&document), "{kind}");
            let test = &mut document["testGroups"][0]["tests"][0];
            test[field] = "03".into();
            assert!(failed(&document), "{kind} with another {field}");
            document["testGroups"][0]["tests"][0][field] = Value::Null;
            assert!(failed(&document), "{kind} without {field}");
        }
    }

    #[test]
    fn an_invalid_vector_must_be_refused_for_the_reason_given() {
        for kind in ["TextbookEncrypt", "Decrypt", "Signed", "Packed", "PublicKey"] {
            let mut document = one_of(kind, "invalid");
            assert!(!failed(&document), "{kind}");
            document["testGroups"][0]["tests"][0]["flags"][0] = "Otherwise".into();
            assert!(failed(&document), "{kind} with another reason");
            document["testGroups"][0]["tests"][0]["result"] = "valid".into();
            assert!(failed(&document), "{kind} called valid");
        }
    }
}
