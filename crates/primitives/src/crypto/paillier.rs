//! Paillier encryption: additions on numbers that only the key's owner can read.
//!
//! Keys: n = p·q, both primes ≡ 3 mod 4, of equal length, gcd(p−1, q−1) = 2; g = n + 1; h_n =
//! (−x²)^n mod n² is published with n. A ciphertext of m is (1 + m·n)·ρ mod n², ρ an n-th residue:
//! `r^n` with uniform r (textbook), or `h_n^a` with a of half the length of n (Damgård, Jurik,
//! Nielsen 2010), which is many times quicker since the base is fixed. That h_n^a hides m as r^n does
//! is an assumption beside decisional composite residuosity: (−x²)^a mod n, a uniform with half as
//! many bits as n, is indistinguishable from a uniform element of the group that −x² generates.
//!
//! **Which ρ may go where is in the types.** The owner can compute Jacobi symbols and small
//! discrete logarithms, so from ρ = h_n^a it could read which of its ciphertexts were multiplied
//! together. Therefore:
//!
//! | type | made by | bytes |
//! | --- | --- | --- |
//! | [`Fresh`] | [`SecretKey::encrypt_all`], with h_n^a | yes: it goes to a party without the key |
//! | [`Ciphertext`] | [`PublicKey::read`], [`PublicKey::encrypt_djn`], every homomorphic operation | **none** |
//! | [`Returned`] | [`PublicKey::rerandomise`], [`PublicKey::encrypt`]: a [`Randomiser`] is `r^n`, r uniform, used once | yes: it goes to the owner |
//!
//! A sum of nothing is a [`Ciphertext`] too, so it cannot leave without a [`Randomiser`] either.
//!
//! Secret exponents, table look-ups and reductions modulo p and q are constant-time; key
//! generation, inversion of ciphertexts and checks of public numbers are not. Secrets inside are
//! wiped on drop; plaintexts are [`num_bigint::BigUint`] at the boundary and the caller's to keep.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::crypto::paillier::{PublicKey, SecretKey, Tuning};
//! use diptych_primitives::math::Randomness;
//! use num_bigint::BigUint;
//!
//! let mut rng = Randomness::from_os()?;
//! let tuning = Tuning { table_bytes: 1 << 20, ..Tuning::default() };
//! let key = SecretKey::generate(2048, tuning, &mut rng)?;
//!
//! // The owner encrypts 20 and 22; the bytes go to a party without the key.
//! let mut sent = Vec::new();
//! key.encrypt(&BigUint::from(20u32), &mut rng)?.write(&mut sent);
//! key.encrypt(&BigUint::from(22u32), &mut rng)?.write(&mut sent);
//!
//! // That party adds what it cannot read, and needs a randomiser before it may send the sum.
//! let public = PublicKey::from_bytes(&key.public().to_bytes(), 2048, tuning, &mut rng)?;
//! let numbers = public.read(&sent, 2)?;
//! let sum = public.add(&numbers[0], &numbers[1]);
//! let mut returned = Vec::new();
//! public.rerandomise(&sum, public.randomiser(&mut rng)?).write(&mut returned);
//!
//! let opened: Vec<BigUint> = key.read(&returned, 1)?.iter().map(|sum| key.decrypt(sum)).collect();
//! assert_eq!(opened, [BigUint::from(42u32)]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ciphertext;
mod groups;
mod packing;
mod pool;
mod public;
mod secret;
#[cfg(test)]
mod tests;

pub use crate::math::Backend;
pub use ciphertext::{Ciphertext, Fresh, Randomiser, Returned};
pub use groups::GroupSums;
pub use packing::Packing;
pub use pool::Pool;
pub use public::PublicKey;
pub use secret::SecretKey;

/// The shortest modulus that protects anything.
pub const MINIMUM_BITS: usize = 2048;
/// The longest modulus that is supported.
pub const MAXIMUM_BITS: usize = 8192;

/// The fixed width of a ciphertext under a key of so many bits.
pub const fn ciphertext_bytes(bits: usize) -> usize {
    bits / 4
}

/// The fixed width of a public key of so many bits: n and h_n.
pub const fn public_key_bytes(bits: usize) -> usize {
    3 * bits / 8
}

/// Called with the number of items just done, from any thread.
pub type Progress<'a> = &'a (dyn Fn(usize) + Sync);

/// How a key does its work; it changes no result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Tuning {
    /// Which code does the bulk work.
    pub backend: Backend,
    /// The most memory that one table of powers may take; the owner has two, everyone else one.
    pub table_bytes: usize,
}

impl Default for Tuning {
    fn default() -> Self {
        Self { backend: Backend::detect(), table_bytes: 64 << 20 }
    }
}
