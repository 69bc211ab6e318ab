//! Interrupted runs: reported at the start, and compared with the peer.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Side;
use super::messages::STATUS;
use crate::Error;
use crate::net::{self, AbortReason, Message, Tag};
use crate::privacy::ledger::{Hash, History, Ledger, Run, RunId, Status};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::publish::Watcher;
use crate::publish::artefacts::MANIFEST;
use crate::publish::clock::utc;
use crate::publish::verify::read_manifest;

/// Most runs that are compared at once; the newest.
const MOST_RUNS: usize = 64;
const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Reports the runs that did not end, from the ledger. The ledger is locked, so none of them is
/// under way. One whose release is complete after all is recorded as finished.
pub(super) fn tell(
    ledger: &mut Ledger,
    side: &Side<'_>,
    watcher: &dyn Watcher,
) -> Result<(), Error> {
    if ledger.was_repaired() {
        watcher.say("the ledger's last line was torn by a crash or a full disk; it was put right");
    }
    let unfinished: Vec<Run> = ledger.history().unfinished().cloned().collect();
    let role = side.party.role;
    let released = |out: &Path| {
        let whole = out.join(MANIFEST).is_file();
        whole.then(|| read_manifest(out).ok()?.ledger_head(role)).flatten()
    };
    for run in unfinished {
        let debit = &run.debit;
        if run.is_rehearsal {
            ledger.abort(debit.run)?;
            let (release, peer, when) = (&debit.release, &debit.peer, utc(run.time));
            let epsilon = debit.epsilon.as_ref().map(ToString::to_string).unwrap_or_default();
            watcher.say(&format!(
                "a rehearsal of \"{release}\" with {peer} of {when} was interrupted: its ε {epsilon} \
                 stays spent"
            ));
            continue;
        }
        let what = format!(
            "release \"{}\" with {} of {} (run {})",
            debit.release,
            debit.peer,
            utc(run.time),
            short(&debit.run)
        );
        // The output directory of that run, which may differ from this one's.
        let out = debit.out.as_ref().map_or(side.party.out.as_path(), Path::new);
        let place = out.display();
        if released(out) == Some(run.head) {
            ledger.finish(debit.run)?;
            watcher.say(&format!(
                "{what} was interrupted when its release was complete already: it is in {place}"
            ));
        } else {
            watcher.say(&format!(
                "{what} was interrupted: {}{place} has no release of it, and it cannot be resumed",
                match &debit.epsilon {
                    Some(epsilon) => format!("its ε {epsilon} stays spent, "),
                    None => String::new(),
                }
            ));
        }
    }
    Ok(())
}

/// What a party sends before anything is spent.
#[derive(Serialize, Deserialize)]
struct EarlierRuns {
    program: String,
    /// Runs with this peer that the party's ledger has as unfinished.
    unfinished: Vec<[u8; 32]>,
    /// The last run with this peer that both finished.
    finished: Option<[u8; 32]>,
    /// The last head of the peer's ledger that the peer sent; zeros if it never did.
    met: [u8; 32],
}

impl Message for EarlierRuns {
    const TAG: Tag = Tag::new(*b"befo");
}

/// The state of the peer's unfinished runs here.
#[derive(Serialize, Deserialize)]
struct Answers {
    here: Vec<Known>,
    /// Whether the head that the peer has recorded is one of this ledger.
    knows_head: bool,
}

impl Message for Answers {
    const TAG: Tag = Tag::new(*b"stan");
}

#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Known {
    Nothing,
    Debited,
    Finished,
    Aborted,
}

/// The messages of [`compare`] between parties that have no unfinished runs, and have finished one
/// with each other or not.
pub(super) fn forecast(f: &mut Forecast, finished_before: bool) -> Result<(), net::Error> {
    f.begin_phase(STATUS);
    let finished = finished_before.then_some([0; 32]);
    let (program, unfinished) = (PROGRAM.to_owned(), Vec::new());
    f.exchange_like(&EarlierRuns { program, unfinished, finished, met: [0; 32] })?;
    f.exchange_like(&Answers { here: Vec::new(), knows_head: true })
}

