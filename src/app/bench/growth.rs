//! How costs grow and compare: the sections of `bench all` that have plots.

use super::mechanism::Measured;
use super::process::{Taken, median};
use super::report::{Plot, Section};
use super::select::{Candidates, Way};
use super::{BenchArgs, Choices, Divided, Figures};
use super::{count_table, psi, readable, release, scalar_product};
use crate::Error;
use crate::app::plot::bars::{Bars, Row};
use crate::app::plot::{Chart, Point, Scale, Series};
use crate::app::speed::Speeds;
use crate::net::memory::NetworkModel;

/// Sizes of everything here.
struct Sizes {
    records: &'static [usize],
    candidates: &'static [usize],
    /// Records that bound the scores of a choice.
    scored: u64,
    specializations: &'static [u32],
    /// Of releases in which something else than records is varied.
    few_records: usize,
    /// Of releases in which something else than specializations is varied.
    usual_specializations: u32,
    compared_candidates: usize,
    /// Runs of a choice, and of a release in which a key is made: the median counts.
    runs: usize,
}

const USUAL: Sizes = Sizes {
    records: &[1_000, 3_000, 10_000, release::RECORDS],
    candidates: &[2, 8, 32, 128, 512, 4_096],
    scored: 30_000,
    specializations: &[1, 2, 4, 6, 8, 10],
    few_records: 1_000,
    usual_specializations: release::SPECIALIZATIONS,
    compared_candidates: 32,
    runs: 3,
};

const QUICK: Sizes = Sizes {
    records: &[50, 100],
    candidates: &[2, 4],
    scored: 1_000,
    specializations: &[1, 2],
    few_records: 50,
    usual_specializations: 2,
    compared_candidates: 4,
    runs: 1,
};

/// A release, as it was asked for, and what it took.
type Largest = Vec<(BenchArgs, release::Measured)>;

/// Measures everything; `begin` is called with what comes next.
///
/// # Errors
/// If a run fails.
pub(super) fn measure(options: &BenchArgs, begin: &dyn Fn(&str)) -> Result<Vec<Section>, Error> {
    let sizes = if options.quick { &QUICK } else { &USUAL };
    begin("cost over records");
    let (records, largest) = over_records(options, sizes)?;
    begin("cost over candidates");
    let choices = Candidates::prepare(options)?;
    let candidates = over_candidates(options, sizes, &choices)?;
    begin("cost over leaves");
    let leaves = over_leaves(options, sizes)?;
    begin("forecast against measured");
    let forecast = forecast(options, &largest)?;
    begin("LAN against WAN");
    let networks = networks(options, sizes, &choices)?;
    begin("default against paper profile");
    let profiles = profiles(options, sizes)?;
    Ok(vec![records, candidates, leaves, by_phase(&largest), forecast, networks, profiles])
}

/// One measured point or bar.
struct Sample {
    series: &'static str,
    at: At,
    /// One for each measure.
    values: Vec<f64>,
    parameters: String,
}

/// Where a sample is drawn.
#[derive(Clone, PartialEq)]
enum At {
    /// Across.
    X(f64),
    /// In the row of bars with this name.
    Row(String),
}

