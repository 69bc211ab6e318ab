//! The progress of a release, phase by phase.

use std::sync::{Mutex, PoisonError};

use crate::app::console::Console;
use crate::app::progress::Bar;
use crate::release::diffgen::Step;

/// Shows one bar at a time: that of the phase which began last.
pub(super) struct Phases<'a> {
    console: &'a Console,
    bar: Mutex<Option<Bar>>,
}

impl<'a> Phases<'a> {
    pub fn new(console: &'a Console) -> Self {
        Self { console, bar: Mutex::new(None) }
    }

    /// Can be told from any thread.
    pub fn tell(&self, step: Step) {
        let mut bar = self.bar.lock().unwrap_or_else(PoisonError::into_inner);
        match step {
            Step::Began { phase, total } => {
                let next = Bar::new(self.console, phase);
                next.start(total);
                if let Some(before) = bar.replace(next) {
                    before.finish();
                }
            }
            Step::Advanced(items) => bar.iter().for_each(|bar| bar.advance(items)),
            Step::Specialized { .. } => bar.iter().for_each(|bar| bar.advance(1)),
            Step::Counted => bar.iter().for_each(Bar::finish),
        }
    }
}
