//! `diptych model presence`: how surely a joined table tells that somebody is at the other site.

use std::collections::BTreeSet;
use std::path::PathBuf;

use clap::{Args, Subcommand};
use serde_json::json;

use super::part;
use crate::Error;
use crate::app::console::Console;
use crate::app::plot::{Chart, Level, Point, Scale, Series};
use crate::app::{write, write_json};
use crate::error::Kind;
use crate::release::presence::Delta;
use crate::release::presence::check::{self, check};
use crate::release::presence::simulate::{
    Column, MOST_USERS, MOST_VALUE, Population, Setting, Simulated, simulate_all,
};
use crate::table::{Domain, regular_file};

#[derive(Subcommand, Debug)]
pub(super) enum Presence {
    Check(CheckArgs),
    Simulate(SimulateArgs),
}

/// Check how surely a table reveals which of a site's people are in it
///
/// For every combination of the site's columns in the release, at most a fraction δ of the site's
/// people who have it may be in the release. Each site runs this on its own data. For tables with
/// exact counts, joined from two sites or not; an interval stands for the numbers in it and, with
/// --agreement, a value of a taxonomy for those below it. Exit status 0 if this holds, 1 if not.
#[derive(Args, Debug)]
#[command(
    after_help = "Example: diptych model presence check --release release.csv --site own.csv \
                        --columns age,job --delta 0.75 --count count"
)]
pub(super) struct CheckArgs {
    /// The released table: CSV with a header line
    #[arg(long, value_name = "FILE")]
    release: PathBuf,
    /// The site's own table, with all its people: CSV with a header line
    #[arg(long, value_name = "FILE")]
    site: PathBuf,
    /// The columns of the release that the site holds
    #[arg(long, value_name = "NAMES", value_delimiter = ',', required = true)]
    columns: Vec<String>,
    /// The largest fraction of people with the same values who may be in the release
    #[arg(long, value_name = "PART")]
    delta: String,
    /// The column of the release that says how many people a row stands for [default: each for one]
    #[arg(long, value_name = "NAME")]
    count: Option<String>,
    /// An agreement with the taxonomies of columns
    #[arg(long, value_name = "FILE")]
    agreement: Option<PathBuf>,
}

/// Simulate how useful tables that hide presence would be, for several δ
///
/// Runs the algorithm of the site-presence paper, Mondrian with dummy users, on one table that
/// serves as a public population: some of its people are at both sites, some at one. Prints the
/// sum of the squared sizes of groups (the smaller, the finer the table), for every δ, over
/// several random draws. Nothing is released, and no two parties should run the paper's protocol:
/// each would learn, for every person of the population, in which group the other put them.
#[derive(Args, Debug)]
#[command(after_help = "Example: diptych model presence simulate --data population.csv \
                        --a age,education --b hours --delta 1,0.9,0.75,0.6 --plot presence.svg")]
pub(super) struct SimulateArgs {
    /// The population: CSV with a header line
    #[arg(long, value_name = "FILE")]
    data: PathBuf,
    /// Columns of site A: whole numbers, or words in the order of the alphabet
    #[arg(long, value_name = "NAMES", value_delimiter = ',', required = true)]
    a: Vec<String>,
    /// Columns of site B
    #[arg(long, value_name = "NAMES", value_delimiter = ',', required = true)]
    b: Vec<String>,
    /// A column of B that δ is to hold for as well, value by value
    #[arg(long, value_name = "NAME")]
    sensitive: Option<String>,
    /// People at both sites
    #[arg(long, value_name = "NUMBER", default_value_t = 1_200)]
    common: u64,
    /// People at A alone, and as many at B alone
    #[arg(long, value_name = "NUMBER", default_value_t = 1_200)]
    only: u64,
    /// The smallest number of common people in a group
    #[arg(long, value_name = "NUMBER", default_value_t = 2)]
    k: u64,
    /// The largest fractions of a site's people in a group who may be common
    #[arg(
        long,
        value_name = "PARTS",
        value_delimiter = ',',
        default_value = "1,0.95,0.75,0.65,0.6,0.55"
    )]
    delta: Vec<String>,
    /// The weight of distances against dummy users, from 0 to 1
    #[arg(long, value_name = "NUMBER", default_value_t = 0.5)]
    alpha: f64,
    /// Try further columns where the widest fails
    #[arg(long)]
    retry: bool,
    /// How many random draws of people
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    runs: u64,
    /// The same seed gives the same draws
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// Write a plot (SVG)
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
    /// Write all results as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

