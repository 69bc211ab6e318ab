//! `diptych verify`: whether a release is what its parties signed, and as its agreement says.

use std::path::PathBuf;

use clap::Args;

use crate::Error;
use crate::app::console::Console;
use crate::publish::verify::{check, check_ledger};

/// Check a release offline: its hashes, its signatures, every row
///
/// Rows are read by the agreement in the manifest: values are in its domain,
/// counts as the model writes them, and no row comes twice. If nobody signed the release, the
/// first line says so.
///
/// Exit status 0 if everything fits, 1 if anything was changed. Whoever gets a
/// release from somebody else should compare the fingerprints that are printed
/// with those that the organisations publish.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych verify release/")]
pub struct VerifyArgs {
    /// The directory with release.csv and manifest.json
    #[arg(value_name = "DIR")]
    directory: PathBuf,
    /// Also check that this ledger still has the line of this release
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// If a file cannot be read (wrong input) or does not fit (failed).
pub fn run(arguments: &VerifyArgs, console: &Console) -> Result<(), Error> {
    let (manifest, lines) = check(&arguments.directory)?;
    for line in lines {
        console.result(line);
    }
    if let Some(ledger) = &arguments.ledger {
        console.result(check_ledger(&manifest, ledger)?);
    }
    Ok(())
}
