//! The mathematics of correlated transfers with four bytes each, or two (Roy, CRYPTO 2022, in the
//! semi-honest form), from the base transfers of [`crate::crypto::ot`].
//!
//! # Set-up
//!
//! The 128 columns form groups of four, or of eight ([`Columns`]). For each group the receiver
//! grows a tree of 16 or 256 seeds ([`crate::crypto::tree`]); with the two seeds of the base
//! transfers as masks, the sender gets all leaves but the one whose number is the group's bits of
//! Δ. The highest bit of a group belongs to the first level below the root, bit 0 to the last.
//!
//! # Extension
//!
//! With r_x what leaf x stretches to, the receiver computes u = ⊕ r_x and vᵢ = ⊕ xᵢ·r_x, the sender
//! wᵢ = ⊕ (xᵢ ⊕ Δᵢ)·r_x, in which the leaf that it lacks does not occur: wᵢ = vᵢ ⊕ Δᵢ·u. The random
//! choices c are u of the first group, and for every other group the receiver sends d = u ⊕ c. Then
//! qᵢ = wᵢ ⊕ Δᵢ·d = vᵢ ⊕ Δᵢ·c; read by rows, q = t ⊕ c·Δ.
//!
//! *Why it hides.* Each u is masked by r_Δ, which the sender lacks, so that c is uniform and all d are
//! pseudorandom to it. The receiver gets nothing after the base transfers. Masks of the set-up are
//! AES under the base transfers' seeds at a counter that the other extension never reaches.
//!
//! The sender keeps leaf x in place x ⊕ Δ, put there by swaps that take the same time for every Δ: the
//! missing one is number 0 and is not used.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::crypto::garble::Delta;
//! use diptych_primitives::crypto::soft_spoken::{Columns, Receiver, Sender};
//!
//! let delta = Delta::new(0x0123_4567_89ab_cdef_0123_4567_89ab_cdef);
//! let pairs: Vec<[u128; 2]> = (0..128).map(|i| [i, 1000 + i]).collect();
//! let chosen: Vec<u128> =
//!     pairs.iter().enumerate().map(|(i, pair)| pair[(delta.expose() >> i & 1) as usize]).collect();
//!
//! let (mut receiver, setup) = Receiver::new(Columns::Four, 7, &pairs, &[5; 32]);
//! let mut sender = Sender::new(Columns::Four, 7, delta.clone(), &chosen, &setup);
//!
//! let (mut message, mut t, mut q) = (Vec::new(), Vec::new(), Vec::new());
//! receiver.extend(1, &mut message, &mut t);
//! sender.extend(1, &message, &mut q);
//! for (t, q) in t.iter().zip(&q) {
//!     assert_eq!(q & 1, 0);
//!     assert_eq!(t ^ q, delta.expose() * (t & 1));
//! }
//! ```

use zeroize::Zeroizing;

use crate::crypto::garble::Delta;
use crate::crypto::ot::{BASE_TRANSFERS, ROWS, rows_of};
use crate::crypto::tree::{TreeShape, grow, record_keys, regrow};
use crate::math::wiped;
use crate::simd::aes::RoundKeys;
use crate::simd::lanes;

/// Columns that share a tree: more of them take fewer bytes and more work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Columns {
    /// 3.9 bytes and 4 AES blocks per transfer.
    Four,
    /// 1.9 bytes and 32 AES blocks per transfer.
    Eight,
}

impl Columns {
    /// How many columns share a tree.
    pub const fn count(self) -> usize {
        match self {
            Self::Four => 4,
            Self::Eight => 8,
        }
    }

    /// The number of trees.
    pub const fn groups(self) -> usize {
        BASE_TRANSFERS / self.count()
    }

    /// The number of leaves of a tree.
    const fn leaves(self) -> usize {
        1 << self.count()
    }

    /// Bytes that the receiver sends per block of 128 transfers: d of every group but the first.
    pub const fn block_bytes(self) -> usize {
        16 * (self.groups() - 1)
    }

    fn tree(self) -> TreeShape {
        TreeShape::new(self.leaves() as u32)
    }
}

/// Bytes that the receiver sends once: both masked sums of every level of every tree.
pub const SETUP_BYTES: usize = 32 * BASE_TRANSFERS;

