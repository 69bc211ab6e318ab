//! Number theory at the boundary, on [`BigUint`]: random numbers, inverses, ranges.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::{One, Zero};
use rand::Rng;

use super::limbs::{self, Limbs};
use super::{Randomness, Range};
use crate::Error;

/// A uniform number below `bound`, by rejection: no bias.
///
/// # Errors
/// [`Error::EmptyRange`] if the bound is 0.
pub fn random_below(bound: &BigUint, rng: &mut Randomness) -> Result<BigUint, Error> {
    if bound.is_zero() {
        return Err(Error::EmptyRange);
    }
    let limbs = limbs::from_biguint(bound, bound.bits().div_ceil(64) as usize);
    Ok(limbs::to_biguint(&random_limbs_below(&limbs, bound.bits(), rng)))
}

/// A uniform number from 1 to `bound − 1` that shares no factor with `bound`.
///
/// # Errors
/// [`Error::EmptyRange`] if the bound is below 2.
pub fn random_coprime(bound: &BigUint, rng: &mut Randomness) -> Result<BigUint, Error> {
    if *bound <= BigUint::one() {
        return Err(Error::EmptyRange);
    }
    loop {
        let number = random_below(bound, rng)?;
        if number.gcd(bound).is_one() {
            return Ok(number);
        }
    }
}

/// Uniform limbs below `bound`, whose length is `bits` and which is not 0. Which draws were
/// rejected says nothing about the one that was kept.
pub(crate) fn random_limbs_below(bound: &[u64], bits: u64, rng: &mut Randomness) -> Limbs {
    loop {
        let drawn = random_limbs(bits as usize, bound.len(), rng);
        let mut difference = drawn.clone();
        if limbs::sub_assign(&mut difference, bound) == 1 {
            return drawn;
        }
    }
}

/// `bits` uniform bits in `count` limbs.
pub fn random_limbs(bits: usize, count: usize, rng: &mut Randomness) -> Limbs {
    let mut drawn = limbs::zeros(count);
    for (i, limb) in drawn.iter_mut().enumerate() {
        let left = bits.saturating_sub(64 * i);
        if left > 0 {
            *limb = rng.next_u64() >> (64 - left.min(64));
        }
    }
    drawn
}

/// `number⁻¹ mod modulus`, in a time that depends on both.
///
/// # Errors
/// [`Error::NotInvertible`] if they share a factor.
pub fn invert_vartime(number: &BigUint, modulus: &BigUint) -> Result<BigUint, Error> {
    number.modinv(modulus).ok_or(Error::NotInvertible)
}

/// Checks a number that was received: at least `at_least` and below `bound`.
///
/// # Errors
/// [`Error::OutOfRange`].
pub fn check_range(number: &BigUint, at_least: u64, bound: &BigUint) -> Result<(), Error> {
    if *number < BigUint::from(at_least) || number >= bound {
        return Err(Error::OutOfRange(Range { at_least, bound_bits: bound.bits() }));
    }
    Ok(())
}

/// Whether `number` is a power with an exponent above 1.
pub fn is_perfect_power_vartime(number: &BigUint) -> bool {
    let bits = number.bits() as u32;
    super::prime::small_primes(bits.max(3)).any(|exponent| {
        let root = number.nth_root(exponent);
        root > BigUint::one() && root.pow(exponent) == *number
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn big(x: u64) -> BigUint {
        BigUint::from(x)
    }

    #[test]
    fn random_numbers_fill_the_range_evenly() {
        // 6,000 draws from 6 values: each count is 1,000 ± 6 standard deviations (29), a false
        // alarm in about 10^8 seeds; the seed is fixed.
        let mut rng = Randomness::seeded(11);
        let mut counts = [0u32; 6];
        for _ in 0..6_000 {
            let drawn = random_below(&big(6), &mut rng).unwrap();
            counts[usize::try_from(&drawn).unwrap()] += 1;
        }
        assert!(counts.iter().all(|c| c.abs_diff(1_000) < 174), "{counts:?}");
    }

    #[test]
    fn empty_ranges_are_refused() {
        let mut rng = Randomness::seeded(1);
        assert_eq!(random_below(&big(0), &mut rng), Err(Error::EmptyRange));
        assert_eq!(random_coprime(&big(1), &mut rng), Err(Error::EmptyRange));
        assert_eq!(random_below(&big(1), &mut rng), Ok(big(0)));
    }

    #[test]
    fn coprime_numbers_are_coprime() {
        let mut rng = Randomness::seeded(2);
        for _ in 0..100 {
            let drawn = random_coprime(&big(2 * 3 * 5 * 7), &mut rng).unwrap();
            assert!(drawn.gcd(&big(210)).is_one());
        }
    }

    #[test]
    fn perfect_powers_are_found() {
        for (base, exponent) in [(3, 2), (65_537, 3), (1_000_003, 5), (2, 61)] {
            assert!(is_perfect_power_vartime(&big(base).pow(exponent)));
            assert!(!is_perfect_power_vartime(&(big(base).pow(exponent) * 7u8)));
        }
    }

    #[test]
    fn what_cannot_be_computed_is_an_error() {
        assert_eq!(invert_vartime(&big(6), &big(9)), Err(Error::NotInvertible));
        assert!(check_range(&big(5), 5, &big(6)).is_ok());
        assert!(check_range(&big(4), 5, &big(6)).is_err());
        assert!(check_range(&big(6), 5, &big(6)).is_err());
    }
}
