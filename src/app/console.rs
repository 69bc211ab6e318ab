//! The output of the command: results to standard output, everything else to standard error.

use std::io::{ErrorKind, IsTerminal, Write};
use std::sync::{Arc, OnceLock};

use clap::{Args, ValueEnum};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::prelude::*;

use crate::Error;
use crate::net::{Stop, Tally};
use crate::publish::metrics::Spent;

/// Flags that every verb takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Print only results, errors and lines that begin with ATTENTION
    #[arg(long, global = true)]
    quiet: bool,
    /// Format of the log on standard error (its level: DIPTYCH_LOG=warn|info|debug)
    #[arg(long, global = true, value_enum, default_value_t = LogFormat::Text)]
    log_format: LogFormat,
    /// When to use colour
    #[arg(long, global = true, value_enum, default_value_t = Color::Auto)]
    color: Color,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    Text,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Color {
    Auto,
    Always,
    Never,
}

/// The target of what the command says, which a log in JSON always has.
const SAID: &str = "diptych::said";

/// The event of the last line, where all went well.
const DONE: &str = "done";

/// Lines as a program wants them: without the spaces that align them on a terminal.
fn unpadded(text: &str) -> String {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let lines: Vec<String> = text.lines().map(words).filter(|line| !line.is_empty()).collect();
    lines.join("\n")
}

/// Standard output and standard error, as set by the flags.
#[derive(Clone, Debug)]
pub struct Console {
    quiet: bool,
    /// Whether standard error is a log in JSON and nothing else.
    json: bool,
    color: bool,
    /// Why a result could not be written, the first time.
    unwritten: Arc<OnceLock<String>>,
    /// Set by Ctrl-C.
    stop: Stop,
    /// What connections exchange.
    tally: Tally,
    /// What the ledger was debited.
    spent: Spent,
    /// The peer's name, once it is known.
    peer: Arc<OnceLock<String>>,
}

/// Standard error as the log sees it: what cannot be written is lost, and nothing else happens.
struct StandardError;

