//! The Adult census data released by two parties, and by one at equal settings: the two must be
//! worth the same. Vertical: columns divided as in the papers; horizontal: half the records each.
//!
//! ```text
//! cargo run --release -p diptych-experiments --bin adult_two_party
//! ```
//!
//! Both parties run in this process over an in-memory channel. Paillier keys have 1024 bits here,
//! which protects nobody and changes no release; everything else is what `diptych run` does. The
//! table goes to `docs/experiments/adult-two-party.md`. The data is expected at
//! `../shared/data/adult`; without it nothing is done.

#[path = "adult/data.rs"]
mod data;

use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use data::Adult;
use diptych::Error;
use diptych::agreement::Agreement;
use diptych::app::console::{Console, GlobalArgs};
use diptych::app::evaluate::{assess, released};
use diptych::app::progress::Bar;
use diptych::math::Randomness;
use diptych::privacy::Budget;
use diptych::protocol::Workspace;
use diptych::protocol::pair::{Setup, run_workspaces};
use diptych::release::Release;
use diptych::release::diffgen::single;
use diptych::release::diffgen::two_party::{Keys, release_with};
use diptych::release::judge::generalize::Generalization;
use diptych::release::tree::output::{Rows, write_csv};
use diptych::table::Table;
use rayon::prelude::*;

const SPECIALIZATIONS: u32 = 10;
const KEYS: Keys = Keys::ForTests(1024);

/// Name and terms of what is compared.
const FORMS: [(&str, &str); 11] = [
    ("vertical, default", "partition = \"vertical\""),
    ("vertical, paper", "partition = \"vertical\"\nprofile = \"paper\""),
    ("vertical, class at A alone", "partition = \"vertical\"\n# class at p1"),
    ("vertical, class at B alone", "partition = \"vertical\"\n# class at p2"),
    (
        "vertical, class at A alone, max",
        "partition = \"vertical\"\nutility = \"max\"\n# class at p1",
    ),
    (
        "vertical, class at B alone, max",
        "partition = \"vertical\"\nutility = \"max\"\n# class at p2",
    ),
    ("vertical, hidden, class at A alone", "partition = \"vertical\"\n# hidden\n# class at p1"),
    ("vertical, hidden, class at B alone", "partition = \"vertical\"\n# hidden\n# class at p2"),
    ("horizontal, default", "partition = \"horizontal\""),
    ("horizontal, leaf-max", "partition = \"horizontal\"\nutility = \"leaf-max\""),
    (
        "horizontal, the papers' polynomial (degree 16)",
        "partition = \"horizontal\"\nprofile = \"paper\"",
    ),
];

/// The Adult census data released by two parties, and by one at equal settings.
#[derive(Parser)]
struct Arguments {
    #[command(flatten)]
    global: GlobalArgs,
    /// Releases by two parties per setting
    #[arg(long, default_value_t = 10)]
    runs: u64,
    /// Releases by one party per setting
    #[arg(long, default_value_t = 50)]
    single_runs: u64,
    /// Only forms whose name contains this
    #[arg(long, default_value = "")]
    only: String,
    /// Privacy losses
    #[arg(long, value_delimiter = ',', default_values = ["0.1", "0.25", "0.5", "1"])]
    epsilons: Vec<String>,
    /// Where the table goes
    #[arg(long, default_value = "docs/experiments/adult-two-party.md")]
    out: PathBuf,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let console = Console::new(&arguments.global);
    match carry_out(&arguments, &console) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            console.fail(&failure);
            failure.status().into()
        }
    }
}

