//! A shard: its connection to the peer's shard of the same number, and its records.

use std::sync::Arc;
use std::time::Duration;

use super::asks::{Ask, malformed, read_request, read_sums, tell_names, tell_shares};
use super::{match_shard, records};
use crate::Error;
use crate::agreement::{Agreement, Rehearsal};
use crate::net::{AbortReason, Costs, Stop, Transcript};
use crate::protocol::shards::{Answer, Failed, Shard};
use crate::protocol::{Session, Workspace, yao};
use crate::release::diffgen::two_party::{self, SET_UP};
use crate::release::diffgen::{Plan, hidden, terms};
use crate::release::matching::no_identifiers;
use crate::release::rehearsal;
use crate::release::shards::too_full;
use crate::role::Role;
use crate::table::{Specialization, Table};

/// One shard: it answers what its lead asks.
pub struct Host {
    session: Workspace,
    agreement: Arc<Agreement>,
    /// Its own, until they are matched; a lead that holds all records sends them along.
    records: Option<Table>,
    /// Classes and identifiers of the common people, if the agreement lets both count them.
    labelled: Vec<Vec<u8>>,
    /// Where nobody learns who is common.
    joined: Option<hidden::Part<'static>>,
}

impl Host {
    /// A shard on a connection, with records of its own or none yet.
    pub fn new(session: Session, agreement: Arc<Agreement>, records: Option<Table>) -> Self {
        Self { session: session.into(), agreement, records, labelled: Vec::new(), joined: None }
    }

    fn answer(&mut self, request: &[u8]) -> Result<Answer, Error> {
        let (ask, follows) = read_request(request).map_err(malformed)?;
        match ask {
            Ask::SetUp => self.set_up(),
            Ask::Match { due } => self.find_common(due, follows),
            Ask::Labelled => Ok(tell_names(&std::mem::take(&mut self.labelled))),
            Ask::Sums { phase, sums } => {
                let most = usize::try_from(self.agreement.max_records).unwrap_or(usize::MAX);
                let (phase, sums) = read_sums(phase, &sums, follows, most).map_err(malformed)?;
                self.session.channel.begin_phase(phase);
                let sums = sums.into_iter();
                let made = sums.map(|(sum, places)| sum.run(&mut self.session, places, &|_| ()));
                Ok(tell_shares(&made.collect::<Result<Vec<_>, _>>()?))
            }
            Ask::Join { announced } => self.join(&announced, follows),
            Ask::Count { made } => self.count(&made),
            Ask::Tally(_) | Ask::Specialize(_) => {
                Err(malformed("records are counted alone in a horizontal release"))
            }
        }
    }

    fn set_up(&mut self) -> Result<Answer, Error> {
        let session = &mut self.session;
        session.channel.begin_phase(SET_UP);
        for (sender, source) in two_party::shard_sources(&self.agreement)? {
            session.use_transfers(source);
            yao::set_up(session, sender)?;
        }
        session.bulk = two_party::bulk(terms(&self.agreement)?);
        let records = self.records.as_ref().map_or(0, Table::len);
        Ok(Answer::new((records as u64).to_le_bytes().to_vec()))
    }

    /// Its own records, or those that came with a request.
    fn take_records(&mut self, follows: &[u8]) -> Result<Table, Error> {
        match (self.records.take(), follows.is_empty()) {
            (Some(own), true) => Ok(own),
            (None, false) => {
                let role = self.session.role;
                records::read(&self.agreement, role, follows, true).map_err(malformed)
            }
            (own, _) => {
                self.records = own;
                Err(malformed("records come once, from the lead or with the shard"))
            }
        }
    }

    /// Of the records no more is kept than what may be asked for: the lead sends what is summed.
    fn find_common(&mut self, due: [usize; 2], follows: &[u8]) -> Result<Answer, Error> {
        let table = self.take_records(follows)?;
        let identifiers = table.identifiers().ok_or_else(no_identifiers)?;
        let common = match_shard(&mut self.session, &self.agreement, identifiers, due)?;
        let common = table.select(&common);
        let rehearsed = self.agreement.matching().and_then(|matching| matching.rehearse);
        if rehearsed == Some(Rehearsal::Labels) {
            self.labelled = rehearsal::labelled(&common).ok_or_else(no_identifiers)?;
        }
        let columns = records::write(&self.agreement, self.session.role, &common, false)?;
        Ok(Answer::new(columns))
    }

    fn join(
        &mut self,
        announced: &hidden::joined::Announced,
        follows: &[u8],
    ) -> Result<Answer, Error> {
        let most = usize::try_from(self.agreement.most_records()).unwrap_or(usize::MAX);
        if Role::BOTH.iter().any(|role| announced.of(*role) > most) {
            return Err(malformed("more people than are agreed"));
        }
        let table = self.take_records(follows)?;
        if table.len() > announced.of(self.session.role) {
            return Err(too_full());
        }
        let plan = Plan::new(&self.agreement)?;
        let (joined, histograms) = hidden::Part::join(
            &mut self.session,
            &self.agreement,
            &plan,
            std::borrow::Cow::Owned(table),
            announced,
            &|_| (),
        )?;
        let mut shares = vec![joined.common()?];
        shares.extend(histograms.into_shares().into_values());
        self.joined = Some(joined);
        Ok(tell_shares(&shares))
    }

    fn count(&mut self, made: &[Specialization]) -> Result<Answer, Error> {
        let joined = self.joined.as_mut().ok_or_else(|| malformed("a join comes before counts"))?;
        let counts = joined.count(&mut self.session, &self.agreement, made, &|_| ())?;
        Ok(tell_shares(&[counts]))
    }
}

impl Shard for Host {
    fn ask(&mut self, request: &[u8]) -> Result<Answer, Failed> {
        let answer = self.answer(request);
        self.session.conclude(answer).map_err(|error| Failed::of(&error))
    }

    fn abort(&mut self, reason: AbortReason) {
        self.session.channel.abort(reason);
    }

    fn end_within(&mut self, limit: Duration) {
        self.session.end_within(limit);
    }

    fn stop_on(&mut self, stop: &Stop) {
        self.session.stop_on(stop);
    }

    fn record_transcript(&mut self) {
        self.session.record_transcript();
    }

    fn costs(&self) -> Costs {
        self.session.costs()
    }

    fn transcript(&self) -> Transcript {
        self.session.transcript()
    }
}