/// The leaves of one group, ready to be stretched.
type Leaves = Vec<RoundKeys>;

/// The receiver's half: it knows all leaves.
pub struct Receiver {
    columns: Columns,
    groups: Vec<Leaves>,
    next_block: u64,
    space: Space,
}

impl Receiver {
    /// From both seeds of every base transfer, and the root of every tree. Returns what goes to the
    /// sender, too. `start` is the starting point of the trees' hashes.
    ///
    /// # Panics
    /// If there are not 128 pairs and a root for every group.
    pub fn new(
        columns: Columns,
        start: u128,
        pairs: &[[u128; 2]],
        roots: &[u128],
    ) -> (Self, Vec<u8>) {
        let (count, trees) = (columns.count(), columns.groups());
        assert_eq!((pairs.len(), roots.len()), (BASE_TRANSFERS, trees), "pairs and roots");
        let mut nodes = Zeroizing::new(Vec::with_capacity(columns.leaves()));
        let mut sums = Zeroizing::new(vec![[0; 2]; count]);
        let mut groups = Vec::with_capacity(trees);
        let mut message = Vec::with_capacity(SETUP_BYTES);
        for (number, (root, pairs)) in roots.iter().zip(pairs.chunks_exact(count)).enumerate() {
            let keys = record_keys(start, number as u64);
            grow(columns.tree(), &keys, *root, &mut nodes, &mut sums);
            // A sender whose bit is 1 lacks the right child: it gets the left one, under its own
            // mask.
            for ([left, right], [zero, one]) in sums.iter().zip(pairs.iter().rev()) {
                message.extend_from_slice(&(left ^ mask(*one)).to_le_bytes());
                message.extend_from_slice(&(right ^ mask(*zero)).to_le_bytes());
            }
            groups.push(leaves(&nodes));
        }
        (Self { columns, groups, next_block: 0, space: Space::default() }, message)
    }

    /// Extends by `blocks` times 128 transfers: appends what goes to the sender, and T of each, whose
    /// lowest bit is the random choice.
    pub fn extend(&mut self, blocks: usize, message: &mut Vec<u8>, rows: &mut Vec<u128>) {
        if blocks == 0 {
            return;
        }
        let (streams, columns, choices) = self.space.room(self.columns, blocks);
        message.reserve(self.columns.block_bytes() * blocks);
        let places = columns.chunks_exact_mut(self.columns.count() * blocks);
        for (number, (leaves, columns)) in self.groups.iter().zip(places).enumerate() {
            for (keys, stream) in leaves.iter().zip(streams.chunks_exact_mut(blocks)) {
                keys.counter_stream(self.next_block, stream);
            }
            fold(streams, columns, blocks);
            let sum = &streams[..blocks];
            if number == 0 {
                choices.copy_from_slice(sum);
                continue;
            }
            for (word, choice) in sum.iter().zip(choices.iter()) {
                message.extend_from_slice(&(word ^ choice).to_le_bytes());
            }
        }
        self.next_block += blocks as u64;
        let first = rows.len();
        rows_of(columns, blocks, rows);
        for (row, choices) in rows[first..].chunks_exact_mut(ROWS).zip(choices) {
            for (bit, row) in row.iter_mut().enumerate() {
                *row = (*row & !1) | (*choices >> bit & 1);
            }
        }
    }
}

/// The sender's half: it knows all leaves but one of every group.
pub struct Sender {
    columns: Columns,
    delta: Delta,
    groups: Vec<Leaves>,
    next_block: u64,
    space: Space,
}

