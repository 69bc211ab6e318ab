//! The mathematics of oblivious transfer: base transfers on ristretto255
//! (Chou, Orlandi 2015), their extension (Ishai, Kilian, Nissim, Petrank 2003,
//! with the pseudorandom columns of Asharov, Lindell, Schneider, Zohner 2013).
//!
//! # Base transfers
//!
//! The sender has y and sends S = yG. For each transfer the receiver has a
//! choice c and x, and sends R = xG + cS. The keys are k₀ = H(i, S, R, 2yR) and
//! k₁ = H(i, S, R, 2y(R − S)); the receiver computes k_c = H(i, S, R, 2xS).
//! R is uniform whatever c is, so the sender learns nothing. The two keys'
//! points differ by 2y²G; with H a random oracle a receiver who knew both would
//! have computed the Diffie–Hellman value of S with itself. (2P in place of P:
//! twice a point is encoded several times faster in bulk.)
//!
//! # Extension
//!
//! The roles turn round: the extension's sender has Δ and receives, for every
//! bit i of it, seed k_{Δᵢ}; the receiver has both. With tᵢ = PRG(k₀ᵢ) the
//! receiver sends uᵢ = tᵢ ⊕ PRG(k₁ᵢ) ⊕ r for its choices r, and the sender
//! computes qᵢ = PRG(k_{Δᵢ}) ⊕ Δᵢ·uᵢ. Read by rows, qⱼ = tⱼ ⊕ rⱼ·Δ: a
//! correlated transfer. u is masked by the seed that the sender lacks.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::crypto::garble::Delta;
//! use diptych_primitives::crypto::ot::{BaseReceiver, BaseSender, ExtensionReceiver, ExtensionSender};
//! use diptych_primitives::math::Randomness;
//!
//! let mut rng = Randomness::from_os()?;
//! let delta = Delta::random(&mut rng);
//!
//! // Base transfers: of 128 pairs of keys, the bits of Δ say which one the receiver gets.
//! let sender = BaseSender::new(&mut rng);
//! let receiver = BaseReceiver::new(sender.public(), delta.expose(), &mut rng)?;
//! let (pairs, seeds) = (sender.keys(b"example", receiver.answers())?, receiver.keys(b"example"));
//! assert_eq!(seeds[0], pairs[0][1], "the lowest bit of Δ is 1");
//!
//! // The extension turns the roles round: 128 transfers, of which number 1 is chosen to be q ⊕ Δ.
//! let (mut message, mut t, mut q) = (Vec::new(), Vec::new(), Vec::new());
//! ExtensionReceiver::new(&pairs).extend(&[0b10], &mut message, &mut t);
//! ExtensionSender::new(delta.clone(), &seeds).extend(&message, &mut q);
//! assert_eq!(t[0], q[0]);
//! assert_eq!(t[1], q[1] ^ delta.expose());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoBasepointTable, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;
use sha2::{Digest, Sha256};
use subtle::{Choice, ConditionallySelectable};
use zeroize::{Zeroize, Zeroizing};

use crate::Error;
use crate::crypto::garble::Delta;
use crate::math::{Randomness, wiped};
use crate::simd::aes::RoundKeys;
use crate::simd::lanes;
use crate::simd::transpose::{Square, transpose};

/// Number of base transfers: one per bit of Δ.
pub const BASE_TRANSFERS: usize = 128;

/// Transfers that one column block of 16 bytes serves.
pub const ROWS: usize = 128;

/// Bytes that the extension's receiver sends per block of [`ROWS`] transfers.
pub const BLOCK_BYTES: usize = BASE_TRANSFERS * 16;

/// The sender of the base transfers, who will receive in the extension.
pub struct BaseSender {
    secret: Scalar,
    public: CompressedRistretto,
}

impl BaseSender {
    /// Draws the secret.
    pub fn new(rng: &mut Randomness) -> Self {
        Self::from_secret(random_scalar(rng))
    }

    /// With this secret, for vectors.
    pub fn from_secret(secret: Scalar) -> Self {
        Self { secret, public: RistrettoPoint::mul_base(&secret).compress() }
    }

    /// S, for the receiver.
    pub fn public(&self) -> [u8; 32] {
        self.public.to_bytes()
    }

