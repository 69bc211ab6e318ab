//! The portable twin, on the `aes` crate.

use aes::cipher::{BlockCipherEncrypt, KeyInit};
use aes::{Aes128, Block};

use super::{GATES_PER_KEY, sigma};

pub(super) struct Schedule(Aes128);

impl Schedule {
    pub(super) fn new(key: u128) -> Self {
        Self(Aes128::new(&key.to_le_bytes().into()))
    }

    pub(super) fn garble(
        &self,
        delta: u128,
        first: usize,
        a: &[u128],
        b: &[u128],
        out: &mut [u128],
        tables: &mut [[u8; 32]],
    ) {
        let mut hashes = [0u128; 4 * GATES_PER_KEY];
        for start in (0..out.len()).step_by(GATES_PER_KEY) {
            let end = out.len().min(start + GATES_PER_KEY);
            let hashes = &mut hashes[..4 * (end - start)];
            for (i, four) in (start..end).zip(hashes.chunks_exact_mut(4)) {
                let tweak = 2 * (first + i) as u128;
                four[0] = sigma(a[i]) ^ tweak;
                four[1] = sigma(a[i] ^ delta) ^ tweak;
                four[2] = sigma(b[i]) ^ (tweak + 1);
                four[3] = sigma(b[i] ^ delta) ^ (tweak + 1);
            }
            self.davies_meyer(hashes);
            for (i, four) in (start..end).zip(hashes.chunks_exact(4)) {
                let generator = four[0] ^ four[1] ^ select(b[i], delta);
                let evaluator = four[2] ^ four[3] ^ a[i];
                let left = four[0] ^ select(a[i], generator);
                let right = four[2] ^ select(b[i], evaluator ^ a[i]);
                let (low, high) = tables[i].split_at_mut(16);
                low.copy_from_slice(&generator.to_le_bytes());
                high.copy_from_slice(&evaluator.to_le_bytes());
                out[i] = left ^ right;
            }
        }
    }

    pub(super) fn evaluate(
        &self,
        first: usize,
        a: &[u128],
        b: &[u128],
        tables: &[[u8; 32]],
        out: &mut [u128],
    ) {
        let mut hashes = [0u128; 2 * GATES_PER_KEY];
        for start in (0..out.len()).step_by(GATES_PER_KEY) {
            let end = out.len().min(start + GATES_PER_KEY);
            let hashes = &mut hashes[..2 * (end - start)];
            for (i, two) in (start..end).zip(hashes.chunks_exact_mut(2)) {
                let tweak = 2 * (first + i) as u128;
                two[0] = sigma(a[i]) ^ tweak;
                two[1] = sigma(b[i]) ^ (tweak + 1);
            }
            self.davies_meyer(hashes);
            for (i, two) in (start..end).zip(hashes.chunks_exact(2)) {
                let [generator, evaluator] = [0, 16].map(|at| {
                    let mut word = [0; 16];
                    word.copy_from_slice(&tables[i][at..at + 16]);
                    u128::from_le_bytes(word)
                });
                let left = two[0] ^ select(a[i], generator);
                out[i] = left ^ two[1] ^ select(b[i], evaluator ^ a[i]);
            }
        }
    }

    pub(super) fn hash(&self, first: usize, values: &mut [u128]) {
        for (i, value) in values.iter_mut().enumerate() {
            *value = sigma(*value) ^ (first + i) as u128;
        }
        self.davies_meyer(values);
    }

    pub(super) fn children(&self, first: usize, nodes: &mut [u128]) -> u128 {
        let (mut end, mut total) = (nodes.len() / 2, 0);
        let mut hashes = [0; 64];
        while end > 0 {
            let start = (end - 1) / 64 * 64;
            let hashes = &mut hashes[..end - start];
            hashes.copy_from_slice(&nodes[start..end]);
            self.hash(first + start, hashes);
            for (j, hash) in (start..end).zip(hashes).rev() {
                (nodes[2 * j], nodes[2 * j + 1]) = (*hash, nodes[j] ^ *hash);
                total ^= *hash;
            }
            end = start;
        }
        total
    }

    pub(super) fn counter_stream(&self, counter: u64, out: &mut [u128]) {
        for (i, block) in out.iter_mut().enumerate() {
            *block = u128::from(counter.wrapping_add(i as u64));
        }
        self.encrypt(out, |_, cipher| cipher);
    }

    /// Every block x becomes E(x) ⊕ x.
    fn davies_meyer(&self, values: &mut [u128]) {
        self.encrypt(values, |block, cipher| block ^ cipher);
    }

    fn encrypt(&self, values: &mut [u128], combine: impl Fn(u128, u128) -> u128) {
        let mut blocks = [Block::default(); 64];
        for chunk in values.chunks_mut(64) {
            let blocks = &mut blocks[..chunk.len()];
            for (block, value) in blocks.iter_mut().zip(chunk.iter()) {
                *block = value.to_le_bytes().into();
            }
            self.0.encrypt_blocks(blocks);
            for (block, value) in blocks.iter().zip(chunk) {
                *value = combine(*value, u128::from_le_bytes((*block).into()));
            }
        }
    }
}

/// `value` if the label's pointer bit is set, else 0, without a branch.
fn select(label: u128, value: u128) -> u128 {
    (label & 1).wrapping_neg() & value
}
