//! Little-endian limbs: the loops that everything else is built from.
//!
//! No branch and no address depends on the value of a limb.

use num_bigint::BigUint;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Limbs that are wiped when dropped.
pub type Limbs = Zeroizing<Vec<u64>>;

/// `count` zero limbs.
pub(crate) fn zeros(count: usize) -> Limbs {
    Zeroizing::new(vec![0; count])
}

/// The low `count` limbs of `number`.
pub fn from_biguint(number: &BigUint, count: usize) -> Limbs {
    let mut limbs = zeros(count);
    for (limb, digit) in limbs.iter_mut().zip(number.iter_u64_digits()) {
        *limb = digit;
    }
    limbs
}

/// The number with these limbs.
pub fn to_biguint(limbs: &[u64]) -> BigUint {
    BigUint::new(limbs.iter().flat_map(|limb| [*limb as u32, (*limb >> 32) as u32]).collect())
}

/// Big-endian bytes, padded or truncated to `8 * limbs.len()`.
pub(crate) fn extend_bytes_be(bytes: &mut Vec<u8>, limbs: &[u64]) {
    bytes.extend(limbs.iter().rev().flat_map(|limb| limb.to_be_bytes()));
}

/// Limbs from big-endian bytes; `bytes.len()` must be a multiple of 8.
pub(crate) fn from_bytes_be(bytes: &[u8]) -> Limbs {
    let words = bytes.rchunks_exact(8);
    Zeroizing::new(words.map(|c| c.iter().fold(0, |word, b| (word << 8) | u64::from(*b))).collect())
}

/// All ones if `condition`, else zero, in a way the compiler does not turn into a branch.
#[inline]
pub(crate) fn mask(condition: u64) -> u64 {
    std::hint::black_box(0u64.wrapping_sub(condition & 1))
}

/// `a += b`; the carry out. `b` may be shorter.
#[inline]
pub(crate) fn add_assign(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let mut carry = 0u64;
    for (x, y) in low.iter_mut().zip(b) {
        let sum = u128::from(*x) + u128::from(*y) + u128::from(carry);
        *x = sum as u64;
        carry = (sum >> 64) as u64;
    }
    for x in high {
        let (sum, overflow) = x.overflowing_add(carry);
        *x = sum;
        carry = u64::from(overflow);
    }
    carry
}

/// `a -= b`; the borrow out. `b` may be shorter.
#[inline]
pub(crate) fn sub_assign(a: &mut [u64], b: &[u64]) -> u64 {
    let (low, high) = a.split_at_mut(b.len().min(a.len()));
    let mut borrow = 0u64;
    for (x, y) in low.iter_mut().zip(b) {
        let (first, b1) = x.overflowing_sub(*y);
        let (second, b2) = first.overflowing_sub(borrow);
        *x = second;
        borrow = u64::from(b1 | b2);
    }
    for x in high {
        let (difference, overflow) = x.overflowing_sub(borrow);
        *x = difference;
        borrow = u64::from(overflow);
    }
    borrow
}

/// `a += b & mask`, the carry out.
#[inline]
pub(crate) fn add_masked(a: &mut [u64], b: &[u64], mask: u64) -> u64 {
    let mut carry = 0u64;
    for (x, y) in a.iter_mut().zip(b) {
        let sum = u128::from(*x) + u128::from(*y & mask) + u128::from(carry);
        *x = sum as u64;
        carry = (sum >> 64) as u64;
    }
    carry
}

/// Subtracts `b` once if `high·2^(64·len) + a ≥ b`; 1 if it was subtracted. The result must fit.
#[inline]
pub(crate) fn subtract_if_not_below(a: &mut [u64], b: &[u64], high: u64) -> u64 {
    let borrow = sub_assign(a, b);
    let below = borrow & !high & 1;
    add_masked(a, b, mask(below));
    1 - below
}

/// `out = a · b`; `out` has as many limbs as both together.
#[inline]
pub(crate) fn multiply(out: &mut [u64], a: &[u64], b: &[u64]) {
    out.fill(0);
    multiply_add(out, a, b);
}

/// `out += a · b`; the carry out of `a.len() + b.len()` limbs.
#[inline]
pub(crate) fn multiply_add(out: &mut [u64], a: &[u64], b: &[u64]) -> u64 {
    let mut pending = 0;
    let pairs = b.chunks_exact(2);
    let last = pairs.remainder();
    for (i, digits) in pairs.enumerate() {
        pending = add_two_rows(&mut out[2 * i..], a, digits[0], digits[1], pending);
    }
    if let [digit] = last {
        let (row, rest) = out[b.len() - 1..].split_at_mut(a.len());
        let carry = add_row(row, a, *digit);
        let (sum, c1) = rest[0].overflowing_add(carry);
        let (sum, c2) = sum.overflowing_add(pending);
        rest[0] = sum;
        pending = u64::from(c1 | c2);
    }
    pending
}

