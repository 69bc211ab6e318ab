//! `diptych report`: a release as one page for people, from `manifest.json` and `release.csv` alone.
//!
//! The page loads nothing from anywhere, and its content security policy forbids it to. The public
//! page is byte for byte a function of the two files, so it tells no more than they do; the second
//! one, under `private/`, adds what the run cost this party. A release that does not verify gets no
//! page: one would look like a promise.

mod costs;
mod facts;
mod html;
mod page;
mod tree;

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;

use crate::app::artefacts::{Output, PRIVATE};
use crate::app::console::Console;
use crate::app::failure::Failure;
use crate::app::files::write_whole;
use crate::app::run::costs::COSTS;

/// The page's file name.
pub const REPORT: &str = "report.html";
/// Largest record of costs that is read.
const MOST_BYTES_OF_COSTS: u64 = 1 << 20;

/// Make a page of a release that people can read: one HTML file that needs nothing else
///
/// It shows what was promised, how the values were divided, the first rows,
/// what each step spent, and hashes and signatures, which are verified first.
/// It says nothing that the release and its manifest do not say.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych report --release bank-release/")]
pub struct ReportArgs {
    /// The directory with release.csv and manifest.json
    #[arg(long, value_name = "DIR")]
    release: PathBuf,
    /// Where the page goes [default: report.html beside the release, or under private/]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Add what the run cost, from private/costs.json: for this party's eyes only
    #[arg(long)]
    private: bool,
}

/// Runs the verb.
///
/// # Errors
/// If the release does not verify, or a file cannot be read or written.
pub fn run(arguments: &ReportArgs, console: &Console) -> Result<(), Failure> {
    let directory = &arguments.release;
    let costs = if arguments.private { Some(read_costs(directory)?) } else { None };
    let page = facts::Facts::of(directory)?.page(costs.as_ref());
    let path = match (&arguments.out, arguments.private) {
        (Some(path), private) => {
            write(path, &page, if private { 0o600 } else { 0o644 })?;
            path.clone()
        }
        (None, true) => Output::of_release(directory).write_private(REPORT, &page)?,
        (None, false) => write_public(directory, &page)?,
    };
    console.result(path.display());
    Ok(())
}

/// Writes the page beside a release that was just made, and the private one if there is a record of
/// what it cost. The release is whole without them, so a failure is only told.
pub(crate) fn accompany(directory: &Path, console: &Console) {
    let write = || {
        let facts = facts::Facts::of(directory)?;
        write_public(directory, &facts.page(None))?;
        if directory.join(PRIVATE).join(COSTS).is_file() {
            let costs = read_costs(directory)?;
            Output::of_release(directory).write_private(REPORT, &facts.page(Some(&costs)))?;
        }
        Ok::<_, Failure>(())
    };
    if let Err(failure) = write() {
        console.say(format!("the page {REPORT} could not be made: {}", failure.message));
    }
}

fn write_public(directory: &Path, page: &str) -> Result<PathBuf, Failure> {
    let path = directory.join(REPORT);
    write(&path, page, 0o644)?;
    Ok(path)
}

fn write(path: &Path, page: &str, mode: u32) -> Result<(), Failure> {
    write_whole(path, page, mode).map_err(|error| Failure::file(path, "write", &error))
}

fn read_costs(directory: &Path) -> Result<costs::Costs, Failure> {
    use std::io::Read;
    let path = directory.join(PRIVATE).join(COSTS);
    let mut text = String::new();
    fs::File::open(&path)
        .and_then(|file| file.take(MOST_BYTES_OF_COSTS).read_to_string(&mut text))
        .map_err(|error| Failure::file(&path, "read", &error))?;
    costs::Costs::parse(&text).ok_or_else(|| {
        Failure::wrong_input(format!("{} is not a record of a run's costs", path.display()))
            .advise("leave out --private for the page without costs")
    })
}