pub(super) fn run(what: &Presence, console: &Console) -> Result<(), Error> {
    match what {
        Presence::Check(arguments) => look(arguments, console),
        Presence::Simulate(arguments) => play(arguments, console),
    }
}

fn delta(text: &str) -> Result<Delta, Error> {
    let (above, below) = part(text, "--delta")?;
    Ok(Delta { above, below })
}

fn look(arguments: &CheckArgs, console: &Console) -> Result<(), Error> {
    let agreement = arguments.agreement.as_deref().map(crate::app::agreement::load).transpose()?;
    let column = |name: &String| {
        let of = agreement.as_ref().map_or(&[][..], |agreement| &agreement.schema.attributes);
        let taxonomy = of.iter().find(|attribute| attribute.name == *name);
        let taxonomy = taxonomy.and_then(|attribute| match &attribute.domain {
            Domain::Categorical(taxonomy) => Some(taxonomy),
            _ => None,
        });
        (name.clone(), taxonomy)
    };
    let named: Vec<_> = arguments.columns.iter().map(column).collect();
    let columns: Vec<check::Column<'_>> =
        named.iter().map(|(name, taxonomy)| check::Column { name, taxonomy: *taxonomy }).collect();
    let (release, site) = (regular_file(&arguments.release)?, regular_file(&arguments.site)?);
    let seen = check(release, arguments.count.as_deref(), site, &columns, delta(&arguments.delta)?)
        .map_err(Error::input)?;
    let (common, holders) = seen.largest;
    console.result(format!("combinations            {}", seen.combinations));
    console.result(format!("largest part            {common} of {holders}"));
    console.result(format!("people certainly in it  {}", seen.certain));
    if let Some(offender) = seen.offender {
        console.result(format!("first that tells more   {offender}"));
        return Err(Error::internal(format!(
            "{} reveals more than δ allows",
            arguments.release.display()
        ))
        .advise("make values coarser, or leave columns out"));
    }
    console.say(
        "the table is as required for presence at this site; it may still reveal absence, and this \
         is not differential privacy",
    );
    Ok(())
}

/// The result for one δ.
struct Row {
    delta: f64,
    text: String,
    found: Result<Vec<Simulated>, Error>,
}

fn play(arguments: &SimulateArgs, console: &Console) -> Result<(), Error> {
    if !(0.0..=1.0).contains(&arguments.alpha) {
        return Err(Error::input("--alpha is not between 0 and 1"));
    }
    if arguments.runs == 0 || arguments.runs > 10_000 {
        return Err(Error::input("--runs is not between 1 and 10000"));
    }
    let population = population(arguments)?;
    let mut rows = Vec::new();
    for text in &arguments.delta {
        let delta = delta(text)?;
        let SimulateArgs { k, alpha, retry, .. } = *arguments;
        let setting = Setting { k, delta, alpha, retry };
        let counts = [arguments.common, arguments.only, arguments.only];
        let found = simulate_all(&population, counts, arguments.seed, arguments.runs, &setting);
        let found = match found {
            Err(error) if error.kind() != Kind::Unmet => return Err(error),
            found => found,
        };
        let delta = delta.above as f64 / delta.below as f64;
        rows.push(Row { delta, text: text.clone(), found });
    }
    for line in lines(&rows) {
        console.result(line);
    }
    console.say("exact counts and one release: this is not differential privacy");
    if let Some(path) = &arguments.plot {
        write(path, &chart(arguments, &rows).svg())?;
    }
    if let Some(path) = &arguments.json {
        write_json(path, &as_json(&rows))?;
    }
    Ok(())
}

/// Mean and standard deviation.
fn summary(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let squares: f64 = numbers.iter().map(|number| (number - mean).powi(2)).sum();
    (mean, (squares / n).sqrt())
}

fn discernibility(found: &[Simulated]) -> Vec<f64> {
    found.iter().map(|one| one.discernibility() as f64).collect()
}

fn lines(rows: &[Row]) -> Vec<String> {
    let mut lines = vec![format!(
        "{:<8} {:>16} {:>12} {:>10} {:>10}",
        "δ", "discernibility", "±", "groups", "refused"
    )];
    for row in rows {
        lines.push(match &row.found {
            Err(error) => format!("{:<8} {error}", row.text),
            Ok(found) => {
                let (mean, deviation) = summary(&discernibility(found));
                let of = |count: fn(&Simulated) -> f64| {
                    summary(&found.iter().map(count).collect::<Vec<f64>>()).0
                };
                let (groups, refused) = (of(|o| o.groups.len() as f64), of(|o| o.tested[1] as f64));
                format!(
                    "{:<8} {mean:>16.0} {deviation:>12.0} {groups:>10.1} {refused:>10.1}",
                    row.text
                )
            }
        });
    }
    lines
}

