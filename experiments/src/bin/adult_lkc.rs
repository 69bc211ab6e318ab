//! The papers' experiments with LKC-privacy on the Adult census data: what is left of it to learn
//! from, and who stands alone.
//!
//! ```text
//! cargo run --release -p diptych-experiments --bin adult_lkc
//! cargo run --release -p diptych-experiments --bin adult_lkc two
//! ```
//!
//! With `two`, releases by two parties in one process, against that of one. Prints the tables of `docs/experiments/lkc.md`. The data is expected at `../shared/data/adult`;
//! without it nothing is done.
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "tables are what it is for")]

#[path = "adult/data.rs"]
#[allow(dead_code, reason = "the other experiments need all of it")]
mod data;

use data::Adult;
use diptych::Error;
use diptych::agreement::Agreement;
use diptych::app::evaluate::released::rows;
use diptych::math::Randomness;
use diptych::protocol::Workspace;
use diptych::protocol::pair::{Setup, run_workspaces};
use diptych::release::groups::table::{Columns, read};
use diptych::release::judge::generalize::{Generalization, raw};
use diptych::release::judge::tree::{Rows, Tree};
use diptych::release::run;
use diptych::release::tree::output::{self, write_csv};
use diptych::table::Table;
use std::process::ExitCode;
use std::time::Instant;

const SENSITIVE: &str = "sensitive = \"marital-status\"\nprotect = [\"Divorced\", \"Separated\"]\n";

/// The attributes of the mashup papers' quasi-identifiers, the most telling first.
const BEST: [&str; 9] = [
    "capital-gain",
    "age",
    "marital-status",
    "education-num",
    "relationship",
    "hours-per-week",
    "sex",
    "education",
    "occupation",
];
/// The scores of the one paper and the other.
const SCORES: [&str; 2] = ["gain-per-loss", "gain-ratio"];

fn main() -> ExitCode {
    let Some(place) = data::place() else {
        println!("the Adult data is not there");
        return ExitCode::SUCCESS;
    };
    let two = std::env::args().any(|argument| argument == "two");
    let run = |adult: Adult| if two { together(&adult) } else { all(&adult) };
    match Adult::read(&place).and_then(run) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            println!("{}", failure.message());
            ExitCode::FAILURE
        }
    }
}

fn all(adult: &Adult) -> Result<(), Error> {
    println!(
        "| L | K | C | steps | groups | discernibility | alone | error | without Sens | time |"
    );
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (l, c) in [(2, "0.2"), (4, "0.2"), (6, "0.2"), (13, "1")] {
        for k in [20, 60, 100] {
            let terms = format!("l = {l}\nk = {k}\nc = \"{c}\"\n{SENSITIVE}");
            let made = once(adult, &terms, "marital-status")?;
            println!("| {l} | {k} | {c} | {made} |");
        }
    }
    println!("\n| quasi-identifier | score | k | steps | error | time |");
    println!("| --- | --- | --- | --- | --- | --- |");
    for (best, score) in [5, 7, 9].into_iter().flat_map(|n| SCORES.map(|score| (n, score))) {
        for k in [20, 100, 180] {
            println!(
                "| best {best} | {score} | {k} | {} |",
                mashup(adult, &BEST[..best], score, k)?
            );
        }
    }
    Ok(())
}

/// One release that hides the named attributes; the others are learnt from as they are, since nothing
/// is required of them.
fn mashup(adult: &Adult, names: &[&str], score: &str, k: u32) -> Result<String, Error> {
    let terms = format!(
        "partition = \"local\"\nmodel = \"lkc\"\n[lkc]\nacknowledge = \"not differentially private\"\n\
         score = \"{score}\"\n[[lkc.requirement]]\nattributes = {names:?}\nk = {k}\n"
    );
    let agreement = adult.agreement_with(&terms)?;
    let start = Instant::now();
    let release = run::alone(&agreement, &adult.train, None, &mut Randomness::from_os()?, &|_| {})?;
    let time = start.elapsed().as_secs_f64();
    let values = Generalization::new(&release.table.cuts);
    let hidden: Vec<bool> =
        agreement.schema.attributes.iter().map(|a| names.contains(&&*a.name)).collect();
    let rows = |table: &Table| {
        let missing = || Error::internal("a column is missing");
        let mut rows = raw(&agreement.schema, table).ok_or_else(missing)?;
        let general = values.records(table).ok_or_else(missing)?;
        for (place, _) in hidden.iter().enumerate().filter(|(_, hidden)| **hidden) {
            rows.kinds[place] = general.kinds[place];
            rows.columns[place].clone_from(&general.columns[place]);
        }
        Ok::<Rows, Error>(rows)
    };
    let made = release.table.cuts.made().iter();
    let steps = made.filter(|step| hidden[step.candidate.attribute]).count();
    let accuracy = Tree::learn(&rows(&adult.train)?).accuracy(&rows(&adult.test)?);
    Ok(format!("{steps} | {:.1} | {time:.1} s", 100.0 * (1.0 - accuracy.unwrap_or(0.0))))
}

