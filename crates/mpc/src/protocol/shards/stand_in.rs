//! Shards for tests: the test defines their messages, and they count nothing.

use std::time::Duration;

use super::{Answer, Failed, Shard};
use crate::net::{AbortReason, Costs, Stop, Transcript};

/// What a test's shard does.
pub trait Answers: Send {
    /// As [`Shard::ask`].
    ///
    /// # Errors
    /// Errors that the test defines.
    fn ask(&mut self, request: &[u8]) -> Result<Answer, Failed>;

    /// As [`Shard::abort`].
    fn abort(&mut self, _: AbortReason) {}
}

/// A shard that does it.
pub struct StandIn<A>(pub A);

impl<A: Answers> Shard for StandIn<A> {
    fn ask(&mut self, request: &[u8]) -> Result<Answer, Failed> {
        self.0.ask(request)
    }

    fn abort(&mut self, reason: AbortReason) {
        self.0.abort(reason);
    }

    fn end_within(&mut self, _: Duration) {}

    fn stop_on(&mut self, _: &Stop) {}

    fn record_transcript(&mut self) {}

    fn costs(&self) -> Costs {
        Costs::default()
    }

    fn transcript(&self) -> Transcript {
        Transcript::new()
    }
}