    /// Both keys of every transfer. About 50 µs each.
    ///
    /// # Errors
    /// [`Error::InvalidPoint`] if a point is not acceptable.
    pub fn keys(&self, context: &[u8], received: &[[u8; 32]]) -> Result<Vec<[u128; 2]>, Error> {
        let square = RistrettoPoint::mul_base(&(self.secret * self.secret));
        let mut points = Vec::with_capacity(2 * received.len());
        for bytes in received {
            let shared = accept(bytes)? * self.secret;
            points.extend([shared, shared - square]);
        }
        let encoded = RistrettoPoint::double_and_compress_batch(&points);
        let key = |i: usize, point| derive(context, i, &self.public(), &received[i], point);
        Ok(encoded
            .chunks_exact(2)
            .enumerate()
            .map(|(i, two)| [key(i, &two[0]), key(i, &two[1])])
            .collect())
    }
}

impl Drop for BaseSender {
    fn drop(&mut self) {
        self.secret.zeroize();
    }
}

/// The receiver of the base transfers, who will send in the extension.
pub struct BaseReceiver {
    secrets: Vec<Scalar>,
    sent: Vec<[u8; 32]>,
    table: RistrettoBasepointTable,
    public: [u8; 32],
}

impl BaseReceiver {
    /// Answers S for every bit of `choices`. About 15 µs each.
    ///
    /// # Errors
    /// [`Error::InvalidPoint`] if S is not acceptable.
    pub fn new(public: [u8; 32], choices: u128, rng: &mut Randomness) -> Result<Self, Error> {
        let secrets = (0..BASE_TRANSFERS).map(|_| random_scalar(rng)).collect();
        Self::from_secrets(public, choices, secrets)
    }

    /// With these secrets, one per transfer, for vectors.
    ///
    /// # Errors
    /// [`Error::InvalidPoint`] if S is not acceptable.
    pub fn from_secrets(
        public: [u8; 32],
        choices: u128,
        secrets: Vec<Scalar>,
    ) -> Result<Self, Error> {
        let point = accept(&public)?;
        let half = Scalar::from(2u8).invert();
        let half_point = point * half;
        let halves: Vec<RistrettoPoint> = secrets
            .iter()
            .enumerate()
            .map(|(i, secret)| {
                let chosen = Choice::from((choices >> i & 1) as u8);
                let mask = RistrettoPoint::conditional_select(
                    &RistrettoPoint::identity(),
                    &half_point,
                    chosen,
                );
                RistrettoPoint::mul_base(&(secret * half)) + mask
            })
            .collect();
        let sent = RistrettoPoint::double_and_compress_batch(&halves);
        let sent = sent.iter().map(CompressedRistretto::to_bytes).collect();
        Ok(Self { secrets, sent, table: RistrettoBasepointTable::create(&point), public })
    }

    /// R of every transfer, for the sender.
    pub fn answers(&self) -> &[[u8; 32]] {
        &self.sent
    }

    /// The chosen key of every transfer.
    pub fn keys(&self, context: &[u8]) -> Vec<u128> {
        let points: Vec<RistrettoPoint> = self.secrets.iter().map(|x| x * &self.table).collect();
        let encoded = RistrettoPoint::double_and_compress_batch(&points);
        encoded
            .iter()
            .enumerate()
            .map(|(i, point)| derive(context, i, &self.public, &self.sent[i], point))
            .collect()
    }
}

impl Drop for BaseReceiver {
    fn drop(&mut self) {
        self.secrets.zeroize();
    }
}

fn random_scalar(rng: &mut Randomness) -> Scalar {
    Scalar::from_bytes_mod_order_wide(&rng.array())
}

fn accept(bytes: &[u8; 32]) -> Result<RistrettoPoint, Error> {
    let point = CompressedRistretto(*bytes).decompress().ok_or(Error::InvalidPoint)?;
    if point == RistrettoPoint::identity() { Err(Error::InvalidPoint) } else { Ok(point) }
}

fn derive(
    context: &[u8],
    index: usize,
    public: &[u8; 32],
    answer: &[u8; 32],
    point: &CompressedRistretto,
) -> u128 {
    let digest = Sha256::new()
        .chain_update(b"diptych/v1/base-ot\0")
        .chain_update((context.len() as u64).to_le_bytes())
        .chain_update(context)
        .chain_update((index as u64).to_le_bytes())
        .chain_update(public)
        .chain_update(answer)
        .chain_update(point.as_bytes())
        .finalize();
    let mut key = [0; 16];
    key.copy_from_slice(&digest[..16]);
    u128::from_le_bytes(key)
}

/// The sender's half of the extension.
pub struct ExtensionSender {
    delta: Delta,
    columns: Vec<RoundKeys>,
    next_block: u64,
    buffer: Vec<u128>,
}

impl ExtensionSender {
    /// From Δ and, for each of its bits, the chosen seed.
    pub fn new(delta: Delta, seeds: &[u128]) -> Self {
        let columns = seeds.iter().map(|seed| RoundKeys::new(*seed)).collect();
        Self { delta, columns, next_block: 0, buffer: Vec::new() }
    }