impl Sender {
    /// From Δ, the chosen seed for each of its bits, and the receiver's message. `start` is the
    /// receiver's.
    ///
    /// # Panics
    /// If there are not 128 seeds and [`SETUP_BYTES`] bytes.
    pub fn new(
        columns: Columns,
        start: u128,
        delta: Delta,
        seeds: &[u128],
        message: &[u8],
    ) -> Self {
        assert_eq!((seeds.len(), message.len()), (BASE_TRANSFERS, SETUP_BYTES), "lengths");
        let (shape, count) = (columns.tree(), columns.count());
        let mut nodes = Zeroizing::new(Vec::with_capacity(columns.leaves()));
        let mut sums = Zeroizing::new(vec![0; count]);
        let mut groups = Vec::with_capacity(columns.groups());
        let parts = message.as_chunks::<32>().0.chunks_exact(count);
        for (number, (seeds, parts)) in seeds.chunks_exact(count).zip(parts).enumerate() {
            let hole = (delta.expose() >> (count * number)) as u32 & (columns.leaves() as u32 - 1);
            let levels = sums.iter_mut().zip(parts).zip(seeds.iter().rev()).zip(shape.path(hole));
            for (((sum, pair), seed), right) in levels {
                let [left_sum, right_sum] = halves(pair);
                *sum = lanes::choose(right_sum, left_sum, right) ^ mask(*seed);
            }
            regrow(shape, &record_keys(start, number as u64), hole, &sums, &mut nodes);
            move_by(hole, &mut nodes);
            groups.push(leaves(&nodes));
        }
        Self { columns, delta, groups, next_block: 0, space: Space::default() }
    }

    /// Δ.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Extends by `blocks` times 128 transfers: appends Q of each, its lowest bit clear.
    ///
    /// # Panics
    /// If `received` is not [`Columns::block_bytes`] per block long.
    pub fn extend(&mut self, blocks: usize, received: &[u8], rows: &mut Vec<u128>) {
        assert_eq!(received.len(), self.columns.block_bytes() * blocks, "bytes per block");
        if blocks == 0 {
            return;
        }
        let (count, delta) = (self.columns.count(), self.delta.expose());
        let (streams, columns, _) = self.space.room(self.columns, blocks);
        let places = columns.chunks_exact_mut(count * blocks);
        for (number, (leaves, columns)) in self.groups.iter().zip(places).enumerate() {
            for (keys, stream) in leaves.iter().zip(streams.chunks_exact_mut(blocks)).skip(1) {
                keys.counter_stream(self.next_block, stream);
            }
            fold(streams, columns, blocks);
            let Some(before) = number.checked_sub(1) else { continue };
            let part = received[16 * blocks * before..][..16 * blocks].as_chunks::<16>().0;
            for (bit, column) in columns.chunks_exact_mut(blocks).enumerate() {
                let mask = (delta >> (count * number + bit) & 1).wrapping_neg();
                for (word, bytes) in column.iter_mut().zip(part) {
                    *word ^= u128::from_le_bytes(*bytes) & mask;
                }
            }
        }
        self.next_block += blocks as u64;
        let first = rows.len();
        rows_of(columns, blocks, rows);
        rows[first..].iter_mut().for_each(|row| *row &= !1);
    }
}

/// Working memory, wiped when dropped.
#[derive(Default)]
struct Space {
    streams: Zeroizing<Vec<u128>>,
    columns: Zeroizing<Vec<u128>>,
    choices: Zeroizing<Vec<u128>>,
}

impl Space {
    /// Streams, columns and choices of so many blocks.
    fn room(&mut self, shape: Columns, blocks: usize) -> (&mut [u128], &mut [u128], &mut [u128]) {
        let Self { streams, columns, choices } = self;
        wiped::resize(streams, shape.leaves() * blocks);
        wiped::resize(columns, BASE_TRANSFERS * blocks);
        wiped::resize(choices, blocks);
        let (streams, columns) =
            (&mut streams[..shape.leaves() * blocks], &mut columns[..BASE_TRANSFERS * blocks]);
        (streams, columns, &mut choices[..blocks])
    }
}

/// Column i becomes the XOR of the streams whose number has bit i; the first stream becomes the XOR
/// of all. The other streams are overwritten.
fn fold(streams: &mut [u128], columns: &mut [u128], blocks: usize) {
    for (bit, column) in columns.chunks_exact_mut(blocks).enumerate().rev() {
        let (low, high) = streams.split_at_mut(blocks << bit);
        let high = &high[..blocks << bit];
        column.copy_from_slice(&high[..blocks]);
        for stream in high.chunks_exact(blocks).skip(1) {
            lanes::xor(column, stream);
        }
        lanes::xor(low, high);
    }
}

