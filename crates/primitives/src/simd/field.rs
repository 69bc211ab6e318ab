//! The field with 2^128 elements, for vector OLE: bit i of a block is the coefficient of x^i,
//! modulo x^128 + x^7 + x^2 + x + 1. A sum is an XOR. No branch and no address depends on elements.
//!
//! ```
//! use diptych_primitives::simd::field::{multiply, multiply_portable};
//!
//! assert_eq!(multiply(1 << 127, 2), 0x87, "x^127 times x");
//! let (a, b, c) = (12345 << 100, u128::MAX / 7, 99);
//! assert_eq!(multiply(a, b ^ c), multiply(a, b) ^ multiply(a, c));
//! assert_eq!(multiply(a, b), multiply_portable(a, b), "whatever the processor has");
//! ```
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64 as arch;

#[cfg(target_arch = "x86_64")]
use super::level::Level;

/// x^128 modulo the polynomial.
const TAIL: u64 = 0x87;

/// Whether the processor has carry-less multiplication and the level in use allows it.
#[cfg(target_arch = "x86_64")]
fn carryless() -> bool {
    Level::in_use() >= Level::Aes && is_x86_feature_detected!("pclmulqdq")
}

#[cfg(not(target_arch = "x86_64"))]
fn carryless() -> bool {
    false
}

/// The vector instructions that this processor multiplies with, if any.
pub fn instructions() -> Option<&'static str> {
    carryless().then_some("PCLMULQDQ")
}

/// a·b.
pub fn multiply(a: u128, b: u128) -> u128 {
    let mut product = [0];
    add_products(&mut product, &[a], b);
    product[0]
}

/// a·b without vector instructions.
pub fn multiply_portable(a: u128, b: u128) -> u128 {
    let [low, high] = product_portable(a, b);
    reduce_portable(low, high)
}

/// a·x.
pub fn times_x(a: u128) -> u128 {
    a << 1 ^ u128::from(TAIL) & (a >> 127).wrapping_neg()
}

/// Adds `by` times each element of `from` to the element of `to` at the same index.
///
/// # Panics
/// If they differ in length.
pub fn add_products(to: &mut [u128], from: &[u128], by: u128) {
    assert_eq!(to.len(), from.len(), "one element each");
    #[cfg(target_arch = "x86_64")]
    if carryless() {
        // SAFETY: the processor has the instruction that the function is compiled for.
        return unsafe { add_products_carryless(to, from, by) };
    }
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= multiply_portable(*from, by);
    }
}

