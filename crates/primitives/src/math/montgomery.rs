//! Montgomery arithmetic modulo any odd number.
//!
//! Reduction subtracts: with `N' = N⁻¹ mod R`, `q = T·N' mod R`, the number `(T − q·N)/R` is exact.
//! The quotient `q` is kept, because [`crate::math::square`] needs it.

use std::fmt;

use num_bigint::BigUint;
use num_traits::One;
use zeroize::Zeroizing;

use super::limbs::{self, Limbs};
use crate::Error;

/// An odd modulus, prepared. It may be secret: it is wiped on drop and not printed.
#[derive(Clone)]
pub struct Modulus {
    pub(crate) limbs: Limbs,
    /// `N⁻¹ mod 2^64`.
    inverse: u64,
    /// `R²` and `R³` modulo N, where R is the first power of 2^64 above N.
    r_squared: Limbs,
    r_cubed: Limbs,
}

impl Modulus {
    /// Prepares `modulus`. Its value is not protected while being prepared.
    ///
    /// # Errors
    /// [`Error::BadModulus`] if it is even or below 3.
    pub fn new(modulus: &BigUint) -> Result<Self, Error> {
        if !modulus.bit(0) || modulus.is_one() {
            return Err(Error::BadModulus);
        }
        let count = modulus.bits().div_ceil(64) as usize;
        let limbs = limbs::from_biguint(modulus, count);
        let r = BigUint::one() << (64 * count);
        let r_squared = limbs::from_biguint(&(&r * &r % modulus), count);
        let r_cubed = limbs::from_biguint(&(&r * &r * &r % modulus), count);
        Ok(Self { inverse: inverse_of_odd(limbs[0]), limbs, r_squared, r_cubed })
    }

    /// The modulus as a number.
    pub fn to_biguint(&self) -> BigUint {
        limbs::to_biguint(&self.limbs)
    }

    /// How many 64-bit limbs it has.
    pub fn limb_count(&self) -> usize {
        self.limbs.len()
    }

    /// `a·b mod N` for numbers below N.
    pub(crate) fn product(&self, a: &[u64], b: &[u64]) -> Limbs {
        let mut out = limbs::zeros(self.limb_count());
        let mut scratch = limbs::zeros(3 * self.limb_count());
        self.multiply(&mut out, &self.enter(a), b, &mut scratch);
        out
    }

    /// `a·R mod N`, for `a` below R.
    pub(crate) fn enter(&self, a: &[u64]) -> Limbs {
        let mut out = limbs::zeros(self.limb_count());
        self.multiply(&mut out, a, &self.r_squared, &mut limbs::zeros(3 * self.limb_count()));
        out
    }

    /// `wide·R mod N`, for `wide` below N·R.
    pub(crate) fn enter_wide(&self, wide: &[u64]) -> Limbs {
        let mut out = limbs::zeros(self.limb_count());
        let mut scratch = limbs::zeros(3 * self.limb_count());
        self.multiply(&mut out, &self.reduce_wide(wide), &self.r_cubed, &mut scratch);
        out
    }

    /// `wide·R⁻¹ mod N`, for `wide` below N·R.
    pub(crate) fn reduce_wide(&self, wide: &[u64]) -> Limbs {
        let count = self.limb_count();
        let mut scratch = limbs::zeros(3 * count);
        let (total, quotient) = scratch.split_at_mut(2 * count);
        total.copy_from_slice(wide);
        let high = self.reduce(total, 0, quotient);
        let mut out = limbs::zeros(count);
        out.copy_from_slice(&total[count..]);
        limbs::add_masked(&mut out, &self.limbs, limbs::mask(high));
        out
    }

