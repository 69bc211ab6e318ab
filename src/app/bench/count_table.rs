//! Joint count tables, by transfers and under Paillier encryption: both parties in one process, on
//! all cores. The papers' cost, one scalar product per leaf, is computed from one product, not run.

use crate::Error;
use crate::app::bench::process::{Taken, taken};
use crate::app::bench::scalar_product::{
    SIGMA, bytes_figure, ciphertext_bytes, expected, key, one_product, total_bytes,
};
use crate::app::bench::{Figure, Options};
use crate::crypto::paillier::SecretKey;
use crate::paper::scalar_product::{Key, TableShape, count_table};
use crate::protocol::pair::{Outcome, run_pair};
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::{self, CountShape};
use crate::role::Role;

/// k of the shared counts: 20 bits of count and room for noise.
const WORD_BITS: u32 = 32;

/// Records, where no size is asked for, in the table of [`CELLS`].
const SIZES: [usize; 3] = [1_000, 10_000, 30_000];
/// By transfers there may be more.
const MANY: usize = 1_000_000;
const CELLS: [usize; 2] = [64, 32];
/// Other numbers of cells and records: few and many cells, far more at one party, and a release of
/// 7,200 rows.
const OTHERS: [([usize; 2], usize); 4] =
    [([4, 4], 1_000), ([128, 128], 1_000), ([4, 4096], 1_000), ([80, 90], 3_000)];

/// Tables by number of records, then by number of cells, each in both forms.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Error> {
    let mut figures = Vec::new();
    let usual = options.size.is_none() && !options.quick;
    let mut cases: Vec<([usize; 2], usize)> =
        options.sizes(&SIZES, &[100]).into_iter().map(|records| (CELLS, records)).collect();
    if usual {
        cases.extend(OTHERS);
    }
    for (cells, records) in cases.iter().copied().chain(usual.then_some((CELLS, MANY))) {
        transferred(options, records, cells, &mut figures)?;
    }
    let key = key(options)?;
    let entry_seconds = one_product(options, &key, &mut Vec::new())?;
    for (cells, records) in cases {
        encrypted(options, &key, records, cells, entry_seconds, &mut figures)?;
    }
    Ok(figures)
}

/// One table by transfers, their set-up included: what it took, and the bytes of both directions.
pub(super) fn by_transfers(
    options: &Options,
    records: usize,
    cells: [usize; 2],
) -> Result<(Taken, u64), Error> {
    let shape = CountShape { records, cells, bits: WORD_BITS };
    let inputs = cells.map(|cells| spread(records, cells));
    let (outcome, taken) = taken(|| {
        run_pair(
            options.setup(),
            |session| sum_by_group::count_table(session, &shape, &inputs[0], &|_| ()),
            |session| sum_by_group::count_table(session, &shape, &inputs[1], &|_| ()),
        )
    });
    Ok((taken, checked(outcome, cells, &inputs)?))
}

/// One table under this key: what it took, and the bytes of both directions.
pub(super) fn by_paillier(
    options: &Options,
    key: &SecretKey,
    records: usize,
    cells: [usize; 2],
) -> Result<(Taken, u64), Error> {
    let shape = encrypted_shape(records, cells);
    let inputs = cells.map(|cells| spread(records, cells));
    let expected = expected(key)?;
    let part = |role| if shape.encrypting_role() == role { Key::Own(key) } else { expected };
    let (outcome, taken) = taken(|| {
        run_pair(
            options.setup(),
            |session| count_table(session, part(Role::P1), &shape, &inputs[0], &|_| ()),
            |session| count_table(session, part(Role::P2), &shape, &inputs[1], &|_| ()),
        )
    });
    Ok((taken, checked(outcome, cells, &inputs)?))
}

/// The cells of the table that is usual.
pub(super) fn usual_cells() -> [usize; 2] {
    CELLS
}

fn encrypted_shape(records: usize, cells: [usize; 2]) -> TableShape {
    TableShape { records, cells, sigma: SIGMA, bits: WORD_BITS }
}

