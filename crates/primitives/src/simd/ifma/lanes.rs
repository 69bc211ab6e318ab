//! Eight numbers side by side: limb i of all of them in vector i.

use std::arch::x86_64::__m512i;
use std::fmt;
use std::sync::atomic::{Ordering, compiler_fence};

use super::kernel::{LIMB_BITS, LIMB_MASK};

/// Eight numbers modulo the [`super::Modulus8`] that made them, in Montgomery form.
///
/// Wiped when dropped; `Debug` shows no number.
#[derive(Clone)]
pub struct Lanes {
    limbs: Vec<__m512i>,
}

impl Lanes {
    /// Eight zeros of so many limbs, or several such after one another.
    pub(super) fn zero(limbs: usize) -> Self {
        Self { limbs: vec![vector([0; 8]); limbs] }
    }

    /// Eight times the same number, given in limbs of 64 bits; limbs beyond its end are zero.
    pub(super) fn repeated(limbs: usize, number: &[u64]) -> Self {
        Self { limbs: (0..limbs).map(|i| vector([limb(number, i * LIMB_BITS); 8])).collect() }
    }

    /// The bits from `start` of eight numbers, as many as the limbs hold.
    pub(super) fn cut(limbs: usize, numbers: [&[u64]; 8], start: usize) -> Self {
        let cut = |i| vector(numbers.map(|number| limb(number, start + i * LIMB_BITS)));
        Self { limbs: (0..limbs).map(cut).collect() }
    }

    /// Each lane's number in `width` limbs of 64 bits. The limbs must be below 2^52.
    pub(super) fn numbers(&self, width: usize) -> [Vec<u64>; 8] {
        let mut numbers = [(); 8].map(|()| vec![0; width]);
        for (i, &limbs) in self.limbs.iter().enumerate() {
            let (word, shift) = (i * LIMB_BITS / 64, i * LIMB_BITS % 64);
            for (number, limb) in numbers.iter_mut().zip(array(limbs)) {
                if let Some(target) = number.get_mut(word) {
                    *target |= limb << shift;
                }
                if shift + LIMB_BITS > 64
                    && let Some(target) = number.get_mut(word + 1)
                {
                    *target |= limb >> (64 - shift);
                }
            }
        }
        numbers
    }

    pub(super) fn limbs(&self) -> &[__m512i] {
        &self.limbs
    }

    pub(super) fn limbs_mut(&mut self) -> &mut [__m512i] {
        &mut self.limbs
    }

    /// Zeros of so many limbs, if there are more or fewer now.
    pub(super) fn resize(&mut self, limbs: usize) {
        if self.limbs.len() != limbs {
            *self = Self::zero(limbs);
        }
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.wipe();
    }
}

impl Lanes {
    /// Overwrites all limbs with zeros, in a way that is not left out as dead.
    pub(super) fn wipe(&mut self) {
        for limb in &mut self.limbs {
            // SAFETY: `limb` is a valid, aligned, exclusive reference.
            unsafe { std::ptr::write_volatile(limb, vector([0; 8])) };
        }
        compiler_fence(Ordering::SeqCst);
    }
}

impl fmt::Debug for Lanes {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lanes").finish_non_exhaustive()
    }
}

/// The 52 bits of a number from bit `start`.
pub(super) fn limb(number: &[u64], start: usize) -> u64 {
    bits(number, start) & LIMB_MASK
}

/// The 64 bits of a number from bit `start`.
pub(super) fn bits(number: &[u64], start: usize) -> u64 {
    let word = |index: usize| number.get(index).copied().unwrap_or(0);
    let (index, shift) = (start / 64, start % 64);
    let low = word(index) >> shift;
    if shift == 0 { low } else { low | word(index + 1) << (64 - shift) }
}

/// Eight lanes as one vector.
pub(super) fn vector(lanes: [u64; 8]) -> __m512i {
    // SAFETY: both types are 64 bytes in which every pattern is valid.
    unsafe { std::mem::transmute::<[u64; 8], __m512i>(lanes) }
}

/// One vector as eight lanes.
pub(super) fn array(vector: __m512i) -> [u64; 8] {
    // SAFETY: both types are 64 bytes in which every pattern is valid.
    unsafe { std::mem::transmute::<__m512i, [u64; 8]>(vector) }
}
