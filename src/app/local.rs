//! `diptych local`: a release by one party that holds all records.

use std::path::PathBuf;

use clap::Args;

use crate::app::agreement;
use crate::app::console::Console;
use crate::app::progress::Screen;
use crate::privacy::Epsilon;
use crate::publish::failure::Failure;
use crate::publish::local::{self, Entered, Wanted};

/// Make a release alone: differentially private DiffGen over one table
///
/// The agreement may be one for two parties: the release is then the one that
/// both would have made together over the joined table, as a baseline. With
/// --ledger the whole ε is entered in a ledger before the data is used, and a
/// run that would pass the cap is refused; without it nobody counts how often
/// the same data is released.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych local --agreement agreement.toml --data table.csv \
                  --out release/ --ledger ledger.jsonl --cap 3")]
pub struct LocalArgs {
    /// The agreement, in TOML
    #[arg(long, value_name = "FILE")]
    agreement: PathBuf,
    /// The table: CSV with a header line
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Where release.csv and manifest.json go; made if it does not exist, never overwritten
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Also write release-compact.csv, without the rows whose count is 0
    #[arg(long)]
    compact: bool,
    /// Enter what is spent in this ledger
    #[arg(long, value_name = "FILE", requires = "cap")]
    ledger: Option<PathBuf>,
    /// The largest total ε that this data set may ever spend; its first run fixes it
    #[arg(long, value_name = "EPS", requires = "ledger")]
    cap: Option<Epsilon>,
    /// The data set's name in the ledger [default: the data file's name]
    #[arg(long, value_name = "NAME", requires = "ledger")]
    data_set: Option<String>,
}

/// Runs the verb.
///
/// # Errors
/// If a file is not as it should be, the budget does not suffice, or the release cannot be written.
pub fn run(arguments: &LocalArgs, console: &Console) -> Result<(), Failure> {
    let agreement = agreement::load(&arguments.agreement)?;
    let entered = match (&arguments.ledger, &arguments.cap) {
        (Some(ledger), Some(cap)) => {
            let data_set = arguments.data_set.as_deref();
            Some(Entered { ledger, cap, data_set })
        }
        _ => None,
    };
    let (data, out, compact) = (&arguments.data, &arguments.out, arguments.compact);
    let wanted = Wanted { data, out, compact, entered };
    local::release(&agreement, &wanted, &Screen::new(console))?;
    console.result_of_work_done(out.display());
    Ok(())
}
