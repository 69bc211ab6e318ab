//! Rings, and one share of an element of a ring.

use std::fmt;

use num_bigint::{BigInt, BigUint};
use num_integer::Integer;
use num_traits::{One, Zero};
use rand::Rng;
use zeroize::Zeroizing;

use super::{mismatch, out_of_ring};
use crate::Error;
use crate::circuit::integer::{add, modular_add, modular_subtract, resize, subtract};
use crate::circuit::{Bit, Gates};
use crate::math::Randomness;

/// The ring of shares.
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

    /// The element that an integer stands for.
    pub fn reduce(&self, value: &BigInt) -> BigUint {
        let order = BigInt::from(self.order());
        if order.is_zero() {
            return BigUint::zero();
        }
        value.mod_floor(&order).to_biguint().unwrap_or_default()
    }

    /// Inside a circuit: the value that two shares make.
    pub fn join<G: Gates>(&self, g: &mut G, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
        match self {
            Ring::PowerOfTwo(_) => add(g, a, b),
            Ring::Modulo(modulus) => modular_add(g, a, b, modulus),
        }
    }

    /// Inside a circuit: `value` − `mask`, the evaluator's share.
    pub fn mask<G: Gates>(&self, g: &mut G, value: &[Bit], mask: &[Bit]) -> Vec<Bit> {
        let value = resize(value, self.width());
        match self {
            Ring::PowerOfTwo(_) => subtract(g, &value, mask),
            Ring::Modulo(modulus) => modular_subtract(g, &value, mask, modulus),
        }
    }

    /// A uniform element. The number of tries reveals nothing about it.
    pub fn random(&self, rng: &mut Randomness) -> BigUint {
        let (order, width) = (self.order(), self.width());
        let mut bytes = Zeroizing::new(vec![0; width.div_ceil(8)]);
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

/// One party's share of an element of a ring: x = x1 + x2. Wiped when dropped, never printed.
#[derive(Clone)]
pub struct Share {
    ring: Ring,
    /// Little-endian, at the width of the ring.
    bytes: Zeroizing<Vec<u8>>,
}

impl Share {
    /// A share with a given number, reduced into the ring.
    pub fn new(ring: &Ring, number: &BigInt) -> Self {
        let digits = Zeroizing::new(ring.reduce(number).to_bytes_le());
        let mut bytes = Zeroizing::new(vec![0; ring.width().div_ceil(8)]);
        bytes.iter_mut().zip(digits.iter()).for_each(|(byte, digit)| *byte = *digit);
        Self { ring: ring.clone(), bytes }
    }

    /// A uniform share: the mask of a protocol.
    pub fn random(ring: &Ring, rng: &mut Randomness) -> Self {
        Self::new(ring, &ring.random(rng).into())
    }

    /// Reads the fixed-width form of [`Share::bytes`].
    ///
    /// # Errors
    /// Unless it is that form of an element.
    pub fn from_bytes(ring: &Ring, bytes: &[u8]) -> Result<Self, Error> {
        let length = ring.width().div_ceil(8);
        if bytes.len() != length || BigUint::from_bytes_le(bytes) >= ring.order() {
            return Err(out_of_ring());
        }
        Ok(Self { ring: ring.clone(), bytes: Zeroizing::new(bytes.to_vec()) })
    }

    /// The ring.
    pub fn ring(&self) -> &Ring {
        &self.ring
    }

    /// The share itself, which is this party's secret: little-endian, at the width of the ring.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The share itself, which is this party's secret.
    pub fn number(&self) -> BigUint {
        BigUint::from_bytes_le(&self.bytes)
    }

    /// The share's bits, least significant first, as circuits take them.
    pub fn bits(&self) -> impl Iterator<Item = bool> + '_ {
        (0..self.ring.width()).map(|i| self.bytes[i / 8] >> (i % 8) & 1 == 1)
    }

    /// A share of the sum.
    ///
    /// # Errors
    /// For another ring.
    pub fn plus(&self, other: &Self) -> Result<Self, Error> {
        if self.ring != other.ring {
            return Err(mismatch());
        }
        Ok(Self::new(&self.ring, &(self.number() + other.number()).into()))
    }

    /// A share of −x.
    #[must_use]
    pub fn negate(&self) -> Self {
        Self::new(&self.ring, &-BigInt::from(self.number()))
    }

    /// This share plus a number.
    pub(super) fn plus_constant(&self, term: &BigInt) -> Self {
        Self::new(&self.ring, &(BigInt::from(self.number()) + term))
    }
}

impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Share({} bits, hidden)", self.ring.width())
    }
}
