//! Why something failed: what happened and where, what to do about it, whose fault it is, and with it
//! the exit status for scripts and what the peer is told.
//!
//! Everything in this package returns this one [`Error`]. Whoever makes one decides whose fault it is by
//! the constructor; nobody further up wraps it again. What a program may act on, such as the
//! [`Problems`](crate::agreement::Problems) of an agreement, is kept as the error's
//! [origin](Error::origin).

use std::error::Error as StdError;
use std::fmt::{self, Display, Formatter};
use std::path::Path;
use std::process::ExitCode;

use crate::net::{self, AbortReason, Blame, Fault};
use crate::{primitives, privacy};

/// Exit statuses besides 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
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
#[non_exhaustive]
pub enum Kind {
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
    /// The same: not even the coarsest table of it is as the agreement requires.
    Unmet,
    /// The machine or the program.
    Internal,
}

impl Kind {
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
            (Self::Input | Self::Unmet, false) => Status::WrongInput,
            (_, true) => Status::AfterSpending,
        }
    }
}

/// An error, in words for the person who started what failed.
#[derive(Debug)]
pub struct Error(Box<Detail>);

#[derive(Debug)]
struct Detail {
    kind: Kind,
    spent: bool,
    tell: Option<AbortReason>,
    message: String,
    advice: Option<String>,
    origin: Option<Box<dyn StdError + Send + Sync>>,
}

impl Display for Error {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        self.0.advice.iter().try_for_each(|advice| write!(f, "; {advice}"))
    }
}

impl StdError for Error {
    // The message is that of the origin.
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.origin.as_ref().and_then(|origin| origin.source())
    }
}

impl Error {
    /// An error before anything is spent: exit status and what the peer is told follow from whose fault
    /// it is.
    pub fn new(blame: &Blame<'_>, message: impl Display) -> Self {
        Self(Box::new(Detail {
            kind: Kind::of(blame),
            spent: false,
            tell: blame.reason(),
            message: message.to_string(),
            advice: None,
            origin: None,
        }))
    }

    /// What this side was given cannot be used: wrong usage, a file, an agreement, data.
    pub fn input(message: impl Display) -> Self {
        Self::new(&Blame::Input, message)
    }

    /// Not even the coarsest table of what this side was given is as the agreement requires.
    pub fn unmet(message: impl Display) -> Self {
        let mut error = Self::input(message);
        error.0.kind = Kind::Unmet;
        error
    }

    /// Something failed that is neither the user's nor the peer's doing.
    pub fn internal(message: impl Display) -> Self {
        Self::new(&Blame::Internal, message)
    }

    /// A contract inside the program was broken before anything was released.
    pub fn fault(what: &str) -> Self {
        Self::internal(format!("{what}; this is a fault of the program, and nothing was released"))
    }

    /// The peer sent something that the protocol does not allow.
    pub fn peer(message: impl Display) -> Self {
        Self::new(&Blame::Peer, message)
    }

    /// Each side is well, but the two do not have the same.
    pub fn disagreement(message: impl Display) -> Self {
        Self::new(&Blame::Disagreement, message)
    }

    /// A file that cannot be read or written.
    pub fn file(path: &Path, action: &str, error: &std::io::Error) -> Self {
        let message = format!("cannot {action} {}: {error}", path.display());
        match is_full(error) {
            // A full disk is not the user's error.
            true => Self::internal(message),
            false => Self::input(message),
        }
    }

    /// With a line that says what to do.
    #[must_use]
    pub fn advise(mut self, advice: impl Display) -> Self {
        self.0.advice = Some(advice.to_string());
        self
    }

    /// With a line before what is advised already.
    #[must_use]
    pub fn advise_first(self, first: impl Display) -> Self {
        let advice = match &self.0.advice {
            None => first.to_string(),
            Some(advice) => format!("{first}\n{advice}"),
        };
        self.advise(advice)
    }

    /// The same, found when the ledger had the run already; `left` says what is left of it.
    #[must_use]
    pub fn after_spending(mut self, left: impl Display) -> Self {
        self.0.spent = true;
        self.advise_first(left)
    }

    /// The same in other words.
    #[must_use]
    pub fn reworded(mut self, message: impl Display) -> Self {
        self.0.message = message.to_string();
        self
    }

    /// With what it was made of, whose text is the message.
    #[must_use]
    pub fn because(mut self, origin: impl StdError + Send + Sync + 'static) -> Self {
        self.0.origin = Some(Box::new(origin));
        self
    }

