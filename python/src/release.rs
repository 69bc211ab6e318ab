//! Releases: making them, alone and with a peer, and reading them.

use std::path::PathBuf;

use diptych::Error;
use diptych::privacy::Epsilon;
use diptych::publish::data::Source;
use diptych::publish::local::{Entered, Wanted, release as release_alone};
use diptych::publish::meeting::read_identity;
use diptych::publish::party::Party;
use diptych::publish::released::Released;
use diptych::publish::report as page;
use diptych::publish::rows::to_csv;
use diptych::publish::run::rehearse::{Numbers, rehearse as rehearse_with};
use diptych::publish::run::{Options, Side, run_with};
use diptych::publish::shards::Workers;
use diptych::publish::verify::{check, check_ledger};
use diptych::publish::width::write_error_bars;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::OrRaise;
use crate::agreement::Agreement;
use crate::frame::Table;
use crate::shards::Reached;
use crate::watch::work;

/// A table as Python gives it.
#[derive(FromPyObject)]
pub enum Data<'py> {
    /// In memory.
    Memory(Bound<'py, Table>),
    /// A file.
    File(PathBuf),
}

impl Data<'_> {
    pub fn source(&self, problems: Option<PathBuf>) -> Source {
        let source = match self {
            Self::Memory(table) => table.get().source(),
            Self::File(path) => Source::file(path),
        };
        Source { problems, ..source }
    }
}

/// A release by one party. `ledger` is a file, whether it is made, the cap and the name of the data set.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub fn local(
    py: Python<'_>,
    agreement: &Agreement,
    data: Data<'_>,
    out: PathBuf,
    compact: bool,
    ledger: Option<(PathBuf, bool, String, Option<String>)>,
    problems: Option<PathBuf>,
    identity: Option<PathBuf>,
    passphrase: Option<String>,
    callback: Option<Py<PyAny>>,
) -> PyResult<()> {
    let source = data.source(problems);
    let parsed = ledger.as_ref().map(|(_, _, cap, _)| epsilon(cap)).transpose().or_raise(py)?;
    let entered = match (&ledger, &parsed) {
        (Some((ledger, new, _, data_set)), Some(cap)) => {
            Some(Entered { ledger, new: *new, cap, data_set: data_set.as_deref() })
        }
        _ => None,
    };
    let agreement = &agreement.inner;
    work(py, callback.as_ref(), passphrase, |watcher| {
        let identity = identity.map(|path| read_identity(&path, None, watcher)).transpose()?;
        let identity = identity.as_ref();
        let wanted = Wanted { data: &source, out: &out, compact, entered, identity };
        release_alone(agreement, &wanted, watcher)
    })?;
    Ok(())
}

fn epsilon(text: &str) -> Result<Epsilon, Error> {
    text.parse().map_err(|error| Error::input(format!("cap {text}: {error}")))
}

/// A party file's name and text, and the directory from which its paths are counted.
pub type PartyText = (String, String, PathBuf);

/// A party, from a file or from its text; a table that is `given` is used in place of its own.
pub fn read_party(
    file: Option<PathBuf>,
    text: Option<PartyText>,
    given: Option<Source>,
) -> Result<Party, Error> {
    match (file, text) {
        (Some(path), _) => Party::load_with(&path, given),
        (None, Some((name, text, beside))) => {
            Ok(Party::parse_with(&name, text.as_bytes(), &beside, given)?)
        }
        (None, None) => Err(Error::input("no party is given")),
    }
}

/// One party's side of a release by two; returns where the release lies. Shards elsewhere are their number of
/// records, and how to open and to call them.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub fn run(
    py: Python<'_>,
    agreement: &Agreement,
    party_file: Option<PathBuf>,
    party_text: Option<PartyText>,
    data: Option<Data<'_>>,
    options: (bool, bool, u32, bool),
    new_ledger: bool,
    shards: Option<(usize, Py<PyAny>, Py<PyAny>)>,
    problems: Option<PathBuf>,
    passphrase: Option<String>,
    callback: Option<Py<PyAny>>,
) -> PyResult<PathBuf> {
    let given = match shards {
        Some(_) => Some(Table::none()),
        None => data.as_ref().map(|data| data.source(None)),
    };
    let mut party = read_party(party_file, party_text, given).or_raise(py)?;
    party.data.problems = problems;
    party.new_ledger = new_ledger;
    let (compact, record, shards_at_once, shard_ports) = options;
    let options = Options { compact, record, shards_at_once, shard_ports };
    let agreement = &agreement.inner;
    work(py, callback.as_ref(), passphrase, |watcher| {
        let side = Side::new(agreement, &party, watcher)?;
        let workers = shards.map(|(records, open, call)| Reached { records, open, call });
        let workers = workers.as_ref().map(|workers| workers as &dyn Workers);
        run_with(&side, options, workers, watcher)
    })?;
    Ok(party.out)
}

