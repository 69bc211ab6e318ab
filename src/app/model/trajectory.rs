//! `diptych model trajectory`: paths of people, with pairs of place and time suppressed.

use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand, ValueEnum};
use serde_json::json;
use sha2::{Digest, Sha256};

use super::{above_zero, part};
use crate::Error;
use crate::app::console::Console;
use crate::math::{Randomness, hex};
use crate::privacy::ledger::{self, Debit, Hash, Ledger, RunId};
use crate::publish::artefacts::{Output, RELEASE};
use crate::release::trajectory::generate::{World, write};
use crate::release::trajectory::{
    Anonymized, Columns, Form, Paths, Score, Terms, anonymize, share, violating, whole,
};
use crate::table::{Dialect, regular_file};

/// What must be acknowledged, word for word.
const ACKNOWLEDGED: &str = "not differentially private";

#[derive(Subcommand, Debug)]
pub(super) enum Trajectory {
    Anonymize(AnonymizeArgs),
    Check(CheckArgs),
    Generate(GenerateArgs),
}

/// A table of paths, and what is required of it.
#[derive(Args, Debug)]
struct PathArgs {
    /// The paths: CSV with a header line
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// How many pairs of place and time an attacker may know of a person, from 1 to 16
    #[arg(long, value_name = "NUMBER")]
    l: usize,
    /// The smallest number of people who must share them
    #[arg(long, value_name = "NUMBER")]
    k: u64,
    /// The largest fraction of those people who may have a protected value
    #[arg(long, value_name = "PART", default_value = "1")]
    c: String,
    /// The sensitive column
    #[arg(long, value_name = "NAME", default_value = "sensitive")]
    sensitive: String,
    /// Its protected values
    #[arg(long, value_name = "VALUES", value_delimiter = ',')]
    protect: Vec<String>,
    /// The column with paths such as b2>d3 or Station@7>Park@9
    #[arg(long, value_name = "NAME", default_value = "path")]
    path: String,
    /// The column that names people; in wide tables it may be left out
    #[arg(long, value_name = "NAME")]
    id: Option<String>,
    /// For tables with a row per pair: the column with places
    #[arg(long, value_name = "NAME", requires_all = ["time", "id"])]
    location: Option<String>,
    /// For tables with a row per pair: the column with times, whole numbers
    #[arg(long, value_name = "NAME", requires = "location")]
    time: Option<String>,
    /// Divide times by this, such as 60 for hours from minutes
    #[arg(long, value_name = "NUMBER", default_value_t = 1, value_parser = above_zero::<u64>)]
    bin: u64,
    /// Count somebody who stays in a place only at the first time
    #[arg(long)]
    collapse: bool,
}

/// Suppress pairs of place and time until a few sightings identify nobody
///
/// Not differentially private: it protects against somebody who knows at most L pairs of a person
/// and nothing else. Writes release.csv, without identifiers and in an order that reveals
/// nothing, summary.json with the promise, and under private/ the steps that led to it.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: diptych model trajectory anonymize --data paths.csv --out release/ \
                        --l 2 --k 30 --protect AIDS --c 0.6 --acknowledge 'not differentially private'"
)]
pub(super) struct AnonymizeArgs {
    #[command(flatten)]
    table: PathArgs,
    /// Where the release goes; made if it does not exist, never overwritten
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Sets of pairs that at least this fraction of all people share count as useful
    #[arg(long, value_name = "PART", default_value = "0.005")]
    support: String,
    /// Which pair is suppressed first: by gain-per-loss, gain or loss
    #[arg(long, value_name = "SCORE", default_value = "gain-per-loss", value_parser = score)]
    score: Score,
    /// The words "not differentially private", exactly
    #[arg(long, value_name = "WORDS")]
    acknowledge: String,
    /// Record the release in this ledger
    #[arg(long, value_name = "FILE")]
    ledger: Option<PathBuf>,
    /// Create the ledger: nothing of this data was ever released
    #[arg(long, requires = "ledger")]
    new_ledger: bool,
    /// The data set's name in the ledger [default: the data file's name]
    #[arg(long, value_name = "NAME", requires = "ledger")]
    data_set: Option<String>,
    /// Release even though the data has other releases: their promises do not compose
    #[arg(long)]
    accept_composition: bool,
}

