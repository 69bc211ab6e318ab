//! A public sparse matrix over the field with 2^128 elements, by which few pieces of vector OLE become
//! many: row i has [`WEIGHT`] entries, each a random coefficient in a random place.
//!
//! Row i comes from twenty blocks of AES in counter mode, from 20·i on, under a public key: four with
//! sixteen words of 32 bits, the lowest first, then sixteen coefficients. Word w means place
//! ⌊w·k / 2³²⌋ of k. Places may repeat: their coefficients add up.
//!
//! *Why coefficients.* With ones alone, each bit position of the elements would be a separate
//! instance over two elements, with the same noise in all but in each with only half of it: an
//! attacker on one bit position would need half the guesses in the exponent. A coefficient mixes
//! all bits.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::crypto::field_code::FieldCode;
//! use diptych_primitives::simd::field::multiply;
//!
//! // The code is linear over the field.
//! let (code, secret, by) = (FieldCode::new(42), [1, 2, 4, 8], 99 << 90);
//! let (mut rows, mut times) = ([0; 6], [0; 6]);
//! code.add(100, [&secret, &secret.map(|s| multiply(s, by))], [&mut rows, &mut times]);
//! assert_eq!(rows.map(|row| multiply(row, by)), times);
//! ```

use crate::simd::aes::RoundKeys;
use crate::simd::field::add_gathered;

/// Entries of a row.
pub const WEIGHT: usize = 16;

/// Blocks with the places of a row, then those with its coefficients.
const PLACE_BLOCKS: usize = WEIGHT / 4;
const ROW_BLOCKS: usize = PLACE_BLOCKS + WEIGHT;

/// Rows that are computed together: their inputs fit the processor's caches.
const GROUP: usize = 32;

/// The matrix, as many rows of it as are asked for.
pub struct FieldCode {
    keys: RoundKeys,
}

impl FieldCode {
    /// The matrix of this public seed.
    pub fn new(seed: u128) -> Self {
        Self { keys: RoundKeys::new(seed) }
    }

    /// Adds to each of `rows` the product of the matrix, from row `first` on, with the secret at
    /// the same index; all secrets have one length, and so have all rows.
    ///
    /// # Panics
    /// If lengths differ, or a secret is empty or has 2³² elements.
    pub fn add<const N: usize>(
        &self,
        first: u64,
        secrets: [&[u128]; N],
        mut rows: [&mut [u128]; N],
    ) {
        let [length, count] =
            [secrets.first().map_or(0, |s| s.len()), rows.first().map_or(0, |r| r.len())];
        assert!(secrets.iter().all(|secret| secret.len() == length), "secrets of one length");
        assert!(rows.iter().all(|rows| rows.len() == count), "rows of one length");
        let length = u32::try_from(length).unwrap_or(0);
        assert!(length > 0, "a secret of 1 to 2^32 - 1 elements");
        let mut blocks = [0; GROUP * ROW_BLOCKS];
        let (mut places, mut coefficients) = ([0; GROUP * WEIGHT], [0; GROUP * WEIGHT]);
        for start in (0..count).step_by(GROUP) {
            let group = GROUP.min(count - start);
            let blocks = &mut blocks[..group * ROW_BLOCKS];
            self.keys.counter_stream((first + start as u64) * ROW_BLOCKS as u64, blocks);
            let parts = places.chunks_mut(WEIGHT).zip(coefficients.chunks_mut(WEIGHT));
            for (row, (places, coefficients)) in blocks.chunks(ROW_BLOCKS).zip(parts) {
                for (number, place) in places.iter_mut().enumerate() {
                    let word = (row[number / 4] >> (32 * (number % 4))) as u32;
                    *place = ((u64::from(word) * u64::from(length)) >> 32) as u32;
                }
                coefficients.copy_from_slice(&row[PLACE_BLOCKS..]);
            }
            let used = group * WEIGHT;
            for (secret, rows) in secrets.iter().zip(&mut rows) {
                let rows = &mut rows[start..start + group];
                add_gathered(rows, secret, &places[..used], &coefficients[..used]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::simd::field::multiply;

    #[test]
    fn rows_are_the_same_however_many_are_asked_for_together() {
        let secret: Vec<u128> = (1..=77).map(|i| (i << 80) | (i * i)).collect();
        let code = FieldCode::new(9);
        let mut together = vec![0; 100];
        code.add(40, [&secret], [&mut together]);
        let mut apart = vec![0; 100];
        let (head, tail) = apart.split_at_mut(37);
        code.add(40, [&secret], [head]);
        code.add(77, [&secret], [tail]);
        assert_eq!(together, apart);
    }

    #[test]
    fn a_row_is_what_the_page_says() {
        let secret: Vec<u128> = (1..=50).map(|i| i << 70 | i).collect();
        let mut row = [5];
        FieldCode::new(3).add(7, [&secret], [&mut row]);
        let mut blocks = [0; 20];
        RoundKeys::portable(3).counter_stream(140, &mut blocks);
        let due = (0..16).fold(5, |sum, entry| {
            let word = blocks[entry / 4] >> (32 * (entry % 4)) & 0xffff_ffff;
            sum ^ multiply(secret[((word * 50) >> 32) as usize], blocks[4 + entry])
        });
        assert_eq!(row, [due]);
    }

    #[test]
    #[should_panic(expected = "rows of one length")]
    fn rows_that_are_missing_are_noticed() {
        FieldCode::new(1).add(0, [&[1], &[2]], [&mut [0; 2], &mut [0; 3]]);
    }
}
