//! An oblivious pseudorandom function: one party can evaluate F anywhere, the other learns it on its
//! own keys alone.
//!
//! *Inputs*: the receiver's keys, distinct. *Output*: to the receiver F of each of them; to the sender
//! a [`Sender`] that evaluates F. *Learned*: by the sender how many keys there are, nothing else; by
//! the receiver nothing of F elsewhere. *Cost*: 16 bytes per column of the store
//! ([`crate::crypto::okvs`]: 1.1 columns per key), and [`crate::protocol::vole`] with as many elements.
//! *Assumptions*: those of [`crate::protocol::vole`], and that SHA-256 is a random oracle.
//!
//! *How* (Rindal, Schoppmann, EUROCRYPT 2021; Raghuraman, Rindal, CCS 2022). Every key x is hashed with
//! the session to a key of the store and a value h(x). The receiver encodes its own keys with their
//! values as P, has A' and C = B + Δ·A' of the vector OLE, and sends A = P + A'. The sender has
//! K = B + Δ·A = C + Δ·P. To decode is linear, so for all keys of the receiver
//! Decode(K, y) + Δ·h(y) = Decode(C, y), and F is a hash of it:
//!
//! F(number, x) = SHA-256("diptych/v1/oprf-value", session, sender, number, x's hash,
//! Decode(K, x) + Δ·h(x)), the first 128 bits.
//!
//! *Why it hides.* A' is pseudorandom to the sender, so A is. To the receiver F of another key x is a
//! random oracle at a known element + Δ·(Decode(P, x) + h(x)), where the factor is 0 with probability
//! 2⁻¹²⁸: it would have to guess Δ, of 127 random bits. The number separates
//! outputs on the same key: each use has its own.
//!
//! *Failures*: if the keys cannot be encoded in a store (2⁻⁶⁵, [`crate::crypto::okvs`]), it is made
//! again with another seed, before anything is sent.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::Role;
//! use diptych_mpc::protocol::oprf::{self, hash_keys};
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::vole::Method;
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| {
//!         let keys = hash_keys(session, Role::P1, &["ada", "grace", "alan"]);
//!         let sender = oprf::Sender::setup(session, Method::Direct, 2)?;
//!         Ok::<_, diptych_mpc::Error>(sender.evaluate(0, &keys))
//!     },
//!     |session| {
//!         let keys = hash_keys(session, Role::P1, &["alan", "kurt"]);
//!         Ok::<_, diptych_mpc::Error>(oprf::Receiver::setup(session, Method::Direct, &keys)?.outputs(0, &keys))
//!     },
//! );
//! let (all, mine) = (outcome.p1?, outcome.p2?);
//! assert_eq!(all[2], mine[0]);
//! assert!(!all.contains(&mine[1]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod tests;

use rayon::prelude::*;
use sha2::{Digest, Sha256};
use zeroize::{Zeroize, Zeroizing};

use crate::Error;
use crate::crypto::okvs::{self, Layout, Store};
use crate::net::{SessionId, Tag};
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::ot::chunks;
use crate::protocol::vole::{self, Method};
use crate::role::Role;
use crate::simd::field;

/// The seed of the receiver's store.
const SEED: Tag = Tag::new(*b"ops0");
/// The receiver's store, masked.
const STORE: Tag = Tag::new(*b"ops1");

/// Blocks in a message.
const CHUNK: usize = 1 << 15;
/// Keys that one thread works on at a time.
const PART: usize = 1 << 10;

/// A key, hashed with the session. Wiped when its list is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Zeroize)]
pub struct HashedKey {
    store: u128,
    value: u128,
}

impl HashedKey {
    /// Its two halves.
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        let (halves, _) = bytes.as_chunks::<16>();
        let [store, value] = [halves[0], halves[1]].map(u128::from_le_bytes);
        Self { store, value }
    }

    /// The key in the store.
    pub fn store(&self) -> u128 {
        self.store
    }

    /// h of the key.
    pub fn value(&self) -> u128 {
        self.value
    }
}

/// Hashes keys for the function of this session with this sender, in a time that does not depend on
/// them if they have one length.
pub fn hash_keys<S: AsRef<[u8]> + Sync>(
    session: &Session,
    sender: Role,
    keys: &[S],
) -> Zeroizing<Vec<HashedKey>> {
    hash_keys_of(session.id, sender, keys)
}

/// The same for a session of this id.
pub fn hash_keys_of<S: AsRef<[u8]> + Sync>(
    session: SessionId,
    sender: Role,
    keys: &[S],
) -> Zeroizing<Vec<HashedKey>> {
    let start = hash_start("diptych/v1/oprf-key", session, sender);
    let hash = |key: &S| {
        HashedKey::from_bytes(&start.clone().chain_update(key.as_ref()).finalize().into())
    };
    Zeroizing::new(keys.par_iter().with_min_len(PART).map(hash).collect())
}

/// Purpose, session and direction, as one block of the hash.
pub(super) fn hash_start(purpose: &str, session: SessionId, sender: Role) -> Sha256 {
    let mut block = [0; 64];
    let text = format!("{purpose} {sender}");
    let length = text.len().min(32);
    block[..length].copy_from_slice(&text.as_bytes()[..length]);
    block[32..].copy_from_slice(session.as_bytes());
    Sha256::new().chain_update(block)
}

/// The last step: F from what both sides find.
pub struct Outputs(Sha256);

