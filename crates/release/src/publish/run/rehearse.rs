//! One party's side of a rehearsal: how many people both have in common, before a release.
//!
//! | step | what is exchanged | what a failure leaves |
//! | --- | --- | --- |
//! | handshake | the hash of the agreement *and that it is a rehearsal*, roles | nothing |
//! | status | as before a run | nothing |
//! | set-up | of a noisy one: transfers, nothing that depends on data | nothing |
//! | ledger | that the rehearsal is in the ledger, on disk, and its head | a line; of a noisy one ε spent |
//! | counting | [`rehearsal`], [`noisy`] | a line; of a noisy one ε spent |
//! | closing | that it is over | the numbers |
//!
//! A ledger allows one exact rehearsal of a data set with a peer, whether it completed or not, and
//! one more for each line that allows it. Noisy ones are debited, and the cap limits their number.

use super::{Left, Side, deadline, messages, unfinished};
use crate::Error;
use crate::agreement;
use crate::privacy::ledger::{self, Debit, Hash, Ledger, Rehearsal, RunId};
use crate::privacy::{Epsilon, Promise};
use crate::protocol::Workspace;
use crate::publish::{Event, Watcher};
use crate::release;
use crate::release::forecast::Records;
use crate::release::rehearsal::noisy::{self, Counted, NoisyPlan};
use crate::release::rehearsal::{self, Rehearsed};
use crate::table::Table;

/// The phase in which both confirm that an exact rehearsal is in their ledgers.
const LEDGER: &str = "ledger";

/// What this party learned in a rehearsal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Records of this party.
    pub records: usize,
    /// What both learned.
    pub numbers: Numbers,
}

/// What both parties of a rehearsal learn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Numbers {
    /// Exactly, outside ε.
    Exact(Rehearsed),
    /// With noise, for ε.
    Noisy(Counted),
}

/// Rehearses a release with the peer, which must do the same at the same time.
///
/// # Errors
/// If the agreement allows no rehearsal, an exact one took place already or the cap allows no noisy
/// one, and whatever aborts the run.
pub fn rehearse(side: &Side<'_>, watcher: &dyn Watcher) -> Result<Told, Error> {
    let (agreement, party) = (side.agreement, side.party);
    let plan = plan(side)?;
    let mut ledger = side.open_ledger()?;
    unfinished::tell(&mut ledger, side, watcher)?;
    check_ledger(side, plan.as_ref(), &ledger, watcher)?;
    ledger.reserve()?;
    let table = side.read_table(watcher)?;
    let limit = match &plan {
        None => side.deadline(Records { own: table.len(), ..Records::default() })?,
        Some(plan) => {
            noisy::check_records(agreement, table.len())?;
            deadline::of_rehearsal(side, plan, table.len())?
        }
    };
    let session = party.meeting.open(
        &side.identity,
        side.peer,
        party.role,
        party.limits,
        terms(&agreement.canonical()).as_bytes(),
        watcher,
    )?;
    let mut session = Workspace::from(session);
    session.channel.end_within(limit);
    let here = format!("{} is here to rehearse the same agreement", side.peer_name);
    watcher.tell(Event::Connected, &here);
    let mut conversation = Conversation {
        side,
        ledger: &mut ledger,
        table: &table,
        watcher,
        entered: false,
        counted: false,
    };
    let numbers = match &plan {
        None => conversation.count(&mut session).map(Numbers::Exact),
        Some(plan) => conversation.count_with_noise(&mut session, plan).map(Numbers::Noisy),
    };
    match numbers {
        Ok(numbers) => Ok(Told { records: table.len(), numbers }),
        Err(failure) => {
            let left = conversation.left(plan.as_ref());
            Err(left.end(failure, &mut session, &mut ledger, side.peer_name, watcher))
        }
    }
}

/// The plan of a noisy rehearsal; none of an exact one.
fn plan(side: &Side<'_>) -> Result<Option<NoisyPlan>, Error> {
    Ok(match rehearsal::allowed(side.agreement)? {
        agreement::Rehearsal::Noisy { .. } => Some(NoisyPlan::of(side.agreement)?),
        agreement::Rehearsal::Numbers | agreement::Rehearsal::Labels => None,
    })
}

/// Whether the ledger allows it: checked before connecting.
fn check_ledger(
    side: &Side<'_>,
    plan: Option<&NoisyPlan>,
    ledger: &Ledger,
    watcher: &dyn Watcher,
) -> Result<(), Error> {
    let (agreement, party) = (side.agreement, side.party);
    let Some(plan) = plan else {
        let key = Hash(*side.peer.as_bytes());
        return Ok(ledger.check_rehearsal(&party.data_set, side.peer_name, Some(&key))?);
    };
    let checked = side.check_caps_for(ledger.history(), &plan.promised);
    if let Err(ledger::Error::CapReached { .. }) = &checked {
        side.tell_of_cap(&terms(&agreement.canonical()), watcher);
    }
    checked?;
    Ok(ledger.check_composition(&party.data_set, true, agreement.accept_composition)?)
}

