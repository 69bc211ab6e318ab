//! A flag that stops a conversation: set by a key press, a signal, a notebook.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// All copies share one flag. Once set it stays set; every wait checks it.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    end: Option<Instant>,
}

impl Stop {
    /// The longest time a wait goes on without checking.
    pub const LOOK: Duration = Duration::from_millis(100);

    /// The flag itself, for code that cannot call a method, such as a signal handler.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }

    /// Sets the flag.
    pub fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// The same flag with a deadline, at which it counts as set.
    pub fn until(&self, end: Option<Instant>) -> Self {
        Self { flag: self.flag.clone(), end: end.or(self.end) }
    }

    /// Whether the flag is set or the deadline has passed.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// An error if the flag is set or the deadline has passed.
    ///
    /// # Errors
    /// [`super::Error::Stopped`].
    pub fn check(&self) -> Result<(), super::Error> {
        if self.is_set() { Err(super::Error::Stopped) } else { Ok(()) }
    }
}
