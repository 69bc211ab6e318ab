//! How costs grow and compare: the sections of `bench all` that have plots.

use super::process::{Taken, median};
use super::report::{Plot, Section};
use super::select::{Choices, Way};
use super::{Figure, Options, count_table, mechanism, psi, readable, release, scalar_product};
use crate::Error;
use crate::app::plot::bars::{Bars, Row};
use crate::app::plot::{Chart, Point, Scale, Series};
use crate::app::speed::Speeds;
use crate::net::memory::NetworkModel;
use release::Case;

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
    /// Whether to wait for a horizontal release over a slow network: a minute.
    patient: bool,
    /// Runs of a choice, and of a release in which a key is made: the median counts.
    runs: usize,
    paillier_bits: usize,
}

const USUAL: Sizes = Sizes {
    records: &[1_000, 3_000, 10_000, release::RECORDS],
    candidates: &[2, 8, 32, 128, 512, 4_096],
    scored: 30_000,
    specializations: &[1, 2, 4, 6, 8, 10],
    few_records: 1_000,
    usual_specializations: release::SPECIALIZATIONS,
    compared_candidates: 32,
    patient: true,
    runs: 3,
    paillier_bits: 3072,
};

const QUICK: Sizes = Sizes {
    records: &[50, 100],
    candidates: &[2, 4],
    scored: 1_000,
    specializations: &[1, 2],
    few_records: 50,
    usual_specializations: 2,
    compared_candidates: 4,
    patient: false,
    runs: 1,
    paillier_bits: 2048,
};

/// Measures everything; `begin` is called with what comes next.
///
/// # Errors
/// If a run fails.
pub(super) fn measure(options: &Options, begin: &dyn Fn(&str)) -> Result<Vec<Section>, Error> {
    let sizes = if options.quick { &QUICK } else { &USUAL };
    begin("cost over records");
    let (records, largest) = over_records(options, sizes)?;
    begin("cost over candidates");
    let choices = Choices::prepare(options)?;
    let candidates = over_candidates(options, sizes, &choices)?;
    begin("cost over leaves");
    let leaves = over_leaves(sizes)?;
    begin("forecast against measured");
    let forecast = forecast(sizes, &largest)?;
    begin("LAN against WAN");
    let networks = networks(options, sizes, &choices)?;
    begin("default against paper profile");
    let profiles = profiles(sizes)?;
    Ok(vec![records, candidates, leaves, by_phase(&largest), forecast, networks, profiles])
}

/// One measured point or bar.
struct Sample {
    series: &'static str,
    /// Across, where that is a number.
    x: f64,
    /// The same in words, or the name of a row of bars.
    at: String,
    /// One for each measure.
    values: Vec<f64>,
    parameters: String,
}

/// What a value of a sample is.
struct Measure {
    name: &'static str,
    unit: &'static str,
    /// Part of the plot's file name.
    word: &'static str,
}

const CPU: Measure = Measure { name: "CPU of both parties", unit: "s", word: "cpu" };
const WALL: Measure = Measure { name: "wall time", unit: "s", word: "wall" };
const MILLIS: Measure = Measure { name: "wall time", unit: "ms", word: "wall" };
const BYTES: Measure = Measure { name: "sent by both parties", unit: "MB", word: "bytes" };
const SENT: Measure = Measure { name: "sent", unit: "MB", word: "bytes" };

