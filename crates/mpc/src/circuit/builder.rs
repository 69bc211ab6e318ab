//! Builds a stored circuit: folds constants, shares common subexpressions, drops dead gates.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::circuit::{Bit, Builder, Gates};
//! use diptych_mpc::Role;
//!
//! let mut g = Builder::new();
//! let a = g.input(Role::P1, "a", 1)[0];
//! let b = g.input(Role::P2, "b", 1)[0];
//!
//! let both = g.and(a, b);
//! assert_eq!(g.and(b, a), both, "the same gate is made once");
//! assert_eq!(g.and(a, Bit::TRUE), a, "a constant costs nothing");
//! let unused = g.or(a, b);
//! g.output("both", &[both]);
//!
//! let circuit = g.finish();
//! assert_eq!(circuit.counts().and, 1, "what no output needs is left out");
//! assert_eq!(circuit.evaluate(&[true, true])?, [true]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::hash::{BuildHasher, RandomState};

use super::bit::{Bit, Gates};
use super::netlist::{Circuit, Gate, Port};
use crate::role::Role;

/// A circuit under construction. All inputs come before the first gate.
#[derive(Default)]
pub struct Builder {
    inputs: Vec<Port>,
    outputs: Vec<Port>,
    input_bits: usize,
    gates: Vec<Gate>,
    output_bits: Vec<Bit>,
    known: Known,
}

impl Builder {
    /// An empty circuit.
    pub fn new() -> Self {
        Self::default()
    }

    /// A builder for gates that come from a file, with capacity for so many: 12 bytes each. Equal
    /// gates are merged only if they are near each other, because a table of millions costs more
    /// time than everything else that is done with a gate, and published circuits hardly repeat
    /// themselves.
    pub(super) fn for_file(gates: usize) -> Self {
        let known = Known::Recent(vec![(0, 0); 1 << RECENT_BITS].into());
        Self { gates: Vec::with_capacity(gates), known, ..Self::default() }
    }

    /// A new input of `owner`, least significant bit first.
    ///
    /// # Panics
    /// If a gate exists already: wires are numbered inputs first.
    pub fn input(&mut self, owner: Role, name: &str, width: usize) -> Vec<Bit> {
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
        let Self { inputs, outputs, input_bits, mut gates, mut output_bits, known } = self;
        drop(known); // before more memory is taken
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
        let mut renamed: Vec<u32> = Vec::with_capacity(alive.len());
        renamed.extend(0..first_gate as u32);
        let rename = |bit: Bit, renamed: &[u32]| {
            Bit::wire(renamed[bit.id() as usize]).negate_if(bit.negated())
        };
        // Live gates move down over the dead ones before them.
        let mut kept = 0;
        for index in 0..gates.len() {
            renamed.push((first_gate + kept) as u32);
            if alive[first_gate + index] {
                gates[kept] = match gates[index] {
                    Gate::Xor(a, b) => Gate::Xor(rename(a, &renamed), rename(b, &renamed)),
                    Gate::And(a, b) => Gate::And(rename(a, &renamed), rename(b, &renamed)),
                };
                kept += 1;
            }
        }
        gates.truncate(kept);
        gates.shrink_to_fit();
        output_bits.iter_mut().for_each(|bit| *bit = rename(*bit, &renamed));
        Circuit { inputs, outputs, input_bits, gates, output_bits }
    }

    fn gate(&mut self, is_and: bool, a: Bit, b: Bit) -> Bit {
        let (a, b) = if a <= b { (a, b) } else { (b, a) };
        let id = self.input_bits + 1 + self.gates.len();
        assert!(id < Bit::MAX_ID as usize, "a stored circuit has fewer than 2³¹ wires");
        let gate = if is_and { Gate::And(a, b) } else { Gate::Xor(a, b) };
        let index = self.known.find_or_add(gate, &self.gates);
        if index == self.gates.len() {
            self.gates.push(gate);
        }
        Bit::wire((self.input_bits + 1 + index) as u32)
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

/// Places for recent gates, as a power of two: few enough for the L2 cache.
const RECENT_BITS: u32 = 14;

/// Finds gates that exist already.
enum Known {
    /// All of them.
    All(Table),
    /// The last one of each hash, as a word and its index. The hash has no key: both parties must
    /// keep the same gates.
    Recent(Box<[(u64, u32)]>),
}

impl Default for Known {
    fn default() -> Self {
        Self::All(Table::default())
    }
}

impl Known {
    /// The index of the gate among `gates`; if it is not found, the index after the last, at which
    /// the caller must put it.
    fn find_or_add(&mut self, gate: Gate, gates: &[Gate]) -> usize {
        match self {
            Self::All(table) => table.find_or_add(gate, gates),
            Self::Recent(places) => {
                let word = word_of(gate);
                let hash = word.wrapping_mul(MULTIPLIER) >> (u64::BITS - RECENT_BITS);
                let place = &mut places[hash as usize];
                if place.0 != word {
                    *place = (word, gates.len() as u32);
                }
                place.1 as usize
            }
        }
    }
}

/// 2⁶⁴ divided by the golden ratio.
const MULTIPLIER: u64 = 0x9e37_79b9_7f4a_7c15;

/// A unique non-zero number for the gate: its inputs, which are different wires in order, with the
/// first one low for an AND and high for an XOR.
fn word_of(gate: Gate) -> u64 {
    let [low, high] = gate.inputs().map(|bit| u64::from(bit.code()));
    match gate {
        Gate::And(..) => high << 32 | low,
        Gate::Xor(..) => low << 32 | high,
    }
}

/// An open table of the numbers of gates, at most three quarters full. The hash is multiplicative,
/// several times faster than the standard one; its key keeps crafted gates from making the table
/// slow.
struct Table {
    /// 0, or the number of a gate, from 1; the bits that no number needs hold part of its hash, so
    /// that few gates are compared in vain. The length is a power of two.
    places: Vec<u32>,
    key: u64,
}

impl Default for Table {
    fn default() -> Self {
        Self { places: vec![0; 16], key: RandomState::new().hash_one(0) }
    }
}

impl Table {
    /// See [`Known::find_or_add`].
    fn find_or_add(&mut self, gate: Gate, gates: &[Gate]) -> usize {
        if gates.len() >= self.places.len() / 4 * 3 {
            self.places = vec![0; 2 * self.places.len()];
            for (number, gate) in (1..).zip(gates) {
                let (place, tag) = self.place(*gate, |_| false);
                self.places[place] = tag | number;
            }
        }
        let (place, tag) = self.place(gate, |index| gates[index] == gate);
        match self.places[place] {
            0 => {
                self.places[place] = tag | (gates.len() as u32 + 1);
                gates.len()
            }
            entry => (entry ^ tag) as usize - 1,
        }
    }

    /// The first place from the gate's own on that is free or holds the same gate, and the bits of
    /// the gate's hash that are stored there.
    fn place(&self, gate: Gate, is_same: impl Fn(usize) -> bool) -> (usize, u32) {
        let mix = |word: u64| {
            let product = u128::from(word) * u128::from(MULTIPLIER);
            (product >> 64) as u64 ^ product as u64
        };
        let hash = mix(mix(word_of(gate) ^ self.key).wrapping_sub(self.key));
        let mask = self.places.len() - 1;
        let tag = (hash >> 32) as u32 & !(mask as u32);
        let mut place = hash as usize & mask;
        loop {
            let number = (self.places[place] ^ tag) as usize;
            if self.places[place] == 0 || number <= mask && is_same(number - 1) {
                return (place, tag);
            }
            place = (place + 1) & mask;
        }
    }
}
