//! A modulus for eight lanes and what is computed modulo it.

use std::fmt;

use zeroize::Zeroizing;

use super::kernel::{self, LIMB_BITS, Reduction, TILE};
use super::lanes::{Lanes, bits, limb, vector};
use super::look_up;
use crate::simd::level;

/// The widest modulus, in bits.
pub const MAX_BITS: usize = 6144;

/// The widest window of [`Modulus8::pow`].
const MAX_WINDOW: usize = 6;

/// Whether the processor has the instructions and the level in use allows them.
#[must_use]
pub fn available() -> bool {
    level::ifma()
}

/// One odd modulus for eight lanes.
///
/// A value of this type exists only where [`available`] is true; all calls of the kernel rest on
/// that. Lanes made with one modulus must not be given to another: if their widths differ, the
/// result is meaningless (in debug builds, a panic). Wiped when dropped.
#[derive(Clone)]
pub struct Modulus8 {
    /// Limbs of 64 bits in the modulus as it was given, without leading zeros.
    width: usize,
    modulus: Lanes,
    /// −m⁻¹ mod 2^52, as a number of one limb.
    negated_inverse: Lanes,
    /// R modulo m: one in Montgomery form.
    one: Lanes,
    /// R² modulo m, which takes a number into Montgomery form.
    r_squared: Lanes,
}

impl Modulus8 {
    /// Takes an odd modulus from 3 to [`MAX_BITS`] bits, limbs from the least significant.
    ///
    /// `None` if the modulus is anything else or the processor lacks the instructions.
    #[must_use]
    pub fn new(modulus: &[u64]) -> Option<Self> {
        if !available() {
            return None;
        }
        let width = modulus.iter().rposition(|&word| word != 0)? + 1;
        let modulus = &modulus[..width];
        if width > MAX_BITS / 64 || modulus[0] & 1 == 0 || modulus == [1] {
            return None;
        }
        let limbs = limbs_for(width);
        // R modulo m and then a little more: 2^(52·limbs + odd), such that squaring gives R².
        let exponent = limbs * LIMB_BITS;
        let squarings = exponent.trailing_zeros();
        let mut power = power_of_two(modulus, exponent);
        let one = Lanes::repeated(limbs, &power);
        for _ in 0..exponent >> squarings {
            double(&mut power, modulus);
        }
        let mut made = Self {
            width,
            modulus: Lanes::repeated(limbs, modulus),
            negated_inverse: Lanes::repeated(1, &[negated_inverse(limb(modulus, 0))]),
            one,
            r_squared: Lanes::repeated(limbs, &power),
        };
        for _ in 0..squarings {
            let mut next = Lanes::zero(limbs);
            made.square(&made.r_squared, &mut next);
            made.r_squared = next;
        }
        // Below m, not only 2m: `load` multiplies numbers up to R by it.
        made.r_squared = made.reduced(&made.r_squared);
        Some(made)
    }

    /// Takes eight numbers into Montgomery form, limbs from the least significant.
    ///
    /// Numbers not below the modulus are reduced, however long they are; the cost depends on the
    /// longest.
    #[must_use]
    pub fn load(&self, numbers: [&[u64]; 8]) -> Lanes {
        let chunk_bits = self.limbs() * LIMB_BITS;
        let longest = numbers.map(<[u64]>::len).into_iter().max().unwrap_or(0);
        let chunks = (longest * 64).div_ceil(chunk_bits).max(1);
        let mut loaded = Lanes::zero(self.limbs());
        self.mul(
            &Lanes::cut(self.limbs(), numbers, (chunks - 1) * chunk_bits),
            &self.r_squared,
            &mut loaded,
        );
        // Horner's rule with R as the base: moving up by one chunk is multiplying by R.
        let (mut shifted, mut next, mut sum) = (loaded.clone(), loaded.clone(), loaded.clone());
        for chunk in (0..chunks - 1).rev() {
            self.mul(&loaded, &self.r_squared, &mut shifted);
            self.mul(
                &Lanes::cut(self.limbs(), numbers, chunk * chunk_bits),
                &self.r_squared,
                &mut next,
            );
            // SAFETY: a `Modulus8` exists only where the instructions are available.
            unsafe { kernel::add(shifted.limbs(), next.limbs(), sum.limbs_mut()) };
            // The sum is below 4m; a multiplication by one brings it back below 2m.
            self.mul(&sum, &self.one, &mut loaded);
        }
        loaded
    }

