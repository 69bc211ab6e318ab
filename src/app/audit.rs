//! `diptych audit`: checks this build against every test vector.
//!
//! The vectors are made by plain-Python programs that share no code with the product. First the
//! checksums, then each document by the package that knows its "algorithm". A new kind of document
//! is a line in a package's `audit::check` and one in `BUILT_IN`. `--circuits` checks the circuits
//! kept for review, `--transcript` is [`transcript`].

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use clap::Args;
use diptych_mpc::audit::netlists::{self, Kept};
use diptych_mpc::audit::{Document, Verdict};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::app::console::Console;
use crate::math::{Randomness, hex};

mod report;
pub mod transcript;

/// What a package says of a document, if it is about what the package computes.
type Check = fn(&Document) -> Option<Vec<Verdict>>;

const PACKAGES: [Check; 4] = [
    diptych_primitives::audit::check,
    diptych_privacy::audit::check,
    diptych_mpc::audit::check,
    diptych_release::audit::check,
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

/// The circuits of this version, for where there is no directory of them.
const CIRCUITS: &[(&str, &str)] = &[
    ("division_8.txt", include_str!("../../circuits/division_8.txt")),
    ("horizontal_choice_4.txt", include_str!("../../circuits/horizontal_choice_4.txt")),
    ("horizontal_max_2.txt", include_str!("../../circuits/horizontal_max_2.txt")),
    ("joint_noise_k24.txt", include_str!("../../circuits/joint_noise_k24.txt")),
    ("less_than_64.txt", include_str!("../../circuits/less_than_64.txt")),
    ("maximum_8x32.txt", include_str!("../../circuits/maximum_8x32.txt")),
    ("modular_add_p255.txt", include_str!("../../circuits/modular_add_p255.txt")),
    ("noisy_maximum_4.txt", include_str!("../../circuits/noisy_maximum_4.txt")),
    ("random_value_16.txt", include_str!("../../circuits/random_value_16.txt")),
    ("vertical_choice_2x2.txt", include_str!("../../circuits/vertical_choice_2x2.txt")),
];
const CIRCUIT_SUMS: &str = include_str!("../../circuits/SHA256SUMS");

/// The list of checksums in a directory of vectors, as `sha256sum` writes it.
const SUMS: &str = "SHA256SUMS";
/// No document is read beyond this.
const LARGEST_DOCUMENT: u64 = 256 << 20;

/// Check this build against the test vectors
///
/// Uses the directory `vectors` (with --circuits, `circuits`) if there is one, and the built-in
/// copy otherwise. Exit status 1 if anything differs.
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
    /// Also write the results to this file, as JSON
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
}

/// Counts for one row of the table.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Row {
    /// Valid tests that passed and that failed.
    pub valid: [usize; 2],
    /// Invalid tests that were rejected and that were not.
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

/// Runs the verb.
///
/// # Errors
/// If files cannot be read (wrong input), or anything differs from what it should be (failed).
pub fn run_verb(arguments: &AuditArgs, console: &Console) -> Result<(), Error> {
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
            Some(directory) => run_circuits(directory, &mut rng),
            None => check_circuits(CIRCUIT_SUMS, &built_in(CIRCUITS), &mut rng),
        };
        return report::show_circuits(&rows?, json, console);
    }
    let built_in = || check_all(BUILT_IN_SUMS, &built_in(BUILT_IN));
    let report = directory.map_or_else(built_in, run);
    report::show_vectors(&report?, json, console)
}

/// Checks every document of a directory.
///
/// # Errors
/// [`Error`] if the directory is not as it should be. Failed tests are part of the report.
pub fn run(directory: &Path) -> Result<Report, Error> {
    let sums = read(&directory.join(SUMS))?;
    let sums = String::from_utf8_lossy(&sums);
    let documents = files(directory, "json")?;
    check_schemas(directory, &sums)?;
    check_all(&sums, &documents)
}

/// Checks every circuit of a directory.
///
/// # Errors
/// As [`run`]. Circuits that compute something else are in the rows.
pub fn run_circuits(directory: &Path, rng: &mut Randomness) -> Result<Vec<netlists::Row>, Error> {
    let sums = read(&directory.join(SUMS))?;
    check_circuits(&String::from_utf8_lossy(&sums), &files(directory, "txt")?, rng)
}

/// Names and contents.
type Files = Vec<(String, Cow<'static, [u8]>)>;

/// The files of a directory whose names end so, by name.
fn files(directory: &Path, extension: &str) -> Result<Files, Error> {
    let unreadable = |error: std::io::Error| Error::file(directory, "read", &error);
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|found| found == extension) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            files.push((name, read(&path)?.into()));
        }
    }
    files.sort();
    Ok(files)
}

