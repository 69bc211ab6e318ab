//! Single-party DiffGen from CSV to release, on generated census data.

use std::io;
use std::time::Duration;

use crate::agreement::Agreement;
use crate::app::bench::process::{cpu_time, peak_memory_bytes};
use crate::app::bench::{Figure, Options, census};
use crate::app::failure::Failure;
use crate::math::Randomness;
use crate::privacy::Budget;
use crate::release::diffgen::output::{Rows, write_csv};
use crate::release::diffgen::single;
use crate::table::{Reading, parse_csv};

/// Records and specializations that are measured: growth with each of them.
const SIZES: [(usize, u32); 6] =
    [(30_162, 5), (30_162, 10), (30_162, 15), (100_000, 15), (300_000, 15), (1_000_000, 15)];
const UTILITIES: [&str; 2] = ["max", "leaf-max"];

/// Measures everything.
///
/// # Errors
/// If a run fails.
pub fn run(_: &Options) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for (records, specializations) in SIZES {
        let csv = census::csv(records);
        for utility in UTILITIES {
            let (wall, cpu) = measured(|| once(&csv, specializations, utility))?;
            let parameters = format!(
                "{records} records × 14 attributes, h = {specializations}, {utility}; {:.2} s wall",
                wall.as_secs_f64()
            );
            figures.push(Figure::new("CSV to release, CPU", cpu.as_secs_f64(), "s", &parameters));
            let rate = records as f64 / wall.as_secs_f64();
            figures.push(Figure::new("CSV to release", rate, "records/s", &parameters));
        }
    }
    if let Some(bytes) = peak_memory_bytes() {
        let parameters = "of the process, with 1000000 records and their CSV in memory";
        figures.push(Figure::new("peak memory", bytes as f64 / 1e6, "MB", parameters));
    }
    Ok(figures)
}

/// One release, from the bytes of a CSV file to those of `release.csv`, which go nowhere.
///
/// # Errors
/// If the data or the agreement is not as it should be.
pub fn once(csv: &[u8], specializations: u32, utility: &str) -> Result<u64, Failure> {
    let text = census::agreement(specializations, &format!("utility = \"{utility}\""));
    let agreement = Agreement::parse("census.toml", text.as_bytes(), &|_| Err(String::new()))
        .map_err(Failure::failed)?;
    let reading = Reading {
        schema: &agreement.schema,
        owner: None,
        identifier: None,
        max_records: agreement.max_records,
    };
    let table = parse_csv("census.csv", csv, &reading, &|_| {})?;
    let budget = Budget::new(&agreement.epsilon.to_string().parse().map_err(Failure::failed)?);
    let mut rng = Randomness::from_os()?;
    let release = single::release(&agreement, &table, budget, &mut rng, &|_| {})?;
    write_csv(&release, Rows::All, io::sink()).map_err(Failure::failed)
}

fn measured<T>(work: impl FnOnce() -> Result<T, Failure>) -> Result<(Duration, Duration), Failure> {
    let (wall, cpu) = (std::time::Instant::now(), cpu_time());
    work()?;
    Ok((wall.elapsed(), cpu_time().saturating_sub(cpu)))
}
