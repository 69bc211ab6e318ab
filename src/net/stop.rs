//! A flag by which a conversation is asked to end: a key press, a signal, a notebook.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Every copy is the same flag. Once set it stays set; every wait looks at it.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// How long a wait goes on without looking.
    pub const LOOK: Duration = Duration::from_millis(100);

    /// The flag itself, for those who set it from where a method cannot be called.
    pub fn flag(&self) -> &Arc<AtomicBool> {
        &self.0
    }

    /// Asks for the end.
    pub fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the end was asked for.
    pub fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// An error if the end was asked for.
    ///
    /// # Errors
    /// [`super::Error::Stopped`].
    pub fn check(&self) -> Result<(), super::Error> {
        if self.is_set() { Err(super::Error::Stopped) } else { Ok(()) }
    }
}