/// Compares the state of unfinished runs with the peer, reports differences, and closes our own.
pub(super) fn compare(
    session: &mut Session,
    ledger: &mut Ledger,
    peer: &str,
    watcher: &dyn Watcher,
) -> Result<(), Error> {
    session.channel.begin_phase(STATUS);
    // A rehearsal leaves nothing to compare but its head.
    let with_peer = |run: &&Run| run.debit.peer == peer && !run.is_rehearsal;
    let history = ledger.history();
    let own: Vec<RunId> = {
        let all: Vec<_> = history.unfinished().filter(with_peer).map(|run| run.debit.run).collect();
        all[all.len().saturating_sub(MOST_RUNS)..].to_vec()
    };
    let finished = history.runs().iter().rev().filter(with_peer);
    let finished = finished.clone().find(|run| run.status == Status::Finished);
    let met = history.last_met(peer);
    session.channel.send(&EarlierRuns {
        program: PROGRAM.to_owned(),
        unfinished: own.iter().map(|run| run.0).collect(),
        finished: finished.map(|run| run.debit.run.0),
        met: met.map_or(Hash::BEGINNING, |(_, head)| head).0,
    })?;
    let theirs: EarlierRuns = session.channel.receive()?;
    if theirs.unfinished.len() > MOST_RUNS {
        let problem = "it lists too many runs";
        return Err(net::Error::Malformed { tag: EarlierRuns::TAG, problem }.into());
    }
    if theirs.program != PROGRAM {
        // The manifests would differ, and that would be found after ε is spent.
        let shown: String = theirs.program.chars().take(40).flat_map(char::escape_debug).collect();
        return Err(Error::disagreement(format!(
            "the peer runs version {shown} of the program, this side {PROGRAM}"
        ))
        .advise("install the same version on both sides"));
    }
    let here: Vec<Known> = theirs.unfinished.iter().map(|id| known(history, id, peer)).collect();
    // Heads of debits with this peer alone: it must not learn more of our ledger by asking.
    let is_ours = |run: &Run| run.debit.peer == peer && run.head == Hash(theirs.met);
    let knows_head = Hash(theirs.met) == Hash::BEGINNING || history.runs().iter().any(is_ours);
    session.channel.send(&Answers { here: here.clone(), knows_head })?;
    let answers: Answers = session.channel.receive()?;
    if answers.here.len() != own.len() {
        let problem = "it does not answer for every run";
        return Err(net::Error::Malformed { tag: Answers::TAG, problem }.into());
    }
    let told = Told { own: &own, theirs: &theirs, here: &here, there: &answers.here };
    told.tell_lost_lines(history, peer, knows_head, answers.knows_head, watcher);
    told.tell_runs(history, peer, watcher);
    refuse_lost_head(history, Hash(theirs.met), peer)?;
    for run in own {
        ledger.abort(run)?;
    }
    Ok(())
}

/// Fails if the peer has a head of our ledger that is not in it, unless that is acknowledged: what
/// was spent up to it would not count.
fn refuse_lost_head(history: &History, head: Hash, peer: &str) -> Result<(), Error> {
    if history.has_had_head(&head) || history.acknowledged(&head) {
        return Ok(());
    }
    let problem = format!("{peer} has a head of our ledger that is not in it: {head}");
    // Nobody stopped it: the two ledgers do not fit together.
    let failure = Error::input(problem).telling(AbortReason::Disagreement);
    // One that was made for this run is removed again with it.
    let first = match history.entries().is_empty() {
        true => {
            "make an empty one if there is none (diptych ledger create LEDGER), enter that its lines are \
             lost as follows, and run again without --new-ledger: "
        }
        false => "",
    };
    Err(failure.advise(format!(
        "nothing was spent. Restore the ledger from a backup, or name the right one in the party file; \
         if it is lost and the data's owner consents to go on though what was spent before does not count: \
         {first}diptych ledger acknowledge LEDGER --peer {peer:?} --head {head}"
    )))
}

/// The state of unfinished runs on both sides.
struct Told<'a> {
    own: &'a [RunId],
    theirs: &'a EarlierRuns,
    here: &'a [Known],
    there: &'a [Known],
}

