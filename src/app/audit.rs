//! `diptych audit`: every test vector against this build, without trusting this build.
//!
//! The vectors are made by plain-Python programs that share no code with the product. First the
//! checksums, then each document by the checker that its "algorithm" names. A new kind of document
//! is one line in `CHECKERS` and one in `BUILT_IN`. `--circuits` is [`netlists`], `--transcript`
//! is [`transcript`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::app::console::Console;
use crate::math::{Randomness, hex};
use crate::publish::failure::Failure;

pub mod agreement;
pub mod circuits;
pub mod commutative;
pub mod exponential;
mod field;
pub mod game;
pub mod garble;
pub mod join;
pub mod lkc;
pub mod mechanisms;
pub mod netlists;
pub mod noise;
pub mod oprf;
pub mod ot;
pub mod paillier;
pub mod polynomial;
pub mod presence;
pub mod random_value;
mod references;
mod report;
pub mod scalar_product;
pub mod secure_sum;
pub mod sum_by_group;
pub mod taylor;
pub mod trajectory;
pub mod transcript;
pub mod transfers;

/// A checker: one verdict per test of the document.
type Checker = fn(&Value) -> Vec<Verdict>;

/// The algorithms that documents may name.
const CHECKERS: &[(&str, Checker)] = &[
    ("diptych-agreement-2", agreement::check),
    ("boolean circuits", circuits::check),
    ("commutative encryption", commutative::check),
    ("exponential mechanism", exponential::check),
    ("garbling", garble::check),
    ("hidden join", join::check),
    ("participation game", game::check),
    ("geometric and discrete Laplace noise", noise::check),
    ("LKC-privacy", lkc::check),
    ("oblivious pseudorandom function", oprf::check),
    ("LKC-privacy for paths", trajectory::check),
    ("oblivious transfer", ot::check),
    ("Paillier", paillier::check),
    ("oblivious polynomial evaluation", polynomial::check),
    ("random value", random_value::check),
    ("scalar product", scalar_product::check),
    ("secure sum", secure_sum::check),
    ("site presence", presence::check),
    ("sums by group", sum_by_group::check),
    ("Taylor exponential mechanism", taylor::check),
    ("transfers with few bytes", transfers::check),
    ("two-party mechanisms", mechanisms::check),
];

/// The documents of this version, for where there is no directory of vectors.
const BUILT_IN: &[(&str, &str)] = &[
    ("agreement.json", include_str!("../../vectors/agreement.json")),
    ("circuits.json", include_str!("../../vectors/circuits.json")),
    ("commutative.json", include_str!("../../vectors/commutative.json")),
    ("exponential.json", include_str!("../../vectors/exponential.json")),
    ("game.json", include_str!("../../vectors/game.json")),
    ("garble.json", include_str!("../../vectors/garble.json")),
    ("join.json", include_str!("../../vectors/join.json")),
    ("lkc.json", include_str!("../../vectors/lkc.json")),
    ("mechanisms.json", include_str!("../../vectors/mechanisms.json")),
    ("noise.json", include_str!("../../vectors/noise.json")),
    ("oprf.json", include_str!("../../vectors/oprf.json")),
    ("ot.json", include_str!("../../vectors/ot.json")),
    ("paillier.json", include_str!("../../vectors/paillier.json")),
    ("polynomial.json", include_str!("../../vectors/polynomial.json")),
    ("presence.json", include_str!("../../vectors/presence.json")),
    ("random_value.json", include_str!("../../vectors/random_value.json")),
    ("scalar_product.json", include_str!("../../vectors/scalar_product.json")),
    ("secure_sum.json", include_str!("../../vectors/secure_sum.json")),
    ("sum_by_group.json", include_str!("../../vectors/sum_by_group.json")),
    ("taylor.json", include_str!("../../vectors/taylor.json")),
    ("trajectory.json", include_str!("../../vectors/trajectory.json")),
    ("transfers.json", include_str!("../../vectors/transfers.json")),
];
const BUILT_IN_SUMS: &str = include_str!("../../vectors/SHA256SUMS");

/// The list of checksums in a directory of vectors, as `sha256sum` writes it.
const SUMS: &str = "SHA256SUMS";
/// No document is read beyond this.
const LARGEST_DOCUMENT: u64 = 256 << 20;

/// Check this build against the test vectors
///
/// Takes the directory `vectors` (with --circuits, `circuits`) if there is one
/// and the built-in copy otherwise. Exit status 1 if anything differs.
#[derive(Args, Debug)]
#[command(after_help = "Examples:\n  diptych audit\n  diptych audit --circuits\n  \
                        diptych audit --transcript release-one/ release-two/")]
pub struct AuditArgs {
    /// Directory with the vectors, or the circuits, and their SHA256SUMS
    #[arg(value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Check the circuits that are kept for review, each against a plain function
    #[arg(long)]
    circuits: bool,
    /// Compare the messages of two runs that were recorded with `diptych run --record`
    #[arg(long, num_args = 2, value_names = ["DIR", "DIR"],
          conflicts_with_all = ["directory", "circuits", "json"])]
    transcript: Option<Vec<PathBuf>>,
    /// Also write everything that was found to this file
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
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

/// One document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Audited {
    /// What it is about.
    pub algorithm: String,
    /// How long its tests took.
    pub time: Duration,
    /// All tests.
    pub all: Row,
    /// Rows by flag. A test counts for each of its flags.
    pub flags: BTreeMap<String, Row>,
}

