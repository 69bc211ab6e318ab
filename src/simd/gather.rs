//! XORs of blocks that lie scattered in a table, for sparse matrices.
#![allow(unsafe_code)]

/// Blocks of random words behind two rows.
pub const BLOCKS_PER_PAIR: usize = 5;

/// Blocks that a row takes.
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
    for (rows, words) in rows.chunks_mut(GROUP).zip(words.chunks(GROUP / 2 * BLOCKS_PER_PAIR)) {
        let mut places = [0; GROUP * TAKEN];
        let places = places_of(words, length, &mut places);
        let mut ahead = places.iter().skip(AHEAD * TAKEN);
        places.iter().take(AHEAD * TAKEN).for_each(|place| prefetch(table, *place));
        for (row, places) in rows.iter_mut().zip(places.as_chunks::<TAKEN>().0) {
            ahead.by_ref().take(TAKEN).for_each(|place| prefetch(table, *place));
            // SAFETY: all places are in the table: see `places_of`.
            *row ^= unsafe { sum(table, places) };
        }
    }
}

/// Rows whose places are computed together.
const GROUP: usize = 128;

/// Rows whose blocks are under way while one is worked on: more than the processor would look ahead
/// by itself.
const AHEAD: usize = 4;

/// The places that words mean: a word below 2^32 times the length, over 2^32, is below the length.
#[inline]
fn places_of<'a>(words: &[u128], length: u32, places: &'a mut [u32]) -> &'a [u32] {
    for (places, block) in places.as_chunks_mut::<4>().0.iter_mut().zip(words) {
        let (low, high) = (*block as u64, (*block >> 64) as u64);
        let of = |word: u64| ((word * u64::from(length)) >> 32) as u32;
        const LOW: u64 = u32::MAX as u64;
        *places = [of(low & LOW), of(low >> 32), of(high & LOW), of(high >> 32)];
    }
    &places[..4 * words.len()]
}

/// Asks for the block in this place, if the processor has a way to ask.
#[inline]
fn prefetch(table: &[u128], place: u32) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: SSE is part of x86-64, and a prefetch may be of any address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(table.as_ptr().wrapping_add(place as usize).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = (table, place);
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
    #[should_panic(expected = "five blocks for two rows")]
    fn words_that_are_missing_are_noticed() {
        xor_gathered(&mut [0; 4], &[1], &[0; 5]);
    }
}