impl Told<'_> {
    /// Warns if either ledger has lost entries that the other side knows of.
    fn tell_lost_lines(
        &self,
        history: &History,
        peer: &str,
        knows_head: bool,
        peer_knows_head: bool,
        watcher: &dyn Watcher,
    ) {
        if let Some((run, _)) = history.last_met(peer).filter(|_| !peer_knows_head) {
            let run = short(&run);
            watcher.say(&format!(
                "ATTENTION: {peer} does not have the ledger any more that it had in run {run}: lines \
                 were removed from it, or its party file names another one. What {peer} spent may not \
                 count against its cap now. Ask it what happened, and to restore its ledger from a \
                 backup; the head it told us then is in our ledger"
            ));
        }
        let lost = self.theirs.finished.filter(|id| known(history, id, peer) == Known::Nothing);
        if lost.is_some() || !knows_head {
            let what = match lost {
                Some(id) => format!("has finished run {} with us", short(&RunId(id))),
                None => "has noted the head of our ledger in an earlier run".to_owned(),
            };
            watcher.say(&format!(
                "ATTENTION: {peer} {what}, but our ledger does not have it: lines were removed from \
                 it, or the party file names another ledger than it did then. What was spent then does \
                 not count now: restore the ledger from a backup"
            ));
        }
    }

    /// Reports differences about single runs.
    fn tell_runs(&self, history: &History, peer: &str, watcher: &dyn Watcher) {
        if let Some(id) =
            self.theirs.finished.filter(|id| known(history, id, peer) == Known::Aborted)
        {
            watcher.say(&format!(
                "{peer} has the complete release of run {}, which ended without one here: ask for \
                 release.csv and manifest.json, and check them with `diptych verify`",
                short(&RunId(id))
            ));
        }
        for (run, there) in self.own.iter().zip(self.there) {
            watcher.say(&format!("interrupted run {}: {}", short(run), at_the_peer(*there, peer)));
        }
        for (id, here) in self.theirs.unfinished.iter().zip(self.here) {
            // Those that are unfinished on both sides are reported already.
            if let Some(words) = at_this_side(*here, peer) {
                watcher.say(&format!("run {}: {words}", short(&RunId(*id))));
            }
        }
    }
}

/// The state of a run with this peer in our ledger.
fn known(history: &History, id: &[u8; 32], peer: &str) -> Known {
    match history.run(&RunId(*id)).filter(|run| run.debit.peer == peer) {
        None => Known::Nothing,
        Some(run) => match run.status {
            Status::Debited => Known::Debited,
            Status::Finished => Known::Finished,
            Status::Aborted => Known::Aborted,
        },
    }
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
            "{peer} was interrupted, but the release is complete here: give it release.csv and manifest.json \
             if it asks"
        )),
    }
}

