//! How the command fails: what happened, what to do about it, and an exit status that scripts can use.

use std::fmt::Display;
use std::path::Path;
use std::process::ExitCode;

use crate::math::random::SourceFailed;
use crate::net;

/// Exit statuses besides 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Something failed that the user did not do wrong.
    Failed = 1,
    /// Wrong usage, or a file that is not as it should be.
    WrongInput = 2,
    /// The peer refused, or is not who it should be.
    PeerRefused = 3,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// A failure, in words for the person who typed the command.
#[derive(Debug)]
pub struct Failure {
    /// Exit status.
    pub status: Status,
    /// What happened and where.
    pub message: String,
    /// What to do about it, where the message does not say so already.
    pub advice: Option<String>,
}

impl Failure {
    /// Something failed that the user did not do wrong.
    pub fn failed(message: impl Display) -> Self {
        Self { status: Status::Failed, message: message.to_string(), advice: None }
    }

    /// Wrong usage or input.
    pub fn wrong_input(message: impl Display) -> Self {
        Self { status: Status::WrongInput, message: message.to_string(), advice: None }
    }

    /// The peer did what it may not do.
    pub fn peer_refused(message: impl Display) -> Self {
        Self { status: Status::PeerRefused, message: message.to_string(), advice: None }
    }

    /// A file that cannot be read or written.
    pub fn file(path: &Path, action: &str, error: &std::io::Error) -> Self {
        Self::wrong_input(format!("cannot {action} {}: {error}", path.display()))
    }

    /// With a line that says what to do.
    #[must_use]
    pub fn advise(self, advice: impl Display) -> Self {
        Self { advice: Some(advice.to_string()), ..self }
    }
}

impl From<net::Error> for Failure {
    fn from(error: net::Error) -> Self {
        let status = match &error {
            error if error.is_refusal() => Status::PeerRefused,
            net::Error::Address { .. } | net::Error::Identity(_) => Status::WrongInput,
            _ => Status::Failed,
        };
        Self { status, message: error.to_string(), advice: None }
    }
}

impl From<SourceFailed> for Failure {
    fn from(error: SourceFailed) -> Self {
        Self::failed(error)
    }
}
