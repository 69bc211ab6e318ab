//! Powers of one base: a table of `base^(d·2^(w·i))` turns an exponentiation into one
//! multiplication per w bits of the exponent and no squaring.

use std::fmt;

use zeroize::Zeroizing;

use super::limbs::{self, Limbs};
use super::{Residue, SquareModulus};

/// The table for one base modulo N², for exponents of a declared length. Wiped on drop.
pub struct FixedBase {
    modulus: SquareModulus,
    table: Limbs,
    window: usize,
    exponent_bits: usize,
}

impl FixedBase {
    /// Makes the table; it takes at most `budget_bytes` (but never less than the smallest table,
    /// one bit per row). Every lookup reads a whole row, so the widest window is not the best:
    /// the one with the least expected work is taken.
    pub fn new(
        modulus: &SquareModulus,
        base: &Residue,
        exponent_bits: usize,
        budget_bytes: usize,
    ) -> Self {
        let window = best_window(exponent_bits, base.0.len(), budget_bytes);
        let rows = exponent_bits.div_ceil(window);
        let mut table = Zeroizing::new(Vec::with_capacity((rows * base.0.len()) << window));
        let mut scratch = modulus.scratch();
        let mut row_base = base.clone();
        for _ in 0..rows {
            let mut power = modulus.one();
            for _ in 0..1 << window {
                table.extend_from_slice(&power.0);
                modulus.multiply_by(&mut power, &row_base, &mut scratch);
            }
            row_base = power;
        }
        Self { modulus: modulus.clone(), table, window, exponent_bits }
    }

    /// `base^exponent` for each exponent, of which the low `exponent_bits` bits count.
    /// Constant-time. A row is used for all exponents before the next, so that it stays in the
    /// nearest cache.
    pub(crate) fn pow_limbs(&self, exponents: &[Limbs]) -> Vec<Residue> {
        let width = 2 * self.modulus.root.limb_count();
        let mut scratch = self.modulus.scratch();
        let mut masks = limbs::zeros(1 << self.window);
        let mut powers = vec![self.modulus.one(); exponents.len()];
        let mut factor = std::mem::replace(&mut scratch.factor, self.modulus.one());
        for (number, row) in self.table.chunks_exact(width << self.window).enumerate() {
            let position = number * self.window;
            let bits = self.window.min(self.exponent_bits - position);
            for (power, exponent) in powers.iter_mut().zip(exponents) {
                let digit = limbs::digit(exponent, position, bits);
                limbs::look_up(&mut factor.0, row, digit, &mut masks);
                self.modulus.multiply_by(power, &factor, &mut scratch);
            }
        }
        powers
    }
}

impl fmt::Debug for FixedBase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "FixedBase({} bits, window {})", self.exponent_bits, self.window)
    }
}

/// The window with the least work within the budget. A multiplication of two pairs of k limbs is
/// 5k² limb products; reading a limb of the table costs about a third of one.
fn best_window(exponent_bits: usize, width: usize, budget_bytes: usize) -> usize {
    let work = |window: usize| {
        let rows = exponent_bits.div_ceil(window);
        rows * (5 * width * width / 4 + (width << window) / 3)
    };
    (1..=10)
        .filter(|w| *w == 1 || (exponent_bits.div_ceil(*w) * 8 * width) << w <= budget_bytes)
        .min_by_key(|w| work(*w))
        .unwrap_or(1)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigUint;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_table_keeps_to_its_budget() {
        for budget in [0, 100_000, 1 << 20, 1 << 26] {
            let window = best_window(1536, 48, budget);
            let bytes = (1536usize.div_ceil(window) * 8 * 48) << window;
            assert!(bytes <= budget || window == 1, "{bytes} of {budget}");
        }
        assert!(best_window(1536, 48, 1 << 26) > best_window(1536, 48, 1 << 20));
    }

    proptest! {
        #[test]
        fn powers_agree_with_num_bigint(
            base in any::<u128>(),
            exponents in prop::collection::vec(any::<[u64; 2]>(), 0..4),
            bits in 1usize..129,
            budget in 0usize..100_000,
        ) {
            let n = BigUint::from(u128::MAX - 2);
            let square = &n * &n;
            let modulus = SquareModulus::new(&n).unwrap();
            let base = BigUint::from(base) * 12_345u32;
            let table = FixedBase::new(&modulus, &modulus.enter(&base).unwrap(), bits, budget);
            let limbs: Vec<Limbs> = exponents.iter().map(|e| Zeroizing::new(e.to_vec())).collect();
            for (power, exponent) in table.pow_limbs(&limbs).iter().zip(&exponents) {
                let exponent = limbs::to_biguint(exponent) % (BigUint::from(1u8) << bits);
                prop_assert_eq!(modulus.leave(power), base.modpow(&exponent, &square));
            }
        }
    }
}