/// Everything that an audit found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// By the name of the document.
    pub documents: BTreeMap<String, Audited>,
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
    /// A line of the list that cannot be read.
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
/// If files cannot be read (wrong input), or anything differs from what it should be (failed).
pub fn run_verb(arguments: &AuditArgs, console: &Console) -> Result<(), Failure> {
    if let Some([first, second]) = arguments.transcript.as_deref() {
        return transcript::run(first, second, console);
    }
    let default = Path::new(if arguments.circuits { "circuits" } else { "vectors" });
    let given = arguments.directory.as_deref();
    let directory = given.or_else(|| default.join(SUMS).is_file().then_some(default));
    let json = arguments.json.as_deref();
    if arguments.circuits {
        let mut rng = Randomness::from_os()?;
        let rows = match directory {
            Some(directory) => netlists::run(directory, &mut rng),
            None => netlists::run_built_in(&mut rng),
        };
        return report::show_circuits(&rows.map_err(Failure::wrong_input)?, json, console);
    }
    let report = directory.map_or_else(run_built_in, run);
    report::show_vectors(&report.map_err(Failure::wrong_input)?, json, console)
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
    check_schemas(directory, &sums)?;
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
        self.rows.values().map(Row::tests).sum()
    }
}

impl Row {
    /// How many tests it counts.
    pub fn tests(&self) -> usize {
        self.valid.iter().chain(&self.invalid).sum()
    }

    fn count(&mut self, valid: bool, passed: bool) {
        let counts = if valid { &mut self.valid } else { &mut self.invalid };
        counts[usize::from(!passed)] += 1;
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
    let listed = documents.iter().map(|(name, bytes)| (name.as_str(), &**bytes));
    // Schemas are listed as well, for outsiders; only documents are run.
    let left = check_sums(sums, listed)?;
    if let Some(missing) = left.iter().find(|name| !name.starts_with("schema/")) {
        return Err(Error::Unlisted(missing.clone()));
    }
    let mut report = Report::default();
    for (name, bytes) in documents {
        check_document(name, bytes, &mut report)?;
    }
    Ok(report)
}

/// Compares files with a list of checksums; the names in the list that were not among them.
fn check_sums<'f>(
    sums: &str,
    files: impl Iterator<Item = (&'f str, &'f [u8])>,
) -> Result<Vec<String>, Error> {
    let mut expected = parse_sums(sums)?;
    for (name, bytes) in files {
        let sum = expected.remove(name).ok_or_else(|| Error::Unlisted(name.to_owned()))?;
        if sum != hex::encode(Sha256::digest(bytes)) {
            return Err(Error::Checksum(name.to_owned()));
        }
    }
    Ok(expected.into_keys().collect())
}

/// The schemas are what the list says; they are one folder deep.
fn check_schemas(directory: &Path, sums: &str) -> Result<(), Error> {
    for (name, sum) in parse_sums(sums)? {
        let Some(file) = name.strip_prefix("schema/") else { continue };
        let plain = file.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        if !plain {
            return Err(Error::Unlisted(name));
        }
        if sum != hex::encode(Sha256::digest(read(&directory.join(&name))?)) {
            return Err(Error::Checksum(name));
        }
    }
    Ok(())
}

/// Names and checksums, one per line: 64 digits, two spaces, name.
fn parse_sums(sums: &str) -> Result<BTreeMap<String, String>, Error> {
    let digits =
        |sum: &str| sum.len() == 64 && sum.bytes().all(|b| b"0123456789abcdef".contains(&b));
    let parse = |(line, text): (usize, &str)| {
        let parts = text.split_once("  ").filter(|(sum, name)| digits(sum) && !name.is_empty());
        let (sum, name) = parts.ok_or(Error::BadSums(line + 1))?;
        Ok((name.to_owned(), sum.to_owned()))
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
    let start = Instant::now();
    let verdicts = check(&document);
    let audited = report.documents.entry(name.to_owned()).or_default();
    audited.time = start.elapsed();
    algorithm.clone_into(&mut audited.algorithm);
    for verdict in verdicts {
        let listed = results.remove(&verdict.test_id);
        let listed = listed.ok_or_else(|| malformed(format!("test {} twice", verdict.test_id)))?;
        let passed = verdict.failure.is_none();
        let row = report.rows.entry((name.to_owned(), verdict.group.clone())).or_default();
        row.count(listed.valid, passed);
        audited.all.count(listed.valid, passed);
        for flag in listed.flags {
            audited.flags.entry(flag).or_default().count(listed.valid, passed);
        }
        if verdict.failure.is_some() {
            report.failures.push((name.to_owned(), verdict));
        }
    }
    match results.keys().next() {
        Some(unchecked) => Err(malformed(format!("test {unchecked} was not checked"))),
        None => Ok(()),
    }
}

/// What a document says of a test.
struct Listed {
    valid: bool,
    flags: BTreeSet<String>,
}

/// Every test's number and what is said of it, which must be as many as announced.
fn results(document: &Value) -> Result<BTreeMap<u64, Listed>, String> {
    let mut results = BTreeMap::new();
    for group in document["testGroups"].as_array().ok_or("no test groups")? {
        for test in group["tests"].as_array().ok_or("a group without tests")? {
            let id = test["tcId"].as_u64().ok_or("a test without a number")?;
            let valid = match test["result"].as_str() {
                Some("valid") => true,
                Some("invalid") => false,
                _ => return Err(format!("test {id} is neither valid nor invalid")),
            };
            let flags = field::list(test, "flags").iter().filter_map(Value::as_str);
            let flags = flags.map(str::to_owned).collect();
            if results.insert(id, Listed { valid, flags }).is_some() {
                return Err(format!("test {id} is there twice"));
            }
        }
    }
    if document["numberOfTests"].as_u64() != Some(results.len() as u64) {
        return Err(format!("it has {} tests and announces another number", results.len()));
    }
    Ok(results)
}

#[cfg(test)]
mod tests;
