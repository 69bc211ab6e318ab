//! `diptych audit`: every test vector against this build, without trusting this build.
//!
//! The vectors are made by plain-Python programs that share no code with the product. First the
//! checksums, then each document by the checker that its "algorithm" names. A new kind of document
//! is one line in `CHECKERS` and one in `BUILT_IN`.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::app::console::Console;
use crate::app::failure::Failure;

pub mod agreement;
pub mod circuits;
pub mod commutative;
pub mod exponential;
mod field;
pub mod garble;
pub mod mechanisms;
pub mod noise;
pub mod ot;
pub mod paillier;
pub mod polynomial;
pub mod random_value;
pub mod scalar_product;
pub mod taylor;

/// A checker: one verdict per test of the document.
type Checker = fn(&Value) -> Vec<Verdict>;

/// The algorithms that documents may name.
const CHECKERS: &[(&str, Checker)] = &[
    ("diptych-agreement-1", agreement::check),
    ("boolean circuits", circuits::check),
    ("commutative encryption", commutative::check),
    ("exponential mechanism", exponential::check),
    ("garbling", garble::check),
    ("geometric and discrete Laplace noise", noise::check),
    ("oblivious transfer", ot::check),
    ("Paillier", paillier::check),
    ("oblivious polynomial evaluation", polynomial::check),
    ("random value", random_value::check),
    ("scalar product", scalar_product::check),
    ("Taylor exponential mechanism", taylor::check),
    ("two-party mechanisms", mechanisms::check),
];

/// The documents of this version, for where there is no directory of vectors.
const BUILT_IN: &[(&str, &str)] = &[
    ("agreement.json", include_str!("../../vectors/agreement.json")),
    ("circuits.json", include_str!("../../vectors/circuits.json")),
    ("commutative.json", include_str!("../../vectors/commutative.json")),
    ("exponential.json", include_str!("../../vectors/exponential.json")),
    ("garble.json", include_str!("../../vectors/garble.json")),
    ("mechanisms.json", include_str!("../../vectors/mechanisms.json")),
    ("noise.json", include_str!("../../vectors/noise.json")),
    ("ot.json", include_str!("../../vectors/ot.json")),
    ("paillier.json", include_str!("../../vectors/paillier.json")),
    ("polynomial.json", include_str!("../../vectors/polynomial.json")),
    ("random_value.json", include_str!("../../vectors/random_value.json")),
    ("scalar_product.json", include_str!("../../vectors/scalar_product.json")),
    ("taylor.json", include_str!("../../vectors/taylor.json")),
];
const BUILT_IN_SUMS: &str = include_str!("../../vectors/SHA256SUMS");

/// The list of checksums in a directory of vectors, as `sha256sum` writes it.
const SUMS: &str = "SHA256SUMS";
/// No document is read beyond this.
const LARGEST_DOCUMENT: u64 = 256 << 20;

/// Check this build against the test vectors
///
/// Takes the directory `vectors` if there is one and the built-in copy otherwise.
#[derive(Args, Debug)]
pub struct AuditArgs {
    /// Directory with the vectors and their SHA256SUMS
    directory: Option<PathBuf>,
}

/// What came of one test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The kind of test: rows of the table.
    pub group: String,
    /// The test's number in its document.
    pub test_id: u64,
    /// What the document says about the test.
    pub comment: String,
    /// What differed: expected …, got …
    pub failure: Option<String>,
}

/// Counts for one row of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Row {
    /// Valid tests that passed and that failed.
    pub valid: [usize; 2],
    /// Invalid tests that were refused and that were not.
    pub invalid: [usize; 2],
}

/// Everything that an audit found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// Rows by document and group.
    pub rows: BTreeMap<(String, String), Row>,
    /// Document and verdict of every test that failed.
    pub failures: Vec<(String, Verdict)>,
}

