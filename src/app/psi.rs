//! `diptych psi`: private set intersection alone, between two processes.

mod column;

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::app::connection::ConnectionArgs;
use crate::app::console::Console;
use crate::app::progress::Bar;
use crate::crypto::commutative::{self, Group, Residues, Ristretto};
use crate::net::Limits;
use crate::protocol::Session;
use crate::protocol::psi::threshold::MOST_IN_CIRCUIT;
use crate::protocol::psi::{self, Cardinality, Intersection, Options};
use crate::protocol::transfers::Assumptions;
use crate::protocol::vole::Method;
use crate::publish::failure::Failure;
use crate::table::identifiers::Normalization;
use column::{IdentifierColumn, Output};

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
    /// Learn only whether at least N identifiers are common; for up to 65,536 identifiers together
    #[arg(long, value_name = "N", conflicts_with_all = ["out", "cardinality"])]
    threshold: Option<u32>,
    /// Where the matching rows go; without it, to standard output
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// How identifiers are compared; the same on both sides. Unless it is given, oprf, and
    /// ristretto255 with --cardinality
    #[arg(long, value_enum, conflicts_with = "threshold")]
    matching: Option<MatchingName>,
    /// The longest list that is accepted, ours or the peer's
    #[arg(long, value_name = "N", default_value_t = Options::default().largest_set as u32,
          value_parser = clap::value_parser!(u32).range(1..))]
    largest_set: u32,
    /// How long the run may take, from meeting to end, in seconds; unless it is given, ten times
    /// what the longest lists take on the slowest line that is accepted and slow machines: at least
    /// ten minutes, and more than a day only if our own list is so long
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..))]
    run_seconds: Option<u32>,
    #[command(flatten)]
    connection: ConnectionArgs,
}

/// How identifiers are compared, as the command line spells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum MatchingName {
    /// By an oblivious pseudorandom function: for large lists; rests on learning parity with noise
    Oprf,
    /// By commutative encryption in the curve group of RFC 9496: a hundred times slower
    Ristretto255,
    /// By commutative encryption modulo the 3072-bit prime of RFC 7919: more than a hundred times
    /// slower again
    Ffdhe3072,
}

impl MatchingName {
    fn of(arguments: &PsiArgs) -> Result<Self, Failure> {
        match (arguments.matching, Mode::of(arguments)) {
            (None, Mode::Intersection) => Ok(Self::Oprf),
            (None, _) => Ok(Self::Ristretto255),
            (Some(Self::Oprf), Mode::Cardinality) => Err(Failure::wrong_input(
                "--matching oprf cannot count only: whoever holds its values could test identifiers",
            )
            .advise("leave --matching out, or use ristretto255")),
            (Some(named), _) => Ok(named),
        }
    }

    /// The name under which both sides must mean the same.
    fn suite(self) -> Result<String, Failure> {
        Ok(match self {
            Self::Oprf => "oprf 1".to_owned(),
            Self::Ristretto255 => Ristretto::new().suite().to_owned(),
            Self::Ffdhe3072 => Residues::ffdhe3072()?.suite().to_owned(),
        })
    }
}

/// Runs the verb.
///
/// # Errors
/// If the table does not do, the peer does not come or refuses, or the run fails.
pub fn run(arguments: &PsiArgs, console: &Console) -> Result<(), Failure> {
    let matching = MatchingName::of(arguments)?;
    let rule = parse_rule(&arguments.normalize)?;
    let column = IdentifierColumn::read(&arguments.ids, &arguments.column, &rule)?;
    // Whatever cannot be written is found now, not after an hour of work.
    let is_counted = arguments.cardinality || arguments.threshold.is_some();
    let output = if is_counted { None } else { Some(Output::create(&arguments.out)?) };
    console.say(format!(
        "{} identifiers in column '{}' of {}; normalisation: {rule}",
        column.identifiers().len(),
        arguments.column,
        arguments.ids.display()
    ));

    let mode = Mode::of(arguments);
    let terms = terms(matching, &rule, mode)?;
    let mut session = arguments.connection.open(&terms, console)?;
    session.channel.end_within(run_limit(arguments, matching, column.identifiers().len()));
    if let Mode::Threshold(threshold) = mode {
        return compare(&mut session, column.identifiers(), threshold, console);
    }
    let what = if matching == MatchingName::Oprf { "comparing" } else { "encrypting" };
    let bar = Bar::new(console, what);
    let (starts, progress) = (|total| bar.start(total), |done| bar.advance(done));
    let options = Options {
        largest_set: arguments.largest_set as usize,
        starts: &starts,
        progress: &progress,
    };
    let own_size = column.identifiers().len();
    let (common, peer_size) = if let Some(output) = output {
        let found = intersect(&mut session, matching, column.identifiers(), options)?;
        let found = session.conclude(found)?;
        bar.finish();
        output.write(&column, &found.rows)?;
        (found.rows.len(), found.peer_size)
    } else {
        let found = cardinality(&mut session, matching, column.identifiers(), options)?;
        let found = session.conclude(found)?;
        bar.finish();
        console.result(found.common);
        (found.common, found.peer_size)
    };
    let costs = session.channel.costs().total();
    console.say(format!(
        "{common} of our {own_size} identifiers are among the peer's {peer_size}; \
         {} bytes sent, {} received",
        costs.bytes_sent, costs.bytes_received
    ));
    Ok(())
}