/// Adds to every row the sum of as many elements of `table`, each times a coefficient, as there are
/// places for it: rows have the same number of `places` and `coefficients`, row by row.
///
/// # Panics
/// If there are not as many coefficients as places, not the same number for each row, or a place is not
/// in the table.
pub fn add_gathered(rows: &mut [u128], table: &[u128], places: &[u32], coefficients: &[u128]) {
    let weight = places.len() / rows.len().max(1);
    assert!(
        places.len() == coefficients.len() && places.len() == weight * rows.len(),
        "as many for every row"
    );
    if weight == 0 {
        return;
    }
    #[cfg(target_arch = "x86_64")]
    if carryless() {
        // SAFETY: the processor has the instruction that the function is compiled for.
        return unsafe { add_gathered_carryless(rows, table, places, coefficients, weight) };
    }
    let parts = places.chunks_exact(weight).zip(coefficients.chunks_exact(weight));
    for (row, (places, coefficients)) in rows.iter_mut().zip(parts) {
        let (mut low, mut high) = (0, 0);
        for (place, coefficient) in places.iter().zip(coefficients) {
            let [l, h] = product_portable(table[*place as usize], *coefficient);
            (low, high) = (low ^ l, high ^ h);
        }
        *row ^= reduce_portable(low, high);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq,sse2")]
fn add_products_carryless(to: &mut [u128], from: &[u128], by: u128) {
    let by = load(&by);
    for (to, from) in to.iter_mut().zip(from) {
        let [low, middle, high] = product(load(from), by);
        *to ^= reduce(low, middle, high);
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "pclmulqdq,sse2")]
fn add_gathered_carryless(
    rows: &mut [u128],
    table: &[u128],
    places: &[u32],
    coefficients: &[u128],
    weight: usize,
) {
    let parts = places.chunks_exact(weight).zip(coefficients.chunks_exact(weight));
    for (row, (places, coefficients)) in rows.iter_mut().zip(parts) {
        let mut sum = [arch::_mm_setzero_si128(); 3];
        for (place, coefficient) in places.iter().zip(coefficients) {
            let parts = product(load(&table[*place as usize]), load(coefficient));
            for (sum, part) in sum.iter_mut().zip(parts) {
                *sum = arch::_mm_xor_si128(*sum, part);
            }
        }
        let [low, middle, high] = sum;
        *row ^= reduce(low, middle, high);
    }
}

#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "sse2")]
fn load(block: &u128) -> arch::__m128i {
    // SAFETY: the pointer is to 16 bytes.
    unsafe { arch::_mm_loadu_si128(std::ptr::from_ref(block).cast()) }
}

/// The product before reduction: its parts at x^0, x^64 and x^128.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "pclmulqdq,sse2")]
fn product(a: arch::__m128i, b: arch::__m128i) -> [arch::__m128i; 3] {
    use arch::{_mm_clmulepi64_si128, _mm_xor_si128};
    let middle =
        _mm_xor_si128(_mm_clmulepi64_si128::<0x01>(a, b), _mm_clmulepi64_si128::<0x10>(a, b));
    [_mm_clmulepi64_si128::<0x00>(a, b), middle, _mm_clmulepi64_si128::<0x11>(a, b)]
}

/// The sum of the parts at x^0, x^64 and x^128, modulo the polynomial.
#[cfg(target_arch = "x86_64")]
#[inline]
#[target_feature(enable = "pclmulqdq,sse2")]
fn reduce(low: arch::__m128i, middle: arch::__m128i, high: arch::__m128i) -> u128 {
    use arch::{
        _mm_clmulepi64_si128, _mm_set_epi64x, _mm_slli_si128, _mm_srli_si128, _mm_storeu_si128,
        _mm_xor_si128,
    };
    let tail = _mm_set_epi64x(0, TAIL.cast_signed());
    let low = _mm_xor_si128(low, _mm_slli_si128::<8>(middle));
    let high = _mm_xor_si128(high, _mm_srli_si128::<8>(middle));
    // The highest 64 bits are reduced to x^64, and what exceeds x^128 then is reduced with the rest
    // to x^0.
    let upper = _mm_clmulepi64_si128::<0x01>(high, tail);
    let low = _mm_xor_si128(low, _mm_slli_si128::<8>(upper));
    let high = _mm_xor_si128(high, _mm_srli_si128::<8>(upper));
    let low = _mm_xor_si128(low, _mm_clmulepi64_si128::<0x00>(high, tail));
    let mut reduced = 0u128;
    // SAFETY: the pointer is to 16 bytes.
    unsafe { _mm_storeu_si128(std::ptr::from_mut(&mut reduced).cast(), low) };
    reduced
}

/// The product before it is reduced, its lower and its upper half (Karatsuba).
fn product_portable(a: u128, b: u128) -> [u128; 2] {
    let ([a0, a1], [b0, b1]) = ([a, a >> 64].map(|x| x as u64), [b, b >> 64].map(|x| x as u64));
    let (low, high) = (carryless_portable(a0, b0), carryless_portable(a1, b1));
    let middle = carryless_portable(a0 ^ a1, b0 ^ b1) ^ low ^ high;
    [low ^ middle << 64, high ^ middle >> 64]
}

fn reduce_portable(low: u128, high: u128) -> u128 {
    // h·(x^7 + x^2 + x + 1), and once more for its part beyond x^128.
    let folded = |h: u128| h ^ h << 1 ^ h << 2 ^ h << 7;
    let beyond = high >> 127 ^ high >> 126 ^ high >> 121;
    low ^ folded(high) ^ folded(beyond)
}

/// Multiplies polynomials with integer multiplications: only every fifth bit is used at a time, so
/// that no sum of at most thirteen bits carries into the next bit that is used.
fn carryless_portable(a: u64, b: u64) -> u128 {
    const EVERY_FIFTH: u128 = {
        let (mut mask, mut bit) = (0, 0);
        while bit < 128 {
            mask |= 1 << bit;
            bit += 5;
        }
        mask
    };
    let part = |x: u64, i: u32| x & (EVERY_FIFTH << i) as u64;
    let mut product = 0;
    for i in 0..5 {
        for j in 0..5 {
            let at = (i + j) % 5;
            product ^= (u128::from(part(a, i)) * u128::from(part(b, j))) & (EVERY_FIFTH << at);
        }
    }
    product
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One bit at a time, as the definition says.
    fn slowly(a: u128, b: u128) -> u128 {
        (0..128).rev().fold(0, |sum, bit| times_x(sum) ^ (a * (b >> bit & 1)))
    }

    fn mixed(seed: u128) -> u128 {
        let x = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c835);
        (x ^ x >> 61).wrapping_mul(0xda94_2042_e4dd_58b5_2545_f491_4f6c_dd1d)
    }

    fn elements() -> Vec<u128> {
        let ends = [0, 1, 2, TAIL.into(), 1 << 63, 1 << 64, 1 << 127, u128::MAX];
        ends.into_iter().chain((1..20).map(mixed)).collect()
    }

    #[test]
    fn products_are_those_of_the_definition_with_and_without_vectors() {
        for a in elements() {
            for b in elements() {
                let due = slowly(a, b);
                assert_eq!((multiply(a, b), multiply_portable(a, b)), (due, due), "{a:x} {b:x}");
            }
        }
    }

    #[test]
    fn it_is_a_field() {
        // x^(2^128) = x, and x^((2^128 - 1)/p) is not 1 for a prime factor p: some element is a
        // generator, and the polynomial is irreducible.
        let power = |a: u128, mut exponent: u128| {
            let (mut result, mut square) = (1, a);
            while exponent > 0 {
                if exponent & 1 == 1 {
                    result = multiply(result, square);
                }
                square = multiply(square, square);
                exponent >>= 1;
            }
            result
        };
        let primes: [u128; 9] =
            [3, 5, 17, 257, 641, 65_537, 274_177, 6_700_417, 67_280_421_310_721];
        assert_eq!(primes.iter().fold(1u128, |product, p| product.wrapping_mul(*p)), u128::MAX);
        let generates = |a: &u128| {
            power(*a, u128::MAX) == 1 && primes.iter().all(|p| power(*a, u128::MAX / p) != 1)
        };
        assert!((2..40).any(|a| generates(&a)));
    }

    #[test]
    fn gathered_rows_are_sums_of_products() {
        let table: Vec<u128> = (100..117).map(mixed).collect();
        let places: Vec<u32> = (0..35).map(|i| i * i % 17).collect();
        let coefficients: Vec<u128> = (200..235).map(mixed).collect();
        let mut rows = [7, 8, 9, 10, 11];
        add_gathered(&mut rows, &table, &places, &coefficients);
        for (number, row) in rows.into_iter().enumerate() {
            let due = (7 * number..7 * number + 7).fold(7 + number as u128, |sum, i| {
                sum ^ slowly(table[places[i] as usize], coefficients[i])
            });
            assert_eq!(row, due);
        }
        add_gathered(&mut rows, &table, &[], &[]);
        add_gathered(&mut [], &table, &[], &[]);
    }

    #[test]
    #[should_panic(expected = "as many for every row")]
    fn rows_with_a_coefficient_too_few_are_noticed() {
        add_gathered(&mut [0; 2], &[1], &[0; 4], &[1; 3]);
    }
}
