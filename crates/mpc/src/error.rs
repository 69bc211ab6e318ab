//! The error of this package, and whose fault it is that a run ends: what the peer is told and how
//! the command exits follow from it.

use std::borrow::Cow;
use std::fmt::{self, Display, Formatter};
use std::io;
use std::time::Duration;

#[cfg(feature = "tls")]
use rustls::AlertDescription;
use serde::{Deserialize, Serialize};

use crate::circuit::bristol::Limited;
#[cfg(feature = "tls")]
use crate::net::Fingerprint;
use crate::net::Tag;
use crate::paper::secure_sum::Neighbour;
use crate::primitives;
use crate::privacy;
use crate::protocol::shards::Failed;
use crate::role::Role;

/// Why a party aborts a run, sent to its peer. A class only: it never contains private detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum AbortReason {
    /// The peer sent something that the protocol does not allow.
    BadMessage,
    /// The two sides do not run the same protocol under the same terms.
    Disagreement,
    /// The peer took longer than the limit.
    TooSlow,
    /// Another connection of the same peer is already being served.
    Busy,
    /// The operator or a rule on the other side stopped the run.
    Stopped,
    /// Something failed on the other side that was not caused by the peer.
    Internal,
    /// The other side may not spend the run's ε: its cap forbids it.
    OverCap,
}

impl Display for AbortReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::BadMessage => "it received a message that the protocol does not allow",
            Self::Disagreement => "the two sides do not run under the same terms",
            Self::TooSlow => "this side took longer than its limit",
            Self::Busy => "it already serves another connection",
            Self::Stopped => "it was stopped on purpose",
            Self::Internal => "something failed on its side",
            Self::OverCap => "the privacy budget of its data does not allow this release",
        })
    }
}

/// What keeps a listener waiting for somebody who may be trying.
const NOT_REACHED: &str = "is it started, does its `connect` name this machine and port, and does a \
                           firewall between the two let it through?";