/// Files that are part of the command.
fn built_in(files: &[(&str, &'static str)]) -> Files {
    files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().into())).collect()
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
    let unreadable = |error: std::io::Error| Error::file(path, "read", &error);
    if std::fs::metadata(path).map_err(unreadable)?.len() > LARGEST_DOCUMENT {
        return Err(Error::input(format!(
            "{} is larger than any document of vectors",
            path.display()
        )));
    }
    std::fs::read(path).map_err(unreadable)
}

fn check_all(sums: &str, documents: &Files) -> Result<Report, Error> {
    // Schemas are listed as well, for outsiders; only documents are run.
    let left = check_sums(sums, documents)?;
    if let Some(missing) = left.iter().find(|name| !name.starts_with("schema/")) {
        return Err(unlisted(missing));
    }
    let mut report = Report::default();
    for (name, bytes) in documents {
        check_document(name, bytes, &mut report)?;
    }
    Ok(report)
}

fn check_circuits(
    sums: &str,
    files: &Files,
    rng: &mut Randomness,
) -> Result<Vec<netlists::Row>, Error> {
    if let Some(missing) = check_sums(sums, files)?.first() {
        return Err(unlisted(missing));
    }
    let kept = Kept::all().map_err(|error| malformed("the references", &error))?;
    let absent = kept.iter().find(|kept| !files.iter().any(|(name, _)| name == kept.file));
    if let Some(absent) = absent {
        return Err(unlisted(absent.file));
    }
    let check = |(name, bytes): &(String, Cow<'_, [u8]>)| {
        let known = kept.iter().find(|kept| kept.file == name);
        let known = known.ok_or_else(|| unknown_algorithm(name, "a circuit"))?;
        Ok(known.check(bytes, rng))
    };
    files.iter().map(check).collect()
}

/// Compares files with a list of checksums; the names in the list that were not among them.
fn check_sums(sums: &str, files: &Files) -> Result<Vec<String>, Error> {
    let mut expected = parse_sums(sums)?;
    for (name, bytes) in files {
        let sum = expected.remove(name).ok_or_else(|| unlisted(name))?;
        if sum != hex::encode(Sha256::digest(bytes)) {
            return Err(other_checksum(name));
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
            return Err(unlisted(&name));
        }
        if sum != hex::encode(Sha256::digest(read(&directory.join(&name))?)) {
            return Err(other_checksum(&name));
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
        let (sum, name) = parts.ok_or_else(|| {
            let line = line + 1;
            Error::input(format!("line {line} of SHA256SUMS is not a checksum and a name"))
        })?;
        Ok((name.to_owned(), sum.to_owned()))
    };
    sums.lines().enumerate().map(parse).collect()
}

fn check_document(name: &str, bytes: &[u8], report: &mut Report) -> Result<(), Error> {
    let malformed = |problem: String| malformed(name, &problem);
    let mut document = Document::parse(bytes).map_err(malformed)?;
    let start = Instant::now();
    let verdicts = PACKAGES.iter().find_map(|check| check(&document));
    let verdicts = verdicts.ok_or_else(|| unknown_algorithm(name, &document.algorithm))?;
    let audited = report.documents.entry(name.to_owned()).or_default();
    audited.time = start.elapsed();
    audited.algorithm = document.algorithm;
    for verdict in verdicts {
        let listed = document.tests.remove(&verdict.test_id);
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
    match document.tests.keys().next() {
        Some(unchecked) => Err(malformed(format!("test {unchecked} was not checked"))),
        None => Ok(()),
    }
}

/// An error for a document without a checksum, or a checksum without a document.
fn unlisted(name: &str) -> Error {
    Error::input(format!(
        "{name} and SHA256SUMS do not list the same documents; restore the vectors"
    ))
}

/// An error for a file that is not the one that was published.
fn other_checksum(name: &str) -> Error {
    Error::input(format!("{name} does not have the checksum in SHA256SUMS; restore the vectors"))
}

/// An error for a document that is not in the envelope.
fn malformed(name: &str, problem: &dyn std::fmt::Display) -> Error {
    Error::input(format!("{name} is not a document of vectors: {problem}"))
}

/// An error for a document that nobody knows how to check.
fn unknown_algorithm(name: &str, algorithm: &str) -> Error {
    Error::input(format!("{name} is about {algorithm:?}, which this version cannot check"))
}

#[cfg(test)]
mod tests;