impl Outputs {
    /// Of the function of this session with this sender.
    pub fn new(session: SessionId, sender: Role) -> Self {
        Self(hash_start("diptych/v1/oprf-value", session, sender))
    }

    /// F of a key, from Decode(K, x) + Δ·h(x).
    pub fn output(&self, number: u64, key: &HashedKey, element: u128) -> u128 {
        let mut input = Zeroizing::new([0; 56]);
        input[..8].copy_from_slice(&number.to_le_bytes());
        input[8..24].copy_from_slice(&key.store.to_le_bytes());
        input[24..40].copy_from_slice(&key.value.to_le_bytes());
        input[40..].copy_from_slice(&element.to_le_bytes());
        let digest: [u8; 32] = self.0.clone().chain_update(*input).finalize().into();
        u128::from_be_bytes(digest.as_chunks().0.first().copied().unwrap_or_default())
    }

    fn all(&self, number: u64, keys: &[HashedKey], elements: &[u128]) -> Zeroizing<Vec<u128>> {
        let pairs = keys.par_iter().zip(elements).with_min_len(PART);
        Zeroizing::new(pairs.map(|(key, element)| self.output(number, key, *element)).collect())
    }
}

/// The messages of both set-ups, for so many keys of the receiver.
pub fn forecast(f: &mut Forecast, sender: Role, method: Method, keys: usize) {
    let columns = Layout::for_keys(keys).columns();
    if f.role() != sender {
        f.work(Work::Lookup, keys);
    }
    vole::forecast(f, sender, method, columns);
    f.message(sender.peer(), SEED, 16);
    for chunk in chunks(columns, CHUNK) {
        f.message(sender.peer(), STORE, 16 * chunk);
    }
}

/// The party that can evaluate F.
pub struct Sender {
    delta: u128,
    store: Store,
    table: Zeroizing<Vec<u128>>,
    outputs: Outputs,
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}

impl Sender {
    /// Receives the store of a receiver with so many keys, who calls [`Receiver::setup`].
    ///
    /// # Errors
    /// If the connection fails or the peer's messages are not acceptable.
    pub fn setup(session: &mut Session, method: Method, keys: usize) -> Result<Self, Error> {
        let layout = Layout::for_keys(keys);
        let vole::Sent { delta, b: mut table } = vole::send(session, method, layout.columns())?;
        let delta = delta.expose();
        let mut message = session.channel.receive_bytes(SEED, 16)?;
        let seed = u128::from_le_bytes(message.as_chunks().0.first().copied().unwrap_or_default());
        let mut masked = Vec::new();
        for part in table.chunks_mut(CHUNK) {
            session.channel.receive_bytes_into(STORE, 16 * part.len(), &mut message)?;
            masked.clear();
            masked.extend(message.as_chunks().0.iter().map(|block| u128::from_le_bytes(*block)));
            field::add_products(part, &masked, delta);
        }
        let outputs = Outputs::new(session.id, session.role);
        Ok(Self { delta, store: Store::new(layout, seed), table, outputs })
    }

    /// F of any keys.
    pub fn evaluate(&self, number: u64, keys: &[HashedKey]) -> Zeroizing<Vec<u128>> {
        let mut elements = self.store.decode(&self.table, keys, HashedKey::store);
        let values: Zeroizing<Vec<u128>> =
            Zeroizing::new(keys.iter().map(HashedKey::value).collect());
        field::add_products(&mut elements, &values, self.delta);
        self.outputs.all(number, keys, &elements)
    }
}

/// The party that learns F on its own keys.
pub struct Receiver {
    store: Store,
    table: Zeroizing<Vec<u128>>,
    outputs: Outputs,
}

impl Receiver {
    /// Sends a store with these keys.
    ///
    /// # Errors
    /// If the keys are not distinct, the connection fails or the peer's messages are not acceptable.
    pub fn setup(session: &mut Session, method: Method, keys: &[HashedKey]) -> Result<Self, Error> {
        let layout = Layout::for_keys(keys.len());
        let (seed, table) = {
            let (keys, values): (Zeroizing<Vec<_>>, Zeroizing<Vec<_>>) = (
                Zeroizing::new(keys.iter().map(HashedKey::store).collect()),
                Zeroizing::new(keys.iter().map(HashedKey::value).collect()),
            );
            okvs::encode(layout, &keys, &values, &mut session.rng)?
        };
        let vole::Received { a, c } = vole::receive(session, method, layout.columns())?;
        session.channel.send_bytes(SEED, &seed.to_le_bytes())?;
        let mut message = Vec::with_capacity(16 * CHUNK.min(table.len()));
        for (table, a) in table.chunks(CHUNK).zip(a.chunks(CHUNK)) {
            message.clear();
            message.extend(table.iter().zip(a).flat_map(|(p, a)| (p ^ a).to_le_bytes()));
            session.channel.send_bytes(STORE, &message)?;
        }
        let outputs = Outputs::new(session.id, session.role.peer());
        Ok(Self { store: Store::new(layout, seed), table: c, outputs })
    }

    /// F of the keys that the store was made with; of others, a meaningless value.
    pub fn outputs(&self, number: u64, keys: &[HashedKey]) -> Zeroizing<Vec<u128>> {
        let elements = self.store.decode(&self.table, keys, HashedKey::store);
        self.outputs.all(number, keys, &elements)
    }
}