/// Check whether a few sightings identify somebody in a table of paths
///
/// Exit status 0 if not, 1 if so.
#[derive(Args, Debug)]
pub(super) struct CheckArgs {
    #[command(flatten)]
    table: PathArgs,
}

/// Generate paths to experiment with, as in the thesis
#[derive(Args, Debug)]
pub(super) struct GenerateArgs {
    /// A city of 26 blocks and 24 hours, or a metro of 65 stations and 60 minutes
    #[arg(value_enum)]
    world: Place,
    /// How many people
    #[arg(long, value_name = "NUMBER", default_value_t = 80_000)]
    people: u64,
    /// The same seed gives the same paths
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Metro: minutes between two trains
    #[arg(long, value_name = "NUMBER", default_value_t = 5)]
    headway: u64,
    /// Metro: largest delay of a train, in minutes
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    delay: u64,
    /// The file to write; an existing file is never overwritten
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Place {
    City,
    Metro,
}

fn score(word: &str) -> Result<Score, String> {
    let found = Score::ALL.iter().find(|(known, _)| *known == word);
    found.map(|(_, score)| *score).ok_or_else(|| "use gain-per-loss, gain or loss".to_owned())
}

pub(super) fn run(what: &Trajectory, console: &Console) -> Result<(), Error> {
    match what {
        Trajectory::Anonymize(arguments) => anonymized(arguments, console),
        Trajectory::Check(arguments) => check(arguments, console),
        Trajectory::Generate(arguments) => generate(arguments, console),
    }
}

impl PathArgs {
    fn read(&self) -> Result<Paths, Error> {
        let columns = match (&self.location, &self.time, &self.id) {
            (Some(location), Some(time), Some(id)) => {
                let (id, location, time) = (id.clone(), location.clone(), time.clone());
                Columns::Long { id, location, time }
            }
            _ => Columns::Wide { id: self.id.clone(), path: self.path.clone() },
        };
        let form = Form {
            bin: self.bin,
            collapse: self.collapse,
            ..Form::new(columns, &self.sensitive, self.protect.clone())
        };
        let (name, file) = (self.data.display().to_string(), regular_file(&self.data)?);
        Paths::read((&name, Dialect::default()), file, &form, &|_| {})
    }

    fn terms(&self, paths: &Paths, support: u64, score: Score) -> Result<Terms, Error> {
        let terms = Terms { l: self.l, k: self.k, c: part(&self.c, "--c")?, support, score };
        terms.ask_for_something(paths)?;
        terms.end_in_time(paths)?;
        Ok(terms)
    }
}

fn anonymized(arguments: &AnonymizeArgs, console: &Console) -> Result<(), Error> {
    if arguments.acknowledge != ACKNOWLEDGED {
        return Err(Error::input("the words after --acknowledge are not the required ones")
            .advise(format!("give --acknowledge '{ACKNOWLEDGED}' once you know what that means")));
    }
    let output = Output::claim(&arguments.out)?;
    let paths = arguments.table.read()?;
    let (above, below) = part(&arguments.support, "--support")?;
    let support = share((above.into(), below), paths.len() as u64);
    let terms = arguments.table.terms(&paths, support, arguments.score)?;
    let open = if arguments.new_ledger { Ledger::begin } else { Ledger::open };
    let mut ledger = arguments.ledger.as_deref().map(open).transpose()?;
    let run = RunId(Randomness::from_os()?.array());
    let debit = debit(arguments, terms.promise(&paths.protected), run)?;
    if let Some(ledger) = &ledger {
        ledger.check_composition(&debit.data_set, false, arguments.accept_composition)?;
    }
    // What cannot be met is found before anything is entered or written.
    let made = anonymize(&paths, &terms)?;
    if let Some(ledger) = &mut ledger {
        let _ = ledger.debit(debit)?;
    }
    let entered = |failure: Error| match &arguments.ledger {
        Some(_) => failure.after_spending("the run is in the ledger"),
        None => failure,
    };
    let named = ledger.as_ref().map_or(Ok(()), Ledger::check_name);
    named.map_err(|error| entered(error.into()))?;
    let written = write_all(arguments, &paths, &terms, &made, &output);
    if let Some(ledger) = &mut ledger {
        match &written {
            Ok(()) => ledger.finish(run),
            Err(_) => ledger.abort(run),
        }
        .map_err(|error| entered(error.into()))?;
    }
    written.map_err(entered)?;
    made.told().into_iter().for_each(|line| console.say(line));
    console.say(terms.warning(made.paths.alone()));
    console.result_of_work_done(arguments.out.display());
    Ok(())
}

fn debit(arguments: &AnonymizeArgs, promise: String, run: RunId) -> Result<Debit, Error> {
    let file = arguments.table.data.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Debit {
        run,
        release: "trajectory".to_owned(),
        data_set: arguments.data_set.clone().or(file).unwrap_or_default(),
        epsilon: None,
        cap: None,
        agreement: Hash(Sha256::digest(&promise).into()),
        peer: ledger::NO_PEER.to_owned(),
        salt: Hash(Randomness::from_os()?.array()),
        delta: None,
        towards_peer: None,
        cap_towards_peer: None,
        out: Debit::path_for_line(&arguments.out),
        promise: Some(promise),
    })
}