    /// The offset Δ between the two messages of every transfer.
    pub fn delta(&self) -> &Delta {
        &self.delta
    }

    /// Extends by `received` (whole blocks of [`BLOCK_BYTES`]): appends q of [`ROWS`] transfers per block.
    pub fn extend(&mut self, received: &[u8], rows: &mut Vec<u128>) {
        let blocks = received.len() / BLOCK_BYTES;
        wiped::resize(&mut self.buffer, BASE_TRANSFERS * blocks);
        let (delta, next) = (self.delta.expose(), self.next_block);
        let places = self.buffer.chunks_exact_mut(blocks.max(1));
        let parts = received.chunks_exact(16 * blocks.max(1));
        for (i, ((keys, column), part)) in self.columns.iter().zip(places).zip(parts).enumerate() {
            keys.counter_stream(next, column);
            let mask = (delta >> i & 1).wrapping_neg();
            for (word, bytes) in column.iter_mut().zip(part.as_chunks::<16>().0) {
                *word ^= u128::from_le_bytes(*bytes) & mask;
            }
        }
        self.next_block += blocks as u64;
        rows_of(&self.buffer, blocks, rows);
    }
}

impl Drop for ExtensionSender {
    fn drop(&mut self) {
        self.buffer.zeroize();
    }
}

/// The receiver's half of the extension.
pub struct ExtensionReceiver {
    columns: Vec<[RoundKeys; 2]>,
    next_block: u64,
    buffer: Vec<u128>,
    mask: Vec<u128>,
}

impl ExtensionReceiver {
    /// From both seeds of every base transfer.
    pub fn new(seeds: &[[u128; 2]]) -> Self {
        let columns = seeds.iter().map(|pair| pair.map(RoundKeys::new)).collect();
        Self { columns, next_block: 0, buffer: Vec::new(), mask: Vec::new() }
    }

    /// Extends for `choices` (bit j of word b is transfer 128b + j): appends what
    /// goes to the sender and t of every transfer.
    pub fn extend(&mut self, choices: &[u128], message: &mut Vec<u8>, rows: &mut Vec<u128>) {
        let blocks = choices.len();
        wiped::resize(&mut self.buffer, BASE_TRANSFERS * blocks);
        wiped::resize(&mut self.mask, blocks);
        message.reserve(BLOCK_BYTES * blocks);
        let places = self.buffer.chunks_exact_mut(blocks.max(1));
        for ([zero, one], column) in self.columns.iter().zip(places) {
            zero.counter_stream(self.next_block, column);
            let mask = &mut self.mask[..blocks];
            one.counter_stream(self.next_block, mask);
            for ((word, mask), choice) in column.iter().zip(mask).zip(choices) {
                message.extend_from_slice(&(word ^ *mask ^ choice).to_le_bytes());
            }
        }
        self.next_block += blocks as u64;
        rows_of(&self.buffer, blocks, rows);
    }
}

impl Drop for ExtensionReceiver {
    fn drop(&mut self) {
        self.buffer.zeroize();
        self.mask.zeroize();
    }
}

/// Reads a matrix that is stored by columns (`blocks` words each) by rows.
pub(super) fn rows_of(columns: &[u128], blocks: usize, rows: &mut Vec<u128>) {
    rows.reserve(blocks * ROWS);
    let mut square: Square = [0; 128];
    for block in 0..blocks {
        for (word, column) in square.iter_mut().zip(columns.chunks_exact(blocks)) {
            *word = column[block];
        }
        transpose(&mut square);
        rows.extend_from_slice(&square);
    }
}

/// Rows that one key of their hash serves.
const ROWS_PER_KEY: u64 = 128;

/// Breaks the correlation: row j becomes H(row j, first + j), a random string.
/// `start` is the hash's starting point; see [`crate::crypto::garble`] for the hash.
pub fn hash_rows(start: u128, first: u64, rows: &mut [u128]) {
    let (mut rest, mut next) = (rows, first);
    while !rest.is_empty() {
        let position = next % ROWS_PER_KEY;
        let count = rest.len().min((ROWS_PER_KEY - position) as usize);
        let (now, later) = rest.split_at_mut(count);
        RoundKeys::new(start ^ u128::from(next / ROWS_PER_KEY)).hash(position as usize, now);
        next += count as u64;
        rest = later;
    }
}

/// The lowest bits of the rows, 64 to a word, the first in the lowest place.
pub fn lowest_bits(rows: &[u128]) -> Vec<u64> {
    rows.chunks(64).map(lanes::lowest_bits).collect()
}

