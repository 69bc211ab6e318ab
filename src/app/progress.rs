//! How far a long phase is: a bar with the time left on a terminal, plain lines otherwise.

use std::io::IsTerminal;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use zeroize::Zeroizing;

use crate::app::console::Console;
use crate::app::passphrase;
use crate::net::{Stop, Tally};
use crate::privacy::Epsilon;
use crate::publish::{Event, Watcher};
use crate::release::Step;

/// A shorter phase gets no line.
const LONG_ENOUGH_TO_TELL: Duration = Duration::from_secs(1);

/// The event of a line about a phase.
const PROGRESS: &str = "progress";

/// The unit of a phase's items, if users would understand it.
fn unit(phase: &str) -> Option<&'static str> {
    match phase {
        "reading" => Some("bytes"),
        "structure" => Some("specializations"),
        "examination" => Some("values"),
        "set intersection" | "overlap check" | "counting" => Some("records"),
        _ => None,
    }
}

/// The progress of one phase. May be updated from any thread.
pub struct Bar {
    console: Console,
    name: &'static str,
    bar: Option<ProgressBar>,
    total: AtomicUsize,
    done: AtomicUsize,
    began: Instant,
    /// Milliseconds after the beginning at which something was last said.
    said: AtomicU64,
}

impl Bar {
    /// A phase whose length is not known yet.
    pub fn new(console: &Console, name: &'static str) -> Self {
        let on_terminal =
            std::io::stderr().is_terminal() && !console.is_quiet() && !console.is_json();
        let bar = on_terminal.then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            let items = match unit(name) {
                Some("bytes") => "{bytes} of {total_bytes}".to_owned(),
                Some(unit) => format!("{{pos}} of {{len}} {unit}"),
                None => "{percent} %".to_owned(),
            };
            let template = format!("{{msg}} {{wide_bar}} {items}, {{eta}} left");
            bar.with_style(
                ProgressStyle::with_template(&template)
                    .unwrap_or_else(|_| ProgressStyle::default_bar()),
            )
            .with_message(name)
        });
        let (total, done) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let (began, said) = (Instant::now(), AtomicU64::new(0));
        Self { console: console.clone(), name, bar, total, done, began, said }
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
        let done = before + items;
        if done * 10 / total.max(1) > before * 10 / total.max(1) && self.is_time_to_speak() {
            let line = under_way(self.name, done, total, self.began.elapsed());
            self.console.tell(PROGRESS, line);
        }
    }

    /// Plain lines come at most once a second: short phases need none.
    fn is_time_to_speak(&self) -> bool {
        let now = u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX);
        let last = self.said.load(Ordering::Relaxed);
        now >= last + 1_000
            && self.said.compare_exchange(last, now, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }

    /// The phase is over, and what it did is said elsewhere.
    pub fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    /// The phase is over.
    pub fn finish(&self) {
        self.clear();
        let items = self.done.load(Ordering::Relaxed);
        if let Some(line) = over(self.name, items, self.began.elapsed()) {
            self.console.tell(PROGRESS, line);
        }
    }
}

/// The line in the middle of a phase, with the time that the rest takes at the pace so far.
fn under_way(name: &str, done: usize, total: usize, so_far: Duration) -> String {
    let percent = (done * 10 / total.max(1)).min(10) * 10;
    let items = match unit(name) {
        Some(unit) if unit != "bytes" => format!(" of {total} {unit}"),
        _ => String::new(),
    };
    let rest = total.saturating_sub(done) as f64 / done.max(1) as f64;
    let seconds = so_far.as_secs_f64() * rest;
    let left = if seconds < 1.0 { String::new() } else { format!(", {seconds:.0} s left") };
    format!("{name}: {percent} %{items}{left}")
}

/// The line at the end of a phase, if it was long enough.
fn over(name: &str, items: usize, took: Duration) -> Option<String> {
    let items = match unit(name) {
        Some(unit) => format!(", {items} {unit}"),
        None => String::new(),
    };
    let seconds = took.as_secs_f64();
    (took >= LONG_ENOUGH_TO_TELL).then(|| format!("{name}: done in {seconds:.1} s{items}"))
}

/// Shows a run: its lines, and one bar at a time, that of the phase which began last.
pub struct Screen<'a> {
    console: &'a Console,
    bar: Mutex<Option<Bar>>,
}

impl<'a> Screen<'a> {
    /// Nothing is shown yet.
    pub fn new(console: &'a Console) -> Self {
        Self { console, bar: Mutex::new(None) }
    }
}

impl Watcher for Screen<'_> {
    fn say(&self, line: &str) {
        self.console.say(line);
    }

    fn tell(&self, event: Event, line: &str) {
        self.console.tell(event.word(), line);
    }

    fn spent(&self, epsilon: &Epsilon) {
        self.console.spent().set(epsilon);
    }

    fn tally(&self) -> Tally {
        self.console.tally()
    }

    fn stop(&self) -> Stop {
        self.console.stop()
    }

    fn passphrase(&self, identity: &Path) -> Option<Zeroizing<String>> {
        passphrase::ask(self.console, &format!("passphrase of {}: ", identity.display()))
    }

    fn step(&self, step: Step) {
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
            Step::Ended => bar.take().iter().for_each(Bar::finish),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_all_phases_have_one_shape_and_a_unit_that_people_know() {
        let seconds = Duration::from_secs;
        for (phase, during, after) in [
            ("set intersection", " of 9000 records", ", 9000 records"),
            ("overlap check", " of 9000 records", ", 9000 records"),
            ("structure", " of 9000 specializations", ", 9000 specializations"),
            ("reading", "", ", 9000 bytes"),
            ("count table", "", ""),
        ] {
            let line = under_way(phase, 2_990, 9_000, seconds(2));
            assert_eq!(line, format!("{phase}: 30 %{during}, 4 s left"));
            let line = over(phase, 9_000, seconds(6));
            assert_eq!(line, Some(format!("{phase}: done in 6.0 s{after}")));
            assert_eq!(over(phase, 9_000, Duration::from_millis(900)), None);
        }
        assert_eq!(
            under_way("structure", 10, 10, seconds(2)),
            "structure: 100 % of 10 specializations"
        );
    }
}