    /// `out = a·b·R⁻¹ mod N`, for `a·b` below N·R. `scratch` has three times the limbs of N.
    #[inline]
    pub(crate) fn multiply(&self, out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64]) {
        let count = self.limb_count();
        let (total, quotient) = scratch.split_at_mut(2 * count);
        limbs::multiply(total, &a[..count], &b[..count]);
        let high = self.reduce(total, 0, quotient);
        out.copy_from_slice(&total[count..]);
        limbs::add_masked(out, &self.limbs, limbs::mask(high));
    }

    /// `(top·R² + total − quotient·N)/R`, left in the upper half of `total`; returns the word above
    /// it, as a two's complement number: all ones means that the result is negative.
    #[inline]
    pub(crate) fn reduce(&self, total: &mut [u64], top: u64, quotient: &mut [u64]) -> u64 {
        let mut pending = 0;
        let count = self.limbs.len();
        let paired = if count < 2 { 0 } else { count & !1 };
        for i in (0..paired).step_by(2) {
            let (digits, borrow) =
                limbs::subtract_two_rows(&mut total[i..], &self.limbs, self.inverse, pending);
            quotient[i..i + 2].copy_from_slice(&digits);
            pending = borrow;
        }
        for i in paired..count {
            quotient[i] = total[i].wrapping_mul(self.inverse);
            let (row, rest) = total[i..].split_at_mut(count);
            let borrow = limbs::subtract_row(row, &self.limbs, quotient[i]);
            let (difference, b1) = rest[0].overflowing_sub(borrow);
            let (difference, b2) = difference.overflowing_sub(pending);
            rest[0] = difference;
            pending = u64::from(b1 | b2);
        }
        top.wrapping_sub(pending)
    }

    /// `a − b mod N`, for numbers below N.
    pub(crate) fn subtract(&self, a: &[u64], b: &[u64]) -> Limbs {
        let mut out = Zeroizing::new(a.to_vec());
        let borrow = limbs::sub_assign(&mut out, b);
        limbs::add_masked(&mut out, &self.limbs, limbs::mask(borrow));
        out
    }
}

impl fmt::Debug for Modulus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Modulus({} limbs)", self.limb_count())
    }
}

pub(crate) fn check_length(exponent: &BigUint, bits: usize) -> Result<(), Error> {
    if exponent.bits() > bits as u64 {
        return Err(Error::ExponentTooLong { found: exponent.bits(), allowed: bits as u64 });
    }
    Ok(())
}

/// `x⁻¹ mod 2^64` by Newton's iteration; `x` is right to 3 bits at the start.
fn inverse_of_odd(x: u64) -> u64 {
    let mut inverse = x;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(x.wrapping_mul(inverse)));
    }
    inverse
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(limbs: std::ops::Range<usize>) -> impl Strategy<Value = BigUint> {
        prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], limbs)
            .prop_map(|limbs| limbs::to_biguint(&limbs))
    }

    proptest! {
        #[test]
        fn products_agree_with_num_bigint(n in number(1..9), a in number(0..9), b in number(0..9)) {
            let n = n | BigUint::from(3u8);
            let modulus = Modulus::new(&n).unwrap();
            let (a, b) = (a % &n, b % &n);
            let count = modulus.limb_count();
            let (x, y) = (limbs::from_biguint(&a, count), limbs::from_biguint(&b, count));
            prop_assert_eq!(limbs::to_biguint(&modulus.product(&x, &y)), &a * &b % &n);
            let difference = limbs::to_biguint(&modulus.subtract(&x, &y));
            prop_assert_eq!(difference, (&a + &n - &b) % &n);
        }
    }

    #[test]
    fn even_and_trivial_moduli_are_refused() {
        for bad in [0u8, 1, 2, 100] {
            assert_eq!(Modulus::new(&BigUint::from(bad)).unwrap_err(), Error::BadModulus);
        }
    }

    #[test]
    fn an_exponent_longer_than_declared_is_refused() {
        assert_eq!(check_length(&BigUint::from(16u8), 5), Ok(()));
        let refused = check_length(&BigUint::from(16u8), 4);
        assert_eq!(refused, Err(Error::ExponentTooLong { found: 5, allowed: 4 }));
    }
}
