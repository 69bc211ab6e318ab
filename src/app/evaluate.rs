//! `diptych evaluate`: how useful a release is for learning.
//!
//! A decision tree is learnt from the release, held-out records are generalized by its cuts, and
//! the tree predicts their class. Two trees are compared with it, as in the papers: one learnt from the raw
//! records (what generalization and noise cost), and one that always predicts the larger class (what the
//! release gives at all). Both need the raw records: a small or noisy release may well get wrong
//! which class is larger. Where they are given, the release's total and frequencies are compared with
//! theirs too: at the granularity of the release, where a column that was not divided always agrees, and
//! at that of the data, where it shows what it lost.
//!
//! The results depend on the raw records and are not differentially private: they are for those
//! who may see these records, not for publishing beside the release.

pub mod group;
mod lost;
pub mod released;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde_json::{Value, json};

use crate::Error;
use crate::app::console::Console;
use crate::app::progress::Bar;
use crate::app::{write, write_json};
use crate::publish::data::Source;
use crate::release::examine;
use crate::release::judge::distance::{Distances, distances};
use crate::release::judge::fine::{FineDistances, fine_distances};
use crate::release::judge::generalize::{Generalization, raw};
use crate::release::judge::tree::{Rows, Tree, heaviest};
use crate::table::{Dialect, Reading, Schema, Table, parse_csv_as, regular_file};
use group::{Group, groups};
use released::Released;

/// Most records of a held-out or raw file.
const MAX_RECORDS: u64 = 100_000_000;
/// The plots' file names.
const PLOTS: [&str; 2] = ["accuracy-by-specializations.svg", "accuracy-by-epsilon.svg"];

/// Evaluate how well releases predict the class of new records
///
/// Learns a decision tree (after C4.5) from each release and classifies records
/// that were not released. With --train, also prints the accuracy of always predicting the larger
/// class, which releases are worse than that, the papers' upper baseline (a tree learnt from the
/// raw records), and how far the release's total and
/// frequencies are from the raw ones: at the granularity of the release, and at the granularity of the
/// data (all tables of one, two and three columns, at most 32 groups of values each). Columns that are
/// constant in a release are named. Releases under the same terms are summarized by mean and
/// standard deviation. The results are not differentially private: keep
/// them to those who may see the raw records. Two parties cannot evaluate against their joined records,
/// which neither of them may see: rehearse with data that one may see whole.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: diptych evaluate --release out/ --test test.csv --train table.csv"
)]
pub struct EvaluateArgs {
    /// The directory of a release, with manifest.json and release.csv; may be given several times
    #[arg(long, value_name = "DIR", required = true, num_args = 1..)]
    release: Vec<PathBuf>,
    /// Records that were not released: CSV with the agreement's columns
    #[arg(long, value_name = "FILE")]
    test: PathBuf,
    /// The raw records that were released
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// If a file does not fit the agreement, list all problems in this file (private: it holds data)
    #[arg(long, value_name = "FILE")]
    problems: Option<PathBuf>,
    /// Write all results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write plots of the accuracy over specializations and over ε (SVG)
    #[arg(long, value_name = "DIR")]
    plots: Option<PathBuf>,
}

