//! Which side has the key, and how the other side checks it.

use super::{Error, Opening, PublicNumbers};
use crate::crypto::paillier::{self, MAXIMUM_BITS, MINIMUM_BITS, PublicKey, SecretKey, Tuning};
use crate::primitives;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::role::Role;

/// One side's part of the key. A key serves one run: make a new one for the next.
#[derive(Clone, Copy)]
pub enum Key<'a> {
    /// This side encrypts.
    Own(&'a SecretKey),
    /// The peer encrypts, under a key of this kind.
    Peer(ExpectedKey),
}

/// What is known about the peer's key before it arrives.
#[derive(Clone, Copy, Debug)]
pub struct ExpectedKey {
    bits: usize,
    tuning: Tuning,
}

impl ExpectedKey {
    /// A key of the agreed length, which must be long enough to be secure.
    ///
    /// # Errors
    /// If keys of this length are not supported.
    pub fn new(bits: usize, tuning: Tuning) -> Result<Self, Error> {
        if !(MINIMUM_BITS..=MAXIMUM_BITS).contains(&bits) || !bits.is_multiple_of(128) {
            return Err(primitives::Error::UnsupportedLength(bits).into());
        }
        Ok(Self { bits, tuning })
    }

    /// A key that may be too short to protect anything.
    #[cfg(any(test, feature = "testing"))]
    pub fn for_tests(bits: usize, tuning: Tuning) -> Self {
        Self { bits, tuning }
    }

    /// Receives the opening: its numbers must be ours, and its key must pass every check.
    pub(super) fn receive(
        &self,
        session: &mut Session,
        numbers: &PublicNumbers,
    ) -> Result<PublicKey, Error> {
        let Opening { numbers: theirs, key } = session.channel.receive()?;
        if &theirs != numbers {
            return Err(Error::peer("the peer works on another shape; both must agree on it"));
        }
        let rng = &mut session.rng;
        Ok(PublicKey::from_bytes_of_any_length(&key, self.bits, self.tuning, rng)?)
    }
}

/// The message of [`send`].
pub(super) fn forecast(f: &mut Forecast, owner: Role, bits: usize) -> Result<(), Error> {
    let key = vec![0; paillier::public_key_bytes(bits)];
    f.message_like(owner, &Opening { numbers: PublicNumbers::default(), key })
}

/// Sends the opening.
pub(super) fn send(
    session: &mut Session,
    numbers: PublicNumbers,
    key: &PublicKey,
) -> Result<(), Error> {
    session.channel.send(&Opening { numbers, key: key.to_bytes() })?;
    Ok(())
}