/// What a value of a sample is: name, unit, and part of the plot's file name.
type Measure = (&'static str, &'static str, &'static str);

const CPU: Measure = ("CPU of both parties", "s", "cpu");
const WALL: Measure = ("wall time", "s", "wall");
const MILLIS: Measure = ("wall time", "ms", "wall");
const BYTES: Measure = ("sent by both parties", "MB", "bytes");
const SENT: Measure = ("sent", "MB", "bytes");

fn sample(series: &'static str, at: At, values: &[f64], parameters: String) -> Sample {
    Sample { series, at, values: values.to_vec(), parameters }
}

fn over_records(options: &BenchArgs, sizes: &Sizes) -> Result<(Section, Largest), Error> {
    let key = scalar_product::key(options)?;
    let (mut samples, mut largest) = (Vec::new(), Vec::new());
    for &records in sizes.records {
        let mut add = |series, taken: Taken, megabytes: f64, parameters: String| {
            let parameters = format!("{parameters}; {} s wall", readable(taken.wall));
            let values = [taken.cpu, megabytes];
            samples.push(sample(series, At::X(records as f64), &values, parameters));
        };
        largest.clear();
        for (series, partition) in RELEASES {
            let case = BenchArgs { size: Some(records), ..sizes.case(options, partition) };
            let measured = sizes.measure(&case)?;
            let parameters = format!("h = {}, {} rows", case.h(), measured.rows);
            add(series, measured.taken, measured.megabytes(), parameters);
            largest.push((case, measured));
        }
        let run = psi::intersection(options, psi::Form::Oprf, records)?;
        let parameters = "this many identifiers on each side, half of them common".to_owned();
        add("set intersection", run.taken, run.bytes() / 1e6, parameters);
        let cells = count_table::CELLS;
        let run = count_table::by_transfers(options, records, cells)?;
        let table = format!("{} × {} cells", cells[0], cells[1]);
        add("count table, transfers", run.taken, run.bytes() / 1e6, table.clone());
        let run = count_table::by_paillier(options, &key, records, cells)?;
        let parameters = format!("{table}, key made before");
        add("count table, paillier", run.taken, run.bytes() / 1e6, parameters);
    }
    let words = "Whole releases, and two parts of a vertical one on their own: matching, and the table \
                 of counts in both forms. A horizontal release costs what its splits cost, which are \
                 chosen over a public grid. Where a key is made, the median of three releases by CPU \
                 time is shown (of one with --quick), because the time to find primes varies.";
    let section = section("Cost over records", words, "records", &[CPU, BYTES], &samples);
    Ok((section, largest))
}

fn over_candidates(
    options: &BenchArgs,
    sizes: &Sizes,
    choices: &Candidates,
) -> Result<Section, Error> {
    let mut samples = Vec::new();
    for way in Way::ALL {
        let feasible = |size: &&usize| way.is_feasible(**size, sizes.scored);
        for &size in sizes.candidates.iter().filter(feasible) {
            let measured = sizes.choice(choices, options, way, size)?;
            let values = [measured.millis, measured.bytes as f64 / 1e6];
            samples.push(sample(way.name(), At::X(size as f64), &values, measured.parameters));
        }
    }
    let words = format!(
        "One choice with scores of {} records (median of {} by wall time), without the set-up of \
         connection and circuits. The papers' forms are measured up to the sizes at which they are \
         still quick; the horizontal one has its key already.",
        sizes.scored, sizes.runs
    );
    Ok(section("Cost over candidates", &words, "candidates", &[MILLIS, BYTES], &samples))
}

fn over_leaves(options: &BenchArgs, sizes: &Sizes) -> Result<Section, Error> {
    let mut samples = Vec::new();
    let noises = ["noise, vertical", "noise, horizontal"];
    for ((whole, partition), noise) in RELEASES.into_iter().zip(noises) {
        for &specializations in sizes.specializations {
            let specializations = Some(specializations);
            let case = BenchArgs { specializations, ..sizes.case(options, partition) };
            let measured = release::measure(&case)?;
            let phase = measured.costs.phase("noise");
            let of_noise = (phase.bytes_sent + phase.bytes_received) as f64 / 1e6;
            for (series, megabytes) in [(whole, measured.megabytes()), (noise, of_noise)] {
                let parameters = format!("h = {}, {} records", case.h(), case.records());
                samples.push(sample(series, At::X(measured.rows as f64), &[megabytes], parameters));
            }
        }
    }
    let words = format!(
        "Releases of {} records with up to {} specializations. A row is a leaf with a class.",
        sizes.few_records,
        sizes.specializations.last().unwrap_or(&0)
    );
    Ok(section("Cost over leaves", &words, "rows", &[BYTES], &samples))
}

fn by_phase(releases: &Largest) -> Section {
    let words = "The largest releases of the first section, phase by phase. Wall time is that of P1 and \
                 includes waiting for the other party.";
    let mut whole = section("By phase", words, "", &[], &[]);
    for (case, measured) in releases {
        let parameters = format!(
            "{}, {} records, {} rows",
            case.partition_word(),
            case.records(),
            measured.rows
        );
        let bar = |series, phase: &str, value| {
            sample(series, At::Row(phase.to_owned()), &[value], parameters.clone())
        };
        let (mut sent, mut wall) = (Vec::new(), Vec::new());
        for phase in measured.phases() {
            sent.push(bar("P1", &phase.phase, phase.bytes_sent as f64 / 1e6));
            sent.push(bar("P2", &phase.phase, phase.bytes_received as f64 / 1e6));
            wall.push(bar("P1", &phase.phase, phase.wall.as_secs_f64()));
        }
        let title = format!("Phases of the {} release", case.partition_word());
        for (measure, samples) in [(SENT, sent), (WALL, wall)] {
            whole.add(section(&title, "", "", &[measure], &samples));
        }
    }
    whole
}

/// Bytes and rounds were compared when the releases were measured; times are compared here.
fn forecast(options: &BenchArgs, releases: &Largest) -> Result<Section, Error> {
    let forecasts = releases.iter().flat_map(|(_, measured)| &measured.forecast);
    let speeds = Speeds::measure(forecasts, options.key_bits())?;
    let mut samples = Vec::new();
    for (case, measured) in releases {
        let told = measured.forecast.iter().map(|forecast| speeds.cpu_of(forecast)).sum();
        for (series, cpu) in [("forecast", told), ("measured", measured.taken.cpu)] {
            let parameters = format!("{} records, {} rows", case.records(), measured.rows);
            let row = At::Row(format!("{} release", case.partition_word()));
            samples.push(sample(series, row, &[cpu], parameters));
        }
    }
    let words = "What `diptych run --dry-run` would forecast for the largest releases of the first \
                 section if it knew their trees. The messages of all releases on this page were \
                 compared with their forecasts and are the same; times are computed from a short \
                 calibration and leave out what a party does alone with its records.";
    Ok(section("Forecast against measured", words, "", &[CPU], &samples))
}

fn networks(options: &BenchArgs, sizes: &Sizes, choices: &Candidates) -> Result<Section, Error> {
    let networks = [("LAN", NetworkModel::LAN), ("WAN", NetworkModel::WAN)];
    let (mut whole, mut single) = (Vec::new(), Vec::new());
    for (series, network) in networks {
        // A horizontal release over a slow network takes a minute.
        let releases = if options.quick { &RELEASES[..1] } else { &RELEASES };
        for (name, partition) in releases {
            let case = BenchArgs { net: Some(network), ..sizes.case(options, *partition) };
            let measured = sizes.measure(&case)?;
            let parameters = format!(
                "{} records, {} rows, {:.1} MB, {} rounds",
                case.records(),
                measured.rows,
                measured.megabytes(),
                measured.costs.total().rounds
            );
            let row = At::Row((*name).to_owned());
            whole.push(sample(series, row, &[measured.taken.wall], parameters));
        }
        let options = BenchArgs { net: Some(network), ..options.clone() };
        let candidates = sizes.compared_candidates;
        for way in Way::ALL {
            let measured = sizes.choice(choices, &options, way, candidates)?;
            let parameters = format!("{candidates} candidates, {}", measured.parameters);
            let row = At::Row(way.name().to_owned());
            single.push(sample(series, row, &[measured.millis], parameters));
        }
    }
    let words = "Under models of two networks: LAN has round trips of 0.5 ms and 10 Gbit/s each \
                 way, WAN 40 ms and 100 Mbit/s.";
    let mut both = section("LAN against WAN, releases", words, "", &[WALL], &whole);
    both.add(section("LAN against WAN, single choices", "", "", &[MILLIS], &single));
    both.title = "LAN against WAN".to_owned();
    Ok(both)
}

fn profiles(options: &BenchArgs, sizes: &Sizes) -> Result<Section, Error> {
    let mut samples = Vec::new();
    for (series, profile) in [("default", Choices::Default), ("paper", Choices::Paper)] {
        for (name, partition) in RELEASES {
            let case = BenchArgs { profile: Some(profile), ..sizes.case(options, partition) };
            let measured = sizes.measure(&case)?;
            let values = [measured.taken.wall, measured.taken.cpu, measured.megabytes()];
            let (records, h) = (case.records(), case.h());
            let parameters = format!("{records} records, h = {h}, {} rows", measured.rows);
            samples.push(sample(series, At::Row(name.to_owned()), &values, parameters));
        }
    }
    let words = "Our choices against the papers' (`profile = \"paper\"` in an agreement).";
    Ok(section("Default against paper profile", words, "", &[WALL, CPU, BYTES], &samples))
}

/// Both kinds of release.
const RELEASES: [(&str, Divided); 2] =
    [("vertical release", Divided::Vertical), ("horizontal release", Divided::Horizontal)];

impl Sizes {
    fn case(&self, options: &BenchArgs, partition: Divided) -> BenchArgs {
        BenchArgs {
            size: Some(self.few_records),
            specializations: Some(self.usual_specializations),
            partition: Some(partition),
            quick: options.quick,
            ..BenchArgs::default()
        }
    }

    /// One release. Where a key is made, the time to find its primes varies: the median by CPU time.
    fn measure(&self, case: &BenchArgs) -> Result<release::Measured, Error> {
        let times = if case.is_paper() { self.runs } else { 1 };
        median(times, || release::measure(case), |measured| measured.taken.cpu)
    }

    /// One choice. It is so short that anything else that runs disturbs it: the median by wall time.
    fn choice(
        &self,
        choices: &Candidates,
        options: &BenchArgs,
        way: Way,
        candidates: usize,
    ) -> Result<Measured, Error> {
        let work = || choices.measure(options, way, candidates, self.scored);
        median(self.runs, work, |measured| measured.millis)
    }
}

impl Section {
    /// Plots and figures of another one, below its own.
    fn add(&mut self, other: Self) {
        self.plots.extend(other.plots);
        self.figures.0.extend(other.figures.0);
    }
}

/// A section with a plot for each measure: lines over a number, with logarithmic axes, or bars.
fn section(
    title: &str,
    words: &str,
    over: &str,
    measures: &[Measure],
    samples: &[Sample],
) -> Section {
    let mut figures = Figures::default();
    for Sample { series, at, values, parameters } in samples {
        let at = match at {
            At::X(x) => format!("{x} {over}"),
            At::Row(name) => name.clone(),
        };
        for ((name, unit, _), value) in measures.iter().zip(values) {
            figures.add(format!("{at}, {series}: {name}"), *value, unit, parameters);
        }
    }
    let plot = |(index, (name, unit, word)): (usize, &Measure)| {
        let words = title.split(|letter: char| !letter.is_alphanumeric());
        let words: Vec<String> =
            words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
        let label = format!("{name}, {unit}");
        Plot {
            file: format!("{}-{word}.svg", words.join("-")),
            alt: format!("{title}: {label}"),
            svg: draw(title, label, over, samples, index),
        }
    };
    let plots = measures.iter().enumerate().map(plot).collect();
    Section { title: title.to_owned(), words: words.to_owned(), plots, figures }
}

/// The plot of one of the values of each sample.
fn draw(title: &str, label: String, over: &str, samples: &[Sample], index: usize) -> String {
    let title = title.to_owned();
    let (mut lines, mut rows): (Vec<Series>, Vec<Row>) = Default::default();
    for Sample { series, at, values, .. } in samples {
        let place = lines.iter().position(|line| line.name == *series).unwrap_or_else(|| {
            lines.push(Series { name: (*series).to_owned(), points: Vec::new() });
            lines.len() - 1
        });
        match at {
            At::X(x) => {
                lines[place].points.push(Point { x: *x, y: values[index], deviation: 0.0 });
            }
            At::Row(name) => match rows.iter_mut().find(|row| row.name == *name) {
                Some(row) => row.values.push(values[index]),
                None => rows.push(Row { name: name.clone(), values: vec![values[index]] }),
            },
        }
    }
    if !rows.is_empty() {
        let series = lines.into_iter().map(|line| line.name).collect();
        return Bars { title, label, series, rows }.svg();
    }
    // Rows of a release are random, and more specializations may give fewer.
    lines.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
    let (x_scale, y_scale) = (Scale::Logarithmic, Scale::Logarithmic);
    let (x_label, levels) = (over.to_owned(), Vec::new());
    Chart { title, x_label, y_label: label, x_scale, y_scale, series: lines, levels }.svg()
}
