//! The kernel for fewer than four gates, in 128-bit registers.

use std::arch::x86_64::*;

use super::vaes::Schedule;

/// Gates that stand alone are a chain of dependent ones: a wide load would wait
/// for the narrow store of the label before it, so these go block by block.
#[target_feature(enable = "aes,sse2")]
pub(super) fn garble_few(
    keys: &Schedule,
    delta: u128,
    first: usize,
    a: &[u128],
    b: &[u128],
    out: &mut [u128],
    tables: &mut [[u8; 32]],
) {
    let delta = block(delta);
    let delta_sigma = sigma_block(delta);
    for (i, table) in tables.iter_mut().enumerate() {
        let (x, y) = (block(a[i]), block(b[i]));
        let tweak = 2 * (first + i) as i64;
        let a0 = _mm_xor_si128(sigma_block(x), _mm_set_epi64x(0, tweak));
        let b0 = _mm_xor_si128(sigma_block(y), _mm_set_epi64x(0, tweak | 1));
        let a1 = _mm_xor_si128(a0, delta_sigma);
        let b1 = _mm_xor_si128(b0, delta_sigma);
        let [a0, a1, b0, b1] = davies_meyer_blocks(keys, [a0, a1, b0, b1]);
        let (mask_a, mask_b) = (pointer_mask_block(x), pointer_mask_block(y));
        let generator = _mm_xor_si128(_mm_xor_si128(a0, a1), _mm_and_si128(mask_b, delta));
        let hashes = _mm_xor_si128(b0, b1);
        let left = _mm_xor_si128(a0, _mm_and_si128(mask_a, generator));
        let right = _mm_xor_si128(b0, _mm_and_si128(mask_b, hashes));
        store_block(std::slice::from_mut(&mut out[i]), _mm_xor_si128(left, right));
        let (low, high) = table.split_at_mut(16);
        store_bytes(low, generator);
        store_bytes(high, _mm_xor_si128(hashes, x));
    }
}

/// See [`garble_few`].
#[target_feature(enable = "aes,sse2")]
pub(super) fn evaluate_few(
    keys: &Schedule,
    first: usize,
    a: &[u128],
    b: &[u128],
    tables: &[[u8; 32]],
    out: &mut [u128],
) {
    for (i, table) in tables.iter().enumerate() {
        let (x, y) = (block(a[i]), block(b[i]));
        let tweak = 2 * (first + i) as i64;
        let hash_a = _mm_xor_si128(sigma_block(x), _mm_set_epi64x(0, tweak));
        let hash_b = _mm_xor_si128(sigma_block(y), _mm_set_epi64x(0, tweak | 1));
        let [hash_a, hash_b] = davies_meyer_blocks(keys, [hash_a, hash_b]);
        let (low, high) = table.split_at(16);
        let left = _mm_and_si128(pointer_mask_block(x), load_bytes(low));
        let right = _mm_and_si128(pointer_mask_block(y), _mm_xor_si128(load_bytes(high), x));
        let label = _mm_xor_si128(_mm_xor_si128(hash_a, hash_b), _mm_xor_si128(left, right));
        store_block(std::slice::from_mut(&mut out[i]), label);
    }
}

#[inline]
#[target_feature(enable = "aes,sse2")]
fn davies_meyer_blocks<const N: usize>(keys: &Schedule, blocks: [__m128i; N]) -> [__m128i; N] {
    let mut result = blocks;
    for block in &mut result {
        *block = _mm_xor_si128(*block, keys.0[0]);
    }
    for key in &keys.0[1..10] {
        for block in &mut result {
            *block = _mm_aesenc_si128(*block, *key);
        }
    }
    for (cipher, block) in result.iter_mut().zip(blocks) {
        *cipher = _mm_xor_si128(_mm_aesenclast_si128(*cipher, keys.0[10]), block);
    }
    result
}

#[inline]
#[target_feature(enable = "sse2")]
fn sigma_block(x: __m128i) -> __m128i {
    let upper = _mm_and_si128(x, _mm_set_epi64x(-1, 0));
    _mm_xor_si128(_mm_shuffle_epi32::<0x4e>(x), upper)
}

/// All ones if the lowest bit is set: every lane's sign after the bit is moved to it.
#[inline]
#[target_feature(enable = "sse2")]
fn pointer_mask_block(x: __m128i) -> __m128i {
    _mm_shuffle_epi32::<0>(_mm_srai_epi32::<31>(_mm_slli_epi32::<31>(x)))
}

#[inline]
#[target_feature(enable = "sse2")]
fn block(x: u128) -> __m128i {
    load_bytes(&x.to_le_bytes())
}

#[inline]
#[target_feature(enable = "sse2")]
fn load_bytes(from: &[u8]) -> __m128i {
    assert!(from.len() == 16);
    // SAFETY: there are 16 bytes.
    unsafe { _mm_loadu_si128(from.as_ptr().cast()) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn store_bytes(to: &mut [u8], value: __m128i) {
    assert!(to.len() == 16);
    // SAFETY: there are 16 bytes.
    unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), value) }
}

#[inline]
#[target_feature(enable = "sse2")]
fn store_block(to: &mut [u128], value: __m128i) {
    assert!(!to.is_empty());
    // SAFETY: there is room for a block.
    unsafe { _mm_storeu_si128(to.as_mut_ptr().cast(), value) }
}