/// Runs the verb.
///
/// # Errors
/// If a file is not as it should be or cannot be written.
pub fn run(arguments: &EvaluateArgs, console: &Console) -> Result<(), Error> {
    let (mut found, mut warnings) = (Vec::new(), Vec::new());
    let mut records: Option<(Arc<Schema>, Records)> = None;
    let bar = Bar::new(console, "evaluating");
    bar.start(arguments.release.len());
    for directory in &arguments.release {
        let released = Released::open(directory)?;
        let schema = &released.agreement.schema;
        if schema.attributes.is_empty() {
            let place = directory.display();
            return Err(Error::input(format!("{place} is a release of paths")).advise(
                "evaluation learns a tree from attributes, and paths have none; what a release of \
                 paths loses is printed when it is made",
            ));
        }
        if schema.class.is_none() {
            let place = directory.display();
            return Err(Error::input(format!("{place} is a release without a class")).advise(
                "evaluation learns to predict the class, and its agreement has no [class]: add one to \
                 an agreement with utility = \"range\", or compare counts with your own",
            ));
        }
        // Releases of one series have one schema, and its records are read once.
        if records.as_ref().is_none_or(|(known, _)| known != schema) {
            let read = Records::read(schema, arguments, console)?;
            records = Some((schema.clone(), read));
        }
        if let Some((_, records)) = &records {
            found.push(judge(&released, records)?);
        }
        if let Some(warning) = examine::released(&released.agreement, &released.csv[..])?.warning {
            warnings.push(format!("{}: {warning}", directory.display()));
        }
        bar.advance(1);
    }
    bar.finish();
    let groups = groups(&found);
    let lines = table(&found, &groups).into_iter().chain(lost::lines(&found, &groups));
    lines.for_each(|line| console.result(line));
    console.results_are_written()?;
    if arguments.train.is_some() && found.iter().any(|one| one.by_two) {
        console.say(lost::JOINED);
    }
    warnings.into_iter().for_each(|warning| console.say(warning));
    if let Some(path) = &arguments.json {
        write_json(path, &as_json(&found, &groups))?;
    }
    if let Some(directory) = &arguments.plots {
        std::fs::create_dir_all(directory)
            .map_err(|error| Error::file(directory, "create", &error))?;
        for (name, chart) in PLOTS.iter().zip(group::charts(&groups, &found)) {
            let path = directory.join(name);
            write(&path, &chart.svg())?;
            console.say(format!("wrote {}", path.display()));
        }
    }
    Ok(())
}

/// What was found out about one release.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    /// Leaves of the release: cells without regard to the class, sets aside.
    pub leaves: u64,
    /// Records that it says there are.
    pub total: f64,
    /// The part of the held-out records whose class is predicted by a tree learnt from it.
    pub accuracy: f64,
    /// How far its frequencies are from those of the records it was made from.
    pub distances: Option<Distances>,
}

/// Learns from a release and classifies held-out records, generalized alike.
///
/// # Errors
/// If there is no held-out record, or a table lacks a column.
pub fn assess(
    values: &Generalization<'_>,
    release: &Rows,
    test: &Table,
    train: Option<&Table>,
) -> Result<Assessment, Error> {
    let generalize = |table| values.records(table).ok_or_else(no_column);
    let accuracy = Tree::learn(release).accuracy(&generalize(test)?);
    Ok(Assessment {
        leaves: values.leaves(),
        total: release.weights.iter().sum(),
        accuracy: accuracy.ok_or_else(no_records)?,
        distances: match train {
            Some(train) => Some(distances(release, &generalize(train)?)),
            None => None,
        },
    })
}

/// The papers' baselines: the accuracy of a tree learnt from raw records, and that of the heaviest
/// class alone.
///
/// # Errors
/// If there is no held-out record, or a table lacks a column.
pub fn baselines(schema: &Schema, test: &Table, train: &Table) -> Result<(f64, f64), Error> {
    let [train, held_out] = [train, test].map(|table| raw(schema, table));
    let (train, held_out) = (train.ok_or_else(no_column)?, held_out.ok_or_else(no_column)?);
    let with_all = Tree::learn(&train).accuracy(&held_out).ok_or_else(no_records)?;
    Ok((with_all, class_only(&train.class_weights(), test)?))
}

/// The part of the records that have the heaviest class.
fn class_only(weights: &[f64], test: &Table) -> Result<f64, Error> {
    let class = heaviest(weights);
    let right = test.classes().iter().filter(|known| usize::from(**known) == class).count();
    if test.is_empty() { Err(no_records()) } else { Ok(right as f64 / test.len() as f64) }
}