/// `out += a·low + a·high·2^64 + pending·2^(64·a.len())`; the carry out of `a.len() + 2` limbs. The
/// two rows' carries are independent of each other.
#[inline]
fn add_two_rows(out: &mut [u64], a: &[u64], low: u64, high: u64, pending: u64) -> u64 {
    let (row, rest) = out.split_at_mut(a.len());
    let (mut carry_low, mut carry_high, mut previous) = (0u64, 0u64, 0u64);
    for (x, y) in row.iter_mut().zip(a) {
        let first = u128::from(*y) * u128::from(low) + u128::from(*x) + u128::from(carry_low);
        carry_low = (first >> 64) as u64;
        let second = u128::from(previous) * u128::from(high)
            + u128::from(first as u64)
            + u128::from(carry_high);
        carry_high = (second >> 64) as u64;
        *x = second as u64;
        previous = *y;
    }
    let last =
        u128::from(previous) * u128::from(high) + u128::from(rest[0]) + u128::from(carry_high);
    let (sum, o1) = (last as u64).overflowing_add(carry_low);
    let (sum, o2) = sum.overflowing_add(pending);
    rest[0] = sum;
    let (top, o3) = ((last >> 64) as u64).overflowing_add(u64::from(o1) + u64::from(o2));
    let (sum, o4) = rest[1].overflowing_add(top);
    rest[1] = sum;
    u64::from(o3) + u64::from(o4)
}

/// `out = a²`: the products off the diagonal once, doubled, then the diagonal.
#[inline]
pub(crate) fn square(out: &mut [u64], a: &[u64]) {
    out.fill(0);
    for i in 0..a.len() {
        let (row, rest) = out[2 * i + 1..].split_at_mut(a.len() - i - 1);
        rest[0] = add_row(row, &a[i + 1..], a[i]);
    }
    let mut shifted = 0;
    let mut carry = 0u64;
    for (pair, digit) in out.chunks_exact_mut(2).zip(a) {
        let diagonal = u128::from(*digit) * u128::from(*digit);
        let low = (pair[0] << 1) | shifted;
        let high = (pair[1] << 1) | (pair[0] >> 63);
        shifted = pair[1] >> 63;
        let sum = u128::from(low) + u128::from(diagonal as u64) + u128::from(carry);
        pair[0] = sum as u64;
        let sum = u128::from(high) + (diagonal >> 64) + (sum >> 64);
        pair[1] = sum as u64;
        carry = (sum >> 64) as u64;
    }
}

/// `a <<= 1`; the bit shifted out.
#[inline]
pub(crate) fn double(a: &mut [u64]) -> u64 {
    let mut carry = 0;
    for x in a {
        let next = *x >> 63;
        *x = (*x << 1) | carry;
        carry = next;
    }
    carry
}

/// `row += a · digit`; the carry limb.
#[inline]
fn add_row(row: &mut [u64], a: &[u64], digit: u64) -> u64 {
    let mut carry = 0u64;
    for (x, y) in row.iter_mut().zip(a) {
        let sum = u128::from(*y) * u128::from(digit) + u128::from(*x) + u128::from(carry);
        *x = sum as u64;
        carry = (sum >> 64) as u64;
    }
    carry
}

/// `row -= a · digit`; the borrow limb.
#[inline]
pub(crate) fn subtract_row(row: &mut [u64], a: &[u64], digit: u64) -> u64 {
    let mut borrow = 0u64;
    for (x, y) in row.iter_mut().zip(a) {
        let product = u128::from(*y) * u128::from(digit) + u128::from(borrow);
        let (difference, below) = x.overflowing_sub(product as u64);
        *x = difference;
        borrow = ((product >> 64) as u64).wrapping_add(u64::from(below));
    }
    borrow
}

