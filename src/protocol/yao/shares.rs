//! Outputs as arithmetic shares: the garbler puts in a random mask, the circuit
//! subtracts it, the evaluator learns the rest.
//!
//! The garbler's share is the mask, which is uniform; the evaluator's is value −
//! mask, uniform as well. Costs w − 1 ANDs per output over Z_{2^w}, at most 2w
//! over Z_N, and w bits of input of the garbler, which are free.

use num_bigint::BigUint;
use num_traits::{One, Zero};
use rand::Rng;

use super::{Error, Job, Reveal, Yao};
use crate::circuit::integer::{modular_subtract, resize, subtract};
use crate::circuit::{Bit, Builder, Circuit, Gates, Owner, Program, Source};
use crate::math::Randomness;
use crate::net::Role;
use crate::protocol::Session;

/// Where shares live.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ring {
    /// Z_{2^k}.
    PowerOfTwo(usize),
    /// Z_N. The values shared must be below N.
    Modulo(BigUint),
}

impl Ring {
    /// Bits of an element.
    pub fn width(&self) -> usize {
        match self {
            Ring::PowerOfTwo(k) => *k,
            Ring::Modulo(modulus) => modulus.bits() as usize,
        }
    }

    /// Number of elements.
    pub fn order(&self) -> BigUint {
        match self {
            Ring::PowerOfTwo(k) => BigUint::one() << *k,
            Ring::Modulo(modulus) => modulus.clone(),
        }
    }

    /// The value that two shares make.
    pub fn reconstruct(&self, a: &BigUint, b: &BigUint) -> BigUint {
        let order = self.order();
        if order.is_zero() { BigUint::zero() } else { (a + b) % order }
    }

    /// Inside a circuit: `value` − `mask`, the evaluator's share.
    pub fn mask<G: Gates>(&self, g: &mut G, value: &[Bit], mask: &[Bit]) -> Vec<Bit> {
        let value = resize(value, self.width());
        match self {
            Ring::PowerOfTwo(_) => subtract(g, &value, mask),
            Ring::Modulo(modulus) => modular_subtract(g, &value, mask, modulus),
        }
    }

    /// A uniform element. The number of tries tells nothing about it.
    pub fn random(&self, rng: &mut Randomness) -> BigUint {
        let (order, width) = (self.order(), self.width());
        let mut bytes = vec![0; width.div_ceil(8)];
        loop {
            rng.fill_bytes(&mut bytes);
            let spare = 8 * bytes.len() - width;
            if let Some(top) = bytes.last_mut() {
                *top &= 0xff >> spare;
            }
            let value = BigUint::from_bytes_le(&bytes);
            if value < order || order.is_zero() {
                return value;
            }
        }
    }
}

/// A circuit whose outputs come out as shares, ready to run many times.
pub struct SharedOutputs {
    program: Program,
    rings: Vec<Ring>,
    garbler: Role,
}

impl SharedOutputs {
    /// Wraps `circuit`: output i is shared over `rings[i]`.
    ///
    /// # Panics
    /// If there is not one ring per output.
    pub fn new(circuit: &Circuit, garbler: Role, rings: &[Ring]) -> Self {
        assert_eq!(circuit.outputs().len(), rings.len(), "one ring per output");
        let mut g = Builder::new();
        let mut inputs = Vec::with_capacity(circuit.input_bits());
        for port in circuit.inputs() {
            inputs.extend(g.input(port.owner.unwrap_or(Owner::P2), &port.name, port.width));
        }
        let owner = if garbler == Role::P1 { Owner::P1 } else { Owner::P2 };
        let masks: Vec<Vec<Bit>> =
            rings.iter().map(|ring| g.input(owner, "mask", ring.width())).collect();
        let values = circuit.embed(&mut g, &inputs);
        let mut values = values.as_slice();
        for ((port, ring), mask) in circuit.outputs().iter().zip(rings).zip(&masks) {
            let (value, rest) = values.split_at(port.width);
            let share = ring.mask(&mut g, value, mask);
            g.output(&port.name, &share);
            values = rest;
        }
        Self { program: Program::new(&g.finish()), rings: rings.to_vec(), garbler }
    }

    /// Runs the circuit; every party gets its share of every output.
    ///
    /// # Errors
    /// As for [`Yao::run`].
    pub fn run(
        &self,
        yao: &mut Yao,
        session: &mut Session,
        inputs: &[bool],
    ) -> Result<Vec<BigUint>, Error> {
        let mut bits = inputs.to_vec();
        let mut masks = Vec::new();
        if session.role == self.garbler {
            masks.extend(self.rings.iter().map(|ring| ring.random(&mut session.rng)));
            for (mask, ring) in masks.iter().zip(&self.rings) {
                bits.extend((0..ring.width()).map(|i| mask.bit(i as u64)));
            }
        }
        let to_evaluator = if self.garbler == Role::P1 { Reveal::P2 } else { Reveal::P1 };
        let job = Job { source: &self.program, inputs: &bits };
        let revealed = yao.run_all(session, self.garbler, &[job], to_evaluator)?;
        Ok(match revealed.and_then(|mut outputs| outputs.pop()) {
            None => masks,
            Some(outputs) => {
                let mut bits = outputs.as_slice();
                let mut shares = Vec::new();
                for port in self.program.outputs() {
                    let (share, rest) = bits.split_at(port.width);
                    shares.push(number(share));
                    bits = rest;
                }
                shares
            }
        })
    }
}

/// The number with these bits, least significant first.
pub fn number(bits: &[bool]) -> BigUint {
    let byte = |chunk: &[bool]| {
        chunk.iter().enumerate().fold(0u8, |byte, (i, bit)| byte | u8::from(*bit) << i)
    };
    BigUint::from_bytes_le(&bits.chunks(8).map(byte).collect::<Vec<u8>>())
}
