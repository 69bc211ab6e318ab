//! Every known answer in `vectors/`, checked against this build.

pub mod exponential;
pub mod noise;

/// What became of one vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The group of tests it stands in.
    pub group: String,
    /// Its `tcId`.
    pub test_id: u64,
    /// What it is about.
    pub comment: String,
    /// `expected …, got …`; none if all is well.
    pub failure: Option<String>,
}
