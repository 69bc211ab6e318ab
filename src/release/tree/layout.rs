//! Where the leaf of a record lies in the release, when each party knows a part of its coordinates.

use crate::table::Cuts;

/// For every combination of the cuts of `attributes` (the last one fastest), what it adds to the
/// place of a leaf in the release. The places of two parties' combinations add up, because every
/// attribute belongs to one of them.
pub fn leaf_offsets(cuts: &Cuts, attributes: &[usize]) -> Vec<usize> {
    let mut offsets = vec![0];
    for attribute in attributes {
        let later = attribute + 1..cuts.schema().attributes.len();
        let stride: usize = later.map(|later| cuts.of(later).len()).product();
        let values = cuts.of(*attribute).len();
        offsets = offsets
            .into_iter()
            .flat_map(|offset| (0..values).map(move |value| offset + value * stride))
            .collect();
    }
    offsets
}
