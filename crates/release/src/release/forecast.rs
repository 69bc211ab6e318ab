//! What a release by two parties will exchange, whatever its model: told without peer and data.

use super::{Examined, diffgen, model};
use crate::Error;
use crate::agreement::Agreement;
use crate::protocol::forecast::Forecast;
use crate::table::Cuts;

pub use super::diffgen::forecast::Records;

/// The messages of [`super::run::prepare`].
///
/// # Errors
/// Those of an agreement that cannot be run.
pub fn prepare(forecast: &mut Forecast, agreement: &Agreement) -> Result<(), Error> {
    model::of(agreement).forecast_prepare(forecast, agreement)
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
    model::of(agreement).forecast(forecast, agreement, records, course)
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
    model::of(agreement).random_trees(agreement, count, records)
}

/// How many times as much as for the largest of [`random_trees`] a run may take.
///
/// # Errors
/// Those of an agreement that cannot be run.
pub fn beyond(agreement: &Agreement, largest: &Cuts) -> Result<u64, Error> {
    model::of(agreement).beyond(agreement, largest)
}

/// What would be examined on the way to a tree: what it is made of and, where a model tests each
/// value, all that is left.
pub fn course(agreement: &Agreement, tree: &Cuts) -> Vec<Examined> {
    model::of(agreement).course(agreement, tree)
}

/// The length of the keys that are made, in bits; 0 if none are.
pub fn key_bits(agreement: &Agreement) -> usize {
    diffgen::terms(agreement).ok().and_then(|terms| terms.paillier_bits).unwrap_or(0) as usize
}
