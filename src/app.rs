//! The command `diptych`: its verbs, its output and its exit status.
//!
//! One file per verb; all of them reach the peer through [`connection`].
//!
//! # Example
//!
//! The verbs are for the command line; plots and evaluation are also useful to other programs.
//!
//! ```
//! use diptych::app::plot::{Chart, Level, Point, Scale, Series};
//!
//! let points = [(0.1, 81.4), (1.0, 84.2)].map(|(x, y)| Point { x, y, deviation: 0.3 });
//! let chart = Chart {
//!     title: "What a release is worth".to_owned(),
//!     x_label: "ε".to_owned(),
//!     y_label: "accuracy in %".to_owned(),
//!     x_scale: Scale::Logarithmic,
//!     y_scale: Scale::Linear,
//!     series: vec![Series { name: "two parties".to_owned(), points: points.to_vec() }],
//!     levels: vec![Level { name: "raw data".to_owned(), y: 85.3 }],
//! };
//! let svg = chart.svg();
//! assert!(svg.starts_with("<svg") && svg.contains("two parties"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::path::Path;
use std::process::ExitCode;

use clap::{Command, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};
use serde::Serialize;

pub mod agreement;
pub mod audit;
pub mod bench;
pub mod circuit;
pub mod connection;
pub mod console;
pub mod demo;
pub mod evaluate;
mod front_page;
pub mod keygen;
pub mod ledger;
pub mod local;
mod manual;
pub mod model;
mod passphrase;
pub mod plot;
pub mod progress;
pub mod psi;
pub mod report;
pub mod rows;
pub mod run;
pub mod speed;
pub mod verify;

use crate::Error;
use crate::error::Status;
use console::{Console, GlobalArgs};

use crate::simd::level::{self, Level};

/// Two organisations publish one differentially private table over data that neither shows the other.
#[derive(Parser)]
#[command(name = "diptych", version, max_term_width = 100, arg_required_else_help = true)]
#[command(after_help = front_page::MORE)]
struct Cli {
    #[command(flatten)]
    global: GlobalArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    Agreement(agreement::AgreementArgs),
    Audit(audit::AuditArgs),
    Bench(bench::BenchArgs),
    Circuit(circuit::CircuitArgs),
    Completions(manual::CompletionsArgs),
    Man(manual::ManArgs),
    Demo(demo::DemoArgs),
    Evaluate(evaluate::EvaluateArgs),
    Keygen(keygen::KeygenArgs),
    Psi(psi::PsiArgs),
    Report(report::ReportArgs),
    Rows(rows::RowsArgs),
    Run(run::RunArgs),
    Verify(verify::VerifyArgs),
    Ledger(ledger::LedgerArgs),
    Local(local::LocalArgs),
    Model(model::ModelArgs),
}

/// Runs the command line and returns its exit status.
pub fn main() -> ExitCode {
    let parsed = command().try_get_matches();
    let cli = match parsed.and_then(|found| Cli::from_arg_matches(&found)) {
        Ok(cli) => cli,
        Err(error) => {
            let wrong = error.use_stderr();
            let console = Console::of_unread_flags();
            if wrong && console.is_json() {
                console.fail(&Error::input(error.to_string().trim_end()));
                return Status::WrongInput.into();
            }
            // Nothing is left to do if even the help text cannot be written.
            let _ = error.print();
            return if wrong { Status::WrongInput.into() } else { ExitCode::SUCCESS };
        }
    };
    let console = Console::new(&cli.global);
    match bound_vectors()
        .and_then(|()| start_threads())
        .and_then(|()| run(cli.verb, &console))
        .and_then(|()| console.results_are_written())
    {
        Ok(()) => {
            console.done();
            ExitCode::SUCCESS
        }
        Err(failure) => {
            console.fail(&failure);
            failure.status().into()
        }
    }
}

/// The command line, with its front page.
fn command() -> Command {
    let command = Cli::command();
    let page = front_page::of(&command);
    command.help_template(page)
}

/// Starts the thread pool now, so that a failure is an error; at first use it would be a panic.
fn start_threads() -> Result<(), Error> {
    rayon::ThreadPoolBuilder::new().build_global().map_err(|error| {
        Error::internal(format!("cannot start the threads that share the work: {error}")).advise(
            "end other programs, or raise the limits on threads and memory (`ulimit -u`, `ulimit \
             -v`), or use fewer threads: RAYON_NUM_THREADS=1",
        )
    })
}

/// Limits the vector instructions as the environment variable says.
fn bound_vectors() -> Result<(), Error> {
    let Some(name) = std::env::var_os(level::VARIABLE) else { return Ok(()) };
    Level::set_by_name(&name.to_string_lossy()).map_err(|refused| {
        let levels: Vec<_> = Level::available().map(Level::name).collect();
        Error::input(format!("the environment variable {}: {refused}", level::VARIABLE)).advise(
            format!(
                "this processor has {}; without the variable the last of them is used",
                levels.join(", ")
            ),
        )
    })
}

/// How the data is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Partition {
    /// Two parties, the same people, different columns
    Vertical,
    /// Two parties, the same columns, different people
    Horizontal,
    /// One party holds everything
    Local,
}

/// Whether each party learns which of its people the other has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Membership {
    /// Each learns who is common
    Shown,
    /// Neither learns who is common, nor how many are, nor how many records the other has
    Hidden,
}

/// Writes a file.
fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(|error| Error::file(path, "write", &error))
}

/// Writes a file of JSON.
fn write_json(path: &Path, value: &impl Serialize) -> Result<(), Error> {
    write(path, &(serde_json::to_string_pretty(value).map_err(Error::internal)? + "\n"))
}

fn run(verb: Verb, console: &Console) -> Result<(), Error> {
    match verb {
        Verb::Agreement(arguments) => agreement::run(&arguments, console),
        Verb::Audit(arguments) => audit::run_verb(&arguments, console),
        Verb::Bench(arguments) => bench::run(&arguments, console),
        Verb::Circuit(arguments) => circuit::run(&arguments, console),
        Verb::Completions(arguments) => manual::completions(&arguments, command(), console),
        Verb::Man(arguments) => manual::man(&arguments, command(), console),
        Verb::Demo(arguments) => demo::run(&arguments, console),
        Verb::Evaluate(arguments) => evaluate::run(&arguments, console),
        Verb::Keygen(arguments) => keygen::run(&arguments, console),
        Verb::Psi(arguments) => psi::run(&arguments, console),
        Verb::Report(arguments) => report::run(&arguments, console),
        Verb::Rows(arguments) => rows::run(&arguments, console),
        Verb::Run(arguments) => run::run(&arguments, console),
        Verb::Verify(arguments) => verify::run(&arguments, console),
        Verb::Ledger(arguments) => ledger::run(&arguments, console),
        Verb::Local(arguments) => local::run(&arguments, console),
        Verb::Model(arguments) => model::run(&arguments, console),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command().debug_assert();
    }

    #[test]
    fn the_front_page_has_every_verb_once_and_fits_one_screen() {
        let page = command().render_help().to_string();
        for verb in Cli::command().get_subcommands().filter(|verb| !verb.is_hide_set()) {
            let line = format!("\n  {} ", verb.get_name());
            assert_eq!(page.matches(&line).count(), 1, "{line:?} in\n{page}");
        }
        assert!(!page.contains(front_page::OTHERS), "every verb has a group:\n{page}");
        assert!(page.lines().count() <= 40, "{}", page.lines().count());
        assert!(page.lines().skip(1).all(|line| line.chars().count() <= 80), "{page}");
    }
}
