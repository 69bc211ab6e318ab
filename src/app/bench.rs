//! `diptych bench`: what things cost on this machine.
//!
//! One file per subject, each a function from [`Options`] to figures. Adding a
//! subject means adding a line to `SUBJECTS`. `all` measures every one of them, then how costs grow
//! and compare (`growth`), and makes a page of it (`report`).

use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::Error;
use crate::app::console::Console;
use crate::net::memory::NetworkModel;
use crate::protocol::pair::Setup;
use crate::role::Role;

use machine::Machine;
use report::{Place, Section};

pub mod bits;
pub mod census;
pub mod count_table;
pub mod diffgen;
mod figures;
mod growth;
pub mod join;
mod machine;
mod mechanism;
pub mod models;
pub mod net;
pub mod noise;
pub mod ot;
pub mod paillier;
pub mod polynomial;
pub(in crate::app) mod process;
pub mod psi;
pub mod random_value;
pub mod release;
mod report;
pub mod scalar_product;
pub mod select;
pub mod yao;

/// A subject: its name, what is measured, and the function that measures it.
type Subject = (&'static str, &'static str, fn(&Options) -> Result<Vec<Figure>, Error>);

const SUBJECTS: &[Subject] = &[
    ("bits", "conjunctions of bits in shares, by source of transfers", bits::run),
    (
        "count-table",
        "joint count tables by transfers and by Paillier: growth, memory, the papers' cost",
        count_table::run,
    ),
    ("diffgen", "releases by one party, from CSV to release: growth, memory", diffgen::run),
    ("join", "joins that nobody sees: whole runs, memory", join::run),
    ("models", "releases that hide people in groups, from CSV to release", models::run),
    ("net", "frames in memory and over loopback TLS: throughput and round trips", net::run),
    ("noise", "noise on shared counts: each party's own, and joint", noise::run),
    ("ot", "base transfers and extended oblivious transfers", ot::run),
    ("paillier", "keys, encryption, decryption, sums; per core, on both paths", paillier::run),
    ("polynomial", "oblivious polynomial evaluation, by degree and number", polynomial::run),
    (
        "psi",
        "private set intersection in three forms: whole runs, memory, group operations",
        psi::run,
    ),
    ("random-value", "uniform values below shared bounds, by length", random_value::run),
    (
        "release",
        "whole releases by two parties, phase by phase (--partition, --profile, --class-owner, --membership)",
        release::run,
    ),
    ("scalar-product", "scalar products by Paillier", scalar_product::run),
    ("select", "choices by two parties: exponential, as in the papers, noisy maximum", select::run),
    ("yao", "garbled circuits: alone, and between two processes over loopback TLS", yao::run),
];

/// Measure what things cost on this machine
///
/// Without WHAT, lists the subjects.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// What to measure; `all` for everything, as a page with plots; `figures` for the tables of the
    /// project's pages, with and without vector code
    what: Option<String>,
    /// Network between the parties where they run in memory: lan, wan, or RTT_MS,MBPS
    #[arg(long, value_name = "NET", value_parser = parse_network)]
    net: Option<NetworkModel>,
    /// Size of the input, for subjects that have one (psi: identifiers per side; count-table: records;
    /// select: candidates; noise: counts; release: records)
    #[arg(long, visible_alias = "records", value_name = "N", value_parser = parse_size)]
    size: Option<usize>,
    /// For `release`: how the data is divided [default: vertical]
    #[arg(long, value_enum)]
    partition: Option<Divided>,
    /// For `release`: our choices, or the papers' [default: default]
    #[arg(long, value_enum)]
    profile: Option<Choices>,
    /// For `release`: the party that alone has the class, of different columns [default: both have it]
    #[arg(long, value_name = "p1|p2")]
    class_owner: Option<Role>,
    /// For `release`: whether each party learns whom both have; hidden has the class at p1 unless
    /// --class-owner says otherwise [default: shown]
    #[arg(long, value_enum)]
    membership: Option<MembershipArg>,
    /// For `release`: with transfers that do not rest on learning parity with noise
    #[arg(long)]
    no_lpn: bool,
    /// For `release`: people in so many shards, one in work at a time, 0 for none
    #[arg(long, value_name = "N", default_value_t = 0)]
    shards: u32,
    /// Small sizes: a first look in seconds, not figures to compare
    #[arg(long)]
    quick: bool,
    /// For `all`: directory of the page, its plots and figures.json [default: bench]; for `figures`:
    /// the file [default: docs/figures.json]
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
enum MembershipArg {
    Shown,
    Hidden,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Choices {
    Default,
    Paper,
}

/// What a subject may need to know.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The network model, if one was asked for.
    pub network: Option<NetworkModel>,
    /// The size of the input, if one was asked for.
    pub size: Option<usize>,
    /// Whether a release is of different records, not of different columns.
    pub horizontal: bool,
    /// Whether a release follows the papers' choices.
    pub paper: bool,
    /// Who alone has the class of a release, where one party has.
    pub class_owner: Option<Role>,
    /// Whether nobody learns whom both parties of a release have.
    pub hidden: bool,
    /// Whether transfers of a release do without LPN.
    pub no_lpn: bool,
    /// Into how many shards the people of a release are dealt; 0 is none.
    pub shards: u32,
    /// Whether sizes are to be small.
    pub quick: bool,
}

impl Options {
    /// How two parties in memory meet under these options.
    pub fn setup(&self) -> Setup {
        match self.network {
            Some(network) => Setup::default().network(network),
            None => Setup::default(),
        }
    }

