//! Primes: generated and tested by `glass_pumpkin`, whose results the tests compare with another
//! library and with pseudoprimes constructed to pass primality tests.

use num_bigint::BigUint;
use num_integer::Integer;
use num_traits::ToPrimitive;

use super::Randomness;
use crate::Error;

/// Factors below this are looked for in numbers that were received.
pub const SMALL_FACTOR_BOUND: u32 = 1 << 16;

/// Whether `candidate` is prime: random Miller–Rabin rounds, then Baillie–PSW. No composite is
/// known that passes the second, and none passes the first except by chance.
pub fn is_prime_vartime(candidate: &BigUint, rng: &mut Randomness) -> bool {
    glass_pumpkin::prime::check_with(candidate, rng)
        && glass_pumpkin::prime::strong_check_with(candidate, rng)
}

/// Two primes p, q of `bits/2` bits each, both ≡ 3 mod 4, with gcd(p−1, q−1) = 2 and a product of
/// exactly `bits` bits. Takes seconds at 3072 bits.
///
/// # Errors
/// [`Error::PrimeTooShort`] below 128 bits per prime or for an odd `bits`.
pub fn prime_pair(bits: usize, rng: &mut Randomness) -> Result<(BigUint, BigUint), Error> {
    if !bits.is_multiple_of(2) {
        return Err(Error::PrimeTooShort(bits as u64 / 2));
    }
    let two = BigUint::from(2u8);
    let mut first = blum_prime(bits / 2, rng)?;
    loop {
        let second = blum_prime(bits / 2, rng)?;
        let fits = (&first * &second).bits() == bits as u64 && first != second;
        if fits && (&first - 1u8).gcd(&(&second - 1u8)) == two {
            return Ok((first, second));
        }
        // Keep the larger: two small ones would never give a product of full length.
        first = first.max(second);
    }
}

/// A prime ≡ 3 mod 4 of exactly `bits` bits.
fn blum_prime(bits: usize, rng: &mut Randomness) -> Result<BigUint, Error> {
    loop {
        let prime = glass_pumpkin::prime::from_rng(bits, rng)
            .map_err(|_| Error::PrimeTooShort(bits as u64))?;
        if prime.bit(1) && prime.bits() == bits as u64 {
            return Ok(prime);
        }
    }
}

/// The smallest prime factor below [`SMALL_FACTOR_BOUND`], if there is one.
pub fn small_factor_vartime(number: &BigUint) -> Option<u32> {
    small_primes(SMALL_FACTOR_BOUND).find(|prime| (number % prime).to_u32() == Some(0))
}

