//! Scalar products and joint count tables: both parties in one process, on all cores. The papers'
//! cost, one product per leaf, is computed from one product measured here, not run.

use crate::app::bench::process::{Taken, taken};
use crate::app::bench::{Figure, Options};
use crate::app::failure::Failure;
use crate::crypto::paillier::{SecretKey, Tuning};
use crate::math::Randomness;
use crate::net::{Costs, Role};
use crate::protocol::pair::run_pair;
use crate::protocol::scalar_product::{
    Entries, ExpectedKey, Key, TableShape, VectorShape, count_table, ideal_table, product,
};

const SIGMA: u32 = 64;
/// k of the shared counts: 20 bits of count and room for noise.
const WORD_BITS: u32 = 40;

/// Records, where no size is asked for, in the table of [`CELLS`].
const SIZES: [usize; 3] = [1_000, 10_000, 30_000];
const CELLS: [usize; 2] = [64, 32];
/// Other numbers of cells, with [`FEW`] records.
const OTHER_CELLS: [[usize; 2]; 3] = [[4, 4], [128, 128], [4, 4096]];
const FEW: usize = 1_000;
/// Entries of the product that is measured.
const LENGTH: usize = 2_000;

/// One product, tables by number of records, then by number of cells.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Failure> {
    let key = key(options)?;
    let mut figures = Vec::new();
    let entry = one_product(options, &key, &mut figures)?;
    for records in options.sizes(&SIZES, &[FEW / 10]) {
        one_table(options, &key, records, CELLS, entry, &mut figures)?;
    }
    let usual = options.size.is_none() && !options.quick;
    for cells in OTHER_CELLS.into_iter().filter(|_| usual) {
        one_table(options, &key, FEW, cells, entry, &mut figures)?;
    }
    Ok(figures)
}

/// A key with its tables of powers: both can be made ahead of a run.
pub(super) fn key(options: &Options) -> Result<SecretKey, Failure> {
    let mut rng = Randomness::from_os()?;
    let key = SecretKey::generate(options.key_bits(), Tuning::default(), &mut rng)
        .map_err(Failure::failed)?;
    key.prepare();
    Ok(key)
}

/// CPU seconds of one entry of a binary product, both roles.
fn one_product(
    options: &Options,
    key: &SecretKey,
    figures: &mut Vec<Figure>,
) -> Result<f64, Failure> {
    let shape = VectorShape { length: LENGTH, entries: Entries::Binary, sigma: SIGMA };
    let vector: Vec<i64> = (0..LENGTH).map(|i| i64::from(i % 3 == 0)).collect();
    let expected = expected(key)?;
    let (outcome, Taken { cpu, .. }) = taken(|| {
        run_pair(
            options.setup(),
            |session| product(session, Key::Own(key), &shape, &vector, &|_| ()),
            |session| product(session, expected, &shape, &vector, &|_| ()),
        )
    });
    let sum = outcome.p1.map_err(Failure::failed)?.number().clone()
        + outcome.p2.map_err(Failure::failed)?.number();
    if sum != LENGTH.div_ceil(3).into() {
        return Err(Failure::failed("the product is wrong"));
    }
    let name = format!("scalar product, {LENGTH} entries");
    let parameters = format!("both roles, {} bits, binary, σ = {SIGMA}", key.public().bits());
    figures.push(Figure::new(format!("{name}: CPU"), cpu * 1e3, "ms", parameters));
    let bytes = total_bytes(&outcome.costs.p1, &outcome.costs.p2);
    figures.push(bytes_figure(&name, "entry", bytes, LENGTH, ciphertext_bytes(key)));
    Ok(cpu / LENGTH as f64)
}

