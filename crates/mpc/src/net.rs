//! Typed, framed messages between two parties. Nothing here depends on what the messages mean.
//!
//! A [`Channel`] carries [`Message`]s over a *transport*: the in-memory pair of [`memory`]
//! (optionally with a model of a slower network) or one mutually authenticated TLS 1.3 connection
//! ([`tls`]). There is no plaintext mode. Before any other message, [`handshake`] ensures that both
//! sides run the same protocol under the same terms in different roles, and gives both the same
//! session id.
//!
//! What an attacker or a broken peer can do, and what happens then:
//!
//! | the peer … | this side gets |
//! | --- | --- |
//! | crashes, or closes the connection in the middle of a frame | [`Error::Closed`] |
//! | stalls, or sends a byte at a time | [`Error::Timeout`] within the limit of the operation |
//! | sends something now and then, for days | [`Error::RunTooLong`], if the conversation has a time limit |
//! | announces a frame above the limit | [`Error::FrameTooLarge`], before any allocation |
//! | announces another length than expected | [`Error::WrongLength`], before any of it is read |
//! | sends a message of another type | [`Error::UnexpectedMessage`] |
//! | sends bytes that do not decode, or decode with bytes left over | [`Error::Malformed`] |
//! | ends the run | [`Error::PeerAborted`] with the class of its reason |
//! | has another key than expected | [`Error::WrongPeer`] or [`Error::NobodyCame`]; nothing of it is read |
//! | replays an old handshake | [`Error::NotThisSession`]: the session id covers both nonces and the TLS exporter |
//!
//! # Example
//!
//! ```
//! use diptych_mpc::net::tls::{self, Listener};
//! use diptych_mpc::net::{Identity, Limits, Message, Tag};
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Greeting(String);
//! impl Message for Greeting {
//!     const TAG: Tag = Tag::new(*b"helo");
//! }
//!
//! // Each party makes an identity once, and the two exchange fingerprints by other means.
//! let bank = Identity::from_pem(&Identity::generate_pem("Bank")?)?;
//! let shop = Identity::from_pem(&Identity::generate_pem("Shop")?)?;
//! let listener = Listener::bind("127.0.0.1:0")?;
//! let address = listener.local_address()?.to_string();
//!
//! let (sent, received) = std::thread::scope(|scope| {
//!     let bank_side = scope.spawn(|| {
//!         let mut channel = listener.accept(&bank, shop.fingerprint(), Limits::default())?;
//!         channel.receive::<Greeting>()
//!     });
//!     let shop_side = tls::connect(&address, &shop, bank.fingerprint(), Limits::default());
//!     let sent = shop_side.and_then(|mut channel| channel.send(&Greeting("hello".to_owned())));
//!     (sent, bank_side.join())
//! });
//! sent?;
//! assert_eq!(received.map_err(|_| "the thread panicked")??.0, "hello");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod codec;
pub mod handshake;
#[cfg(feature = "tls")]
pub mod identity;
pub mod memory;
pub mod meter;
#[cfg(feature = "tls")]
pub mod tls;

mod channel;
mod frame;
mod stop;
mod tally;

pub use crate::error::{AbortReason, Blame, Error, Fault};
pub use channel::{Accept, Channel, Limits, Patience, Transport};
pub use frame::{HEADER_BYTES, Header, Message, Tag};
pub use handshake::{PROTOCOL_VERSION, SessionId};
#[cfg(feature = "tls")]
pub use identity::{Fingerprint, Identity, Signature};
pub use meter::{Costs, Direction, Transcript};
pub use stop::Stop;
pub use tally::Tally;
