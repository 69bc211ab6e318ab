//! What the defaults are worth on small tables: how well a release tells the class of people who are
//! not in it, with the number of specializations that the release decides on, with one that follows
//! from a guess ten times too high, and with every number from 1 to 8.
//!
//! ```text
//! cargo run --release -p diptych-experiments --bin small_tables -- --data DIR             # on the test records
//! cargo run --release -p diptych-experiments --bin small_tables -- --data DIR --validate  # inside the training records
//! cargo run --release -p diptych-experiments --bin small_tables -- --data DIR --every     # every number of specializations
//! cargo run --release -p diptych-experiments --bin small_tables -- --simulated            # where the class is known to come from
//! cargo run --release -p diptych-experiments --bin small_tables -- --data DIR --splits    # where numbers are split
//! cargo run --release -p diptych-experiments --bin small_tables -- --data DIR --synthetic PEERS  # records that a peer made
//! ```
//!
//! DIR has the tables as CSV files; `small_tables/tables.py` makes them, and `small_tables/tables.rs`
//! says where each comes from. Adult is
//! expected at `../shared/data/adult`. What is not there is left out, and that is said. The tables
//! are printed in Markdown, as `docs/experiments/small-tables.md` and `splits.md` have them.

#![expect(clippy::print_stdout, clippy::print_stderr, reason = "an example shows its result")]

#[path = "adult/data.rs"]
mod data;
#[path = "small_tables/simulated.rs"]
mod simulated;
#[path = "small_tables/splits.rs"]
mod splits;
#[path = "small_tables/tables.rs"]
mod tables;

use clap::Parser;
use data::Adult;
use diptych::Error;
use diptych::agreement::Agreement;
use diptych::app::evaluate::group::Summary;
use diptych::app::evaluate::{assess, baselines, released};
use diptych::math::Randomness;
use diptych::privacy::Budget;
use diptych::release::Release;
use diptych::release::diffgen::single;
use diptych::release::judge::generalize::Generalization;
use diptych::release::tree::output::{Rows, write_csv};
use diptych::table::Table;
use rayon::prelude::*;
use std::path::{Path, PathBuf};
use tables::{SOURCES, Source, divided};

const EPSILONS: [&str; 4] = ["0.1", "0.25", "0.5", "1"];
/// Numbers of specializations among which the best is found in hindsight.
const NUMBERS: std::ops::RangeInclusive<u32> = 1..=8;
/// Parts of the training records, where these are all that is looked at.
const FOLDS: usize = 5;

/// What the defaults are worth on small tables.
#[derive(Parser)]
struct Arguments {
    /// Where the tables lie
    #[arg(long, default_value = "../shared/data/small-tables")]
    data: PathBuf,
    /// Where Adult lies, if not at ../shared/data/adult
    #[arg(long, value_name = "DIR")]
    adult: Option<PathBuf>,
    /// Only these tables
    #[arg(long, value_delimiter = ',')]
    tables: Vec<String>,
    /// Releases of each table and way
    #[arg(long, default_value_t = 50)]
    seeds: u64,
    /// Judge by five-fold cross-validation inside the training records
    #[arg(long)]
    validate: bool,
    /// Only with the number that the release decides on
    #[arg(long)]
    only_auto: bool,
    /// Show every number of specializations and not only the best
    #[arg(long)]
    every: bool,
    /// On simulated tables, with every number of specializations
    #[arg(long)]
    simulated: bool,
    /// Where numbers are split, with every weight of the utility against the smaller side
    #[arg(long)]
    splits: bool,
    /// With this utility in place of the default one, for `--splits`
    #[arg(long, default_value = "leaf-max")]
    utility: String,
    /// Judge synthetic records in place of releases: DIR has files `TABLE-EPSILON-SEED.csv`, as
    /// `benches/peers/accuracy.py` writes them
    #[arg(long, value_name = "DIR")]
    synthetic: Option<PathBuf>,
}

fn main() -> Result<(), Error> {
    let arguments = Arguments::parse();
    let wanted =
        |name: &str| arguments.tables.is_empty() || arguments.tables.iter().any(|t| t == name);
    if arguments.simulated {
        return on_simulated(&arguments);
    }
    for table in Small::all(&arguments)?.into_iter().filter(|table| wanted(&table.name)) {
        match &arguments.synthetic {
            Some(place) => table.judge_synthetic(place)?,
            None if arguments.splits => table.report_splits(&arguments)?,
            None => table.report(&arguments)?,
        }
    }
    Ok(())
}