/// The outcome of a conversation, inside of what may go wrong before it.
type Found<T> = Result<Result<T, psi::Error>, Failure>;

fn intersect(
    session: &mut Session,
    matching: MatchingName,
    identifiers: &[String],
    options: Options<'_>,
) -> Found<Intersection> {
    Ok(match matching {
        MatchingName::Oprf => {
            let method = Method::suited_to(Assumptions::Lpn);
            psi::oblivious::intersect(session, method, identifiers, options)
        }
        MatchingName::Ristretto255 => {
            psi::intersect(session, &Ristretto::new(), identifiers, options)
        }
        MatchingName::Ffdhe3072 => {
            psi::intersect(session, &Residues::ffdhe3072()?, identifiers, options)
        }
    })
}

fn cardinality(
    session: &mut Session,
    matching: MatchingName,
    identifiers: &[String],
    options: Options<'_>,
) -> Found<Cardinality> {
    Ok(if matching == MatchingName::Ffdhe3072 {
        psi::cardinality(session, &Residues::ffdhe3072()?, identifiers, options)
    } else {
        psi::cardinality(session, &Ristretto::new(), identifiers, options)
    })
}

/// How long the whole run may take. Every wait has a limit of its own, but a peer that says
/// something just before each of them is over could hold a run for days.
fn run_limit(arguments: &PsiArgs, matching: MatchingName, own: usize) -> Duration {
    match arguments.run_seconds {
        Some(seconds) => Duration::from_secs(seconds.into()),
        None => default_limit(Mode::of(arguments), matching, own, arguments.largest_set),
    }
}

/// The limit where none is given. The peer's list may be as long as `largest_set`, but for that alone
/// nobody waits longer than a day.
fn default_limit(mode: Mode, matching: MatchingName, own: usize, largest_set: u32) -> Duration {
    const LEAST: Duration = Duration::from_secs(600);
    const DAY: Duration = Duration::from_secs(24 * 3600);
    const TIMES: u32 = 10;
    // Of every element: what both sides compute in turn on slow machines, and bytes on the line.
    let (work, bytes) = match (mode, matching) {
        // 16 merges of 96 bits: an AND takes microseconds and 32 bytes.
        (Mode::Threshold(_), _) => (Duration::from_millis(3), 16 * 96 * 32),
        (_, MatchingName::Oprf) => (Duration::from_micros(60), 40),
        (_, MatchingName::Ristretto255) => (Duration::from_micros(600), 64),
        (_, MatchingName::Ffdhe3072) => (Duration::from_millis(60), 768),
    };
    let time_for = |elements: usize| {
        let elements = u32::try_from(elements).unwrap_or(u32::MAX);
        let line = Limits::time_for(u64::from(elements) * bytes);
        (work.saturating_mul(elements) + line).saturating_mul(TIMES)
    };
    let longest = match mode {
        Mode::Threshold(_) => time_for(MOST_IN_CIRCUIT),
        _ => time_for(own.saturating_add(largest_set as usize)),
    };
    longest.min(DAY.max(time_for(own))).max(LEAST)
}

/// Statistical security of the comparison with a threshold.
const SIGMA: usize = 64;

