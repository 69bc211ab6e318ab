//! Making a release, whatever its model: by one party or by two.

use super::diffgen::{single, two_party};
use super::{Data, Error, Outcome, Release, Step};
use crate::agreement::syntactic::Search;
use crate::agreement::{Agreement, Model, Partition};
use crate::math::Randomness;
use crate::privacy::Budget;
use crate::protocol::Session;

/// What two parties made ready before anything is spent: see [`prepare`].
pub enum Prepared {
    /// For DiffGen.
    DiffGen(Box<two_party::Prepared>),
    /// For a model that hides people in groups: transfers are set up, and that is all.
    Syntactic,
    /// Nothing is needed.
    Nothing,
}

/// Makes a release from one party's data. The budget is that of the agreement, where the model
/// spends one.
///
/// # Errors
/// Those of the model. What was spent is gone then.
pub fn alone<'d>(
    agreement: &Agreement,
    data: impl Into<Data<'d>>,
    budget: Option<Budget>,
    rng: &mut Randomness,
    progress: &dyn Fn(Step),
) -> Result<Release, Error> {
    let data = data.into();
    match &agreement.model {
        Model::DiffGen(_) => {
            let budget = budget.ok_or(Error::NoBudget)?;
            Ok(single::release(agreement, data.table()?, budget, rng, progress)?)
        }
        Model::Trajectory(terms) => {
            super::trajectory::alone(agreement, terms, data.paths()?, progress)
        }
        Model::Syntactic(terms) => match terms.search {
            Search::TopDown { .. } => super::lkc::alone(agreement, terms, data.table()?, progress),
            Search::Lattice(by) => {
                super::lattice::alone(agreement, terms, by, data.table()?, progress)
            }
        },
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => super::exact_counts::alone(agreement, data.table()?, progress),
    }
}

/// Everything with the peer that depends on no data. Whoever cuts the line until now costs nobody
/// any ε.
///
/// # Errors
/// Those of the model.
pub fn prepare(session: &mut Session, agreement: &Agreement) -> Result<Prepared, Error> {
    match &agreement.model {
        Model::DiffGen(_) => {
            let prepared = two_party::prepare(session, agreement, two_party::Keys::Agreed)?;
            Ok(Prepared::DiffGen(Box::new(prepared)))
        }
        Model::Syntactic(_) => {
            super::lkc::vertical::prepare(session)?;
            Ok(Prepared::Syntactic)
        }
        Model::Trajectory(_) => Ok(Prepared::Nothing),
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => Ok(Prepared::Nothing),
    }
}

/// Makes a release with the peer. `data` is what the agreement gives to this party, with
/// identifiers where individuals are matched; of paths, those that it has anonymized. A budget must have been debited: the first message
/// that depends on data leaves at once.
///
/// # Errors
/// Those of the model. What was spent is gone then.
pub fn together<'d>(
    session: &mut Session,
    agreement: &Agreement,
    data: impl Into<Data<'d>>,
    budget: Option<Budget>,
    prepared: Prepared,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Outcome, Error> {
    let data = data.into();
    match (&agreement.model, prepared) {
        (Model::DiffGen(_), Prepared::DiffGen(prepared)) => {
            let budget = budget.ok_or(Error::NoBudget)?;
            let made = two_party::release_prepared(
                session,
                agreement,
                data.table()?,
                budget,
                *prepared,
                progress,
            )?;
            Ok(made)
        }
        (Model::Syntactic(terms), Prepared::Syntactic) => {
            let release = match agreement.partition {
                Partition::Horizontal { .. } => super::lkc::horizontal::release,
                _ => super::lkc::vertical::release,
            };
            release(session, agreement, terms, data.table()?, progress)
        }
        (Model::Trajectory(terms), Prepared::Nothing) => {
            super::trajectory::union::together(session, agreement, terms, data.part()?, progress)
        }
        #[cfg(any(test, feature = "testing"))]
        (Model::ExactCounts, Prepared::Nothing) => {
            super::exact_counts::together(session, agreement, data.table()?, progress)
        }
        _ => Err(Error::PreparedForAnother),
    }
}
