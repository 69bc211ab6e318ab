//! Several small numbers in one plaintext.

use num_bigint::BigUint;
use num_traits::One;

use super::PublicKey;
use crate::Error;

/// Slots of one width, the first lowest. Sums of packed plaintexts are sums slot by slot as long
/// as no sum reaches 2^width: the caller chooses the width for that.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Packing {
    width: usize,
    slots: usize,
}

impl Packing {
    /// ⌊(|n|−1)/width⌋ slots of `width` bits: any values in them stay below n.
    ///
    /// # Errors
    /// [`Error::SlotWidth`] if the width is 0 or no slot fits.
    pub fn new(key: &PublicKey, width: usize) -> Result<Self, Error> {
        let bits = key.bits();
        let slots = (bits - 1).checked_div(width).unwrap_or(0);
        if slots == 0 {
            return Err(Error::SlotWidth { width, bits });
        }
        Ok(Self { width, slots })
    }

    /// How many slots a plaintext has.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Bits of one slot.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The plaintext with `values` in its first slots and 0 in the others.
    ///
    /// # Errors
    /// [`Error::TooManySlots`], [`Error::SlotOverflow`].
    pub fn pack(&self, values: &[BigUint]) -> Result<BigUint, Error> {
        if values.len() > self.slots {
            return Err(Error::TooManySlots { found: values.len(), slots: self.slots });
        }
        if let Some(slot) = values.iter().position(|value| value.bits() > self.width as u64) {
            return Err(Error::SlotOverflow(slot));
        }
        let mut digits = vec![0u64; (self.width * self.slots).div_ceil(64) + 1];
        for (slot, value) in values.iter().enumerate() {
            place(&mut digits, slot * self.width, value);
        }
        Ok(crate::math::limbs::to_biguint(&digits))
    }

    /// The first `count` slots.
    ///
    /// # Errors
    /// [`Error::TooManySlots`]; [`Error::SlotOverflow`] if the plaintext has bits above the last
    /// slot, which no sum of packed plaintexts has.
    pub fn unpack(&self, plaintext: &BigUint, count: usize) -> Result<Vec<BigUint>, Error> {
        if count > self.slots {
            return Err(Error::TooManySlots { found: count, slots: self.slots });
        }
        if plaintext.bits() > (self.width * self.slots) as u64 {
            return Err(Error::SlotOverflow(self.slots));
        }
        let mask = (BigUint::one() << self.width) - 1u8;
        Ok((0..count).map(|slot| (plaintext >> (slot * self.width)) & &mask).collect())
    }
}

/// Puts `value` at a bit position where `digits` is still 0.
fn place(digits: &mut [u64], position: usize, value: &BigUint) {
    let (first, shift) = (position / 64, position % 64);
    for (i, digit) in value.iter_u64_digits().enumerate() {
        digits[first + i] |= digit << shift;
        if shift > 0 && digit >> (64 - shift) != 0 {
            digits[first + i + 1] |= digit >> (64 - shift);
        }
    }
}
