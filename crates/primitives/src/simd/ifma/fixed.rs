//! Powers of one fixed base, by a table.
//!
//! The best window was measured for exponents of 1536 bits modulo 3072 bits: microseconds of
//! processor time per power in batches of 1, 2, 16 and 64 groups of eight, one run on a busy
//! machine, so differences of a few percent are noise. (192 products, for a window of 8, take about
//! 65 of it.)
//!
//! | window | passes | table | 1 | 2 | 16 | 64 |
//! | --- | --- | --- | --- | --- | --- | --- |
//! | 6 | 4 | 2 MB | 102 | 104 | 105 | 105 |
//! | 7 | 4 | 3 MB | 99 | 95 | 94 | 93 |
//! | 7 | 1 | 14 MB | 145 | 115 | 93 | 89 |
//! | 8 | 3 | 8 MB | 110 | 97 | 88 | 86 |
//! | 8 | 2 | 12 MB | 128 | 101 | 90 | 86 |
//! | 8 | 1 | 24 MB | 181 | 134 | 92 | 84 |
//! | 9 | 2 | 21 MB | 179 | 136 | 99 | 90 |
//!
//! A single group mostly waits for rows from outside the core's own caches; more passes and larger
//! batches both reduce that. A window of 9 was not faster, and memory beyond some 12 MB hardly
//! helps.

use std::arch::x86_64::__m512i;
use std::fmt;

use super::lanes::{Lanes, bits, vector};
use super::look_up::{self, STRIP};
use super::modulus::Modulus8;

/// Windows from which [`FixedBase8`] chooses: a look-up takes sixteen entries at a time.
const WINDOWS: std::ops::RangeInclusive<usize> = 4..=8;

/// Groups of eight for which the table's windows are chosen.
const GROUPS: usize = 16;

/// Look-ups that share one reading of a row.
const TOGETHER: usize = 4;

/// A table of base^(d·2^(w·i)), one base for all lanes.
///
/// The exponent's digits of w bits are distributed over `passes` products: row i of the table, made
/// for 2^(w·passes·i), serves that many neighbouring digits, and the products are combined at the
/// end by w squarings each. More passes make a smaller table. The table is wiped when dropped.
pub struct FixedBase8 {
    modulus: Modulus8,
    exponent_bits: usize,
    windows: Windows,
    table: Lanes,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Windows {
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
        let windows = Windows::best(modulus.limbs(), exponent_bits, memory_budget_bytes);
        let row_vectors = modulus.limbs() << (windows.window - 3);
        let mut table = Lanes::zero(row_vectors * windows.rows);
        let mut power = modulus.load([base; 8]);
        let mut other = power.clone();
        for row in table.limbs_mut().chunks_exact_mut(row_vectors) {
            fill_row(modulus, &power, windows.window, row);
            for _ in 0..windows.window * windows.passes {
                modulus.square(&power, &mut other);
                std::mem::swap(&mut power, &mut other);
            }
        }
        Self { modulus: modulus.clone(), exponent_bits, windows, table }
    }

    /// The memory that the table takes.
    #[must_use]
    pub fn table_bytes(&self) -> usize {
        size_of_val(self.table.limbs())
    }

    /// Raises the base to eight exponents, of which the lowest `exponent_bits` bits count.
    ///
    /// Every entry of every row is read: time and memory access depend on the table's windows only.
    #[must_use]
    pub fn pow(&self, exponents: [&[u64]; 8]) -> Lanes {
        self.pow_many(&[exponents]).pop().unwrap_or_else(|| self.modulus.one())
    }

