//! A table with exact counts and no promise: the smallest release model, for tests. The command that
//! people build never has it. It shows all that a model needs to say for itself.

use super::forecast::Records;
use super::model::ReleaseModel;
use super::plan::Plan;
use super::run::Prepared;
use super::tree::{Generalized, Leaves};
use super::{Data, Examined, Outcome, Release, Step};
use crate::Error;
use crate::agreement::Agreement;
use crate::math::Randomness;
use crate::net::Tag;
use crate::privacy::{Budget, Promise};
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::release::tree::output::most_bytes;
use crate::table::{Cuts, Table};

/// Counts, 8 bytes each.
const COUNTS: Tag = Tag::new(*b"xcnt");

/// The model, which has no terms.
pub(super) struct ExactCounts;

impl ReleaseModel for ExactCounts {
    fn plan_alone(&self, agreement: &Agreement) -> Result<Plan, Error> {
        Ok(Plan {
            promise: Promise::Words("none: the counts are exact".to_owned()),
            most_bytes: most_bytes(&agreement.schema, 0),
            most_rows: agreement.schema.class.values.len() as u64,
            details: Vec::new(),
        })
    }

    fn alone(
        &self,
        agreement: &Agreement,
        data: Data<'_>,
        _: Option<Budget>,
        _: &mut Randomness,
        progress: &dyn Fn(Step),
    ) -> Result<Release, Error> {
        Ok(count(agreement, data.table()?, progress))
    }

    /// Each party sends its counts.
    fn together(
        &self,
        session: &mut Workspace,
        agreement: &Agreement,
        data: Data<'_>,
        _: Option<Budget>,
        _: Prepared,
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<Outcome, Error> {
        let mut release = count(agreement, data.table()?, progress);
        let counts = &mut release.table.counts;
        let own: Vec<u8> = counts.iter().flat_map(|count| count.to_le_bytes()).collect();
        session.channel.begin_phase("counts");
        session.channel.send_bytes(COUNTS, &own)?;
        let theirs = session.channel.receive_bytes(COUNTS, own.len())?;
        for (count, bytes) in counts.iter_mut().zip(theirs.as_chunks().0) {
            *count = count.saturating_add(u64::from_le_bytes(*bytes));
        }
        let (course, paths) = Default::default();
        Ok(Outcome { release, in_both: None, peer_records: None, course, paths })
    }

    fn forecast(
        &self,
        forecast: &mut Forecast,
        agreement: &Agreement,
        _: Records,
        _: &[Examined],
    ) -> Result<u64, Error> {
        forecast.begin_phase("counts");
        let rows = agreement.schema.class.values.len();
        forecast.exchange(COUNTS, rows * 8);
        Ok(rows as u64)
    }
}

fn count(agreement: &Agreement, table: &Table, progress: &dyn Fn(Step)) -> Release {
    progress(Step::Began { phase: "counting", total: table.len() });
    let mut counts = vec![0; agreement.schema.class.values.len()];
    for class in table.classes() {
        counts[usize::from(*class)] += 1;
    }
    progress(Step::Advanced(table.len()));
    progress(Step::Ended);
    let cuts = Cuts::topmost(&agreement.schema);
    let table = Generalized { cuts, leaves: Leaves::CrossProduct, counts };
    Release { table, spends: Vec::new(), notes: Vec::new() }
}
