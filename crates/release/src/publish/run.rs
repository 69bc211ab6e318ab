//! One party's side of a release by two.
//!
//! What is refused is refused before connecting, if this side can know it: agreement, party file,
//! identity, ledger and cap, output directory, data. (For the cap alone a peer that is there is
//! told, by a handshake that ends with that word: it would wait for somebody who may not come.)
//! Then, with the peer:
//!
//! | step | what is exchanged | what a failure leaves |
//! | --- | --- | --- |
//! | handshake | the hash of the agreement, roles | nothing spent |
//! | status | program version, unfinished runs, the peer's last head | nothing spent |
//! | set-up | keys and transfers: nothing that depends on data | nothing spent |
//! | debit | that ε is in the ledger, on disk, and its head | ε spent, no release |
//! | release | the protocols | ε spent, no release |
//! | signing | hash and signature of the manifest's body | ε spent; see below |
//! | closing | that the files are written | a release |
//!
//! *If one side dies between signing and closing*: whoever has both signatures writes its release,
//! which is whole and can be checked by anybody; the other has none, is told so when it starts
//! next (by its ledger, and by the peer in the status exchange), and gets a copy from its peer.
//! Nothing is resumed: a retry is another run, with another debit.

mod connecting;
mod conversation;
pub mod costs;
mod deadline;
pub mod forecast;
mod left;
mod messages;
pub mod rehearse;
mod side;
mod unfinished;
mod waiting;

use crate::Error;
use crate::error::Kind;
use crate::privacy::ledger::{self, RunId};
use crate::publish::artefacts::Output;
use crate::publish::shards::Workers;
use crate::publish::{Event, Watcher, report};
use crate::release::forecast::Records;
use crate::release::plan;
use conversation::Conversation;
use left::Left;
pub use side::Side;

/// What a party wants of a run besides the release.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// Also write a copy without the rows whose count is 0.
    pub compact: bool,
    /// Also write direction, kind and length of every message, under `private/`.
    pub record: bool,
    /// How many shards may be in work at a time, where people are in shards; 0 counts as 1. The smaller
    /// number of both parties holds: memory is what so many shards need.
    pub shards_at_once: u32,
    /// Each pair of shards meets at a port of its own, n + 1 above that of the leads: so it must be where
    /// the shards of either party are in processes of their own, and both say so.
    pub shard_ports: bool,
}

/// Runs one party's side of a release, to its end.
///
/// # Errors
/// Whatever stops the run, in words; the ledger says what it has spent.
pub fn run(side: &Side<'_>, options: Options, watcher: &dyn Watcher) -> Result<(), Error> {
    run_with(side, options, None, watcher)
}

/// The same where `workers` have the records, if they do: the party's own table is not read then.
///
/// # Errors
/// As [`run`], and if a worker fails.
pub fn run_with(
    side: &Side<'_>,
    options: Options,
    workers: Option<&dyn Workers>,
    watcher: &dyn Watcher,
) -> Result<(), Error> {
    let (agreement, party) = (side.agreement, side.party);
    let mut ledger = side.open_ledger()?;
    unfinished::tell(&mut ledger, side, watcher)?;
    let checked = side.check_caps(ledger.history());
    if let Err(ledger::Error::CapReached { .. }) = &checked {
        side.tell_of_cap(&agreement.canonical(), watcher);
    }
    checked?;
    let (spends, accepted) = (side.plan.promise.epsilon().is_some(), agreement.accept_composition);
    ledger.check_composition(&party.data_set, spends, accepted)?;
    ledger.reserve()?;
    if let Some(remark) = side.remark_on_id(ledger.history()) {
        watcher.say(&remark);
    }
    let output = Output::prepare(&party.out, agreement, &side.plan, options.compact)?;
    let data = match workers {
        None => side.read_data(watcher)?,
        Some(workers) => side.elsewhere(workers.records())?,
    };
    plan::check_records(agreement, data.len())?;

    let (own, paths) = (data.len(), data.extents());
    let limit = side.deadline(Records { own, paths, ..Records::default() })?;
    let mut session =
        side.meet(options, workers, watcher).map_err(|failure| match failure.kind() {
            // Leads meet before their shards do.
            Kind::Stopped if agreement.shards.is_some() => failure.advise("nothing was spent"),
            Kind::Stopped => failure.advise("nothing was spent, and the peer has seen nobody"),
            _ => failure,
        })?;
    session.end_within(limit);
    let here = format!("{} is here and under the same agreement", side.peer_name);
    watcher.tell(Event::Connected, &here);
    if options.record {
        session.record_transcript();
    }
    let mut conversation = Conversation {
        side,
        data: &data,
        output: &output,
        ledger: &mut ledger,
        watcher,
        compact: options.compact,
        run: RunId(*session.id.as_bytes()),
        debited: false,
        signed: false,
        written: false,
    };
    match conversation.hold(&mut session) {
        Ok(about) => {
            if let Err(failure) = costs::write(&output, side, &session, &about, options.record) {
                // The release is whole without it.
                watcher
                    .say(&format!("what the run cost could not be noted: {}", failure.message()));
            }
            report::accompany(&party.out, watcher);
            Ok(())
        }
        Err(failure) => {
            let left = conversation.left();
            Err(left.end(failure, &mut session, &mut ledger, side.peer_name, watcher))
        }
    }
}
