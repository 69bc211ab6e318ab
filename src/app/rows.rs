//! `diptych rows`: a release as a table of people.

use std::path::PathBuf;

use clap::Args;

use crate::Error;
use crate::app::console::Console;
use crate::publish::rows::{self, Values};

/// Write a release as rows, one for each person that it counts
///
/// For programs that want records in place of counts. The rows reveal no more than the release:
/// with --concrete, a value is drawn uniformly within each general one. It looks precise, and is
/// made up. Columns that were not divided are left out then, unless --undivided asks for them.
/// FILE.json says of each column into how many values it was divided, or that it was not.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych rows --release release/ --out rows.csv --concrete")]
pub struct RowsArgs {
    /// The release's directory
    #[arg(long, value_name = "DIR")]
    release: PathBuf,
    /// The file to write; an existing file is never overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    /// Draw a concrete value inside each general one; the seed goes to FILE.seed
    #[arg(long)]
    concrete: bool,
    /// Draw values also in columns that were not divided
    ///
    /// Nothing is left of such a column but its range: every number and every category in it is
    /// made up.
    #[arg(long, requires = "concrete")]
    undivided: bool,
    /// Draw by the seed in this file, to get the same rows again
    #[arg(long, value_name = "FILE", requires = "concrete")]
    seed: Option<PathBuf>,
    /// Put an apostrophe before cells that a spreadsheet would run as a formula
    ///
    /// Those that begin with =, +, - or @ and are not numbers. Programs other
    /// than spreadsheets see the apostrophe as a part of the value.
    #[arg(long)]
    spreadsheet_safe: bool,
}

/// Runs the verb.
///
/// # Errors
/// If the release does not verify, or a file cannot be read or written.
pub fn run(arguments: &RowsArgs, console: &Console) -> Result<(), Error> {
    let values = match arguments.concrete {
        true => {
            Values::Concrete { seed: arguments.seed.as_deref(), undivided: arguments.undivided }
        }
        false => Values::Generalized,
    };
    console.stop_on_signals();
    let (out, safe) = (&arguments.out, arguments.spreadsheet_safe);
    let written = rows::write(&arguments.release, out, values, safe, &console.stop())?;
    console.say(format!("wrote {} rows", written.rows));
    written.columns.into_iter().chain(written.warning).for_each(|line| console.say(line));
    if arguments.concrete && arguments.seed.is_none() {
        let seed = rows::seed_file(&arguments.out);
        console.say(format!("drawn by the seed in {}; --seed draws them again", seed.display()));
    }
    console.result_of_work_done(arguments.out.display());
    Ok(())
}
