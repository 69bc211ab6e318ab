//! Many powers modulo N² at once, on the portable or the vector path.

use std::fmt;

use num_bigint::BigUint;
use zeroize::Zeroizing;

use super::limbs::{self, Limbs};
use super::{FixedBase, Residue, SquareModulus};
use crate::Error;
use crate::simd::ifma::{self, FixedBase8, Lanes, Modulus8};

/// Numbers that are worked on together: the lanes of the vector path.
pub(crate) const BATCH: usize = 8;
/// The most exponents for which one row of a table is used before the next: the row is fetched from
/// main memory once for all of them.
pub(crate) const TABLE_BATCH: usize = 16 * BATCH;
/// From this many numbers on, eight lanes are quicker than one number after another.
const WORTH_A_VECTOR: usize = 3;

/// Which code does the bulk work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backend {
    /// Plain Rust, on any processor.
    Portable,
    /// Eight numbers at once; falls back to [`Backend::Portable`] where the processor lacks the
    /// instructions or the modulus is too wide.
    Vector,
}

impl Backend {
    /// The fastest that this processor has.
    pub fn detect() -> Self {
        if ifma::available() { Self::Vector } else { Self::Portable }
    }
}

/// N² prepared for powers of many bases.
#[derive(Debug)]
pub(crate) struct PowerModulus {
    pub square: SquareModulus,
    vector: Option<Modulus8>,
}

/// The table of one base, for powers to many exponents.
pub(crate) enum PowerTable {
    Portable(SquareModulus, FixedBase),
    Vector(Modulus8, FixedBase8),
}

impl PowerModulus {
    pub fn new(root: &BigUint, backend: Backend) -> Result<Self, Error> {
        let square = SquareModulus::new(root)?;
        let mut limbs = limbs::zeros(2 * square.root.limb_count());
        limbs::square(&mut limbs, &square.root.limbs);
        let vector = (backend == Backend::Vector).then(|| Modulus8::new(&limbs)).flatten();
        Ok(Self { square, vector })
    }

    /// `base^exponent` for each base below N²: constant-time for exponents of `bits` bits.
    pub fn pow_all(&self, bases: &[Limbs], exponent: &[u64], bits: usize) -> Vec<Limbs> {
        let power = |base: &Limbs| {
            let base = self.square.enter_limbs(base);
            self.square.leave_limbs(&self.square.pow_limbs(&base, exponent, bits))
        };
        self.in_lanes(bases, exponent, bits, power)
    }

    /// `base^exponent` for each base, for a public exponent.
    pub fn pow_all_vartime(&self, bases: &[Limbs], exponent: &BigUint) -> Vec<Limbs> {
        let bits = exponent.bits() as usize;
        let limbs = limbs::from_biguint(exponent, bits.div_ceil(64));
        let power = |base: &Limbs| {
            let base = self.square.enter_limbs(base);
            self.square.leave_limbs(&self.square.pow_vartime(&base, exponent))
        };
        self.in_lanes(bases, &limbs, bits, power)
    }

    /// `base^exponent` for each pair of residue and exponent: constant-time for exponents of `bits`
    /// bits.
    pub fn pow_each(&self, bases: &[&Residue], exponents: &[Limbs], bits: usize) -> Vec<Residue> {
        let mut powers = Vec::with_capacity(bases.len());
        for (bases, exponents) in bases.chunks(BATCH).zip(exponents.chunks(BATCH)) {
            match &self.vector {
                Some(modulus) if bases.len() >= WORTH_A_VECTOR => {
                    let numbers: Vec<Limbs> =
                        bases.iter().map(|base| self.square.leave_limbs(base)).collect();
                    let loaded = modulus.load(lanes(&numbers));
                    let power = modulus.pow(&loaded, lanes(exponents), bits);
                    let stored = store(modulus, &power, bases.len());
                    powers.extend(stored.map(|power| self.square.enter_limbs(&power)));
                }
                _ => {
                    let pairs = bases.iter().zip(exponents);
                    powers.extend(pairs.map(|(b, e)| self.square.pow_limbs(b, e, bits)));
                }
            }
        }
        powers
    }

