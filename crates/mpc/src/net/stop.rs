//! A flag by which a conversation is asked to end: a key press, a signal, a notebook.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Every copy is the same flag. Once set it stays set; every wait looks at it.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    flag: Arc<AtomicBool>,
    end: Option<Instant>,
}

impl Stop {
    /// How long a wait goes on without looking.
    pub const LOOK: Duration = Duration::from_millis(100);

    /// The flag itself, for those who set it from where a method cannot be called.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.flag
    }

    /// Asks for the end.
    pub fn set(&self) {
        self.flag.store(true, Ordering::Relaxed);
    }

    /// The same flag for one who is to wait until then at the latest, as if it were set at that time.
    pub fn until(&self, end: Option<Instant>) -> Self {
        Self { flag: self.flag.clone(), end: end.or(self.end) }
    }

    /// Whether the end was asked for, or is there.
    pub fn is_set(&self) -> bool {
        self.flag.load(Ordering::Relaxed) || self.end.is_some_and(|end| Instant::now() >= end)
    }

    /// An error if the end was asked for.
    ///
    /// # Errors
    /// [`super::Error::Stopped`].
    pub fn check(&self) -> Result<(), super::Error> {
        if self.is_set() { Err(super::Error::Stopped) } else { Ok(()) }
    }
}
