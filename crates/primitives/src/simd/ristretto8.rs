//! Eight multiplications in ristretto255 at once, with the AVX-512 IFMA instructions.
//!
//! One scalar, many elements: what commutative encryption does. Constant-time
//! in the scalar and in what is hashed; received encodings are public. The
//! portable twin, with the same results, is `curve25519-dalek`.

#[cfg(target_arch = "x86_64")]
use zeroize::Zeroize;

use crate::Error;

#[cfg(target_arch = "x86_64")]
mod field;
#[cfg(target_arch = "x86_64")]
mod point;
#[cfg(all(test, target_arch = "x86_64"))]
mod tests;

/// Proof that this processor has the instructions.
#[derive(Clone, Copy, Debug)]
pub struct Ristretto8(Proof);

#[cfg(target_arch = "x86_64")]
type Proof = ();
#[cfg(not(target_arch = "x86_64"))]
type Proof = std::convert::Infallible;

impl Ristretto8 {
    /// `None` where the processor lacks the instructions or the level in use does not allow them.
    pub fn detect() -> Option<Self> {
        #[cfg(target_arch = "x86_64")]
        if super::level::ifma() {
            return Some(Self(()));
        }
        None
    }
}

#[cfg(target_arch = "x86_64")]
impl Ristretto8 {
    /// Replaces every element by its multiple by *twice* the scalar `half` (little-endian, below 2^253).
    ///
    /// # Errors
    /// [`Error::NotInGroup`] names the first that is not a canonical encoding. The identity is a valid
    /// encoding: reject it beforehand, because one identity makes all results wrong.
    pub fn multiply(self, half: &[u8; 32], elements: &mut [[u8; 32]]) -> Result<(), Error> {
        let mut digits = point::digits(half);
        // SAFETY: a `Ristretto8` exists only where the instructions do.
        let outcome = unsafe { multiply(&digits, elements) };
        digits.zeroize();
        outcome
    }

    /// Maps 64 uniform bytes to an element each (RFC 9496, section 4.3.4) and
    /// multiplies it by twice the scalar `half`. Writes as many as both lists have.
    pub fn multiply_mapped(self, half: &[u8; 32], uniform: &[[u8; 64]], out: &mut [[u8; 32]]) {
        let mut digits = point::digits(half);
        // SAFETY: a `Ristretto8` exists only where the instructions do.
        unsafe { multiply_mapped(&digits, uniform, out) };
        digits.zeroize();
    }

    /// Checks that all are canonical encodings of elements, of the identity perhaps.
    ///
    /// # Errors
    /// [`Error::NotInGroup`] names the first that is not one.
    pub fn check(self, elements: &[[u8; 32]]) -> Result<(), Error> {
        // SAFETY: a `Ristretto8` exists only where the instructions do.
        unsafe { decode(elements) }.map(|_| ())
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply(digits: &point::Digits, elements: &mut [[u8; 32]]) -> Result<(), Error> {
    let mut points = decode(elements)?;
    for point in &mut points {
        *point = point.times(digits);
    }
    encode(&points, elements);
    Ok(())
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512ifma")]
fn multiply_mapped(digits: &point::Digits, uniform: &[[u8; 64]], out: &mut [[u8; 32]]) {
    let mut points = Vec::with_capacity(uniform.len().div_ceil(8));
    for group in uniform.chunks(8) {
        // Lanes without an input repeat one of the group: zeros would map to the identity, which
        // must not enter the shared inversion.
        let mut halves = [[[0; 32]; 8]; 2];
        for (lane, bytes) in group.iter().cycle().take(8).enumerate() {
            halves[0][lane].copy_from_slice(&bytes[..32]);
            halves[1][lane].copy_from_slice(&bytes[32..]);
        }
        let [first, second] = &halves;
        let first = point::Points::map(field::Field::from_bytes(first));
        let second = point::Points::map(field::Field::from_bytes(second));
        points.push(first.plus(&second).times(digits));
    }
    encode(&points, out);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512ifma")]
fn decode(elements: &[[u8; 32]]) -> Result<Vec<point::Points>, Error> {
    let mut points = Vec::with_capacity(elements.len().div_ceil(8));
    for (number, group) in elements.chunks(8).enumerate() {
        // Lanes without an element get the generator, which is one.
        let mut lanes = [GENERATOR; 8];
        lanes[..group.len()].copy_from_slice(group);
        let (point, valid) = point::Points::decode(field::Field::from_bytes(&lanes));
        for (lane, bytes) in group.iter().enumerate() {
            if !is_canonical_vartime(bytes) || valid >> lane & 1 == 0 {
                return Err(Error::NotInGroup { position: 8 * number + lane });
            }
        }
        points.push(point);
    }
    Ok(points)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512ifma")]
fn encode(points: &[point::Points], out: &mut [[u8; 32]]) {
    point::encode_doubled(points, |number, encoded| {
        for (place, bytes) in out.iter_mut().skip(8 * number).zip(encoded) {
            *place = bytes;
        }
    });
}

#[cfg(target_arch = "x86_64")]
const GENERATOR: [u8; 32] = [
    0xe2, 0xf2, 0xae, 0x0a, 0x6a, 0xbc, 0x4e, 0x71, 0xa8, 0x84, 0xa9, 0x61, 0xc5, 0x00, 0x51, 0x5f,
    0x58, 0xe3, 0x0b, 0x6a, 0xa5, 0x82, 0xdd, 0x8d, 0xb6, 0xa6, 0x59, 0x45, 0xe0, 0x8d, 0x2d, 0x76,
];

/// Below the modulus and even. What is received is not secret.
#[cfg(target_arch = "x86_64")]
fn is_canonical_vartime(bytes: &[u8; 32]) -> bool {
    const MODULUS: [u8; 32] = {
        let mut bytes = [0xff; 32];
        bytes[0] = 0xed;
        bytes[31] = 0x7f;
        bytes
    };
    bytes[0] & 1 == 0 && bytes.iter().rev().lt(MODULUS.iter().rev())
}

#[cfg(not(target_arch = "x86_64"))]
impl Ristretto8 {
    /// Never called: `detect` finds nothing on this processor.
    ///
    /// # Errors
    /// None.
    pub fn multiply(self, _: &[u8; 32], _: &mut [[u8; 32]]) -> Result<(), Error> {
        match self.0 {}
    }

    /// Never called: `detect` finds nothing on this processor.
    pub fn multiply_mapped(self, _: &[u8; 32], _: &[[u8; 64]], _: &mut [[u8; 32]]) {
        match self.0 {}
    }

    /// Never called: `detect` finds nothing on this processor.
    ///
    /// # Errors
    /// None.
    pub fn check(self, _: &[[u8; 32]]) -> Result<(), Error> {
        match self.0 {}
    }
}
