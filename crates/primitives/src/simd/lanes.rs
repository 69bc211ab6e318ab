//! Words over Z_{2^32} or Z_{2^64} in blocks of 128 bits, added lane by lane.
//!
//! The loops are plain, and the compiler turns them into vectors of the width that the processor
//! has. No branch and no address depends on words or on the row that is selected: the selecting
//! mask is hidden from the compiler, which would otherwise turn it into a jump or a choice of
//! addresses (seen in the machine code of an earlier version).
#![allow(unsafe_code)]

use std::hint::black_box;

use super::level::Level;

/// The length of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lane {
    /// Four words in a block.
    Bits32,
    /// Two words in a block.
    Bits64,
}

impl Lane {
    /// The shorter length that holds words of `bits` bits.
    pub fn for_bits(bits: u32) -> Self {
        if bits <= 32 { Self::Bits32 } else { Self::Bits64 }
    }

    /// Words in a block.
    pub fn words_per_block(self) -> usize {
        match self {
            Self::Bits32 => 4,
            Self::Bits64 => 2,
        }
    }

    /// Word number `index`: the lowest bits of a block come first.
    ///
    /// # Panics
    /// If it is not in `blocks`.
    pub fn word(self, blocks: &[u128], index: usize) -> u64 {
        match self {
            Self::Bits32 => u64::from((blocks[index / 4] >> (index % 4 * 32)) as u32),
            Self::Bits64 => (blocks[index / 2] >> (index % 2 * 64)) as u64,
        }
    }

    /// Blocks with these words, reduced to the lane's length; the last block is padded with 0.
    pub fn pack(self, words: &[u64], blocks: &mut Vec<u128>) {
        blocks.clear();
        blocks.extend(words.chunks(self.words_per_block()).map(|words| match self {
            Self::Bits32 => words.iter().rev().fold(0, |b, w| b << 32 | u128::from(*w as u32)),
            Self::Bits64 => words.iter().rev().fold(0, |b, w| b << 64 | u128::from(*w)),
        }));
    }
}

/// Adds `blocks` to `rows` index by index, and every row of `blocks` to `total`, which is one row
/// long.
///
/// # Panics
/// If `rows` and `blocks` differ in length or are not whole rows.
pub fn add_rows(lane: Lane, rows: &mut [u128], total: &mut [u128], blocks: &[u128]) {
    assert!(rows.len() == blocks.len() && blocks.len().is_multiple_of(total.len().max(1)));
    match lane {
        Lane::Bits32 => dispatch_add::<u32>(words_mut(rows), words_mut(total), words(blocks)),
        Lane::Bits64 => dispatch_add::<u64>(words_mut(rows), words_mut(total), words(blocks)),
    }
}

/// Adds `blocks` to row number `row` of `rows`, in the same time whichever row it is.
///
/// # Panics
/// If `rows` are not whole rows.
pub fn add_to_row(lane: Lane, rows: &mut [u128], row: u32, blocks: &[u128]) {
    assert!(rows.len().is_multiple_of(blocks.len().max(1)));
    match lane {
        Lane::Bits32 => dispatch_select::<u32>(words_mut(rows), row, words(blocks)),
        Lane::Bits64 => dispatch_select::<u64>(words_mut(rows), row, words(blocks)),
    }
}

/// XORs `value` into the block at `place`, if there is one, in the same time whichever it is.
pub fn xor_into(blocks: &mut [u128], place: u32, value: u128) {
    if blocks.len() <= SPREAD {
        for (number, block) in (0u32..).zip(blocks) {
            *block ^= value & u128::from(equal(number, place)).wrapping_neg();
        }
        return;
    }
    // The value at its position within a part; only the right part gets it.
    let mut spread = [0; SPREAD];
    xor_into(&mut spread, place % SPREAD as u32, value);
    for (number, part) in (0u32..).zip(blocks.chunks_mut(SPREAD)) {
        let selected = u128::from(equal(number, place / SPREAD as u32)).wrapping_neg();
        xor_masked(part, &spread, selected);
    }
}

