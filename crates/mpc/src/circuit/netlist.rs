//! A stored circuit.

use super::bit::{Bit, Gates};
use crate::role::Role;

/// A named integer that goes into a circuit or comes out of it, least significant bit first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Port {
    /// What the circuit calls it.
    pub name: String,
    /// Who gives it; `None` for an output.
    pub owner: Option<Role>,
    /// Number of bits.
    pub width: usize,
}

/// A gate of a stored circuit. Its output is the wire after the previous gate's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Exclusive or of two wires, neither negated.
    Xor(Bit, Bit),
    /// Conjunction; either input may be negated.
    And(Bit, Bit),
}

impl Gate {
    /// The two inputs.
    pub fn inputs(self) -> [Bit; 2] {
        match self {
            Gate::Xor(a, b) | Gate::And(a, b) => [a, b],
        }
    }
}

/// A circuit of XOR and AND gates with negations on the inputs of ANDs and on outputs.
///
/// Wire numbers start at 1: the input bits in order, then one per gate, each
/// gate after its inputs. Made by [`super::Builder`] or the Bristol Fashion reader.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    pub(super) inputs: Vec<Port>,
    pub(super) outputs: Vec<Port>,
    pub(super) input_bits: usize,
    pub(super) gates: Vec<Gate>,
    pub(super) output_bits: Vec<Bit>,
}

/// Gate counts and depths of a circuit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Gates that cost two ciphertexts each.
    pub and: usize,
    /// Free gates.
    pub xor: usize,
    /// Wires that an AND or an output takes negated.
    pub inv: usize,
    /// AND gates on the longest path.
    pub and_depth: usize,
    /// Gates on the longest path.
    pub depth: usize,
}

impl Circuit {
    /// The inputs in order.
    pub fn inputs(&self) -> &[Port] {
        &self.inputs
    }

    /// The outputs in order.
    pub fn outputs(&self) -> &[Port] {
        &self.outputs
    }

    /// Number of input bits.
    pub fn input_bits(&self) -> usize {
        self.input_bits
    }

    /// The wires and constants that are the outputs, all ports in a row.
    pub fn output_bits(&self) -> &[Bit] {
        &self.output_bits
    }

    /// The gates, each after those that it depends on.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// Sets the owner of each input. Bristol Fashion files do not state it: the reader gives the
    /// first input to P1 and the others to P2.
    pub fn assign_inputs(&mut self, owner: impl Fn(usize) -> Role) {
        for (index, port) in self.inputs.iter_mut().enumerate() {
            port.owner = Some(owner(index));
        }
    }

    /// Copies the circuit into another one, on these input bits (all ports in a
    /// row), and returns its outputs.
    ///
    /// # Panics
    /// If there is not one bit per input bit.
    pub fn embed<G: Gates>(&self, g: &mut G, inputs: &[Bit]) -> Vec<Bit> {
        assert_eq!(inputs.len(), self.input_bits, "one bit per input bit");
        let mut bits = Vec::with_capacity(1 + self.input_bits + self.gates.len());
        bits.push(Bit::FALSE);
        bits.extend_from_slice(inputs);
        let read = |bits: &[Bit], bit: Bit| bits[bit.id() as usize].negate_if(bit.negated());
        for gate in &self.gates {
            let [a, b] = gate.inputs().map(|bit| read(&bits, bit));
            bits.push(match gate {
                Gate::Xor(..) => g.xor(a, b),
                Gate::And(..) => g.and(a, b),
            });
        }
        self.output_bits.iter().map(|bit| read(&bits, *bit)).collect()
    }

    /// Counts gates and depth. Linear in the number of gates.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        let mut depths = Vec::with_capacity(self.input_bits + 1 + self.gates.len());
        depths.resize(self.input_bits + 1, (0u32, 0u32));
        let mut negated = vec![false; self.input_bits + 1 + self.gates.len()];
        for gate in &self.gates {
            let [a, b] = gate.inputs().map(|bit| {
                negated[bit.id() as usize] |= bit.negated() && bit.id() != 0;
                depths[bit.id() as usize]
            });
            let (and_depth, depth) = (a.0.max(b.0), a.1.max(b.1) + 1);
            match gate {
                Gate::Xor(..) => {
                    counts.xor += 1;
                    depths.push((and_depth, depth));
                }
                Gate::And(..) => {
                    counts.and += 1;
                    depths.push((and_depth + 1, depth));
                }
            }
        }
        for bit in &self.output_bits {
            negated[bit.id() as usize] |= bit.negated() && bit.id() != 0;
            let (and_depth, depth) = depths[bit.id() as usize];
            counts.and_depth = counts.and_depth.max(and_depth as usize);
            counts.depth = counts.depth.max(depth as usize);
        }
        counts.inv = negated.into_iter().filter(|n| *n).count();
        counts
    }
}
