//! `vectors/circuits.json`: what the exported circuits and the examples compute.

use num_bigint::BigUint;
use serde_json::Value;

use super::Verdict;
use super::field::{check_all, expect, is_valid, list, text};
use crate::circuit::evaluate::bits_of_hex;
use crate::circuit::{Circuit, gallery};
use crate::protocol::yao::shares::number as number_of_bits;

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    let named: Vec<(String, Option<Circuit>)> = list(document, "testGroups")
        .iter()
        .map(|group| (text(group, "circuit").to_owned(), gallery::named(text(group, "circuit"))))
        .collect();
    check_all(document, |group, test| {
        let name = text(group, "circuit");
        let found = named.iter().find(|(known, _)| known == name);
        let circuit = found.and_then(|(_, circuit)| circuit.as_ref());
        examine(circuit.ok_or_else(|| format!("there is no circuit {name:?}"))?, test)
    })
}

fn examine(circuit: &Circuit, test: &Value) -> Result<(), String> {
    let mut bits = Vec::new();
    for (port, value) in circuit.inputs().iter().zip(list(test, "inputs")) {
        match bits_of_hex(value.as_str().unwrap_or_default(), port.width) {
            Ok(port_bits) => bits.extend(port_bits),
            Err(_) if !is_valid(test)? => return Ok(()),
            Err(wrong) => return Err(format!("expected an input that fits, got: {wrong}")),
        }
    }
    let outputs = circuit.evaluate(&bits).map_err(|error| error.to_string())?;
    if !is_valid(test)? {
        return Err("expected a refusal, got outputs".to_owned());
    }
    let mut rest = outputs.as_slice();
    for (port, value) in circuit.outputs().iter().zip(list(test, "outputs")) {
        let (bits, later) = rest.split_at(port.width);
        let expected = BigUint::parse_bytes(value.as_str().unwrap_or_default().as_bytes(), 16);
        let expected = expected.ok_or("an output is not hexadecimal")?;
        expect(&port.name, expected, number_of_bits(bits))?;
        rest = later;
    }
    if rest.is_empty() { Ok(()) } else { Err("expected more outputs than are listed".to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("circuits", super::check);
        assert_changes_are_found("circuits", super::check);
    }
}
