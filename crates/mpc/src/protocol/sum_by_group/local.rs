//! The local arithmetic of each party for one message.

use zeroize::Zeroizing;

use super::{Addends, SumShape};
use crate::crypto::garble::Delta;
use crate::crypto::half_tree::{grow, regrow};
use crate::crypto::tree::{Rows, record_keys};
use crate::protocol::transfers::{Numbers, Purpose};
use crate::simd::lanes::equal;

/// The starting points of the two kinds of hashes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Starts {
    pub trees: u128,
    pub sums: u128,
}

impl Starts {
    pub fn of(numbers: &Numbers) -> Self {
        let [trees, sums] = [Purpose::Trees, Purpose::Sums].map(|p| numbers.start(p));
        Self { trees, sums }
    }
}

/// The sender's work on some of the records.
pub(crate) struct SenderPart {
    shape: SumShape,
    starts: Starts,
    rows: Rows,
    nodes: Zeroizing<Vec<u128>>,
    words: Zeroizing<Vec<u64>>,
}

impl SenderPart {
    pub fn new(shape: SumShape, starts: Starts) -> Self {
        Self {
            shape,
            starts,
            rows: Rows::new(shape.tree(), shape.words, shape.lane()),
            nodes: Zeroizing::new(vec![0; shape.groups]),
            words: Zeroizing::new(vec![0; shape.words]),
        }
    }

    /// Answers records of which the first has this number in the direction. `rows` are their
    /// transfers' Q', or, where one group is all there is, a random number for each.
    pub fn answer(
        &mut self,
        first: u64,
        rows: &[u128],
        delta: &Delta,
        addends: Addends<'_>,
        message: &mut [u8],
    ) {
        let (shape, tree) = (self.shape, self.shape.tree());
        let rows = rows.chunks_exact(tree.levels().max(1));
        let answers = message.chunks_exact_mut(shape.record_bytes());
        for (record, (rows, answer)) in rows.zip(answers).enumerate() {
            let number = first + record as u64;
            let (sums, masked) = answer.split_at_mut(shape.tree_bytes());
            if tree.levels() == 0 {
                self.nodes.copy_from_slice(rows);
            } else {
                let (keys, sums) = (record_keys(self.starts.trees, number), sums.as_chunks_mut().0);
                grow(tree, &keys, delta.expose(), rows, &mut self.nodes, sums);
            }
            self.rows.add_leaves(&record_keys(self.starts.sums, number), &self.nodes);
            for (index, word) in self.words.iter_mut().enumerate() {
                let addend = match addends {
                    Addends::Units(places) => u64::from(equal(places[record], index as u32)),
                    Addends::Several(places, each) => {
                        let own = &places[record * each..][..each];
                        own.iter().map(|place| u64::from(equal(*place, index as u32))).sum()
                    }
                    Addends::Words(all) => all[record * shape.words + index],
                };
                *word = self.rows.total(index).wrapping_add(addend);
            }
            pack(&self.words, shape.bits, masked);
        }
    }

    /// Adds what another part has.
    pub fn add(&mut self, other: &Self) {
        self.rows.add(&other.rows);
    }

    /// The sender's share: what all leaves stretch to, negated.
    pub fn into_share(self) -> Vec<u64> {
        let mut share = Vec::with_capacity(self.shape.groups * self.shape.words);
        share.extend(self.rows.words().map(u64::wrapping_neg));
        share
    }
}

/// The receiver's work on some of the records.
pub(crate) struct ReceiverPart {
    shape: SumShape,
    starts: Starts,
    rows: Rows,
    nodes: Zeroizing<Vec<u128>>,
    words: Zeroizing<Vec<u64>>,
}

impl ReceiverPart {
    pub fn new(shape: SumShape, starts: Starts) -> Self {
        Self {
            shape,
            starts,
            rows: Rows::new(shape.tree(), shape.words, shape.lane()),
            nodes: Zeroizing::new(vec![0; shape.groups]),
            words: Zeroizing::new(vec![0; shape.words]),
        }
    }