/// What may not be published, then what may, the release last: if this fails, it is not there.
fn write_all(
    arguments: &AnonymizeArgs,
    paths: &Paths,
    terms: &Terms,
    made: &Anonymized,
    output: &Output,
) -> Result<(), Error> {
    let mut csv = Vec::new();
    made.paths.write(&arguments.table.sensitive, &mut csv).map_err(Error::internal)?;
    let alone = made.paths.alone();
    let summary = json!({
        "format": "diptych trajectory v2",
        "promise": terms.promise(&paths.protected),
        "warning": terms.warning(alone),
        "l": terms.l,
        "k": terms.k,
        "c": format!("{}/{}", terms.c.0, terms.c.1),
        "sensitive": arguments.table.sensitive,
        "protect": paths.protected,
        "people": made.paths.len(),
        "release": { "file": RELEASE, "sha256": hex::encode(Sha256::digest(&csv)) },
    });
    let text = serde_json::to_string_pretty(&summary).map_err(Error::internal)? + "\n";
    let how = [made.how(&paths.names()), vec![terms.warning(alone)]].concat();
    output.write_private("how.txt", &(how.join("\n") + "\n"))?;
    output.write_with_summary(&csv, text.as_bytes())
}

fn check(arguments: &CheckArgs, console: &Console) -> Result<(), Error> {
    let paths = arguments.table.read()?;
    let terms = arguments.table.terms(&paths, 1, Score::Gain)?;
    let found = violating::find(&paths, &paths.index(), terms.l, &terms.rule());
    let found = found?.sets;
    console.result(format!("people                  {}", paths.len()));
    console.result(format!("alone on their path     {}", paths.alone()));
    console.result(format!("minimal violating sets  {}", found.len()));
    let data = arguments.table.data.display();
    let failed = || Error::internal(format!("{data} is not as required"));
    if let Err(problem) = whole(&paths, &terms) {
        console.result(format!("all paths together      {problem}"));
        return Err(failed().advise("raise --c or lower --k: suppressing pairs does not help"));
    }
    if let Some(first) = found.iter().next() {
        let name = |pair: &u32| {
            let (time, place) = &paths.pairs[*pair as usize];
            format!("{place}@{time}")
        };
        let names: Vec<String> = first.iter().map(name).collect();
        console.result(format!("the first               {}", names.join(" > ")));
        return Err(
            failed().advise("`diptych model trajectory anonymize` suppresses pairs until it is")
        );
    }
    console.say(terms.warning(paths.alone()));
    Ok(())
}

fn generate(arguments: &GenerateArgs, console: &Console) -> Result<(), Error> {
    let failed = |error: std::io::Error| Error::file(&arguments.out, "write", &error);
    let world = match arguments.world {
        Place::City => World::City,
        Place::Metro => World::Metro { headway: arguments.headway, delay: arguments.delay },
    };
    let file = File::create_new(&arguments.out).map_err(failed)?;
    write(world, arguments.people, arguments.seed, BufWriter::new(file)).map_err(failed)?;
    console.result_of_work_done(Path::new(&arguments.out).display());
    Ok(())
}
