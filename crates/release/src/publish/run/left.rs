//! What a failed conversation leaves, in the ledger, at the peer and in words.

use super::costs;
use crate::Error;
use crate::error::Kind;
use crate::privacy::ledger::{Ledger, RunId};
use crate::protocol::Workspace;
use crate::publish::Watcher;

/// What is left of a conversation that failed.
pub(super) enum Left {
    /// Nothing was spent.
    Nothing,
    /// The ledger has it, with nothing to add; these lines say so.
    Entered(Vec<String>),
    /// The ledger has it, and waits to hear how it ended.
    Open(Vec<String>),
}

impl Left {
    /// Tells the ledger and the peer that a conversation is over, and adds what is left of it to the
    /// failure. The ledger first: whoever is told may start again at once, and asks then what became
    /// of this run.
    pub(super) fn end(
        self,
        failure: Error,
        session: &mut Workspace,
        ledger: &mut Ledger,
        peer: &str,
        watcher: &dyn Watcher,
    ) -> Error {
        let noted = match &self {
            Self::Open(_) => ledger.abort(RunId(*session.id.as_bytes())),
            Self::Nothing | Self::Entered(_) => Ok(()),
        };
        if let Some(reason) = failure.tell() {
            session.channel.abort(reason);
        }
        costs::tell_end(&session.costs(), watcher);
        let stopped = failure.kind() == Kind::Stopped;
        let spent = !matches!(self, Self::Nothing);
        let mut lines = match self {
            Self::Entered(lines) | Self::Open(lines) => lines,
            Self::Nothing if stopped || failure.advice().is_none() => {
                vec!["nothing was spent".to_owned()]
            }
            Self::Nothing => Vec::new(),
        };
        lines.extend(noted.err().map(|error| format!("that it ended could not be noted: {error}")));
        if stopped {
            lines.push(format!("{peer} is told that this side was stopped"));
        }
        let left = lines.join("\n");
        match spent {
            true => failure.after_spending(left),
            false if left.is_empty() => failure,
            false => failure.advise_first(left),
        }
    }
}
