//! Transposes 128 × 128 bits, for extended oblivious transfers.
#![allow(unsafe_code)]

use super::level::Level;

/// A square of bits: bit j of word i is row i, column j.
pub type Square = [u128; 128];

/// Swaps rows and columns.
pub fn transpose(square: &mut Square) {
    match Level::in_use() {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level in use is available, so the processor has AVX-512 F, BW and VL.
        Level::Avx512 => unsafe { transpose_avx512(square) },
        #[cfg(target_arch = "x86_64")]
        // SAFETY: the level in use is available, so the processor has AVX2.
        Level::Avx2 => unsafe { transpose_avx2(square) },
        _ => transpose_portable(square),
    }
}

/// The vector instructions that [`transpose`] uses on this processor, if any.
pub fn instructions() -> Option<&'static str> {
    match Level::in_use() {
        Level::Avx512 => Some("AVX-512 F, BW and VL"),
        Level::Avx2 => Some("AVX2"),
        _ => None,
    }
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl")]
fn transpose_avx512(square: &mut Square) {
    transpose_portable(square);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn transpose_avx2(square: &mut Square) {
    transpose_portable(square);
}

/// Eklundh's method: swap the off-diagonal quarters, then do the same in each
/// quarter. Written so that the compiler turns the inner loops into vectors.
#[inline(always)]
fn transpose_portable(square: &mut Square) {
    let mut halves = [[0u64; 2]; 128];
    for (half, word) in halves.iter_mut().zip(square.iter()) {
        *half = [*word as u64, (*word >> 64) as u64];
    }
    let (upper, lower) = halves.split_at_mut(64);
    for (a, b) in upper.iter_mut().zip(lower) {
        std::mem::swap(&mut a[1], &mut b[0]);
    }
    stage::<32>(&mut halves, 0x0000_0000_ffff_ffff);
    stage::<16>(&mut halves, 0x0000_ffff_0000_ffff);
    stage::<8>(&mut halves, 0x00ff_00ff_00ff_00ff);
    stage::<4>(&mut halves, 0x0f0f_0f0f_0f0f_0f0f);
    stage::<2>(&mut halves, 0x3333_3333_3333_3333);
    stage::<1>(&mut halves, 0x5555_5555_5555_5555);
    for (word, half) in square.iter_mut().zip(&halves) {
        *word = u128::from(half[0]) | u128::from(half[1]) << 64;
    }
}

#[inline(always)]
fn stage<const DISTANCE: usize>(halves: &mut [[u64; 2]; 128], mask: u64) {
    for group in halves.chunks_exact_mut(2 * DISTANCE) {
        let (upper, lower) = group.split_at_mut(DISTANCE);
        for (a, b) in upper.as_flattened_mut().iter_mut().zip(lower.as_flattened_mut()) {
            let swapped = ((*a >> DISTANCE) ^ *b) & mask;
            *a ^= swapped << DISTANCE;
            *b ^= swapped;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_moves_to_its_mirror_place_on_every_kernel() {
        let mut state = 7u128;
        let square: Square = std::array::from_fn(|_| {
            state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645) + 99;
            state
        });
        for kernel in [transpose, transpose_portable] {
            let mut turned = square;
            kernel(&mut turned);
            for (i, row) in square.iter().enumerate() {
                for (j, column) in turned.iter().enumerate() {
                    assert_eq!(row >> j & 1, column >> i & 1);
                }
            }
        }
    }
}
