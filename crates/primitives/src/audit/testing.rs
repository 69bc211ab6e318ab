//! Checks that a checker detects errors, for tests of the packages.

#![expect(clippy::missing_panics_doc, clippy::unwrap_used, reason = "helpers of a test")]

use serde_json::Value;

use super::Checker;
use super::field::list;

/// Every test of a document passes, and all of them are run.
pub fn assert_all_pass(name: &str, check: Checker) {
    let document = document(name);
    let verdicts = check(&document);
    assert_eq!(verdicts.len() as u64, document["numberOfTests"].as_u64().unwrap());
    for verdict in &verdicts {
        assert_eq!(verdict.failure, None, "{} {}", verdict.group, verdict.test_id);
    }
}

/// Changes one hexadecimal digit of every text in turn in the first test of a
/// group and expects some failure: a check that accepts anything checks nothing.
pub fn assert_changes_are_found(name: &str, check: Checker) {
    let document = document(name);
    for group in 0..list(&document, "testGroups").len() {
        let mut changed = document.clone();
        let test = &mut changed["testGroups"][group]["tests"][0];
        let field = test.as_object().unwrap().keys().rfind(|key| *key != "result").unwrap().clone();
        alter(&mut test[&field]);
        assert!(check(&changed).iter().any(|v| v.failure.is_some()), "group {group}: {field}");
    }
}

/// Puts `wrong` in a field of the first test of a group and expects exactly one failure.
pub fn assert_found(name: &str, check: Checker, group: usize, field: &str, wrong: Value) {
    let mut document = document(name);
    document["testGroups"][group]["tests"][0][field] = wrong;
    let failed = check(&document).iter().filter(|v| v.failure.is_some()).count();
    assert_eq!(failed, 1, "{field} of group {group}");
}

/// A document of the directory `vectors`.
pub fn document(name: &str) -> Value {
    let path = format!("{}/../../vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn alter(value: &mut Value) {
    match value {
        Value::String(text) => {
            let last = if text.ends_with('0') { '1' } else { '0' };
            text.pop();
            text.push(last);
        }
        Value::Number(number) => *value = Value::from(number.as_u64().unwrap() ^ 1),
        Value::Array(items) => alter(items.last_mut().unwrap()),
        _ => {}
    }
}