/// Clears the lowest bit of every block, then XORs the first value into the block at `place` and the
/// second into its neighbour, at `place` ^ 1, in the same time whichever they are. Both must be there.
pub fn clear_and_xor_into(blocks: &mut [u128], place: u32, [value, neighbour]: [u128; 2]) {
    let mut spread = [0; SPREAD];
    xor_into(&mut spread, place % SPREAD as u32, value);
    xor_into(&mut spread, (place ^ 1) % SPREAD as u32, neighbour);
    for (number, part) in (0u32..).zip(blocks.chunks_mut(SPREAD)) {
        let selected = u128::from(equal(number, place / SPREAD as u32)).wrapping_neg();
        clear_and_xor_masked(part, &spread, selected);
    }
}

/// Clears the lowest bits of `to` and XORs `from & mask` into it.
fn clear_and_xor_masked(to: &mut [u128], from: &[u128], mask: u128) {
    #[cfg(target_arch = "x86_64")]
    if Level::in_use() >= Level::Avx2 {
        // SAFETY: a level is in use only where the processor has it.
        return unsafe { clear_and_xor_avx2(to, from, mask) };
    }
    clear_and_xor_portable(to, from, mask);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn clear_and_xor_avx2(to: &mut [u128], from: &[u128], mask: u128) {
    clear_and_xor_portable(to, from, mask);
}

#[inline(always)]
fn clear_and_xor_portable(to: &mut [u128], from: &[u128], mask: u128) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = *to & !1 ^ from & mask;
    }
}

/// Blocks of a part of [`xor_into`].
const SPREAD: usize = 64;

/// XORs `from` into `to`, place by place.
///
/// # Panics
/// If they differ in length.
pub fn xor(to: &mut [u128], from: &[u128]) {
    assert_eq!(to.len(), from.len());
    xor_masked(to, from, u128::MAX);
}

/// XORs `from & mask` into `to`.
fn xor_masked(to: &mut [u128], from: &[u128], mask: u128) {
    #[cfg(target_arch = "x86_64")]
    if Level::in_use() >= Level::Avx2 {
        // SAFETY: a level is in use only where the processor has it.
        return unsafe { xor_avx2(to, from, mask) };
    }
    xor_portable(to, from, mask);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn xor_avx2(to: &mut [u128], from: &[u128], mask: u128) {
    xor_portable(to, from, mask);
}

#[inline(always)]
fn xor_portable(to: &mut [u128], from: &[u128], mask: u128) {
    for (to, from) in to.iter_mut().zip(from) {
        *to ^= from & mask;
    }
}

/// The lowest bits of up to 64 blocks, the first in the lowest place.
///
/// # Panics
/// If there are more.
pub fn lowest_bits(blocks: &[u128]) -> u64 {
    assert!(blocks.len() <= 64, "bits of a word");
    #[cfg(target_arch = "x86_64")]
    if Level::in_use() >= Level::Avx2 {
        // SAFETY: a level is in use only where the processor has it.
        return unsafe { lowest_bits_avx2(blocks) };
    }
    lowest_bits_portable(blocks)
}

fn lowest_bits_portable(blocks: &[u128]) -> u64 {
    (0..).zip(blocks).fold(0, |word, (place, block)| word | (*block as u64 & 1) << place)
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn lowest_bits_avx2(blocks: &[u128]) -> u64 {
    use std::arch::x86_64::{
        _mm256_castsi256_pd, _mm256_loadu_si256, _mm256_movemask_pd, _mm256_permute4x64_epi64,
        _mm256_slli_epi64, _mm256_unpacklo_epi64,
    };
    let (fours, rest) = blocks.as_chunks::<4>();
    let mut word = lowest_bits_portable(rest);
    for four in fours.iter().rev() {
        let (first, second) = four.split_at(2);
        // SAFETY: each half has 32 bytes.
        let [first, second] =
            [first, second].map(|half| unsafe { _mm256_loadu_si256(half.as_ptr().cast()) });
        // The low halves of blocks 0, 2, 1 and 3, put in order, with their lowest bits on top.
        let low = _mm256_permute4x64_epi64::<0b11_01_10_00>(_mm256_unpacklo_epi64(first, second));
        let signs = _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64::<63>(low)));
        word = word << 4 | u64::from(signs as u32);
    }
    word
}