/// Every error of this package: of the communication with the peer, and of what a protocol finds.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The connection ended before the message did.
    #[error(
        "the peer closed the connection; see its log for the reason, then start both sides again"
    )]
    Closed,
    /// The peer did not act in time.
    #[error("the peer did not {action} within {}; check that it still runs", seconds(*limit))]
    Timeout {
        /// What was waited for.
        action: &'static str,
        /// How long.
        limit: Duration,
    },
    /// This side was asked to end the conversation.
    #[error("the run was stopped on this side")]
    Stopped,
    /// The conversation as a whole took too long, though no single wait did.
    #[error(
        "the run was not over within {}; if the line or a machine is known to be slow, give it more: \
         run_seconds in the party file, or --run-seconds",
        seconds(*limit)
    )]
    RunTooLong {
        /// Its time limit.
        limit: Duration,
    },
    /// A frame is longer than this side accepts, or than it may send.
    #[error("a frame of {length} bytes exceeds the limit of {limit}")]
    FrameTooLarge {
        /// Length that the header announces.
        length: u64,
        /// Largest allowed length of a body.
        limit: usize,
    },
    /// A message has another length than the protocol requires, found in its header before any of
    /// the body is read.
    #[error(
        "the peer announced {got} bytes of message {tag} where {due} are due; are both sides of the \
         same version?"
    )]
    WrongLength {
        /// The message.
        tag: Tag,
        /// Bytes expected.
        due: usize,
        /// Bytes that its header announces.
        got: usize,
    },
    /// Another message was expected.
    #[error(
        "the peer sent message {got} where {expected} was due; are both sides of the same version?"
    )]
    UnexpectedMessage {
        /// The message that the protocol requires here.
        expected: Tag,
        /// The message that arrived.
        got: Tag,
    },
    /// A body does not decode to its message.
    #[error("message {tag} from the peer is malformed: {problem}")]
    Malformed {
        /// The message.
        tag: Tag,
        /// What is wrong with it; never a value from it.
        problem: &'static str,
    },
    /// The peer aborted the run.
    #[error("the peer ended the run: {0}")]
    PeerAborted(AbortReason),
    /// The peer uses another version of the protocol.
    #[error(
        "the peer speaks protocol version {theirs}, this side {ours}; install the same version on both"
    )]
    Version {
        /// Ours.
        ours: u16,
        /// The peer's.
        theirs: u16,
    },
    /// Both sides claim the same role.
    #[error("both sides run as {0}; one of them must take the other role")]
    SameRole(Role),
    /// The two sides run under different terms.
    #[error("the two sides run under different terms; compare them, then start both again")]
    Terms {
        /// The peer's terms, if they match the hash that it announced, so that the caller can name
        /// the first difference.
        theirs: Vec<u8>,
    },
    /// The peer's handshake belongs to another connection.
    #[error(
        "the peer's handshake does not belong to this connection (a replay?); nothing was sent"
    )]
    NotThisSession,
    /// The peer's certificate is not the pinned one.
    #[cfg(feature = "tls")]
    #[error(
        "the peer is {got}, but {expected} is expected; compare the fingerprint with your partner"
    )]
    WrongPeer {
        /// Pinned fingerprint.
        expected: Fingerprint,
        /// Fingerprint of the certificate that was presented.
        got: Fingerprint,
    },
    /// Nobody acceptable connected while this side listened.
    #[error(
        "the expected peer did not connect within {}; {}",
        seconds(*limit),
        refused.as_ref().map_or(NOT_REACHED.to_owned(), |why| format!("the last connection refused: {why}"))
    )]
    NobodyCame {
        /// How long this side listened.
        limit: Duration,
        /// Why the last connection was rejected, if there was one.
        refused: Option<Box<Error>>,
    },
    /// The peer could not be reached.
    #[error("could not reach {address} within {}: {last}; is the other side started?", seconds(*limit))]
    Unreachable {
        /// Where this side tried to connect.
        address: String,
        /// For how long.
        limit: Duration,
        /// The last failure.
        last: io::Error,
    },
    /// An address does not resolve or cannot be listened on.
    #[error("cannot use the address {address}: {problem}; give it as host:port")]
    Address {
        /// As given.
        address: String,
        /// The system's error.
        problem: io::Error,
    },
    /// An identity or certificate is not usable.
    #[error("identity not usable: {0}; make one with `diptych keygen`")]
    Identity(&'static str),
    /// The key of an identity cannot be decrypted.
    #[error("the passphrase of the identity: {0}")]
    Passphrase(&'static str),
    /// The other end has the right key, but the connection is from another program.
    #[error(
        "the other end holds the expected key, but does not speak this program's protocol (no ALPN \
         \"diptych/1\"); is it another program, or one of another version?"
    )]
    NotOurProtocol,
    /// TLS itself failed.
    #[cfg(feature = "tls")]
    #[error("the secure connection failed: {0}")]
    Tls(#[from] rustls::Error),
    /// The system could not start a thread.
    #[error(
        "cannot start a thread: {0}; end other programs, or raise the limits on threads and memory \
         (`ulimit -u`, `ulimit -v`)"
    )]
    NoThread(io::Error),
    /// A system call failed.
    #[error("the connection failed: {0}")]
    Io(#[from] io::Error),
    /// No randomness.
    #[error(transparent)]
    Randomness(primitives::Error),
    /// A circuit file beyond the limits of the reader.
    #[error("line {line}: {what} exceeds the limit of {limit}; a higher limit would let it pass")]
    CircuitTooLarge {
        /// Line of the text, counted from 1.
        line: usize,
        /// The quantity.
        what: Limited,
        /// The largest value accepted.
        limit: usize,
    },
    /// Talking to a neighbour in a ring of parties failed.
    #[error("the {0} party of the ring: {1}")]
    Ring(Neighbour, #[source] Box<Error>),
    /// A shard failed.
    #[error(transparent)]
    Shard(Box<Failed>),
    /// The peer sent something that the protocol does not allow.
    #[error(transparent)]
    Peer(Detail),
    /// Each side is well, but the two do not have the same.
    #[error(transparent)]
    Disagreement(Detail),
    /// What this side was given cannot be used.
    #[error(transparent)]
    Input(Detail),
    /// Something failed here that is neither the user's nor the peer's doing.
    #[error(transparent)]
    Internal(Detail),
}

/// What a protocol found, in words.
#[derive(Debug)]
pub struct Detail {
    message: Cow<'static, str>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Detail {
    /// The message of another error, which becomes the source.
    fn of(error: impl std::error::Error + Send + Sync + 'static) -> Self {
        Self { message: error.to_string().into(), source: Some(Box::new(error)) }
    }
}

impl<M: Into<Cow<'static, str>>> From<M> for Detail {
    fn from(message: M) -> Self {
        Self { message: message.into(), source: None }
    }
}

