//! How far a long phase is: a bar with the time left on a terminal, plain lines otherwise.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::app::console::Console;

/// The progress of one phase. Can be told from any thread.
pub struct Bar {
    console: Console,
    name: &'static str,
    bar: Option<ProgressBar>,
    total: AtomicUsize,
    done: AtomicUsize,
    began: Instant,
}

impl Bar {
    /// A phase whose length is not known yet.
    pub fn new(console: &Console, name: &'static str) -> Self {
        let on_terminal = std::io::stderr().is_terminal() && !console.is_quiet();
        let bar = on_terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let template = "{msg} {wide_bar} {pos}/{len}, {eta} left";
            bar.with_style(
                ProgressStyle::with_template(template)
                    .unwrap_or_else(|_| ProgressStyle::default_bar()),
            )
            .with_message(name)
        });
        let (total, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Self { console: console.clone(), name, bar, total, done, began: Instant::now() }
    }

    /// The phase has this many items.
    pub fn start(&self, total: usize) {
        self.total.store(total, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
        }
    }

    /// This many more are done.
    pub fn advance(&self, items: usize) {
        let before = self.done.fetch_add(items, Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.inc(items as u64);
            return;
        }
        let total = self.total.load(Ordering::Relaxed);
        if total > 0 && (before + items) * 10 / total > before * 10 / total {
            let percent = ((before + items) * 10 / total).min(10) * 10;
            let left = self.left(before + items, total);
            self.console.say(format!("{}: {percent} % of {total}{left}", self.name));
        }
    }

    /// The time that the rest will take at the pace so far, if it is worth saying.
    fn left(&self, done: usize, total: usize) -> String {
        let rest = total.saturating_sub(done) as f64 / done.max(1) as f64;
        let seconds = self.began.elapsed().as_secs_f64() * rest;
        if seconds < 1.0 { String::new() } else { format!(", {seconds:.0} s left") }
    }

    /// The phase is over.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
