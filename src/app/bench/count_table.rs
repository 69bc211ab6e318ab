//! Joint count tables, by transfers and under Paillier encryption: both parties in one process, on
//! all cores. The papers' cost, one scalar product per leaf, is computed from one product, not run.

use super::pair::{Pair, pair};
use super::scalar_product::{SIGMA, expected, key, one_product};
use super::{BenchArgs, Figures};
use crate::Error;
use crate::crypto::paillier::SecretKey;
use crate::paper::scalar_product::{Key, TableShape, count_table};
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::{self, CountShape};
use crate::role::Role;

/// k of the shared counts: 20 bits of count, and the rest for noise.
const WORD_BITS: u32 = 32;

/// Cells of the usual table.
pub(super) const CELLS: [usize; 2] = [64, 32];
/// Records of that table; by transfers there may be many more.
const SIZES: [usize; 3] = [1_000, 10_000, 30_000];
const MANY: usize = 1_000_000;
/// Other numbers of cells and records: few and many cells, far more at one party, and a release of
/// 7,200 rows.
const OTHERS: [([usize; 2], usize); 4] =
    [([4, 4], 1_000), ([128, 128], 1_000), ([4, 4096], 1_000), ([80, 90], 3_000)];

/// A table in shares.
type Counted = Pair<WordShares, WordShares>;

/// Tables by number of records, then by number of cells, each in both forms.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let sizes = options.sizes(&SIZES, &[100]);
    let mut cases: Vec<_> = sizes.into_iter().map(|records| (CELLS, records)).collect();
    let usual = options.size.is_none() && !options.quick;
    cases.extend(OTHERS.into_iter().filter(|_| usual));
    for (cells, records) in cases.iter().copied().chain(usual.then_some((CELLS, MANY))) {
        let table = by_transfers(options, records, cells)?;
        let note = format!("set-up of transfers included, {WORD_BITS} bits per count");
        table.add_whole(&name("transfers", records, cells), &note, (records, "record"), out);
    }
    let key = key(options)?;
    let entry_seconds = one_product(options, &key, &mut Figures::default())?;
    for (cells, records) in cases {
        let items = encrypted_shape(records, cells).items(key.public().bits());
        let [sent, returned] = items.map_err(Error::internal)?;
        let table = by_paillier(options, &key, records, cells)?;
        let name = name("paillier", records, cells);
        let note = format!("{sent} ciphertexts there, {returned} back");
        table.add_whole(&name, &note, (records, "record"), out);
        let leaves = cells[0] * cells[1];
        let per_leaf = entry_seconds * (records * leaves) as f64;
        let note = format!("computed, not run: {leaves} scalar products");
        out.add(format!("{name}: papers' cost per leaf"), per_leaf, "s", note);
        let times = per_leaf / table.taken.cpu;
        out.add(format!("{name}: papers' cost / ours"), times, "times", "computed");
    }
    Ok(())
}

/// One table by transfers, their set-up included.
pub(super) fn by_transfers(
    options: &BenchArgs,
    records: usize,
    cells: [usize; 2],
) -> Result<Counted, Error> {
    let shape = CountShape { records, cells, bits: WORD_BITS };
    let inputs = cells.map(|cells| spread(records, cells));
    let run = pair(
        options.memory(),
        |session| sum_by_group::count_table(session, &shape, &inputs[0], &|_| ()),
        |session| sum_by_group::count_table(session, &shape, &inputs[1], &|_| ()),
    )?;
    checked(run, &shape, &inputs)
}

/// One table under this key.
pub(super) fn by_paillier(
    options: &BenchArgs,
    key: &SecretKey,
    records: usize,
    cells: [usize; 2],
) -> Result<Counted, Error> {
    let shape = encrypted_shape(records, cells);
    let inputs = cells.map(|cells| spread(records, cells));
    let expected = expected(key)?;
    let part = |role| if shape.encrypting_role() == role { Key::Own(key) } else { expected };
    let run = pair(
        options.memory(),
        |session| count_table(session, part(Role::P1), &shape, &inputs[0], &|_| ()),
        |session| count_table(session, part(Role::P2), &shape, &inputs[1], &|_| ()),
    )?;
    checked(run, &CountShape { records, cells, bits: WORD_BITS }, &inputs)
}

fn encrypted_shape(records: usize, cells: [usize; 2]) -> TableShape {
    TableShape { records, cells, sigma: SIGMA, bits: WORD_BITS }
}

/// The run, if its table is right.
fn checked(run: Counted, shape: &CountShape, inputs: &[Vec<u32>; 2]) -> Result<Counted, Error> {
    let counts = run.p1.plus(&run.p2).map_err(Error::internal)?;
    if counts.words() != sum_by_group::ideal_table(shape, &inputs[0], &inputs[1]) {
        return Err(Error::internal("the table is wrong"));
    }
    Ok(run)
}

fn name(form: &str, records: usize, [first, second]: [usize; 2]) -> String {
    format!("count table by {form}, {records} records, {first} × {second}")
}

/// Distributes records over all cells, unevenly.
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
