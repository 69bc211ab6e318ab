//! Agreements.

use std::path::PathBuf;

use diptych::Error;
use diptych::Role;
use diptych::agreement::Agreement as Inner;
use diptych::net::meter::PhaseCost;
use diptych::publish::run::forecast::{assumed_records, people, whole_run};
use diptych::publish::signing;
use diptych::release::forecast::{Records, course, random_trees};
use diptych::release::plan;
use pyo3::prelude::*;

use crate::OrRaise;

/// How many trees are drawn to find a usual one, if that does not take long.
const TREES: usize = 999;

/// An agreement that is valid.
#[pyclass(frozen, module = "diptych._native")]
pub struct Agreement {
    pub(crate) inner: Inner,
    /// On what stands in the file and has no effect.
    #[pyo3(get)]
    remarks: Vec<String>,
}

/// A phase of a run, as Python sees it: name, bytes sent and received, messages sent, rounds.
type Phase = (String, u64, u64, u64, u64);

/// The role that a word means.
pub fn role(word: &str) -> Result<Role, Error> {
    word.parse().map_err(|_| Error::input("a role is \"p1\" or \"p2\""))
}

#[pymethods]
impl Agreement {
    /// From a file.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Self> {
        Self::of(Inner::load_with_remarks(&path).or_raise(py)?)
    }

    /// From text; taxonomy files lie in `directory` or below it.
    #[staticmethod]
    fn parse(py: Python<'_>, name: &str, text: &str, directory: PathBuf) -> PyResult<Self> {
        Self::of(Inner::parse_beside(name, text.as_bytes(), &directory).or_raise(py)?)
    }

    /// From its one canonical form, as a manifest holds it.
    #[staticmethod]
    fn from_canonical(py: Python<'_>, text: &str) -> PyResult<Self> {
        Self::of((Inner::from_canonical(text.as_bytes()).or_raise(py)?, Vec::new()))
    }

    #[getter]
    fn id(&self) -> &str {
        &self.inner.id
    }

    #[getter]
    fn partition(&self) -> &'static str {
        self.inner.partition.word()
    }

    #[getter]
    fn epsilon(&self) -> Option<String> {
        self.inner.epsilon().map(ToString::to_string)
    }

    #[getter]
    fn max_records(&self) -> u64 {
        self.inner.max_records
    }

    #[getter]
    fn hash(&self) -> String {
        self.inner.hash().to_string()
    }

    #[getter]
    fn class_column(&self) -> &str {
        &self.inner.schema.class.column
    }

    /// Names and fingerprints.
    #[getter]
    fn parties(&self) -> Vec<(String, String)> {
        let of = |role| self.inner.parties().map(|parties| parties.of(role));
        let both = Role::BOTH.into_iter().filter_map(of);
        both.map(|party| (party.name.clone(), party.fingerprint.to_string())).collect()
    }

    /// Names and kinds of the attributes.
    #[getter]
    fn attributes(&self) -> Vec<(String, &'static str)> {
        let attributes = self.inner.schema.attributes.iter();
        attributes.map(|attribute| (attribute.name.clone(), attribute.kind())).collect()
    }

    fn canonical(&self) -> String {
        self.inner.canonical()
    }

    fn words(&self) -> String {
        self.inner.plain_words()
    }

    fn check(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        signing::check(&self.inner).or_raise(py)
    }

    fn outlook(&self, py: Python<'_>, records: Option<u64>) -> PyResult<Vec<String>> {
        plan::outlook(&self.inner, records).or_raise(py)
    }

    /// The columns that may be read from a table, at whichever party.
    fn wanted(&self, identifier: bool) -> Vec<String> {
        let schema = &self.inner.schema;
        let attributes = schema.attributes.iter().map(|attribute| attribute.name.clone());
        let identifier = self.inner.identifier().filter(|_| identifier);
        let identifier = identifier.map(|identifier| identifier.column.clone());
        attributes.chain(schema.class.name().map(str::to_owned)).chain(identifier).collect()
    }

    /// What one party's side of a run will exchange, with a tree of usual size and with a large one: for
    /// each its rows and its phases, the total last.
    fn forecast(
        &self,
        py: Python<'_>,
        party: &str,
        records: usize,
        peer: Option<usize>,
        common: Option<usize>,
        again: bool,
    ) -> PyResult<Vec<(u64, Vec<Phase>)>> {
        let role = role(party).or_raise(py)?;
        let records = assumed_records(&self.inner, records, (peer, common)).or_raise(py)?;
        py.detach(|| self.usual_and_large(role, records, again)).or_raise(py)
    }
}

impl Agreement {
    fn of((inner, remarks): (Inner, Vec<diptych::agreement::Problem>)) -> PyResult<Self> {
        Ok(Self { inner, remarks: remarks.iter().map(ToString::to_string).collect() })
    }

    fn usual_and_large(
        &self,
        role: Role,
        records: Records,
        again: bool,
    ) -> Result<Vec<(u64, Vec<Phase>)>, Error> {
        let agreement = &self.inner;
        plan::together(agreement)?;
        // Where nobody learns who is common, everything is done for all.
        let hidden = agreement.membership().is_hidden();
        plan::check_records(agreement, if hidden { records.own } else { records.common })?;
        let trees = random_trees(agreement, TREES, Some(people(agreement, records)))?;
        let places = [trees.len() / 2, trees.len() * 95 / 100];
        places
            .into_iter()
            .filter_map(|place| trees.get(place))
            .map(|tree| {
                let course = course(agreement, tree);
                let (forecast, rows) = whole_run(agreement, role, records, &course, again)?;
                let costs = forecast.costs();
                let total = costs.total();
                let phases = costs.phases.iter().chain([&total]);
                Ok((rows, phases.map(phase).collect()))
            })
            .collect()
    }
}

fn phase(cost: &PhaseCost) -> Phase {
    let name = cost.phase.clone();
    (name, cost.bytes_sent, cost.bytes_received, cost.messages_sent, cost.rounds)
}