    /// Takes eight numbers out of Montgomery form, fully reduced, each with the modulus' limbs.
    #[must_use]
    pub fn store(&self, lanes: &Lanes) -> [Vec<u64>; 8] {
        let mut product = Lanes::zero(self.limbs());
        self.mul(lanes, &Lanes::repeated(self.limbs(), &[1]), &mut product);
        self.reduced(&product).numbers(self.width)
    }

    /// Eight ones.
    #[must_use]
    pub fn one(&self) -> Lanes {
        self.one.clone()
    }

    /// `out` = a·b, lane by lane.
    pub fn mul(&self, a: &Lanes, b: &Lanes, out: &mut Lanes) {
        if !self.fits(a) || !self.fits(b) {
            *out = Lanes::zero(self.limbs());
            return;
        }
        out.resize(self.limbs());
        // SAFETY: a `Modulus8` exists only where the instructions are available.
        unsafe { kernel::multiply(self.reduction(), a.limbs(), b.limbs(), out.limbs_mut()) };
    }

    /// `out` = a², lane by lane; about three quarters of a multiplication.
    pub fn square(&self, a: &Lanes, out: &mut Lanes) {
        if !self.fits(a) {
            *out = Lanes::zero(self.limbs());
            return;
        }
        out.resize(self.limbs());
        // SAFETY: a `Modulus8` exists only where the instructions are available.
        unsafe { kernel::square(self.reduction(), a.limbs(), out.limbs_mut()) };
    }

    /// Raises each lane to its own exponent, of which the lowest `exponent_bits` bits count.
    ///
    /// Time and memory access depend on `exponent_bits` and the modulus' width only.
    #[must_use]
    pub fn pow(&self, bases: &Lanes, exponents: [&[u64]; 8], exponent_bits: usize) -> Lanes {
        if !self.fits(bases) {
            return Lanes::zero(self.limbs());
        }
        let limbs = self.limbs();
        let window = best_window(self.limbs(), exponent_bits);
        let table = self.powers(bases, 1 << window);
        let mut result = self.one();
        let (mut other, mut factor) = (Lanes::zero(limbs), Lanes::zero(limbs));
        let top = exponent_bits.div_ceil(window);
        for position in (0..top).rev() {
            let start = position * window;
            let width = window.min(exponent_bits - start);
            let digits = exponents.map(|exponent| bits(exponent, start) & ((1 << width) - 1));
            // SAFETY: a `Modulus8` exists only where the instructions are available.
            unsafe { look_up::select(table.limbs(), vector(digits), factor.limbs_mut()) };
            if position + 1 == top {
                std::mem::swap(&mut result, &mut factor);
                continue;
            }
            for _ in 0..window {
                self.square(&result, &mut other);
                std::mem::swap(&mut result, &mut other);
            }
            self.mul(&result, &factor, &mut other);
            std::mem::swap(&mut result, &mut other);
        }
        result
    }

    /// Raises all lanes to the same exponent, of which the lowest `exponent_bits` bits count.
    ///
    /// Constant in time like [`Modulus8::pow`].
    #[must_use]
    pub fn pow_shared(&self, bases: &Lanes, exponent: &[u64], exponent_bits: usize) -> Lanes {
        self.pow(bases, [exponent; 8], exponent_bits)
    }

    /// The first powers of `bases` from one on, one after the other.
    fn powers(&self, bases: &Lanes, count: usize) -> Lanes {
        let limbs = self.limbs();
        let mut table = Lanes::zero(limbs * count);
        let mut power = self.one();
        let mut next = Lanes::zero(limbs);
        for entry in table.limbs_mut().chunks_exact_mut(limbs) {
            entry.copy_from_slice(power.limbs());
            self.mul(&power, bases, &mut next);
            std::mem::swap(&mut power, &mut next);
        }
        table
    }

