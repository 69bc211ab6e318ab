//! How a run fails, in words: what happened, what to do about it, and an exit status for scripts.

use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::process::ExitCode;

use crate::agreement;
use crate::math::random::SourceFailed;
use crate::net::{self, AbortReason, Blame, Fault};
use crate::protocol::shards;
use crate::release;
use crate::release::diffgen::{self, two_party};
use crate::release::tree;

/// Exit statuses besides 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// The network, the machine or the program failed, or what was checked is not as it should be.
    Failed = 1,
    /// Wrong usage, or a file that is not as it should be; nothing was spent.
    WrongInput = 2,
    /// The peer refused, broke the protocol, is not who it should be, or has agreed to something else.
    PeerRefused = 3,
    /// Refused or failed on this side, or by what the two parties' data have in common, when the ledger
    /// had the run already.
    AfterSpending = 4,
    /// Somebody pressed Ctrl-C here, as shells report it.
    Interrupted = 130,
}

impl From<Status> for ExitCode {
    fn from(status: Status) -> Self {
        Self::from(status as u8)
    }
}

/// Why something failed, as far as the exit status depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Somebody stopped it here.
    Stopped,
    /// The connection.
    Network,
    /// The peer.
    Peer,
    /// The two parties do not have the same, whichever of them noticed it.
    Disagreement,
    /// What this side was given.
    Input,
    /// The machine or the program.
    Internal,
}

impl Cause {
    fn of(blame: &Blame<'_>) -> Self {
        match blame {
            Blame::Connection(net::Error::Stopped) => Self::Stopped,
            Blame::Connection(net::Error::PeerAborted(AbortReason::Disagreement))
            | Blame::Disagreement => Self::Disagreement,
            Blame::Connection(error) if error.is_refusal() => Self::Peer,
            Blame::Connection(
                net::Error::Address { .. } | net::Error::Identity(_) | net::Error::Passphrase(_),
            )
            | Blame::Input => Self::Input,
            Blame::Connection(_) => Self::Network,
            Blame::Peer => Self::Peer,
            Blame::Internal => Self::Internal,
        }
    }

    /// The exit status, where the ledger has the run already (`spent`) or not. What the peer is told
    /// is in [`Blame::reason`].
    pub fn status(self, spent: bool) -> Status {
        match (self, spent) {
            (Self::Stopped, _) => Status::Interrupted,
            (Self::Network, _) | (Self::Internal, false) => Status::Failed,
            (Self::Peer, _) | (Self::Disagreement, false) => Status::PeerRefused,
            (Self::Input, false) => Status::WrongInput,
            (Self::Disagreement | Self::Input | Self::Internal, true) => Status::AfterSpending,
        }
    }
}

/// A failure, in words for the person who started the run.
#[derive(Debug)]
pub struct Failure {
    /// Why.
    pub cause: Cause,
    /// Whether the ledger had the run already.
    pub spent: bool,
    /// What the peer is told: the class of the reason, no detail. Nothing if it is gone or was the one
    /// that ended the run.
    pub tell: Option<AbortReason>,
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
    /// A failure before anything is spent: exit status and what the peer is told follow from whose
    /// fault it is.
    pub fn new(blame: &Blame<'_>, message: impl Display) -> Self {
        Self {
            cause: Cause::of(blame),
            spent: false,
            tell: blame.reason(),
            message: message.to_string(),
            advice: None,
        }
    }

    /// What ends a conversation says by itself whose fault it is.
    pub fn of(error: &dyn Fault) -> Self {
        Self::new(&error.blame(), error)
    }

    /// Something failed that the user did not do wrong.
    pub fn failed(message: impl Display) -> Self {
        Self::new(&Blame::Internal, message)
    }

    /// Wrong usage or input.
    pub fn wrong_input(message: impl Display) -> Self {
        Self::new(&Blame::Input, message)
    }

    /// A file that cannot be read or written.
    pub fn file(path: &Path, action: &str, error: &std::io::Error) -> Self {
        Self::wrong_input(format!("cannot {action} {}: {error}", path.display()))
    }

    /// The exit status.
    pub fn status(&self) -> Status {
        self.cause.status(self.spent)
    }

    /// With a line that says what to do.
    #[must_use]
    pub fn advise(self, advice: impl Display) -> Self {
        Self { advice: Some(advice.to_string()), ..self }
    }

