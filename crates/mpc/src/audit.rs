//! Test vectors and circuits of this package (feature `audit`): see [`diptych_primitives::audit`].

mod circuits;
mod division;
mod join;
mod mechanisms;
pub mod netlists;
mod oprf;
mod polynomial;
mod random_value;
mod references;
mod scalar_product;
mod secure_sum;
mod sum_by_group;
mod taylor;

use diptych_primitives::audit::keys;
#[cfg(any(test, feature = "testing"))]
pub use diptych_primitives::audit::testing;
pub use diptych_primitives::audit::{Document, Verdict, field};
pub use division::examine as examine_division;
use serde_json::Value;

use crate::role::Role;

/// Checks a document about circuits, protocols or two-party mechanisms; `None` if it is about
/// something else.
pub fn check(document: &Document) -> Option<Vec<Verdict>> {
    document.check_by(&[
        ("boolean circuits", circuits::check),
        ("hidden join", join::check),
        ("oblivious polynomial evaluation", polynomial::check),
        ("oblivious pseudorandom function", oprf::check),
        ("random value", random_value::check),
        ("scalar product", scalar_product::check),
        ("secure sum", secure_sum::check),
        ("sums by group", sum_by_group::check),
        ("Taylor exponential mechanism", taylor::check),
        ("two-party mechanisms", mechanisms::check),
    ])
}

fn role(value: &Value, name: &str) -> Result<Role, String> {
    match field::text(value, name) {
        "p1" => Ok(Role::P1),
        "p2" => Ok(Role::P2),
        other => Err(format!("unknown {name} {other:?}")),
    }
}
