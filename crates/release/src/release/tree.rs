//! What top-down specialization is, whatever model drives it: records grouped by the leaves of a
//! tree of cuts, scores of what could be specialized next, and the table that comes out.
//!
//! The cuts themselves are [`crate::table::Cuts`]. [`leaf_records`] groups one party's records by leaf,
//! [`scorer`] keeps the scores of [`utility`] up to date, [`splits`] finds where an interval could be
//! split, [`layout`] says where a leaf lies, [`output`] writes the
//! table, [`reading`] reads it again. Nothing here promises
//! anything about privacy: a model does.

pub mod layout;
pub mod leaf_records;
pub mod output;
pub mod reading;
pub mod scorer;
pub mod splits;
pub mod utility;

use crate::Error;
use crate::table::Cuts;
pub use leaf_records::{LeafList, Leaves, PathList};

/// Most rows of a release: leaves times classes, in the worst case.
pub const MAX_ROWS: u64 = 1 << 22;

/// A table generalized by cuts, with a count for every leaf and class.
#[derive(Clone, Debug)]
pub struct Generalized {
    /// The cuts, with the specializations in the order they were made.
    pub cuts: Cuts,
    /// The leaves, in the order of the table.
    pub leaves: Leaves,
    /// One count per leaf and class, classes fastest; one per leaf where leaves are paths.
    pub counts: Vec<u64>,
}

/// The data lacks a column that the agreement gives to this party.
pub(crate) fn missing_column(attribute: &str) -> Error {
    Error::input(format!(
        "the data has no column for attribute `{attribute}`: read the file again with this agreement"
    ))
}
