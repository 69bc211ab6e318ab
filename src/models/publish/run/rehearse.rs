//! One party's side of a rehearsal: how many people both have in common, before ε is spent.
//!
//! | step | what is exchanged | what a failure leaves |
//! | --- | --- | --- |
//! | handshake | the hash of the agreement *and that it is a rehearsal*, roles | nothing |
//! | status | as before a run | nothing |
//! | ledger | that the rehearsal is in the ledger, on disk, and its head | a line without ε |
//! | set intersection | [`rehearsal`] | a line without ε |
//! | closing | that it is over | the numbers |
//!
//! A ledger has one rehearsal of an agreement and a data set, whether it came to its end or not.

use super::messages::{self, Ending};
use super::{Side, unfinished};
use crate::privacy::ledger::{Hash, Ledger, Rehearsal};
use crate::protocol::Session;
use crate::publish::Watcher;
use crate::publish::failure::Failure;
use crate::release::forecast::Records;
use crate::release::rehearsal::{self, Rehearsed};
use crate::table::Table;

/// The phase in which both tell that the rehearsal is in their ledgers.
const LEDGER: &str = "ledger";

/// What a rehearsal told this party.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Told {
    /// Records of this party.
    pub records: usize,
    /// What both learned.
    pub rehearsed: Rehearsed,
}

/// Rehearses a release with the peer, which must do the same at the same time.
///
/// # Errors
/// If the agreement allows no rehearsal or there was one, and whatever stops the conversation.
pub fn rehearse(side: &Side<'_>, watcher: &dyn Watcher) -> Result<Told, Failure> {
    let (agreement, party) = (side.agreement, side.party);
    rehearsal::allowed(agreement)?;
    let mut ledger = side.open_ledger()?;
    unfinished::tell(&mut ledger, side, watcher)?;
    ledger.check_rehearsal(&party.data_set, &Hash(agreement.hash().0))?;
    ledger.reserve()?;
    let table = side.read_table(watcher)?;
    let limit = side.deadline(Records { own: table.len(), ..Records::default() })?;
    let mut session = party.meeting.open(
        &side.identity,
        side.peer,
        party.role,
        party.limits,
        terms(&agreement.canonical()).as_bytes(),
        watcher,
    )?;
    session.channel.end_within(limit);
    watcher.say(&format!("{} is here to rehearse the same agreement", side.peer_name));
    let mut entered = false;
    match hold(side, &mut session, &mut ledger, &table, watcher, &mut entered) {
        Ok(rehearsed) => Ok(Told { records: table.len(), rehearsed }),
        Err(ended) => {
            if let Some(reason) = ended.tell {
                session.channel.abort(reason);
            }
            Err(if entered {
                let advice = "no ε is spent, but the rehearsal is in the ledger: to have another, \
                              agree on another release `id`";
                let before = ended.failure.advice.clone();
                let advice = before.into_iter().chain([advice.to_owned()]);
                ended.failure.advise(advice.collect::<Vec<_>>().join("\n       "))
            } else {
                ended.failure
            })
        }
    }
}

/// What both must have in common. That it is a rehearsal is part of it, so that no run meets one.
fn terms(canonical: &str) -> String {
    let rest = canonical.strip_prefix('{').unwrap_or(canonical);
    format!("{{\"--rehearse\":true,{rest}")
}

fn hold(
    side: &Side<'_>,
    session: &mut Session,
    ledger: &mut Ledger,
    table: &Table,
    watcher: &dyn Watcher,
    entered: &mut bool,
) -> Result<Rehearsed, Ending> {
    ledger.check_name()?;
    unfinished::compare(session, ledger, side.peer_name, watcher)?;
    session.channel.begin_phase(LEDGER);
    watcher.stop().check()?;
    ledger.rehearse(Rehearsal {
        release: side.agreement.id.clone(),
        data_set: side.party.data_set.clone(),
        agreement: Hash(side.agreement.hash().0),
        peer: side.peer_name.to_owned(),
        salt: Hash(session.rng.array()),
    })?;
    *entered = true;
    messages::exchange_heads(session, ledger.history().head())?;
    let rehearsed = rehearsal::run(session, side.agreement, table, &|step| watcher.step(step))?;
    // The numbers are known whatever the peer says now; it only keeps the line open for both.
    session.channel.begin_phase(messages::CLOSING);
    let _ = messages::exchange_written(session);
    Ok(rehearsed)
}
