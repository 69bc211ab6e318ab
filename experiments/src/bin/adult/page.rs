//! Results as tables and plots.

use crate::data::Adult;
use crate::plan::{EPSILONS, SPECIALIZATIONS, WAYS};
use crate::runs::{Outcome, Settings};
use diptych::Error;
use diptych::app::evaluate::baselines;
use diptych::app::evaluate::group::Summary;
use diptych::app::plot::{Chart, Level, Point, Scale, Series};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The outcomes of one way, ε and h, summed up.
pub struct Row {
    settings: Settings,
    runs: usize,
    accuracy: Summary,
    leaves: f64,
    total: f64,
    one_way: f64,
    two_way: f64,
}

impl Row {
    pub fn new(settings: Settings, outcomes: &[Outcome]) -> Self {
        let of = |number: fn(&Outcome) -> f64| {
            Summary::of(&outcomes.iter().map(number).collect::<Vec<_>>())
        };
        let mut leaves: Vec<f64> = outcomes.iter().map(|outcome| outcome.leaves).collect();
        leaves.sort_by(f64::total_cmp);
        Self {
            settings,
            runs: outcomes.len(),
            accuracy: of(|outcome| outcome.accuracy),
            leaves: leaves.get(leaves.len() / 2).copied().unwrap_or(0.0),
            total: of(|outcome| outcome.total).mean,
            one_way: of(|outcome| outcome.one_way).mean,
            two_way: of(|outcome| outcome.two_way).mean,
        }
    }

    /// Whether anything was run.
    pub fn has_runs(&self) -> bool {
        self.runs > 0
    }

    /// The settings but for ε and h.
    fn way(&self) -> Settings {
        Settings { epsilon: "", specializations: 0, ..self.settings }
    }
}

/// The grid: a table of all numbers, one of accuracies per way, and plots.
pub fn grid(adult: &Adult, rows: &[Row], out: &Path) -> Result<Vec<PathBuf>, Error> {
    let agreement = adult.agreement("partition = \"local\"\nepsilon = \"1\"", 10)?;
    let (raw, class_only) = baselines(&agreement.schema, &adult.test, &adult.train)?;
    let mut page = format!(
        "# The grid\n\nAccuracy in % on the 15,060 test records, mean and standard deviation over \
         {} (written by `cargo run --release -p diptych-experiments --bin adult -- grid`; all \
         numbers in `adult-grid.csv`). Raw records: {:.2}. Class only: {:.2}.\n",
        runs(rows, "seeds"),
        raw * 100.0,
        class_only * 100.0
    );
    let mut files = vec![("adult-grid.csv".to_owned(), csv(rows))];
    for (name, way) in WAYS {
        let _ = write!(page, "\n## {name}\n\n{}", accuracies(way, rows, &SPECIALIZATIONS));
        let words: Vec<&str> = name.split([',', ' ']).filter(|word| !word.is_empty()).collect();
        let by = |group: fn(&Row) -> String, x: fn(&Row) -> f64| {
            let mut series: Vec<Series> = Vec::new();
            for row in rows.iter().filter(|row| same_way(row, way)) {
                let Summary { mean, deviation } = row.accuracy;
                let point = Point { x: x(row), y: mean, deviation };
                match series.iter_mut().find(|series| series.name == group(row)) {
                    Some(series) => series.points.push(point),
                    None => series.push(Series { name: group(row), points: vec![point] }),
                }
            }
            series
        };
        let h = |row: &Row| f64::from(row.settings.specializations);
        let epsilon = |row: &Row| row.settings.epsilon.parse().unwrap_or(0.0);
        let charts = [
            (
                "h",
                "specializations (h)",
                Scale::Linear,
                by(|r| format!("ε = {}", r.settings.epsilon), h),
            ),
            (
                "epsilon",
                "ε",
                Scale::Logarithmic,
                by(|r| format!("h = {}", r.settings.specializations), epsilon),
            ),
        ];
        for (over, x_label, x_scale, series) in charts {
            let level = |name: &str, y: f64| Level { name: name.to_owned(), y: y * 100.0 };
            let chart = Chart {
                title: format!("Adult: {name}"),
                x_label: x_label.to_owned(),
                y_label: "accuracy on test records in %, with standard deviation".to_owned(),
                x_scale,
                y_scale: Scale::Linear,
                series,
                levels: vec![level("raw records", raw), level("class only", class_only)],
            };
            let file = format!("adult-{}-by-{over}.svg", words.join("-"));
            let _ = writeln!(page, "\n![accuracy of {name} by {over}]({file})");
            files.push((file, chart.svg()));
        }
    }
    files.push(("adult-grid.md".to_owned(), page));
    write_all(out, files)
}

