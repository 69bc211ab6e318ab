//! Many shares over Z_{2^k}, k ≤ 64.

use std::fmt;

use zeroize::Zeroizing;

use super::{CHUNK_BYTES, OPENED, exchange, mismatch, out_of_ring};
use crate::Error;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::yao::Reveal;

/// One party's shares of many values over Z_{2^k}, one word each: tables of counts, scores.
/// Wiped when dropped, never printed.
#[derive(Clone)]
pub struct WordShares {
    bits: u32,
    words: Zeroizing<Vec<u64>>,
}

impl WordShares {
    /// Shares with given numbers, reduced modulo 2^`bits`.
    ///
    /// # Errors
    /// Unless 1 ≤ `bits` ≤ 64.
    pub fn new(bits: u32, mut words: Vec<u64>) -> Result<Self, Error> {
        let mask = mask(bits).ok_or_else(|| Error::internal(word_bits(bits)))?;
        words.iter_mut().for_each(|word| *word &= mask);
        Ok(Self { bits, words: Zeroizing::new(words) })
    }

    /// k of the ring Z_{2^k}.
    pub fn bits(&self) -> u32 {
        self.bits
    }

    /// How many values are shared.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The shares themselves, which are this party's secret.
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// Shares of the sums.
    ///
    /// # Errors
    /// For another k or another number of values.
    pub fn plus(&self, other: &Self) -> Result<Self, Error> {
        if self.bits != other.bits || self.len() != other.len() {
            return Err(mismatch());
        }
        let sums = self.words.iter().zip(other.words.iter()).map(|(a, b)| a.wrapping_add(*b));
        Self::new(self.bits, sums.collect())
    }

    /// Shares of the values plus numbers that only this party knows, such as its noise.
    ///
    /// # Errors
    /// For another number of values.
    pub fn plus_own(&self, own: &[i64]) -> Result<Self, Error> {
        if self.len() != own.len() {
            return Err(mismatch());
        }
        let sums = self.words.iter().zip(own).map(|(a, b)| a.wrapping_add_signed(*b));
        Self::new(self.bits, sums.collect())
    }

    /// Reveals the values to the parties in `reveal`.
    ///
    /// # Errors
    /// If the connection fails or the peer sends something that is not a list of shares.
    pub fn open(&self, session: &mut Session, reveal: Reveal) -> Result<Option<Vec<u64>>, Error> {
        let mut values = Vec::new();
        let bytes = self.bits.div_ceil(8) as usize;
        let mask = mask(self.bits).ok_or_else(|| Error::internal(word_bits(self.bits)))?;
        for chunk in self.words.chunks(CHUNK_BYTES / 8) {
            let body: Vec<u8> =
                chunk.iter().flat_map(|word| word.to_le_bytes().into_iter().take(bytes)).collect();
            let Some(theirs) = exchange(session, &body, reveal)? else { continue };
            for (word, theirs) in chunk.iter().zip(theirs.chunks_exact(bytes)) {
                let mut peer = [0; 8];
                peer[..bytes].copy_from_slice(theirs);
                let peer = u64::from_le_bytes(peer);
                if peer > mask {
                    return Err(out_of_ring());
                }
                values.push(word.wrapping_add(peer) & mask);
            }
        }
        Ok(reveal.to(session.role).then_some(values))
    }
}

/// The messages of opening `count` shares of `bits` bits to both.
pub fn forecast_open(f: &mut Forecast, bits: u32, count: usize) {
    let bytes = bits.div_ceil(8) as usize;
    let most = CHUNK_BYTES / 8;
    for first in (0..count).step_by(most) {
        f.exchange(OPENED, most.min(count - first) * bytes);
    }
}

impl fmt::Debug for WordShares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WordShares({} of {} bits, hidden)", self.len(), self.bits)
    }
}

/// The number in [−2^(k−1), 2^(k−1)) that a word of k bits stands for.
pub fn signed(word: u64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    (word << unused).cast_signed() >> unused
}

fn mask(bits: u32) -> Option<u64> {
    (1..=64).contains(&bits).then(|| u64::MAX >> (64 - bits))
}

/// Words have 1 to 64 bits.
pub(crate) fn word_bits(bits: u32) -> String {
    format!("words of {bits} bits: from 1 to 64 are possible")
}