    /// The sizes to measure: the one that was asked for, or those that are usual.
    fn sizes(&self, usual: &[usize], quick: &[usize]) -> Vec<usize> {
        match self.size {
            Some(size) => vec![size],
            None if self.quick => quick.to_vec(),
            None => usual.to_vec(),
        }
    }

    /// The length of Paillier keys where their length is not what is measured.
    fn key_bits(&self) -> usize {
        if self.quick { 2048 } else { 3072 }
    }

    fn size_or(&self, usual: usize, quick: usize) -> usize {
        self.size.unwrap_or(if self.quick { quick } else { usual })
    }
}

/// One measured number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// How much it was.
    pub value: f64,
    /// The unit of the value.
    pub unit: &'static str,
    /// Under which parameters; includes limits and counts that explain the value.
    pub parameters: String,
}

impl Figure {
    /// The figure with these four parts.
    pub fn new(
        name: impl Into<String>,
        value: f64,
        unit: &'static str,
        parameters: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), value, unit, parameters: parameters.into() }
    }
}

/// Runs the verb.
///
/// # Errors
/// If the subject is unknown, a run fails, or a file cannot be written.
pub fn run(arguments: &BenchArgs, console: &Console) -> Result<(), Error> {
    console.say(format!("vector instructions: {}", machine::vector_instructions()));
    let Some(what) = arguments.what.as_deref() else {
        for (name, purpose, _) in SUBJECTS {
            console.result(format!("{name:<16} {purpose}"));
        }
        console.result(format!("{:<16} all of them, as a page with tables and plots", "all"));
        console.result(format!(
            "{:<16} what docs/cost.md tells, with and without vector code",
            "figures"
        ));
        return Ok(());
    };
    if what == "figures" {
        refuse_choices(arguments)?;
        let out = arguments.out.as_deref().unwrap_or(Path::new(figures::FILE));
        return figures::run(arguments.quick, out, console);
    }
    let figures =
        if what == "all" { all(arguments, console)? } else { one(what, arguments, console)? };
    if let Some(path) = &arguments.json {
        let text = as_json(&figures)?;
        std::fs::write(path, text).map_err(|error| Error::file(path, "write", &error))?;
    }
    Ok(())
}

fn one(what: &str, arguments: &BenchArgs, console: &Console) -> Result<Vec<Figure>, Error> {
    let Some((name, _, measure)) = SUBJECTS.iter().find(|(name, ..)| *name == what) else {
        let known: Vec<_> = SUBJECTS.iter().map(|(name, ..)| *name).collect();
        return Err(Error::input(format!("there is no benchmark called {what:?}"))
            .advise(format!("choose one of: {}, all", known.join(", "))));
    };
    if arguments.out.is_some() {
        return Err(Error::input("--out is where `bench all` writes its page")
            .advise("one subject's figures go to a file with --json FILE"));
    }
    console.say(format!("measuring {name} …"));
    let figures = measure(&Options {
        network: arguments.net,
        size: arguments.size,
        horizontal: arguments.partition == Some(Divided::Horizontal),
        paper: arguments.profile == Some(Choices::Paper),
        class_owner: arguments.class_owner,
        hidden: arguments.membership == Some(MembershipArg::Hidden),
        no_lpn: arguments.no_lpn,
        shards: arguments.shards,
        quick: arguments.quick,
    })?;
    show(&figures, console);
    Ok(figures)
}

/// Every subject, and how costs grow and compare, as a page.
fn all(arguments: &BenchArgs, console: &Console) -> Result<Vec<Figure>, Error> {
    refuse_choices(arguments)?;
    let place = Place::prepare(arguments.out.as_deref().unwrap_or(Path::new("bench")))?;
    let machine = Machine::of_this_process();
    if let Some(warning) = machine.warning() {
        console.say(format!("warning: {warning}"));
    }
    let options = Options { quick: arguments.quick, ..Options::default() };
    let mut sections = Vec::new();
    for (name, purpose, measure) in SUBJECTS {
        console.say(format!("measuring {name} …"));
        let section = Section::of_subject(name, purpose, measure(&options)?);
        show(&section.figures, console);
        sections.push(section);
    }
    let grown = growth::measure(&options, &|what| console.say(format!("measuring {what} …")))?;
    grown.iter().for_each(|section| show(&section.figures, console));
    // What a reader looks for first comes first.
    sections.splice(0..0, grown);
    let page = place.write(&machine, arguments.quick, &sections)?;
    console.say(format!("wrote {}", page.display()));
    Ok(sections.into_iter().flat_map(|section| section.figures).collect())
}

/// # Errors
/// If something is chosen that several subjects at once do not have.
fn refuse_choices(arguments: &BenchArgs) -> Result<(), Error> {
    let BenchArgs { net, size, partition, profile, class_owner, membership, no_lpn, .. } =
        arguments;
    let divided = partition.is_some() || class_owner.is_some() || membership.is_some();
    if net.is_some() || size.is_some() || profile.is_some() || divided || *no_lpn {
        let message = "--net, --size, --partition, --profile, --class-owner, --membership and --no-lpn \
                       are for one subject";
        return Err(Error::input(message).advise(
            "`bench all` and `bench figures` measure several of each; `--quick` makes them small",
        ));
    }
    Ok(())
}

fn show(figures: &[Figure], console: &Console) {
    for figure in figures {
        console.result(format!(
            "{:<60} {:>12} {:<10} {}",
            figure.name,
            readable(figure.value),
            figure.unit,
            figure.parameters
        ));
    }
}

fn as_json(figures: &[Figure]) -> Result<String, Error> {
    serde_json::to_string_pretty(figures).map(|text| text + "\n").map_err(Error::internal)
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
