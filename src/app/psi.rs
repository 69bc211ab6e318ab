//! `diptych psi`: private set intersection alone, between two processes.

mod output;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::Error;
use crate::app::connection::ConnectionArgs;
use crate::app::console::Console;
use crate::app::progress::Bar;
use crate::protocol::psi::Options;
use crate::publish::psi::column::IdentifierColumn;
use crate::publish::psi::{Found, Matching, Mode, Terms, parse_rule};
use output::Output;

/// Find the rows that two tables have in common, and show no others
///
/// Both sides learn how many identifiers the other has and which of their own
/// the other has too. Each writes its own matching rows, in one order on which
/// both agree: row i is the same individual at both. With --cardinality both
/// learn the number of common identifiers and no more; with --threshold N, only
/// whether it is at least N (this prints `yes` or `no`).
#[derive(Args, Debug)]
#[command(after_help = "Example, one side and the other:\n  \
    diptych psi --ids bank.csv --column ssn --out common.csv --role p1 --identity bank.pem \
    --peer sha256:… --listen 0.0.0.0:7000\n  \
    diptych psi --ids loans.csv --column id --out common.csv --role p2 --identity loans.pem \
    --peer sha256:… --connect bank.example:7000")]
pub struct PsiArgs {
    /// The table: a CSV file with a header
    #[arg(long, value_name = "FILE")]
    ids: PathBuf,
    /// The column that holds the identifiers
    #[arg(long, value_name = "NAME")]
    column: String,
    /// What is done to every identifier before it is compared, in order; the same on both sides
    #[arg(
        long,
        value_name = "STEPS",
        default_value = "trim,nfc,uppercase",
        long_help = "What is done to every identifier before it is compared, in order: any of \
                     trim, nfc, uppercase, lowercase, separated by commas, or none. It must be \
                     the same on both sides, or the run is refused."
    )]
    normalize: String,
    /// Learn the number of common identifiers only
    #[arg(long, conflicts_with = "out")]
    cardinality: bool,
    /// Learn only whether at least N identifiers are common; for up to 65,536 identifiers in
    /// total
    #[arg(long, value_name = "N", conflicts_with_all = ["out", "cardinality"])]
    threshold: Option<u32>,
    /// Where the matching rows go; without it, to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How identifiers are compared; the same on both sides [default: oprf; with --cardinality,
    /// ristretto255]
    #[arg(long, value_enum, conflicts_with = "threshold")]
    matching: Option<MatchingName>,
    /// The longest list that is accepted, ours or the peer's
    #[arg(long, value_name = "N", default_value_t = Options::default().largest_set as u32,
          value_parser = clap::value_parser!(u32).range(1..))]
    largest_set: u32,
    /// The longest that the run may take after connecting, in seconds [default: ten times what
    /// the longest accepted lists take on slow machines and the slowest accepted line; at least
    /// ten minutes, and more than a day only if our own list needs it]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    run_seconds: Option<u32>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// How identifiers are compared, as the command line spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MatchingName {
    /// By an oblivious pseudorandom function: for large lists; relies on learning parity with
    /// noise
    Oprf,
    /// By commutative encryption in the curve group of RFC 9496: a hundred times slower
    Ristretto255,
    /// By commutative encryption modulo the 3072-bit prime of RFC 7919: more than a hundred times
    /// slower again
    Ffdhe3072,
}

impl From<MatchingName> for Matching {
    fn from(name: MatchingName) -> Self {
        match name {
            MatchingName::Oprf => Self::Oprf,
            MatchingName::Ristretto255 => Self::Ristretto255,
            MatchingName::Ffdhe3072 => Self::Ffdhe3072,
        }
    }
}

fn mode(arguments: &PsiArgs) -> Mode {
    match arguments.threshold {
        Some(threshold) => Mode::Threshold(threshold),
        None if arguments.cardinality => Mode::Cardinality,
        None => Mode::Intersection,
    }
}

/// Runs the verb.
///
/// # Errors
/// If the table is unusable, the peer does not connect or rejects us, or the run fails.
pub fn run(arguments: &PsiArgs, console: &Console) -> Result<(), Error> {
    let rule = parse_rule(&arguments.normalize)?;
    let mode = mode(arguments);
    let terms = Terms::new(mode, arguments.matching.map(Matching::from), rule.clone())?;
    let column = IdentifierColumn::read(&arguments.ids, &arguments.column, &rule)?;
    if let Some(words) = column.recognized() {
        console.say(format!("{}: recognized {words}", arguments.ids.display()));
    }
    // Fail now if it cannot be written, not after an hour of work.
    let output = match mode {
        Mode::Intersection => Some(Output::create(&arguments.out)?),
        _ => None,
    };
    let own_size = column.identifiers().len();
    console.say(format!(
        "{own_size} identifiers in column '{}' of {}; normalisation: {rule}",
        arguments.column,
        arguments.ids.display()
    ));

    let mut session = arguments.connection.open(&terms.canonical()?, console)?;
    let limit = match arguments.run_seconds {
        Some(seconds) => Duration::from_secs(seconds.into()),
        None => terms.usual_limit(own_size, arguments.largest_set),
    };
    session.channel.end_within(limit);
    let what = if terms.matching() == Matching::Oprf { "comparing" } else { "encrypting" };
    let bar = Bar::new(console, what);
    let (starts, progress) = (|total| bar.start(total), |done| bar.advance(done));
    let options = Options {
        largest_set: arguments.largest_set as usize,
        starts: &starts,
        progress: &progress,
    };
    let found = terms.run(&mut session, column.identifiers(), options)?;
    if !matches!(mode, Mode::Threshold(_)) {
        bar.finish();
    }
    let (common, peer_size) = match found {
        Found::Rows(found) => {
            if let Some(output) = output {
                output.write(&column, &found.rows)?;
            }
            (found.rows.len().to_string(), found.peer_size)
        }
        Found::Number(found) => {
            console.result(found.common);
            (found.common.to_string(), found.peer_size)
        }
        Found::Reached { reached, peer_size } => {
            console.result(if reached { "yes" } else { "no" });
            let threshold = arguments.threshold.unwrap_or_default();
            let common = match reached {
                true => format!("{threshold} or more"),
                false => format!("fewer than {threshold}"),
            };
            (common, peer_size)
        }
    };
    let costs = session.channel.costs().total();
    console.say(format!(
        "{common} of our {own_size} identifiers are among the peer's {peer_size}; \
         {} bytes sent, {} received",
        costs.bytes_sent, costs.bytes_received
    ));
    Ok(())
}
