//! `diptych audit`: known answers against this program.

pub mod agreement;
pub mod exponential;
pub mod noise;

/// What became of one test vector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verdict {
    /// The group's type.
    pub group: String,
    /// The test's number in its file.
    pub test_id: u64,
    /// What the vector is about.
    pub comment: String,
    /// What was expected and what came instead; `None` if they agree.
    pub failure: Option<String>,
}