    /// Numbers below 2m brought below m.
    fn reduced(&self, lanes: &Lanes) -> Lanes {
        let mut reduced = Lanes::zero(self.limbs());
        // SAFETY: a `Modulus8` exists only where the instructions are available.
        unsafe { kernel::subtract_once(self.reduction(), lanes.limbs(), reduced.limbs_mut()) };
        reduced
    }

    /// Limbs of 52 bits in each number.
    pub(super) fn limbs(&self) -> usize {
        self.modulus.limbs().len()
    }

    fn fits(&self, lanes: &Lanes) -> bool {
        let fits = lanes.limbs().len() == self.limbs();
        debug_assert!(fits, "lanes were made with a modulus of another width");
        fits
    }

    fn reduction(&self) -> Reduction<'_> {
        Reduction {
            modulus: self.modulus.limbs(),
            negated_inverse: self.negated_inverse.limbs()[0],
        }
    }
}

impl fmt::Debug for Modulus8 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Modulus8").field("width", &self.width).finish_non_exhaustive()
    }
}

/// Limbs of 52 bits such that R > 4·2^(64·width), in whole tiles.
fn limbs_for(width: usize) -> usize {
    (64 * width + 2).div_ceil(LIMB_BITS).next_multiple_of(TILE)
}

/// The window with the least work: entries to make and, for each digit, one product and the
/// reading of all entries. Squarings are as many with any window.
fn best_window(limbs: usize, exponent_bits: usize) -> usize {
    let cost = |window: usize| {
        // Cycles, roughly: a product takes 2·limbs², reading one entry 4/3·limbs.
        let (entries, product) = (1 << window, 2 * limbs * limbs);
        let digits = exponent_bits.div_ceil(window);
        (entries * product).saturating_add(digits.saturating_mul(product + entries * limbs * 4 / 3))
    };
    (1..=MAX_WINDOW).min_by_key(|&window| cost(window)).unwrap_or(1)
}

/// −m⁻¹ mod 2^52 by Newton's iteration, which doubles the number of correct bits.
fn negated_inverse(m: u64) -> u64 {
    let mut inverse = m;
    for _ in 0..5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(m.wrapping_mul(inverse)));
    }
    inverse.wrapping_neg() & kernel::LIMB_MASK
}

/// 2^exponent modulo m. The time depends on the exponent and the modulus' length.
fn power_of_two(modulus: &[u64], exponent: usize) -> Zeroizing<Vec<u64>> {
    let top = modulus.last().map_or(0, |word| 63 - word.leading_zeros() as usize);
    let mut power = Zeroizing::new(vec![0; modulus.len()]);
    if let Some(word) = power.last_mut() {
        *word = 1 << top;
    }
    for _ in 64 * (modulus.len() - 1) + top..exponent {
        double(&mut power, modulus);
    }
    power
}

/// Doubles a number below m modulo m, without branches on either.
fn double(number: &mut [u64], modulus: &[u64]) {
    let mut carry = 0;
    for word in number.iter_mut() {
        (*word, carry) = (*word << 1 | carry, *word >> 63);
    }
    let mut borrow = 0;
    for (&word, &m) in number.iter().zip(modulus) {
        (_, borrow) = subtract(word, m, borrow);
    }
    // Subtract m unless that borrows from beyond the carry: all ones to subtract, zero to keep.
    let mask = (borrow & (carry ^ 1)).wrapping_sub(1);
    borrow = 0;
    for (word, &m) in number.iter_mut().zip(modulus) {
        (*word, borrow) = subtract(*word, m & mask, borrow);
    }
}

/// a − b − borrow, and whether that borrows in turn.
fn subtract(a: u64, b: u64, borrow: u64) -> (u64, u64) {
    let difference = u128::from(a).wrapping_sub(u128::from(b) + u128::from(borrow));
    (difference as u64, (difference >> 127) as u64)
}
