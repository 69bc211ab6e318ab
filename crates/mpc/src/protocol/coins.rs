//! A party's part of the random bits of a circuit.
//!
//! Circuits take random bits that neither party knows: each is the XOR of a bit of both, so it is
//! uniform for whoever has a uniform bit of its own. A party gets its part from a generator, or in
//! tests from a tape of decisions: both parties then hold a copy, P1 feeds bits that encode the
//! decision and P2 feeds zeros, so that the two-party form of a mechanism can be compared with the
//! single-party form under the same tape.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::circuit::random_value::UniformBelow;
//! use diptych_mpc::math::Randomness;
//! use diptych_mpc::protocol::Coins;
//! use num_bigint::BigUint;
//!
//! let (mut first, mut second) = (Randomness::from_os()?, Randomness::from_os()?);
//! let (shape, six) = (UniformBelow::new(8, 64), BigUint::from(6u32));
//!
//! // Each party's own bits; in a run the XOR below happens inside a circuit, and nobody sees it.
//! let own = first.joint_uniform(&shape, &six)?;
//! let peers = second.joint_uniform(&shape, &six)?;
//! let joint: Vec<bool> = own.iter().zip(peers.iter()).map(|(a, b)| a ^ b).collect();
//!
//! // It fails about once in 2^64 runs.
//! let die = shape.ideal(&six, &joint).ok_or("no try was below the bound")?;
//! assert!(die < six);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(any(test, feature = "testing"))]
mod tape;

#[cfg(any(test, feature = "testing"))]
pub use tape::TapeCoins;

use num_bigint::{BigInt, BigUint};
use rand::Rng;
use zeroize::Zeroizing;

use crate::circuit::random_value::UniformBelow;
use crate::math::{Randomness, Rational};
use crate::privacy::Error;
use crate::privacy::decisions::Decisions;
use crate::privacy::digits::DigitSampler;

/// Bits that are wiped after use.
pub type Bits = Zeroizing<Vec<bool>>;

/// The distribution of a noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Law {
    /// Geometric: a number of digits.
    Geometric,
    /// Discrete Laplace: one geometric noise less another, one after the other.
    Laplace,
}

/// Where one party's part of the joint randomness comes from. As [`Decisions`] it also makes the
/// decisions that are this party's alone.
pub trait Coins: Decisions {
    /// This party's part of the bits that [`UniformBelow`] takes. `own_bound` is its part of the
    /// bound, which a generator ignores.
    ///
    /// # Errors
    /// Only a tape fails.
    fn joint_uniform(&mut self, shape: &UniformBelow, own_bound: &BigUint) -> Result<Bits, Error>;

    /// This party's part of the bits behind `count` geometric noises: τ bits per digit, digit 0
    /// first.
    ///
    /// # Errors
    /// Only a tape fails.
    fn joint_geometric(&mut self, sampler: &DigitSampler, count: usize) -> Result<Bits, Error>;

    /// This party's part of the bits behind `count` discrete Laplace noises, each the difference of
    /// two geometric ones.
    ///
    /// # Errors
    /// Only a tape fails.
    fn joint_laplace(&mut self, sampler: &DigitSampler, count: usize) -> Result<Bits, Error>;

    /// This party's part of random bits for noise that is drawn ahead.
    fn joint_bytes(&mut self, into: &mut [u8]);

    /// This party's shares of the digits of `count` noises that were drawn ahead, one noise after
    /// the other, if a tape prescribes them. A generator prescribes nothing.
    ///
    /// # Errors
    /// Only a tape fails.
    fn prescribed(
        &mut self,
        _law: Law,
        _sampler: &DigitSampler,
        _count: usize,
    ) -> Result<Option<Bits>, Error> {
        Ok(None)
    }

    /// `count` discrete Laplace noises of this party's own, where the peer draws as many. On a tape
    /// all of P1's come first.
    ///
    /// # Errors
    /// Only a tape fails.
    fn own_laplace(&mut self, rate: &Rational, count: usize) -> Result<Vec<BigInt>, Error>;

    /// The same with work that does not depend on the noise, for use while a peer may wait. As far
    /// from the exact law as the digits are.
    ///
    /// # Errors
    /// Only a tape fails.
    fn own_laplace_digits(
        &mut self,
        sampler: &DigitSampler,
        count: usize,
    ) -> Result<Vec<BigInt>, Error>;

    /// The peer makes so many decisions alone: a tape skips them, a generator does nothing.
    fn skip(&mut self, decisions: usize);

    /// How many decisions a tape has left; a generator has no end.
    fn decisions_left(&self) -> Option<usize> {
        None
    }
}

impl Coins for Randomness {
    fn joint_uniform(&mut self, shape: &UniformBelow, _: &BigUint) -> Result<Bits, Error> {
        Ok(random_bits(shape.random_bits(), self))
    }

    fn joint_geometric(&mut self, sampler: &DigitSampler, count: usize) -> Result<Bits, Error> {
        Ok(random_bits(bits_per_noise(sampler) * count, self))
    }

    fn joint_laplace(&mut self, sampler: &DigitSampler, count: usize) -> Result<Bits, Error> {
        self.joint_geometric(sampler, 2 * count)
    }

    fn joint_bytes(&mut self, into: &mut [u8]) {
        self.fill_bytes(into);
    }

    fn own_laplace(&mut self, rate: &Rational, count: usize) -> Result<Vec<BigInt>, Error> {
        (0..count).map(|_| self.discrete_laplace(rate)).collect()
    }

    fn own_laplace_digits(
        &mut self,
        sampler: &DigitSampler,
        count: usize,
    ) -> Result<Vec<BigInt>, Error> {
        let mut draw = || BigInt::from(sampler.sample(self));
        Ok((0..count).map(|_| draw() - draw()).collect())
    }

    fn skip(&mut self, _: usize) {}
}

/// How many bits one geometric noise takes of each party.
pub fn bits_per_noise(sampler: &DigitSampler) -> usize {
    sampler.thresholds().len() * sampler.tau() as usize
}

fn random_bits(count: usize, rng: &mut Randomness) -> Bits {
    let mut bits = Zeroizing::new(Vec::with_capacity(count));
    let mut bytes = Zeroizing::new([0u8; 1024]);
    while bits.len() < count {
        rng.fill_bytes(&mut bytes[..]);
        let unpacked = bytes.iter().flat_map(|byte| (0..8).map(move |i| byte >> i & 1 == 1));
        let missing = count - bits.len();
        bits.extend(unpacked.take(missing));
    }
    bits
}
