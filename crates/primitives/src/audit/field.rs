//! Reads the fields of test vectors, and compares what was computed with them.

#![expect(clippy::missing_errors_doc, reason = "each error says what is wrong with the field")]

use std::fmt::{Debug, Display};

use num_bigint::BigUint;
use num_traits::Num;
use serde_json::Value;

use super::Verdict;
use crate::math::Rational;

/// Runs `examine` on every test of every group. A test that cannot be read fails.
pub fn check_all(
    document: &Value,
    examine: impl Fn(&Value, &Value) -> Result<(), String>,
) -> Vec<Verdict> {
    check_groups(document, &["circuit"], |group| Box::new(|test| examine(group, test)))
}

/// Checks one test against the values in it.
pub type Examiner<'a> = Box<dyn Fn(&Value) -> Result<(), String> + 'a>;

/// Runs the examiner that `prepare` makes for each group on the tests of the group. A group is named
/// by its type and by its fields `also`, where it has them.
pub fn check_groups<'a>(
    document: &'a Value,
    also: &[&str],
    mut prepare: impl FnMut(&'a Value) -> Examiner<'a>,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for group in list(document, "testGroups") {
        let names: Vec<&str> = ["type"].iter().chain(also).map(|name| text(group, name)).collect();
        let examine = prepare(group);
        for test in list(group, "tests") {
            verdicts.push(Verdict {
                group: names.join(" ").trim().to_owned(),
                test_id: test["tcId"].as_u64().unwrap_or(0),
                comment: text(test, "comment").to_owned(),
                failure: examine(test).err(),
            });
        }
    }
    verdicts
}

/// The items of a list; none if there is no such list.
pub fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

/// A text; empty if there is none.
pub fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// The texts of a list.
pub fn texts(value: &Value, name: &str) -> Vec<String> {
    list(value, name).iter().map(|text| text.as_str().unwrap_or_default().to_owned()).collect()
}

/// Whether a test must succeed.
pub fn is_valid(test: &Value) -> Result<bool, String> {
    match text(test, "result") {
        "valid" => Ok(true),
        "invalid" => Ok(false),
        other => Err(format!("expected result valid or invalid, got {other:?}")),
    }
}

/// A whole number.
pub fn integer(value: &Value, name: &str) -> Result<u64, String> {
    value[name].as_u64().ok_or_else(|| format!("field {name} is not a number"))
}

/// A whole number of at most 32 bits.
pub fn small(value: &Value) -> Result<u32, String> {
    let number = value.as_u64().and_then(|number| u32::try_from(number).ok());
    number.ok_or_else(|| format!("{value} is not a small number"))
}

/// A number in hexadecimal, as the type that the caller asks for.
pub fn number<T: Num>(value: &Value, name: &str) -> Result<T, String> {
    parse_number(&value[name]).map_err(|wrong| format!("field {name} {wrong}"))
}

/// The numbers of a list, in hexadecimal.
pub fn numbers<T: Num>(value: &Value, name: &str) -> Result<Vec<T>, String> {
    list(value, name).iter().map(parse_number).collect()
}

/// A number in hexadecimal.
pub fn parse_number<T: Num>(value: &Value) -> Result<T, String> {
    T::from_str_radix(value.as_str().unwrap_or_default(), 16)
        .map_err(|_| "is not a hexadecimal number that fits".to_owned())
}

/// An exact fraction.
pub fn fraction(value: &Value, name: &str) -> Result<Rational, String> {
    text(value, name).parse().map_err(|error| format!("{name}: {error}"))
}

/// A fraction of two short numbers.
pub fn ratio(value: &Value, name: &str) -> Result<(u64, u64), String> {
    let fraction = fraction(value, name)?;
    let part = |number: &BigUint| u64::try_from(number).map_err(|_| format!("{name} is too long"));
    Ok((part(fraction.numerator())?, part(fraction.denominator())?))
}

/// The lowest `width` bits of a number, the least significant first.
pub fn bits(number: &BigUint, width: usize) -> Vec<bool> {
    (0..width as u64).map(|i| number.bit(i)).collect()
}

/// Bytes in hexadecimal.
pub fn bytes(value: &Value) -> Result<Vec<u8>, String> {
    let digits = value.as_str().unwrap_or("?").as_bytes();
    let digit = |d: &u8| char::from(*d).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some((digit(high)? * 16 + digit(low)?) as u8),
        _ => None,
    };
    digits.chunks(2).map(byte).collect::<Option<_>>().ok_or_else(|| "is not hexadecimal".to_owned())
}

