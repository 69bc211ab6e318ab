//! Single-party DiffGen from CSV to release, on generated census data.

use std::io;

use super::process::{Taken, taken};
use super::{BenchArgs, Figures, census};
use crate::Error;
use crate::agreement::Agreement;
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

/// Releases with each utility.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let sizes = if options.quick { &QUICK_SIZES[..] } else { &SIZES[..] };
    let mut peak = None;
    for (records, h) in sizes {
        let csv = census::csv(*records);
        for utility in UTILITIES {
            let text = census::agreement(*h, &format!("utility = \"{utility}\""));
            let (made, Taken { wall, cpu, peak_bytes }) = taken(|| once(&csv, &text, Rows::All));
            made?;
            peak = peak_bytes.map(|bytes| (bytes, records));
            let parameters =
                format!("{records} records × 14 attributes, h = {h}, {utility}; {wall:.2} s wall");
            out.add("CSV to release, CPU", cpu, "s", &parameters);
            out.add("CSV to release", *records as f64 / wall, "records/s", &parameters);
        }
    }
    if let Some((bytes, records)) = peak {
        let parameters = format!("of the process, with {records} records and their CSV in memory");
        out.add("peak memory", bytes as f64 / 1e6, "MB", parameters);
    }
    Ok(())
}

/// One release under this agreement, from the bytes of a CSV file to those of `release.csv`, which are
/// discarded; returns the number of rows.
pub(super) fn once(csv: &[u8], agreement: &str, rows: Rows) -> Result<u64, Error> {
    let agreement = Agreement::parse("census.toml", agreement.as_bytes(), &|_| Err(String::new()))
        .map_err(Error::internal)?;
    let (schema, max_records) = (&agreement.schema, agreement.max_records);
    let reading = Reading { schema, owner: None, identifier: None, max_records };
    let table = parse_csv("census.csv", csv, &reading, &|_| {})?;
    let budget = agreement.epsilon().map(Budget::new);
    let mut rng = Randomness::from_os()?;
    let release = release::run::alone(&agreement, &table, budget, &mut rng, &|_| {})?;
    write_csv(&release.table, rows, io::sink()).map_err(Error::internal)
}
