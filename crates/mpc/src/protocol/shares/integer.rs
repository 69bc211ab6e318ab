//! Shares over the integers.

use std::fmt;

use num_bigint::{BigInt, BigUint};

use super::{Ring, Share};
use crate::protocol::Session;

/// One party's share of an integer: x = x1 + x2 without any modulus, |x| < 2^`bits`.
///
/// One of the two is a mask of at least `bits` + σ bits, so that the other is within 2^-σ of a
/// distribution that does not depend on x. Sums of shares keep that; the bound grows with them.
#[derive(Clone)]
pub struct IntegerShare {
    value: BigInt,
    bits: u32,
}

impl IntegerShare {
    /// A share, and the bound that the protocol promises for the value.
    pub fn new(value: BigInt, bits: u32) -> Self {
        Self { value, bits }
    }

    /// A share in a ring: x modulo its order.
    pub fn to_ring(&self, ring: &Ring) -> Share {
        Share::new(ring, &self.value)
    }

    /// The share itself, which is this party's secret.
    pub fn number(&self) -> &BigInt {
        &self.value
    }

    /// |x| < 2^bits.
    pub fn bits(&self) -> u32 {
        self.bits
    }
}

impl fmt::Debug for IntegerShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IntegerShare(below 2^{}, hidden)", self.bits)
    }
}

/// Masks for values below 2^bits over the integers, put into a circuit over Z_{2^k} that is wide
/// enough never to wrap: value − (−mask) = value + mask < 2^k.
pub(crate) struct IntegerMasks {
    pub(crate) ring: Ring,
    masks: Vec<BigUint>,
    bits: u32,
}

impl IntegerMasks {
    pub(crate) fn draw(count: usize, bits: u32, sigma: u32, session: &mut Session) -> Self {
        let mask = Ring::PowerOfTwo((bits + sigma) as usize);
        let masks = (0..count).map(|_| mask.random(&mut session.rng)).collect();
        Self { ring: Ring::PowerOfTwo((bits + sigma + 1) as usize), masks, bits }
    }

    /// What the garbler's circuit subtracts.
    pub(crate) fn for_circuit(&self) -> Vec<BigUint> {
        self.masks.iter().map(|mask| self.ring.reduce(&-BigInt::from(mask.clone()))).collect()
    }

    /// The shares, given what came out of the circuit at the evaluator.
    pub(crate) fn shares(self, is_garbler: bool, revealed: Vec<BigUint>) -> Vec<IntegerShare> {
        let own = if is_garbler { self.masks } else { revealed };
        let sign = |number| if is_garbler { -BigInt::from(number) } else { BigInt::from(number) };
        own.into_iter().map(|number| IntegerShare::new(sign(number), self.bits)).collect()
    }
}
