//! Trees of seeds of which a party may know all leaves but one (Goldreich, Goldwasser, Micali
//! 1986), and sums of what the leaves stretch to.
//!
//! The root has level 0; node j of level l has the children 2j and 2j + 1 of level l + 1. A tree
//! with m leaves has ⌈log2 m⌉ levels below its root and, on each, only the nodes above a leaf < m:
//! ⌈m/2^(h−l)⌉ of them. Child j of level l of a node x is H(x, 2^l + j) under the key
//! s ⊕ record number, with H of [`crate::crypto::garble`] and s the starting point for trees.
//!
//! *All but one.* Whoever knows, of every level, the XOR of the nodes on the other side than the
//! path to leaf g (children to the left if the path turns right) knows every leaf but g: [`regrow`].
//! It knows nothing of leaf g, because on every level the node of the path is one child of an unknown
//! node and enters none of these sums: H gives both children of an unknown node independently.
//! [`regrow`] takes the same time for every g. It grows a tree from a wrong root and corrects, on
//! every level, the sibling of the path; the path itself and its leaf stay wrong.
//!
//! *Stretching.* Block b of leaf ℓ is H(leaf, ℓ·blocks + b) under s' ⊕ record number, s' the
//! starting point for sums: a leaf itself is never used. [`Rows`] adds these blocks to a table.
//!
//! *Margin.* Keys are public and one record's alone, so work on one record serves no other. An
//! attacker who knows b blocks that one unknown leaf stretches to can compare each evaluation of AES
//! under that record's key with all of them, forwards and backwards: 127 − log2 b bits remain.

use zeroize::Zeroizing;

use crate::simd::aes::RoundKeys;
use crate::simd::lanes::{self, Lane};

/// Blocks that are hashed together: they fit the processor's caches.
const GROUP_BLOCKS: usize = 256;

/// How many leaves a tree has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeShape {
    leaves: u32,
}

impl TreeShape {
    /// A tree with so many leaves, at least 1.
    pub fn new(leaves: u32) -> Self {
        Self { leaves: leaves.max(1) }
    }

    /// The number m of leaves.
    pub fn leaves(self) -> usize {
        self.leaves as usize
    }

    /// h, the number of levels below the root.
    pub fn levels(self) -> usize {
        (u32::BITS - (self.leaves - 1).leading_zeros()) as usize
    }

    /// How many nodes a level has, the root's being 0.
    pub fn nodes_at(self, level: usize) -> usize {
        self.leaves().div_ceil(1 << (self.levels() - level))
    }

    /// Which side the path to a leaf takes below each level, the root's first: true is right.
    pub fn path(self, leaf: u32) -> impl Iterator<Item = bool> {
        (0..self.levels()).rev().map(move |bit| leaf >> bit & 1 == 1)
    }
}

/// The key of one record's hashes.
pub fn record_keys(start: u128, record: u64) -> RoundKeys {
    RoundKeys::new(start ^ u128::from(record))
}

/// Grows the tree of `root`: `nodes` become the leaves, and entry l of `sums` the XORs of the left
/// and of the right children of level l + 1.
///
/// # Panics
/// If `sums` does not have one entry per level.
pub fn grow(
    shape: TreeShape,
    keys: &RoundKeys,
    root: u128,
    nodes: &mut Vec<u128>,
    sums: &mut [[u128; 2]],
) {
    assert_eq!(sums.len(), shape.levels(), "one sum per level");
    nodes.resize(shape.leaves(), 0);
    nodes[0] = root;
    for (sum, level) in sums.iter_mut().zip(1..) {
        next_level(shape, keys, level, nodes);
        *sum = sides(&nodes[..shape.nodes_at(level)]);
    }
}

/// Grows all leaves but `hole` from the sums of the other sides, one per level: `nodes` become the
/// leaves, with a meaningless one in the place of `hole`.
///
/// # Panics
/// If `sums` does not have one entry per level.
pub fn regrow(shape: TreeShape, keys: &RoundKeys, hole: u32, sums: &[u128], nodes: &mut Vec<u128>) {
    assert_eq!(sums.len(), shape.levels(), "one sum per level");
    nodes.resize(shape.leaves(), 0);
    nodes[0] = 0;
    for (sum, level) in sums.iter().zip(1..) {
        next_level(shape, keys, level, nodes);
        let nodes = &mut nodes[..shape.nodes_at(level)];
        let sibling = (hole >> (shape.levels() - level)) ^ 1;
        let [left, right] = sides(nodes);
        let found = left ^ ((left ^ right) & u128::from(sibling & 1).wrapping_neg());
        // A sibling beyond the last node does not exist, and nothing is corrected then.
        lanes::xor_into(nodes, sibling, found ^ sum);
    }
}

/// The nodes of a level in place of those of the level above it.
fn next_level(shape: TreeShape, keys: &RoundKeys, level: usize, nodes: &mut [u128]) {
    let nodes = &mut nodes[..shape.nodes_at(level)];
    for child in (1..nodes.len()).rev() {
        nodes[child] = nodes[child / 2];
    }
    keys.hash(1 << level, nodes);
}

/// The XORs of the nodes with even and of those with odd numbers.
fn sides(nodes: &[u128]) -> [u128; 2] {
    let (pairs, rest) = nodes.as_chunks::<2>();
    let last = rest.first().copied().unwrap_or(0);
    pairs.iter().fold([last, 0], |[left, right], [a, b]| [left ^ a, right ^ b])
}

/// A table with one row of words per leaf, to which the stretched leaves are added. Wiped when
/// dropped.
pub struct Rows {
    lane: Lane,
    words: usize,
    rows: Zeroizing<Vec<u128>>,
    total: Zeroizing<Vec<u128>>,
    group: Zeroizing<Vec<u128>>,
    row: Zeroizing<Vec<u128>>,
}

