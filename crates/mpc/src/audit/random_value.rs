//! `vectors/random_value.json`: the truth table of the gadget, and whole runs on given bits.
//!
//! Runs are the circuit that the protocol garbles, evaluated in the plain.

use num_bigint::BigUint;
use serde_json::Value;

use super::Verdict;
use super::field::{bits, check_all, expect, integer, is_valid, number, text};
use crate::circuit::random_value::UniformBelow;
use crate::paper::random_value::{PlainInputs, ideal, plain};
use crate::protocol::shares::Ring;
use crate::role::Role;

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| {
        let size = |name| Ok::<_, String>(integer(group, name)? as usize);
        let (width, window, tries) = (size("width")?, size("window")?, size("tries")?);
        if width > 4096 || tries > 256 {
            return Err("is larger than anything worth drawing".to_owned());
        }
        let shape = UniformBelow::with(width, window, tries);
        match text(group, "type") {
            "TruthTable" => truth_table(shape, test),
            "Drawing" => drawing(shape, group, test),
            other => Err(format!("unknown type {other:?}")),
        }
    })
}

fn truth_table(shape: UniformBelow, test: &Value) -> Result<(), String> {
    let bound = number(test, "bound")?;
    let outcomes = text(test, "outcomes").as_bytes();
    let random_bits = shape.random_bits();
    if bound == BigUint::ZERO || random_bits > 16 || outcomes.len() != 1 << random_bits {
        return Err("does not have one outcome per value of the random bits".to_owned());
    }
    let zeros = BigUint::ZERO;
    for (random, expected) in outcomes.iter().enumerate() {
        let expected = char::from(*expected).to_digit(16).map(BigUint::from);
        let inputs = PlainInputs {
            bound: [&bound, &zeros],
            random: [&bits(&random.into(), random_bits), &vec![false; random_bits]],
            mask: &zeros,
        };
        let ring = Ring::PowerOfTwo(shape.width());
        let got = plain(&ring, shape, Role::P1, &inputs).map_err(|error| error.to_string())?;
        if got != expected {
            return Err(format!("random bits {random:x}: expected {expected:?}, got {got:?}"));
        }
    }
    Ok(())
}

fn drawing(shape: UniformBelow, group: &Value, test: &Value) -> Result<(), String> {
    let ring = match text(group, "ring").strip_prefix("2^") {
        Some(_) => Ring::PowerOfTwo(shape.width()),
        None => Ring::Modulo(number(group, "ring")?),
    };
    if ring.width() != shape.width() {
        return Err("has a ring of another width".to_owned());
    }
    let (first, second): (BigUint, BigUint) = (number(test, "bound1")?, number(test, "bound2")?);
    let (random1, random2) = (number(test, "random1")?, number(test, "random2")?);
    let random = [random1, random2].map(|random| bits(&random, shape.random_bits()));
    let mask = number(test, "mask")?;
    let order = ring.order();
    let bound = (&first + &second) % &order;
    if first >= order || second >= order || mask >= order || bound == BigUint::ZERO {
        return Err("has a share that is not in the ring, or the bound 0".to_owned());
    }
    let expected = ideal(shape, &bound, &random[0], &random[1]);
    let inputs =
        PlainInputs { bound: [&first, &second], random: [&random[0], &random[1]], mask: &mask };
    // Either party may garble; the result is the same.
    let garbler = if integer(test, "tcId")? % 2 == 0 { Role::P1 } else { Role::P2 };
    let share = plain(&ring, shape, garbler, &inputs).map_err(|error| error.to_string())?;
    match (is_valid(test)?, expected, share) {
        (true, Some(value), Some(share)) => {
            expect("value", number(test, "value")?, value)?;
            expect("share", number(test, "share")?, share)
        }
        (false, None, None) => Ok(()),
        (true, ..) => Err("expected a value, got a failure".to_owned()),
        (false, ..) => Err("expected a failure, got a value".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("random_value", super::check);
        assert_changes_are_found("random_value", super::check);
    }
}
