//! Many powers modulo N² at once, on the portable or the vector path.

use num_bigint::BigUint;

use super::limbs::Limbs;
use super::{Error, FixedBase, SquareModulus};

/// Numbers that are worked on together: the lanes of the vector path.
pub(crate) const BATCH: usize = 8;

/// Which code does the bulk work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// Plain Rust, on any processor.
    Portable,
    /// Eight numbers at once; falls back to [`Backend::Portable`] where the processor cannot.
    Vector,
}

impl Backend {
    /// The fastest that this processor has.
    pub fn detect() -> Self {
        Self::Portable
    }
}

/// N² prepared for powers of many bases.
#[derive(Debug)]
pub(crate) struct PowerModulus {
    pub square: SquareModulus,
}

/// The table of one base, for powers to many exponents.
#[derive(Debug)]
pub(crate) enum PowerTable {
    Portable(SquareModulus, FixedBase),
}

impl PowerModulus {
    pub fn new(root: &BigUint, _backend: Backend) -> Result<Self, Error> {
        Ok(Self { square: SquareModulus::new(root)? })
    }

    /// `base^exponent` for each base below N²: constant-time for exponents of `bits` bits.
    pub fn pow_all(&self, bases: &[Limbs], exponent: &[u64], bits: usize) -> Vec<Limbs> {
        let power = |base: &Limbs| {
            let base = self.square.enter_limbs(base);
            self.square.leave_limbs(&self.square.pow_limbs(&base, exponent, bits))
        };
        bases.iter().map(power).collect()
    }

    /// `base^exponent` for each base, for an exponent that everyone knows.
    pub fn pow_all_vartime(&self, bases: &[Limbs], exponent: &BigUint) -> Vec<Limbs> {
        let power = |base: &Limbs| {
            let base = self.square.enter_limbs(base);
            self.square.leave_limbs(&self.square.pow_vartime(&base, exponent))
        };
        bases.iter().map(power).collect()
    }

    /// A table for powers of `base` with exponents of `bits` bits. A first use of the table is
    /// worth its cost from about a hundred powers on.
    pub fn table(&self, base: &[u64], bits: usize, budget_bytes: usize) -> PowerTable {
        let base = self.square.enter_limbs(base);
        let table = FixedBase::new(&self.square, &base, bits, budget_bytes);
        PowerTable::Portable(self.square.clone(), table)
    }
}

impl PowerTable {
    /// `base^exponent` for each exponent, constant-time.
    pub fn pow_all(&self, exponents: &[Limbs]) -> Vec<Limbs> {
        match self {
            Self::Portable(square, table) => {
                table.pow_limbs(exponents).iter().map(|power| square.leave_limbs(power)).collect()
            }
        }
    }
}
