//! The plain evaluator: what a circuit computes, without any secrecy. 64 evaluations at a time.

use num_bigint::BigUint;

use super::bit::Bit;
use super::netlist::{Circuit, Gate};
use super::schedule::{Consumer, Op, Source, Step};
use crate::Error;

impl Circuit {
    /// The output bits for the input bits of all ports in a row.
    ///
    /// # Errors
    /// Unless there is one bit per input bit.
    pub fn evaluate(&self, inputs: &[bool]) -> Result<Vec<bool>, Error> {
        let words: Vec<u64> = inputs.iter().map(|bit| u64::from(*bit)).collect();
        Ok(self.evaluate_words(&words)?.into_iter().map(|word| word & 1 == 1).collect())
    }

    /// 64 evaluations at once: bit j of every word belongs to evaluation j.
    ///
    /// # Errors
    /// Unless there is one word per input bit.
    pub fn evaluate_words(&self, inputs: &[u64]) -> Result<Vec<u64>, Error> {
        check_width(self.input_bits(), inputs.len())?;
        let mut values = Vec::with_capacity(1 + inputs.len() + self.gates().len());
        values.push(0);
        values.extend_from_slice(inputs);
        for gate in self.gates() {
            values.push(match *gate {
                Gate::Xor(a, b) => read(&values, a) ^ read(&values, b),
                Gate::And(a, b) => read(&values, a) & read(&values, b),
            });
        }
        Ok(self.output_bits().iter().map(|bit| read(&values, *bit)).collect())
    }
}

/// The bits of a hexadecimal number, least significant first.
///
/// # Errors
/// If it is not hexadecimal or does not fit `width` bits; the error does not contain the value.
pub fn bits_of_hex(text: &str, width: usize) -> Result<Vec<bool>, String> {
    let digits = text.strip_prefix("0x").unwrap_or(text);
    let is_hex = !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_hexdigit());
    let number = is_hex.then(|| BigUint::parse_bytes(digits.as_bytes(), 16)).flatten();
    let number = number.ok_or("expected a hexadecimal number")?;
    if number.bits() > width as u64 {
        return Err(format!("the number does not fit {width} bits"));
    }
    Ok((0..width as u64).map(|i| number.bit(i)).collect())
}

/// Evaluates any source without secrecy: the reference for garbled runs.
///
/// # Errors
/// Unless there is one bit per input bit.
pub fn evaluate_source(source: &dyn Source, inputs: &[bool]) -> Result<Vec<bool>, Error> {
    check_width(source.input_bits(), inputs.len())?;
    let mut values = vec![1u8];
    values.extend(inputs.iter().map(|bit| u8::from(*bit)));
    let mut plain = Plain { values };
    let outputs = source.stream(&mut plain);
    Ok(outputs
        .into_iter()
        .map(|bit| match bit.as_constant() {
            Some(value) => value,
            None => (plain.values[bit.id() as usize] == 1) ^ bit.negated(),
        })
        .collect())
}

pub(crate) fn check_width(expected: usize, given: usize) -> Result<(), Error> {
    if expected == given {
        return Ok(());
    }
    Err(Error::internal(format!(
        "the circuit takes {expected} input bits and was given {given}; give one per bit"
    )))
}

fn read(values: &[u64], bit: Bit) -> u64 {
    let mask = if bit.negated() { u64::MAX } else { 0 };
    values[bit.id() as usize] ^ mask
}

struct Plain {
    values: Vec<u8>,
}

impl Consumer for Plain {
    fn step(&mut self, values: usize, step: Step<'_>) -> bool {
        self.values.resize(values, 0);
        let lanes = |op: &Op| {
            let at = |slot: u32, lane| step.base + slot as usize * step.lanes + lane;
            let (a, b, out) = (op.a, op.b, op.out);
            (0..step.lanes).map(move |lane| (at(a, lane), at(b, lane), at(out, lane)))
        };
        for (a, b, out) in step.linear.iter().flat_map(lanes) {
            self.values[out] = self.values[a] ^ self.values[b];
        }
        let products: Vec<u8> = step
            .ands
            .iter()
            .flat_map(lanes)
            .map(|(a, b, _)| self.values[a] & self.values[b])
            .collect();
        for ((_, _, out), product) in step.ands.iter().flat_map(lanes).zip(products) {
            self.values[out] = product;
        }
        true
    }
}
