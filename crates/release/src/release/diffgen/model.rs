//! DiffGen as a model of releases.

use super::forecast::{self, Records};
use super::sizes::Sizes;
use super::{Plan, outlook, single, two_party};
use crate::Error;
use crate::agreement::Agreement;
use crate::agreement::diffgen::Terms;
use crate::math::{Randomness, Rational};
use crate::privacy::{Budget, Differential, Promise};
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::release::forecast::key_bits;
use crate::release::model::ReleaseModel;
use crate::release::run::Prepared;
use crate::release::tree::output::most_bytes;
use crate::release::{Data, Examined, Outcome, Release, Step, no_budget, plan};
use crate::table::{Cuts, Specialization};

impl ReleaseModel for Terms {
    fn plan_alone(&self, agreement: &Agreement) -> Result<plan::Plan, Error> {
        let plan = Plan::new(agreement)?;
        // The samplers are exact, so nothing is lost to approximation.
        let promise = promise(self, agreement, Rational::zero());
        let most_bytes = most_bytes(&agreement.schema, plan.specializations());
        Ok(plan::Plan { promise, most_bytes, most_rows: plan.most_rows(), details: Vec::new() })
    }

    fn plan_together(&self, agreement: &Agreement) -> Result<plan::Plan, Error> {
        let alone = self.plan_alone(agreement)?;
        let sizes = Sizes::of(agreement, &Plan::new(agreement)?)?;
        let promise = promise(self, agreement, sizes.widths.delta.clone());
        Ok(plan::Plan { promise, details: vec![sizes.widths_in_words(self)], ..alone })
    }

    /// Each of the noises is above 45/ε with a chance below e^-45 < 2^-64, and there are fewer than 2^23.
    fn most_added(&self, agreement: &Agreement, rows: u64) -> Result<u64, Error> {
        let noises = Rational::whole(45 * agreement.model.noises());
        let widest = noises.checked_div(&Plan::new(agreement)?.epsilon_counts());
        let widest = widest.and_then(|widest| u64::try_from(widest.ceil()).ok());
        Ok(widest.unwrap_or(u64::MAX).saturating_mul(rows))
    }

    fn most_specializations(&self, agreement: &Agreement) -> Result<Option<u32>, Error> {
        Ok(Some(Plan::new(agreement)?.specializations()))
    }

    fn allows(&self, agreement: &Agreement, made: &[Specialization]) -> Result<bool, Error> {
        Plan::new(agreement)?.allows(made)
    }

    fn outlook(&self, agreement: &Agreement, records: Option<u64>) -> Result<Vec<String>, Error> {
        outlook::outlook(agreement, records)
    }

    fn check_records(&self, agreement: &Agreement, records: usize) -> Result<(), Error> {
        forecast::check_table(agreement, records)
    }

    fn alone(
        &self,
        agreement: &Agreement,
        data: Data<'_>,
        budget: Option<Budget>,
        rng: &mut Randomness,
        progress: &dyn Fn(Step),
    ) -> Result<Release, Error> {
        let budget = budget.ok_or_else(no_budget)?;
        single::release(agreement, data.table()?, budget, rng, progress)
    }

    fn prepare(&self, session: &mut Workspace, agreement: &Agreement) -> Result<Prepared, Error> {
        let prepared = two_party::prepare(session, agreement, two_party::Keys::Agreed)?;
        Ok(Prepared::DiffGen(Box::new(prepared)))
    }

    fn together(
        &self,
        session: &mut Workspace,
        agreement: &Agreement,
        data: Data<'_>,
        budget: Option<Budget>,
        prepared: Prepared,
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<Outcome, Error> {
        let Prepared::DiffGen(prepared) = prepared else {
            return Err(Error::internal("the release was prepared for another agreement"));
        };
        let (table, budget) = (data.table()?, budget.ok_or_else(no_budget)?);
        two_party::release_prepared(session, agreement, table, budget, *prepared, progress)
    }

    fn forecast_prepare(&self, f: &mut Forecast, agreement: &Agreement) -> Result<(), Error> {
        forecast::prepare(f, agreement, key_bits(agreement))
    }

    fn forecast(
        &self,
        f: &mut Forecast,
        agreement: &Agreement,
        records: Records,
        course: &[Examined],
    ) -> Result<u64, Error> {
        let tree: Vec<Specialization> = course.iter().map(|examined| examined.made).collect();
        forecast::release_prepared(f, agreement, records, &tree, key_bits(agreement))
    }

    fn random_trees(
        &self,
        agreement: &Agreement,
        count: usize,
        records: Option<u64>,
    ) -> Result<Vec<Cuts>, Error> {
        forecast::random_trees(agreement, count, records)
    }
}

fn promise(terms: &Terms, agreement: &Agreement, delta: Rational) -> Promise {
    let (epsilon, towards_peer) = (terms.epsilon.clone(), agreement.towards_peer());
    Promise::Differential(Differential { epsilon, delta, towards_peer })
}
