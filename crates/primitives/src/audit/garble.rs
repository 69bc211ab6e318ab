//! `vectors/garble.json`: the hash's starting point, half gates both ways, decoding.

use serde_json::Value;

use super::Verdict;
use super::field::{bytes32, check_all, expect, integer, is_valid, number, text};
use crate::crypto::garble::{
    BYTES_PER_AND, Delta, Evaluator, Garbler, GateHash, Layer, decode, starting_point,
};
use crate::simd::Op;
use crate::simd::aes::Kernel;

/// Checks every test of the document. A test that cannot be read fails.
pub fn check(document: &Value) -> Vec<Verdict> {
    check_all(document, |group, test| match text(group, "type") {
        "StartingPoint" => {
            let start = starting_point(&bytes32(&test["session"])?, text(test, "purpose"));
            expect("start", number(test, "start")?, start)
        }
        "GarbleAnd" => garble(group, test),
        "EvaluateAnd" => evaluate(group, test),
        "Decode" => decode_label(group, test),
        other => Err(format!("unknown type {other:?}")),
    })
}

const GATE: Layer<'static> = Layer { gates: &[Op { a: 0, b: 1, out: 2 }], lanes: 1 };

/// On every kernel that this processor has.
fn hashes(group: &Value, test: &Value) -> Result<Vec<GateHash>, String> {
    let (start, gate) = (number(group, "start")?, integer(test, "gate")?);
    let kernels = Kernel::available().into_iter();
    let hashes = kernels.map(|kernel| GateHash::on(kernel, start).skip(gate));
    hashes.collect::<Option<_>>().ok_or_else(|| "expected a gate number up to 2^63".to_owned())
}

fn table(test: &Value) -> Result<[u8; BYTES_PER_AND], String> {
    let mut table = [0; BYTES_PER_AND];
    table[..16].copy_from_slice(&number::<u128>(test, "generatorHalf")?.to_le_bytes());
    table[16..].copy_from_slice(&number::<u128>(test, "evaluatorHalf")?.to_le_bytes());
    Ok(table)
}

fn garble(group: &Value, test: &Value) -> Result<(), String> {
    let (a, b, out) = (number(test, "a0")?, number(test, "b0")?, number(test, "out0")?);
    let expected = table(test)?;
    let delta = Delta::new(number(group, "delta")?);
    for hash in hashes(group, test)? {
        let mut wires = [a, b, 0];
        let mut found = [0; BYTES_PER_AND];
        Garbler::new(delta.clone(), hash).and_gates(&mut wires, GATE, 0..1, &mut found);
        expect("out0", out, wires[2])?;
        if found != expected {
            return Err("expected other ciphertexts than those made".to_owned());
        }
    }
    for (x, y) in [(0, 0), (0, 1), (1, 0), (1, 1)] {
        for hash in hashes(group, test)? {
            let mut wires = [a ^ (x * delta.expose()), b ^ (y * delta.expose()), 0];
            let result = Evaluator::new(hash).and_gates(&mut wires, GATE, 0..1, &expected);
            result.map_err(|error| error.to_string())?;
            expect(&format!("label for {x} and {y}"), out ^ (x * y * delta.expose()), wires[2])?;
        }
    }
    Ok(())
}

fn evaluate(group: &Value, test: &Value) -> Result<(), String> {
    for hash in hashes(group, test)? {
        let mut wires = [number(test, "a")?, number(test, "b")?, 0];
        let result = Evaluator::new(hash).and_gates(&mut wires, GATE, 0..1, &table(test)?);
        result.map_err(|error| error.to_string())?;
        expect("out", number(test, "out")?, wires[2])?;
    }
    Ok(())
}

fn decode_label(group: &Value, test: &Value) -> Result<(), String> {
    let delta = Delta::new(number(group, "delta")?);
    match decode(number(test, "zero")?, &delta, number(test, "label")?, 0) {
        Ok(bit) if is_valid(test)? => expect("bit", integer(test, "bit")?, u64::from(bit)),
        Ok(_) => Err("expected a refusal, got a bit".to_owned()),
        Err(_) if !is_valid(test)? => Ok(()),
        Err(error) => Err(format!("expected a bit, got: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::testing::{assert_all_pass, assert_changes_are_found};

    #[test]
    fn every_vector_passes_and_a_changed_one_does_not() {
        assert_all_pass("garble", super::check);
        assert_changes_are_found("garble", super::check);
    }
}