fn chart(arguments: &SimulateArgs, rows: &[Row]) -> Chart {
    let point = |row: &Row| {
        let found = row.found.as_ref().ok()?;
        let (y, deviation) = summary(&discernibility(found));
        Some(Point { x: row.delta, y, deviation })
    };
    let mut points: Vec<Point> = rows.iter().filter_map(point).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let (common, only) = (arguments.common, arguments.only);
    Chart {
        title: format!("Groups of {common} common people, {only} at one site only"),
        x_label: "δ: the part of a site's people in a group who may be common".to_owned(),
        y_label: "sum of squared sizes of groups".to_owned(),
        x_scale: Scale::Linear,
        y_scale: Scale::Logarithmic,
        series: vec![Series {
            name: format!("k = {}, α = {}", arguments.k, arguments.alpha),
            points,
        }],
        levels: vec![Level { name: "one group".to_owned(), y: (common as f64).powi(2) }],
    }
}

fn as_json(rows: &[Row]) -> serde_json::Value {
    let row = |row: &Row| match &row.found {
        Ok(found) => json!({
            "delta": row.text,
            "discernibility": found.iter().map(|o| o.discernibility().to_string()).collect::<Vec<_>>(),
            "groups": found.iter().map(|one| one.groups.len()).collect::<Vec<_>>(),
            "tested": found.iter().map(|one| one.tested).collect::<Vec<_>>(),
        }),
        Err(error) => json!({ "delta": row.text, "refused": error.to_string() }),
    };
    let rows: Vec<_> = rows.iter().map(row).collect();
    json!({ "format": "diptych presence v1", "rows": rows })
}

/// The columns of a table as numbers.
fn population(arguments: &SimulateArgs) -> Result<Population, Error> {
    let wrong = |problem: String| Error::input(format!("{}: {problem}", arguments.data.display()));
    let mut reader = csv::ReaderBuilder::new().from_reader(regular_file(&arguments.data)?);
    let header = reader.headers().map_err(|error| wrong(error.to_string()))?.clone();
    let names = arguments.a.iter().chain(&arguments.b).chain(&arguments.sensitive);
    let place = |name: &String| {
        let found = header.iter().position(|known| known.trim() == name);
        found.ok_or_else(|| wrong(format!("there is no column `{name}`")))
    };
    let places = names.map(place).collect::<Result<Vec<usize>, Error>>()?;
    let mut cells: Vec<Vec<String>> = vec![Vec::new(); places.len()];
    let (mut record, mut users) = (csv::StringRecord::new(), 0);
    while reader.read_record(&mut record).map_err(|error| wrong(error.to_string()))? {
        users += 1;
        if users > MOST_USERS {
            return Err(wrong(format!("more than {MOST_USERS} people")));
        }
        for (cells, place) in cells.iter_mut().zip(&places) {
            cells.push(record.get(*place).unwrap_or_default().trim().to_owned());
        }
    }
    let sensitive = arguments.sensitive.as_ref().and_then(|_| cells.pop());
    let sensitive = sensitive.map(|cells| ranks(&cells).into_iter().map(|r| r as u32).collect());
    let columns = cells.iter().enumerate().map(|(number, cells)| {
        let whole: Option<Vec<i64>> = cells.iter().map(|cell| cell.parse().ok()).collect();
        let values = whole.unwrap_or_else(|| ranks(cells));
        if values.iter().any(|value| !(-MOST_VALUE..=MOST_VALUE).contains(value)) {
            return Err(wrong(format!("a number in column {} is beyond 2^31", number + 1)));
        }
        Ok(Column { site: usize::from(number >= arguments.a.len()), values })
    });
    Ok(Population { users, columns: columns.collect::<Result<_, _>>()?, sensitive })
}

/// Places of words among all that occur, in the order of the alphabet.
fn ranks(cells: &[String]) -> Vec<i64> {
    let known: Vec<&String> = cells.iter().collect::<BTreeSet<_>>().into_iter().collect();
    let rank = |cell: &String| known.binary_search(&cell).unwrap_or(0) as i64;
    cells.iter().map(rank).collect()
}