impl Rows {
    /// A table of zeros, with rows of `words` words.
    pub fn new(shape: TreeShape, words: usize, lane: Lane) -> Self {
        let blocks = blocks(words, lane);
        let group = blocks * (GROUP_BLOCKS / blocks).clamp(1, shape.leaves());
        let zeros = |count| Zeroizing::new(vec![0; count]);
        Self {
            lane,
            words,
            rows: zeros(shape.leaves() * blocks),
            total: zeros(blocks),
            group: zeros(group),
            row: zeros(blocks),
        }
    }

    /// Adds to every row what its leaf stretches to under the key of a record.
    ///
    /// # Panics
    /// If there is not one leaf per row.
    pub fn add_leaves(&mut self, keys: &RoundKeys, leaves: &[u128]) {
        let blocks = self.total.len();
        assert_eq!(leaves.len() * blocks, self.rows.len(), "one leaf per row");
        self.total.fill(0);
        let leaves_at_once = self.group.len() / blocks;
        let parts = leaves.chunks(leaves_at_once).zip(self.rows.chunks_mut(self.group.len()));
        let mut first = 0;
        for (leaves, rows) in parts {
            let group = &mut self.group[..rows.len()];
            for (leaf, row) in leaves.iter().zip(group.chunks_exact_mut(blocks)) {
                row.fill(*leaf);
            }
            keys.hash(first, group);
            lanes::add_rows(self.lane, rows, &mut self.total, group);
            first += group.len();
        }
    }

    /// Word `index` of the sum of all that the last [`Rows::add_leaves`] added.
    ///
    /// # Panics
    /// If there is no such word.
    pub fn total(&self, index: usize) -> u64 {
        self.lane.word(&self.total, index)
    }

    /// Adds words to one row, in the same time whichever it is.
    pub fn add_to_row(&mut self, row: u32, words: &[u64]) {
        self.lane.pack(words, &mut self.row);
        lanes::add_to_row(self.lane, &mut self.rows, row, &self.row);
    }

    /// Adds another table of the same shape.
    ///
    /// # Panics
    /// If it has another shape.
    pub fn add(&mut self, other: &Self) {
        lanes::add_rows(self.lane, &mut self.rows, &mut self.total, &other.rows);
    }

    /// All words, row by row.
    pub fn words(&self) -> impl Iterator<Item = u64> + '_ {
        let blocks = self.total.len();
        let of_row = move |row| (0..self.words).map(move |word| self.lane.word(row, word));
        self.rows.chunks_exact(blocks).flat_map(of_row)
    }
}

/// Blocks that one leaf stretches to.
pub fn blocks(words: usize, lane: Lane) -> usize {
    words.div_ceil(lane.words_per_block()).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const START: u128 = 0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978;

    #[test]
    fn a_tree_has_only_nodes_above_its_leaves() {
        let shape = TreeShape::new(5);
        assert_eq!(shape.levels(), 3);
        assert_eq!([0, 1, 2, 3].map(|level| shape.nodes_at(level)), [1, 2, 3, 5]);
        assert_eq!(shape.path(4).collect::<Vec<_>>(), [true, false, false]);
        assert_eq!(TreeShape::new(1).levels(), 0);
    }

    #[test]
    fn all_leaves_but_one_come_from_the_sums_of_the_other_sides() {
        for leaves in [1, 2, 3, 4, 5, 7, 8, 9, 31, 33, 64, 100] {
            let shape = TreeShape::new(leaves);
            let keys = record_keys(START, u64::from(leaves));
            let (mut all, mut known) = (Vec::new(), Vec::new());
            let mut sums = vec![[0; 2]; shape.levels()];
            grow(shape, &keys, 77, &mut all, &mut sums);
            for hole in 0..leaves {
                let sides = sums.iter().zip(shape.path(hole));
                let other: Vec<u128> = sides.map(|(sum, right)| sum[usize::from(!right)]).collect();
                regrow(shape, &keys, hole, &other, &mut known);
                for (place, (due, found)) in all.iter().zip(&known).enumerate() {
                    assert_eq!(due == found, place != hole as usize, "{leaves}, {hole}, {place}");
                }
            }
        }
    }

    #[test]
    fn rows_are_what_their_leaves_stretch_to_whatever_is_hashed_together() {
        for (leaves, words) in [(1u32, 1), (3, 5), (70, 32), (300, 3), (2, 1500)] {
            for lane in [Lane::Bits32, Lane::Bits64] {
                let keys = record_keys(START, 9);
                let seeds: Vec<u128> = (0..u128::from(leaves)).map(|i| i << 70 | i).collect();
                let mut rows = Rows::new(TreeShape::new(leaves), words, lane);
                rows.add_leaves(&keys, &seeds);
                let width = blocks(words, lane);
                let mut due = Vec::new();
                for (leaf, seed) in seeds.iter().enumerate() {
                    let mut row = vec![*seed; width];
                    keys.hash(leaf * width, &mut row);
                    due.extend((0..words).map(|word| lane.word(&row, word)));
                }
                assert_eq!(rows.words().collect::<Vec<_>>(), due);
                let mask = if lane == Lane::Bits32 { u64::from(u32::MAX) } else { u64::MAX };
                for word in 0..words {
                    let column = due.iter().skip(word).step_by(words);
                    let sum = column.fold(0u64, |sum, word| sum.wrapping_add(*word)) & mask;
                    assert_eq!(rows.total(word), sum);
                }
            }
        }
    }
}
