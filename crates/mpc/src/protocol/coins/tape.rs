//! Both parties' coins from one tape. A tape gives no privacy: the command is built without it.

use std::sync::mpsc::{Receiver, Sender, channel};

use num_bigint::{BigInt, BigUint};
use num_traits::Signed;
use zeroize::Zeroizing;

use super::{Bits, Coins, Law, bits_per_noise};
use crate::circuit::random_value::UniformBelow;
use crate::math::Rational;
use crate::privacy::Error;
use crate::privacy::decisions::{Decisions, Sum, Tape};
use crate::privacy::digits::DigitSampler;
use crate::role::Role;

/// One party's coins, read from a tape of which the peer has a copy.
///
/// How a random value is encoded depends on the length of its bound, of which each party knows a
/// part: P2 sends P1 its part outside the session.
pub struct TapeCoins {
    tape: Tape,
    role: Role,
    to_peer: Sender<BigUint>,
    from_peer: Receiver<BigUint>,
}

impl TapeCoins {
    /// The coins of P1 and of P2, who run in two threads of one process.
    pub fn pair(tape: &Tape) -> (Self, Self) {
        let ((to_p2, from_p1), (to_p1, from_p2)) = (channel(), channel());
        let of = |role, to_peer, from_peer| Self { tape: tape.clone(), role, to_peer, from_peer };
        (of(Role::P1, to_p2, from_p2), of(Role::P2, to_p1, from_p1))
    }

    fn speaks(&self) -> bool {
        self.role == Role::P1
    }

    /// Appends the bits of one noise value: a digit 1 is the number 0, which is below any
    /// threshold, and a digit 0 is all ones, which is below none.
    fn push_noise(
        &self,
        noise: &BigUint,
        digits: &DigitSampler,
        into: &mut Bits,
    ) -> Result<(), Error> {
        let thresholds = digits.thresholds();
        if noise.bits() > thresholds.len() as u64 {
            return Err(Error::Tape("a noise value has more digits than are drawn"));
        }
        for (j, threshold) in thresholds.iter().enumerate() {
            let digit = noise.bit(j as u64);
            if digit && threshold == &BigUint::ZERO {
                return Err(Error::Tape("a noise value has a digit that is never 1"));
            }
            into.extend(vec![!digit && self.speaks(); digits.tau() as usize]);
        }
        Ok(())
    }
}

impl Coins for TapeCoins {
    fn joint_uniform(&mut self, shape: &UniformBelow, own_bound: &BigUint) -> Result<Bits, Error> {
        let gone = |_| Error::Tape("the peer's coins are gone");
        if !self.speaks() {
            self.to_peer
                .send(own_bound.clone())
                .map_err(|_| Error::Tape("the peer's coins are gone"))?;
            self.tape.skip(1);
            return Ok(Zeroizing::new(vec![false; shape.random_bits()]));
        }
        // Shares add up in the ring of the circuit.
        let ring = BigUint::from(1u8) << shape.width();
        let bound = (own_bound + self.from_peer.recv().map_err(gone)?) % ring;
        let value = self.tape.uniform_below(&bound)?;
        Ok(Zeroizing::new(encode(shape, &bound, &value)))
    }

    fn joint_geometric(&mut self, sampler: &DigitSampler, count: usize) -> Result<Bits, Error> {
        let mut bits = Zeroizing::new(Vec::with_capacity(count * bits_per_noise(sampler)));
        for _ in 0..count {
            let noise = self.tape.geometric(&Rational::zero())?;
            self.push_noise(&noise, sampler, &mut bits)?;
        }
        Ok(bits)
    }

    fn joint_laplace(&mut self, sampler: &DigitSampler, count: usize) -> Result<Bits, Error> {
        let mut bits = Zeroizing::new(Vec::with_capacity(2 * count * bits_per_noise(sampler)));
        for _ in 0..count {
            let noise = self.tape.discrete_laplace(&Rational::zero())?;
            let (above, below) = if noise.is_negative() {
                (BigUint::ZERO, noise.magnitude().clone())
            } else {
                (noise.magnitude().clone(), BigUint::ZERO)
            };
            self.push_noise(&above, sampler, &mut bits)?;
            self.push_noise(&below, sampler, &mut bits)?;
        }
        Ok(bits)
    }

    /// Noise that is drawn ahead is replaced where it is used.
    fn joint_bytes(&mut self, into: &mut [u8]) {
        into.fill(0);
    }

    fn prescribed(
        &mut self,
        law: Law,
        sampler: &DigitSampler,
        count: usize,
    ) -> Result<Option<Bits>, Error> {
        let bits = match law {
            Law::Geometric => self.joint_geometric(sampler, count)?,
            Law::Laplace => self.joint_laplace(sampler, count)?,
        };
        // All bits of a digit's number are alike: zeros where the digit is 1.
        let digits = bits.chunks(sampler.tau() as usize).map(|number| self.speaks() && !number[0]);
        Ok(Some(Zeroizing::new(digits.collect())))
    }

    fn own_laplace(&mut self, rate: &Rational, count: usize) -> Result<Vec<BigInt>, Error> {
        if !self.speaks() {
            self.tape.skip(count);
        }
        let own = (0..count).map(|_| self.tape.discrete_laplace(rate)).collect();
        if self.speaks() {
            self.tape.skip(count);
        }
        own
    }

    fn own_laplace_digits(&mut self, _: &DigitSampler, count: usize) -> Result<Vec<BigInt>, Error> {
        self.own_laplace(&Rational::zero(), count)
    }

    fn skip(&mut self, decisions: usize) {
        self.tape.skip(decisions);
    }

    fn decisions_left(&self) -> Option<usize> {
        Some(self.tape.remaining())
    }
}

/// The decisions of this party alone; the peer skips them.
impl Decisions for TapeCoins {
    fn uniform_below(&mut self, bound: &BigUint) -> Result<BigUint, Error> {
        self.tape.uniform_below(bound)
    }

    fn uniform_below_sum(&mut self, sum: &dyn Sum) -> Result<BigUint, Error> {
        self.tape.uniform_below_sum(sum)
    }

    fn geometric(&mut self, rate: &Rational) -> Result<BigUint, Error> {
        self.tape.geometric(rate)
    }

    fn discrete_laplace(&mut self, rate: &Rational) -> Result<BigInt, Error> {
        self.tape.discrete_laplace(rate)
    }
}

/// Random bits with which `shape` gives `value`, at the first try.
fn encode(shape: &UniformBelow, bound: &BigUint, value: &BigUint) -> Vec<bool> {
    let length = (bound - 1u8).bits();
    let window = shape.window() as u64;
    let high = (value << window) >> length;
    let mut bits = vec![false; shape.random_bits()];
    let low_from = bits.len() - (shape.width() - shape.window());
    for (i, bit) in bits[..shape.window()].iter_mut().enumerate() {
        *bit = high.bit(i as u64);
    }
    for i in 0..length.saturating_sub(window) {
        bits[low_from + i as usize] = value.bit(i);
    }
    bits
}
