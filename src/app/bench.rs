//! `diptych bench`: what things cost on this machine.
//!
//! One file per subject, each a function from [`BenchArgs`] to figures; what two parties do is
//! measured by `pair`. A new subject is one line in `SUBJECTS`. `all` measures every one of them, then
//! how costs grow and compare (`growth`), and writes a page (`report`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};

use crate::Error;
use crate::app::console::Console;
use crate::app::{Membership, write_json};
use crate::net::memory::NetworkModel;
use crate::protocol::pair::Setup;
use crate::role::Role;

use machine::Machine;
use pair::Line;
use report::Section;

mod bits;
mod census;
mod count_table;
mod diffgen;
mod figures;
mod growth;
mod join;
mod machine;
mod mechanism;
mod models;
mod net;
mod noise;
mod ot;
mod paillier;
mod pair;
mod polynomial;
pub(in crate::app) mod process;
mod psi;
mod random_value;
mod release;
mod report;
mod scalar_product;
mod select;
mod yao;

/// A subject: its name, what is measured, and the function that measures it.
type Subject = (&'static str, &'static str, fn(&BenchArgs, &mut Figures) -> Result<(), Error>);

const SUBJECTS: &[Subject] = &[
    ("bits", "conjunctions of bits in shares, by source of transfers", bits::run),
    ("count-table", "joint count tables by transfers and by Paillier", count_table::run),
    ("diffgen", "releases by one party, from CSV to release", diffgen::run),
    ("join", "hidden joins", join::run),
    ("models", "releases without differential privacy, from CSV to release", models::run),
    ("net", "frames in memory and over loopback TLS: throughput and round trips", net::run),
    ("noise", "noise on shared counts: each party's own, and joint", noise::run),
    ("ot", "base transfers and extended oblivious transfers", ot::run),
    (
        "paillier",
        "keys, encryption, decryption, sums; per core, vector and portable",
        paillier::run,
    ),
    ("polynomial", "oblivious polynomial evaluation, by degree and number", polynomial::run),
    ("psi", "private set intersection in three forms, and group operations", psi::run),
    ("random-value", "uniform values below shared bounds, by length", random_value::run),
    ("release", "whole releases by two parties, phase by phase", release::run),
    ("scalar-product", "scalar products by Paillier", scalar_product::run),
    ("select", "choices by two parties: exponential, as in the papers, noisy maximum", select::run),
    ("yao", "garbled circuits: alone, and over loopback TLS", yao::run),
];
/// What else can be measured.
const COLLECTIONS: [(&str, &str); 2] = [
    ("all", "every subject, as a page with tables and plots"),
    ("figures", "the figures of docs/cost.md, with and without vector code"),
];

