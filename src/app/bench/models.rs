//! Models without differential privacy, from CSV to release, on generated data.

use std::io;

use super::process::{Taken, taken};
use super::{BenchArgs, Figures, census, diffgen};
use crate::Error;
use crate::release::trajectory::generate::{World, write};
use crate::release::trajectory::{Columns, Form, Paths, Score, Terms, anonymize};
use crate::release::tree::output::Rows;
use crate::table::Dialect;

/// Records that are measured, with L and K.
const SIZES: [(usize, u32, u32); 7] = [
    (30_162, 1, 2),
    (30_162, 2, 20),
    (30_162, 4, 20),
    (30_162, 6, 20),
    (30_162, 6, 2),
    (1_000_000, 4, 100),
    (1_000_000, 6, 20),
];
const QUICK_SIZES: [(usize, u32, u32); 1] = [(1_000, 3, 5)];

/// Tables under LKC-privacy, then paths.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let sizes = if options.quick { &QUICK_SIZES[..] } else { &SIZES[..] };
    for (records, l, k) in sizes {
        let csv = census::csv(*records);
        let terms =
            format!("[lkc]\nacknowledge = \"not differentially private\"\nl = {l}\nk = {k}\n");
        let text = census::agreement(1, &terms);
        let text = text.replace("epsilon = \"1\"\nspecializations = 1\n", "model = \"lkc\"\n");
        let (rows, Taken { wall, cpu, .. }) = taken(|| diffgen::once(&csv, &text, Rows::NotZero));
        let parameters = format!(
            "{records} records × 14 attributes, L = {l}, K = {k}, {} rows; {wall:.2} s wall",
            rows?
        );
        out.add("LKC, CSV to release, CPU", cpu, "s", parameters);
    }
    let people = if options.quick { 1_000 } else { 1_000_000 };
    let mut csv = Vec::new();
    let world = World::Metro { headway: 1, delay: 3 };
    write(world, people, 1, &mut csv).map_err(Error::internal)?;
    let (pairs, Taken { wall, cpu, .. }) = taken(|| trajectory(&csv, people));
    let parameters =
        format!("{people} metro paths, L = 3, K = 30, C = 0.6, {}; {wall:.2} s wall", pairs?);
    out.add("trajectories, CSV to CSV, CPU", cpu, "s", parameters);
    Ok(())
}

/// Paths from CSV to CSV, which is discarded.
fn trajectory(csv: &[u8], people: u64) -> Result<String, Error> {
    let columns = Columns::Wide { id: None, path: "path".to_owned() };
    let form = Form::new(columns, "sensitive", vec!["AIDS".to_owned()]);
    let named = ("paths.csv", Dialect::default());
    let paths = Paths::read(named, csv, &form, &|_| {}).map_err(Error::internal)?;
    let (c, support) = ((3, 5), people.div_ceil(200));
    let terms = Terms { l: 3, k: 30, c, support, score: Score::GainPerLoss };
    let steps = paths.most_increments(terms.l);
    let made = anonymize(&paths, &terms).map_err(Error::internal)?;
    made.paths.write("sensitive", io::sink()).map_err(Error::internal)?;
    Ok(format!("{} pairs, at most {steps} increments", paths.instances()))
}
