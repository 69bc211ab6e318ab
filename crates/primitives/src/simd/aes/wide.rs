//! The kernel for processors with VAES and AVX2: two blocks to a register.

use super::arch::*;
use super::kernel::{Schedule, kernel};

type Vector = __m256i;
const BLOCKS: usize = 2;
const REGISTERS: usize = 2;

kernel!("vaes,avx2");

#[inline]
#[target_feature(enable = "vaes,avx2")]
fn zero() -> Vector {
    _mm256_setzero_si256()
}

/// The same block in all lanes.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn broadcast(x: u128) -> Vector {
    repeat(_mm_set_epi64x((x >> 64) as i64, x as i64))
}

/// The same block in all lanes.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn repeat(block: __m128i) -> Vector {
    _mm256_broadcastsi128_si256(block)
}

/// (start, start + step, …) in the lanes' low halves.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn numbers(start: u64, step: u64) -> Vector {
    _mm256_setr_epi64x(start.cast_signed(), 0, start.wrapping_add(step).cast_signed(), 0)
}

/// Reads two blocks, or one with the other lane zero.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn load(from: &[u128]) -> Vector {
    match from {
        [] => zero(),
        // SAFETY: there is a block.
        [one] => unsafe { _mm256_zextsi128_si256(_mm_loadu_si128(std::ptr::from_ref(one).cast())) },
        // SAFETY: there are two blocks.
        two => unsafe { _mm256_loadu_si256(two.as_ptr().cast()) },
    }
}

/// Writes as many of the two blocks as there is room for.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn store(to: &mut [u128], value: Vector) {
    match to {
        [] => (),
        // SAFETY: there is room for a block.
        [one] => unsafe {
            _mm_storeu_si128(std::ptr::from_mut(one).cast(), _mm256_castsi256_si128(value));
        },
        // SAFETY: there is room for two blocks.
        two => unsafe { _mm256_storeu_si256(two.as_mut_ptr().cast(), value) },
    }
}

/// Reads the rows of two gates, or of one with the other lanes zero: the generator's and the
/// evaluator's.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn load_rows(from: &[[u8; 32]]) -> (Vector, Vector) {
    let (first, second) = (load_row(from.first()), load_row(from.get(1)));
    (
        _mm256_permute2x128_si256::<0x20>(first, second),
        _mm256_permute2x128_si256::<0x31>(first, second),
    )
}

/// The rows of one gate, or zeros.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn load_row(from: Option<&[u8; 32]>) -> Vector {
    match from {
        // SAFETY: the rows of a gate are 32 bytes.
        Some(row) => unsafe { _mm256_loadu_si256(row.as_ptr().cast()) },
        None => zero(),
    }
}

/// Writes the rows of two gates, or of one.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn store_rows(to: &mut [[u8; 32]], generator: Vector, evaluator: Vector) {
    let first = _mm256_permute2x128_si256::<0x20>(generator, evaluator);
    let second = _mm256_permute2x128_si256::<0x31>(generator, evaluator);
    for (row, value) in to.iter_mut().zip([first, second]) {
        // SAFETY: the rows of a gate are 32 bytes.
        unsafe { _mm256_storeu_si256(row.as_mut_ptr().cast(), value) };
    }
}

#[inline]
#[target_feature(enable = "vaes,avx2")]
fn xor(a: Vector, b: Vector) -> Vector {
    _mm256_xor_si256(a, b)
}

#[inline]
#[target_feature(enable = "vaes,avx2")]
fn and(a: Vector, b: Vector) -> Vector {
    _mm256_and_si256(a, b)
}

/// The sums of the halves.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn add(a: Vector, b: Vector) -> Vector {
    _mm256_add_epi64(a, b)
}

#[inline]
#[target_feature(enable = "vaes,avx2")]
fn encrypt_round(block: Vector, key: Vector) -> Vector {
    _mm256_aesenc_epi128(block, key)
}

#[inline]
#[target_feature(enable = "vaes,avx2")]
fn encrypt_last(block: Vector, key: Vector) -> Vector {
    _mm256_aesenclast_epi128(block, key)
}

/// σ(l ‖ r) = (l ⊕ r) ‖ l in every lane; l is the upper half.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn sigma(x: Vector) -> Vector {
    let upper = _mm256_blend_epi32::<0b1100_1100>(zero(), x);
    _mm256_xor_si256(_mm256_shuffle_epi32::<0x4e>(x), upper)
}

/// All ones in every lane whose lowest bit is set.
#[inline]
#[target_feature(enable = "vaes,avx2")]
fn pointer_mask(x: Vector) -> Vector {
    _mm256_shuffle_epi32::<0>(_mm256_srai_epi32::<31>(_mm256_slli_epi32::<31>(x)))
}
