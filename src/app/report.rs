//! `diptych report`: a release as one page for people.

use std::path::PathBuf;

use clap::Args;

use crate::Error;
use crate::app::console::Console;
use crate::publish::report::write_page;
use crate::publish::width::write_error_bars;

/// Write a release as a readable page, in one HTML file
///
/// It shows what was promised, how the values were divided, the first rows,
/// what each step spent, and hashes and signatures, which are verified first.
/// It contains nothing that is not in the release and its manifest.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych report --release bank-release/")]
pub struct ReportArgs {
    /// The directory with release.csv and manifest.json
    #[arg(long, value_name = "DIR")]
    release: PathBuf,
    /// Where the page goes [default: report.html beside the release, or under private/]
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Add what the run cost, from private/costs.json: for this party only
    #[arg(long)]
    private: bool,
    /// Also write the rows with the ends of their error bars: in 95 of 100 cases the noise on a
    /// count lies between them
    #[arg(long, value_name = "FILE")]
    error_bars: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// If the release does not verify, or a file cannot be read or written.
pub fn run(arguments: &ReportArgs, console: &Console) -> Result<(), Error> {
    let path = write_page(&arguments.release, arguments.out.as_deref(), arguments.private)?;
    console.result(path.display());
    if let Some(out) = &arguments.error_bars {
        write_error_bars(&arguments.release, out)?;
        console.result(out.display());
    }
    Ok(())
}