/// The bytes of a run whose table is right.
fn checked<E>(
    outcome: Outcome<Result<WordShares, E>, Result<WordShares, E>>,
    cells: [usize; 2],
    inputs: &[Vec<u32>; 2],
) -> Result<u64, Error>
where
    E: std::error::Error,
{
    let failed = |error: E| Error::internal(error.to_string());
    let shares = [outcome.p1.map_err(failed)?, outcome.p2.map_err(failed)?];
    let counts = shares[0].plus(&shares[1]).map_err(Error::internal)?;
    let shape = CountShape { records: inputs[0].len(), cells, bits: WORD_BITS };
    if counts.words() != sum_by_group::ideal_table(&shape, &inputs[0], &inputs[1]) {
        return Err(Error::internal("the table is wrong"));
    }
    Ok(total_bytes(&outcome.costs.p1, &outcome.costs.p2))
}

fn transferred(
    options: &Options,
    records: usize,
    cells: [usize; 2],
    figures: &mut Vec<Figure>,
) -> Result<(), Error> {
    let (taken, bytes) = by_transfers(options, records, cells)?;
    let name = name("transfers", records, cells);
    add_times(&name, records, taken, "both roles, set-up of transfers included", figures);
    let note = format!("both directions, set-up included, {WORD_BITS} bits per count");
    let each = bytes as f64 / records.max(1) as f64;
    figures.push(Figure::new(format!("{name}: bytes per record"), each, "bytes", note));
    Ok(())
}

fn encrypted(
    options: &Options,
    key: &SecretKey,
    records: usize,
    cells: [usize; 2],
    entry_seconds: f64,
    figures: &mut Vec<Figure>,
) -> Result<(), Error> {
    let shape = encrypted_shape(records, cells);
    let [sent, returned] = shape.items(key.public().bits()).map_err(Error::internal)?;
    let (taken, bytes) = by_paillier(options, key, records, cells)?;
    let name = name("paillier", records, cells);
    let work = format!("both roles: {sent} ciphertexts there, {returned} back");
    let cpu = taken.cpu;
    add_times(&name, records, taken, &work, figures);
    let limit = sent / records.max(1) * ciphertext_bytes(key);
    figures.push(bytes_figure(&name, "record", bytes, records, limit));
    let leaves = cells[0] * cells[1];
    let per_leaf = entry_seconds * (records * leaves) as f64;
    let note = format!("computed, not run: {leaves} scalar products");
    figures.push(Figure::new(format!("{name}: papers' cost per leaf"), per_leaf, "s", note));
    let times = per_leaf / cpu;
    figures.push(Figure::new(format!("{name}: papers' cost / ours"), times, "times", "computed"));
    Ok(())
}

fn name(form: &str, records: usize, [first, second]: [usize; 2]) -> String {
    format!("count table by {form}, {records} records, {first} × {second}")
}

fn add_times(name: &str, records: usize, taken: Taken, work: &str, figures: &mut Vec<Figure>) {
    let Taken { wall, cpu, peak_bytes } = taken;
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let mut add = |what: &str, value: f64, unit, parameters: String| {
        figures.push(Figure::new(format!("{name}: {what}"), value, unit, parameters));
    };
    add("CPU", cpu, "s", work.to_owned());
    add("wall", wall, "s", format!("both roles on {cores} cores"));
    let note = "per second of CPU, both roles' work and all results included";
    add("records per core", records as f64 / cpu, "per second", note.to_owned());
    if let Some(peak) = peak_bytes {
        let note = "both parties and both lists of cells in one process";
        add("peak memory", peak as f64 / 1e6, "MB", note.to_owned());
    }
}

/// Records over all cells, unevenly.
fn spread(records: usize, cells: usize) -> Vec<u32> {
    (0..records as u64).map(|i| (i * i % 1_000_003 % cells as u64) as u32).collect()
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
