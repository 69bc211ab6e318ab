//! The kernel for processors with VAES and AVX-512: four blocks to a register.

use super::arch::*;
use super::kernel::{Schedule, kernel};

type Vector = __m512i;
const BLOCKS: usize = 4;
const REGISTERS: usize = 1;

kernel!("vaes,avx512f,avx512bw,avx512vl");

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn zero() -> Vector {
    _mm512_setzero_si512()
}

/// The same block in all lanes.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn broadcast(x: u128) -> Vector {
    repeat(_mm_set_epi64x((x >> 64) as i64, x as i64))
}

/// The same block in all lanes.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn repeat(block: __m128i) -> Vector {
    _mm512_broadcast_i32x4(block)
}

/// (start, start + step, …) in the lanes' low halves.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn numbers(start: u64, step: u64) -> Vector {
    let at = |lane: u64| start.wrapping_add(lane.wrapping_mul(step)).cast_signed();
    _mm512_setr_epi64(at(0), 0, at(1), 0, at(2), 0, at(3), 0)
}

/// Reads four blocks, or fewer with the other lanes zero.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn load(from: &[u128]) -> Vector {
    let mask = ((1u32 << (2 * from.len().min(4))) - 1) as u8;
    // SAFETY: the mask covers only what the slice has.
    unsafe { _mm512_maskz_loadu_epi64(mask, from.as_ptr().cast()) }
}

/// Writes as many of the four blocks as there is room for.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn store(to: &mut [u128], value: Vector) {
    let mask = ((1u32 << (2 * to.len().min(4))) - 1) as u8;
    // SAFETY: the mask covers only what the slice has.
    unsafe { _mm512_mask_storeu_epi64(to.as_mut_ptr().cast(), mask, value) }
}

/// Reads the rows of four gates, or of fewer with the other lanes zero: the generator's and the
/// evaluator's.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn load_rows(from: &[[u8; 32]]) -> (Vector, Vector) {
    let (low, high) = from.split_at(from.len().min(2));
    let (first, second) = (load_two_rows(low), load_two_rows(high));
    let generators = _mm512_setr_epi64(0, 1, 4, 5, 8, 9, 12, 13);
    let evaluators = _mm512_setr_epi64(2, 3, 6, 7, 10, 11, 14, 15);
    (
        _mm512_permutex2var_epi64(first, generators, second),
        _mm512_permutex2var_epi64(first, evaluators, second),
    )
}

/// Reads the rows of two gates, or of fewer with the other lanes zero.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn load_two_rows(from: &[[u8; 32]]) -> Vector {
    let mask = ((1u32 << (4 * from.len().min(2))) - 1) as u8;
    // SAFETY: the mask covers only what the slice has.
    unsafe { _mm512_maskz_loadu_epi64(mask, from.as_ptr().cast()) }
}

/// Writes the rows of four gates, or of fewer.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn store_rows(to: &mut [[u8; 32]], generator: Vector, evaluator: Vector) {
    let low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    let high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    for (two, order) in to.chunks_mut(2).zip([low, high]) {
        let mask = ((1u32 << (4 * two.len())) - 1) as u8;
        let rows = _mm512_permutex2var_epi64(generator, order, evaluator);
        // SAFETY: the mask covers only what the slice has.
        unsafe { _mm512_mask_storeu_epi64(two.as_mut_ptr().cast(), mask, rows) };
    }
}

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn xor(a: Vector, b: Vector) -> Vector {
    _mm512_xor_si512(a, b)
}

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn and(a: Vector, b: Vector) -> Vector {
    _mm512_and_si512(a, b)
}

/// The sums of the halves.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn add(a: Vector, b: Vector) -> Vector {
    _mm512_add_epi64(a, b)
}

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn encrypt_round(block: Vector, key: Vector) -> Vector {
    _mm512_aesenc_epi128(block, key)
}

#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn encrypt_last(block: Vector, key: Vector) -> Vector {
    _mm512_aesenclast_epi128(block, key)
}

/// σ(l ‖ r) = (l ⊕ r) ‖ l in every lane; l is the upper half.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn sigma(x: Vector) -> Vector {
    let swapped = _mm512_shuffle_epi32::<0x4e>(x);
    let upper = _mm512_maskz_mov_epi64(0b1010_1010, x);
    _mm512_xor_si512(swapped, upper)
}

/// All ones in every lane whose lowest bit is set.
#[inline]
#[target_feature(enable = "vaes,avx512f,avx512bw,avx512vl")]
fn pointer_mask(x: Vector) -> Vector {
    let spread = _mm512_srai_epi64::<63>(_mm512_slli_epi64::<63>(x));
    _mm512_shuffle_epi32::<0x44>(spread)
}