/// The records by which releases are judged.
struct Records {
    test: Table,
    train: Option<Table>,
    /// The accuracy of a tree learnt from the raw records, and that of always saying the larger class.
    baselines: Option<(f64, f64)>,
}

impl Records {
    fn read(schema: &Schema, arguments: &EvaluateArgs, console: &Console) -> Result<Self, Error> {
        let reading = Reading { schema, owner: None, identifier: None, max_records: MAX_RECORDS };
        let read = |path: &Path| {
            let source = Source { problems: arguments.problems.clone(), ..Source::file(path) };
            let (name, file) = (path.display().to_string(), regular_file(path)?);
            let looked = Dialect::recognized().look(file);
            let (dialect, words, file) =
                looked.map_err(|error| Error::file(path, "read", &error))?;
            if let Some(words) = words {
                console.say(format!("{name}: recognized {words}"));
            }
            parse_csv_as(dialect, &name, file, &reading, &|_| {})
                .map_err(|error| source.failure(error))
        };
        let train = arguments.train.as_deref().map(read).transpose()?;
        let test = read(&arguments.test)?;
        let baselines = match &train {
            Some(train) => Some(baselines(schema, &test, train)?),
            None => None,
        };
        Ok(Self { test, train, baselines })
    }
}

/// A release, judged.
struct Judged {
    directory: PathBuf,
    /// What releases have in common that are summed up together: ε, h and the other terms.
    epsilon: String,
    /// As agreed: a number, or `auto`.
    agreed: String,
    terms: String,
    /// As made.
    specializations: usize,
    assessment: Assessment,
    /// How far its tables are from those of the raw records, at the granularity of the data.
    fine: Option<FineDistances>,
    /// All attributes, and whether each has one value in every row.
    attributes: Vec<(String, bool)>,
    /// Whether two parties made it.
    by_two: bool,
    class_only: Option<f64>,
    raw_accuracy: Option<f64>,
    test_records: usize,
    train_records: Option<usize>,
}

fn judge(released: &Released, records: &Records) -> Result<Judged, Error> {
    let cuts = released.cuts()?;
    let mut values = Generalization::new(&cuts);
    let rows = released::rows_of(released, &mut values)?;
    let agreement = &released.agreement;
    let fine = match &records.train {
        Some(train) => Some(fine_distances(&cuts, &rows, train).ok_or_else(no_column)?),
        None => None,
    };
    let attributes = released.schema.attributes.iter().enumerate();
    let attributes =
        attributes.map(|(place, attribute)| (attribute.name.clone(), cuts.is_undivided(place)));
    Ok(Judged {
        directory: released.directory.clone(),
        epsilon: agreement.epsilon().map_or("–".to_owned(), ToString::to_string),
        agreed: agreement.model.specializations(),
        specializations: cuts.made().len(),
        terms: format!("{} {}", agreement.partition.word(), agreement.model.in_short()),
        assessment: assess(&values, &rows, &records.test, records.train.as_ref())?,
        fine,
        attributes: attributes.collect(),
        by_two: agreement.parties().is_some(),
        class_only: records.baselines.map(|(_, class_only)| class_only),
        raw_accuracy: records.baselines.map(|(raw, _)| raw),
        test_records: records.test.len(),
        train_records: records.train.as_ref().map(Table::len),
    })
}

