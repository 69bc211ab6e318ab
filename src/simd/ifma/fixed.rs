//! Powers of one fixed base, by a table.

use std::fmt;

use super::kernel::{self, TILE};
use super::lanes::{Lanes, bits, vector};
use super::modulus::Modulus8;

/// Windows from which [`FixedBase8`] chooses: a look-up takes sixteen entries at a time.
const WINDOWS: std::ops::RangeInclusive<usize> = 4..=8;

/// A table of base^(d·2^(w·i)), one base for all lanes.
///
/// The exponent's digits of w bits are dealt out to `passes` products: row i of the table, made for
/// 2^(w·passes·i), serves that many neighbouring digits, and the products are joined at the end by
/// w squarings each. More passes make a smaller table. The table is wiped when dropped.
pub struct FixedBase8 {
    modulus: Modulus8,
    exponent_bits: usize,
    shape: Shape,
    table: Lanes,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Shape {
    window: usize,
    passes: usize,
    rows: usize,
}

impl FixedBase8 {
    /// Makes the table for exponents of up to `exponent_bits` bits in at most the memory given, or
    /// in the smallest there is (one row of 16 entries) if that is not enough.
    ///
    /// Costs about as many multiplications of eight lanes as the table has entries, divided by 8.
    #[must_use]
    pub fn new(
        modulus: &Modulus8,
        base: &[u64],
        exponent_bits: usize,
        memory_budget_bytes: usize,
    ) -> Self {
        let shape = Shape::best(modulus.limbs(), exponent_bits, memory_budget_bytes);
        let row_vectors = modulus.limbs() << (shape.window - 3);
        let mut table = Lanes::zero(row_vectors * shape.rows);
        let mut power = modulus.load([base; 8]);
        let mut other = power.clone();
        for row in table.limbs_mut().chunks_exact_mut(row_vectors) {
            fill_row(modulus, &power, shape.window, row);
            for _ in 0..shape.window * shape.passes {
                modulus.square(&power, &mut other);
                std::mem::swap(&mut power, &mut other);
            }
        }
        Self { modulus: modulus.clone(), exponent_bits, shape, table }
    }

    /// Raises the base to eight exponents, of which the lowest `exponent_bits` bits count.
    ///
    /// Every entry of every row is read: time and memory access depend on the table's shape only.
    #[must_use]
    pub fn pow(&self, exponents: [&[u64]; 8]) -> Lanes {
        self.pow_many(&[exponents]).pop().unwrap_or_else(|| self.modulus.one())
    }

    /// [`FixedBase8::pow`] for many groups of eight: each row of the table is read for all groups
    /// while it is near, which for big tables is several times faster.
    #[must_use]
    pub fn pow_many(&self, exponents: &[[&[u64]; 8]]) -> Vec<Lanes> {
        let Shape { window, passes, .. } = self.shape;
        let limbs = self.modulus.limbs();
        let mut products = vec![self.modulus.one(); exponents.len() * passes];
        let mut factors = [Lanes::zero(limbs), Lanes::zero(limbs)];
        let mut other = Lanes::zero(limbs);
        for (index, row) in self.table.limbs().chunks_exact(limbs << (window - 3)).enumerate() {
            for (pair, products) in products.chunks_mut(2).enumerate() {
                let digits = [0, 1].map(|second| {
                    let product = 2 * pair + second;
                    let group = exponents.get(product / passes).unwrap_or(&[&[]; 8]);
                    vector(group.map(|e| self.digit(e, index * passes + product % passes)))
                });
                self.look_up(row, digits, &mut factors, products.len());
                for (product, factor) in products.iter_mut().zip(&mut factors) {
                    if index == 0 {
                        std::mem::swap(product, factor);
                    } else {
                        self.modulus.mul(product, factor, &mut other);
                        std::mem::swap(product, &mut other);
                    }
                }
            }
        }
        products.chunks_exact(passes).map(|products| self.join(products)).collect()
    }

    fn look_up(
        &self,
        row: &[std::arch::x86_64::__m512i],
        digits: [std::arch::x86_64::__m512i; 2],
        factors: &mut [Lanes; 2],
        count: usize,
    ) {
        let [first, second] = factors;
        if count == 1 {
            // SAFETY: a `Modulus8` exists only where the instructions are available.
            unsafe { kernel::look_up(row, [digits[0]], [first.limbs_mut()]) };
        } else {
            // SAFETY: as above.
            unsafe { kernel::look_up(row, digits, [first.limbs_mut(), second.limbs_mut()]) };
        }
    }

    /// Joins the products of one group, the highest first.
    fn join(&self, products: &[Lanes]) -> Lanes {
        let mut result = products.last().cloned().unwrap_or_else(|| self.modulus.one());
        let mut other = result.clone();
        for product in products.iter().rev().skip(1) {
            for _ in 0..self.shape.window {
                self.modulus.square(&result, &mut other);
                std::mem::swap(&mut result, &mut other);
            }
            self.modulus.mul(&result, product, &mut other);
            std::mem::swap(&mut result, &mut other);
        }
        result
    }

    fn digit(&self, exponent: &[u64], position: usize) -> u64 {
        let start = position * self.shape.window;
        let width = self.exponent_bits.saturating_sub(start).min(self.shape.window);
        bits(exponent, start) & ((1 << width) - 1)
    }
}

impl fmt::Debug for FixedBase8 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FixedBase8")
            .field("exponent_bits", &self.exponent_bits)
            .field("shape", &self.shape)
            .finish_non_exhaustive()
    }
}

impl Shape {
    /// The shape with the least estimated time that the memory allows.
    fn best(limbs: usize, exponent_bits: usize, memory_budget_bytes: usize) -> Self {
        WINDOWS
            .map(|window| {
                let digits = exponent_bits.div_ceil(window).max(1);
                let row_bytes = (8 * limbs) << window;
                let rows = (memory_budget_bytes / row_bytes).clamp(1, digits);
                let passes = digits.div_ceil(rows);
                let rows = digits.div_ceil(passes);
                (Self { window, passes, rows }, digits)
            })
            .min_by_key(|(shape, digits)| {
                // Cycles: 2·limbs² for a product, three quarters of it for a square, and three
                // for each sixteen entries' limb.
                let product = 2 * limbs * limbs;
                let look_up = (3 * limbs) << (shape.window - 4);
                digits * (product + look_up)
                    + (shape.passes - 1) * (product + shape.window * product * 3 / 4)
            })
            .map_or(Self { window: 4, passes: 1, rows: 1 }, |(shape, _)| shape)
    }
}

/// Writes the powers of `power` (the same in all lanes) in the order that the look-up reads.
fn fill_row(
    modulus: &Modulus8,
    power: &Lanes,
    window: usize,
    row: &mut [std::arch::x86_64::__m512i],
) {
    // Eight entries side by side, and the step from them to the next eight.
    let mut entries = modulus.pow(power, [&[0], &[1], &[2], &[3], &[4], &[5], &[6], &[7]], 3);
    let step = modulus.pow_shared(power, &[8], 4);
    let mut other = entries.clone();
    let sixteens = 1 << (window - 4);
    for eight in 0..2 * sixteens {
        for (limb, &vector) in entries.limbs().iter().enumerate() {
            let group = limb / TILE * sixteens + eight / 2;
            row[(group * TILE + limb % TILE) * 2 + eight % 2] = vector;
        }
        modulus.mul(&entries, &step, &mut other);
        std::mem::swap(&mut entries, &mut other);
    }
}
