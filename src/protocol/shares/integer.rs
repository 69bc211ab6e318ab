//! Shares over the integers.

use std::fmt;

use num_bigint::{BigInt, BigUint};
use num_traits::One;

use super::{Error, Ring, Share};
use crate::role::Role;

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

    /// The share over Z_N of a number below 2^`bits`, seen as integers: P2 takes N off its own.
    ///
    /// x1 + x2 is x or x + N, and it is x only if the uniform x1 is at most x: with probability
    /// below 2^(bits+1)/N ≤ 2^-σ the result is wrong, which is what a mask costs as well.
    ///
    /// # Errors
    /// [`Error::TooNarrow`] unless N ≥ 2^(bits + σ + 1).
    pub fn from_share(role: Role, share: &Share, bits: u32, sigma: u32) -> Result<Self, Error> {
        let order = share.ring().order();
        if order < BigUint::one() << (bits + sigma + 1) {
            return Err(Error::TooNarrow { bits, sigma, ring: share.ring().width() });
        }
        let own = BigInt::from(share.number());
        let value = if role == Role::P2 { own - BigInt::from(order) } else { own };
        Ok(Self { value, bits })
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

    /// A share of the sum.
    #[must_use]
    pub fn plus(&self, other: &Self) -> Self {
        Self { value: &self.value + &other.value, bits: self.bits.max(other.bits) + 1 }
    }
}

impl fmt::Debug for IntegerShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IntegerShare(below 2^{}, hidden)", self.bits)
    }
}
