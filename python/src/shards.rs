//! Shards in other processes: what `diptych.ray` is made of. All bytes here are a party's own, and private.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use diptych::Error;
use diptych::net::{self, Stop};
use diptych::protocol::shards::remote::Line;
use diptych::protocol::shards::{Answer, Failed};
use diptych::publish::party::Party;
use diptych::publish::run::Side;
use diptych::publish::shards::{
    Opening, Taken, Worker as Inner, Workers, deal as deal_to, meet_peers, read_partition,
};
use diptych::publish::{NoWatcher, Watcher};
use diptych::release::Step;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use zeroize::Zeroizing;

use crate::OrRaise;
use crate::agreement::{Agreement, role as role_of};
use crate::release::{Data, PartyText, read_party};

/// The role that a party file or text has.
#[pyfunction]
pub fn party_role(
    py: Python<'_>,
    party_file: Option<PathBuf>,
    party_text: Option<PartyText>,
) -> PyResult<String> {
    let party =
        read_party(party_file, party_text, Some(crate::frame::Table::none())).or_raise(py)?;
    Ok(party.role.to_string())
}

/// Reads a part of a party's records: how many there are, and the bytes to deal.
#[pyfunction]
pub fn partition<'py>(
    py: Python<'py>,
    agreement: &Agreement,
    role: &str,
    data: Data<'_>,
) -> PyResult<(usize, Bound<'py, PyBytes>)> {
    let (source, role) = (data.source(None), role_of(role).or_raise(py)?);
    let agreement = &agreement.inner;
    let read = py.detach(|| read_partition(agreement, role, &source, &NoWatcher));
    let (records, bytes) = read.or_raise(py)?;
    Ok((records, PyBytes::new(py, &bytes)))
}

/// Deals a part of the records: what each shard gets of it.
#[pyfunction]
pub fn deal<'py>(
    py: Python<'py>,
    agreement: &Agreement,
    role: &str,
    partition: &[u8],
    opening: &[u8],
) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let (agreement, role) = (&agreement.inner, role_of(role).or_raise(py)?);
    let dealt = py.detach(|| deal_to(agreement, role, partition, &Opening::from_bytes(opening)?));
    Ok(dealt.or_raise(py)?.iter().map(|bytes| PyBytes::new(py, bytes)).collect())
}

/// Says nothing, and can be stopped.
struct Quiet {
    stop: Stop,
    passphrase: Option<Zeroizing<String>>,
}

impl Watcher for Quiet {
    fn say(&self, _: &str) {}

    fn step(&self, _: Step) {}

    fn stop(&self) -> Stop {
        self.stop.clone()
    }

    fn passphrase(&self, _: &Path) -> Option<Zeroizing<String>> {
        self.passphrase.clone()
    }
}

/// How far a shard has come.
enum State {
    Empty,
    Taken(Opening, Taken),
    Met(Inner),
}

/// One shard: it takes what it is dealt, meets the peer's of the same number if shards meet, and serves its lead.
#[pyclass(frozen, module = "diptych._native")]
pub struct Worker {
    agreement: diptych::agreement::Agreement,
    party: Party,
    quiet: Quiet,
    state: Mutex<State>,
}

impl Worker {
    /// Goes on from one state to another; a step that fails leaves none.
    fn go_on<T>(&self, step: impl FnOnce(State) -> Result<(State, T), Error>) -> Result<T, Error> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (next, done) = step(std::mem::replace(&mut *state, State::Empty))?;
        *state = next;
        Ok(done)
    }
}

#[pymethods]
impl Worker {
    #[new]
    fn new(
        py: Python<'_>,
        agreement: &Agreement,
        party_file: Option<PathBuf>,
        party_text: Option<PartyText>,
        passphrase: Option<String>,
    ) -> PyResult<Self> {
        let nothing = Some(crate::frame::Table::none());
        let party = read_party(party_file, party_text, nothing).or_raise(py)?;
        let passphrase = passphrase.map(Zeroizing::new);
        let quiet = Quiet { stop: Stop::default(), passphrase };
        let (agreement, state) = (agreement.inner.clone(), Mutex::new(State::Empty));
        Ok(Self { agreement, party, quiet, state })
    }

