//! `diptych local`: a release by one party that holds all records.

use std::path::{Path, PathBuf};

use clap::Args;

use crate::agreement::Agreement;
use crate::app::agreement;
use crate::app::artefacts::Output;
use crate::app::console::Console;
use crate::app::failure::Failure;
use crate::app::manifest::{Draft, described};
use crate::app::progress::Bar;
use crate::app::report;
use crate::math::{Randomness, Rational};
use crate::privacy::ledger::{self, Debit, Delta, Hash, Ledger, RunId};
use crate::privacy::{Budget, Epsilon};
use crate::release::diffgen::{Plan, Release, single};
use crate::table::{Identifier, Owner, Reading, Table, read_csv};

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
    // Everything that can be refused is refused before anything is spent.
    Plan::new(&agreement)?;
    let output = Output::prepare(&arguments.out, &agreement, arguments.compact)?;
    let mut rng = Randomness::from_os()?;
    let table = read(&agreement, &arguments.data, None, None, console)?;
    let mut ledger = match (&arguments.ledger, &arguments.cap) {
        (Some(path), Some(cap)) => Some((Ledger::open(path)?, cap)),
        _ => None,
    };
    let epsilon = agreement.epsilon.clone();
    let id = RunId(rng.array());
    let budget = match &mut ledger {
        None => Budget::new(&epsilon),
        Some((ledger, cap)) => {
            let named = arguments.data.file_name().map(|name| name.to_string_lossy().into_owned());
            let data_set = arguments.data_set.clone().or(named).unwrap_or_default();
            let debit = Debit {
                run: id,
                release: agreement.id.clone(),
                data_set,
                epsilon,
                cap: (*cap).clone(),
                agreement: Hash(agreement.hash().0),
                peer: ledger::NO_PEER.to_owned(),
                salt: Hash(rng.array()),
                delta: Some(Delta::at_least(&Rational::zero())),
                towards_peer: None,
                out: Debit::path_for_line(&arguments.out),
            };
            ledger.debit(debit)?.into_budget()
        }
    };
    let made = make(&agreement, &table, budget, &mut rng, console).and_then(|release| {
        if let Some((ledger, _)) = &ledger {
            ledger.check_name()?;
        }
        write(&agreement, &release, &output, arguments, console)
    });
    if let Some((ledger, _)) = &mut ledger {
        match &made {
            Ok(()) => ledger.finish(id)?,
            Err(_) => ledger.abort(id)?,
        }
    }
    made
}

/// Reads a table, with progress: all columns or those of one owner, and identifiers if wanted.
pub(crate) fn read(
    agreement: &Agreement,
    data: &Path,
    owner: Option<Owner>,
    identifier: Option<&Identifier>,
    console: &Console,
) -> Result<Table, Failure> {
    let bytes = std::fs::metadata(data).map_or(0, |metadata| metadata.len());
    let bar = Bar::new(console, "reading");
    bar.start(usize::try_from(bytes).unwrap_or(usize::MAX));
    let reading = Reading {
        schema: &agreement.schema,
        owner,
        identifier,
        max_records: agreement.max_records,
    };
    let table = read_csv(data, &reading, &|bytes| bar.advance(bytes))?;
    bar.clear();
    console.say(format!("read {} records", table.len()));
    Ok(table)
}

/// Makes a release, with progress.
pub(crate) fn make(
    agreement: &Agreement,
    table: &Table,
    budget: Budget,
    rng: &mut Randomness,
    console: &Console,
) -> Result<Release, Failure> {
    let bar = Bar::new(console, "specializing");
    bar.start(agreement.specializations as usize + 1);
    let release = single::release(agreement, table, budget, rng, &|_| bar.advance(1))?;
    bar.clear();
    let (made, rows) = (release.table.cuts.made().len(), release.table.counts.len());
    console.say(format!("made {made} specializations, {rows} rows"));
    Ok(release)
}

fn write(
    agreement: &Agreement,
    release: &Release,
    output: &Output,
    arguments: &LocalArgs,
    console: &Console,
) -> Result<(), Failure> {
    // The samplers are exact, so nothing is lost to approximation.
    let draft = Draft::new(agreement, release, &Rational::zero(), None)?;
    output.write(release, &draft.release, &draft.signed(&[])?, arguments.compact)?;
    // A baseline for two parties has not their signatures, and a page would look as if it had.
    if agreement.parties().is_none() {
        report::accompany(output.directory(), console);
    }
    for line in cut_lines(release)? {
        console.say(line);
    }
    console.say(format!("spent ε {} (δ 0); rows: {}", agreement.epsilon, draft.release.rows));
    console.say(format!("sha256 of release.csv: {}", draft.release.sha256));
    console.result_of_work_done(arguments.out.display());
    Ok(())
}

/// The specializations, one per line.
pub(crate) fn cut_lines(release: &Release) -> Result<Vec<String>, Failure> {
    let lines = described(&release.table.cuts)?;
    let width = lines.iter().map(|(attribute, ..)| attribute.chars().count()).max().unwrap_or(0);
    Ok(lines
        .into_iter()
        .enumerate()
        .map(|(index, (attribute, value, into))| {
            let mut into = into.join(", ");
            if into.chars().count() > 60 {
                into = into.chars().take(59).chain(['…']).collect();
            }
            format!("{:>4}. {attribute:<width$}  {value} → {into}", index + 1)
        })
        .collect())
}

impl From<crate::table::Error> for Failure {
    fn from(error: crate::table::Error) -> Self {
        Self::wrong_input(error)
    }
}

impl From<ledger::Error> for Failure {
    fn from(error: ledger::Error) -> Self {
        use std::io::ErrorKind::{FileTooLarge, QuotaExceeded, StorageFull};
        match &error {
            // The user did nothing wrong if the disk is full.
            ledger::Error::File { source, .. }
                if matches!(source.kind(), FileTooLarge | QuotaExceeded | StorageFull) =>
            {
                Self::failed(error)
            }
            _ => Self::wrong_input(error),
        }
    }
}
