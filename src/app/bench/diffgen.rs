//! Single-party DiffGen from CSV to release, on generated census data.

use std::io;

use crate::Error;
use crate::agreement::Agreement;
use crate::app::bench::process::{Taken, taken};
use crate::app::bench::{Figure, Options, census};
use crate::math::Randomness;
use crate::privacy::Budget;
use crate::release;
use crate::release::tree::output::{Rows, write_csv};
use crate::table::{Reading, parse_csv};

/// Records and specializations that are measured: growth with each of them.
const SIZES: [(usize, u32); 6] =
    [(30_162, 5), (30_162, 10), (30_162, 15), (100_000, 15), (300_000, 15), (1_000_000, 15)];
const QUICK_SIZES: [(usize, u32); 1] = [(1_000, 5)];
const UTILITIES: [&str; 2] = ["max", "leaf-max"];

/// Measures everything.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Error> {
    let sizes = if options.quick { &QUICK_SIZES[..] } else { &SIZES[..] };
    let mut figures = Vec::new();
    let mut peak = None;
    for (records, specializations) in sizes {
        let csv = census::csv(*records);
        for utility in UTILITIES {
            let (made, Taken { wall, cpu, peak_bytes }) =
                taken(|| once(&csv, *specializations, utility));
            made?;
            peak = peak_bytes.map(|bytes| (bytes, records));
            let parameters = format!(
                "{records} records × 14 attributes, h = {specializations}, {utility}; {wall:.2} s \
                 wall"
            );
            figures.push(Figure::new("CSV to release, CPU", cpu, "s", &parameters));
            let rate = *records as f64 / wall;
            figures.push(Figure::new("CSV to release", rate, "records/s", &parameters));
        }
    }
    if let Some((bytes, records)) = peak {
        let parameters = format!("of the process, with {records} records and their CSV in memory");
        figures.push(Figure::new("peak memory", bytes as f64 / 1e6, "MB", parameters));
    }
    Ok(figures)
}

/// One release, from the bytes of a CSV file to those of `release.csv`, which go nowhere.
///
/// # Errors
/// If the data or the agreement is not as it should be.
pub fn once(csv: &[u8], specializations: u32, utility: &str) -> Result<u64, Error> {
    let text = census::agreement(specializations, &format!("utility = \"{utility}\""));
    let agreement = Agreement::parse("census.toml", text.as_bytes(), &|_| Err(String::new()))
        .map_err(Error::internal)?;
    let reading = Reading {
        schema: &agreement.schema,
        owner: None,
        identifier: None,
        max_records: agreement.max_records,
    };
    let table = parse_csv("census.csv", csv, &reading, &|_| {})?;
    let budget = agreement.epsilon().map(Budget::new);
    let mut rng = Randomness::from_os()?;
    let release = release::run::alone(&agreement, &table, budget, &mut rng, &|_| {})?;
    write_csv(&release.table, Rows::All, io::sink()).map_err(Error::internal)
}
