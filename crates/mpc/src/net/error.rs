//! Errors between two parties.

use std::io;
use std::time::Duration;

#[cfg(feature = "tls")]
use rustls::AlertDescription;
use serde::{Deserialize, Serialize};

use crate::math::random::SourceFailed;
#[cfg(feature = "tls")]
use crate::net::Fingerprint;
use crate::net::Tag;
use crate::role::Role;

/// Why a party aborts a run, sent to its peer. A class only: it never contains private detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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

impl std::fmt::Display for AbortReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
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

/// Every error of the communication with the peer.
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
    Randomness(#[from] SourceFailed),
}

impl Error {
    /// The reason to send the peer when this error aborts the run.
    pub fn abort_reason(&self) -> AbortReason {
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
            | Self::NotThisSession => true,
            _ => false,
        }
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