/// Enough of a run's id to find it in a ledger.
fn short(run: &RunId) -> String {
    run.to_string().chars().take(12).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Status as Exit;
    use crate::net::{self, AbortReason};
    use crate::privacy::ledger::{Debit, Hash};
    use crate::protocol::pair::{Setup, run_pair};
    use crate::publish::NoWatcher;

    fn ledger(directory: &tempfile::TempDir, peer: &str, runs: &[(u8, Status)]) -> Ledger {
        let mut ledger = Ledger::create(&directory.path().join(peer)).unwrap();
        for (number, status) in runs {
            let run = RunId([*number; 32]);
            let _ = ledger
                .debit(Debit {
                    run,
                    release: "loans".to_owned(),
                    data_set: "people".to_owned(),
                    epsilon: Some("0.1".parse().unwrap()),
                    cap: Some("9".parse().unwrap()),
                    agreement: Hash([0; 32]),
                    peer: peer.to_owned(),
                    salt: Hash([0; 32]),
                    delta: None,
                    towards_peer: None,
                    cap_towards_peer: None,
                    out: None,
                    promise: None,
                })
                .unwrap();
            match status {
                Status::Debited => {}
                Status::Finished => ledger.finish(run).unwrap(),
                Status::Aborted => ledger.abort(run).unwrap(),
            }
        }
        ledger
    }

    #[test]
    fn interrupted_runs_are_compared_and_closed_and_others_left_alone() {
        let place = tempfile::tempdir().unwrap();
        let mut bank = ledger(
            &place,
            "company",
            &[(1, Status::Debited), (2, Status::Debited), (3, Status::Finished)],
        );
        let mut company = ledger(&place, "bank", &[(1, Status::Finished), (2, Status::Debited)]);
        let outcome = run_pair(
            Setup::default(),
            |session| compare(session, &mut bank, "company", &NoWatcher).is_ok(),
            |session| compare(session, &mut company, "bank", &NoWatcher).is_ok(),
        );
        assert!(outcome.p1 && outcome.p2);
        let statuses = |ledger: &Ledger| -> Vec<Status> {
            ledger.history().runs().iter().map(|run| run.status).collect()
        };
        assert_eq!(statuses(&bank), [Status::Aborted, Status::Aborted, Status::Finished]);
        assert_eq!(statuses(&company), [Status::Finished, Status::Aborted]);

        // A run with somebody else is nobody else's business.
        let mut stranger = ledger(&place, "stranger", &[(2, Status::Debited)]);
        let outcome = run_pair(
            Setup::default(),
            |session| compare(session, &mut stranger, "company", &NoWatcher).is_ok(),
            |session| compare(session, &mut company, "bank", &NoWatcher).is_ok(),
        );
        assert!(outcome.p1 && outcome.p2);
        assert_eq!(statuses(&stranger), [Status::Debited]);
    }

    #[test]
    fn only_heads_of_debits_with_the_peer_are_known_to_it() {
        let place = tempfile::tempdir().unwrap();
        let mut bank = ledger(&place, "company", &[(1, Status::Finished)]);
        let other = Debit {
            run: RunId([9; 32]),
            peer: "another".to_owned(),
            ..bank.history().runs()[0].debit.clone()
        };
        let _ = bank.debit(other).unwrap();
        let history = bank.history().clone();
        let ask = |head: Hash| {
            let mut bank = Ledger::open(&place.path().join("company")).unwrap();
            let outcome = run_pair(
                Setup::default(),
                |session| compare(session, &mut bank, "company", &NoWatcher).is_ok(),
                |session| {
                    let (program, unfinished) = (PROGRAM.to_owned(), Vec::new());
                    let before = EarlierRuns { program, unfinished, finished: None, met: head.0 };
                    session.channel.send(&before).unwrap();
                    session.channel.receive::<EarlierRuns>().unwrap();
                    let answers = Answers { here: Vec::new(), knows_head: true };
                    session.channel.send(&answers).unwrap();
                    session.channel.receive::<Answers>().unwrap().knows_head
                },
            );
            (outcome.p1, outcome.p2)
        };
        drop(bank);
        for head in [history.runs()[0].head, Hash::BEGINNING] {
            assert_eq!(ask(head), (true, true));
        }
        // Nothing is lost then, but it is not for the peer to find out.
        assert_eq!(ask(history.runs()[1].head), (true, false), "a run with another");
        assert_eq!(ask(history.head()), (true, false), "no debit");
        let lost = Hash([5; 32]);
        assert_eq!(ask(lost), (false, false), "a lost head stops the run");
        let refused = refuse_lost_head(&history, lost, "company").unwrap_err();
        assert_eq!(refused.status(), Exit::WrongInput);
        assert_eq!(refused.tell(), Some(AbortReason::Disagreement), "nobody stopped it on purpose");
        let open = || Ledger::open(&place.path().join("company")).unwrap();
        open().acknowledge("company", lost).unwrap();
        assert_eq!(ask(lost), (true, false), "it is acknowledged");
        assert_eq!(ask(Hash([6; 32])), (false, false), "another one is not");
    }

    /// What a party makes of a peer that speaks by hand.
    fn against(peer: impl FnOnce(&mut Session) + Send) -> Error {
        let place = tempfile::tempdir().unwrap();
        let mut ledger = ledger(&place, "company", &[(1, Status::Debited)]);
        let outcome = run_pair(
            Setup::default(),
            |session| compare(session, &mut ledger, "company", &NoWatcher),
            peer,
        );
        assert_eq!(ledger.history().unfinished().count(), 1, "nothing is closed then");
        outcome.p1.unwrap_err()
    }

    #[test]
    fn another_version_of_the_program_is_refused_before_anything_is_spent() {
        let ended = against(|session| {
            let program = "9.9.9\u{1b}[31m".to_owned();
            let before =
                EarlierRuns { program, unfinished: Vec::new(), finished: None, met: [0; 32] };
            session.channel.send(&before).unwrap();
            let _ = session.channel.receive::<EarlierRuns>();
        });
        assert_eq!(ended.status(), Exit::PeerRefused);
        assert_eq!(ended.tell(), Some(AbortReason::Disagreement));
        assert!(ended.message().contains("9.9.9"), "{}", ended.message());
        assert!(!ended.message().contains('\u{1b}'));
    }

    #[test]
    fn lists_and_answers_of_the_wrong_length_are_bad_messages() {
        let honest = |runs: usize| EarlierRuns {
            program: PROGRAM.to_owned(),
            unfinished: vec![[7; 32]; runs],
            finished: None,
            met: [0; 32],
        };
        let too_many = against(|session| {
            session.channel.send(&honest(MOST_RUNS + 1)).unwrap();
            let _ = session.channel.receive::<EarlierRuns>();
        });
        assert_eq!(too_many.tell(), Some(AbortReason::BadMessage));
        let no_answer = against(|session| {
            session.channel.send(&honest(0)).unwrap();
            let _ = session.channel.receive::<EarlierRuns>();
            session.channel.send(&Answers { here: Vec::new(), knows_head: true }).unwrap();
            let _ = session.channel.receive::<Answers>();
        });
        assert_eq!(no_answer.tell(), Some(AbortReason::BadMessage));
        let gone = against(|session| drop(session.channel.receive::<EarlierRuns>()));
        assert_eq!(gone.tell(), None);
        assert_eq!(gone.message(), net::Error::Closed.to_string());
    }
}