/// Measure what things cost on this machine
///
/// Without WHAT, lists the subjects.
#[derive(Args, Clone, Debug, Default)]
pub struct BenchArgs {
    /// What to measure; `all` for everything, as a page with plots; `figures` for the tables of
    /// docs/cost.md, with and without vector code
    what: Option<String>,
    /// Network between the parties where they run in memory: lan, wan, or RTT_MS,MBPS
    #[arg(long, value_name = "NET", value_parser = parse_network)]
    net: Option<NetworkModel>,
    /// Size of the input, for subjects that have one (psi: identifiers per party; count-table: records;
    /// select: candidates; noise: counts; release: records)
    #[arg(long, visible_alias = "records", value_name = "N", value_parser = parse_size)]
    size: Option<usize>,
    /// For `release`: how the data is divided [default: vertical]
    #[arg(long, value_enum)]
    partition: Option<Divided>,
    /// For `release`: our choices, or the papers' [default: default]
    #[arg(long, value_enum)]
    profile: Option<Choices>,
    /// For `release`: the only party that has the class, if the data is divided by columns [default:
    /// both have it]
    #[arg(long, value_name = "p1|p2")]
    class_owner: Option<Role>,
    /// For `release`: whether each party learns who is in both tables; with `hidden`, p1 has the class
    /// unless --class-owner says otherwise [default: shown]
    #[arg(long, value_enum)]
    membership: Option<Membership>,
    /// For `release`: how many specializations to make [default: 10]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=64))]
    specializations: Option<u32>,
    /// For `release`: use transfers that do not rely on learning parity with noise
    #[arg(long)]
    no_lpn: bool,
    /// For `release`: match people in this many shards, one at a time; 0 for no shards
    #[arg(long, value_name = "N", default_value_t = 0)]
    shards: u32,
    /// Use small sizes: takes seconds, for a first impression; do not compare the figures
    #[arg(long)]
    quick: bool,
    /// For `all`: an empty directory for the page, its plots and figures.json [default: bench]; for
    /// `figures`: the file [default: docs/figures.json]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Also write the figures as JSON: a list of {name, value, unit, parameters}
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Divided {
    Vertical,
    Horizontal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choices {
    Default,
    Paper,
}

impl BenchArgs {
    /// Two parties in memory, with the network that was asked for.
    fn memory(&self) -> Line {
        let setup = Setup::default().shards(self.shards as usize, 1);
        Line::Memory(self.net.map_or(setup.clone(), |network| setup.network(network)))
    }

    /// The sizes to measure: the one that was asked for, or the usual ones.
    fn sizes(&self, usual: &[usize], quick: &[usize]) -> Vec<usize> {
        match self.size {
            Some(size) => vec![size],
            None if self.quick => quick.to_vec(),
            None => usual.to_vec(),
        }
    }

    fn size_or(&self, usual: usize, quick: usize) -> usize {
        self.size.unwrap_or(if self.quick { quick } else { usual })
    }

    /// What the number of items in bulk is divided by, so that a measurement over a modelled network
    /// does not take too long.
    fn share(&self) -> usize {
        if self.net.is_some() || self.quick { 64 } else { 1 }
    }

    /// The length of Paillier keys where their length is not what is measured.
    fn key_bits(&self) -> usize {
        if self.quick { 2048 } else { 3072 }
    }
}

/// One measured number.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Figure {
    /// What was measured.
    name: String,
    value: f64,
    unit: String,
    /// The parameters it was measured with, and limits and counts that explain the value.
    parameters: String,
}

/// What was measured, in order.
#[derive(Clone, Debug, Default)]
struct Figures(Vec<Figure>);

impl Figures {
    fn add(
        &mut self,
        name: impl Into<String>,
        value: f64,
        unit: &str,
        parameters: impl Into<String>,
    ) {
        let (name, unit, parameters) = (name.into(), unit.to_owned(), parameters.into());
        self.0.push(Figure { name, value, unit, parameters });
    }
}

/// Runs the verb.
///
/// # Errors
/// If the subject is unknown, a run fails, or a file cannot be written.
pub fn run(arguments: &BenchArgs, console: &Console) -> Result<(), Error> {
    console.say(format!("vector instructions: {}", machine::vector_instructions()));
    let figures = match arguments.what.as_deref() {
        None => {
            let subjects = SUBJECTS.iter().map(|(name, purpose, _)| (*name, *purpose));
            for (name, purpose) in subjects.chain(COLLECTIONS) {
                console.result(format!("{name:<16} {purpose}"));
            }
            return Ok(());
        }
        Some("figures") => {
            refuse_choices(arguments)?;
            let out = arguments.out.as_deref().unwrap_or(Path::new(figures::FILE));
            return figures::run(arguments.quick, out, console);
        }
        Some("all") => all(arguments, console)?,
        Some(what) => one(what, arguments, console)?,
    };
    if let Some(path) = &arguments.json {
        write_json(path, &figures.0)?;
    }
    Ok(())
}

fn one(what: &str, arguments: &BenchArgs, console: &Console) -> Result<Figures, Error> {
    let Some((name, _, measure)) = SUBJECTS.iter().find(|(name, ..)| *name == what) else {
        let known: Vec<_> = SUBJECTS.iter().map(|(name, ..)| *name).collect();
        return Err(Error::input(format!("there is no benchmark called {what:?}"))
            .advise(format!("choose one of: {}, all, figures", known.join(", "))));
    };
    if arguments.out.is_some() {
        return Err(Error::input("--out is for `bench all` and `bench figures`")
            .advise("to write the figures of one subject to a file, use --json FILE"));
    }
    measured(name, *measure, arguments, console)
}

/// Measures one subject and prints its figures.
fn measured(
    name: &str,
    measure: impl FnOnce(&BenchArgs, &mut Figures) -> Result<(), Error>,
    arguments: &BenchArgs,
    console: &Console,
) -> Result<Figures, Error> {
    console.say(format!("measuring {name} …"));
    let mut figures = Figures::default();
    measure(arguments, &mut figures)?;
    show(&figures, console);
    Ok(figures)
}

/// Every subject, and how costs grow and compare, as a page.
fn all(arguments: &BenchArgs, console: &Console) -> Result<Figures, Error> {
    refuse_choices(arguments)?;
    let directory = arguments.out.as_deref().unwrap_or(Path::new("bench"));
    report::prepare(directory)?;
    let machine = Machine::of_this_process();
    if let Some(warning) = machine.warning() {
        console.say(format!("warning: {warning}"));
    }
    let mut sections = Vec::new();
    for (name, purpose, measure) in SUBJECTS {
        let figures = measured(name, *measure, arguments, console)?;
        let words = format!("`diptych bench {name}`: {purpose}.");
        sections.push(Section { title: (*name).to_owned(), words, figures, plots: Vec::new() });
    }
    let grown = growth::measure(arguments, &|what| console.say(format!("measuring {what} …")))?;
    grown.iter().for_each(|section| show(&section.figures, console));
    // What a reader looks for first comes first.
    sections.splice(0..0, grown);
    let page = report::write(directory, &machine, arguments.quick, &sections)?;
    console.say(format!("wrote {}", page.display()));
    Ok(Figures(sections.into_iter().flat_map(|section| section.figures.0).collect()))
}

/// # Errors
/// If an option was given that holds for one subject only.
fn refuse_choices(arguments: &BenchArgs) -> Result<(), Error> {
    let BenchArgs { what, quick, out, json, .. } = arguments.clone();
    let plain = BenchArgs { what, quick, out, json, ..BenchArgs::default() };
    if format!("{plain:?}") == format!("{arguments:?}") {
        return Ok(());
    }
    Err(Error::input("`all` and `figures` take --quick, --out and --json alone").advise(
        "the other options are for one subject: `all` and `figures` measure several values of each",
    ))
}

/// So many identifiers, the first of them with this number.
fn names(first: usize, count: usize) -> Vec<String> {
    (first..first + count).map(|number| format!("individual {number:09}")).collect()
}

fn show(figures: &Figures, console: &Console) {
    for Figure { name, value, unit, parameters } in &figures.0 {
        console.result(format!("{name:<60} {:>12} {unit:<10} {parameters}", readable(*value)));
    }
}

/// Four significant digits, thousands apart.
fn readable(value: f64) -> String {
    if value == 0.0 || value.abs() >= 1e15 || !value.is_finite() {
        return format!("{value}");
    }
    let digits_before = value.abs().log10().floor() as i32 + 1;
    let whole = value.fract() == 0.0;
    let decimals = if whole { 0 } else { usize::try_from(4 - digits_before).unwrap_or(0) };
    let text = format!("{value:.decimals$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let mut grouped = String::new();
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index) % 3 == 0 && digit != '-' {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    if fraction.is_empty() { grouped } else { format!("{grouped}.{fraction}") }
}

fn parse_size(text: &str) -> Result<usize, String> {
    const MOST: usize = 10_000_000;
    let size = text.parse().ok().filter(|size| (1..=MOST).contains(size));
    size.ok_or_else(|| format!("a whole number from 1 to {MOST} is expected"))
}

/// A network by its name, or by round trip and bandwidth.
///
/// # Errors
/// What is expected, in words.
pub(in crate::app) fn parse_network(text: &str) -> Result<NetworkModel, String> {
    let wrong = || "expected lan, wan, or RTT_MS,MBPS such as 40,100".to_owned();
    match text {
        "lan" => return Ok(NetworkModel::LAN),
        "wan" => return Ok(NetworkModel::WAN),
        _ => {}
    }
    let (round_trip, bandwidth) = text.split_once(',').ok_or_else(wrong)?;
    let round_trip_ms: f64 = round_trip.trim().parse().map_err(|_| wrong())?;
    let megabits: f64 = bandwidth.trim().parse().map_err(|_| wrong())?;
    if !(0.0..=60_000.0).contains(&round_trip_ms) || !(0.001..=1e6).contains(&megabits) {
        return Err("the round trip is 0 to 60000 ms, the bandwidth 0.001 to 1000000 Mbit/s".into());
    }
    Ok(NetworkModel {
        round_trip: Duration::from_secs_f64(round_trip_ms / 1e3),
        bytes_per_second: megabits * 1e6 / 8.0,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_shown_with_four_digits_and_groups() {
        let shown: Vec<_> =
            [0.0, 0.012_345, 3.2, 19.0, 1234.5, 1_234_567.8].into_iter().map(readable).collect();
        assert_eq!(shown, ["0", "0.01235", "3.200", "19", "1 234", "1 234 568"]);
    }

    #[test]
    fn sizes_that_no_machine_could_hold_are_refused() {
        assert_eq!(parse_size("30162"), Ok(30_162));
        for wrong in ["0", "-1", "10000001", "18446744073709551616", "x"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn networks_are_named_or_given_in_numbers() {
        assert_eq!(parse_network("wan"), Ok(NetworkModel::WAN));
        let own = parse_network("40,100").unwrap();
        assert_eq!(own, NetworkModel::WAN);
        for wrong in ["", "x", "40", "40,", "-1,10", "40,0", "nan,1", "1,inf"] {
            assert!(parse_network(wrong).is_err(), "{wrong}");
        }
    }
}