fn over_records(
    options: &Options,
    sizes: &Sizes,
) -> Result<(Section, Vec<(Case, release::Measured)>), Error> {
    let key = scalar_product::key(options)?;
    let mut samples = Vec::new();
    let mut largest = Vec::new();
    for &records in sizes.records {
        let sample = |series, taken: Taken, megabytes: f64, parameters: String| Sample {
            series,
            x: records as f64,
            at: format!("{records} records"),
            values: vec![taken.cpu, megabytes],
            parameters: format!("{parameters}; {} s wall", readable(taken.wall)),
        };
        largest.clear();
        for (series, horizontal) in RELEASES {
            let case = Case { records, ..sizes.case(horizontal) };
            let measured = sizes.measure(&case)?;
            let parameters = format!("h = {}, {} rows", case.specializations, measured.rows);
            samples.push(sample(series, measured.taken, measured.megabytes(), parameters));
            largest.push((case, measured));
        }
        let (taken, bytes) = psi::intersection(options, psi::Form::Oprf, records)?;
        let parameters = "so many identifiers on each side, half of them common".to_owned();
        samples.push(sample("set intersection", taken, bytes as f64 / 1e6, parameters));
        let cells = count_table::usual_cells();
        let (taken, bytes) = count_table::by_transfers(options, records, cells)?;
        let parameters = format!("{} × {} cells", cells[0], cells[1]);
        samples.push(sample("count table, transfers", taken, bytes as f64 / 1e6, parameters));
        let (taken, bytes) = count_table::by_paillier(options, &key, records, cells)?;
        let parameters = format!("{} × {} cells, key made before", cells[0], cells[1]);
        samples.push(sample("count table, paillier", taken, bytes as f64 / 1e6, parameters));
    }
    let section = lines(
        "Cost over records",
        "Whole releases, and two of the parts of a vertical one alone, its table of counts in both \
         forms. What a horizontal one costs is its splits, chosen over a public grid. Below, where \
         a key is made, the median of three releases by CPU time (one for a first look) is shown: \
         primes are found sooner or later.",
        "records",
        &[CPU, BYTES],
        &samples,
    );
    Ok((section, largest))
}

fn over_candidates(options: &Options, sizes: &Sizes, choices: &Choices) -> Result<Section, Error> {
    let mut samples = Vec::new();
    for way in Way::ALL {
        let feasible = |size: &&usize| way.is_feasible(**size, sizes.scored);
        for &size in sizes.candidates.iter().filter(feasible) {
            let measured = sizes.choice(choices, options, way, size)?;
            samples.push(Sample {
                series: way.name(),
                x: size as f64,
                at: format!("{size} candidates"),
                values: vec![measured.millis, measured.bytes as f64 / 1e6],
                parameters: measured.parameters,
            });
        }
    }
    let words = format!(
        "One choice with scores of {} records (median of {} by wall time), without the set-up of \
         connection and circuits. The papers' forms are measured while they are quick; the \
         horizontal one has its key already.",
        sizes.scored, sizes.runs
    );
    Ok(lines("Cost over candidates", &words, "candidates", &[MILLIS, BYTES], &samples))
}

fn over_leaves(sizes: &Sizes) -> Result<Section, Error> {
    let mut samples = Vec::new();
    let names =
        [["vertical release", "noise, vertical"], ["horizontal release", "noise, horizontal"]];
    for ((_, horizontal), [whole, noise]) in RELEASES.into_iter().zip(names) {
        for &specializations in sizes.specializations {
            let case = Case { specializations, ..sizes.case(horizontal) };
            let measured = release::measure(&case)?;
            let phase = measured.phases().find(|phase| phase.phase == "noise");
            let of_noise = phase.map_or(0, |phase| phase.bytes_sent + phase.bytes_received);
            for (series, megabytes) in
                [(whole, measured.megabytes()), (noise, of_noise as f64 / 1e6)]
            {
                samples.push(Sample {
                    series,
                    x: measured.rows as f64,
                    at: format!("{} rows", measured.rows),
                    values: vec![megabytes],
                    parameters: format!("h = {specializations}, {} records", case.records),
                });
            }
        }
    }
    let words = format!(
        "Releases of {} records with up to {} specializations. A row is a leaf with a class.",
        sizes.few_records,
        sizes.specializations.last().unwrap_or(&0)
    );
    Ok(lines("Cost over leaves", &words, "rows of the release", &[BYTES], &samples))
}

fn by_phase(releases: &[(Case, release::Measured)]) -> Section {
    let mut section = Section {
        title: "By phase".to_owned(),
        words:
            "The largest releases of the first section, phase by phase. Wall time is that of P1, \
                waiting for the other included."
                .to_owned(),
        plots: Vec::new(),
        figures: Vec::new(),
    };
    for (case, measured) in releases {
        let sample = |series, phase: &str, value| Sample {
            series,
            x: 0.0,
            at: phase.to_owned(),
            values: vec![value],
            parameters: format!(
                "{}, {} records, {} rows",
                case.partition(),
                case.records,
                measured.rows
            ),
        };
        let (mut sent, mut wall) = (Vec::new(), Vec::new());
        for phase in measured.phases() {
            sent.push(sample("P1", &phase.phase, phase.bytes_sent as f64 / 1e6));
            sent.push(sample("P2", &phase.phase, phase.bytes_received as f64 / 1e6));
            wall.push(sample("P1", &phase.phase, phase.wall.as_secs_f64()));
        }
        let title = format!("{} release by phase", capitalized(case.partition()));
        for (measure, samples) in [(SENT, sent), (WALL, wall)] {
            section.add(bars(&title, "", &[measure], &samples));
        }
    }
    section
}

