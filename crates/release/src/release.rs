//! From tables to a release. An agreement names a model; [`plan`] returns what it promises and
//! rejects, [`run`] runs it, and [`forecast`] computes what it will exchange; [`examine`] checks
//! what was released. [`tree`] is what models by top-down specialization have in common,
//! [`diffgen`] the one that is differentially private; [`groups`], [`lkc`], [`lattice`] and
//! [`trajectory`] hide people in groups, and are not; [`presence`] checks what joined tables reveal
//! about who is where.
//!
//! # Example
//!
//! One party's table, released as a CSV file.
//!
//! ```
//! use diptych_release::agreement::Agreement;
//! use diptych_release::math::Randomness;
//! use diptych_release::privacy::Budget;
//! use diptych_release::release::tree::output::{Rows, write_csv};
//! use diptych_release::release::diffgen::single;
//! use diptych_release::table::{Reading, parse_csv};
//!
//! let agreement = r#"
//!     [release]
//!     id = "illnesses"
//!     partition = "local"
//!     epsilon = "1"
//!     specializations = 1
//!     max_records = 1000
//!     [class]
//!     column = "ill"
//!     values = ["yes", "no"]
//!     [[attribute]]
//!     name = "job"
//!     kind = "categorical"
//!     taxonomy = { Any_Job = ["Engineer", "Writer"] }
//! "#;
//! let agreement =
//!     Agreement::parse("a.toml", agreement.as_bytes(), &|_| Err("no files here".to_owned()))?;
//! let (schema, max_records) = (&agreement.schema, agreement.max_records);
//! let reading = Reading { schema, owner: None, identifier: None, max_records };
//! let data = "job,ill\n".to_owned() + &"Engineer,no\n".repeat(300) + &"Writer,yes\n".repeat(300);
//! let table = parse_csv("people.csv", data.as_bytes(), &reading, &|_| ())?;
//!
//! let (budget, mut rng) = (Budget::new(agreement.epsilon().expect("ε is agreed")), Randomness::from_os()?);
//! let release = single::release(&agreement, &table, budget, &mut rng, &|_| ())?;
//! let mut csv = Vec::new();
//! let rows = write_csv(&release.table, Rows::All, &mut csv)?;
//! assert!(csv.starts_with(b"job,ill,count\nEngineer,yes,"));
//! assert_eq!(rows, 4, "two jobs, ill or not");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod diffgen;
#[cfg(any(test, feature = "testing"))]
mod exact_counts;
pub mod examine;
pub mod forecast;
pub mod groups;
pub mod judge;
pub mod lattice;
pub mod lkc;
mod matching;
mod model;
pub mod plan;
pub mod presence;
pub mod rehearsal;
pub mod rows;
pub mod run;
pub mod shards;
pub mod trajectory;
pub mod tree;

use crate::Error;
use crate::agreement::{Agreement, Model};
use crate::privacy::budget::Entry;
use crate::table::{Specialization, Table};
use tree::Generalized;

/// What a release is made from, as its agreement says.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Data<'d> {
    /// A table with attributes and a class.
    Table(&'d Table),
    /// Paths, each with a class.
    Paths(&'d trajectory::Paths),
    /// Paths that were anonymized locally, for a release by two.
    Part(&'d trajectory::Part),
}

impl<'d> Data<'d> {
    fn table(self) -> Result<&'d Table, Error> {
        match self {
            Self::Table(table) => Ok(table),
            Self::Paths(_) | Self::Part(_) => Err(other_data("attributes")),
        }
    }

    fn paths(self) -> Result<&'d trajectory::Paths, Error> {
        match self {
            Self::Paths(paths) => Ok(paths),
            Self::Table(_) | Self::Part(_) => Err(other_data("paths")),
        }
    }

    fn part(self) -> Result<&'d trajectory::Part, Error> {
        match self {
            Self::Part(part) => Ok(part),
            Self::Table(_) | Self::Paths(_) => Err(other_data("anonymized paths")),
        }
    }
}

/// An error for even the coarsest table not meeting the requirements.
fn unmet(why: &str) -> Error {
    Error::unmet(format!(
        "even the coarsest table is not as the agreement requires: {why}; no generalization can help, so \
         agree on a smaller k or a larger c"
    ))
}

/// An error for a release that does not meet its agreement.
fn broken(why: &str) -> Error {
    Error::input(format!("the release is not as its agreement requires: {why}"))
}

/// An error for something impossible that the peer sent.
fn impossible(what: &str) -> Error {
    Error::peer(format!("the peer {what}; the run was aborted"))
}

/// An error for an agreement for one party that two try to run.
pub(crate) fn one_party() -> Error {
    Error::input("this agreement is for one party: use `diptych local`")
}

/// An error for a model that spends ε and was not given any.
pub(crate) fn no_budget() -> Error {
    Error::internal("this release spends ε, and no budget was debited for it")
}

/// An error for data that are not of the kind that the model needs.
fn other_data(needed: &str) -> Error {
    Error::input(format!("the agreement is about {needed}, and the data are something else"))
}

impl<'d> From<&'d Table> for Data<'d> {
    fn from(table: &'d Table) -> Self {
        Self::Table(table)
    }
}

impl<'d> From<&'d trajectory::Paths> for Data<'d> {
    fn from(paths: &'d trajectory::Paths) -> Self {
        Self::Paths(paths)
    }
}

impl<'d> From<&'d trajectory::Part> for Data<'d> {
    fn from(part: &'d trajectory::Part) -> Self {
        Self::Part(part)
    }
}

/// How the data of an agreement are written, where they are paths.
pub fn form_of_paths(agreement: &Agreement) -> Option<trajectory::Form> {
    match &agreement.model {
        Model::Trajectory(terms) => Some(trajectory::Form::of(agreement, terms)),
        _ => None,
    }
}

/// How far a run has come. Phases follow each other; a phase ends when the next one begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// A phase began that has so many items before it.
    Began {
        /// Its name.
        phase: &'static str,
        /// How many items.
        total: usize,
    },
    /// So many items were just done.
    Advanced(usize),
    /// The last phase is over.
    Ended,
}

/// A table that may be published, as its model promises.
#[derive(Clone, Debug)]
pub struct Release {
    /// The generalized table and its counts.
    pub table: Generalized,
    /// What was spent on what; sums to at most ε. Nothing where the model spends none.
    pub spends: Vec<Entry>,
    /// How it was made, in lines that only the holder of the data may see.
    pub notes: Vec<String>,
}

/// A release by two parties, and what this one learned on the way.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The same at both parties.
    pub release: Release,
    /// How many individuals both parties have: vertically those who are released, horizontally the
    /// overlap if it was agreed to count it. Private to the two parties.
    pub in_both: Option<usize>,
    /// How many individuals the peer has, where identifiers were compared.
    pub peer_records: Option<usize>,
    /// What was examined on the way, in order: what the messages depended on.
    pub course: Vec<Examined>,
    /// How much this party and the peer revealed of their paths, where they hold such: likewise.
    pub paths: [trajectory::union::Extent; 2],
}

/// A value that was examined in a run by two parties, and what became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Examined {
    /// What would be replaced. Of an interval that stayed the split may not be known.
    pub made: Specialization,
    /// Whether it was.
    pub performed: bool,
}

impl Examined {
    /// Of a run in which whatever was examined was performed.
    pub fn all(made: &[Specialization]) -> Vec<Self> {
        made.iter().map(|made| Self { made: *made, performed: true }).collect()
    }
}