    /// With another class of reason for the peer.
    #[must_use]
    pub fn telling(mut self, reason: AbortReason) -> Self {
        self.0.tell = Some(reason);
        self
    }

    /// Why.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// The exit status.
    pub fn status(&self) -> Status {
        self.0.kind.status(self.0.spent)
    }

    /// What the peer is told: the class of the reason, no detail. Nothing if it is gone or was the one
    /// that ended the run.
    pub fn tell(&self) -> Option<AbortReason> {
        self.0.tell
    }

    /// What happened and where.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What to do about it, where the message does not say so already.
    pub fn advice(&self) -> Option<&str> {
        self.0.advice.as_deref()
    }

    /// What it was made of, if that was such a thing.
    pub fn origin<T: StdError + 'static>(&self) -> Option<&T> {
        self.0.origin.as_ref().and_then(|origin| origin.downcast_ref())
    }

    /// Whose fault it is.
    pub fn blame(&self) -> Blame<'_> {
        match (self.origin::<net::Error>(), self.0.kind) {
            (Some(error), _) => error.blame(),
            (None, Kind::Stopped) => Blame::Connection(&net::Error::Stopped),
            (None, Kind::Peer) => Blame::Peer,
            (None, Kind::Disagreement) => Blame::Disagreement,
            (None, Kind::Input | Kind::Unmet) => Blame::Input,
            (None, Kind::Network | Kind::Internal) => Blame::Internal,
        }
    }
}

impl Fault for Error {
    fn blame(&self) -> Blame<'_> {
        self.blame()
    }
}

impl From<net::Error> for Error {
    fn from(error: net::Error) -> Self {
        Self::new(&error.blame(), &error).because(error)
    }
}

/// Outside a protocol, nothing that the user or the peer gave causes such an error.
impl From<primitives::Error> for Error {
    fn from(error: primitives::Error) -> Self {
        Self::internal(&error).because(error)
    }
}

fn is_full(error: &std::io::Error) -> bool {
    use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
    matches!(error.kind(), FileTooLarge | QuotaExceeded | StorageFull)
}

