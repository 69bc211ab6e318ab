//! Whose fault it is that a conversation ends: what the peer is told and how the command exits
//! follow from it, however deep the error lies.

use super::{AbortReason, Error};

/// Why a conversation ends.
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

/// An error that can end a conversation. Every protocol's error is one.
pub trait Fault: std::error::Error {
    /// Whose fault it is.
    fn blame(&self) -> Blame<'_>;
}

impl Fault for Error {
    fn blame(&self) -> Blame<'_> {
        Blame::Connection(self)
    }
}