/// Why an audit could not be made.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A file is far larger than any document.
    #[error("{0} is larger than any document of vectors")]
    TooLarge(PathBuf),
    /// A document without a checksum, or a checksum without a document.
    #[error("{0} and SHA256SUMS do not list the same documents; restore the vectors")]
    Unlisted(String),
    /// A line of the list that is none.
    #[error("line {0} of SHA256SUMS is not a checksum and a name")]
    BadSums(usize),
    /// The file is not the one that was published.
    #[error("{0} does not have the checksum in SHA256SUMS; restore the vectors")]
    Checksum(String),
    /// Not in the envelope.
    #[error("{document} is not a document of vectors: {problem}")]
    Malformed {
        /// The document.
        document: String,
        /// What is wrong.
        problem: String,
    },
    /// Nobody knows how to check it.
    #[error("{document} is about {algorithm:?}, which this version cannot check")]
    UnknownAlgorithm {
        /// The document.
        document: String,
        /// Its algorithm.
        algorithm: String,
    },
}

/// Runs the verb.
///
/// # Errors
/// If the vectors cannot be read, or any verdict differs from the document's.
pub fn run_verb(arguments: &AuditArgs, console: &Console) -> Result<(), Failure> {
    let default = Path::new("vectors");
    let report = match &arguments.directory {
        Some(directory) => run(directory),
        None if default.join(SUMS).is_file() => run(default),
        None => run_built_in(),
    };
    let report = report.map_err(Failure::wrong_input)?;
    let width = report.rows.keys().map(|(_, group)| group.chars().count()).max().unwrap_or(0);
    console.result(format!(
        "{:<18} {:<width$} {:>14} {:>7} {:>16} {:>7}",
        "document", "group", "valid: passed", "failed", "invalid: refused", "failed"
    ));
    for ((document, group), row) in &report.rows {
        console.result(format!(
            "{document:<18} {group:<width$} {:>14} {:>7} {:>16} {:>7}",
            row.valid[0], row.valid[1], row.invalid[0], row.invalid[1]
        ));
    }
    for (document, verdict) in &report.failures {
        console.result(format!(
            "{document} test {} ({}): {}",
            verdict.test_id,
            verdict.comment,
            verdict.failure.as_deref().unwrap_or_default()
        ));
    }
    if report.failures.is_empty() {
        console.say(format!("all {} tests passed", report.tests()));
        return Ok(());
    }
    let failed = report.failures.len();
    Err(Failure::failed(format!("{failed} of {} tests failed", report.tests()))
        .advise("this build must not be used; report the lines above"))
}

/// Checks every document of a directory.
///
/// # Errors
/// [`Error`] if the directory is not as it should be. Failed tests are part of the report.
pub fn run(directory: &Path) -> Result<Report, Error> {
    let sums = read(&directory.join(SUMS))?;
    let sums = String::from_utf8_lossy(&sums);
    let unreadable = |source| Error::Unreadable { path: directory.into(), source };
    let mut documents = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "json") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            documents.push((name, Cow::Owned(read(&path)?)));
        }
    }
    documents.sort();
    check_all(&sums, &documents)
}

/// Checks the documents that are built into the command.
///
/// # Errors
/// As [`run`].
pub fn run_built_in() -> Result<Report, Error> {
    let documents: Vec<_> = BUILT_IN
        .iter()
        .map(|(name, text)| ((*name).to_owned(), Cow::Borrowed(text.as_bytes())))
        .collect();
    check_all(BUILT_IN_SUMS, &documents)
}

impl Report {
    /// How many tests were run.
    pub fn tests(&self) -> usize {
        let sum = |row: &Row| row.valid.iter().chain(&row.invalid).sum::<usize>();
        self.rows.values().map(sum).sum()
    }
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    let unreadable = |source| Error::Unreadable { path: path.into(), source };
    if std::fs::metadata(path).map_err(unreadable)?.len() > LARGEST_DOCUMENT {
        return Err(Error::TooLarge(path.into()));
    }
    std::fs::read(path).map_err(unreadable)
}

