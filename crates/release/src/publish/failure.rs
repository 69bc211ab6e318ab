//! How a run fails, in words: what happened, what to do about it, and an exit status for scripts.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::process::ExitCode;

use crate::agreement;
use crate::math::random::SourceFailed;
use crate::mechanism;
use crate::net::{self, Blame, Fault};
use crate::protocol::{
    bits, join, oprf, ot, polynomial, prepared, psi, random_value, scalar_product, secure_sum,
    shards, shares, sum_by_group, yao,
};
use crate::release;
use crate::release::diffgen::{self, two_party};
use crate::release::tree;

/// Exit statuses besides 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Something failed that the user did not do wrong.
    Failed = 1,
    /// Wrong usage, or a file that is not as it should be.
    WrongInput = 2,
    /// The peer refused, or is not who it should be.
    PeerRefused = 3,
    /// Somebody pressed Ctrl-C here, as shells report it.
    Interrupted = 130,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// A failure, in words for the person who started the run.
#[derive(Debug)]
pub struct Failure {
    /// Exit status.
    pub status: Status,
    /// What happened and where.
    pub message: String,
    /// What to do about it, where the message does not say so already.
    pub advice: Option<String>,
}

impl Display for Failure {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)?;
        self.advice.iter().try_for_each(|advice| write!(f, "; {advice}"))
    }
}

impl std::error::Error for Failure {}

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

impl Failure {
    /// What ends a conversation says by itself whose fault it is, and the status follows.
    pub fn of(error: &dyn Fault) -> Self {
        let status = match error.blame() {
            Blame::Connection(net::Error::Stopped) => Status::Interrupted,
            Blame::Connection(error) if error.is_refusal() => Status::PeerRefused,
            Blame::Connection(
                net::Error::Address { .. } | net::Error::Identity(_) | net::Error::Passphrase(_),
            )
            | Blame::Input
            | Blame::Disagreement => Status::WrongInput,
            Blame::Peer => Status::PeerRefused,
            Blame::Connection(_) | Blame::Here => Status::Failed,
        };
        Self { status, message: error.to_string(), advice: None }
    }
}

/// Lets `?` make a [`Failure`] of errors that say whose fault they are. One by one: for all of them at
/// once there can be no implementation beside those for errors of other packages below.
macro_rules! failures {
    ($($error:ty),* $(,)?) => {$(
        impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Self::of(&error)
            }
        }
    )*};
}

failures!(
    net::Error,
    bits::Error,
    join::Error,
    oprf::Error,
    ot::Error,
    polynomial::Error,
    prepared::Error,
    psi::Error,
    random_value::Error,
    scalar_product::Error,
    secure_sum::Error,
    shards::Failed,
    shares::Error,
    sum_by_group::Error,
    yao::Error,
    mechanism::Error,
    tree::Error,
    diffgen::Error,
    two_party::Error,
    release::Error,
);

impl From<agreement::Error> for Failure {
    fn from(error: agreement::Error) -> Self {
        match error {
            agreement::Error::Invalid(problems) => problems.into(),
            other => Self::wrong_input(other),
        }
    }
}

impl From<agreement::Problems> for Failure {
    fn from(problems: agreement::Problems) -> Self {
        match problems.count() {
            1 => Self::wrong_input(problems),
            count => Self::wrong_input(format!("{count} problems:\n{problems}")),
        }
    }
}

impl From<SourceFailed> for Failure {
    fn from(error: SourceFailed) -> Self {
        Self::failed(error)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::crypto::garble;
    use crate::net::AbortReason;

    /// The same failure of the connection as every protocol has it, however deep.
    fn at_every_depth(error: fn() -> net::Error) -> Vec<two_party::Error> {
        let transfer = || yao::Error::Transfer(ot::Error::Net(error()));
        let mechanisms = vec![
            mechanism::Error::Yao(yao::Error::Net(error())),
            mechanism::Error::Yao(transfer()),
            mechanism::Error::Shares(shares::Error::Net(error())),
            mechanism::Error::Shares(shares::Error::Circuit(transfer())),
            mechanism::Error::RandomValue(random_value::Error::Net(error())),
            mechanism::Error::RandomValue(random_value::Error::Circuit(transfer())),
            mechanism::Error::Polynomial(Box::new(polynomial::Error::Net(error()))),
        ];
        let mut all: Vec<two_party::Error> = vec![
            error().into(),
            psi::Error::Net(error()).into(),
            psi::Error::Circuit(transfer()).into(),
            scalar_product::Error::Net(error()).into(),
            shares::Error::Circuit(transfer()).into(),
        ];
        all.extend(mechanisms.into_iter().map(two_party::Error::Mechanism));
        all
    }

    #[track_caller]
    fn assert_ends(error: two_party::Error, told: Option<AbortReason>, status: Status) {
        assert_eq!(error.blame().reason(), told, "{error:?}");
        let shown = format!("{error:?}");
        assert_eq!(Failure::from(error).status, status, "{shown}");
    }

    #[test]
    fn a_failure_of_the_connection_says_the_same_however_deep_it_lies() {
        let slow = || net::Error::Timeout { action: "answer", limit: Duration::from_secs(1) };
        let cases: [(fn() -> net::Error, _, _); 4] = [
            (slow, Some(AbortReason::TooSlow), Status::Failed),
            (|| net::Error::Closed, None, Status::Failed),
            (|| net::Error::PeerAborted(AbortReason::Disagreement), None, Status::PeerRefused),
            (
                || net::Error::FrameTooLarge { length: 1 << 40, limit: 1 << 20 },
                Some(AbortReason::BadMessage),
                Status::PeerRefused,
            ),
        ];
        for (error, told, status) in cases {
            for error in at_every_depth(error) {
                assert_ends(error, told, status);
            }
        }
    }

    #[test]
    fn what_else_ends_a_release_tells_the_peer_its_class_and_sets_the_status() {
        let bad = Some(AbortReason::BadMessage);
        let labels = || yao::Error::Garble(garble::Error::OutputLabel { index: 0 });
        let candidate = mechanism::Error::NoSuchCandidate { index: 9, count: 2 };
        let column = tree::Error::MissingColumn("job".to_owned());
        for (error, told, status) in [
            (mechanism::Error::Yao(labels()).into(), bad, Status::PeerRefused),
            (psi::Error::Circuit(labels()).into(), bad, Status::PeerRefused),
            (psi::Error::PeerTooMany { size: 9, limit: 1 }.into(), bad, Status::PeerRefused),
            (shares::Error::OutOfRing.into(), bad, Status::PeerRefused),
            (scalar_product::Error::ResultOutOfRange(0).into(), bad, Status::PeerRefused),
            (candidate.into(), bad, Status::PeerRefused),
            (two_party::Error::ImpossibleSplit, bad, Status::PeerRefused),
            (
                psi::Error::Duplicate { first: 1, second: 2 }.into(),
                Some(AbortReason::Stopped),
                Status::WrongInput,
            ),
            (column.into(), Some(AbortReason::Stopped), Status::WrongInput),
            (
                two_party::Error::ClassesDiffer { column: "ill".to_owned(), differing: None },
                Some(AbortReason::Disagreement),
                Status::WrongInput,
            ),
            (
                mechanism::Error::NoRandomValue { tries: 64 }.into(),
                Some(AbortReason::Internal),
                Status::Failed,
            ),
            (
                diffgen::Error::Fault("no such candidate won").into(),
                Some(AbortReason::Internal),
                Status::Failed,
            ),
        ] {
            assert_ends(error, told, status);
        }
    }
}