/// Bytes and rounds were compared when the releases were measured; times are compared here.
fn forecast(sizes: &Sizes, releases: &[(Case, release::Measured)]) -> Result<Section, Error> {
    let forecasts = releases.iter().flat_map(|(_, measured)| &measured.forecast);
    let speeds = Speeds::measure(forecasts, sizes.paillier_bits)?;
    let mut samples = Vec::new();
    for (case, measured) in releases {
        let told = measured.forecast.iter().map(|forecast| speeds.cpu_of(forecast)).sum();
        for (series, cpu) in [("forecast", told), ("measured", measured.taken.cpu)] {
            samples.push(Sample {
                series,
                x: 0.0,
                at: format!("{} release", case.partition()),
                values: vec![cpu],
                parameters: format!("{} records, {} rows", case.records, measured.rows),
            });
        }
    }
    let words = "What `diptych run --dry-run` would say of the largest releases of the first \
                 section, had it known their trees. The messages of all releases on this page were \
                 compared with what was forecast, and are the same; \
                 times follow from a short calibration, and leave out what a party does alone with \
                 its records.";
    Ok(bars("Forecast against measured", words, &[CPU], &samples))
}

fn networks(options: &Options, sizes: &Sizes, choices: &Choices) -> Result<Section, Error> {
    let networks = [("LAN", NetworkModel::LAN), ("WAN", NetworkModel::WAN)];
    let (mut whole, mut single) = (Vec::new(), Vec::new());
    for (series, network) in networks {
        for (name, horizontal) in RELEASES {
            if horizontal && !sizes.patient {
                continue;
            }
            let case = Case { network: Some(network), ..sizes.case(horizontal) };
            let measured = sizes.measure(&case)?;
            whole.push(Sample {
                series,
                x: 0.0,
                at: name.to_owned(),
                values: vec![measured.taken.wall],
                parameters: format!(
                    "{} records, {} rows, {:.1} MB, {} rounds",
                    case.records,
                    measured.rows,
                    measured.megabytes(),
                    measured.costs.total().rounds
                ),
            });
        }
        let options = Options { network: Some(network), ..options.clone() };
        let candidates = sizes.compared_candidates;
        for way in Way::ALL {
            let measured = sizes.choice(choices, &options, way, candidates)?;
            single.push(Sample {
                series,
                x: 0.0,
                at: way.name().to_owned(),
                values: vec![measured.millis],
                parameters: format!("{candidates} candidates, {}", measured.parameters),
            });
        }
    }
    let words = "Under models of two networks: LAN has round trips of 0.5 ms and 10 Gbit/s each \
                 way, WAN 40 ms and 100 Mbit/s.";
    let mut section = bars("LAN against WAN, releases", words, &[WALL], &whole);
    section.add(bars("LAN against WAN, single choices", "", &[MILLIS], &single));
    section.title = "LAN against WAN".to_owned();
    Ok(section)
}

fn profiles(sizes: &Sizes) -> Result<Section, Error> {
    let mut samples = Vec::new();
    for (series, paper) in [("default", false), ("paper", true)] {
        for (name, horizontal) in RELEASES {
            let case = Case { paper, ..sizes.case(horizontal) };
            let measured = sizes.measure(&case)?;
            let Taken { wall, cpu, .. } = measured.taken;
            samples.push(Sample {
                series,
                x: 0.0,
                at: name.to_owned(),
                values: vec![wall, cpu, measured.megabytes()],
                parameters: format!(
                    "{} records, h = {}, {} rows",
                    case.records, case.specializations, measured.rows
                ),
            });
        }
    }
    let words = "Our choices against the papers' (`profile = \"paper\"` in an agreement).";
    Ok(bars("Default against paper profile", words, &[WALL, CPU, BYTES], &samples))
}

/// Both kinds of release: name, and whether it is horizontal.
const RELEASES: [(&str, bool); 2] = [("vertical release", false), ("horizontal release", true)];