/// What is printed: the larger class, a line per release, one per group of several, the raw records,
/// and which releases are worth nothing to a classifier.
fn table(found: &[Judged], groups: &[Group<'_>]) -> Vec<String> {
    let width = found.iter().map(|one| one.directory.display().to_string().chars().count());
    let width = width.max().unwrap_or(0).clamp(LARGER_CLASS.len(), 40);
    let line = |name: &str, cells: [String; 5]| {
        let [epsilon, h, leaves, total, accuracy] = cells;
        format!("{name:<width$}  {epsilon:>6} {h:>4} {leaves:>9} {total:>11} {accuracy:>14}")
    };
    let percent = |part: f64| format!("{:.2} %", part * 100.0);
    let heads = ["ε", "h", "leaves", "total", "accuracy"];
    let mut lines = vec![line("release", heads.map(str::to_owned))];
    let of_records = |total: String, accuracy: f64| {
        let none = String::new;
        [none(), none(), none(), total, percent(accuracy)]
    };
    for larger in different(found.iter().filter_map(|one| one.class_only)) {
        lines.push(line(LARGER_CLASS, of_records(String::new(), larger)));
    }
    for one in found {
        let Assessment { leaves, total, accuracy, .. } = &one.assessment;
        let cells = [
            one.epsilon.clone(),
            one.specializations.to_string(),
            leaves.to_string(),
            whole(*total),
            percent(*accuracy),
        ];
        lines.push(line(&one.directory.display().to_string(), cells));
    }
    for group in groups.iter().filter(|group| group.members.len() > 1) {
        let accuracy = group.of(|one| one.accuracy);
        let cells = [
            group.members[0].epsilon.clone(),
            group.specializations_in_words(),
            format!("{:.0}", group.of(|one| one.leaves as f64).mean),
            whole(group.of(|one| one.total).mean),
            format!("{:.2} ± {:.2} %", accuracy.mean * 100.0, accuracy.deviation * 100.0),
        ];
        lines.push(line(&format!("mean of {}", group.members.len()), cells));
    }
    for (accuracy, total) in
        different(found.iter().filter_map(|o| o.raw_accuracy.zip(o.train_records)))
    {
        lines.push(line("raw records", of_records(total.to_string(), accuracy)));
    }
    lines.extend(worse_than_nothing(found));
    lines
}

/// A number of people. The sum of no weights at all is -0.
fn whole(number: f64) -> String {
    format!("{:.0}", number + 0.0)
}

/// What a row of the table is called.
const LARGER_CLASS: &str = "always the larger class";

/// Each number once: releases of one series have the same baselines.
fn different<T: PartialEq>(numbers: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    numbers.for_each(|number| {
        if !all.contains(&number) {
            all.push(number)
        }
    });
    all
}

/// Names the releases from which less is learnt than which class is larger.
fn worse_than_nothing(found: &[Judged]) -> Option<String> {
    let worse =
        found.iter().filter(|one| one.class_only.is_some_and(|it| one.assessment.accuracy < it));
    let names: Vec<String> = worse.map(|one| one.directory.display().to_string()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "ATTENTION: worse than always predicting the larger class: {}. The rows are mostly \
             noise: use \
             fewer specializations, or more ε.",
            names.join(", ")
        )
    })
}

fn as_json(found: &[Judged], groups: &[Group<'_>]) -> Value {
    let releases: Vec<Value> = found
        .iter()
        .map(|one| {
            let Assessment { leaves, total, accuracy, distances } = &one.assessment;
            json!({
                "directory": one.directory.display().to_string(),
                "epsilon": one.epsilon,
                "specializations": one.specializations,
                "terms": one.terms,
                "leaves": leaves,
                "total": total + 0.0,
                "accuracy": accuracy,
                "at_the_granularity_of_the_release": {
                    "one_way_distance": distances.map(|distances| distances.one_way),
                    "two_way_distance": distances.and_then(|distances| distances.two_way),
                },
                "at_the_granularity_of_the_data": one.fine.as_ref().map(|_| lost::as_json(one)),
                "constant_columns": lost::constant(one),
                "baselines": { "raw_records": one.raw_accuracy, "class_only": one.class_only },
                "test_records": one.test_records,
                "train_records": one.train_records,
            })
        })
        .collect();
    let groups: Vec<Value> = groups.iter().map(Group::as_json).collect();
    json!({ "format": "diptych evaluation v2", "releases": releases, "groups": groups })
}

fn no_column() -> Error {
    Error::internal("a table lacks a column of the agreement")
}

fn no_records() -> Error {
    Error::input("there is no held-out record").advise("give --test a file with records")
}

#[cfg(test)]
mod tests;