    /// The same, found when the ledger had the run already; `left` says what is left of it.
    #[must_use]
    pub fn after_spending(self, left: impl Display) -> Self {
        let advice = match &self.advice {
            None => left.to_string(),
            Some(advice) => format!("{left}\n       {advice}"),
        };
        Self { spent: true, ..self }.advise(advice)
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
    shards::Failed,
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
    use crate::crypto::{cuckoo, garble, paillier};
    use crate::paper::secure_sum::Neighbour;
    use crate::privacy::ledger::History;
    use crate::privacy::{self, Epsilon};
    use crate::protocol::psi;

    /// The same failure as a protocol has it, as a release has it, and as a neighbour in a ring and a
    /// shard report it.
    fn at_every_depth(error: fn() -> net::Error) -> Vec<two_party::Error> {
        let in_ring = net::Error::Ring(Neighbour::Next, Box::new(error()));
        let of_shard = net::Error::from(shards::Failed::of(&error()));
        vec![error().into(), in_ring.into(), of_shard.into()]
    }

    #[track_caller]
    fn assert_ends(error: &dyn Fault, told: Option<AbortReason>, [before, after]: [Status; 2]) {
        let failure = Failure::of(error);
        assert_eq!((failure.status(), failure.tell), (before, told), "{error:?}");
        assert_eq!(failure.after_spending("ε 1 is spent").status(), after, "{error:?}");
    }

    #[test]
    fn a_failure_of_the_connection_says_the_same_however_deep_it_lies() {
        use Status::{AfterSpending, Failed, Interrupted, PeerRefused, WrongInput};
        let slow = || net::Error::Timeout { action: "answer", limit: Duration::from_secs(1) };
        let disagrees = || net::Error::PeerAborted(AbortReason::Disagreement);
        let over_cap = || net::Error::PeerAborted(AbortReason::OverCap);
        let large = || net::Error::FrameTooLarge { length: 1 << 40, limit: 1 << 20 };
        let identity = || net::Error::Identity("no key");
        let cases: [(fn() -> net::Error, _, _); 7] = [
            (slow, Some(AbortReason::TooSlow), [Failed; 2]),
            (|| net::Error::Closed, None, [Failed; 2]),
            (|| net::Error::Stopped, Some(AbortReason::Stopped), [Interrupted; 2]),
            (disagrees, None, [PeerRefused, AfterSpending]),
            (over_cap, None, [PeerRefused; 2]),
            (large, Some(AbortReason::BadMessage), [PeerRefused; 2]),
            (identity, Some(AbortReason::Internal), [WrongInput, AfterSpending]),
        ];
        for (error, told, statuses) in cases {
            for error in at_every_depth(error) {
                assert_ends(&error, told, statuses);
            }
        }
    }

    #[test]
    fn what_else_ends_a_release_tells_the_peer_its_class_and_sets_the_status() {
        let labels = garble::Error::OutputLabel { index: 0 };
        let column = "ill".to_owned();
        let rows: [(AbortReason, [Status; 2], Vec<two_party::Error>); 4] = [
            (
                AbortReason::BadMessage,
                [Status::PeerRefused; 2],
                vec![
                    net::Error::from(labels).into(),
                    net::Error::from(paillier::Error::CiphertextNotCoprime).into(),
                    psi::bad_answer().into(),
                    net::Error::peer("the peer opened a number that is not in the ring").into(),
                    two_party::Error::ImpossibleSplit,
                ],
            ),
            (
                AbortReason::Stopped,
                [Status::WrongInput, Status::AfterSpending],
                vec![
                    net::Error::input("rows 1 and 2 hold the same identifier").into(),
                    tree::Error::MissingColumn("job".to_owned()).into(),
                ],
            ),
            (
                AbortReason::Disagreement,
                [Status::PeerRefused, Status::AfterSpending],
                vec![
                    net::Error::disagreement("the peer compares with 2 where this side has 1")
                        .into(),
                    two_party::Error::ClassesDiffer { column: column.clone(), differing: None },
                    two_party::Error::TooFewCommon { common: 0, least: 1, column },
                ],
            ),
            (
                AbortReason::Internal,
                [Status::Failed, Status::AfterSpending],
                vec![
                    net::Error::internal("no try gave a random number below its bound").into(),
                    net::Error::from(cuckoo::Full).into(),
                    net::Error::from(privacy::Error::NoCandidates).into(),
                    diffgen::Error::Fault("no such candidate won").into(),
                ],
            ),
        ];
        for (told, statuses, errors) in &rows {
            errors.iter().for_each(|error| assert_ends(error, Some(*told), *statuses));
        }
    }

    #[test]
    fn what_is_not_an_error_of_a_protocol_follows_the_same_table() {
        use std::io;
        let full = Failure::file(Path::new("x"), "write", &io::ErrorKind::StorageFull.into());
        let [one, two] = ["1", "2"].map(|epsilon| epsilon.parse::<Epsilon>().unwrap());
        let cap = History::default().check_cap("people", &two, &one).unwrap_err();
        for (failure, told, before) in [
            (full, AbortReason::Stopped, Status::WrongInput),
            (cap.into(), AbortReason::OverCap, Status::WrongInput),
            (Failure::failed("no thread"), AbortReason::Internal, Status::Failed),
        ] {
            assert_eq!((failure.status(), failure.tell), (before, Some(told)), "{failure}");
            let failure = failure.advise("do this").after_spending("ε 1 is spent");
            assert_eq!(failure.status(), Status::AfterSpending, "{failure}");
            assert_eq!(failure.advice.as_deref(), Some("ε 1 is spent\n       do this"));
        }
    }
}