/// The lowest bits of H(row j ⊕ `offset`, first + j): [`hash_rows`] and [`lowest_bits`] without a copy
/// of all rows.
pub fn lowest_hash_bits(
    start: u128,
    first: u64,
    offset: u128,
    rows: &[u128],
) -> Zeroizing<Vec<u64>> {
    let mut bits = Zeroizing::new(Vec::with_capacity(rows.len().div_ceil(64)));
    let mut hashes = Zeroizing::new([0; HASHED_TOGETHER]);
    for (number, rows) in (0..).zip(rows.chunks(HASHED_TOGETHER)) {
        let hashes = &mut hashes[..rows.len()];
        hashes.iter_mut().zip(rows).for_each(|(hash, row)| *hash = row ^ offset);
        hash_rows(start, first + number * HASHED_TOGETHER as u64, hashes);
        bits.extend(lowest_bits(hashes));
    }
    bits
}

/// Hashes of which [`lowest_hash_bits`] keeps the lowest bits: a batch fits the processor's caches.
const HASHED_TOGETHER: usize = 512;

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(delta: &Delta) -> (Vec<u128>, Vec<[u128; 2]>) {
        let mut rng = Randomness::seeded(4);
        let sender = BaseSender::new(&mut rng);
        let receiver = BaseReceiver::new(sender.public(), delta.expose(), &mut rng).unwrap();
        let both = sender.keys(b"test", receiver.answers()).unwrap();
        (receiver.keys(b"test"), both)
    }

    #[test]
    fn the_receiver_of_base_transfers_gets_the_chosen_key_only() {
        let delta = Delta::new(0x1234_5678_9abc_def0_0fed_cba9_8765_4321);
        let (chosen, both) = seeds(&delta);
        for (i, (chosen, both)) in chosen.iter().zip(&both).enumerate() {
            let bit = (delta.expose() >> i & 1) as usize;
            assert_eq!(*chosen, both[bit]);
            assert_ne!(*chosen, both[1 - bit]);
        }
    }

    #[test]
    fn lowest_bits_of_hashes_are_those_of_hashed_rows() {
        let rows: Vec<u128> =
            (1..=1_300).map(|i: u128| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
        for (first, offset) in [(0, 0), (77, 5), (128, u128::MAX)] {
            let mut hashed: Vec<u128> = rows.iter().map(|row| row ^ offset).collect();
            hash_rows(3, first, &mut hashed);
            let due: Vec<bool> = hashed.iter().map(|hash| hash & 1 == 1).collect();
            let found = lowest_hash_bits(3, first, offset, &rows);
            let found: Vec<bool> = (0..1_300).map(|i| found[i / 64] >> (i % 64) & 1 == 1).collect();
            assert_eq!(found, due);
        }
    }

    #[test]
    fn points_that_are_no_points_or_the_identity_are_refused() {
        let mut rng = Randomness::seeded(1);
        let sender = BaseSender::new(&mut rng);
        for bad in [[0; 32], [0xff; 32]] {
            assert!(BaseReceiver::new(bad, 1, &mut rng).is_err());
            assert_eq!(sender.keys(b"", &[bad]).err(), Some(Error::InvalidPoint));
        }
    }

    #[test]
    fn extended_transfers_are_correlated_by_delta() {
        let delta = Delta::random(&mut Randomness::seeded(9));
        let (chosen, both) = seeds(&delta);
        let mut sender = ExtensionSender::new(delta.clone(), &chosen);
        let mut receiver = ExtensionReceiver::new(&both);
        let (mut q, mut t, mut choices) = (Vec::new(), Vec::new(), Vec::new());
        for blocks in [1, 3, 8] {
            let step = 0x9e37_79b9_7f4a_7c15_f39c_0c13_57bd_2469u128;
            let words: Vec<u128> = (1..=blocks).map(|i| step.wrapping_mul(i)).collect();
            let mut message = Vec::new();
            receiver.extend(&words, &mut message, &mut t);
            assert_eq!(message.len(), BLOCK_BYTES * words.len());
            sender.extend(&message, &mut q);
            choices.extend(words);
        }
        assert_eq!(q.len(), 12 * ROWS);
        for (j, (q, t)) in q.iter().zip(&t).enumerate() {
            let choice = choices[j / 128] >> (j % 128) & 1;
            assert_eq!(q ^ t, choice * delta.expose(), "transfer {j}");
        }
        let mut together = t.clone();
        hash_rows(5, 0, &mut together);
        hash_rows(5, 0, &mut t[..100]);
        hash_rows(5, 100, &mut t[100..]);
        assert_eq!(together, t);
    }
}