    fn in_lanes(
        &self,
        bases: &[Limbs],
        exponent: &[u64],
        bits: usize,
        portable: impl Fn(&Limbs) -> Limbs,
    ) -> Vec<Limbs> {
        let mut powers = Vec::with_capacity(bases.len());
        for batch in bases.chunks(BATCH) {
            match &self.vector {
                Some(modulus) if batch.len() >= WORTH_A_VECTOR => {
                    let power = modulus.pow_shared(&modulus.load(lanes(batch)), exponent, bits);
                    powers.extend(store(modulus, &power, batch.len()));
                }
                _ => powers.extend(batch.iter().map(&portable)),
            }
        }
        powers
    }

    /// A table for powers of `base` with exponents of `bits` bits. It is worth its cost from
    /// about a hundred powers on.
    pub fn table(&self, base: &[u64], bits: usize, budget_bytes: usize) -> PowerTable {
        if let Some(modulus) = &self.vector {
            let table = FixedBase8::new(modulus, base, bits, budget_bytes);
            return PowerTable::Vector(modulus.clone(), table);
        }
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
            Self::Vector(modulus, table) => {
                let groups: Vec<_> = exponents.chunks(BATCH).map(lanes).collect();
                let sizes = exponents.chunks(BATCH).map(<[Limbs]>::len);
                let powers = table.pow_many(&groups);
                powers.iter().zip(sizes).flat_map(|(p, size)| store(modulus, p, size)).collect()
            }
        }
    }
}

impl fmt::Debug for PowerTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Portable(..) => "PowerTable(portable)",
            Self::Vector(..) => "PowerTable(vector)",
        })
    }
}

/// Up to eight numbers as lanes; unused lanes are 0.
fn lanes(numbers: &[Limbs]) -> [&[u64]; BATCH] {
    std::array::from_fn(|lane| numbers.get(lane).map_or(&[][..], |number| &number[..]))
}

/// The first `count` lanes.
fn store(modulus: &Modulus8, lanes: &Lanes, count: usize) -> impl Iterator<Item = Limbs> {
    modulus.store(lanes).map(Zeroizing::new).into_iter().take(count)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn number(limbs: usize) -> impl Strategy<Value = Limbs> {
        prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], limbs)
            .prop_map(Zeroizing::new)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(30))]

        /// Random and extreme operands, at the width of p² in a key of 2048 bits.
        #[test]
        fn the_vector_path_agrees_with_the_portable_one(
            mut root in number(16),
            bases in prop::collection::vec(number(32), 1..20),
            exponents in prop::collection::vec(number(2), 1..20),
        ) {
            root[0] |= 1;
            root[15] |= 1 << 63;
            let root = limbs::to_biguint(&root);
            let portable = PowerModulus::new(&root, Backend::Portable).unwrap();
            let vector = PowerModulus::new(&root, Backend::Vector).unwrap();
            prop_assert_eq!(vector.vector.is_some(), ifma::available());
            let largest = limbs::from_biguint(&(&root * &root - 1u8), 32);
            let bases: Vec<Limbs> = bases.into_iter().chain([largest]).collect();
            let expected = portable.pow_all(&bases, &exponents[0], 128);
            prop_assert_eq!(&vector.pow_all(&bases, &exponents[0], 128), &expected);
            let public = limbs::to_biguint(&exponents[0]);
            prop_assert_eq!(&vector.pow_all_vartime(&bases, &public), &expected);
            prop_assert_eq!(&portable.pow_all_vartime(&bases, &public), &expected);
            let pairs = bases.len().min(exponents.len());
            let entered: Vec<_> = bases.iter().map(|b| portable.square.enter_limbs(b)).collect();
            let entered: Vec<&Residue> = entered.iter().take(pairs).collect();
            let expected = portable.pow_each(&entered, &exponents[..pairs], 128);
            prop_assert!(vector.pow_each(&entered, &exponents[..pairs], 128) == expected);
            let first = portable.pow_all(&bases[..1], &exponents[0], 128);
            prop_assert_eq!(&first[0], &portable.square.leave_limbs(&expected[0]));
            let expected = portable.table(&bases[0], 128, 1 << 16).pow_all(&exponents);
            prop_assert_eq!(vector.table(&bases[0], 128, 1 << 16).pow_all(&exponents), expected);
        }
    }
}
