//! What connections have exchanged so far, for whoever watches a run from another thread.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::Direction;

/// All copies share one count. It adds up every channel that counts into it, such as those of shards.
#[derive(Clone, Debug, Default)]
pub struct Tally(Arc<Counts>);

#[derive(Debug, Default)]
struct Counts {
    bytes_sent: AtomicU64,
    bytes_received: AtomicU64,
    rounds: AtomicU64,
    phase: Mutex<Option<&'static str>>,
}

impl Tally {
    /// Plaintext frame bytes sent so far, headers included.
    pub fn bytes_sent(&self) -> u64 {
        self.0.bytes_sent.load(Ordering::Relaxed)
    }

    /// Plaintext frame bytes received so far, headers included.
    pub fn bytes_received(&self) -> u64 {
        self.0.bytes_received.load(Ordering::Relaxed)
    }

    /// Receives so far that followed a send.
    pub fn rounds(&self) -> u64 {
        self.0.rounds.load(Ordering::Relaxed)
    }

    /// The phase that was entered last.
    pub fn phase(&self) -> Option<&'static str> {
        *self.0.phase.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Enters a phase.
    pub fn enter(&self, phase: &'static str) {
        *self.0.phase.lock().unwrap_or_else(PoisonError::into_inner) = Some(phase);
    }

    pub(super) fn count(&self, direction: Direction, bytes: u64, rounds: u64) {
        let counted = match direction {
            Direction::Sent => &self.0.bytes_sent,
            Direction::Received => &self.0.bytes_received,
        };
        counted.fetch_add(bytes, Ordering::Relaxed);
        self.0.rounds.fetch_add(rounds, Ordering::Relaxed);
    }
}
