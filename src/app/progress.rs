//! How far a phase has come: a bar with the time left on a terminal, a plain line otherwise.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::app::console::Console;

/// One phase of a run, shown until it is finished.
pub struct Phase<'c> {
    console: &'c Console,
    name: &'static str,
    bar: ProgressBar,
    begun: Instant,
}

impl<'c> Phase<'c> {
    /// Begins a phase of so many steps, which are bytes or whatever is counted.
    pub fn begin(console: &'c Console, name: &'static str, steps: u64) -> Self {
        let shown = !console.is_quiet() && std::io::stderr().is_terminal();
        let target =
            if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let bar = ProgressBar::with_draw_target(Some(steps), target);
        if let Ok(style) =
            ProgressStyle::with_template("{msg:<14} {wide_bar} {percent:>3}%  {eta:>4}")
        {
            bar.set_style(style);
        }
        bar.set_message(name);
        Self { console, name, bar, begun: Instant::now() }
    }

    /// So many steps were done.
    pub fn advance(&self, steps: usize) {
        self.bar.inc(steps as u64);
    }

    /// Ends the phase; `what` says what came of it.
    pub fn finish(self, what: &str) {
        self.bar.finish_and_clear();
        self.console.say(format!("{:<14} {what} ({})", self.name, readable(self.begun.elapsed())));
    }
}

fn readable(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1.0 => format!("{:.0} ms", seconds * 1e3),
        seconds if seconds < 120.0 => format!("{seconds:.1} s"),
        seconds => format!("{:.0} min", seconds / 60.0),
    }
}