/// The rule beside every number of specializations, and the constants of the rule beside others.
fn on_simulated(arguments: &Arguments) -> Result<(), Error> {
    let mut found = Vec::new();
    println!("{}", heading("table | larger class | ε"));
    for (name, source, [train, test]) in simulated::all()? {
        let terms = Box::new(|terms: &str| source.agreement(terms));
        let table = Small { name, train, test, terms };
        let parts = [[table.train.clone(), table.test.clone()]];
        let schema = (table.terms)("epsilon = \"1\"")?.schema;
        let (_, larger) = baselines(&schema, &table.test, &table.train)?;
        for epsilon in EPSILONS {
            let (cells, by_number) = table.row(arguments, &parts, epsilon)?;
            println!("| {} | {:.1} | {epsilon} | {cells} |", table.name, larger * 100.0);
            // What fixed numbers give says nothing of the rule where it leaves out wide candidates.
            if source.attributes == simulated::ATTRIBUTES {
                found.push(simulated::Found {
                    records: table.train.len(),
                    classes: schema.class.values.len(),
                    epsilon: epsilon.parse().map_err(Error::internal)?,
                    by_number,
                });
            }
        }
    }
    if !arguments.only_auto {
        println!("\n{}", simulated::constants(&found));
    }
    Ok(())
}

/// The first two lines of a table that has auto and every number of specializations.
fn heading(first: &str) -> String {
    let numbers: Vec<String> = NUMBERS.map(|number| format!("h = {number}")).collect();
    let line = format!("| {first} | auto | h | {} |", numbers.join(" | "));
    let columns = line.matches('|').count() - 1;
    format!("{line}\n|{}", " --- |".repeat(columns))
}

/// From lines of `[release]` to the agreement on a table.
type Terms = dyn Fn(&str) -> Result<Agreement, Error> + Sync;

/// A table with all that is needed to release it.
struct Small {
    name: String,
    train: Table,
    test: Table,
    terms: Box<Terms>,
}

impl Small {
    /// Those whose files are there.
    fn all(arguments: &Arguments) -> Result<Vec<Self>, Error> {
        let mut all = Vec::new();
        match arguments.adult.clone().or_else(data::place) {
            None => eprintln!("skipped: there is no Adult data at ../shared/data/adult"),
            Some(place) => {
                for first in [None, Some(4_000)] {
                    let adult = Adult::read(&place)?;
                    let (test, mut train) = (adult.test.clone(), adult.train.clone());
                    if let Some(count) = first {
                        train = train.select(&(0..count).collect::<Vec<_>>());
                    }
                    let name = first.map_or("Adult".to_owned(), |n| format!("Adult-{n}"));
                    let terms = Box::new(move |terms: &str| {
                        adult.agreement_with(&format!("partition = \"local\"\n{terms}"))
                    });
                    all.push(Self { name, train, test, terms });
                }
            }
        }
        for source in SOURCES {
            let Source { name, .. } = source;
            match source.read(&arguments.data)? {
                None => {
                    eprintln!("skipped: there is no {name}.csv in {}", arguments.data.display())
                }
                Some([train, test]) => {
                    let terms = Box::new(|terms: &str| source.agreement(terms));
                    all.push(Self { name: (*name).to_owned(), train, test, terms });
                }
            }
        }
        Ok(all)
    }

    fn report(&self, arguments: &Arguments) -> Result<(), Error> {
        let parts: Vec<[Table; 2]> = match arguments.validate {
            true => (0..FOLDS).map(|fold| divided(&self.train, FOLDS, fold)).collect(),
            false => vec![[self.train.clone(), self.test.clone()]],
        };
        let schema = (self.terms)("epsilon = \"1\"")?.schema;
        let of = parts.iter().map(|[train, test]| baselines(&schema, test, train));
        let of = of.collect::<Result<Vec<_>, _>>()?;
        let mean = |part: fn(&(f64, f64)) -> f64| {
            Summary::of(&of.iter().map(part).collect::<Vec<_>>()).mean * 100.0
        };
        println!(
            "\n{}: {} training records, {} classes, {} attributes; larger class {:.1}, raw tree {:.1}\n",
            self.name,
            parts[0][0].len(),
            schema.class.values.len(),
            schema.attributes.len(),
            mean(|b| b.1),
            mean(|b| b.0)
        );
        if arguments.every {
            return self.every_number(arguments, &parts);
        }
        println!("| ε | auto | h | ten times the records | h = 4 | h = 7 | best h in hindsight |");
        println!("| --- | --- | --- | --- | --- | --- | --- |");
        for epsilon in EPSILONS {
            let run = |more: &str| self.runs(arguments, &parts, epsilon, more);
            let (auto, made) = run("")?;
            let words = |found: Summary| format!("{:.1} ± {:.1}", found.mean, found.deviation);
            let mut cells = vec![words(auto), format!("{:.1}", made.mean)];
            if !arguments.only_auto {
                let guess = 10 * parts[0][0].len();
                cells.push(words(run(&format!("expected_records = {guess}"))?.0));
                let mut best: Option<(u32, Summary)> = None;
                for number in NUMBERS {
                    let (found, _) = run(&format!("specializations = {number}"))?;
                    if [4, 7].contains(&number) {
                        cells.push(words(found));
                    }
                    if best.is_none_or(|(_, known)| found.mean > known.mean) {
                        best = Some((number, found));
                    }
                }
                cells
                    .extend(best.map(|(number, found)| format!("{} (h = {number})", words(found))));
            }
            println!("| {epsilon} | {} |", cells.join(" | "));
        }
        Ok(())
    }

