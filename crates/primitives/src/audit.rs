//! Test vectors, and whether this build agrees with them (feature `audit`).
//!
//! The vectors are made by plain-Python programs that share no code with the packages. Each package
//! has a function `audit::check` for the documents about what it computes; what documents have in
//! common is here, with the readers of their [fields](field). Checkers call the functions that a run
//! calls, with the randomness that the vector gives.
//!
//! ```
//! use diptych_primitives::audit::{Document, check};
//!
//! let text = br#"{"algorithm": "Paillier", "numberOfTests": 1, "testGroups": [{"type": "Signed",
//!     "tests": [{"tcId": 1, "comment": "no key", "flags": [], "result": "valid"}]}]}"#;
//! let document = Document::parse(text)?;
//! let verdicts = check(&document).ok_or("another package checks this")?;
//! assert!(verdicts[0].failure.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

mod commutative;
pub mod field;
mod garble;
mod ot;
mod paillier;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
mod transfers;

pub use paillier::keys;

/// Checks a document about Paillier, commutative encryption, garbling or transfers; `None` if it is
/// about something else.
pub fn check(document: &Document) -> Option<Vec<Verdict>> {
    document.check_by(&[
        ("commutative encryption", commutative::check),
        ("garbling", garble::check),
        ("oblivious transfer", ot::check),
        ("Paillier", paillier::check),
        ("transfers with few bytes", transfers::check),
    ])
}

/// A checker: one verdict per test of the document.
pub type Checker = fn(&Value) -> Vec<Verdict>;

/// A parsed document of vectors with a valid envelope.
#[derive(Debug, Clone)]
pub struct Document {
    /// What it is about.
    pub algorithm: String,
    /// Every test by its number.
    pub tests: BTreeMap<u64, Test>,
    contents: Value,
}

/// What a document says of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    /// Whether it must succeed; otherwise it must be rejected.
    pub valid: bool,
    /// What it is an example of.
    pub flags: BTreeSet<String>,
}

/// The outcome of one test.
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

impl Document {
    /// Reads a document.
    ///
    /// # Errors
    /// What is wrong with the envelope.
    pub fn parse(bytes: &[u8]) -> Result<Self, String> {
        let contents: Value = serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
        let algorithm = field::text(&contents, "algorithm").to_owned();
        Ok(Self { algorithm, tests: tests(&contents)?, contents })
    }

    /// The verdicts of the checker that the algorithm names, if it is among these.
    pub fn check_by(&self, checkers: &[(&str, Checker)]) -> Option<Vec<Verdict>> {
        let (_, check) = checkers.iter().find(|(known, _)| *known == self.algorithm)?;
        Some(check(&self.contents))
    }
}

/// The number of every test and what is said of it; there must be as many tests as announced.
fn tests(document: &Value) -> Result<BTreeMap<u64, Test>, String> {
    let mut tests = BTreeMap::new();
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
            if tests.insert(id, Test { valid, flags }).is_some() {
                return Err(format!("test {id} is there twice"));
            }
        }
    }
    if document["numberOfTests"].as_u64() != Some(tests.len() as u64) {
        return Err(format!("it has {} tests and announces another number", tests.len()));
    }
    Ok(tests)
}