/// Cross-validation: a table of all numbers, and one of accuracies per way.
pub fn tuning(rows: &[Row], out: &Path) -> Result<Vec<PathBuf>, Error> {
    let mut page = format!(
        "# Settings compared\n\nAccuracy in % on held-out fifths of the 30,162 training records, \
         mean and standard deviation over {} (written by `cargo run --release \
         -p diptych-experiments --bin adult -- tune`; all numbers in `adult-tuning.csv`). The test records play no part.\n\n\
         The first section is what a local agreement gets that leaves every choice out, and each \
         that follows changes one thing of it; then the same for two parties with different \
         columns. [adult.md](adult.md#what-was-tried) says what follows from it.\n",
        runs(rows, "runs")
    );
    let mut ways: Vec<Settings> = Vec::new();
    for row in rows {
        if !ways.contains(&row.way()) {
            ways.push(row.way());
        }
    }
    let mut numbers: Vec<u32> = rows.iter().map(|row| row.settings.specializations).collect();
    numbers.sort_unstable();
    numbers.dedup();
    for way in ways {
        let Settings { parties, utility, selection, share, noises, .. } = way;
        let (parties, noises) = (
            plural(parties == "one", "party", "parties", parties),
            match noises {
                1 => "one noise",
                _ => "two noises",
            },
        );
        let _ = write!(
            page,
            "\n## {parties}, {utility}, {selection}, structure share {share}, {noises}\n\n{}",
            accuracies(way, rows, &numbers)
        );
    }
    write_all(
        out,
        vec![("adult-tuning.md".to_owned(), page), ("adult-tuning.csv".to_owned(), csv(rows))],
    )
}

/// How many runs each row has.
fn runs(rows: &[Row], name: &str) -> String {
    let counts = || rows.iter().map(|row| row.runs);
    match (counts().min(), counts().max()) {
        (Some(least), Some(most)) if least < most => format!("{least} to {most} {name}"),
        (least, _) => format!("{} {name}", least.unwrap_or(0)),
    }
}

fn plural(one: bool, singular: &str, plural: &str, count: &str) -> String {
    format!("{count} {}", if one { singular } else { plural })
}

fn same_way(row: &Row, way: Settings) -> bool {
    row.way() == Settings { epsilon: "", specializations: 0, ..way }
}

/// Accuracies of one way: a line per h, a column per ε.
fn accuracies(way: Settings, rows: &[Row], specializations: &[u32]) -> String {
    let mut table = format!("| | ε = {} | leaves (median) |\n", EPSILONS.join(" | ε = "));
    table += "| --- | --- | --- | --- | --- | --- |\n";
    for h in specializations {
        let _ = write!(table, "| h = {h} |");
        let mut leaves = Vec::new();
        for epsilon in EPSILONS {
            let found = rows.iter().find(|row| {
                let settings = row.settings;
                same_way(row, way) && settings.specializations == *h && settings.epsilon == epsilon
            });
            match found {
                Some(row) => {
                    let Summary { mean, deviation } = row.accuracy;
                    let _ = write!(table, " {mean:.2} ± {deviation:.2} |");
                    leaves.push(row.leaves);
                }
                None => table += " |",
            }
        }
        leaves.sort_by(f64::total_cmp);
        let (least, most) = (leaves.first(), leaves.last());
        let _ = writeln!(table, " {}–{} |", least.unwrap_or(&0.0), most.unwrap_or(&0.0));
    }
    table
}

fn csv(rows: &[Row]) -> String {
    let mut csv =
        "profile,parties,utility,selection,structure_share,noises,epsilon,h,runs,accuracy,\
                   deviation,leaves_median,total,one_way,two_way\n"
            .to_owned();
    for row in rows {
        let _ = writeln!(
            csv,
            "{},{},{:.3},{:.3},{},{:.0},{:.5},{:.5}",
            row.settings.key().replace('/', ","),
            row.runs,
            row.accuracy.mean,
            row.accuracy.deviation,
            row.leaves,
            row.total,
            row.one_way,
            row.two_way
        );
    }
    csv
}

fn write_all(out: &Path, files: Vec<(String, String)>) -> Result<Vec<PathBuf>, Error> {
    std::fs::create_dir_all(out).map_err(|error| Error::file(out, "create", &error))?;
    files
        .into_iter()
        .map(|(name, text)| {
            let path = out.join(name);
            std::fs::write(&path, text).map_err(|error| Error::file(&path, "write", &error))?;
            Ok(path)
        })
        .collect()
}
