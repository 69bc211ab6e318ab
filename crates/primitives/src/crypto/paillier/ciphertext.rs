//! Three types for one set of numbers, so that the type says what may be sent.

use std::fmt;

use crate::math::Residue;
use crate::math::limbs::{self, Limbs};

/// A ciphertext to compute with. It has no bytes: [`super::PublicKey::rerandomise`] makes the
/// [`Returned`] that may be sent.
#[derive(Clone, PartialEq, Eq)]
pub struct Ciphertext(pub(super) Residue);

/// A ciphertext that the key's owner has just made, for a party without the key.
#[derive(Clone, PartialEq, Eq)]
pub struct Fresh(pub(super) Limbs);

/// A ciphertext whose randomness is uniform and independent of everything: the only kind that the
/// key's owner may be sent, and the only kind that it decrypts.
#[derive(Clone, PartialEq, Eq)]
pub struct Returned(pub(super) Limbs);

/// `r^n mod n²` with uniform r, for one use: it is neither copied nor shown.
pub struct Randomiser(pub(super) Residue);

impl Fresh {
    /// Appends the number, big-endian, at the fixed width of [`super::PublicKey::ciphertext_bytes`].
    pub fn write(&self, bytes: &mut Vec<u8>) {
        limbs::extend_bytes_be(bytes, &self.0);
    }
}

impl Returned {
    /// Appends the number, big-endian, at the fixed width of [`super::PublicKey::ciphertext_bytes`].
    pub fn write(&self, bytes: &mut Vec<u8>) {
        limbs::extend_bytes_be(bytes, &self.0);
    }
}

impl fmt::Debug for Ciphertext {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ciphertext(..)")
    }
}

impl fmt::Debug for Fresh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Fresh(..)")
    }
}

impl fmt::Debug for Returned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Returned(..)")
    }
}

impl fmt::Debug for Randomiser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Randomiser(..)")
    }
}