fn check_all(sums: &str, documents: &[(String, Cow<'_, [u8]>)]) -> Result<Report, Error> {
    let mut expected = parse_sums(sums)?;
    for (name, bytes) in documents {
        let sum = expected.remove(name).ok_or_else(|| Error::Unlisted(name.clone()))?;
        if sum != hex(&Sha256::digest(bytes)) {
            return Err(Error::Checksum(name.clone()));
        }
    }
    // Schemas are listed as well, for outsiders; only documents are run.
    if let Some((missing, _)) = expected.into_iter().find(|(name, _)| !name.contains('/')) {
        return Err(Error::Unlisted(missing));
    }
    let mut report = Report::default();
    for (name, bytes) in documents {
        check_document(name, bytes, &mut report)?;
    }
    Ok(report)
}

/// Names and checksums, one per line: 64 digits, two spaces, name.
fn parse_sums(sums: &str) -> Result<BTreeMap<String, String>, Error> {
    let parse = |(line, text): (usize, &str)| {
        let parts = text.split_once("  ").filter(|(sum, name)| sum.len() == 64 && !name.is_empty());
        let (sum, name) = parts.ok_or(Error::BadSums(line + 1))?;
        Ok((name.to_owned(), sum.to_ascii_lowercase()))
    };
    sums.lines().enumerate().map(parse).collect()
}

fn check_document(name: &str, bytes: &[u8], report: &mut Report) -> Result<(), Error> {
    let malformed = |problem: String| Error::Malformed { document: name.to_owned(), problem };
    let document: Value =
        serde_json::from_slice(bytes).map_err(|error| malformed(error.to_string()))?;
    let algorithm = document["algorithm"].as_str().unwrap_or_default();
    let known = CHECKERS.iter().find(|(known, _)| *known == algorithm);
    let (_, check) = known.ok_or_else(|| Error::UnknownAlgorithm {
        document: name.to_owned(),
        algorithm: algorithm.to_owned(),
    })?;
    let mut results = results(&document).map_err(malformed)?;
    for verdict in check(&document) {
        let valid = results.remove(&verdict.test_id);
        let valid = valid.ok_or_else(|| malformed(format!("test {} twice", verdict.test_id)))?;
        let row = report.rows.entry((name.to_owned(), verdict.group.clone())).or_default();
        let counts = if valid { &mut row.valid } else { &mut row.invalid };
        counts[usize::from(verdict.failure.is_some())] += 1;
        if verdict.failure.is_some() {
            report.failures.push((name.to_owned(), verdict));
        }
    }
    match results.keys().next() {
        Some(unchecked) => Err(malformed(format!("test {unchecked} was not checked"))),
        None => Ok(()),
    }
}

/// Every test's number and whether it is valid, which must be as many as announced.
fn results(document: &Value) -> Result<BTreeMap<u64, bool>, String> {
    let mut results = BTreeMap::new();
    for group in document["testGroups"].as_array().ok_or("no test groups")? {
        for test in group["tests"].as_array().ok_or("a group without tests")? {
            let id = test["tcId"].as_u64().ok_or("a test without a number")?;
            let valid = match test["result"].as_str() {
                Some("valid") => true,
                Some("invalid") => false,
                _ => return Err(format!("test {id} is neither valid nor invalid")),
            };
            if results.insert(id, valid).is_some() {
                return Err(format!("test {id} is there twice"));
            }
        }
    }
    if document["numberOfTests"].as_u64() != Some(results.len() as u64) {
        return Err(format!("it has {} tests and announces another number", results.len()));
    }
    Ok(results)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const SMALL: &str = r#"{"algorithm": "Paillier", "numberOfTests": 1, "testGroups": [{"type": "?",
        "tests": [{"tcId": 1, "comment": "", "flags": [], "result": "valid"}]}]}"#;

    fn directory(name: &str, text: &str, sums: Option<&str>) -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join(name), text).unwrap();
        let own = format!("{}  {name}\n", hex(&Sha256::digest(text.as_bytes())));
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
        let documents: std::collections::BTreeSet<_> = documents.collect();
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
        let own = hex(&Sha256::digest(SMALL.as_bytes()));
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
}
