//! What a release by two parties will exchange, whatever its model: told without peer and data.

use super::Error;
use super::diffgen::{self, forecast as of_diffgen};
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
        Model::Syntactic(_) | Model::Trajectory(_) => Err(Error::OneParty),
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => Ok(()),
    }
}

/// The messages of [`super::run::together`] for a release with this tree; its number of rows.
///
/// # Errors
/// Those of an agreement that cannot be run, and of a tree that it cannot lead to.
pub fn together(
    forecast: &mut Forecast,
    agreement: &Agreement,
    records: Records,
    tree: &[Specialization],
) -> Result<u64, Error> {
    match &agreement.model {
        Model::DiffGen(_) => {
            let bits = key_bits(agreement);
            Ok(of_diffgen::release_prepared(forecast, agreement, records, tree, bits)?)
        }
        Model::Syntactic(_) | Model::Trajectory(_) => Err(Error::OneParty),
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
        Model::Syntactic(_) | Model::Trajectory(_) => Err(Error::OneParty),
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => Ok(vec![Cuts::topmost(&agreement.schema)]),
    }
}

/// The length of the keys that are made, in bits; 0 if none are.
pub fn key_bits(agreement: &Agreement) -> usize {
    diffgen::terms(agreement).ok().and_then(|terms| terms.paillier_bits).unwrap_or(0) as usize
}
