//! Builds a stored circuit: folds constants, shares common subexpressions, drops dead gates.
//!
//! # Example
//!
//! ```
//! use diptych::circuit::{Bit, Builder, Gates, Owner};
//!
//! let mut g = Builder::new();
//! let a = g.input(Owner::P1, "a", 1)[0];
//! let b = g.input(Owner::P2, "b", 1)[0];
//!
//! let both = g.and(a, b);
//! assert_eq!(g.and(b, a), both, "the same gate is made once");
//! assert_eq!(g.and(a, Bit::TRUE), a, "a constant costs nothing");
//! let unused = g.or(a, b);
//! assert_eq!(g.gate_count(), 2);
//! g.output("both", &[both]);
//!
//! let circuit = g.finish();
//! assert_eq!(circuit.counts().and, 1, "what no output needs is left out");
//! assert_eq!(circuit.evaluate(&[true, true])?, [true]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher, RandomState};

use super::bit::{Bit, Gates};
use super::netlist::{Circuit, Gate, Owner, Port};

/// A circuit under construction. All inputs come before the first gate.
#[derive(Default)]
pub struct Builder {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    input_bits: usize,
    gates: Vec<Gate>,
    output_bits: Vec<Bit>,
    known: HashMap<(bool, Bit, Bit), Bit, GateHash>,
}

impl Builder {
    /// An empty circuit.
    pub fn new() -> Self {
        Self::default()
    }

    /// A new input of `owner`, least significant bit first.
    ///
    /// # Panics
    /// If a gate exists already: wires are numbered inputs first.
    pub fn input(&mut self, owner: Owner, name: &str, width: usize) -> Vec<Bit> {
        assert!(self.gates.is_empty(), "inputs come before gates");
        self.inputs.push(Port { name: name.to_owned(), owner: Some(owner), width });
        let first = self.input_bits + 1;
        self.input_bits += width;
        (first..first + width).map(|id| Bit::wire(id as u32)).collect()
    }

    /// Makes `bits` the next output.
    pub fn output(&mut self, name: &str, bits: &[Bit]) {
        self.outputs.push(Port { name: name.to_owned(), owner: None, width: bits.len() });
        self.output_bits.extend_from_slice(bits);
    }

    /// The finished circuit, without the gates on which no output depends.
    pub fn finish(self) -> Circuit {
        let Self { inputs, outputs, input_bits, gates, mut output_bits, known: _ } = self;
        let first_gate = input_bits + 1;
        let mut alive = vec![false; first_gate + gates.len()];
        for bit in &output_bits {
            alive[bit.id() as usize] = true;
        }
        for (index, gate) in gates.iter().enumerate().rev() {
            if alive[first_gate + index] {
                gate.inputs().iter().for_each(|bit| alive[bit.id() as usize] = true);
            }
        }
        let mut renamed: Vec<u32> = (0..first_gate as u32).collect();
        let mut kept = Vec::new();
        let rename = |bit: Bit, renamed: &[u32]| {
            Bit::wire(renamed[bit.id() as usize]).negate_if(bit.negated())
        };
        for (index, gate) in gates.iter().enumerate() {
            renamed.push((first_gate + kept.len()) as u32);
            if alive[first_gate + index] {
                kept.push(match *gate {
                    Gate::Xor(a, b) => Gate::Xor(rename(a, &renamed), rename(b, &renamed)),
                    Gate::And(a, b) => Gate::And(rename(a, &renamed), rename(b, &renamed)),
                });
            }
        }
        output_bits.iter_mut().for_each(|bit| *bit = rename(*bit, &renamed));
        Circuit { inputs, outputs, input_bits, gates: kept, output_bits }
    }

    /// Number of gates so far, dead ones included.
    pub fn gate_count(&self) -> usize {
        self.gates.len()
    }

    fn gate(&mut self, is_and: bool, a: Bit, b: Bit) -> Bit {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let id = self.input_bits + 1 + self.gates.len();
        assert!(id < Bit::MAX_ID as usize, "a stored circuit has fewer than 2³¹ wires");
        let next = Bit::wire(id as u32);
        let bit = *self.known.entry((is_and, a, b)).or_insert(next);
        if bit == next {
            self.gates.push(if is_and { Gate::And(a, b) } else { Gate::Xor(a, b) });
        }
        bit
    }
}

impl Gates for Builder {
    fn xor_gate(&mut self, a: Bit, b: Bit) -> Bit {
        self.gate(false, a, b)
    }

    fn and_gate(&mut self, a: Bit, b: Bit) -> Bit {
        self.gate(true, a, b)
    }
}

/// A multiplicative hash, several times faster than the standard one; the key
/// keeps a crafted circuit file from making the table slow.
struct GateHash(u64);

impl Default for GateHash {
    fn default() -> Self {
        Self(RandomState::new().hash_one(0))
    }
}

impl BuildHasher for GateHash {
    type Hasher = GateHasher;

    fn build_hasher(&self) -> GateHasher {
        GateHasher(self.0)
    }
}

struct GateHasher(u64);

impl Hasher for GateHasher {
    fn finish(&self) -> u64 {
        self.0 ^ (self.0 >> 32)
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u32(u32::from(*byte)));
    }

    fn write_u8(&mut self, value: u8) {
        self.write_u32(u32::from(value));
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = (self.0 ^ u64::from(value)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }
}