/// What both must have in common. That it is a rehearsal is part of it, so that a run and a
/// rehearsal cannot be connected.
fn terms(canonical: &str) -> String {
    let rest = canonical.strip_prefix('{').unwrap_or(canonical);
    format!("{{\"--rehearse\":true,{rest}")
}

/// A rehearsal from the handshake to its closing, and whether it is in the ledger.
struct Conversation<'a> {
    side: &'a Side<'a>,
    ledger: &'a mut Ledger,
    table: &'a Table,
    watcher: &'a dyn Watcher,
    entered: bool,
    /// Whether the number of a noisy one is known.
    counted: bool,
}

impl Conversation<'_> {
    fn begin(&mut self, session: &mut Workspace) -> Result<(), Error> {
        self.ledger.check_name()?;
        unfinished::compare(session, self.ledger, self.side.peer_name, self.watcher)
    }

    /// Runs an exact rehearsal.
    fn count(&mut self, session: &mut Workspace) -> Result<Rehearsed, Error> {
        self.begin(session)?;
        let (side, watcher) = (self.side, self.watcher);
        session.channel.begin_phase(LEDGER);
        watcher.stop().check()?;
        self.ledger.rehearse(Rehearsal {
            release: side.agreement.id.clone(),
            data_set: side.party.data_set.clone(),
            agreement: Hash(side.agreement.hash().0),
            peer: side.peer_name.to_owned(),
            fingerprint: Some(Hash(*side.peer.as_bytes())),
            salt: Hash(session.rng.array()),
        })?;
        self.entered = true;
        messages::exchange_heads(session, self.ledger.history().head())?;
        let progress = |step| watcher.step(step);
        let rehearsed = rehearsal::run(session, side.agreement, self.table, &progress)?;
        close(session);
        Ok(rehearsed)
    }

    /// Runs a noisy one, whose ε is on disk at both before the first message that depends on data.
    fn count_with_noise(
        &mut self,
        session: &mut Workspace,
        plan: &NoisyPlan,
    ) -> Result<Counted, Error> {
        self.begin(session)?;
        let (side, watcher) = (self.side, self.watcher);
        noisy::prepare(session, plan)?;
        session.channel.begin_phase(messages::DEBIT);
        watcher.stop().check()?;
        let (run, salt) = (RunId(*session.id.as_bytes()), Hash(session.rng.array()));
        let promise = Promise::Differential(plan.promised.clone());
        let debit = Debit { out: None, ..side.debit(&promise, run, salt) };
        let receipt = self.ledger.debit_rehearsal(debit)?;
        watcher.spent(&plan.promised.epsilon);
        self.entered = true;
        let theirs = messages::exchange_heads(session, self.ledger.history().head())?;
        self.ledger.note_peer(run, theirs)?;
        let debited = format!("both ledgers are debited ε {}", plan.promised.epsilon);
        watcher.tell(Event::Debited, &debited);
        let budget = receipt.into_budget().ok_or_else(release::no_budget)?;
        let progress = |step| watcher.step(step);
        let counted =
            noisy::run(session, side.agreement, plan, self.table, budget, false, &progress)?;
        self.counted = true;
        self.ledger.finish(run)?;
        close(session);
        Ok(counted)
    }

    /// What is left of a rehearsal that failed now.
    fn left(&self, plan: Option<&NoisyPlan>) -> Left {
        match plan {
            _ if !self.entered => Left::Nothing,
            Some(plan) => Left::Open(vec![spent(&plan.promised.epsilon, self.counted)]),
            None => Left::Entered(vec![
                "no ε is spent, but the rehearsal is in the ledger and counts: for another, see \
                 `diptych ledger allow-rehearsal --help`, or agree on rehearse = \"noisy\""
                    .to_owned(),
            ]),
        }
    }
}

/// What a noisy rehearsal leaves that failed after its debit.
fn spent(epsilon: &Epsilon, counted: bool) -> String {
    let told = match counted {
        true => "the peer may have been told the number",
        false => "nothing was told",
    };
    format!("ε {epsilon} is spent and {told}")
}

/// The numbers are known whatever the peer sends now; this only keeps the connection open for both.
fn close(session: &mut Workspace) {
    session.channel.begin_phase(messages::CLOSING);
    let _ = messages::exchange_written(session);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rehearsal_whose_last_line_fails_does_not_say_that_nothing_was_told() {
        let epsilon: Epsilon = "0.05".parse().unwrap();
        assert_eq!(spent(&epsilon, false), "ε 0.05 is spent and nothing was told");
        assert!(!spent(&epsilon, true).contains("nothing was told"));
    }
}
