//! What became of runs that were interrupted: said at the start, compared with the peer.

use serde::{Deserialize, Serialize};

use super::Side;
use super::talk::Ended;
use crate::app::artefacts::MANIFEST;
use crate::app::console::Console;
use crate::app::failure::Failure;
use crate::app::ledger::utc;
use crate::app::verify::read_manifest;
use crate::net::{Message, Tag};
use crate::privacy::ledger::{Ledger, Run, RunId, Status};
use crate::protocol::Session;

/// Most runs that are compared at once; the newest.
const MOST_RUNS: usize = 64;
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Says what the ledger knows of runs that did not end. The ledger is locked, so none of them is
/// under way. One whose release is complete after all is noted as finished.
pub(super) fn tell(ledger: &mut Ledger, side: &Side<'_>, console: &Console) -> Result<(), Failure> {
    if ledger.was_repaired() {
        console.say("the ledger's last line was torn by a crash or a full disk; it was put right");
    }
    let unfinished: Vec<Run> = ledger.history().unfinished().cloned().collect();
    let out = &side.party.out;
    let released = out
        .join(MANIFEST)
        .is_file()
        .then(|| read_manifest(out).ok()?.ledger_head(side.party.role))
        .flatten();
    for run in unfinished {
        let debit = &run.debit;
        let what = format!(
            "release \"{}\" with {} of {} (run {})",
            debit.release,
            debit.peer,
            utc(run.time),
            short(&debit.run)
        );
        let place = out.display();
        if released.is_some() && released == ledger.history().head_of(&debit.run) {
            ledger.finish(debit.run)?;
            console.say(format!(
                "{what} was interrupted when its release was complete already: it is in {place}"
            ));
        } else {
            console.say(format!(
                "{what} was interrupted: its ε {} stays spent, {place} has no release of it, and it \
                 cannot be resumed",
                debit.epsilon
            ));
        }
    }
    Ok(())
}

/// What a party tells before anything is spent.
#[derive(Serialize, Deserialize)]
struct Before {
    program: String,
    /// Runs with this peer that the party's ledger has as unfinished.
    unfinished: Vec<[u8; 32]>,
    /// The last run with this peer that both finished.
    finished: Option<[u8; 32]>,
}

impl Message for Before {
    const TAG: Tag = Tag::new(*b"befo");
}

/// How the peer's unfinished runs stand here.
#[derive(Serialize, Deserialize)]
struct Standing {
    here: Vec<Known>,
}

impl Message for Standing {
    const TAG: Tag = Tag::new(*b"stan");
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Known {
    Nothing,
    Debited,
    Finished,
    Aborted,
}

/// Compares with the peer how unfinished runs stand, says what differs, and closes our own.
pub(super) fn compare(
    session: &mut Session,
    ledger: &mut Ledger,
    side: &Side<'_>,
    console: &Console,
) -> Result<(), Ended> {
    session.channel.begin_phase("status");
    let with_peer = |run: &&Run| run.debit.peer == side.peer_name;
    let history = ledger.history();
    let own: Vec<RunId> = {
        let all: Vec<_> = history.unfinished().filter(with_peer).map(|run| run.debit.run).collect();
        all[all.len().saturating_sub(MOST_RUNS)..].to_vec()
    };
    let finished = history.runs().iter().rev().filter(with_peer);
    let finished = finished.clone().find(|run| run.status == Status::Finished);
    session.channel.send(&Before {
        program: PROGRAM.to_owned(),
        unfinished: own.iter().map(|run| run.0).collect(),
        finished: finished.map(|run| run.debit.run.0),
    })?;
    let theirs: Before = session.channel.receive()?;
    if theirs.unfinished.len() > MOST_RUNS {
        return Err(Ended::bad_message(Before::TAG, "it lists too many runs"));
    }
    if theirs.program != PROGRAM {
        // The manifests would differ, and that would be found after ε is spent.
        let shown: String = theirs.program.chars().take(40).flat_map(char::escape_debug).collect();
        return Err(Ended::disagreement(
            format!("the peer runs version {shown} of the program, this side {PROGRAM}"),
            "install the same version on both sides",
        ));
    }
    let known = |id: &[u8; 32]| match history.run(&RunId(*id)).filter(with_peer) {
        None => Known::Nothing,
        Some(run) => match run.status {
            Status::Debited => Known::Debited,
            Status::Finished => Known::Finished,
            Status::Aborted => Known::Aborted,
        },
    };
    let here: Vec<Known> = theirs.unfinished.iter().map(known).collect();
    session.channel.send(&Standing { here: here.clone() })?;
    let Standing { here: there } = session.channel.receive()?;
    if there.len() != own.len() {
        return Err(Ended::bad_message(Standing::TAG, "it does not answer for every run"));
    }

    let peer = side.peer_name;
    if let Some(id) = theirs.finished.filter(|id| known(id) == Known::Nothing) {
        let (run, file) = (short(&RunId(id)), side.party.ledger.display());
        console.say(format!(
            "ATTENTION: {peer} has finished run {run} with us, but {file} does not have it: lines \
             were removed from it, or the party file names another ledger than it did then"
        ));
    }
    for (run, there) in own.iter().zip(&there) {
        console.say(format!("interrupted run {}: {}", short(run), at_the_peer(*there, peer)));
    }
    for (id, here) in theirs.unfinished.iter().zip(&here) {
        // Those that are unfinished on both sides are told already.
        if let Some(words) = at_this_side(*here, peer) {
            console.say(format!("run {}: {words}", short(&RunId(*id))));
        }
    }
    for run in own {
        ledger.abort(run)?;
    }
    Ok(())
}

fn at_the_peer(there: Known, peer: &str) -> String {
    match there {
        Known::Nothing => format!("{peer} had not spent anything on it"),
        Known::Debited => format!("it is unfinished at {peer} too, and nobody has its release"),
        Known::Aborted => format!("{peer} has no release of it either"),
        Known::Finished => format!(
            "{peer} has its release, signed by both: ask for a copy, and check it with `diptych \
             verify`"
        ),
    }
}

fn at_this_side(here: Known, peer: &str) -> Option<String> {
    match here {
        Known::Debited => None,
        Known::Nothing => Some(format!("{peer} was interrupted; nothing was spent here")),
        Known::Aborted => Some(format!("{peer} was interrupted; there is no release here either")),
        Known::Finished => Some(format!(
            "{peer} was interrupted, but the release is complete here: give it a copy if it asks"
        )),
    }
}

/// Enough of a run's id to find it in a ledger.
fn short(run: &RunId) -> String {
    run.to_string().chars().take(12).collect()
}
