//! Outputs as arithmetic shares: the garbler puts in a random mask, the circuit
//! subtracts it, the evaluator learns the rest.
//!
//! The garbler's share is the mask, which is uniform; the evaluator's is value −
//! mask, uniform as well. Costs w − 1 ANDs per output over Z_{2^w}, at most 2w
//! over Z_N, and w bits of input of the garbler, which are free.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::circuit::{Builder, integer};
//! use diptych_mpc::Role;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::shares::{Ring, reconstruct};
//! use diptych_mpc::protocol::yao::shares::SharedOutputs;
//!
//! let mut g = Builder::new();
//! let a = g.input(Role::P1, "a", 8);
//! let b = g.input(Role::P2, "b", 8);
//! let sum = integer::add_carry(&mut g, &a, &b);
//! g.output("sum", &integer::resize(&sum, 16));
//! let shared = SharedOutputs::new(&g.finish(), Role::P1, &[Ring::PowerOfTwo(16)]);
//!
//! let bits = |number: u8| (0..8).map(|i| number >> i & 1 == 1).collect::<Vec<bool>>();
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| shared.run(session, &bits(20)),
//!     |session| shared.run(session, &bits(30)),
//! );
//! // Each party has a uniform number; only both together have the sum.
//! assert_eq!(reconstruct(&outcome.p1?[0], &outcome.p2?[0])?, 50u32.into());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use num_bigint::BigUint;
use zeroize::Zeroizing;

use super::{Error, Job, Reveal, bits_of, run_all};
use crate::circuit::{Bit, Builder, Circuit, Program, Source};
use crate::protocol::Session;
use crate::protocol::shares::{Ring, Share};
use crate::role::Role;

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
            inputs.extend(g.input(port.owner.unwrap_or(Role::P2), &port.name, port.width));
        }
        let masks: Vec<Vec<Bit>> =
            rings.iter().map(|ring| g.input(garbler, "mask", ring.width())).collect();
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
    /// As for [`super::run`].
    pub fn run(&self, session: &mut Session, inputs: &[bool]) -> Result<Vec<Share>, Error> {
        let mut bits = Zeroizing::new(Vec::with_capacity(bits_of(&self.program, session.role)));
        bits.extend_from_slice(inputs);
        let mut masks = Vec::new();
        if session.role == self.garbler {
            masks.extend(self.rings.iter().map(|ring| Share::random(ring, &mut session.rng)));
            bits.extend(masks.iter().flat_map(Share::bits));
        }
        let to_evaluator = if self.garbler == Role::P1 { Reveal::P2 } else { Reveal::P1 };
        let job = Job { source: &self.program, inputs: &bits };
        let revealed = run_all(session, self.garbler, &[job], to_evaluator)?;
        Ok(match revealed.and_then(|mut outputs| outputs.pop()) {
            None => masks,
            Some(outputs) => {
                let mut bits = outputs.as_slice();
                let mut shares = Vec::new();
                for (port, ring) in self.program.outputs().iter().zip(&self.rings) {
                    let (share, rest) = bits.split_at(port.width);
                    shares.push(Share::new(ring, &number(share).into()));
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
    BigUint::from_bytes_le(&Zeroizing::new(bits.chunks(8).map(byte).collect::<Vec<u8>>()))
}
