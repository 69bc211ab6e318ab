//! The group `Division` of `vectors/presence.json`.

use serde_json::Value;

use super::field::{expect_equal, integer, ratio, text};
use crate::paper::division::{DivisionShape, Side, ideal};
use crate::role::Role;

/// Largest circuit that is built for a document.
const MOST_USERS: u64 = 4096;

/// Checks a test of a group `Division`: both parties' inputs, the ideal function and the circuit.
///
/// # Errors
/// What differs, or cannot be read.
pub fn examine(test: &Value) -> Result<(), String> {
    let bits = |name: &str| text(test, name).chars().map(|c| c == '1').collect::<Vec<bool>>();
    let users = integer(test, "users")?;
    if users > MOST_USERS {
        return Err(format!("more than {MOST_USERS} users"));
    }
    let shape = DivisionShape {
        users: users as usize,
        k: integer(test, "k")?,
        delta: ratio(test, "delta")?,
        divider: Role::P1,
    };
    let (high, first, second) = (bits("high"), bits("divider"), bits("other"));
    let sides = [Side::Divider { high: &high, present: &first }, Side::Other { present: &second }];
    let mut inputs = Vec::new();
    for (side, name) in sides.into_iter().zip(["dividerInput", "otherInput"]) {
        let made = shape.inputs(side).map_err(|error| error.to_string())?;
        expect_equal(name, &bits(name), &*made)?;
        inputs.extend_from_slice(&made);
    }
    let accepted = test["accepted"].as_bool().ok_or("accepted is neither true nor false")?;
    expect_equal("the ideal function", &accepted, &ideal(&shape, &high, &first, &second))?;
    let output = shape.circuit().evaluate(&inputs).map_err(|error| error.to_string())?;
    expect_equal("the circuit", &vec![accepted], &output)
}