/// 32 bytes in hexadecimal.
pub fn bytes32(value: &Value) -> Result<[u8; 32], String> {
    bytes(value)?.try_into().map_err(|_| "is not 32 bytes long".to_owned())
}

/// Compares, and names both if they differ.
pub fn expect<T: PartialEq + std::fmt::LowerHex>(
    what: &str,
    expected: T,
    got: T,
) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    Err(format!("{what}: expected {expected:x}, got {got:x}"))
}

/// Compares lists, and names the first place where they differ.
pub fn expect_list(what: &str, expected: &[u128], got: &[u128]) -> Result<(), String> {
    if expected.len() != got.len() {
        return Err(format!("{what}: expected {} values, got {}", expected.len(), got.len()));
    }
    let mut pairs = expected.iter().zip(got).enumerate();
    pairs.try_for_each(|(i, (e, g))| expect(&format!("{what} {i}"), *e, *g))
}

/// Compares values, and shows both in their `Debug` form if they differ.
pub fn expect_equal<T: PartialEq + Debug>(what: &str, expected: &T, got: &T) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    Err(format!("{what}: expected {expected:?}, got {got:?}"))
}

/// Compares texts.
pub fn same(what: &str, expected: &str, got: &str) -> Result<(), String> {
    if expected == got { Ok(()) } else { Err(format!("{what}: expected {expected}, got {got}")) }
}

/// Expects an error.
pub fn refused<T, E>(result: Result<T, E>) -> Result<(), String> {
    match result {
        Ok(_) => Err("expected a refusal, got a result".to_owned()),
        Err(_) => Ok(()),
    }
}

/// Why a test stopped early: the code under test returned an error, or a value differed.
pub enum Difference<E> {
    /// The code under test returned an error.
    Refused(E),
    /// Expected …, got …
    Differs(String),
}

impl<E> From<String> for Difference<E> {
    fn from(difference: String) -> Self {
        Self::Differs(difference)
    }
}

/// What an error says where a test has this flag.
fn words_of(flag: &str) -> &str {
    match flag {
        // Without a flag, any error will do.
        "an error" => "",
        "BaseNotCoprime" => "h_n is not coprime",
        "BaseOutOfRange" => "h_n is out of range",
        "BeyondBound" => "is beyond its",
        "CiphertextNotCoprime" => "a ciphertext is not coprime",
        "CiphertextOutOfRange" => "is out of range; the peer",
        "Full" => "do not go into their bins",
        "EvenModulus" => "the modulus is even",
        "ExponentTooLong" => "the exponent has",
        "Identity" => "is the identity",
        "InputLength" => "where the shape says",
        "InputOutOfRange" => "outside the bounds of the shape",
        "Length" => "bits long",
        "ModulusLength" => "bits where",
        "NotInGroup" => "is not the canonical encoding",
        "NotSafePrime" => "is not a safe prime",
        "OtherBound" => "the bound was built for",
        "OtherShape" => "works on another",
        "PerfectPower" => "the modulus is a perfect power",
        "PlaintextOutOfRange" => "is not below the modulus",
        "PrimeModulus" => "the modulus is prime",
        "RandomnessOutOfRange" => "the given randomness is out of range",
        "ResultOutOfRange" => "is outside its bounds",
        "Shape" => "is impossible",
        "SignedOutOfRange" => "does not fit between",
        "SlotOverflow" => "is wider than its slot",
        "SlotWidth" => "do not fit in a key",
        "SmallFactor" => "the modulus is divisible by",
        "TooLong" => "the expander gives",
        "TooManySlots" => "values do not fit in",
        "UnsupportedLength" => "bits are not supported",
        "Width" => "were due",
        "WordOutOfRange" => "has too many bits",
        "Wraps" => "do not fit a key",
        "WrongLength" => "bytes and got",
        other => other,
    }
}

/// Checks an outcome against the result of the test; an error must say what the test's flag names.
pub fn judge<E: Display>(test: &Value, outcome: Result<(), Difference<E>>) -> Result<(), String> {
    let valid = is_valid(test)?;
    let reason = test["flags"][0].as_str().unwrap_or("an error");
    match outcome {
        Ok(()) if valid => Ok(()),
        Ok(()) => Err(format!("expected {reason}, got no error")),
        Err(Difference::Refused(error)) if valid => Err(format!("expected success, got: {error}")),
        Err(Difference::Refused(error)) if error.to_string().contains(words_of(reason)) => Ok(()),
        Err(Difference::Refused(error)) => Err(format!("expected {reason}, got: {error}")),
        Err(Difference::Differs(difference)) => Err(difference),
    }
}