/// What a rehearsal told: own records, the peer's, common people, labels that differ, and whether the number
/// of common people has noise.
type Rehearsed = (usize, Option<usize>, i64, Option<usize>, bool);

/// One party's side of a rehearsal.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "they have names in Python")]
pub fn rehearse(
    py: Python<'_>,
    agreement: &Agreement,
    party_file: Option<PathBuf>,
    party_text: Option<PartyText>,
    data: Option<Data<'_>>,
    new_ledger: bool,
    problems: Option<PathBuf>,
    passphrase: Option<String>,
    callback: Option<Py<PyAny>>,
) -> PyResult<Rehearsed> {
    let given = data.as_ref().map(|data| data.source(None));
    let mut party = read_party(party_file, party_text, given).or_raise(py)?;
    party.data.problems = problems;
    party.new_ledger = new_ledger;
    let agreement = &agreement.inner;
    let told = work(py, callback.as_ref(), passphrase, |watcher| {
        rehearse_with(&Side::new(agreement, &party, watcher)?, watcher)
    })?;
    let own = told.records;
    Ok(match told.numbers {
        Numbers::Exact(of) => {
            let common = i64::try_from(of.common).unwrap_or(i64::MAX);
            (own, Some(of.peer_records), common, of.differing, false)
        }
        Numbers::Noisy(of) => (own, of.peer_records, of.common, None, true),
    })
}

/// Writes a release as a page, and returns where it lies.
#[pyfunction]
pub fn report(
    py: Python<'_>,
    directory: PathBuf,
    out: Option<PathBuf>,
    private: bool,
    error_bars: Option<PathBuf>,
) -> PyResult<PathBuf> {
    let written = py.detach(|| {
        let page = page::write_page(&directory, out.as_deref(), private)?;
        error_bars.map_or(Ok(()), |file| write_error_bars(&directory, &file))?;
        Ok::<_, Error>(page)
    });
    written.or_raise(py)
}

/// A release as it lies on disk: its manifest, its table, and the agreement under which it was made.
#[pyfunction]
pub fn open<'py>(
    py: Python<'py>,
    directory: PathBuf,
) -> PyResult<(String, Bound<'py, PyBytes>, String)> {
    let released = py.detach(|| Released::open(&directory)).or_raise(py)?;
    let csv = PyBytes::new(py, &released.csv);
    Ok((released.manifest.to_string(), csv, released.agreement.canonical()))
}

/// Checks a release, and the ledger in which it was entered; the lines say what was found.
#[pyfunction]
pub fn verify(
    py: Python<'_>,
    directory: PathBuf,
    ledger: Option<PathBuf>,
) -> PyResult<Vec<String>> {
    let checked = py.detach(|| {
        let (manifest, mut lines) = check(&directory)?;
        if let Some(ledger) = &ledger {
            lines.push(check_ledger(&manifest, ledger)?);
        }
        Ok::<_, Error>(lines)
    });
    checked.or_raise(py)
}

/// One row for each person that a release counts, as CSV; with a seed, of concrete values, in columns that
/// were not divided only if asked for.
#[pyfunction]
pub fn rows(
    py: Python<'_>,
    directory: PathBuf,
    seed: Option<[u8; 32]>,
    undivided: bool,
) -> PyResult<Bound<'_, PyBytes>> {
    let csv = py.detach(|| to_csv(&directory, seed, undivided)).or_raise(py)?;
    Ok(PyBytes::new(py, &csv))
}

/// The picture of how values were divided, as a page.
#[pyfunction]
pub fn picture(py: Python<'_>, directory: PathBuf) -> PyResult<String> {
    py.detach(|| page::picture(&directory)).or_raise(py)
}
