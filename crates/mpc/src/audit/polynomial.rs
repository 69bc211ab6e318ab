//! `vectors/polynomial.json`: the receiver's message, the sender's reply, and the result.

use num_bigint::{BigInt, BigUint};
use serde_json::Value;

use super::Verdict;
use super::field::{
    Difference, check_all, expect, is_valid, judge, list, number, numbers, parse_number, text,
};
use super::keys;
use crate::Error;
use crate::crypto::paillier::SecretKey;
use crate::paper::polynomial::{NoWrap, combine, decode, powers_of};

/// Checks every test of the document on both paths. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| {
        if text(group, "type") != "Evaluation" {
            return Err(format!("unknown type {:?}", text(group, "type")));
        }
        keys(&group["key"])?.iter().try_for_each(|key| evaluation(key, test))
    })
}

fn evaluation(key: &SecretKey, test: &Value) -> Result<(), String> {
    judge(test, run(key, test))
}

/// One run without a network.
fn run(key: &SecretKey, test: &Value) -> Result<(), Difference<Error>> {
    let public = key.public();
    let argument = number(test, "argument")?;
    let polynomial: Vec<BigInt> = numbers(test, "coefficients")?;
    let bits: Vec<u64> = list(test, "coefficientBits").iter().filter_map(Value::as_u64).collect();
    let bound = NoWrap::from_result(public, &bits, &number(test, "largest")?)
        .map_err(Difference::Refused)?;
    let powers = powers_of(&argument, &bound);
    let exponents = list(test, "exponents");
    let expected = list(test, "powers");
    let is_valid = is_valid(test)?;
    let mut sent = Vec::new();
    for (i, (power, exponent)) in powers.iter().zip(exponents).enumerate() {
        let fresh = key.encrypt_with_exponent(power, &parse_number(exponent)?);
        let fresh = fresh.map_err(|error| error.to_string())?;
        let before = sent.len();
        fresh.write(&mut sent);
        if is_valid {
            let got = BigUint::from_bytes_be(&sent[before..]);
            expect(&format!("power {i}"), &parse_number(&expected[i])?, &got)?;
        }
    }
    let read = public.read(&sent, powers.len()).map_err(|error| error.to_string())?;
    let combined =
        combine(public, &bound, &read, &[polynomial], 0, &|_| ()).map_err(Difference::Refused)?;
    let nonce = number(test, "nonce")?;
    let returned = public.rerandomise_with_nonce(&combined[0], &nonce);
    let returned = returned.map_err(|error| error.to_string())?;
    let mut body = Vec::new();
    returned.write(&mut body);
    if is_valid {
        expect("returned", &number(test, "returned")?, &BigUint::from_bytes_be(&body))?;
    }
    let value =
        decode(public, &bound, &key.decrypt(&returned), &powers, 0).map_err(Difference::Refused)?;
    if is_valid {
        expect("value", &number(test, "value")?, &value)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("polynomial", super::check);
        assert_changes_are_found("polynomial", super::check);
    }
}