fn compare(
    session: &mut Session,
    identifiers: &[String],
    threshold: u32,
    console: &Console,
) -> Result<(), Failure> {
    let found = psi::threshold::at_least(session, identifiers, threshold as usize, SIGMA);
    let found = session.conclude(found)?;
    console.result(if found.reached { "yes" } else { "no" });
    let costs = session.channel.costs().total();
    console.say(format!(
        "{} of our {} identifiers are among the peer's {}; {} bytes sent, {} received",
        if found.reached {
            format!("{threshold} or more")
        } else {
            format!("fewer than {threshold}")
        },
        identifiers.len(),
        found.peer_size,
        costs.bytes_sent,
        costs.bytes_received
    ));
    Ok(())
}

/// What both sides learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Intersection,
    Cardinality,
    Threshold(u32),
}

impl Mode {
    fn of(arguments: &PsiArgs) -> Self {
        match arguments.threshold {
            Some(threshold) => Self::Threshold(threshold),
            None if arguments.cardinality => Self::Cardinality,
            None => Self::Intersection,
        }
    }
}

fn parse_rule(steps: &str) -> Result<Normalization, Failure> {
    let names = steps.split(',').map(str::trim).filter(|name| !name.is_empty() && *name != "none");
    Normalization::parse(names).map_err(|error| {
        Failure::wrong_input(error).advise("for example --normalize trim,nfc,uppercase, or none")
    })
}

/// What both sides must have in common; it stands where an agreement's hash stands in a release.
fn terms(matching: MatchingName, rule: &Normalization, mode: Mode) -> Result<Vec<u8>, Failure> {
    let mode = match mode {
        Mode::Intersection => "intersection".to_owned(),
        Mode::Cardinality => "cardinality".to_owned(),
        Mode::Threshold(threshold) => format!("at least {threshold}"),
    };
    let terms = serde_json::json!({
        "protocol": "psi 2",
        "mode": mode,
        "matching": matching.suite()?,
        "normalize": rule,
    });
    serde_json::to_vec(&terms).map_err(Failure::failed)
}

impl From<commutative::Error> for Failure {
    fn from(error: commutative::Error) -> Self {
        Self::failed(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_differ_whenever_the_result_would() {
        let usual = parse_rule("trim,nfc,uppercase").unwrap();
        let [none, no_trim] = ["none", "nfc,uppercase"].map(|steps| parse_rule(steps).unwrap());
        let (oprf, ristretto) = (MatchingName::Oprf, MatchingName::Ristretto255);
        let all = [
            (oprf, &usual, Mode::Intersection),
            (ristretto, &usual, Mode::Intersection),
            (MatchingName::Ffdhe3072, &usual, Mode::Intersection),
            (ristretto, &usual, Mode::Cardinality),
            (ristretto, &none, Mode::Intersection),
            (ristretto, &no_trim, Mode::Intersection),
            (ristretto, &usual, Mode::Threshold(3)),
            (ristretto, &usual, Mode::Threshold(4)),
        ];
        let all = all.map(|(matching, rule, mode)| terms(matching, rule, mode).unwrap());
        for (i, one) in all.iter().enumerate() {
            assert!(all[..i].iter().all(|other| other != one));
        }
        let text = String::from_utf8(all[0].clone()).unwrap();
        assert_eq!(
            text,
            r#"{"protocol":"psi 2","mode":"intersection","matching":"oprf 1","normalize":["trim","nfc","uppercase"]}"#
        );
    }

    #[test]
    fn only_an_own_list_so_long_makes_the_limit_longer_than_a_day() {
        let hours = |own, largest_set, matching| {
            default_limit(Mode::Intersection, matching, own, largest_set).as_secs_f64() / 3600.0
        };
        let (ristretto, residues) = (MatchingName::Ristretto255, MatchingName::Ffdhe3072);
        assert_eq!(hours(0, 1, ristretto), 1.0 / 6.0, "ten minutes at least");
        assert_eq!(hours(1000, 1 << 24, ristretto), 24.0);
        assert_eq!(hours(1000, 1 << 24, residues), 24.0);
        let million = hours(1_000_000, 1, ristretto);
        assert!((1.6..24.0).contains(&million), "{million}");
        assert!(hours(1_000_000, 1 << 24, residues) > 160.0);
        assert!(hours(usize::MAX, u32::MAX, residues) > 160.0, "no sum overflows");
        let counted = default_limit(Mode::Threshold(3), ristretto, 5, u32::MAX);
        assert!(counted <= Duration::from_secs(24 * 3600), "{counted:?}");
    }

    #[test]
    fn a_wrong_step_is_wrong_input() {
        assert!(parse_rule("trim, upper").is_err());
        assert_eq!(parse_rule("none").unwrap(), Normalization::default());
    }
}
