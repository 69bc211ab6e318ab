//! The contents of a hint, and its messages.

use zeroize::Zeroizing;

use super::{Blocks, JoinShape, MOST_PAYLOAD_BITS};
use crate::Error;
use crate::crypto::okvs::{self, Layout, Store};
use crate::math::Randomness;
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::bits::Bits;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::ot::chunks;
use crate::simd::aes::RoundKeys;

/// The seed of a hint's store.
pub(super) const SEED: Tag = Tag::new(*b"jnsd");
/// Columns of it.
pub(super) const STORE: Tag = Tag::new(*b"jnst");

/// Columns in a message.
const CHUNK: usize = 1 << 15;
/// Identifiers whose keys are made together.
pub(super) const PART: usize = 1 << 16;

/// A key of the function: which of its bins, and the digest of an identifier. All are of one length.
pub type Query = [u8; 33];

/// The key of an identifier in its bin number `number` of three.
pub fn query(number: u8, digest: &[u8; 32]) -> Query {
    let mut query = [number; 33];
    query[1..].copy_from_slice(digest);
    query
}

/// The key of an empty bin.
pub fn empty_query(bin: usize) -> Query {
    let mut query = [0; 33];
    query[0] = u8::MAX;
    query[1..9].copy_from_slice(&(bin as u64).to_le_bytes());
    query
}

/// How wide target and payload are: the target has the lowest bits of a block, the payload the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields {
    /// Bits of the target.
    pub target: usize,
    /// Bits of the payload.
    pub payload: usize,
}

impl Fields {
    /// # Errors
    /// If the payload has too many bits.
    pub(super) fn new(target: usize, payload: usize) -> Result<Self, Error> {
        if payload > MOST_PAYLOAD_BITS {
            return Err(payload_bits(MOST_PAYLOAD_BITS));
        }
        Ok(Self { target, payload })
    }

    fn bits(self) -> usize {
        self.target + self.payload
    }

    /// Bytes of a column.
    fn bytes(self) -> usize {
        self.bits().div_ceil(8)
    }

    /// Ones in all bits that are used.
    fn mask(self) -> u128 {
        u128::MAX.checked_shr(128 - self.bits() as u32).unwrap_or(0)
    }

    pub(super) fn check_payloads(self, payloads: &[u32], own: usize) -> Result<(), Error> {
        if payloads.len() != own && !(self.payload == 0 && payloads.is_empty()) {
            return Err(Error::internal(format!(
                "{} payloads for {own} identifiers",
                payloads.len()
            )));
        }
        let all = payloads.iter().fold(0, |all, payload| all | payload);
        if u64::from(all) >> self.payload != 0 {
            return Err(payload_bits(self.payload));
        }
        Ok(())
    }

    /// Uniform and independent targets and masks, for every bin.
    pub(super) fn draw(self, bins: usize, rng: &mut Randomness) -> Blocks {
        let key = Zeroizing::new(rng.array());
        let mut blocks = Zeroizing::new(vec![0; bins]);
        RoundKeys::new(u128::from_le_bytes(*key)).counter_stream(0, &mut blocks);
        let mask = self.mask();
        blocks.iter_mut().for_each(|block| *block &= mask);
        blocks
    }

    /// The entry of a hint for a key of a bin for which this was drawn, `value` being F of the key.
    ///
    /// # Panics
    /// If target and payload have more than 128 bits.
    pub fn programmed(self, drawn: u128, payload: u32, value: u128) -> u128 {
        (drawn ^ u128::from(payload) << self.target ^ value) & self.mask()
    }

    /// What a bin's owner finds, from the hint's entry for its key, and F of it.
    pub fn read(self, hinted: u128, value: u128) -> u128 {
        (hinted ^ value) & self.mask()
    }

    pub(super) fn payload_of(self, blocks: &[u128]) -> Vec<Bits> {
        Bits::slices(blocks, self.target..self.bits())
    }
}

/// Keys of a hint, with their values.
pub(super) struct Entries {
    keys: Zeroizing<Vec<u128>>,
    values: Zeroizing<Vec<u128>>,
}

impl Entries {
    pub fn with_capacity(keys: usize) -> Self {
        let room = || Zeroizing::new(Vec::with_capacity(keys));
        Self { keys: room(), values: room() }
    }

    /// Within the capacity.
    pub fn push(&mut self, key: u128, value: u128) {
        self.keys.push(key);
        self.values.push(value);
    }
}

/// Sends a store with these entries.
pub(super) fn send(
    session: &mut Session,
    shape: &JoinShape,
    fields: Fields,
    entries: &Entries,
) -> Result<(), Error> {
    let layout = Layout::for_keys(shape.keys());
    let (seed, table) = okvs::encode(layout, &entries.keys, &entries.values, &mut session.rng)?;
    session.channel.send_bytes(SEED, &seed.to_le_bytes())?;
    let (mask, bytes) = (fields.mask(), fields.bytes());
    let mut message = Vec::with_capacity(bytes * CHUNK.min(table.len()));
    for part in table.chunks(CHUNK) {
        message.clear();
        for block in part {
            message.extend_from_slice(&(block & mask).to_le_bytes()[..bytes]);
        }
        session.channel.send_bytes(STORE, &message)?;
    }
    Ok(())
}

/// The store of a hint, and its table, which grows as messages arrive.
pub(super) fn receive(
    session: &mut Session,
    shape: &JoinShape,
    fields: Fields,
) -> Result<(Store, Vec<u128>), Error> {
    let layout = Layout::for_keys(shape.keys());
    let mut message = session.channel.receive_bytes(SEED, 16)?;
    let seed = u128::from_le_bytes(message.as_chunks().0.first().copied().unwrap_or_default());
    let (mut table, bytes) = (Vec::new(), fields.bytes());
    for columns in chunks(layout.columns(), CHUNK) {
        session.channel.receive_bytes_into(STORE, bytes * columns, &mut message)?;
        table.extend(message.chunks_exact(bytes).map(|column| {
            let mut block = [0; 16];
            block[..bytes].copy_from_slice(column);
            u128::from_le_bytes(block)
        }));
    }
    Ok((Store::new(layout, seed), table))
}

/// The messages of [`send`], and the work of making and reading a hint.
pub(super) fn forecast(f: &mut Forecast, shape: &JoinShape, fields: Fields) {
    let giver = shape.owner.peer();
    f.work(Work::Lookup, if f.role() == giver { 2 * shape.keys() } else { 2 * shape.bins() });
    f.message(giver, SEED, 16);
    for columns in chunks(Layout::for_keys(shape.keys()).columns(), CHUNK) {
        f.message(giver, STORE, fields.bytes() * columns);
    }
}

/// A payload, or the number of its bits, is too large. (The error does not say which payload.)
fn payload_bits(bits: usize) -> Error {
    Error::internal(format!("a payload has more than {bits} bits"))
}
