//! Typed, framed messages between two parties. This room knows nothing of what the messages mean.
//!
//! A [`Channel`] carries [`Message`]s over a *transport*: the in-memory pair of
//! [`memory`] (with a model of a slower network, if wanted) or one mutually
//! authenticated TLS 1.3 connection ([`tls`]). There is no plaintext mode.
//! Before anything else moves, [`handshake`] makes sure that both sides run
//! the same protocol under the same terms in different roles, and gives both
//! the same session id.
//!
//! What an attacker or a broken peer can do, and what happens then:
//!
//! | the peer … | this side gets |
//! | --- | --- |
//! | dies, or cuts the connection in the middle of a frame | [`Error::Closed`] |
//! | stalls, or drips bytes | [`Error::Timeout`] within the limit of the operation |
//! | announces a frame above the limit | [`Error::FrameTooLarge`], before any allocation |
//! | sends a message of another type | [`Error::UnexpectedMessage`] |
//! | sends bytes that do not decode, or decode with bytes left over | [`Error::Malformed`] |
//! | ends the run | [`Error::PeerAborted`] with the class of its reason |
//! | is not who it should be | [`Error::WrongPeer`] or [`Error::NobodyCame`]; nothing of it is read |
//! | replays an old handshake | [`Error::NotThisSession`]: the session id covers both nonces and the TLS exporter |

pub mod codec;
pub mod handshake;
pub mod identity;
pub mod memory;
pub mod meter;
pub mod tls;

mod channel;
mod error;
mod frame;

pub use channel::{Channel, Limits, Transport};
pub use error::{AbortReason, Error};
pub use frame::{HEADER_BYTES, Header, Message, Tag};
pub use handshake::{PROTOCOL_VERSION, Role, SessionId};
pub use identity::{Fingerprint, Identity, Signature};
pub use meter::{Costs, Direction, Transcript};
