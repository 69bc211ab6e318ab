//! `diptych run`: one party's side of a release by two.

mod dry;

use std::path::PathBuf;

use clap::Args;

use crate::app::agreement;
use crate::app::console::Console;
use crate::app::progress::Screen;
use crate::publish::failure::Failure;
use crate::publish::party::Party;
use crate::publish::run::{self, Options, Side};

/// Run one party's side of a release: both parties end with the same signed table
///
/// Each party runs this next to its own data. It listens or connects as the
/// party file says, and either may start first. Nothing is spent before both
/// have found that they run under the same agreement.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych run --agreement agreement.toml --party bank.toml")]
pub struct RunArgs {
    /// The agreement, in TOML; the same at both parties
    #[arg(long, value_name = "FILE")]
    agreement: PathBuf,
    /// This party's own file, in TOML: role, data, identity, address, ledger, output, cap
    #[arg(long, value_name = "FILE")]
    party: PathBuf,
    /// Connect to nobody and spend nothing: check everything and say what the run would cost
    #[arg(long)]
    dry_run: bool,
    /// For a dry run: how many records the peer is thought to have [default: as many as we]
    #[arg(long, value_name = "N", requires = "dry_run")]
    peer_records: Option<usize>,
    /// For a dry run: how many individuals both are thought to have [default: as many as can be]
    #[arg(long, value_name = "N", requires = "dry_run")]
    common_records: Option<usize>,
    /// Also write release-compact.csv, without the rows whose count is 0
    #[arg(long)]
    compact: bool,
    /// Also write direction, kind and length of every message to private/messages.csv
    #[arg(long)]
    record: bool,
}

/// Runs the verb.
///
/// # Errors
/// Whatever stops the run, in words; the ledger says what it has spent.
pub fn run(arguments: &RunArgs, console: &Console) -> Result<(), Failure> {
    let agreement = agreement::load(&arguments.agreement)?;
    let party = Party::load(&arguments.party)?;
    let side = Side::new(&agreement, &party)?;
    if arguments.dry_run {
        let assumed = (arguments.peer_records, arguments.common_records);
        return dry::run(&side, assumed, console);
    }
    console.stop_on_signals();
    let options = Options { compact: arguments.compact, record: arguments.record };
    run::run(&side, options, &Screen::new(console))?;
    console.result_of_work_done(party.out.display());
    Ok(())
}