/// One joint count table: what it took, and the bytes of both directions.
pub(super) fn joint_counts(
    options: &Options,
    key: &SecretKey,
    shape: &TableShape,
) -> Result<(Taken, u64), Failure> {
    let TableShape { records, cells, .. } = *shape;
    let inputs = cells.map(|cells| spread(records, cells));
    let expected = expected(key)?;
    let part = |role| if shape.encrypting_role() == role { Key::Own(key) } else { expected };
    let (outcome, taken) = taken(|| {
        run_pair(
            options.setup(),
            |session| count_table(session, part(Role::P1), shape, &inputs[0], &|_| ()),
            |session| count_table(session, part(Role::P2), shape, &inputs[1], &|_| ()),
        )
    });
    let shares = [outcome.p1.map_err(Failure::failed)?, outcome.p2.map_err(Failure::failed)?];
    let counts = shares[0].plus(&shares[1]).map_err(Failure::failed)?;
    let ideal = ideal_table(shape, &inputs[0], &inputs[1]).map_err(Failure::failed)?;
    if counts.words() != ideal {
        return Err(Failure::failed("the table is wrong"));
    }
    Ok((taken, total_bytes(&outcome.costs.p1, &outcome.costs.p2)))
}

/// The table of [`CELLS`] over so many records.
pub(super) fn usual_shape(records: usize) -> TableShape {
    shape(records, CELLS)
}

fn shape(records: usize, cells: [usize; 2]) -> TableShape {
    TableShape { records, cells, sigma: SIGMA, bits: WORD_BITS }
}

fn one_table(
    options: &Options,
    key: &SecretKey,
    records: usize,
    cells: [usize; 2],
    entry_seconds: f64,
    figures: &mut Vec<Figure>,
) -> Result<(), Failure> {
    let shape = shape(records, cells);
    let [sent, returned] = shape.items(key.public().bits()).map_err(Failure::failed)?;
    let (Taken { wall, cpu, peak_bytes }, bytes) = joint_counts(options, key, &shape)?;
    let name = format!("count table, {records} records, {} × {}", cells[0], cells[1]);
    let work = format!("both roles: {sent} ciphertexts there, {returned} back");
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut add = |what: &str, value: f64, unit, parameters: String| {
        figures.push(Figure::new(format!("{name}: {what}"), value, unit, parameters));
    };
    add("CPU", cpu, "s", work);
    add("wall", wall, "s", format!("both roles on {cores} cores"));
    let note = "per second of CPU, both roles' work and all results included";
    add("records per core", records as f64 / cpu, "per second", note.to_owned());
    if let Some(peak) = peak_bytes {
        let note = "both parties and both lists of cells in one process, tables of powers included";
        add("peak memory", peak as f64 / 1e6, "MB", note.to_owned());
    }
    let leaves = cells[0] * cells[1];
    let per_leaf = entry_seconds * (records * leaves) as f64;
    let note = format!("computed, not run: {leaves} products as measured above");
    add("papers' cost per leaf", per_leaf, "s", note);
    add("papers' cost / ours", per_leaf / cpu, "times", "computed".to_owned());
    figures.push(bytes_figure(
        &name,
        "record",
        bytes,
        records,
        sent / records.max(1) * ciphertext_bytes(key),
    ));
    Ok(())
}

fn expected(key: &SecretKey) -> Result<Key<'static>, Failure> {
    let expected =
        ExpectedKey::new(key.public().bits(), Tuning::default()).map_err(Failure::failed)?;
    Ok(Key::Peer(expected))
}

/// Records over all cells, unevenly.
fn spread(records: usize, cells: usize) -> Vec<u32> {
    (0..records as u64).map(|i| (i * i % 1_000_003 % cells as u64) as u32).collect()
}

fn total_bytes(p1: &Costs, p2: &Costs) -> u64 {
    p1.total().bytes_sent + p2.total().bytes_sent
}

fn ciphertext_bytes(key: &SecretKey) -> usize {
    key.public().bits() / 4
}

fn bytes_figure(name: &str, each: &str, bytes: u64, count: usize, limit: usize) -> Figure {
    Figure::new(
        format!("{name}: bytes per {each}"),
        bytes as f64 / count.max(1) as f64,
        "bytes",
        format!("both directions, key and results included; limit {limit}"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_spread_over_all_cells() {
        let mut seen = [false; 64];
        spread(10_000, 64).into_iter().for_each(|cell| seen[cell as usize] = true);
        assert_eq!(seen, [true; 64]);
    }
}