/// Two parties with columns divided as in the papers, against one: what it takes them.
fn together(adult: &Adult) -> Result<(), Error> {
    println!("| form | L | K | C | examined | performed | rows | as by one | time | CPU | bytes |");
    println!("| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (name, more) in FORMS {
        for (l, k, c) in [(4, 50, "0.2"), (2, 20, "0.2")] {
            let terms = format!("l = {l}\nk = {k}\nc = \"{c}\"\n{SENSITIVE}");
            println!("| {name} | {l} | {k} | {c} | {} |", two_once(adult, more, &terms)?);
        }
    }
    Ok(())
}

/// Name and terms of what two parties run.
const FORMS: [(&str, &str); 3] = [
    ("sealed", "partition = \"vertical\"\n"),
    ("rows", "partition = \"vertical\"\nprofile = \"paper\"\n"),
    ("horizontal", "partition = \"horizontal\"\n"),
];

/// One release by two parties, as cells of a table.
fn two_once(adult: &Adult, form: &str, terms: &str) -> Result<String, Error> {
    let agreement = adult.agreement_with(&format!(
        "{form}model = \"lkc\"\n[lkc]\nacknowledge = \"not differentially private\"\n{terms}"
    ))?;
    let [train, _] = adult.tables(&agreement)?;
    let parts = data::parts(&agreement, &train)?;
    let party = |session: &mut Workspace, table: &Table| {
        let prepared = run::prepare(session, &agreement)?;
        run::together(session, &agreement, table, None, prepared, &|_| {})
    };
    let start = Instant::now();
    let outcome = run_workspaces(
        Setup::default(),
        |session| party(session, &parts[0]),
        |session| party(session, &parts[1]),
    );
    let time = start.elapsed().as_secs_f64();
    let (made, _) = (outcome.p1?, outcome.p2?);
    for phase in &outcome.costs.p1.phases {
        eprintln!("{}: {:.2} s, {} rounds", phase.phase, phase.wall.as_secs_f64(), phase.rounds);
    }
    let total = outcome.costs.p1.total();
    let expected = run::alone(&agreement, &train, None, &mut Randomness::from_os()?, &|_| {})?;
    let csv = |release: &diptych::release::Release| {
        let mut csv = Vec::new();
        write_csv(&release.table, output::Rows::All, &mut csv).map(|rows| (rows, csv))
    };
    let (rows, found) = csv(&made.release).map_err(Error::internal)?;
    let (_, expected) = csv(&expected).map_err(Error::internal)?;
    Ok(format!(
        "{} | {} | {rows} | {} | {time:.1} s | {:.1} s | {:.0} MB",
        made.course.len(),
        made.course.iter().filter(|examined| examined.performed).count(),
        if found == expected { "yes" } else { "NO" },
        total.cpu.as_secs_f64() + outcome.costs.p2.total().cpu.as_secs_f64(),
        (total.bytes_sent + total.bytes_received) as f64 / 1e6,
    ))
}

/// One release, as cells of a table.
fn once(adult: &Adult, terms: &str, hidden: &str) -> Result<String, Error> {
    let terms = format!(
        "partition = \"local\"\nmodel = \"lkc\"\n[lkc]\nacknowledge = \"not differentially private\"\n{terms}"
    );
    let agreement = adult.agreement_with(&terms)?;
    let start = Instant::now();
    let release = run::alone(&agreement, &adult.train, None, &mut Randomness::from_os()?, &|_| {})?;
    let time = start.elapsed().as_secs_f64();
    let mut csv = Vec::new();
    write_csv(&release.table, output::Rows::NotZero, &mut csv).map_err(Error::internal)?;
    let (groups, pairs, alone) = groups(&agreement, &csv, hidden)?;
    let steps = release.notes.iter().filter(|note| note.contains(" was specialized ")).count();
    let mut values = Generalization::new(&release.table.cuts);
    let learnt = rows("release.csv", &csv, &mut values)?;
    let test = values.records(&adult.test).ok_or_else(|| Error::internal("a column is missing"))?;
    let place = agreement.schema.attributes.iter().position(|a| a.name == hidden);
    let without = |rows: &Rows| {
        let mut rows = rows.clone();
        place.into_iter().for_each(|place| rows.columns[place].fill(0));
        rows
    };
    let error = |learnt: &Rows, test: &Rows| {
        100.0 * (1.0 - Tree::learn(learnt).accuracy(test).unwrap_or(0.0))
    };
    Ok(format!(
        "{steps} | {groups} | {pairs:.4} | {alone} | {:.1} | {:.1} | {time:.2} s",
        error(&learnt, &test),
        error(&without(&learnt), &without(&test))
    ))
}

/// Groups by all values that somebody may know, the part of all pairs of people that look alike, and
/// people who stand alone.
fn groups(agreement: &Agreement, csv: &[u8], hidden: &str) -> Result<(usize, f64, u64), Error> {
    let names = agreement.schema.attributes.iter().map(|attribute| attribute.name.as_str());
    let names: Vec<&str> = names.filter(|name| *name != hidden).collect();
    let columns = Columns { quasi: &names, sensitive: None, count: Some("count") };
    let found = read(csv, &columns).map_err(Error::internal)?.groups;
    let people: u64 = found.counts.iter().sum();
    let pairs: f64 = found.counts.iter().map(|count| (*count as f64).powi(2)).sum();
    Ok((found.len(), pairs / (people as f64).powi(2), found.alone()))
}
