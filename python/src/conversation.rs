//! Conversations without a release: common identifiers, and circuits.

use std::path::PathBuf;
use std::time::Duration;

use diptych::Error;
use diptych::circuit::bristol::Limits as CircuitLimits;
use diptych::net::{Fingerprint, Limits};
use diptych::protocol::Session;
use diptych::protocol::psi::Options;
use diptych::protocol::yao::Reveal;
use diptych::publish::Watcher;
use diptych::publish::circuit::{Ready, Roles};
use diptych::publish::meeting::{Meeting, create_identity, identity_name, read_identity};
use diptych::publish::psi::{Found, Matching, Mode, Terms, parse_rule};
use diptych::release::Step;
use pyo3::prelude::*;

use crate::OrRaise;
use crate::agreement::role;
use crate::watch::work;

/// Who we are, who the peer is, and how to meet it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Connection {
    role: String,
    identity: PathBuf,
    passphrase: Option<String>,
    peer: String,
    listen: Option<String>,
    connect: Option<String>,
    wait_seconds: u32,
}

impl Connection {
    fn open(&self, terms: &[u8], watcher: &dyn Watcher) -> Result<Session, Error> {
        let meeting = match (&self.listen, &self.connect) {
            (Some(address), None) => Meeting::Listen(address.clone()),
            (None, Some(address)) => Meeting::Connect(address.clone()),
            _ => {
                return Err(Error::input("exactly one of listen and connect must be given")
                    .advise("listen at one side, and connect there from the other"));
            }
        };
        let peer: Fingerprint = self
            .peer
            .parse()
            .map_err(|error| Error::input(format!("peer {}: {error}", self.peer.escape_debug())))?;
        let identity = read_identity(&self.identity, None, watcher)?;
        let wait = Duration::from_secs(self.wait_seconds.max(1).into());
        let limits = Limits { connect: wait, ..Limits::default() };
        meeting.open(&identity, peer, role(&self.role)?, limits, terms, watcher)
    }
}

/// Makes an identity; returns its fingerprint.
#[pyfunction]
pub fn keygen(
    py: Python<'_>,
    name: &str,
    path: PathBuf,
    passphrase: Option<&str>,
) -> PyResult<String> {
    let made = identity_name(name).and_then(|name| create_identity(name, &path, passphrase));
    Ok(made.or_raise(py)?.fingerprint().to_string())
}

/// What was learned: rows, their number, whether enough, and the peer's number of identifiers.
type Learned = (Option<Vec<usize>>, Option<usize>, Option<bool>, usize);

/// One party's side of a set intersection. The threshold counts where the mode is one.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub fn psi(
    py: Python<'_>,
    identifiers: Vec<String>,
    connection: Connection,
    normalize: &str,
    mode: &str,
    threshold: Option<u32>,
    matching: Option<&str>,
    largest_set: u32,
    run_seconds: Option<u32>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Learned> {
    let rule = parse_rule(normalize).or_raise(py)?;
    let terms = mode_of(mode, threshold)
        .and_then(|mode| Terms::new(mode, matching_of(matching)?, rule.clone()))
        .or_raise(py)?;
    let (terms, rule) = (&terms, &rule);
    let passphrase = connection.passphrase.clone();
    work(py, callback.as_ref(), passphrase, |watcher| {
        let own = rule.column(&identifiers)?;
        drop(identifiers);
        let mut session = connection.open(&terms.canonical()?, watcher)?;
        let usual = || terms.usual_limit(own.len(), largest_set);
        let given = run_seconds.map(|seconds| Duration::from_secs(seconds.into()));
        session.channel.end_within(given.unwrap_or_else(usual));
        let phase = "set intersection";
        let starts = |total| watcher.step(Step::Began { phase, total });
        let progress = |done| watcher.step(Step::Advanced(done));
        let largest_set = largest_set as usize;
        let options = Options { largest_set, starts: &starts, progress: &progress };
        Ok(match terms.run(&mut session, &own, options)? {
            Found::Rows(found) => {
                let common = found.rows.len();
                (Some(found.rows), Some(common), None, found.peer_size)
            }
            Found::Number(found) => (None, Some(found.common), None, found.peer_size),
            Found::Reached { reached, peer_size } => (None, None, Some(reached), peer_size),
        })
    })
}

fn mode_of(word: &str, threshold: Option<u32>) -> Result<Mode, Error> {
    match (word, threshold) {
        ("intersection", None) => Ok(Mode::Intersection),
        ("cardinality", None) => Ok(Mode::Cardinality),
        ("threshold", Some(threshold)) => Ok(Mode::Threshold(threshold)),
        _ => Err(Error::input(
            "mode is \"intersection\", \"cardinality\", or \"threshold\" with a threshold",
        )),
    }
}

fn matching_of(word: Option<&str>) -> Result<Option<Matching>, Error> {
    let Some(word) = word else { return Ok(None) };
    let found = Matching::ALL.iter().find(|(known, _)| *known == word);
    let found = found.map(|(_, matching)| Some(*matching));
    found.ok_or_else(|| {
        let words: Vec<&str> = Matching::ALL.iter().map(|(known, _)| *known).collect();
        Error::input(format!("matching is one of {}", words.join(", ")))
    })
}

/// One party's side of a circuit; inputs and outputs are in hexadecimal.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub fn circuit(
    py: Python<'_>,
    file: PathBuf,
    inputs: Vec<String>,
    connection: Connection,
    p1_inputs: Vec<usize>,
    garbler: &str,
    reveal: &str,
    limits: (usize, usize),
    callback: Option<Py<PyAny>>,
) -> PyResult<Option<Vec<String>>> {
    let reveal = match reveal {
        "p1" => Ok(Reveal::P1),
        "p2" => Ok(Reveal::P2),
        "both" => Ok(Reveal::Both),
        _ => Err(Error::input("reveal is \"p1\", \"p2\" or \"both\"")),
    };
    let roles =
        Roles { p1_inputs, garbler: role(garbler).or_raise(py)?, reveal: reveal.or_raise(py)? };
    let own = role(&connection.role).or_raise(py)?;
    let (gates, port_bits) = limits;
    let limits = CircuitLimits { gates, port_bits };
    let passphrase = connection.passphrase.clone();
    work(py, callback.as_ref(), passphrase, |watcher| {
        let ready = Ready::new(&file, limits, own, &roles, &inputs)?;
        let mut session = connection.open(ready.terms(), watcher)?;
        ready.run(&mut session)
    })
}
