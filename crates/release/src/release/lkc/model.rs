//! Models that hide people in groups, as models of releases: LKC and the lattice.

use std::io::Read;

use super::{forecast, horizontal, vertical};
use crate::Error;
use crate::agreement::syntactic::{Search, Terms};
use crate::agreement::{Agreement, Partition};
use crate::math::Randomness;
use crate::privacy::Budget;
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::release::examine::{self, Seen};
use crate::release::forecast::Records;
use crate::release::model::ReleaseModel;
use crate::release::plan::Plan;
use crate::release::run::Prepared;
use crate::release::{Data, Examined, Outcome, Release, Step, lattice};
use crate::table::{Cuts, Specialization};

impl ReleaseModel for Terms {
    fn plan_alone(&self, agreement: &Agreement) -> Result<Plan, Error> {
        Ok(super::plan(agreement, self))
    }

    fn outlook(&self, agreement: &Agreement, _: Option<u64>) -> Result<Vec<String>, Error> {
        let line =
            "Values are made as fine as every group allows; how fine that is depends on the data.";
        Ok(agreement.parties().map(|_| line.to_owned()).into_iter().collect())
    }

    fn check_records(&self, agreement: &Agreement, records: usize) -> Result<(), Error> {
        forecast::check_cells(agreement, self, records)
    }

    fn alone(
        &self,
        agreement: &Agreement,
        data: Data<'_>,
        _: Option<Budget>,
        _: &mut Randomness,
        progress: &dyn Fn(Step),
    ) -> Result<Release, Error> {
        match self.search {
            Search::TopDown { .. } => super::alone(agreement, self, data.table()?, progress),
            Search::Lattice(by) => lattice::alone(agreement, self, by, data.table()?, progress),
        }
    }

    fn prepare(&self, session: &mut Workspace, _: &Agreement) -> Result<Prepared, Error> {
        vertical::prepare(session)?;
        Ok(Prepared::Nothing)
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
        let release = match agreement.partition {
            Partition::Horizontal { .. } => horizontal::release,
            _ => vertical::release,
        };
        release(session, agreement, self, data.table()?, progress)
    }

    fn is_examined(&self) -> bool {
        true
    }

    fn examine(&self, agreement: &Agreement, csv: &mut dyn Read) -> Result<Seen, Error> {
        examine::groups(agreement, self, csv)
    }

    fn forecast_prepare(&self, f: &mut Forecast, _: &Agreement) -> Result<(), Error> {
        vertical::forecast_prepare(f);
        Ok(())
    }

    fn forecast(
        &self,
        f: &mut Forecast,
        agreement: &Agreement,
        records: Records,
        course: &[Examined],
    ) -> Result<u64, Error> {
        forecast::together(f, agreement, self, records, course)
    }

    fn random_trees(
        &self,
        agreement: &Agreement,
        count: usize,
        records: Option<u64>,
    ) -> Result<Vec<Cuts>, Error> {
        forecast::random_trees(agreement, self, count, records)
    }

    fn beyond(&self, agreement: &Agreement, largest: &Cuts) -> Result<u64, Error> {
        forecast::beyond(agreement, self, largest)
    }

    /// What the tree is made of, and all candidates that are left: each is tested.
    fn course(&self, agreement: &Agreement, tree: &Cuts) -> Vec<Examined> {
        let mut course = Examined::all(tree.made());
        let left = tree.candidates(self.quasi(&agreement.schema));
        let stays = |candidate| Examined {
            made: Specialization { candidate, split: None },
            performed: false,
        };
        course.extend(left.into_iter().map(stays));
        course
    }
}