/// Two steps of a reduction: clears `total[0]` and `total[1]` by subtracting multiples of `n` (at
/// least two limbs), less `pending·2^(64·n.len())`. The two digits, and the borrow from beyond
/// `n.len() + 2` limbs.
#[inline]
pub(crate) fn subtract_two_rows(
    total: &mut [u64],
    n: &[u64],
    inverse: u64,
    pending: u64,
) -> ([u64; 2], u64) {
    let low = total[0].wrapping_mul(inverse);
    let product = u128::from(n[0]) * u128::from(low);
    let product = u128::from(n[1]) * u128::from(low) + (product >> 64);
    let (second, below) = total[1].overflowing_sub(product as u64);
    let mut borrow_low = ((product >> 64) as u64).wrapping_add(u64::from(below));
    let high = second.wrapping_mul(inverse);
    let mut borrow_high = ((u128::from(n[0]) * u128::from(high)) >> 64) as u64;
    total[0] = 0;
    total[1] = 0;
    let (row, rest) = total.split_at_mut(n.len());
    for (x, pair) in row[2..].iter_mut().zip(n[1..].windows(2)) {
        let product = u128::from(pair[1]) * u128::from(low) + u128::from(borrow_low);
        let (first, below) = x.overflowing_sub(product as u64);
        borrow_low = ((product >> 64) as u64).wrapping_add(u64::from(below));
        let product = u128::from(pair[0]) * u128::from(high) + u128::from(borrow_high);
        let (second, below) = first.overflowing_sub(product as u64);
        borrow_high = ((product >> 64) as u64).wrapping_add(u64::from(below));
        *x = second;
    }
    let product = u128::from(n[n.len() - 1]) * u128::from(high) + u128::from(borrow_high);
    let (x, b1) = rest[0].overflowing_sub(product as u64);
    let (x, b2) = x.overflowing_sub(borrow_low);
    let (x, b3) = x.overflowing_sub(pending);
    rest[0] = x;
    let (x, b4) = rest[1].overflowing_sub((product >> 64) as u64);
    let (x, b5) = x.overflowing_sub(u64::from(b1) + u64::from(b2) + u64::from(b3));
    rest[1] = x;
    ([low, high], u64::from(b4) + u64::from(b5))
}

/// Copies entry `index` of `table` to `out`, reading every entry. `table` holds entries of
/// `out.len()` limbs, `masks` is scratch of one limb per entry.
#[inline]
pub(crate) fn look_up(out: &mut [u64], table: &[u64], index: u64, masks: &mut [u64]) {
    const BLOCK: usize = 8;
    let length = out.len();
    for (entry, entry_mask) in masks.iter_mut().enumerate() {
        *entry_mask = mask(u64::from((entry as u64).ct_eq(&index).unwrap_u8()));
    }
    for (number, block) in out.chunks_mut(BLOCK).enumerate() {
        let start = number * BLOCK;
        if let Ok(block) = <&mut [u64; BLOCK]>::try_from(&mut *block) {
            let mut chosen = [0u64; BLOCK];
            for (entry, entry_mask) in table.chunks_exact(length).zip(&*masks) {
                for (c, x) in chosen.iter_mut().zip(&entry[start..start + BLOCK]) {
                    *c |= x & entry_mask;
                }
            }
            *block = chosen;
        } else {
            block.fill(0);
            for (entry, entry_mask) in table.chunks_exact(length).zip(&*masks) {
                for (c, x) in block.iter_mut().zip(&entry[start..]) {
                    *c |= x & entry_mask;
                }
            }
        }
    }
}

/// `width` bits of `limbs` from bit `position` on; zero above the top. `width` below 64.
#[inline]
pub(crate) fn digit(limbs: &[u64], position: usize, width: usize) -> u64 {
    let (limb, shift) = (position / 64, position % 64);
    let at = |i: usize| limbs.get(i).copied().unwrap_or(0);
    let mut value = at(limb) >> shift;
    if shift + width > 64 {
        value |= at(limb + 1) << (64 - shift);
    }
    value & ((1 << width) - 1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limbs() -> impl Strategy<Value = Vec<u64>> {
        prop::collection::vec(prop_oneof![any::<u64>(), Just(0), Just(u64::MAX)], 1..20)
    }

    proptest! {
        #[test]
        fn products_and_squares_agree_with_num_bigint(a in limbs(), b in limbs()) {
            let mut out = vec![7; a.len() + b.len()];
            multiply(&mut out, &a, &b);
            prop_assert_eq!(to_biguint(&out), to_biguint(&a) * to_biguint(&b));
            let mut out = vec![7; 2 * a.len()];
            square(&mut out, &a);
            prop_assert_eq!(to_biguint(&out), to_biguint(&a) * to_biguint(&a));
        }

        #[test]
        fn bytes_and_big_numbers_round_trip(a in limbs()) {
            let mut bytes = Vec::new();
            extend_bytes_be(&mut bytes, &a);
            prop_assert_eq!(&from_bytes_be(&bytes)[..], &a[..]);
            prop_assert_eq!(BigUint::from_bytes_be(&bytes), to_biguint(&a));
            prop_assert_eq!(&from_biguint(&to_biguint(&a), a.len())[..], &a[..]);
        }

        #[test]
        fn digits_put_together_are_the_number(a in limbs(), width in 1usize..13) {
            let mut sum = BigUint::ZERO;
            for position in (0..64 * a.len()).step_by(width) {
                sum += BigUint::from(digit(&a, position, width)) << position;
            }
            prop_assert_eq!(sum, to_biguint(&a));
        }

        #[test]
        fn looking_up_finds_the_entry(entry in 0u64..16, length in 1usize..30) {
            let table: Vec<u64> = (0..16 * length as u64).collect();
            let mut out = vec![1; length];
            look_up(&mut out, &table, entry, &mut [0; 16]);
            prop_assert_eq!(&out[..], &table[entry as usize * length..][..length]);
        }
    }
}
