use std::collections::BTreeSet;

use super::*;
use crate::Error;

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
    let wrong = |sums: &str| audit("a.json", SMALL, Some(sums)).unwrap_err().to_string();
    let zeros = "0".repeat(64);
    assert!(wrong(&format!("{zeros}  a.json\n")).contains("does not have the checksum"));
    assert!(wrong("").contains("do not list the same documents"));
    let own = hex::encode(Sha256::digest(SMALL.as_bytes()));
    let more = wrong(&format!("{own}  a.json\n{zeros}  b.json\n"));
    assert!(more.contains("do not list the same documents"), "{more}");
    assert!(wrong("nonsense\n").contains("line 1 of SHA256SUMS"));
    let missing = run(Path::new("/nonexistent")).unwrap_err();
    assert!(missing.message().contains("cannot read /nonexistent"), "{missing}");
}

#[test]
fn a_document_that_is_not_in_the_envelope_is_refused() {
    let unknown = audit("a.json", &SMALL.replace("Paillier", "ROT13"), None);
    assert!(unknown.unwrap_err().message().contains("which this version cannot check"));
    for (from, to) in
        [("valid", "perhaps"), ("Tests\": 1", "Tests\": 2"), ("tcId", "id"), ("{", "[")]
    {
        let refused = audit("a.json", &SMALL.replace(from, to), None);
        let refused = refused.unwrap_err();
        assert!(refused.message().contains("is not a document of vectors"), "{to}: {refused}");
    }
}

#[test]
fn every_circuit_computes_its_function_and_the_built_in_copy_is_the_same() {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("circuits");
    let rows = run_circuits(&directory, &mut Randomness::from_os().unwrap()).unwrap();
    assert_eq!(rows.len(), CIRCUITS.len());
    assert!(rows.iter().all(|row| row.failure.is_none()), "{rows:?}");
    for (name, text) in CIRCUITS {
        assert_eq!(std::fs::read_to_string(directory.join(name)).unwrap(), *text);
    }
    assert_eq!(std::fs::read_to_string(directory.join(SUMS)).unwrap(), CIRCUIT_SUMS);
}