/// The primes below `bound`, by a sieve.
pub(crate) fn small_primes(bound: u32) -> impl Iterator<Item = u32> {
    let mut composite = vec![false; bound as usize];
    let mut candidates = 2..bound;
    std::iter::from_fn(move || {
        let prime = candidates.find(|n| !composite[*n as usize])?;
        for multiple in (prime as usize..composite.len()).step_by(prime as usize) {
            composite[multiple] = true;
        }
        Some(prime)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn other_verdict(number: &BigUint) -> bool {
        // num-primes uses an older num-bigint; numbers are passed to it in decimal.
        let digits = number.to_string();
        let number = num_primes::BigUint::parse_bytes(digits.as_bytes(), 10).unwrap();
        num_primes::Verification::is_prime(&number)
    }

    #[test]
    fn verdicts_agree_with_trial_division_and_with_another_library() {
        let mut rng = Randomness::seeded(1);
        let primes: Vec<u32> = small_primes(3_000).collect();
        assert_eq!((primes.len(), primes[0], primes[429]), (430, 2, 2_999));
        for n in 2..3_000u32 {
            let verdict = is_prime_vartime(&BigUint::from(n), &mut rng);
            assert_eq!(verdict, primes.binary_search(&n).is_ok(), "{n}");
        }
        let mut checked = 0;
        for offset in 0..400u32 {
            let n = (BigUint::from(1u8) << 200) + 2 * offset + 1u32;
            let verdict = is_prime_vartime(&n, &mut rng);
            assert_eq!(verdict, other_verdict(&n), "{n}");
            checked += u32::from(verdict);
        }
        assert!(checked > 0);
    }

    #[test]
    fn numbers_made_to_deceive_are_found_composite() {
        let mut rng = Randomness::seeded(2);
        // Carmichael numbers; pseudoprimes to base 2; strong pseudoprimes to the first 1, 2, …, 13
        // prime bases (Jaeschke; Jiang and Deng; Sorenson and Webster); strong Lucas pseudoprimes.
        let decimal = [
            "561",
            "41041",
            "825265",
            "321197185",
            "9746347772161",
            "1436697831295441",
            "60977817398996785",
            "341",
            "645",
            "2047",
            "3277",
            "1373653",
            "25326001",
            "3215031751",
            "2152302898747",
            "3474749660383",
            "341550071728321",
            "3825123056546413051",
            "318665857834031151167461",
            "3317044064679887385961981",
            "5459",
            "5777",
            "10877",
            "16109",
        ];
        for digits in decimal {
            let n = BigUint::parse_bytes(digits.as_bytes(), 10).unwrap();
            assert!(!is_prime_vartime(&n, &mut rng), "{digits}");
            assert!(!other_verdict(&n), "{digits}");
        }
    }

    #[test]
    fn a_strong_pseudoprime_to_every_small_base_is_found_composite() {
        // The construction of Arnault (1995): p₁ and k₂, k₃ with n = p₁(k₂(p₁−1)+1)(k₃(p₁−1)+1)
        // a Carmichael number that is a strong pseudoprime to all prime bases below 307; p₁ is his.
        let p1 = BigUint::parse_bytes(
            b"29674495668685510550154174642905332730771991799853043350995075531276838753171770199594\
              238596428121188033664754218345562493168782883",
            10,
        )
        .unwrap();
        let factor = |k: u32| k * (&p1 - 1u8) + 1u8;
        let n = &p1 * factor(313) * factor(353);
        for base in small_primes(307) {
            assert!(is_strong_pseudoprime(&n, base), "base {base}");
        }
        assert!(!is_prime_vartime(&n, &mut Randomness::seeded(3)));
    }

    fn is_strong_pseudoprime(n: &BigUint, base: u32) -> bool {
        let minus_one = n - 1u8;
        let twos = minus_one.trailing_zeros().unwrap();
        let mut power = BigUint::from(base).modpow(&(&minus_one >> twos), n);
        if power == BigUint::from(1u8) || power == minus_one {
            return true;
        }
        (1..twos).any(|_| {
            power = &power * &power % n;
            power == minus_one
        })
    }

    #[test]
    fn pairs_have_the_shape_that_paillier_needs() {
        let mut rng = Randomness::seeded(4);
        for bits in [256, 320] {
            let (p, q) = prime_pair(bits, &mut rng).unwrap();
            for prime in [&p, &q] {
                assert_eq!(prime.bits(), bits as u64 / 2);
                assert_eq!(prime % 4u8, BigUint::from(3u8));
                assert!(is_prime_vartime(prime, &mut rng) && other_verdict(prime));
            }
            assert_eq!((&p * &q).bits(), bits as u64);
            assert_eq!((&p - 1u8).gcd(&(&q - 1u8)), BigUint::from(2u8));
        }
        assert_eq!(prime_pair(200, &mut rng), Err(Error::PrimeTooShort(100)));
        assert_eq!(prime_pair(301, &mut rng), Err(Error::PrimeTooShort(150)));
    }

    #[test]
    fn small_factors_are_found_up_to_the_bound() {
        for factor in [3u32, 65_521] {
            assert_eq!(small_factor_vartime(&(BigUint::from(factor) * 65_537u32)), Some(factor));
        }
        assert_eq!(small_factor_vartime(&(BigUint::from(65_537u32) * 65_539u32)), None);
    }
}