    /// Takes the answers to as many records as there are groups, of which the first has this number;
    /// `rows` are their transfers' T.
    ///
    /// Row g gets a meaningless P of a meaningless leaf, and all rows but g the right one; with S
    /// the sum of all, adding C − S to row g leaves C − Σ_{ℓ≠g} P_ℓ there, as is due. What the receiver
    /// itself has of each record, `own`, if anything, goes the same way, whatever its group is.
    pub fn take(&mut self, first: u64, groups: &[u32], own: &[u64], rows: &[u128], message: &[u8]) {
        let (shape, tree) = (self.shape, self.shape.tree());
        let levels = tree.levels();
        let answers = message.chunks_exact(shape.record_bytes());
        for (record, (group, answer)) in groups.iter().zip(answers).enumerate() {
            let number = first + record as u64;
            let (sums, masked) = answer.split_at(shape.tree_bytes());
            if levels > 0 {
                let (keys, sums) = (record_keys(self.starts.trees, number), sums.as_chunks().0);
                let rows = &rows[record * levels..(record + 1) * levels];
                regrow(tree, &keys, *group, rows, sums, &mut self.nodes);
            }
            self.rows.add_leaves(&record_keys(self.starts.sums, number), &self.nodes);
            unpack(masked, shape.bits, &mut self.words);
            for (index, word) in self.words.iter_mut().enumerate() {
                *word = word.wrapping_sub(self.rows.total(index));
            }
            let own = own.get(record * shape.words..(record + 1) * shape.words);
            for (word, own) in self.words.iter_mut().zip(own.unwrap_or_default()) {
                *word = word.wrapping_add(*own);
            }
            self.rows.add_to_row(*group, &self.words);
        }
    }

    /// Adds what another part has.
    pub fn add(&mut self, other: &Self) {
        self.rows.add(&other.rows);
    }

    /// The receiver's share.
    pub fn into_share(self) -> Vec<u64> {
        let mut share = Vec::with_capacity(self.shape.groups * self.shape.words);
        share.extend(self.rows.words());
        share
    }
}

/// The local work of both parties in a run of this shape, with meaningless transfers: measures what
/// [`SumShape::hashes`] cost on this machine.
pub fn exercise(shape: SumShape) {
    let (groups, rows) = (vec![0; shape.records], vec![2; shape.transfers().max(shape.records)]);
    let mut message = vec![0; shape.records * shape.record_bytes()];
    let starts = Starts::default();
    let addends = Addends::Units(&groups);
    SenderPart::new(shape, starts).answer(0, &rows, &Delta::new(3), addends, &mut message);
    ReceiverPart::new(shape, starts).take(0, &groups, &[], &rows, &message);
}

/// The lowest `bits` bits of every word, one after the other, lowest first; the last byte is padded
/// with 0.
pub(crate) fn pack(words: &[u64], bits: u32, bytes: &mut [u8]) {
    let mask = u64::MAX >> (64 - bits);
    let (mut held, mut count) = (0u128, 0);
    let mut bytes = bytes.iter_mut();
    for word in words {
        held |= u128::from(word & mask) << count;
        count += bits;
        while count >= 8 {
            bytes.next().into_iter().for_each(|byte| *byte = held as u8);
            held >>= 8;
            count -= 8;
        }
    }
    bytes.next().into_iter().for_each(|byte| *byte = held as u8);
}

/// Reads what [`pack`] writes; the padding of the last byte is ignored.
pub(crate) fn unpack(bytes: &[u8], bits: u32, words: &mut [u64]) {
    let mask = u64::MAX >> (64 - bits);
    let (mut held, mut count) = (0u128, 0);
    let mut bytes = bytes.iter();
    for word in words {
        while count < bits {
            held |= u128::from(bytes.next().copied().unwrap_or(0)) << count;
            count += 8;
        }
        *word = held as u64 & mask;
        held >>= bits;
        count -= bits;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_any_length_are_packed_without_gaps() {
        for bits in 1..=64 {
            let mask = u64::MAX >> (64 - bits);
            for count in [1, 2, 3, 8, 33] {
                let words: Vec<u64> =
                    (1..=count).map(|i: u64| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
                let mut bytes = vec![0xaa; (words.len() * bits as usize).div_ceil(8)];
                pack(&words, bits, &mut bytes);
                let mut found = vec![0; words.len()];
                unpack(&bytes, bits, &mut found);
                assert_eq!(found, words.iter().map(|word| word & mask).collect::<Vec<_>>());
                let spare = 8 * bytes.len() - words.len() * bits as usize;
                assert_eq!(u32::from(bytes[bytes.len() - 1]) >> (8 - spare), 0);
            }
        }
    }
}