    /// [`FixedBase8::pow`] for many groups of eight: each row of the table is read for all groups
    /// while it is cached, which for big tables is several times faster.
    #[must_use]
    pub fn pow_many(&self, exponents: &[[&[u64]; 8]]) -> Vec<Lanes> {
        let Windows { window, passes, .. } = self.windows;
        let limbs = self.modulus.limbs();
        let mut products = vec![self.modulus.one(); exponents.len() * passes];
        let mut factors = [(); TOGETHER].map(|()| Lanes::zero(limbs));
        let mut other = Lanes::zero(limbs);
        for (index, row) in self.table.limbs().chunks_exact(limbs << (window - 3)).enumerate() {
            for (start, products) in (0..).step_by(TOGETHER).zip(products.chunks_mut(TOGETHER)) {
                let digits = std::array::from_fn(|offset| {
                    let product = start + offset;
                    let group = exponents.get(product / passes).unwrap_or(&[&[]; 8]);
                    vector(group.map(|e| self.digit(e, index * passes + product % passes)))
                });
                look_up_together(row, digits, &mut factors, products.len());
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

    /// Combines the products of one group, the highest first.
    fn join(&self, products: &[Lanes]) -> Lanes {
        let mut result = products.last().cloned().unwrap_or_else(|| self.modulus.one());
        let mut other = result.clone();
        for product in products.iter().rev().skip(1) {
            for _ in 0..self.windows.window {
                self.modulus.square(&result, &mut other);
                std::mem::swap(&mut result, &mut other);
            }
            self.modulus.mul(&result, product, &mut other);
            std::mem::swap(&mut result, &mut other);
        }
        result
    }

    fn digit(&self, exponent: &[u64], position: usize) -> u64 {
        let start = position * self.windows.window;
        let width = self.exponent_bits.saturating_sub(start).min(self.windows.window);
        bits(exponent, start) & ((1 << width) - 1)
    }
}

impl fmt::Debug for FixedBase8 {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("FixedBase8")
            .field("exponent_bits", &self.exponent_bits)
            .field("windows", &self.windows)
            .finish_non_exhaustive()
    }
}

impl Windows {
    /// The windows with the least estimated time that the memory allows.
    fn best(limbs: usize, exponent_bits: usize, memory_budget_bytes: usize) -> Self {
        let rows_allowed = |window: usize| memory_budget_bytes / ((8 * limbs) << window);
        let affordable = WINDOWS.filter(|&w| w == *WINDOWS.start() || rows_allowed(w) > 0);
        let shapes = affordable.flat_map(|window| {
            let digits = exponent_bits.div_ceil(window).max(1);
            let fewest = digits.div_ceil(rows_allowed(window).clamp(1, digits));
            (fewest..=fewest.saturating_add(7).min(digits)).map(move |passes| Self {
                window,
                passes,
                rows: digits.div_ceil(passes),
            })
        });
        let fallback = Self { window: 4, passes: 1, rows: 1 };
        shapes.min_by_key(|windows| windows.cycles(limbs)).unwrap_or(fallback)
    }

    /// Cycles for eight powers when [`GROUPS`] groups share the reading of the table, by a model
    /// fitted by eye to the figures at the top of this file: a product takes 2·limbs² and a square
    /// three quarters of it; a limb of sixteen entries takes 2 to look up and 12 to fetch from
    /// outside the nearest caches.
    fn cycles(&self, limbs: usize) -> usize {
        let product = 2 * limbs * limbs;
        let row = limbs << (self.window - 4);
        let digits = self.rows.saturating_mul(self.passes);
        let joining = (self.passes - 1).saturating_mul(product + self.window * product * 3 / 4);
        digits
            .saturating_mul(product + 2 * row)
            .saturating_add(self.rows.saturating_mul(12 * row / GROUPS))
            .saturating_add(joining)
    }
}

/// Looks up the first `count` factors, all in one reading of the row.
fn look_up_together(
    row: &[__m512i],
    digits: [__m512i; TOGETHER],
    factors: &mut [Lanes; TOGETHER],
    count: usize,
) {
    let [a, b, c, d] = factors.each_mut().map(Lanes::limbs_mut);
    // SAFETY: the row comes from a `FixedBase8`, which exists only where the instructions do.
    unsafe {
        match count {
            1 => look_up::look_up(row, [digits[0]], [a]),
            2 => look_up::look_up(row, [digits[0], digits[1]], [a, b]),
            3 => look_up::look_up(row, [digits[0], digits[1], digits[2]], [a, b, c]),
            _ => look_up::look_up(row, digits, [a, b, c, d]),
        }
    }
}

/// Writes the powers of `power` (the same in all lanes) in the order that the look-up reads.
fn fill_row(modulus: &Modulus8, power: &Lanes, window: usize, row: &mut [__m512i]) {
    // Eight entries side by side, and the step from them to the next eight.
    let mut entries = modulus.pow(power, [&[0], &[1], &[2], &[3], &[4], &[5], &[6], &[7]], 3);
    let step = modulus.pow_shared(power, &[8], 4);
    let mut other = entries.clone();
    let sixteens = 1 << (window - 4);
    for eight in 0..2 * sixteens {
        for (limb, &vector) in entries.limbs().iter().enumerate() {
            let group = limb / STRIP * sixteens + eight / 2;
            row[(group * STRIP + limb % STRIP) * 2 + eight % 2] = vector;
        }
        modulus.mul(&entries, &step, &mut other);
        std::mem::swap(&mut entries, &mut other);
    }
}
