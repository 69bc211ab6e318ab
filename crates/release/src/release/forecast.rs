//! What a release by two parties will exchange, whatever its model: told without peer and data.

use super::diffgen::{self, forecast as of_diffgen};
use super::lkc::{forecast as of_lkc, vertical};
use super::{Error, Examined};
use crate::agreement::{Agreement, Model};
use crate::protocol::forecast::Forecast;
use crate::table::{Cuts, Specialization};

pub use of_diffgen::Records;

/// The messages of [`super::run::prepare`].
///
/// # Errors
/// Those of an agreement that cannot be run.
pub fn prepare(forecast: &mut Forecast, agreement: &Agreement) -> Result<(), Error> {
    match &agreement.model {
        Model::DiffGen(_) => Ok(of_diffgen::prepare(forecast, agreement, key_bits(agreement))?),
        Model::Syntactic(_) => {
            vertical::forecast_prepare(forecast);
            Ok(())
        }
        Model::Trajectory(_) => Ok(()),
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => Ok(()),
    }
}

/// The messages of [`super::run::together`] for a run in which this was examined; its number of rows.
///
/// # Errors
/// Those of an agreement that cannot be run, and of a course that it cannot take.
pub fn together(
    forecast: &mut Forecast,
    agreement: &Agreement,
    records: Records,
    course: &[Examined],
) -> Result<u64, Error> {
    match &agreement.model {
        Model::DiffGen(_) => {
            let bits = key_bits(agreement);
            let tree: Vec<Specialization> = course.iter().map(|examined| examined.made).collect();
            Ok(of_diffgen::release_prepared(forecast, agreement, records, &tree, bits)?)
        }
        Model::Syntactic(terms) => of_lkc::together(forecast, agreement, terms, records, course),
        Model::Trajectory(_) => super::trajectory::union::forecast(forecast, agreement, records),
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => super::exact_counts::forecast(forecast, agreement),
    }
}

/// Trees that a release could have, by their number of leaves; see
/// [`super::diffgen::forecast::random_trees`].
///
/// # Errors
/// Those of an agreement that cannot be run.
pub fn random_trees(
    agreement: &Agreement,
    count: usize,
    records: Option<u64>,
) -> Result<Vec<Cuts>, Error> {
    match &agreement.model {
        Model::DiffGen(_) => Ok(of_diffgen::random_trees(agreement, count, records)?),
        Model::Syntactic(terms) => of_lkc::random_trees(agreement, terms, count, records),
        // There are no values to make finer.
        Model::Trajectory(_) => Ok(vec![Cuts::topmost(&agreement.schema)]),
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => Ok(vec![Cuts::topmost(&agreement.schema)]),
    }
}

/// How many times as much as for the largest of [`random_trees`] a run may take.
///
/// # Errors
/// Those of an agreement that cannot be run.
pub fn beyond(agreement: &Agreement, largest: &Cuts) -> Result<u64, Error> {
    match &agreement.model {
        Model::Syntactic(terms) => of_lkc::beyond(agreement, terms, largest),
        _ => Ok(1),
    }
}

/// What would be examined on the way to a tree: what it is made of and, where a model tests each
/// value, all that is left.
pub fn course(agreement: &Agreement, tree: &Cuts) -> Vec<Examined> {
    let mut course = Examined::all(tree.made());
    if let Model::Syntactic(terms) = &agreement.model {
        let left = tree.candidates(terms.quasi(&agreement.schema));
        let stays = |candidate| Examined {
            made: Specialization { candidate, split: None },
            performed: false,
        };
        course.extend(left.into_iter().map(stays));
    }
    course
}

/// The length of the keys that are made, in bits; 0 if none are.
pub fn key_bits(agreement: &Agreement) -> usize {
    diffgen::terms(agreement).ok().and_then(|terms| terms.paillier_bits).unwrap_or(0) as usize
}
