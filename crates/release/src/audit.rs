//! Test vectors of this package (feature `audit`).
//!
//! Each package below has such a module too: [`check`] is for documents about agreements and models.

mod agreement;
mod game;
mod lkc;
mod presence;
mod trajectory;

#[cfg(test)]
use diptych_mpc::audit::testing;
pub use diptych_mpc::audit::{Document, Verdict};
use diptych_mpc::audit::{examine_division, field};

/// Checks a document about agreements or models; `None` if it is about something else.
pub fn check(document: &Document) -> Option<Vec<Verdict>> {
    document.check_by(&[
        ("diptych-agreement-2", agreement::check),
        ("LKC-privacy", lkc::check),
        ("LKC-privacy for paths", trajectory::check),
        ("participation game", game::check),
        ("site presence", presence::check),
    ])
}