/// Masks a sum of the set-up: the last block of the seed's stream, of which the other extension
/// uses only the first ones.
fn mask(seed: u128) -> u128 {
    let mut block = [0];
    RoundKeys::new(seed).counter_stream(u64::MAX, &mut block);
    block[0]
}

fn leaves(nodes: &[u128]) -> Leaves {
    nodes.iter().map(|leaf| RoundKeys::new(*leaf)).collect()
}

/// Puts leaf x in place x ⊕ `number`, in the same time whatever it is.
fn move_by(number: u32, nodes: &mut [u128]) {
    for bit in 0..nodes.len().ilog2() {
        let swap = number >> bit & 1 == 1;
        for place in (0..nodes.len()).filter(|place| place >> bit & 1 == 0) {
            let (low, high) = (nodes[place], nodes[place | 1 << bit]);
            nodes[place] = lanes::choose(low, high, swap);
            nodes[place | 1 << bit] = lanes::choose(high, low, swap);
        }
    }
}

fn halves(pair: &[u8; 32]) -> [u128; 2] {
    [0, 16].map(|at| {
        let mut half = [0; 16];
        half.copy_from_slice(&pair[at..at + 16]);
        u128::from_le_bytes(half)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Randomness;

    fn number(rng: &mut Randomness) -> u128 {
        u128::from_le_bytes(rng.array())
    }

    const BOTH: [Columns; 2] = [Columns::Four, Columns::Eight];

    fn ends(columns: Columns, seed: u64, delta: &Delta) -> (Sender, Receiver) {
        let mut rng = Randomness::seeded(seed);
        let pairs: Vec<[u128; 2]> = (0..128).map(|_| [0; 2].map(|_| number(&mut rng))).collect();
        let roots: Vec<u128> = (0..columns.groups()).map(|_| number(&mut rng)).collect();
        let seeds = pairs.iter().enumerate();
        let chosen: Vec<u128> =
            seeds.map(|(i, pair)| pair[(delta.expose() >> i & 1) as usize]).collect();
        let (receiver, message) = Receiver::new(columns, 3, &pairs, &roots);
        assert_eq!(message.len(), SETUP_BYTES);
        (Sender::new(columns, 3, delta.clone(), &chosen, &message), receiver)
    }

    #[test]
    fn rows_differ_by_delta_where_the_random_choice_is_one() {
        let mut rng = Randomness::seeded(8);
        let deltas = [Delta::new(0), Delta::new(u128::MAX), Delta::random(&mut rng)];
        for (delta, columns) in deltas.iter().flat_map(|delta| BOTH.map(|c| (delta, c))) {
            let (mut sender, mut receiver) = ends(columns, 5, delta);
            let (mut q, mut t) = (Vec::new(), Vec::new());
            for blocks in [1, 3, 0, 8] {
                let mut message = Vec::new();
                receiver.extend(blocks, &mut message, &mut t);
                assert_eq!(message.len(), columns.block_bytes() * blocks);
                sender.extend(blocks, &message, &mut q);
            }
            assert_eq!((q.len(), t.len()), (12 * ROWS, 12 * ROWS));
            let holds = |(q, t): (&u128, &u128)| q & 1 == 0 && q ^ t == delta.expose() * (t & 1);
            assert!(q.iter().zip(&t).all(holds));
            let ones = t.iter().filter(|t| *t & 1 == 1).count();
            assert!((12 * ROWS * 2 / 5..12 * ROWS * 3 / 5).contains(&ones), "{ones}");
        }
    }

    #[test]
    fn the_sender_lacks_one_leaf_of_every_group() {
        let delta = Delta::random(&mut Randomness::seeded(6));
        let block = |keys: &RoundKeys| {
            let mut block = [0];
            keys.counter_stream(0, &mut block);
            block[0]
        };
        for columns in BOTH {
            let (sender, receiver) = ends(columns, 7, &delta);
            for (number, (own, all)) in sender.groups.iter().zip(&receiver.groups).enumerate() {
                let first = columns.count() * number;
                let hole = (delta.expose() >> first) as usize & (columns.leaves() - 1);
                for (place, keys) in own.iter().enumerate() {
                    assert_eq!(block(keys) == block(&all[place ^ hole]), place != 0);
                }
            }
        }
    }
}
