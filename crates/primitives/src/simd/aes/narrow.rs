//! The kernel for processors with AES-NI: one block per register. The other kernels use it for
//! fewer than four gates: these form a chain of dependent gates, in which a wide load would wait
//! for the narrow store of the label before it.

use super::arch::*;
use super::kernel::{ROUND_CONSTANTS, Schedule, kernel};

type Vector = __m128i;
const BLOCKS: usize = 1;
const REGISTERS: usize = 2;

kernel!("aes,ssse3");

/// The round keys of one key, for all kernels.
#[target_feature(enable = "aes,ssse3")]
pub(super) fn schedule(key: u128) -> Schedule {
    let mut now = broadcast(key);
    let mut all = Schedule([now; 11]);
    for (round, constant) in all.0[1..].iter_mut().zip(ROUND_CONSTANTS) {
        now = next_key(now, broadcast(constant));
        *round = now;
    }
    all
}

/// The next round key. The last word, turned by a byte and in all four columns, is not changed by
/// the shifting of rows; so the last round of AES substitutes its bytes and adds the constant.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn next_key(key: Vector, constant: Vector) -> Vector {
    let last_word_turned = _mm_shuffle_epi8(key, _mm_set1_epi32(0x0c0f_0e0d));
    let word = encrypt_last(last_word_turned, constant);
    let sums = xor(key, _mm_slli_si128::<4>(key));
    xor(xor(sums, _mm_slli_si128::<8>(sums)), word)
}

#[inline]
#[target_feature(enable = "aes,ssse3")]
fn zero() -> Vector {
    _mm_setzero_si128()
}

/// The same block in all lanes.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn broadcast(x: u128) -> Vector {
    load(&[x])
}

/// The same block in all lanes.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn repeat(block: __m128i) -> Vector {
    block
}

/// (start, start + step, …) in the lanes' low halves.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn numbers(start: u64, _step: u64) -> Vector {
    _mm_set_epi64x(0, start.cast_signed())
}

/// Reads a block.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn load(from: &[u128]) -> Vector {
    assert!(!from.is_empty());
    // SAFETY: there is a block.
    unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
}

/// Writes a block.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn store(to: &mut [u128], value: Vector) {
    assert!(!to.is_empty());
    // SAFETY: there is room for a block.
    unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), value) }
}

/// Reads the rows of a gate: the generator's and the evaluator's.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn load_rows(from: &[[u8; 32]]) -> (Vector, Vector) {
    assert!(!from.is_empty());
    let from: *const __m128i = from.as_ptr().cast();
    // SAFETY: a gate's rows are two blocks.
    unsafe { (_mm_loadu_si128(from), _mm_loadu_si128(from.add(1))) }
}

/// Writes the rows of a gate.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn store_rows(to: &mut [[u8; 32]], generator: Vector, evaluator: Vector) {
    assert!(!to.is_empty());
    let to: *mut __m128i = to.as_mut_ptr().cast();
    // SAFETY: a gate's rows are two blocks.
    unsafe {
        _mm_storeu_si128(to, generator);
        _mm_storeu_si128(to.add(1), evaluator);
    }
}

#[inline]
#[target_feature(enable = "aes,ssse3")]
fn xor(a: Vector, b: Vector) -> Vector {
    _mm_xor_si128(a, b)
}

#[inline]
#[target_feature(enable = "aes,ssse3")]
fn and(a: Vector, b: Vector) -> Vector {
    _mm_and_si128(a, b)
}

/// The sums of the halves.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn add(a: Vector, b: Vector) -> Vector {
    _mm_add_epi64(a, b)
}

#[inline]
#[target_feature(enable = "aes,ssse3")]
fn encrypt_round(block: Vector, key: Vector) -> Vector {
    _mm_aesenc_si128(block, key)
}

#[inline]
#[target_feature(enable = "aes,ssse3")]
fn encrypt_last(block: Vector, key: Vector) -> Vector {
    _mm_aesenclast_si128(block, key)
}

/// σ(l ‖ r) = (l ⊕ r) ‖ l in every lane; l is the upper half.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn sigma(x: Vector) -> Vector {
    let upper = _mm_and_si128(x, _mm_set_epi64x(-1, 0));
    _mm_xor_si128(_mm_shuffle_epi32::<0x4e>(x), upper)
}

/// All ones if the lowest bit is set: every word's sign after the bit is moved to it.
#[inline]
#[target_feature(enable = "aes,ssse3")]
fn pointer_mask(x: Vector) -> Vector {
    _mm_shuffle_epi32::<0>(_mm_srai_epi32::<31>(_mm_slli_epi32::<31>(x)))
}