    /// What each number of specializations gives.
    fn every_number(&self, arguments: &Arguments, parts: &[[Table; 2]]) -> Result<(), Error> {
        println!("{}", heading("ε"));
        for epsilon in EPSILONS {
            let (cells, _) = self.row(arguments, parts, epsilon)?;
            println!("| {epsilon} | {cells} |");
        }
        Ok(())
    }

    /// Cells of a line with auto and every number of specializations, and the means of these.
    fn row(
        &self,
        arguments: &Arguments,
        parts: &[[Table; 2]],
        epsilon: &str,
    ) -> Result<(String, Vec<f64>), Error> {
        let run = |more: &str| self.runs(arguments, parts, epsilon, more);
        let (auto, made) = run("")?;
        let by_number = NUMBERS
            .filter(|_| !arguments.only_auto)
            .map(|number| Ok(run(&format!("specializations = {number}"))?.0.mean))
            .collect::<Result<Vec<f64>, Error>>()?;
        let cells: Vec<String> = by_number.iter().map(|mean| format!("{mean:.1}")).collect();
        let Summary { mean, deviation } = auto;
        let cells =
            format!("{mean:.1} ± {deviation:.1} | {:.1} | {}", made.mean, cells.join(" | "));
        Ok((cells, by_number))
    }

    /// How well a tree that was learnt from synthetic records tells the class of the test records.
    fn judge_synthetic(&self, place: &Path) -> Result<(), Error> {
        let agreement = (self.terms)("epsilon = \"1\"")?;
        for epsilon in EPSILONS {
            let mut found = Vec::new();
            for seed in 0.. {
                let path = place.join(format!("{}-{epsilon}-{seed}.csv", self.name));
                if !path.exists() {
                    break;
                }
                let csv = std::fs::read_to_string(&path)
                    .map_err(|error| Error::file(&path, "read", &error))?;
                let made = tables::parse(&agreement, &path.display().to_string(), &csv)?;
                found.push(baselines(&agreement.schema, &self.test, &made)?.0 * 100.0);
            }
            if !found.is_empty() {
                let Summary { mean, deviation } = Summary::of(&found);
                println!(
                    "{} ε = {epsilon}: {mean:.1} ± {deviation:.1}, {}",
                    self.name,
                    found.len()
                );
            }
        }
        Ok(())
    }

    /// Accuracy in %, and how many specializations were made.
    fn runs(
        &self,
        arguments: &Arguments,
        parts: &[[Table; 2]],
        epsilon: &str,
        more: &str,
    ) -> Result<(Summary, Summary), Error> {
        let agreement = (self.terms)(&format!("epsilon = \"{epsilon}\"\n{more}"))?;
        let once = |seed: u64| {
            let [train, test] = &parts[seed as usize % parts.len()];
            let epsilon = agreement.epsilon().ok_or_else(|| Error::internal("no ε"))?;
            let mut rng = Randomness::seeded(seed);
            let release =
                single::release(&agreement, train, Budget::new(epsilon), &mut rng, &|_| {})?;
            let accuracy = accuracy(&release, test)?;
            Ok((accuracy, release.table.cuts.made().len() as f64))
        };
        let seeds: Vec<u64> = (0..arguments.seeds).collect();
        let found: Result<Vec<(f64, f64)>, Error> =
            seeds.par_iter().map(|seed| once(*seed)).collect();
        let (accuracy, made): (Vec<f64>, Vec<f64>) = found?.into_iter().unzip();
        Ok((Summary::of(&accuracy), Summary::of(&made)))
    }
}

/// How well a release tells the class of the test records, in %.
fn accuracy(release: &Release, test: &Table) -> Result<f64, Error> {
    let mut csv = Vec::new();
    write_csv(&release.table, Rows::All, &mut csv).map_err(Error::internal)?;
    let mut values = Generalization::new(&release.table.cuts);
    let rows = released::rows("release.csv", &csv, &mut values)?;
    Ok(assess(&values, &rows, test, None)?.accuracy * 100.0)
}