/// What is wrong with a ledger, or what it forbids, is the input's fault; what a budget or a mechanism
/// meets is not.
impl From<privacy::Error> for Error {
    fn from(error: privacy::Error) -> Self {
        use privacy::Error as Of;
        let made = match &error {
            Of::File { source, .. } if is_full(source) => Self::internal(&error),
            Of::Epsilon { .. }
            | Of::EmptySpend { .. }
            | Of::BudgetExceeded { .. }
            | Of::RoundingTooCoarse { .. }
            | Of::OutOfRange { .. }
            | Of::FailuresTooLikely { .. }
            | Of::NoSensitivity
            | Of::NoCandidates
            | Of::WeightsTooLong { .. }
            | Of::OffGrid { .. }
            | Of::RateVanishes { .. }
            | Of::NotWhole { .. }
            | Of::Tape(_) => Self::internal(&error),
            Of::CapReached { .. } => Self::input(&error).telling(AbortReason::OverCap),
            _ => Self::input(&error),
        };
        made.because(error)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::paper::secure_sum::Neighbour;
    use crate::privacy::Epsilon;
    use crate::privacy::ledger::History;
    use crate::protocol::{psi, shards};

    /// The same failure as a protocol has it, and as a neighbour in a ring and a shard report it.
    fn at_every_depth(error: fn() -> net::Error) -> [Error; 3] {
        let in_ring = net::Error::Ring(Neighbour::Next, Box::new(error()));
        let of_shard = net::Error::from(shards::Failed::of(&error()));
        [error().into(), in_ring.into(), of_shard.into()]
    }

    #[track_caller]
    fn assert_ends(error: Error, told: Option<AbortReason>, [before, after]: [Status; 2]) {
        assert_eq!((error.status(), error.tell()), (before, told), "{error:?}");
        assert_eq!(error.blame().reason(), told, "{error:?}");
        let spent = error.after_spending("ε 1 is spent");
        assert_eq!((spent.status(), spent.tell()), (after, told), "{spent:?}");
    }

    #[test]
    fn a_failure_of_the_connection_says_the_same_however_deep_it_lies() {
        use Status::{AfterSpending, Failed, Interrupted, PeerRefused, WrongInput};
        let slow = || net::Error::Timeout { action: "answer", limit: Duration::from_secs(1) };
        let disagrees = || net::Error::PeerAborted(AbortReason::Disagreement);
        let over_cap = || net::Error::PeerAborted(AbortReason::OverCap);
        let large = || net::Error::FrameTooLarge { length: 1 << 40, limit: 1 << 20 };
        let identity = || net::Error::Identity("no key");
        let cases: [(fn() -> net::Error, _, _); 6] = [
            (slow, Some(AbortReason::TooSlow), [Failed; 2]),
            (|| net::Error::Closed, None, [Failed; 2]),
            (|| net::Error::Stopped, Some(AbortReason::Stopped), [Interrupted; 2]),
            (disagrees, None, [PeerRefused, AfterSpending]),
            (over_cap, None, [PeerRefused; 2]),
            (large, Some(AbortReason::BadMessage), [PeerRefused; 2]),
        ];
        for (error, told, statuses) in cases {
            for error in at_every_depth(error) {
                assert_ends(error, told, statuses);
            }
        }
        // What a shard was given is not the input of its lead.
        let [own, in_ring, of_shard] = at_every_depth(identity);
        for error in [own, in_ring] {
            assert_ends(error, Some(AbortReason::Internal), [WrongInput, AfterSpending]);
        }
        assert_ends(of_shard, Some(AbortReason::Internal), [Failed, AfterSpending]);
    }

    #[test]
    fn what_else_ends_a_release_tells_the_peer_its_class_and_sets_the_status() {
        let labels = primitives::Error::OutputLabel { index: 0 };
        let rows: [(AbortReason, [Status; 2], Vec<Error>); 4] = [
            (
                AbortReason::BadMessage,
                [Status::PeerRefused; 2],
                vec![
                    net::Error::from(labels).into(),
                    net::Error::from(primitives::Error::CiphertextNotCoprime).into(),
                    psi::bad_answer().into(),
                    net::Error::peer("the peer opened a number that is not in the ring").into(),
                    Error::peer("the peer named a split that its interval does not have"),
                ],
            ),
            (
                AbortReason::Stopped,
                [Status::WrongInput, Status::AfterSpending],
                vec![
                    net::Error::input("rows 1 and 2 hold the same identifier").into(),
                    Error::input("the data has no column for attribute `job`"),
                    Error::unmet("even the coarsest table is not as the agreement requires"),
                ],
            ),
            (
                AbortReason::Disagreement,
                [Status::PeerRefused, Status::AfterSpending],
                vec![
                    net::Error::disagreement("the peer compares with 2 where this side has 1")
                        .into(),
                    Error::disagreement("the class columns of the common individuals differ"),
                    net::Error::from(shards::Failed::of(&Error::disagreement("so in a shard")))
                        .into(),
                ],
            ),
            (
                AbortReason::Internal,
                [Status::Failed, Status::AfterSpending],
                vec![
                    net::Error::internal("no try gave a random number below its bound").into(),
                    net::Error::from(primitives::Error::NoPlacement).into(),
                    privacy::Error::NoCandidates.into(),
                    primitives::Error::CiphertextNotCoprime.into(),
                    Error::fault("no such candidate won"),
                ],
            ),
        ];
        for (told, statuses, errors) in rows {
            errors.into_iter().for_each(|error| assert_ends(error, Some(told), statuses));
        }
    }

    #[test]
    fn what_is_not_an_error_of_a_protocol_follows_the_same_table() {
        use std::io;
        let full = Error::file(Path::new("x"), "write", &io::ErrorKind::StorageFull.into());
        let [one, two] = ["1", "2"].map(|epsilon| epsilon.parse::<Epsilon>().unwrap());
        let cap = History::default().check_cap("people", &two, &one).unwrap_err();
        for (failure, told, before) in [
            (full, AbortReason::Internal, Status::Failed),
            (cap.into(), AbortReason::OverCap, Status::WrongInput),
            (Error::internal("no thread"), AbortReason::Internal, Status::Failed),
        ] {
            assert_eq!((failure.status(), failure.tell()), (before, Some(told)), "{failure}");
            let failure = failure.advise("do this").after_spending("ε 1 is spent");
            assert_eq!(failure.status(), Status::AfterSpending, "{failure}");
            assert_eq!(failure.advice(), Some("ε 1 is spent\ndo this"));
        }
    }
}