fn carry_out(arguments: &Arguments, console: &Console) -> Result<(), Error> {
    let Some(place) = data::place() else {
        console.say("skipped: there is no Adult data at ../shared/data/adult");
        return Ok(());
    };
    let adult = Adult::read(&place)?;
    let mut page = String::from(
        "# Adult, released by two parties\n\nAccuracy in % on the test records (mean ± standard \
         deviation over runs), h = 10, by two parties and by one that holds everything, at equal \
         settings; and the median of the seconds that two parties in one process take beyond set \
         intersection.\n\n| form | ε | two parties | one party | difference in deviations of one run \
         | s |\n| --- | --- | --- | --- | --- | --- |\n",
    );
    for (name, terms) in FORMS.iter().filter(|(name, _)| name.contains(&arguments.only)) {
        for epsilon in &arguments.epsilons {
            let terms = format!("epsilon = \"{epsilon}\"\n{terms}");
            let agreement = adult.agreement(&terms, SPECIALIZATIONS)?;
            let [train, test] = adult.tables(&agreement)?;
            let parts = data::parts(&agreement, &train)?;
            let bar = Bar::new(console, "two parties");
            bar.start(arguments.runs as usize);
            let (mut two, mut seconds) = (Vec::new(), Vec::new());
            for seed in 0..arguments.runs {
                let (release, taken) = together(&agreement, &parts, seed)?;
                two.push(judge(&release, &test, &train)?);
                seconds.push(taken);
                bar.advance(1);
            }
            bar.finish();
            seconds.sort_by(f64::total_cmp);
            let median = seconds.get(seconds.len() / 2).copied().unwrap_or_default();
            let one = (0..arguments.single_runs)
                .into_par_iter()
                .map(|seed| {
                    let budget =
                        Budget::new(agreement.epsilon().ok_or_else(|| Error::internal("no ε"))?);
                    let mut rng = Randomness::seeded(seed);
                    let release = single::release(&agreement, &train, budget, &mut rng, &|_| {})?;
                    judge(&release, &test, &train)
                })
                .collect::<Result<Vec<f64>, Error>>()?;
            let (two, one) = (moments(&two), moments(&one));
            let line = format!(
                "| {name} | {epsilon} | {:.2} ± {:.2} | {:.2} ± {:.2} | {:+.2} | {median:.2} |",
                two.0,
                two.1,
                one.0,
                one.1,
                (two.0 - one.0) / one.1.max(0.01)
            );
            console.result(&line);
            let _ = writeln!(page, "{line}");
        }
    }
    let _ = write!(
        page,
        "\n{} runs by two parties, {} by one. Written by `cargo run --release -p diptych-experiments --bin \
         adult_two_party`, in which Paillier keys have 1024 bits (no release depends on it).\n",
        arguments.runs, arguments.single_runs
    );
    std::fs::write(&arguments.out, page)
        .map_err(|error| Error::file(&arguments.out, "write", &error))
}

/// A release by both, and the seconds that it took beyond finding common people.
fn together(agreement: &Agreement, parts: &[Table; 2], seed: u64) -> Result<(Release, f64), Error> {
    let epsilon = agreement.epsilon().ok_or_else(|| Error::internal("no ε"))?;
    let party = |table: &Table, session: &mut Workspace| {
        release_with(session, agreement, table, Budget::new(epsilon), KEYS, &|_| {})
    };
    let [first, second] = parts;
    let outcome = run_workspaces(
        Setup::default().seed(seed),
        |session| party(first, session),
        |session| party(second, session),
    );
    let (one, other) = (outcome.p1.map_err(Error::internal)?, outcome.p2.map_err(Error::internal)?);
    if one.release.table.counts != other.release.table.counts {
        return Err(Error::internal("the two parties have different releases"));
    }
    let phases = outcome.costs.p1.phases.iter();
    let others =
        phases.filter(|phase| !["set intersection", "hidden join"].contains(&&*phase.phase));
    Ok((one.release, others.map(|phase| phase.wall.as_secs_f64()).sum()))
}

fn judge(release: &Release, test: &Table, train: &Table) -> Result<f64, Error> {
    let mut csv = Vec::new();
    write_csv(&release.table, Rows::All, &mut csv).map_err(Error::internal)?;
    let mut values = Generalization::new(&release.table.cuts);
    let rows = released::rows("release.csv", &csv, &mut values)?;
    Ok(assess(&values, &rows, test, Some(train))?.accuracy * 100.0)
}

/// Mean and standard deviation.
fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}
