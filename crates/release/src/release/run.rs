//! Making a release, whatever its model: by one party or by two.

use super::diffgen::two_party;
use super::{Data, Outcome, Release, Step, model};
use crate::Error;
use crate::agreement::Agreement;
use crate::math::Randomness;
use crate::privacy::Budget;
use crate::protocol::Workspace;

/// What two parties made ready before anything is spent: see [`prepare`].
#[non_exhaustive]
pub enum Prepared {
    /// For DiffGen.
    DiffGen(Box<two_party::Prepared>),
    /// Nothing that is to be kept beside the session.
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
    model::of(agreement).alone(agreement, data.into(), budget, rng, progress)
}

/// Everything with the peer that depends on no data. Whoever cuts the line until now costs nobody
/// any ε.
///
/// # Errors
/// Those of the model.
pub fn prepare(session: &mut Workspace, agreement: &Agreement) -> Result<Prepared, Error> {
    model::of(agreement).prepare(session, agreement)
}

/// Makes a release with the peer. `data` is what the agreement gives to this party, with
/// identifiers where individuals are matched; of paths, those that it has anonymized. A budget must
/// have been debited: the first message that depends on data leaves at once.
///
/// # Errors
/// Those of the model. What was spent is gone then.
pub fn together<'d>(
    session: &mut Workspace,
    agreement: &Agreement,
    data: impl Into<Data<'d>>,
    budget: Option<Budget>,
    prepared: Prepared,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Outcome, Error> {
    model::of(agreement).together(session, agreement, data.into(), budget, prepared, progress)
}