/// 1 if both are the same, else 0, without a branch; the compiler knows nothing of the result.
pub fn equal(a: u32, b: u32) -> u8 {
    let different = u64::from(a ^ b);
    black_box((different.wrapping_sub(1) >> 63) as u8)
}

/// `one` if the choice is true, else `zero`; both are read, in the same time whichever it is.
pub fn choose(zero: u128, one: u128, choice: bool) -> u128 {
    let all_ones = black_box(u128::from(choice).wrapping_neg());
    zero ^ ((zero ^ one) & all_ones)
}

/// An unsigned word of one of the two lengths.
trait Word: Copy {
    fn plus(self, other: Self) -> Self;
    /// The word if `bit` is 1, 0 if it is 0.
    fn times_bit(self, bit: u8) -> Self;
}

impl Word for u32 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn times_bit(self, bit: u8) -> Self {
        self & Self::from(bit).wrapping_neg()
    }
}

impl Word for u64 {
    #[inline(always)]
    fn plus(self, other: Self) -> Self {
        self.wrapping_add(other)
    }

    #[inline(always)]
    fn times_bit(self, bit: u8) -> Self {
        self & Self::from(bit).wrapping_neg()
    }
}

/// The words of blocks, in memory's order: the same at all blocks of one machine, which is all that
/// adding needs.
fn words<W: Word>(blocks: &[u128]) -> &[W] {
    // SAFETY: `Word` is u32 or u64, which have any bits and divide u128 in length and alignment.
    unsafe { blocks.align_to::<W>().1 }
}

fn words_mut<W: Word>(blocks: &mut [u128]) -> &mut [W] {
    // SAFETY: as in `words`, and any words are a block.
    unsafe { blocks.align_to_mut::<W>().1 }
}

fn dispatch_add<W: Word>(rows: &mut [W], total: &mut [W], blocks: &[W]) {
    #[cfg(target_arch = "x86_64")]
    if Level::in_use() >= Level::Avx2 {
        // SAFETY: a level is in use only where the processor has it.
        return unsafe { add_avx2(rows, total, blocks) };
    }
    add_portable(rows, total, blocks);
}

