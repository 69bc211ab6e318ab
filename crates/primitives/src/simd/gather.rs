//! XORs of blocks that lie scattered in a table, for sparse matrices.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use super::level::Level;

/// Blocks of random words behind two rows.
pub const BLOCKS_PER_PAIR: usize = 5;

/// Blocks per row.
const TAKEN: usize = 10;

/// XORs into every row ten blocks of `table`: word w of 32 bits takes number ⌊w·k / 2³²⌋ of k. Two
/// rows share five blocks of `words`, lowest word first.
///
/// # Panics
/// If there are not five blocks for every two rows, or `table` is empty or has 2³² blocks or more.
pub fn xor_gathered(rows: &mut [u128], table: &[u128], words: &[u128]) {
    let length = u32::try_from(table.len()).unwrap_or(0);
    assert!(length > 0, "a table of 1 to 2^32 - 1 blocks");
    assert_eq!(rows.len() * BLOCKS_PER_PAIR, words.len() * 2, "five blocks for two rows");
    let mut places = [0; GROUP * TAKEN];
    for (rows, words) in rows.chunks_mut(GROUP).zip(words.chunks(GROUP / 2 * BLOCKS_PER_PAIR)) {
        let places = &mut places[..rows.len() * TAKEN];
        places_of(words, length, places);
        for (row, places) in rows.iter_mut().zip(places.as_chunks::<TAKEN>().0) {
            // SAFETY: all places are in the table: see `places_of`.
            *row ^= unsafe { sum(table, places) };
        }
    }
}

/// Rows whose places are computed together. Explicit prefetching only cost time: while it reads a
/// table of some megabytes, the processor looks ahead far enough by itself.
const GROUP: usize = 32;

/// The places that words mean: a word below 2^32 times the length, over 2^32, is below the length.
fn places_of(words: &[u128], length: u32, places: &mut [u32]) {
    #[cfg(target_arch = "x86_64")]
    if Level::in_use() >= Level::Avx2 {
        // SAFETY: a level is in use only where the processor has it.
        return unsafe { places_avx2(words, length, places) };
    }
    for (places, block) in places.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        *places = [0, 32, 64, 96].map(|word| place_of((block >> word) as u32, length));
    }
}

#[inline(always)]
fn place_of(word: u32, length: u32) -> u32 {
    ((u64::from(word) * u64::from(length)) >> 32) as u32
}

/// The same for words in memory order, lowest first, in a loop that the compiler vectorises.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn places_avx2(words: &[u128], length: u32, places: &mut [u32]) {
    // SAFETY: words of 32 bits may be anything and divide blocks in length and alignment.
    let words = unsafe { words.align_to::<u32>().1 };
    for (place, word) in places.iter_mut().zip(words) {
        *place = place_of(*word, length);
    }
}

/// The XOR of the blocks in these places.
///
/// # Safety
/// All places are in the table.
#[cfg(target_arch = "x86_64")]
#[inline]
unsafe fn sum(table: &[u128], places: &[u32; TAKEN]) -> u128 {
    use std::arch::x86_64::{
        __m128i, _mm_load_si128, _mm_setzero_si128, _mm_storeu_si128, _mm_xor_si128,
    };
    let mut total = 0u128;
    // SAFETY: SSE2 is part of x86-64, the places are in the table, whose blocks are aligned to
    // 16 bytes, and `total` has 16 bytes.
    unsafe {
        let block = |place: usize| _mm_load_si128(table.as_ptr().add(place).cast::<__m128i>());
        let mut sum = _mm_setzero_si128();
        for place in places {
            sum = _mm_xor_si128(sum, block(*place as usize));
        }
        _mm_storeu_si128(std::ptr::from_mut(&mut total).cast(), sum);
    }
    total
}

/// The XOR of the blocks in these places.
///
/// # Safety
/// None is needed here; the form for x86-64 reads without checking bounds.
#[cfg(not(target_arch = "x86_64"))]
#[inline]
unsafe fn sum(table: &[u128], places: &[u32; TAKEN]) -> u128 {
    places.iter().fold(0, |sum, place| sum ^ table[*place as usize])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_take_blocks_in_proportion_and_never_one_beyond_the_last() {
        let table: Vec<u128> = (0..3).map(|i| 1 << (8 * i)).collect();
        let mut rows = [0; 2];
        // Nineteen words of zeros take the first block, the last word the last block.
        let mut words = [0; BLOCKS_PER_PAIR];
        words[4] = u128::from(u32::MAX) << 96;
        xor_gathered(&mut rows, &table, &words);
        assert_eq!(rows, [0, 1 | 1 << 16]);
        let third = u128::from(u32::MAX / 3);
        words = [0; BLOCKS_PER_PAIR];
        words[0] = third | (third + 1) << 32;
        rows = [0; 2];
        xor_gathered(&mut rows, &table, &words);
        assert_eq!(rows, [1 | 1 << 8, 0]);
    }

    #[test]
    fn rows_are_the_sums_of_the_blocks_that_their_words_mean() {
        let table: Vec<u128> = (1..=1_000).map(|i: u128| i.wrapping_mul(u128::MAX / 977)).collect();
        let step = 0x9e37_79b9_7f4a_7c15_f39c_0c13_57bd_2469_u128;
        for count in [2, 254, 256, 600] {
            let blocks = count as u128 / 2 * BLOCKS_PER_PAIR as u128;
            let words: Vec<u128> = (1..=blocks).map(|i| i.wrapping_mul(step)).collect();
            let mut rows: Vec<u128> = (0..count as u128).collect();
            xor_gathered(&mut rows, &table, &words);
            for (number, row) in rows.iter().enumerate() {
                let taken = (number * TAKEN..(number + 1) * TAKEN).map(|word| {
                    let word = (words[word / 4] >> (word % 4 * 32)) as u32;
                    table[((u64::from(word) * 1_000) >> 32) as usize]
                });
                assert_eq!(*row, taken.fold(number as u128, |sum, block| sum ^ block));
            }
        }
    }

    #[test]
    #[should_panic(expected = "five blocks for two rows")]
    fn words_that_are_missing_are_noticed() {
        xor_gathered(&mut [0; 4], &[1], &[0; 5]);
    }
}