impl Sizes {
    fn case(&self, horizontal: bool) -> Case {
        Case {
            records: self.few_records,
            specializations: self.usual_specializations,
            horizontal,
            paper: false,
            class_owner: None,
            hidden: false,
            no_lpn: false,
            shards: 0,
            network: None,
            paillier_bits: self.paillier_bits,
        }
    }

    /// One release. Where a key is made, its primes are found sooner or later: the median by CPU.
    fn measure(&self, case: &Case) -> Result<release::Measured, Error> {
        let times = if case.paper { self.runs } else { 1 };
        median(times, || release::measure(case), |measured| measured.taken.cpu)
    }

    /// One choice: it is over soon, so anything else that runs shows. The median by wall time.
    fn choice(
        &self,
        choices: &Choices,
        options: &Options,
        way: Way,
        candidates: usize,
    ) -> Result<mechanism::Measured, Error> {
        let work = || choices.measure(options, way, candidates, self.scored);
        median(self.runs, work, |measured| measured.millis)
    }
}

impl Section {
    /// Plots and figures of another one, below its own.
    fn add(&mut self, other: Self) {
        self.plots.extend(other.plots);
        self.figures.extend(other.figures);
    }
}

/// A section with a line plot for each measure, both axes logarithmic.
fn lines(
    title: &str,
    words: &str,
    over: &str,
    measures: &[Measure],
    samples: &[Sample],
) -> Section {
    let draw = |index: usize, measure: &Measure| {
        let mut series: Vec<Series> = Vec::new();
        for sample in samples {
            let point = Point { x: sample.x, y: sample.values[index], deviation: 0.0 };
            match series.iter_mut().find(|series| series.name == sample.series) {
                Some(series) => series.points.push(point),
                None => series.push(Series { name: sample.series.to_owned(), points: vec![point] }),
            }
        }
        // Rows come as they are drawn, and more specializations may give fewer.
        series.iter_mut().for_each(|line| line.points.sort_by(|a, b| a.x.total_cmp(&b.x)));
        Chart {
            title: title.to_owned(),
            x_label: over.to_owned(),
            y_label: measure.label(),
            x_scale: Scale::Logarithmic,
            y_scale: Scale::Logarithmic,
            series,
            levels: Vec::new(),
        }
        .svg()
    };
    section(title, words, measures, samples, draw)
}

/// A section with bars for each measure.
fn bars(title: &str, words: &str, measures: &[Measure], samples: &[Sample]) -> Section {
    let draw = |index: usize, measure: &Measure| {
        let mut series: Vec<&str> = Vec::new();
        let mut rows: Vec<Row> = Vec::new();
        for sample in samples {
            if !series.contains(&sample.series) {
                series.push(sample.series);
            }
            let value = sample.values[index];
            match rows.iter_mut().find(|row| row.name == sample.at) {
                Some(row) => row.values.push(value),
                None => rows.push(Row { name: sample.at.clone(), values: vec![value] }),
            }
        }
        let series = series.into_iter().map(str::to_owned).collect();
        Bars { title: title.to_owned(), label: measure.label(), series, rows }.svg()
    };
    section(title, words, measures, samples, draw)
}

fn section(
    title: &str,
    words: &str,
    measures: &[Measure],
    samples: &[Sample],
    draw: impl Fn(usize, &Measure) -> String,
) -> Section {
    let plot = |(index, measure): (usize, &Measure)| Plot {
        file: file_name(title, measure.word),
        alt: format!("{title}: {}", measure.label()),
        svg: draw(index, measure),
    };
    let figures = samples.iter().flat_map(|sample| {
        let values = measures.iter().zip(&sample.values);
        values.map(|(measure, value)| {
            let name = format!("{}, {}: {}", sample.at, sample.series, measure.name);
            Figure::new(name, *value, measure.unit, &sample.parameters)
        })
    });
    Section {
        title: title.to_owned(),
        words: words.to_owned(),
        plots: measures.iter().enumerate().map(plot).collect(),
        figures: figures.collect(),
    }
}

impl Measure {
    fn label(&self) -> String {
        format!("{}, {}", self.name, self.unit)
    }
}

/// Lower case, with hyphens.
fn file_name(title: &str, measure: &str) -> String {
    let words = title.split(|letter: char| !letter.is_alphanumeric());
    let words: Vec<String> = words.filter(|word| !word.is_empty()).map(str::to_lowercase).collect();
    format!("{}-{measure}.svg", words.join("-"))
}

fn capitalized(word: &str) -> String {
    let mut letters = word.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}
