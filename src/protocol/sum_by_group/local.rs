//! What each party does with one message, alone: everything that is arithmetic.

use zeroize::Zeroizing;

use super::{Addends, SumShape};
use crate::crypto::garble::Delta;
use crate::crypto::ot::hash_rows;
use crate::crypto::tree::{Rows, grow, record_keys, regrow};
use crate::protocol::transfers::{Numbers, Purpose};
use crate::simd::lanes::{choose, equal};

/// Bytes of both ciphertexts of one level.
const LEVEL_BYTES: usize = 32;

/// The starting points of the three kinds of hashes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Starts {
    pub transfers: u128,
    pub trees: u128,
    pub sums: u128,
}

impl Starts {
    pub fn of(numbers: &Numbers) -> Self {
        let [transfers, trees, sums] =
            [Purpose::Transfers, Purpose::Trees, Purpose::Sums].map(|p| numbers.start(p));
        Self { transfers, trees, sums }
    }
}

/// Numbers in the direction: of a record and of its first transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub record: u64,
    pub transfer: u64,
}

impl Place {
    /// Takes the numbers of a whole run.
    pub fn take(numbers: &mut Numbers, records: usize, levels: usize) -> Self {
        let transfer = numbers.take_transfers(records * levels);
        Self { record: numbers.take_records(records), transfer }
    }

    /// The same, so many records further.
    pub fn after(self, records: usize, levels: usize) -> Self {
        let record = self.record + records as u64;
        Self { record, transfer: self.transfer + (records * levels) as u64 }
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
            nodes: Zeroizing::default(),
            words: Zeroizing::new(vec![0; shape.words]),
        }
    }

    /// Answers as many records as there are seeds; `rows` are their transfers' Q'.
    pub fn answer(
        &mut self,
        place: Place,
        seeds: &[u128],
        rows: &[u128],
        delta: &Delta,
        addends: Addends<'_>,
        message: &mut [u8],
    ) {
        let (shape, tree) = (self.shape, self.shape.tree());
        let levels = tree.levels();
        let mut zero = Zeroizing::new(rows.to_vec());
        let other = rows.iter().map(|row| row ^ delta.expose()).collect();
        let mut other: Zeroizing<Vec<u128>> = Zeroizing::new(other);
        hash_rows(self.starts.transfers, place.transfer, &mut zero);
        hash_rows(self.starts.transfers, place.transfer, &mut other);
        let mut sums = Zeroizing::new(vec![[0; 2]; levels]);
        let answers = message.chunks_exact_mut(shape.record_bytes());
        for (record, (seed, answer)) in seeds.iter().zip(answers).enumerate() {
            let number = place.record + record as u64;
            let keys = record_keys(self.starts.trees, number);
            grow(tree, &keys, *seed, &mut self.nodes, &mut sums);
            let (ciphertexts, masked) = answer.split_at_mut(LEVEL_BYTES * levels);
            let first = record * levels;
            for (level, pair) in ciphertexts.as_chunks_mut::<LEVEL_BYTES>().0.iter_mut().enumerate()
            {
                let [left, right] = sums[level];
                let (low, high) = pair.split_at_mut(16);
                low.copy_from_slice(&(left ^ zero[first + level]).to_le_bytes());
                high.copy_from_slice(&(right ^ other[first + level]).to_le_bytes());
            }
            self.rows.add_leaves(&record_keys(self.starts.sums, number), &self.nodes);
            for (index, word) in self.words.iter_mut().enumerate() {
                let addend = match addends {
                    Addends::Units(places) => u64::from(equal(places[record], index as u32)),
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
            nodes: Zeroizing::default(),
            words: Zeroizing::new(vec![0; shape.words]),
        }
    }

    /// Takes the answers to as many records as there are groups; `rows` are their transfers' T.
    ///
    /// Row g gets a meaningless P of a meaningless leaf, and all rows but g the right one; with S
    /// the sum of all, adding C − S to row g leaves C − Σ_{ℓ≠g} P_ℓ there, as is due.
    pub fn take(&mut self, place: Place, groups: &[u32], rows: &[u128], message: &[u8]) {
        let (shape, tree) = (self.shape, self.shape.tree());
        let levels = tree.levels();
        let mut masks = Zeroizing::new(rows.to_vec());
        hash_rows(self.starts.transfers, place.transfer, &mut masks);
        let mut sums = Zeroizing::new(vec![0; levels]);
        let answers = message.chunks_exact(shape.record_bytes());
        for (record, (group, answer)) in groups.iter().zip(answers).enumerate() {
            let number = place.record + record as u64;
            let (ciphertexts, masked) = answer.split_at(LEVEL_BYTES * levels);
            let first = record * levels;
            let pairs = ciphertexts.as_chunks::<LEVEL_BYTES>().0.iter().zip(tree.path(*group));
            for (level, (pair, right)) in pairs.enumerate() {
                let chosen = choose(block(pair, 0), block(pair, 16), !right);
                sums[level] = chosen ^ masks[first + level];
            }
            let keys = record_keys(self.starts.trees, number);
            regrow(tree, &keys, *group, &sums, &mut self.nodes);
            self.rows.add_leaves(&record_keys(self.starts.sums, number), &self.nodes);
            unpack(masked, shape.bits, &mut self.words);
            for (index, word) in self.words.iter_mut().enumerate() {
                *word = word.wrapping_sub(self.rows.total(index));
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

fn block(bytes: &[u8; LEVEL_BYTES], at: usize) -> u128 {
    let mut block = [0; 16];
    block.copy_from_slice(&bytes[at..at + 16]);
    u128::from_le_bytes(block)
}

/// The lowest `bits` bits of every word, one after the other, lowest first; what is left of the last
/// byte is 0.
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

/// Reads what [`pack`] writes; what is left of the last byte is not looked at.
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
