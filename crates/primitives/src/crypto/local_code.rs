//! A public sparse matrix by which few correlated transfers become many: row i has
//! [`WEIGHT`] entries in random places, and what it stands for is the XOR of that many blocks.
//!
//! The places of rows 2p and 2p + 1 come from five blocks of AES in counter mode, from 5p on, under a
//! public key: twenty words of 32 bits, the lowest first, ten for each row. Word w means place
//! ⌊w·k / 2³²⌋ of k: places are uniform but for a relative k/2³², and exactly where k is a power of two.
//! They may repeat, in which case they cancel; with k = 262,144 that happens to one row in 5,800.
//!
//! The places are public, so that the memory accesses reveal nothing.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::crypto::local_code::LocalCode;
//!
//! // The code is linear, whatever the blocks are.
//! let code = LocalCode::new(42);
//! let (a, b) = ([1, 2, 4, 8], [16, 32, 64, 128]);
//! let sums: Vec<u128> = a.iter().zip(b).map(|(a, b)| a ^ b).collect();
//! let mut rows = [[0; 6]; 3];
//! code.add(100, &a, &mut rows[0]);
//! code.add(100, &b, &mut rows[1]);
//! code.add(100, &sums, &mut rows[2]);
//! for i in 0..6 {
//!     assert_eq!(rows[0][i] ^ rows[1][i], rows[2][i]);
//! }
//! ```

use crate::simd::aes::RoundKeys;
use crate::simd::gather::{BLOCKS_PER_PAIR, xor_gathered};

/// Entries of a row.
pub const WEIGHT: usize = 10;

/// Rows that are looked up together: their places fit the processor's caches.
const GROUP: usize = 256;

/// The matrix, as many rows of it as are asked for.
pub struct LocalCode {
    keys: RoundKeys,
}

impl LocalCode {
    /// The matrix of this public seed.
    pub fn new(seed: u128) -> Self {
        Self { keys: RoundKeys::new(seed) }
    }

    /// XORs into `rows` the product of the matrix, from row `first` on, with `secret`. `first` must
    /// be even.
    ///
    /// # Panics
    /// If `first` or the number of rows is odd, or `secret` is empty or has 2³² blocks.
    pub fn add(&self, first: u64, secret: &[u128], rows: &mut [u128]) {
        assert!(first.is_multiple_of(2) && rows.len().is_multiple_of(2), "rows come in pairs");
        let mut places = [0; GROUP / 2 * BLOCKS_PER_PAIR];
        for (number, rows) in (0..).zip(rows.chunks_mut(GROUP)) {
            let pair = first / 2 + number * (GROUP as u64 / 2);
            let places = &mut places[..rows.len() / 2 * BLOCKS_PER_PAIR];
            self.keys.counter_stream(BLOCKS_PER_PAIR as u64 * pair, places);
            xor_gathered(rows, secret, places);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_the_same_however_many_are_asked_for_together() {
        let secret: Vec<u128> = (1..=77).map(|i| (i << 80) | (i * i)).collect();
        let code = LocalCode::new(9);
        let mut together = vec![0; 600];
        code.add(40, &secret, &mut together);
        let mut apart = vec![0; 600];
        let (head, tail) = apart.split_at_mut(202);
        code.add(40, &secret, head);
        code.add(242, &secret, tail);
        assert_eq!(together, apart);
    }

    #[test]
    fn every_place_is_used_about_as_often() {
        // One block at a time is set, so that a row shows how often that block was used, modulo 2.
        let mut rows = vec![0; 4096];
        let secret: Vec<u128> = (0..64).map(|i| 1 << i).collect();
        LocalCode::new(3).add(0, &secret, &mut rows);
        for place in 0..64 {
            let taken = rows.iter().filter(|row| *row >> place & 1 == 1).count();
            assert!((450..700).contains(&taken), "{place}: {taken}");
        }
    }
}
