//! What a model does for a release. [`of`] lists the models; nobody else in this layer asks which one
//! an agreement is on.

use std::io::Read;

use super::examine::Seen;
use super::forecast::Records;
use super::plan::Plan;
use super::run::Prepared;
use super::{Data, Examined, Outcome, Release, Step};
use crate::Error;
use crate::agreement::{Agreement, Model};
use crate::math::Randomness;
use crate::privacy::Budget;
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::table::{Cuts, Specialization};

/// The model of an agreement.
pub(super) fn of(agreement: &Agreement) -> &dyn ReleaseModel {
    match &agreement.model {
        Model::DiffGen(terms) => terms,
        Model::Syntactic(terms) => terms,
        Model::Trajectory(terms) => terms,
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => &super::exact_counts::ExactCounts,
    }
}

/// Implemented by the terms of a model. What most models have no answer to has a default.
pub(super) trait ReleaseModel {
    /// What is known of a release by one party before it is made.
    fn plan_alone(&self, agreement: &Agreement) -> Result<Plan, Error>;

    /// The same by two.
    fn plan_together(&self, agreement: &Agreement) -> Result<Plan, Error> {
        self.plan_alone(agreement)
    }

    /// No more people than these are added by noise to a release with so many rows, but for a chance of
    /// 2^-40.
    fn most_added(&self, _: &Agreement, _rows: u64) -> Result<u64, Error> {
        Ok(0)
    }

    /// See [`super::plan::most_specializations`].
    fn most_specializations(&self, _: &Agreement) -> Result<Option<u32>, Error> {
        Ok(None)
    }

    /// See [`super::plan::allows`].
    fn allows(&self, _: &Agreement, _made: &[Specialization]) -> Result<bool, Error> {
        Ok(true)
    }

    /// See [`super::plan::outlook`].
    fn outlook(&self, _: &Agreement, _records: Option<u64>) -> Result<Vec<String>, Error> {
        Ok(Vec::new())
    }

    /// See [`super::plan::check_records`].
    fn check_records(&self, _: &Agreement, _records: usize) -> Result<(), Error> {
        Ok(())
    }

    /// Makes a release from one party's data.
    fn alone(
        &self,
        agreement: &Agreement,
        data: Data<'_>,
        budget: Option<Budget>,
        rng: &mut Randomness,
        progress: &dyn Fn(Step),
    ) -> Result<Release, Error>;

    /// Everything with the peer that depends on no data.
    fn prepare(&self, _: &mut Workspace, _: &Agreement) -> Result<Prepared, Error> {
        Ok(Prepared::Nothing)
    }

    /// Makes a release with the peer.
    fn together(
        &self,
        session: &mut Workspace,
        agreement: &Agreement,
        data: Data<'_>,
        budget: Option<Budget>,
        prepared: Prepared,
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<Outcome, Error>;

    /// Whether a released table tells more than its values and counts: see [`super::examine`].
    fn is_examined(&self) -> bool {
        false
    }

    /// Looks at a released table.
    fn examine(&self, _: &Agreement, _csv: &mut dyn Read) -> Result<Seen, Error> {
        Ok(Seen::default())
    }

    /// The messages of [`ReleaseModel::prepare`].
    fn forecast_prepare(&self, _: &mut Forecast, _: &Agreement) -> Result<(), Error> {
        Ok(())
    }

    /// The messages of [`ReleaseModel::together`] for a run in which this was examined; its rows.
    fn forecast(
        &self,
        forecast: &mut Forecast,
        agreement: &Agreement,
        records: Records,
        course: &[Examined],
    ) -> Result<u64, Error>;

    /// Trees that a release could have, by their number of leaves.
    fn random_trees(
        &self,
        agreement: &Agreement,
        _count: usize,
        _records: Option<u64>,
    ) -> Result<Vec<Cuts>, Error> {
        Ok(vec![Cuts::topmost(&agreement.schema)])
    }

    /// How many times as much as for the largest of those trees a run may take.
    fn beyond(&self, _: &Agreement, _largest: &Cuts) -> Result<u64, Error> {
        Ok(1)
    }

    /// What would be examined on the way to a tree.
    fn course(&self, _: &Agreement, tree: &Cuts) -> Vec<Examined> {
        Examined::all(tree.made())
    }
}
