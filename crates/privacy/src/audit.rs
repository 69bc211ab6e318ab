//! Test vectors of this package (feature `audit`): see [`diptych_primitives::audit`].

mod exponential;
mod noise;

use diptych_primitives::audit::field;
#[cfg(test)]
use diptych_primitives::audit::testing;
pub use diptych_primitives::audit::{Document, Verdict};

/// Checks a document about the exponential mechanism or noise; `None` if it is about something else.
pub fn check(document: &Document) -> Option<Vec<Verdict>> {
    document.check_by(&[
        ("exponential mechanism", exponential::check),
        ("geometric and discrete Laplace noise", noise::check),
    ])
}