impl Write for StandardError {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let _ = std::io::stderr().lock().write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Console {
    /// Sets up the console and the log.
    pub fn new(arguments: &GlobalArgs) -> Self {
        let color = match arguments.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none()
            }
        };
        let level = std::env::var("DIPTYCH_LOG").ok().and_then(|word| word.parse().ok());
        let level: LevelFilter = level.unwrap_or(LevelFilter::WARN);
        let json = arguments.log_format == LogFormat::Json;
        // A second set-up in one process keeps the first log; that is fine. Errors of the log
        // itself are not reported: the report would panic where standard error cannot be written.
        let _ = if json {
            let layer = tracing_subscriber::fmt::layer().json().flatten_event(true);
            let layer = layer.with_writer(|| StandardError);
            let wanted = filter_fn(move |meta| meta.target() == SAID || *meta.level() <= level);
            let layer = layer.log_internal_errors(false).with_filter(wanted);
            tracing_subscriber::registry().with(layer).try_init().is_ok()
        } else {
            tracing_subscriber::fmt()
                .with_max_level(level)
                .with_writer(|| StandardError)
                .log_internal_errors(false)
                .with_ansi(color)
                .try_init()
                .is_ok()
        };
        Self::with(arguments.quiet, json, color && !json)
    }

    fn with(quiet: bool, json: bool, color: bool) -> Self {
        let (unwritten, stop, peer) = (Arc::default(), Stop::default(), Arc::default());
        let (tally, spent) = (Tally::default(), Spent::default());
        Self { quiet, json, color, unwritten, stop, tally, spent, peer }
    }

    /// A console for a command line that cannot be parsed; it honours --log-format json if that
    /// is there.
    pub fn of_unread_flags() -> Self {
        let words: Vec<_> = std::env::args_os().collect();
        let json = words.iter().any(|word| word == "--log-format=json")
            || words.windows(2).any(|two| two[0] == "--log-format" && two[1] == "json");
        let log_format = if json { LogFormat::Json } else { LogFormat::Text };
        Self::new(&GlobalArgs { quiet: false, log_format, color: Color::Auto })
    }

    /// Whether standard error is a log in JSON and nothing else.
    pub fn is_json(&self) -> bool {
        self.json
    }

    /// One that says nothing.
    #[cfg(test)]
    pub(crate) fn silent() -> Self {
        Self::with(true, false, false)
    }

    /// A line of the result, to standard output. If it cannot be written, the command fails in the
    /// end, unless its reader only stopped reading (`| head`).
    pub fn result(&self, line: impl std::fmt::Display) {
        match writeln!(std::io::stdout().lock(), "{line}") {
            Err(error) if error.kind() != ErrorKind::BrokenPipe => {
                let _ = self.unwritten.set(error.to_string());
            }
            _ => {}
        }
    }

    /// A line on standard output about something that is done whether it is read or not.
    pub fn result_of_work_done(&self, line: impl std::fmt::Display) {
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }

    /// Whether all results could be written.
    ///
    /// # Errors
    /// If one could not.
    pub fn results_are_written(&self) -> Result<(), Error> {
        match self.unwritten.get() {
            None => Ok(()),
            Some(error) => {
                Err(Error::internal(format!("cannot write the result to standard output: {error}"))
                    .advise("free disk space, or redirect the output elsewhere"))
            }
        }
    }

    /// A line about what is going on, to standard error, unless `--quiet`; what begins with ATTENTION is
    /// said all the same.
    pub fn say(&self, line: impl std::fmt::Display) {
        self.tell("note", line);
    }

    /// The same about something that programs look for in a log, by this name.
    pub fn tell(&self, event: &str, line: impl std::fmt::Display) {
        let line = line.to_string();
        let warning = line.starts_with("ATTENTION");
        match (self.quiet && !warning, self.json) {
            (true, _) => {}
            (false, true) => self.log(if warning { "warning" } else { event }, &line, None),
            (false, false) => {
                let _ = writeln!(std::io::stderr().lock(), "{line}");
            }
        }
    }

    /// A line of the log in JSON: what happened, and where the run is.
    fn log(&self, event: &str, line: &str, failed: Option<&Error>) {
        let message = unpadded(line);
        let (phase, peer) = (self.tally.phase(), self.peer.get().map(String::as_str));
        let bytes = phase.map(|_| self.tally.bytes_sent() + self.tally.bytes_received());
        let status = match (event, failed) {
            (_, Some(failure)) => Some(failure.status() as u8),
            (DONE, None) => Some(0),
            (_, None) => None,
        };
        let hint = failed.and_then(Error::advice).map(unpadded);
        let hint = hint.as_deref();
        match (event, failed) {
            (_, Some(_)) => {
                tracing::error!(target: SAID, event, phase, bytes, peer, status, hint, "{message}")
            }
            ("warning", None) => {
                tracing::warn!(target: SAID, event, phase, bytes, peer, "{message}")
            }
            _ => tracing::info!(target: SAID, event, phase, bytes, peer, status, "{message}"),
        }
    }

    /// The last line of a log in JSON, where all went well.
    pub fn done(&self) {
        if self.json && !self.quiet {
            self.log(DONE, "done", None);
        }
    }

    /// From now on every line of a log in JSON names the peer.
    pub fn name_peer(&self, name: &str) {
        let _ = self.peer.set(name.to_owned());
    }

    /// Where connections count what they exchange.
    pub fn tally(&self) -> Tally {
        self.tally.clone()
    }

    /// What the ledger was debited.
    pub fn spent(&self) -> Spent {
        self.spent.clone()
    }

    /// A question, to standard error, where the answer is typed behind it.
    pub fn prompt(&self, question: &str) {
        let mut stream = std::io::stderr().lock();
        let _ = stream.write_all(question.as_bytes()).and_then(|()| stream.flush());
    }

    /// From now on the first Ctrl-C (or SIGTERM) asks the conversation to end in order, and the
    /// second ends the process. For verbs that wait for a peer; elsewhere the first ends it.
    pub fn stop_on_signals(&self) {
        for signal in [SIGINT, SIGTERM] {
            let _ = flag::register_conditional_default(signal, self.stop.flag().clone());
            let _ = flag::register(signal, self.stop.flag().clone());
        }
    }

    /// The flag that Ctrl-C sets.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// Whether to be quiet.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Says what failed and what to do.
    pub fn fail(&self, failure: &Error) {
        if self.json {
            return self.log("failed", failure.message(), Some(failure));
        }
        let (red, bold, plain) =
            if self.color { ("\x1b[1;31m", "\x1b[1m", "\x1b[0m") } else { ("", "", "") };
        let mut text = format!("{red}error:{plain} {}\n", failure.message());
        if let Some(advice) = failure.advice() {
            let advice = advice.replace('\n', "\n       ");
            text += &format!(" {bold}help:{plain} {advice}\n");
        }
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}
