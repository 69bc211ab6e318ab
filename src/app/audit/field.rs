//! Reading the fields of test vectors.

use serde_json::Value;

use super::Verdict;

/// Runs `examine` on every test of every group. A test that cannot be read fails.
pub(super) fn check_all(
    document: &Value,
    examine: impl Fn(&Value, &Value) -> Result<(), String>,
) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for group in list(document, "testGroups") {
        let name = [text(group, "type"), text(group, "circuit")].join(" ").trim().to_owned();
        for test in list(group, "tests") {
            verdicts.push(Verdict {
                group: name.clone(),
                test_id: test["tcId"].as_u64().unwrap_or(0),
                comment: text(test, "comment").to_owned(),
                failure: examine(group, test).err(),
            });
        }
    }
    verdicts
}

pub(super) fn list<'v>(value: &'v Value, name: &str) -> &'v [Value] {
    value[name].as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn text<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

pub(super) fn is_valid(test: &Value) -> Result<bool, String> {
    match text(test, "result") {
        "valid" => Ok(true),
        "invalid" => Ok(false),
        other => Err(format!("expected result valid or invalid, got {other:?}")),
    }
}

pub(super) fn integer(value: &Value, name: &str) -> Result<u64, String> {
    value[name].as_u64().ok_or_else(|| format!("field {name} is not a number"))
}

pub(super) fn number(value: &Value, name: &str) -> Result<u128, String> {
    parse_number(&value[name]).map_err(|wrong| format!("field {name} {wrong}"))
}

pub(super) fn numbers(value: &Value, name: &str) -> Result<Vec<u128>, String> {
    list(value, name).iter().map(parse_number).collect()
}

pub(super) fn parse_number(value: &Value) -> Result<u128, String> {
    u128::from_str_radix(value.as_str().unwrap_or_default(), 16)
        .map_err(|_| "is not a hexadecimal number of 128 bits".to_owned())
}

pub(super) fn bytes(value: &Value) -> Result<Vec<u8>, String> {
    let digits = value.as_str().unwrap_or("?").as_bytes();
    let digit = |d: &u8| char::from(*d).to_digit(16);
    let byte = |pair: &[u8]| match pair {
        [high, low] => Some((digit(high)? * 16 + digit(low)?) as u8),
        _ => None,
    };
    digits.chunks(2).map(byte).collect::<Option<_>>().ok_or_else(|| "is not hexadecimal".to_owned())
}

pub(super) fn bytes32(value: &Value) -> Result<[u8; 32], String> {
    bytes(value)?.try_into().map_err(|_| "is not 32 bytes long".to_owned())
}

/// Compares, and names both if they differ.
pub(super) fn expect<T: PartialEq + std::fmt::LowerHex>(
    what: &str,
    expected: T,
    got: T,
) -> Result<(), String> {
    if expected == got {
        return Ok(());
    }
    Err(format!("{what}: expected {expected:x}, got {got:x}"))
}

/// Compares lists, and names the first place where they differ.
pub(super) fn expect_list(what: &str, expected: &[u128], got: &[u128]) -> Result<(), String> {
    if expected.len() != got.len() {
        return Err(format!("{what}: expected {} values, got {}", expected.len(), got.len()));
    }
    let mut pairs = expected.iter().zip(got).enumerate();
    pairs.try_for_each(|(i, (e, g))| expect(&format!("{what} {i}"), *e, *g))
}

#[cfg(test)]
pub(super) fn assert_all_pass(name: &str, check: fn(&Value) -> Vec<Verdict>) {
    let document = document(name);
    let verdicts = check(&document);
    assert_eq!(verdicts.len() as u64, document["numberOfTests"].as_u64().unwrap());
    for verdict in &verdicts {
        assert_eq!(verdict.failure, None, "{} {}", verdict.group, verdict.test_id);
    }
}

/// Changes one hexadecimal digit of every text in turn in the first test of a
/// group and expects some failure: a check that accepts anything checks nothing.
#[cfg(test)]
pub(super) fn assert_changes_are_found(name: &str, check: fn(&Value) -> Vec<Verdict>) {
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
#[cfg(test)]
pub(super) fn assert_found(
    name: &str,
    check: fn(&Value) -> Vec<Verdict>,
    group: usize,
    field: &str,
    wrong: Value,
) {
    let mut document = document(name);
    document["testGroups"][group]["tests"][0][field] = wrong;
    let failed = check(&document).iter().filter(|v| v.failure.is_some()).count();
    assert_eq!(failed, 1, "{field} of group {group}");
}

#[cfg(test)]
pub(super) fn document(name: &str) -> Value {
    let path = format!("{}/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

#[cfg(test)]
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