fn dispatch_select<W: Word>(rows: &mut [W], row: u32, blocks: &[W]) {
    #[cfg(target_arch = "x86_64")]
    if Level::in_use() >= Level::Avx2 {
        // SAFETY: a level is in use only where the processor has it.
        return unsafe { select_avx2(rows, row, blocks) };
    }
    select_portable(rows, row, blocks);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn add_avx2<W: Word>(rows: &mut [W], total: &mut [W], blocks: &[W]) {
    add_portable(rows, total, blocks);
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn select_avx2<W: Word>(rows: &mut [W], row: u32, blocks: &[W]) {
    select_portable(rows, row, blocks);
}

#[inline(always)]
fn add_portable<W: Word>(rows: &mut [W], total: &mut [W], blocks: &[W]) {
    let width = total.len().max(1);
    for (row, blocks) in rows.chunks_exact_mut(width).zip(blocks.chunks_exact(width)) {
        for ((sum, total), word) in row.iter_mut().zip(total.iter_mut()).zip(blocks) {
            *sum = sum.plus(*word);
            *total = total.plus(*word);
        }
    }
}

#[inline(always)]
fn select_portable<W: Word>(rows: &mut [W], row: u32, blocks: &[W]) {
    for (number, sums) in (0u32..).zip(rows.chunks_exact_mut(blocks.len().max(1))) {
        let selected = equal(number, row);
        for (sum, word) in sums.iter_mut().zip(blocks) {
            *sum = sum.plus(word.times_bit(selected));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(seed: u64, count: usize) -> Vec<u64> {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040);
            state ^ state >> 29
        };
        (0..count).map(|_| next()).collect()
    }

    #[test]
    fn words_go_into_blocks_and_come_out_again() {
        let words = numbers(1, 7);
        let mut blocks = Vec::new();
        for (lane, mask) in [(Lane::Bits32, u64::from(u32::MAX)), (Lane::Bits64, u64::MAX)] {
            lane.pack(&words, &mut blocks);
            assert_eq!(blocks.len(), 7usize.div_ceil(lane.words_per_block()));
            for (index, word) in words.iter().enumerate() {
                assert_eq!(lane.word(&blocks, index), word & mask);
            }
        }
        assert_eq!((Lane::for_bits(32), Lane::for_bits(33)), (Lane::Bits32, Lane::Bits64));
    }

    #[test]
    fn lanes_are_added_without_carries_between_them() {
        for lane in [Lane::Bits32, Lane::Bits64] {
            for (rows, width) in [(1, 1), (3, 2), (5, 7), (0, 3)] {
                let words = rows * width * lane.words_per_block();
                let (first, second) = (numbers(2, words), numbers(3, words));
                let (mut sums, mut blocks) = (Vec::new(), Vec::new());
                lane.pack(&first, &mut sums);
                lane.pack(&second, &mut blocks);
                let mut total = vec![0; width];
                add_rows(lane, &mut sums, &mut total, &blocks);
                let mut expected = Vec::new();
                let both: Vec<u64> =
                    first.iter().zip(&second).map(|(a, b)| a.wrapping_add(*b)).collect();
                lane.pack(&both, &mut expected);
                assert_eq!(sums, expected);
                let per_row = width * lane.words_per_block();
                let column = |j: usize| {
                    second.iter().skip(j).step_by(per_row).fold(0, |a: u64, b| a.wrapping_add(*b))
                };
                lane.pack(&(0..per_row).map(column).collect::<Vec<_>>(), &mut expected);
                assert_eq!(total, expected);
            }
        }
    }

    #[test]
    fn lowest_bits_are_in_the_order_of_their_blocks() {
        let blocks: Vec<u128> =
            numbers(4, 64).iter().map(|n| u128::from(*n) << 64 | u128::from(n >> 17)).collect();
        for count in 0..=64 {
            let word = lowest_bits(&blocks[..count]);
            let due = (0..count).map(|i| (blocks[i] as u64 & 1) << i).sum::<u64>();
            assert_eq!(word, due, "{count} blocks");
        }
    }

    #[test]
    fn one_row_and_one_block_are_selected() {
        for lane in [Lane::Bits32, Lane::Bits64] {
            for row in 0..4u32 {
                let mut rows = vec![u128::MAX; 4 * 3];
                add_to_row(lane, &mut rows, row, &[u128::MAX; 3]);
                let mut doubled = Vec::new();
                lane.pack(&vec![u64::MAX - 1; lane.words_per_block()], &mut doubled);
                for (place, block) in rows.iter().enumerate() {
                    let due = if place / 3 == row as usize { doubled[0] } else { u128::MAX };
                    assert_eq!(*block, due);
                }
            }
        }
        assert_eq!([choose(5, 9, false), choose(5, 9, true)], [5, 9]);
        let mut blocks = [1, 2, 3];
        xor_into(&mut blocks, 1, 7);
        xor_into(&mut blocks, 3, 7);
        xor_into(&mut blocks, u32::MAX, 7);
        assert_eq!(blocks, [1, 5, 3]);
        for place in [0, 63, 64, 128, 199, 200, 1000] {
            let mut blocks = [6; 200];
            xor_into(&mut blocks, place, 5);
            for (number, block) in (0..).zip(blocks) {
                assert_eq!(block, if number == place { 3 } else { 6 });
            }
        }
        for place in [0, 1, 63, 64, 130, 199] {
            let mut blocks = [7; 200];
            clear_and_xor_into(&mut blocks, place, [9, 16]);
            for (number, block) in (0..).zip(blocks) {
                let value = if number == place { 9 } else { 16 * u128::from(number == place ^ 1) };
                assert_eq!(block, 6 ^ value);
            }
        }
        let mut blocks = [1, 2, 3];
        xor(&mut blocks, &[1, 1, 1]);
        assert_eq!(blocks, [0, 3, 2]);
    }
}