impl Display for Detail {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Detail {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as _)
    }
}

/// Whose fault it is that a conversation ends.
#[derive(Debug)]
pub enum Blame<'a> {
    /// The connection failed, or the peer ended the run.
    Connection(&'a Error),
    /// The peer sent something that the protocol does not allow.
    Peer,
    /// Each side is well, but the two do not have the same.
    Disagreement,
    /// What this side was given cannot be used.
    Input,
    /// Something failed here that is neither the user's nor the peer's doing.
    Internal,
}

impl Blame<'_> {
    /// What the peer is told: the class of the reason, no detail. Nothing if it is gone or was the
    /// one that ended the run.
    pub fn reason(&self) -> Option<AbortReason> {
        match self {
            Self::Connection(Error::PeerAborted(_) | Error::Closed) => None,
            Self::Connection(error) => Some(error.abort_reason()),
            Self::Peer => Some(AbortReason::BadMessage),
            Self::Disagreement => Some(AbortReason::Disagreement),
            Self::Input => Some(AbortReason::Stopped),
            Self::Internal => Some(AbortReason::Internal),
        }
    }
}

/// An error that can end a conversation: [`Error`], or that of a caller who adds to it.
pub trait Fault: std::error::Error {
    /// Whose fault it is.
    fn blame(&self) -> Blame<'_>;
}

impl Fault for Error {
    fn blame(&self) -> Blame<'_> {
        self.blame()
    }
}

impl Error {
    /// The peer sent something that the protocol does not allow.
    pub fn peer(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Peer(message.into().into())
    }

    /// Each side is well, but the two do not have the same.
    pub fn disagreement(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Disagreement(message.into().into())
    }

    /// What this side was given cannot be used.
    pub fn input(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Input(message.into().into())
    }

    /// Something failed here that is neither the user's nor the peer's doing.
    pub fn internal(message: impl Into<Cow<'static, str>>) -> Self {
        Self::Internal(message.into().into())
    }

    /// Whose fault it is.
    pub fn blame(&self) -> Blame<'_> {
        match self {
            Self::Peer(_) => Blame::Peer,
            Self::Disagreement(_) => Blame::Disagreement,
            Self::Input(_) | Self::CircuitTooLarge { .. } => Blame::Input,
            Self::Internal(_) | Self::Randomness(_) | Self::NoThread(_) => Blame::Internal,
            Self::Ring(_, error) => error.blame(),
            Self::Shard(failed) => failed.blame(),
            _ => Blame::Connection(self),
        }
    }

    /// The reason to send the peer when a failure of the connection aborts the run.
    fn abort_reason(&self) -> AbortReason {
        match self {
            Self::Timeout { .. } | Self::RunTooLong { .. } => AbortReason::TooSlow,
            Self::FrameTooLarge { .. }
            | Self::WrongLength { .. }
            | Self::UnexpectedMessage { .. }
            | Self::Malformed { .. } => AbortReason::BadMessage,
            Self::Version { .. }
            | Self::SameRole(_)
            | Self::Terms { .. }
            | Self::NotThisSession => AbortReason::Disagreement,
            Self::Stopped => AbortReason::Stopped,
            _ => AbortReason::Internal,
        }
    }

    /// Whether the peer rejected us, has the wrong key, or broke the protocol (exit status 3 of the
    /// command). Changes made by the network never cause this: TLS detects them.
    pub fn is_refusal(&self) -> bool {
        match self {
            Self::NobodyCame { refused, .. } => {
                refused.as_ref().is_some_and(|why| why.is_refusal())
            }
            // A peer that does not accept our certificate answers with a TLS alert that says so.
            // Other alerts report bytes that were changed on the way.
            #[cfg(feature = "tls")]
            Self::Tls(rustls::Error::AlertReceived(alert)) => is_about_certificate(*alert),
            #[cfg(feature = "tls")]
            Self::Tls(rustls::Error::InvalidCertificate(_)) | Self::WrongPeer { .. } => true,
            Self::FrameTooLarge { .. }
            | Self::WrongLength { .. }
            | Self::UnexpectedMessage { .. }
            | Self::Malformed { .. }
            | Self::NotOurProtocol
            | Self::PeerAborted(
                AbortReason::Disagreement | AbortReason::Busy | AbortReason::OverCap,
            )
            | Self::Version { .. }
            | Self::SameRole(_)
            | Self::Terms { .. }
            | Self::NotThisSession
            | Self::Peer(_)
            | Self::Disagreement(_) => true,
            Self::Ring(_, error) => error.is_refusal(),
            _ => false,
        }
    }
}

