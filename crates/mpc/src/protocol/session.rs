//! The session that every two-party protocol takes.

use crate::math::Randomness;
use crate::net::{Channel, Error, Fault, SessionId, handshake};
#[cfg(feature = "tls")]
use crate::net::{Fingerprint, Identity, Limits, tls};
use crate::protocol::coins::Coins;
use crate::protocol::forecast::Forecast;
use crate::protocol::transfers::Source;
use crate::protocol::yao::Yao;
use crate::role::Role;

/// One party's side of a conversation whose handshake has succeeded.
///
/// # Example
///
/// Two programs meet over TLS by [`Session::listen`] and [`Session::connect`]; here both ends are in
/// memory.
///
/// ```
/// use diptych_mpc::math::Randomness;
/// use diptych_mpc::net::{Limits, memory};
/// use diptych_mpc::Role;
/// use diptych_mpc::protocol::Session;
///
/// let terms = b"what both have agreed on";
/// let (first, second) = memory::pair(Limits::default());
/// let (rng1, rng2) = (Randomness::from_os()?, Randomness::from_os()?);
///
/// let (bank, shop) = std::thread::scope(|scope| {
///     let bank = scope.spawn(|| Session::establish(first, Role::P1, terms, rng1));
///     let shop = Session::establish(second, Role::P2, terms, rng2);
///     (bank.join(), shop)
/// });
/// let (bank, shop) = (bank.map_err(|_| "the thread panicked")??, shop?);
/// assert_eq!(bank.id, shop.id);
/// assert_eq!(bank.role.peer(), shop.role);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Session {
    /// Which party this is.
    pub role: Role,
    /// The channel to the peer; it also counts the costs.
    pub channel: Channel,
    /// This party's own randomness.
    pub rng: Randomness,
    /// This party's part of the random bits that neither party knows: a generator, or a tape in
    /// tests.
    pub coins: Box<dyn Coins + Send>,
    /// The same at both parties, never the same twice.
    pub id: SessionId,
    /// Garbled circuits, set up on first use.
    garbling: Yao,
    /// How often transfers from P1 and from P2 were set up.
    setups: [u64; 2],
    /// Where transfers come from that are not set up yet.
    transfers: Source,
}

impl Session {
    /// Runs the handshake over a fresh channel. `terms` are the canonical bytes
    /// of all that both sides must have in common.
    ///
    /// # Errors
    /// The errors of [`handshake::run`]; the peer has then been notified.
    pub fn establish(
        mut channel: Channel,
        role: Role,
        terms: &[u8],
        mut rng: Randomness,
    ) -> Result<Self, Error> {
        let id = handshake::run(&mut channel, role, terms, &mut rng)?;
        Ok(Self::ready(role, channel, rng, id))
    }

    /// Waits at `address` (`host:port`) until the peer has connected over TLS and proved its
    /// identity, with the usual limits, and runs the handshake as in [`Session::establish`].
    ///
    /// # Errors
    /// If the peer does not come, is not the one expected, or runs under other terms.
    #[cfg(feature = "tls")]
    pub fn listen(
        address: &str,
        us: &Identity,
        peer: Fingerprint,
        role: Role,
        terms: &[u8],
    ) -> Result<Self, Error> {
        let channel = tls::Listener::bind(address)?.accept(us, peer, Limits::default())?;
        Self::establish(channel, role, terms, Randomness::from_os()?)
    }

    /// Connects over TLS to the peer, which waits at `address` or will soon: see [`Session::listen`].
    ///
    /// # Errors
    /// As [`Session::listen`].
    #[cfg(feature = "tls")]
    pub fn connect(
        address: &str,
        us: &Identity,
        peer: Fingerprint,
        role: Role,
        terms: &[u8],
    ) -> Result<Self, Error> {
        let channel = tls::connect(address, us, peer, Limits::default())?;
        Self::establish(channel, role, terms, Randomness::from_os()?)
    }

    /// The messages of [`Session::establish`].
    pub fn forecast(f: &mut Forecast) {
        f.begin_phase(handshake::PHASE);
        for (tag, bytes) in handshake::MESSAGES {
            f.exchange(tag, bytes);
        }
    }

    /// A session whose id both parties have already.
    pub fn ready(role: Role, channel: Channel, mut rng: Randomness, id: SessionId) -> Self {
        let coins = Box::new(rng.fork());
        let (garbling, transfers, setups) = (Yao::default(), Source::default(), [0; 2]);
        Self { role, channel, rng, coins, id, garbling, setups, transfers }
    }

    /// Sets the source of transfers for directions that are set up from now on. Both parties must
    /// set the same, by public numbers; otherwise the set-up fails with an unexpected message.
    pub fn use_transfers(&mut self, source: Source) {
        self.transfers = source;
    }

    /// The source of transfers that are not set up yet.
    pub fn transfers(&self) -> Source {
        self.transfers
    }

    /// Borrows the garbled circuits, together with the rest of the session.
    pub(super) fn with_garbling<T>(&mut self, work: impl FnOnce(&mut Yao, &mut Self) -> T) -> T {
        let mut garbling = std::mem::take(&mut self.garbling);
        let result = work(&mut garbling, self);
        self.garbling = garbling;
        result
    }

    /// Ends a conversation: if it failed, the peer is sent the class of the reason, once. Protocols
    /// leave that to the owner of the session.
    ///
    /// # Errors
    /// Those of the outcome.
    pub fn conclude<T, E: Fault>(&mut self, outcome: Result<T, E>) -> Result<T, E> {
        if let Some(reason) = outcome.as_ref().err().and_then(|error| error.blame().reason()) {
            self.channel.abort(reason);
        }
        outcome
    }

    /// Numbers the set-ups of one direction, the same at both parties, so that no two of them
    /// derive the same keys or count the same gates.
    pub(crate) fn next_setup(&mut self, from: Role) -> u64 {
        let count = &mut self.setups[from as usize];
        *count += 1;
        *count
    }
}
