//! How far a release's frequencies are from those of the records it was made from.
//!
//! Both are taken at the level of the release's cuts, divided by their sums and compared by total
//! variation: half the sum of the absolute differences, 0 if all frequencies agree and 1 if nothing
//! is in both. One-way: of each attribute and the class, in the mean over those that were
//! specialized (the others agree always) and the class. Two-way: of each pair of these.

use std::collections::BTreeMap;

use crate::release::judge::tree::{Kind, Rows};

/// Most cells for which there is a place each, used or not.
const MOST_DENSE: u64 = 1 << 20;

/// Mean total variation distances.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Distances {
    /// Of single columns.
    pub one_way: f64,
    /// Of pairs of columns; nothing if there is only the class.
    pub two_way: Option<f64>,
}

/// Compares a release with generalized records. Costs rows · columns² / 2.
pub fn distances(release: &Rows, records: &Rows) -> Distances {
    let specialized = |kind: &Kind| !matches!(kind, Kind::Nominal(0 | 1));
    let attributes: Vec<usize> =
        (0..release.kinds.len()).filter(|index| specialized(&release.kinds[*index])).collect();
    // The class comes after the attributes.
    let columns: Vec<Option<usize>> = attributes.into_iter().map(Some).chain([None]).collect();
    let one_way: Vec<f64> =
        columns.iter().map(|column| distance(release, records, &[*column])).collect();
    let pairs = columns.iter().enumerate().flat_map(|(index, first)| {
        columns[index + 1..].iter().map(move |second| [*first, *second])
    });
    let two_way: Vec<f64> = pairs.map(|pair| distance(release, records, &pair)).collect();
    let mean = |all: &[f64]| all.iter().sum::<f64>() / all.len() as f64;
    Distances { one_way: mean(&one_way), two_way: (!two_way.is_empty()).then(|| mean(&two_way)) }
}

/// The total variation distance of the frequencies of one or two columns.
fn distance(release: &Rows, records: &Rows, columns: &[Option<usize>]) -> f64 {
    // One place more than there are values, for those that the release does not hold.
    let extent = |column: &Option<usize>| match column.map(|attribute| release.kinds[attribute]) {
        Some(Kind::Nominal(values)) => u64::from(values) + 1,
        Some(Kind::Ordered) => 1 << 32,
        None => release.class_count as u64,
    };
    let extents: Vec<u64> = columns.iter().map(extent).collect();
    let mut sums = [0.0; 2];
    let mut each = |add: &mut dyn FnMut(u64, usize, f64)| {
        for (side, rows) in [release, records].into_iter().enumerate() {
            for (row, weight) in rows.weights.iter().enumerate() {
                let code = |column: &Option<usize>| match column {
                    Some(attribute) => rows.columns[*attribute][row],
                    None => u32::from(rows.classes[row]),
                };
                let cell = columns.iter().zip(&extents).fold(0, |cell, (column, extent)| {
                    cell * extent + u64::from(code(column)).min(extent - 1)
                });
                add(cell, side, *weight);
                sums[side] += weight;
            }
        }
    };
    let cells: Vec<[f64; 2]> = match extents.iter().product::<u64>() {
        few if few <= MOST_DENSE => {
            let mut cells = vec![[0.0; 2]; few as usize];
            each(&mut |cell, side, weight| cells[cell as usize][side] += weight);
            cells
        }
        _ => {
            let mut cells: BTreeMap<u64, [f64; 2]> = BTreeMap::new();
            each(&mut |cell, side, weight| cells.entry(cell).or_default()[side] += weight);
            cells.into_values().collect()
        }
    };
    // Frequencies of nothing are 0, as far from any others as can be.
    if sums.contains(&0.0) {
        return if sums == [0.0; 2] { 0.0 } else { 1.0 };
    }
    cells.iter().map(|[a, b]| (a / sums[0] - b / sums[1]).abs()).sum::<f64>() / 2.0
}
