use super::field::list;
use super::*;

const SMALL: &str = r#"{"algorithm": "Paillier", "numberOfTests": 1, "testGroups": [{"type": "?",
    "tests": [{"tcId": 1, "comment": "", "flags": [], "result": "valid"}]}]}"#;

fn directory(name: &str, text: &str, sums: Option<&str>) -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join(name), text).unwrap();
    let own = format!("{}  {name}\n", hex::encode(Sha256::digest(text.as_bytes())));
    std::fs::write(directory.path().join(SUMS), sums.unwrap_or(&own)).unwrap();
    directory
}

fn audit(name: &str, text: &str, sums: Option<&str>) -> Result<Report, Error> {
    run(directory(name, text, sums).path())
}

#[test]
fn every_vector_in_the_directory_passes_and_the_built_in_copy_is_the_same() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("vectors");
    let report = run(&directory).unwrap();
    assert_eq!(report.failures, []);
    assert!(report.tests() > 150);
    for (name, text) in BUILT_IN {
        assert_eq!(std::fs::read_to_string(directory.join(name)).unwrap(), *text);
    }
    let documents = report.rows.keys().map(|(document, _)| document.as_str());
    let documents: BTreeSet<_> = documents.collect();
    assert_eq!(documents, BUILT_IN.iter().map(|(name, _)| *name).collect());
    assert_eq!(std::fs::read_to_string(directory.join(SUMS)).unwrap(), BUILT_IN_SUMS);
}

#[test]
fn a_test_that_differs_is_counted_and_named() {
    let report = audit("a.json", SMALL, None).unwrap();
    let row = report.rows[&("a.json".to_owned(), "?".to_owned())];
    assert_eq!((row.valid, row.invalid), ([0, 1], [0, 0]));
    assert_eq!(report.failures[0].1.test_id, 1);
}

#[test]
fn a_directory_that_is_not_as_published_is_refused() {
    let wrong = |sums: &str| audit("a.json", SMALL, Some(sums)).unwrap_err();
    let zeros = "0".repeat(64);
    assert!(matches!(wrong(&format!("{zeros}  a.json\n")), Error::Checksum(_)));
    assert!(matches!(wrong(""), Error::Unlisted(_)));
    let own = hex::encode(Sha256::digest(SMALL.as_bytes()));
    assert!(matches!(wrong(&format!("{own}  a.json\n{zeros}  b.json\n")), Error::Unlisted(_)));
    assert!(matches!(wrong("nonsense\n"), Error::BadSums(1)));
    assert!(matches!(run(Path::new("/nonexistent")), Err(Error::Unreadable { .. })));
}

#[test]
fn a_document_that_is_not_in_the_envelope_is_refused() {
    let unknown = audit("a.json", &SMALL.replace("Paillier", "ROT13"), None);
    assert!(matches!(unknown, Err(Error::UnknownAlgorithm { .. })));
    for (from, to) in
        [("valid", "perhaps"), ("Tests\": 1", "Tests\": 2"), ("tcId", "id"), ("{", "[")]
    {
        let refused = audit("a.json", &SMALL.replace(from, to), None);
        assert!(matches!(refused, Err(Error::Malformed { .. })), "{to}: {refused:?}");
    }
}

/// Every test of a document passes, and all of them are run.
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

pub(super) fn document(name: &str) -> Value {
    let path = format!("{}/vectors/{name}.json", env!("CARGO_MANIFEST_DIR"));
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
