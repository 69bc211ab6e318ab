//! `diptych bench`: what things cost on this machine.
//!
//! One file per subject, each a function from [`Options`] to figures. Adding a
//! subject means adding a line to `SUBJECTS`.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::app::console::Console;
use crate::app::failure::Failure;
use crate::net::memory::NetworkModel;
use crate::protocol::pair::Setup;

pub mod census;
pub mod diffgen;
mod mechanism;
pub mod net;
pub mod noise;
pub mod ot;
pub mod paillier;
pub mod polynomial;
pub(in crate::app) mod process;
pub mod psi;
pub mod random_value;
pub mod release;
pub mod scalar_product;
pub mod select;
pub mod yao;

/// A subject: its name, what is measured, and the function that measures it.
type Subject = (&'static str, &'static str, fn(&Options) -> Result<Vec<Figure>, Failure>);

const SUBJECTS: &[Subject] = &[
    ("diffgen", "releases by one party, from CSV to release: growth, memory", diffgen::run),
    ("net", "frames in memory and over loopback TLS: throughput and round trips", net::run),
    ("noise", "noise on shared counts: each party's own, and joint", noise::run),
    ("psi", "private set intersection: group operations, whole runs, memory", psi::run),
    ("paillier", "keys, encryption, decryption, sums; per core, on both paths", paillier::run),
    ("polynomial", "oblivious polynomial evaluation, by degree and number", polynomial::run),
    ("random-value", "uniform values below shared bounds, by length", random_value::run),
    (
        "release",
        "whole releases by two parties, phase by phase (--partition, --profile)",
        release::run,
    ),
    (
        "scalar-product",
        "scalar products and joint count tables: growth, memory, the papers' cost",
        scalar_product::run,
    ),
    ("ot", "base transfers and extended oblivious transfers", ot::run),
    ("select", "choices by two parties: exponential, as in the papers, noisy maximum", select::run),
    ("yao", "garbled circuits: alone, and between two processes over loopback TLS", yao::run),
];

/// Measure what things cost on this machine
///
/// Without WHAT, lists the subjects.
#[derive(Args, Debug)]
pub struct BenchArgs {
    /// What to measure; `all` for everything
    what: Option<String>,
    /// Network between the parties where they run in memory: lan, wan, or RTT_MS,MBPS
    #[arg(long, value_name = "NET", value_parser = parse_network)]
    net: Option<NetworkModel>,
    /// Size of the input, for subjects that have one (psi: identifiers per side; scalar-product: records;
    /// select: candidates; noise: counts)
    #[arg(long, visible_alias = "records", value_name = "N")]
    size: Option<usize>,
    /// For `release`: how the data is divided
    #[arg(long, value_enum, default_value_t = Divided::Vertical)]
    partition: Divided,
    /// For `release`: our choices, or the papers'
    #[arg(long, value_enum, default_value_t = Choices::Default)]
    profile: Choices,
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
}

impl Options {
    /// How two parties in memory meet under these options.
    pub fn setup(&self) -> Setup {
        match self.network {
            Some(network) => Setup::default().network(network),
            None => Setup::default(),
        }
    }
}

/// One measured number.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Figure {
    /// What was measured.
    pub name: String,
    /// How much it was.
    pub value: f64,
    /// Of what.
    pub unit: &'static str,
    /// Under which parameters; limits and counts that explain the value stand here too.
    pub parameters: String,
}

impl Figure {
    /// A figure.
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
/// If the subject is unknown, a run fails, or the JSON file cannot be written.
pub fn run(arguments: &BenchArgs, console: &Console) -> Result<(), Failure> {
    let Some(what) = arguments.what.as_deref() else {
        for (name, purpose, _) in SUBJECTS {
            console.result(format!("{name:<16} {purpose}"));
        }
        return Ok(());
    };
    let chosen: Vec<&Subject> =
        SUBJECTS.iter().filter(|(name, ..)| what == "all" || *name == what).collect();
    if chosen.is_empty() {
        let known: Vec<_> = SUBJECTS.iter().map(|(name, ..)| *name).collect();
        return Err(Failure::wrong_input(format!("there is no benchmark called {what:?}"))
            .advise(format!("choose one of: {}, all", known.join(", "))));
    }
    let options = Options {
        network: arguments.net,
        size: arguments.size,
        horizontal: arguments.partition == Divided::Horizontal,
        paper: arguments.profile == Choices::Paper,
    };
    let mut figures = Vec::new();
    for (name, _, measure) in chosen {
        console.say(format!("measuring {name} …"));
        let measured = measure(&options)?;
        for figure in &measured {
            console.result(format!(
                "{:<44} {:>14} {:<10} {}",
                figure.name,
                readable(figure.value),
                figure.unit,
                figure.parameters
            ));
        }
        figures.extend(measured);
    }
    if let Some(path) = &arguments.json {
        let text = serde_json::to_string_pretty(&figures).map_err(Failure::failed)?;
        std::fs::write(path, text + "\n").map_err(|error| Failure::file(path, "write", &error))?;
    }
    Ok(())
}

/// Four significant digits, thousands apart.
fn readable(value: f64) -> String {
    if value == 0.0 || value.abs() >= 1e15 || !value.is_finite() {
        return format!("{value}");
    }
    let digits_before = value.abs().log10().floor() as i32 + 1;
    let decimals = usize::try_from(4 - digits_before).unwrap_or(0);
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

fn parse_network(text: &str) -> Result<NetworkModel, String> {
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
            [0.0, 0.012_345, 3.2, 1234.5, 1_234_567.8].into_iter().map(readable).collect();
        assert_eq!(shown, ["0", "0.01235", "3.200", "1 234", "1 234 568"]);
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