    /// Takes what was dealt to this shard.
    fn take(&self, py: Python<'_>, opening: &[u8], dealt: Vec<Bound<'_, PyBytes>>) -> PyResult<()> {
        let dealt: Vec<&[u8]> = dealt.iter().map(|bytes| bytes.as_bytes()).collect();
        let taken = py.detach(|| {
            self.go_on(|_| {
                let opening = Opening::from_bytes(opening)?;
                let taken = Taken::new(&self.agreement, self.party.role, &opening, &dealt)?;
                Ok((State::Taken(opening, taken), ()))
            })
        });
        taken.or_raise(py)
    }

    /// Meets the peer's shard of the same number, if shards meet.
    fn meet(&self, py: Python<'_>, shard: usize) -> PyResult<()> {
        let met = py.detach(|| {
            self.go_on(|state| {
                let State::Taken(opening, taken) = state else {
                    return Err(Error::internal("a shard meets its peer once it has its records"));
                };
                let worker = match meet_peers(&self.agreement) {
                    true => {
                        let side = Side::new(&self.agreement, &self.party, &self.quiet)?;
                        taken.meet(&side, &opening, shard, &self.quiet)?
                    }
                    false => taken.alone(&self.agreement, &opening)?,
                };
                Ok((State::Met(worker), ()))
            })
        });
        met.or_raise(py)
    }

    /// Does what a call of the lead says, and replies.
    fn serve<'py>(&self, py: Python<'py>, call: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
        let reply = py.detach(|| {
            self.go_on(|state| match state {
                State::Met(mut worker) => {
                    let reply = worker.serve(call).map_err(net::Error::from)?;
                    Ok((State::Met(worker), reply))
                }
                _ => Err(Error::internal("a shard was called before it met its peer")),
            })
        });
        Ok(PyBytes::new(py, &reply.or_raise(py)?))
    }

    /// Ends whatever it waits for; its peer is told.
    fn stop(&self) {
        self.quiet.stop.set();
    }
}

/// Whether the run is to end.
#[pyclass(frozen, module = "diptych._native")]
pub struct Stopped(Stop);

#[pymethods]
impl Stopped {
    fn is_set(&self) -> bool {
        self.0.is_set()
    }
}

/// Shards that Python reaches: their records, `open(opening, shards, stopped)` and
/// `call(shard, call, stopped)`.
pub struct Reached {
    pub records: usize,
    pub open: Py<PyAny>,
    pub call: Py<PyAny>,
}

impl Workers for Reached {
    fn records(&self) -> usize {
        self.records
    }

    fn open(&self, opening: &Opening, stop: &Stop) -> Result<Vec<Box<dyn Line>>, Error> {
        let bytes = opening.to_bytes()?;
        Python::attach(|py| {
            let stopped = Stopped(stop.clone());
            let given = (PyBytes::new(py, &bytes), opening.shards(), stopped);
            self.open.call1(py, given).map_err(|error| failure_of(py, &error))?;
            let line = |shard| {
                let call = self.call.clone_ref(py);
                Box::new(Called { call, shard }) as Box<dyn Line>
            };
            Ok((0..opening.shards()).map(line).collect())
        })
    }
}

/// What a failure of the package's own says again, and anything else in its words.
fn failure_of(py: Python<'_>, error: &PyErr) -> Error {
    use diptych::net::Blame;
    let value = error.value(py);
    let text = |name: &str| value.getattr(name).and_then(|text| text.extract::<String>()).ok();
    let status = value.getattr("status").and_then(|status| status.extract::<u8>()).ok();
    let (Some(message), Some(status)) = (text("message"), status) else {
        return Error::internal(format!("the shards could not be opened: {error}"));
    };
    let blame = match status {
        2 => Blame::Input,
        3 => Blame::Peer,
        130 => Blame::Connection(&net::Error::Stopped),
        _ => Blame::Internal,
    };
    let error = Error::new(&blame, message);
    text("advice").into_iter().fold(error, Error::advise)
}

/// The way to one shard.
struct Called {
    call: Py<PyAny>,
    shard: usize,
}

impl Line for Called {
    fn call(&mut self, call: &[u8], stop: &Stop) -> Result<Answer, Failed> {
        let reply = Python::attach(|py| {
            let given = (self.shard, PyBytes::new(py, call), Stopped(stop.clone()));
            let reply = self.call.call1(py, given)?;
            let reply = reply.bind(py).cast::<PyBytes>()?;
            Ok::<_, PyErr>(Answer::new(reply.as_bytes().to_vec()))
        });
        reply.map_err(|error| Failed::internal(format!("shard {} is no more: {error}", self.shard)))
    }
}
