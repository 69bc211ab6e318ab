//! Ledgers: what was ever spent on a party's data.

use std::path::PathBuf;

use diptych::math::Rational;
use diptych::privacy::Epsilon;
use diptych::privacy::ledger::{self, Hash, Ledger, Reader, Status};
use pyo3::prelude::*;

use crate::OrRaise;

/// A data set: its name, ε towards readers and its cap, ε towards the peer and its cap, runs without ε.
type DataSet = (String, String, Option<String>, String, Option<String>, usize);
/// A run: its id, release, data set, peer, ε, state, time in seconds since 1970, whether it is a rehearsal.
type Run = (String, String, String, String, Option<String>, &'static str, u64, bool);

fn decimal(number: &Rational) -> String {
    number.exact_decimal(18).unwrap_or_else(|| number.to_string())
}

/// Reads and checks a ledger: its head, data sets and runs.
#[pyfunction]
pub fn read_ledger(py: Python<'_>, path: PathBuf) -> PyResult<(String, Vec<DataSet>, Vec<Run>)> {
    let history = py.detach(|| ledger::read(&path)).or_raise(py)?;
    let cap = |of: &str, reader| history.cap(of, reader).map(ToString::to_string);
    let data_sets = history.data_sets().into_iter().map(|of| {
        let (readers, peer) = (decimal(&history.spent(of)), decimal(&history.towards_peer(of)));
        let (of_readers, of_peer) = (cap(of, Reader::Anybody), cap(of, Reader::Peer));
        (of.to_owned(), readers, of_readers, peer, of_peer, history.runs_without_epsilon(of))
    });
    let runs = history.runs().iter().map(|run| {
        let (debit, epsilon) = (&run.debit, run.debit.epsilon.as_ref().map(ToString::to_string));
        let state = match run.status {
            Status::Debited => "unfinished",
            Status::Finished => "finished",
            Status::Aborted => "aborted",
        };
        let (id, release) = (debit.run.to_string(), debit.release.clone());
        let (data_set, peer) = (debit.data_set.clone(), debit.peer.clone());
        (id, release, data_set, peer, epsilon, state, run.time, run.is_rehearsal)
    });
    Ok((history.head().to_string(), data_sets.collect(), runs.collect()))
}

/// Creates an empty ledger.
#[pyfunction]
pub fn create_ledger(py: Python<'_>, path: PathBuf) -> PyResult<()> {
    Ledger::create(&path).map(|_| ()).or_raise(py)
}

/// Raises a cap of a data set.
#[pyfunction]
pub fn raise_cap(
    py: Python<'_>,
    path: PathBuf,
    data_set: &str,
    cap: &str,
    towards_peer: bool,
) -> PyResult<()> {
    let cap: Epsilon = cap.parse().or_raise(py)?;
    let reader = if towards_peer { Reader::Peer } else { Reader::Anybody };
    Ledger::open(&path).and_then(|mut ledger| ledger.raise_cap(data_set, reader, cap)).or_raise(py)
}

/// Notes that lines up to a head, which a peer has, are lost.
#[pyfunction]
pub fn acknowledge(py: Python<'_>, path: PathBuf, peer: &str, head: String) -> PyResult<()> {
    let head = Hash::try_from(head).map_err(diptych::Error::input).or_raise(py)?;
    Ledger::open(&path).and_then(|mut ledger| ledger.acknowledge(peer, head)).or_raise(py)
}

/// Allows one more exact rehearsal with a peer.
#[pyfunction]
pub fn allow_rehearsal(py: Python<'_>, path: PathBuf, data_set: &str, peer: &str) -> PyResult<()> {
    Ledger::open(&path).and_then(|mut ledger| ledger.allow_rehearsal(data_set, peer)).or_raise(py)
}
