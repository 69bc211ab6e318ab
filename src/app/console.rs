//! Where the command speaks: results to standard output, everything else to standard error.

use std::io::{IsTerminal, Write};

use clap::{Args, ValueEnum};
use tracing_subscriber::EnvFilter;

use crate::app::failure::Failure;

/// Flags that every verb takes.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Say nothing but results and errors
    #[arg(long, global = true)]
    quiet: bool,
    /// How the log on standard error is written (what it says: DIPTYCH_LOG=warn|info|debug)
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

/// Standard output and standard error, as the flags want them.
#[derive(Clone, Debug)]
pub struct Console {
    quiet: bool,
    color: bool,
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
        let filter =
            EnvFilter::try_from_env("DIPTYCH_LOG").unwrap_or_else(|_| EnvFilter::new("warn"));
        let log = tracing_subscriber::fmt()
            .with_env_filter(filter)
            .with_writer(std::io::stderr)
            .with_ansi(color);
        // A second set-up in one process keeps the first log; that is fine.
        let _ = match arguments.log_format {
            LogFormat::Text => log.try_init(),
            LogFormat::Json => log.json().try_init(),
        };
        Self { quiet: arguments.quiet, color }
    }

    /// One that says nothing.
    #[cfg(test)]
    pub(crate) fn silent() -> Self {
        Self { quiet: true, color: false }
    }

    /// A line of the result, to standard output.
    pub fn result(&self, line: impl std::fmt::Display) {
        // A reader that stopped reading (`| head`) is no reason to fail.
        let _ = writeln!(std::io::stdout().lock(), "{line}");
    }

    /// A line about what is going on, to standard error, unless `--quiet`.
    pub fn say(&self, line: impl std::fmt::Display) {
        if !self.quiet {
            let _ = writeln!(std::io::stderr().lock(), "{line}");
        }
    }

    /// Whether to be quiet.
    pub fn is_quiet(&self) -> bool {
        self.quiet
    }

    /// Says what failed and what to do.
    pub fn fail(&self, failure: &Failure) {
        let (red, bold, plain) =
            if self.color { ("\x1b[1;31m", "\x1b[1m", "\x1b[0m") } else { ("", "", "") };
        let mut text = format!("{red}error:{plain} {}\n", failure.message);
        if let Some(advice) = &failure.advice {
            text += &format!(" {bold}help:{plain} {advice}\n");
        }
        let _ = std::io::stderr().lock().write_all(text.as_bytes());
    }
}
