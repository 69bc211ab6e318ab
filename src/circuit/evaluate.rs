//! The plain evaluator: what a circuit computes, without any secrecy. 64 runs at a time.

use super::Error;
use super::bit::Bit;
use super::netlist::{Circuit, Gate};
use super::schedule::{Consumer, Source, Step};

impl Circuit {
    /// The output bits for the input bits of all ports in a row.
    ///
    /// # Errors
    /// [`Error::InputWidth`] unless there is one bit per input bit.
    pub fn evaluate(&self, inputs: &[bool]) -> Result<Vec<bool>, Error> {
        let words: Vec<u64> = inputs.iter().map(|bit| u64::from(*bit)).collect();
        Ok(self.evaluate_words(&words)?.into_iter().map(|word| word & 1 == 1).collect())
    }

    /// 64 evaluations at once: bit j of every word belongs to evaluation j.
    ///
    /// # Errors
    /// [`Error::InputWidth`] unless there is one word per input bit.
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

/// Runs any source in the plain: the reference for garbled runs.
///
/// # Errors
/// [`Error::InputWidth`] unless there is one bit per input bit.
pub fn evaluate_source(source: &dyn Source, inputs: &[bool]) -> Result<Vec<bool>, Error> {
    check_width(source.input_bits(), inputs.len())?;
    let mut slots = vec![1u8];
    slots.extend(inputs.iter().map(|bit| u8::from(*bit)));
    let mut plain = Plain { slots };
    let outputs = source.stream(&mut plain);
    Ok(outputs
        .into_iter()
        .map(|bit| match bit.as_constant() {
            Some(value) => value,
            None => (plain.slots[bit.id() as usize] == 1) ^ bit.negated(),
        })
        .collect())
}

fn check_width(expected: usize, given: usize) -> Result<(), Error> {
    if expected == given { Ok(()) } else { Err(Error::InputWidth { expected, given }) }
}

fn read(values: &[u64], bit: Bit) -> u64 {
    let mask = if bit.negated() { u64::MAX } else { 0 };
    values[bit.id() as usize] ^ mask
}

struct Plain {
    slots: Vec<u8>,
}

impl Consumer for Plain {
    fn step(&mut self, slots: usize, step: Step<'_>) -> bool {
        self.slots.resize(slots, 0);
        for op in step.linear {
            self.slots[op.out as usize] = self.slots[op.a as usize] ^ self.slots[op.b as usize];
        }
        let products: Vec<u8> = step
            .ands
            .iter()
            .map(|op| self.slots[op.a as usize] & self.slots[op.b as usize])
            .collect();
        for (op, product) in step.ands.iter().zip(products) {
            self.slots[op.out as usize] = product;
        }
        true
    }
}
