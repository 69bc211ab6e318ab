//! What every two-party protocol takes.

use crate::math::Randomness;
use crate::net::{Channel, Error, Role, SessionId, handshake};

/// One party's side of a conversation whose handshake has succeeded.
pub struct Session {
    /// Which party this is.
    pub role: Role,
    /// The way to the peer; it also counts the costs.
    pub channel: Channel,
    /// This party's own randomness.
    pub rng: Randomness,
    /// The same at both parties, never the same twice.
    pub id: SessionId,
}

impl Session {
    /// Runs the handshake over a fresh channel. `terms` are the canonical bytes
    /// of all that both sides must have in common.
    ///
    /// # Errors
    /// Whatever [`handshake::run`] finds; the peer has then been told.
    pub fn establish(
        mut channel: Channel,
        role: Role,
        terms: &[u8],
        mut rng: Randomness,
    ) -> Result<Self, Error> {
        let id = handshake::run(&mut channel, role, terms, &mut rng)?;
        Ok(Self { role, channel, rng, id })
    }
}