/// A protocol calls the primitives on what the peer sent, so an error of theirs is the peer's fault,
/// except what the peer cannot cause.
impl From<primitives::Error> for Error {
    fn from(error: primitives::Error) -> Self {
        use primitives::Error as Of;
        match error {
            Of::SourceFailed => Self::Randomness(error),
            Of::NoPlacement
            | Of::NoStore
            | Of::PoolStopped
            | Of::NotAFraction
            | Of::ExpandTooLong
            | Of::UnknownLevel { .. }
            | Of::LevelUnavailable { .. } => Self::Internal(Detail::of(error)),
            _ => Self::Peer(Detail::of(error)),
        }
    }
}

impl From<privacy::Error> for Error {
    fn from(error: privacy::Error) -> Self {
        Self::Internal(Detail::of(error))
    }
}

impl From<Failed> for Error {
    fn from(failed: Failed) -> Self {
        Self::Shard(Box::new(failed))
    }
}

#[cfg(feature = "tls")]
fn is_about_certificate(alert: AlertDescription) -> bool {
    use AlertDescription as Alert;
    matches!(
        alert,
        Alert::NoCertificate
            | Alert::BadCertificate
            | Alert::UnsupportedCertificate
            | Alert::CertificateRevoked
            | Alert::CertificateExpired
            | Alert::CertificateUnknown
            | Alert::UnknownCA
            | Alert::AccessDenied
            | Alert::CertificateRequired
    )
}

fn seconds(limit: Duration) -> String {
    match limit.as_secs_f64() {
        whole if whole >= 10.0 => format!("{whole:.0} s"),
        short => format!("{short:.1} s"),
    }
}

#[cfg(test)]
impl Error {
    /// Whether it is of the variant with this name, and says this.
    pub(crate) fn says(&self, variant: &str, words: &str) -> bool {
        format!("{self:?}").starts_with(variant) && self.to_string().contains(words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failed_random_source_never_blames_the_peer() {
        let error = Error::from(primitives::Error::SourceFailed);
        assert!(matches!(error, Error::Randomness(_)), "{error:?}");
        assert!(matches!(error.blame(), Blame::Internal), "{error:?}");
        assert_eq!(error.blame().reason(), Some(AbortReason::Internal));
        assert!(!error.is_refusal(), "{error:?}");
    }

    #[test]
    fn an_error_of_the_primitives_blames_the_peer_for_what_it_sent_alone() {
        use primitives::Error as Of;
        for sent in [
            Of::InvalidPoint,
            Of::NotInGroup { position: 1 },
            Of::Width { expected: 32, got: 31 },
            Of::TableLength { expected: 32, found: 31 },
            Of::OutputLabel { index: 0 },
            Of::CiphertextNotCoprime,
            Of::EvenModulus,
            Of::NotInvertible,
        ] {
            let error = Error::from(sent.clone());
            assert!(matches!(error.blame(), Blame::Peer), "{error:?}");
            assert_eq!(error.to_string(), sent.to_string());
        }
        for own in [Of::NoPlacement, Of::NoStore, Of::PoolStopped] {
            let error = Error::from(own);
            assert!(matches!(error.blame(), Blame::Internal), "{error:?}");
        }
    }
}
