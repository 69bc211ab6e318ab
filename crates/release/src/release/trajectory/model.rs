//! Paths as a model of releases.

use std::io::Read;

use super::{made, union};
use crate::Error;
use crate::agreement::Agreement;
use crate::agreement::trajectory::Terms;
use crate::math::Randomness;
use crate::privacy::Budget;
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::release::examine::Seen;
use crate::release::forecast::Records;
use crate::release::model::ReleaseModel;
use crate::release::plan::Plan;
use crate::release::run::Prepared;
use crate::release::{Data, Examined, Outcome, Release, Step};

impl ReleaseModel for Terms {
    fn plan_alone(&self, agreement: &Agreement) -> Result<Plan, Error> {
        Ok(made::plan(agreement, self))
    }

    fn outlook(&self, agreement: &Agreement, _: Option<u64>) -> Result<Vec<String>, Error> {
        let line = "Your anonymized paths without the pairs that the other party takes out, and its \
                    own likewise.";
        Ok(agreement.parties().map(|_| line.to_owned()).into_iter().collect())
    }

    fn alone(
        &self,
        agreement: &Agreement,
        data: Data<'_>,
        _: Option<Budget>,
        _: &mut Randomness,
        progress: &dyn Fn(Step),
    ) -> Result<Release, Error> {
        made::alone(agreement, self, data.paths()?, progress)
    }

    fn together(
        &self,
        session: &mut Workspace,
        agreement: &Agreement,
        data: Data<'_>,
        _: Option<Budget>,
        _: Prepared,
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<Outcome, Error> {
        union::together(session, agreement, self, data.part()?, progress)
    }

    fn is_examined(&self) -> bool {
        true
    }

    fn examine(&self, agreement: &Agreement, csv: &mut dyn Read) -> Result<Seen, Error> {
        made::examine(agreement, self, csv)
    }

    fn forecast(
        &self,
        f: &mut Forecast,
        agreement: &Agreement,
        records: Records,
        _: &[Examined],
    ) -> Result<u64, Error> {
        union::forecast(f, agreement, records)
    }
}
