//! People in shards: the same decisions give the same release, however many shards there are, and nothing
//! that is said depends on who falls where.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::hidden::{QUICK, hidden_loans};
use super::two_parties::{
    Party, Row, alone, assert_equal, assert_release_forecast, delta, loans, random_rows, setup,
    together,
};
use super::{hidden, one_class, vertical, *};
use crate::Error;
use crate::net::memory::{End, ends};
use crate::net::{
    self, AbortReason, Accept, Channel, Header, Limits, Patience, SessionId, Stop, Tag, Transport,
};
use crate::primitives;
use crate::protocol::coins::TapeCoins;
use crate::protocol::pair::{Outcome as Ran, assert_same_shape, run_workspaces};
use crate::protocol::shards::remote::{Line, Remote, Server};
use crate::protocol::shards::{Answer, Failed, Shard};
use crate::protocol::{Session, Workspace};
use crate::release::diffgen::sizes::Sizes;
use crate::release::diffgen::two_party::{Keys, prepare, release_prepared, release_with};
use crate::release::shards::{Dealing, Host};
use crate::role::Role;

pub const NUMBERS: [u32; 4] = [1, 2, 3, 16];

pub fn rows(count: usize, seed: u64) -> Vec<Row> {
    let mut rng = Randomness::seeded(seed);
    let rows = std::iter::repeat_with(|| random_rows(&mut rng)).flatten().take(count);
    let named =
        |(number, row): (usize, Row)| (format!("person {number}"), row.1, row.2, row.3, row.4);
    rows.enumerate().map(named).collect()
}

fn view(agreement: &Agreement, rows: &[Row], owner: Option<Role>) -> Table {
    match agreement.schema.class.owner {
        None => vertical::view(agreement, rows, owner),
        Some(_) => one_class::view(agreement, rows, owner),
    }
}

/// Both parties' runs, where P1 knows the first two thirds of the people and P2 the last two thirds.
fn assert_same(terms: &str, rows: &[Row], seed: u64) {
    let third = rows.len() / 3;
    let (first, second) = (&rows[..2 * third], &rows[third..]);
    let (mut seen, mut deltas) = (None, Vec::new());
    for shards in NUMBERS {
        let agreement = loans("vertical", &format!("{terms}\n[scale]\nshards = {shards}\n"));
        let joined = view(&agreement, &rows[third..2 * third], None);
        let (expected, tape) = alone(&agreement, &joined, seed);
        let tables =
            [view(&agreement, first, Some(Role::P1)), view(&agreement, second, Some(Role::P2))];
        let outcome = together(&agreement, [&tables[0], &tables[1]], TapeCoins::pair(&tape));
        let said = (&outcome.transcripts, &outcome.costs);
        let tree = expected.table.cuts.made();
        assert_release_forecast(&agreement, said, [first.len(), second.len()], third, tree);
        for (party, peer) in [(outcome.p1, second.len()), (outcome.p2, first.len())] {
            let party = party.unwrap();
            assert_equal(&agreement, &party.release, &expected, seed);
            assert_eq!((party.in_both, party.peer_records), (Some(third), Some(peer)));
            assert_eq!(seen.get_or_insert_with(|| text(&party.release)), &text(&party.release));
        }
        deltas.push(delta(&agreement));
    }
    assert!(deltas.is_sorted(), "each shard may fail");
}

#[test]
fn any_number_of_shards_makes_the_same_release_where_both_have_the_class() {
    let rows = rows(90, 1);
    for (seed, choices) in [
        "utility = \"max\"",
        "utility = \"leaf-max\"\nnoise = \"two-party\"",
        "utility = \"info-gain\"\nselection = \"exponential\"",
        "utility = \"max\"\n[id]\nmatching = \"ristretto255\"",
    ]
    .iter()
    .enumerate()
    {
        let terms = format!("epsilon = \"2\"\nspecializations = 4\n{choices}");
        assert_same(&terms, &rows, seed as u64);
    }
    assert_same("epsilon = \"13\"\n[id]\nmin_common = 0", &rows[..6], 9);
}

#[test]
fn any_number_of_shards_makes_the_same_release_where_one_has_the_class() {
    let rows = rows(90, 2);
    for (owner, utility) in [("p1", "max"), ("p2", "leaf-max"), ("p1", "leaf-max")] {
        let terms = format!("epsilon = \"2\"\nspecializations = 4\nutility = \"{utility}\"");
        assert_same(&format!("{terms}\n[class]\nowner = \"{owner}\""), &rows, 3);
    }
}

/// Both parties' runs with so few bins that people now and then have no place: until they have.
fn with_few_bins(agreement: &Agreement, rows: [&[Row]; 2], tape: &Tape) -> Ran<Party, Party> {
    let tables = Role::BOTH.map(|role| view(agreement, rows[role as usize], Some(role)));
    let full = primitives::Error::NoPlacement.to_string();
    for seed in 0..100 {
        let coins = TapeCoins::pair(tape);
        let outcome = hidden::together(agreement, [&tables[0], &tables[1]], coins, QUICK, seed);
        let is_full = |party: &Party| party.as_ref().is_err_and(|error| error.message() == full);
        if !is_full(&outcome.p1) && !is_full(&outcome.p2) {
            return outcome;
        }
    }
    panic!("no seed has places for all");
}

#[test]
fn any_number_of_shards_makes_the_same_release_where_nobody_learns_who_is_common() {
    let rows = rows(60, 3);
    let (first, second) = (&rows[..40], &rows[20..]);
    for shards in NUMBERS {
        for (owner, pad_to) in [("p1", None), ("p2", Some(45))] {
            let terms = "epsilon = \"2\"\nspecializations = 4";
            let agreement = sharded(&hidden_loans(owner, pad_to, terms), shards);
            let (expected, tape) = alone(&agreement, &view(&agreement, &rows[20..40], None), 4);
            let outcome = with_few_bins(&agreement, [first, second], &tape);
            assert!(outcome.p1.is_ok() && outcome.p2.is_ok(), "{:?} {:?}", outcome.p1, outcome.p2);
            let said = (&outcome.transcripts, &outcome.costs);
            let tree = expected.table.cuts.made();
            assert_release_forecast(&agreement, said, [40, 40], 0, tree);
            for party in [outcome.p1.unwrap(), outcome.p2.unwrap()] {
                assert_equal(&agreement, &party.release, &expected, 4);
                assert_eq!(party.peer_records, pad_to.is_none().then_some(40));
            }
        }
    }
}

/// The same agreement with people in shards.
fn sharded(agreement: &Agreement, shards: u32) -> Agreement {
    let text = agreement.canonical();
    let mut tree: serde_json::Value = serde_json::from_str(&text).unwrap();
    tree["scale"] = serde_json::json!({ "shards": shards });
    Agreement::from_canonical(tree.to_string().as_bytes()).unwrap()
}

/// The same people under names that fall elsewhere.
fn renamed(rows: &[Row], salt: usize) -> Vec<Row> {
    rows.iter().map(|row| (format!("{salt} {}", row.0), row.1, row.2, row.3, row.4)).collect()
}

#[test]
fn what_is_said_does_not_depend_on_who_falls_where() {
    let rows = rows(60, 5);
    for terms in ["", "\n[class]\nowner = \"p2\""] {
        let terms =
            format!("epsilon = \"0.001\"\nspecializations = 2{terms}\n[scale]\nshards = 3\n");
        let agreement = loans("vertical", &terms);
        let (_, tape) = alone(&agreement, &view(&agreement, &rows, None), 5);
        assert_same_shape(&[0, 1, 2], |salt| {
            let rows = renamed(&rows, *salt);
            let [first, second] = Role::BOTH.map(|role| view(&agreement, &rows, Some(role)));
            let outcome = together(&agreement, [&first, &second], TapeCoins::pair(&tape));
            assert!(outcome.p1.is_ok() && outcome.p2.is_ok());
            outcome
        });
    }
    let agreement =
        sharded(&hidden_loans("p1", Some(80), "epsilon = \"0.001\"\nspecializations = 1"), 3);
    let (_, tape) = alone(&agreement, &view(&agreement, &rows, None), 5);
    assert_same_shape(&[(0, 60), (1, 60), (2, 7)], |(salt, count)| {
        let rows = renamed(&rows[..*count], *salt);
        let outcome = with_few_bins(&agreement, [&rows, &rows], &tape);
        assert!(outcome.p1.is_ok() && outcome.p2.is_ok());
        outcome
    });
}

/// A line that is cut after some frames of this side.
struct Cut {
    end: Option<End>,
    left: &'static AtomicUsize,
}

impl Cut {
    fn alive(&mut self) -> Result<&mut End, net::Error> {
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1));
        if left.is_err() {
            self.close();
            self.end = None;
        }
        self.end.as_mut().ok_or(net::Error::Closed)
    }
}

impl Transport for Cut {
    fn send(&mut self, header: Header, body: &[u8], patience: Patience) -> Result<(), net::Error> {
        self.alive()?.send(header, body, patience)
    }

    fn receive(
        &mut self,
        body: &mut Vec<u8>,
        accept: Accept<'_>,
        patience: Patience,
    ) -> Result<Tag, net::Error> {
        self.alive()?.receive(body, accept, patience)
    }

    fn binding(&self) -> Result<[u8; 32], net::Error> {
        Ok([0; 32])
    }

    fn stop_on(&mut self, _: Stop) {}

    fn close(&mut self) {
        self.end.iter_mut().for_each(Transport::close);
    }
}

/// The middle shard of three is cut, now at this side and now at that, after more and more frames.
#[test]
fn a_shard_that_is_cut_anywhere_ends_the_run_at_both_sides() {
    let rows = rows(40, 6);
    for terms in ["", "\n[class]\nowner = \"p1\""] {
        let terms = format!("epsilon = \"2\"\nspecializations = 2{terms}\n[scale]\nshards = 3\n");
        let agreement = loans("vertical", &terms);
        let tables = Role::BOTH.map(|role| view(&agreement, &rows, Some(role)));
        let (mut frames, mut ended) = (0, 0);
        loop {
            let victim = Role::BOTH[frames % 2];
            let left: &'static AtomicUsize = Box::leak(Box::new(AtomicUsize::new(frames)));
            let (first, second) = ends(None);
            let party = |session: &mut Workspace, end: End| {
                let line: Box<dyn Transport> = match session.role == victim {
                    true => Box::new(Cut { end: Some(end), left }),
                    false => Box::new(end),
                };
                let (rng, id) = (session.rng.fork(), SessionId::from_bytes([7; 32]));
                let shard =
                    Session::ready(session.role, Channel::new(line, Limits::default()), rng, id);
                session.shards.sessions[1] = shard;
                let table = &tables[session.role as usize];
                let made = release_with(
                    session,
                    &agreement,
                    table,
                    budget(&agreement),
                    Keys::Agreed,
                    &|_| {},
                );
                session.conclude(made).map(|_| ())
            };
            let outcome = run_workspaces(
                setup(&agreement),
                |session| party(session, first),
                |session| party(session, second),
            );
            match (outcome.p1, outcome.p2) {
                (Ok(()), Ok(())) => break,
                (p1, p2) => {
                    for error in [p1, p2].into_iter().filter_map(Result::err) {
                        assert!(!error.message().contains("a fault of the program"), "{error}");
                        ended += 1;
                    }
                }
            }
            frames += 1 + frames / 4;
        }
        // About twenty: with the last frames cut, one side may be done already.
        assert!(ended >= 12, "{ended}");
    }
}

pub fn keep<T>(kept: &Mutex<Vec<T>>, more: impl IntoIterator<Item = T>) {
    kept.lock().unwrap().extend(more);
}

/// A line that keeps what this side sends.
pub struct Overheard {
    pub end: End,
    pub sent: Arc<Mutex<Vec<u8>>>,
}

impl Transport for Overheard {
    fn send(&mut self, header: Header, body: &[u8], patience: Patience) -> Result<(), net::Error> {
        keep(&self.sent, body.iter().copied());
        self.end.send(header, body, patience)
    }

    fn receive(
        &mut self,
        body: &mut Vec<u8>,
        accept: Accept<'_>,
        patience: Patience,
    ) -> Result<Tag, net::Error> {
        self.end.receive(body, accept, patience)
    }

    fn binding(&self) -> Result<[u8; 32], net::Error> {
        Ok([0; 32])
    }

    fn stop_on(&mut self, _: Stop) {}

    fn close(&mut self) {
        self.end.close();
    }
}

/// A shard of which everything is kept that its lead asks and hears.
pub struct Spied {
    pub shard: Box<dyn Shard>,
    pub inside: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Shard for Spied {
    fn ask(&mut self, request: &[u8]) -> Result<Answer, Failed> {
        let answer = self.shard.ask(request)?;
        keep(&self.inside, [request.to_vec(), answer.to_vec()]);
        Ok(answer)
    }

    fn abort(&mut self, reason: AbortReason) {
        self.shard.abort(reason);
    }

    fn end_within(&mut self, limit: Duration) {
        self.shard.end_within(limit);
    }

    fn stop_on(&mut self, stop: &Stop) {
        self.shard.stop_on(stop);
    }

    fn record_transcript(&mut self) {
        self.shard.record_transcript();
    }

    fn costs(&self) -> net::Costs {
        self.shard.costs()
    }

    fn transcript(&self) -> net::Transcript {
        self.shard.transcript()
    }
}

/// Sequences long and lively enough to be no coincidence.
fn telling(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let lively = |part: &&[u8]| part.iter().collect::<std::collections::HashSet<_>>().len() >= 6;
    bytes.windows(16).filter(lively)
}

/// Both run, with every line overheard; returns what each sent, and what each lead and its shards said
/// to each other.
fn overheard(agreement: &Agreement, tables: &[Table; 2]) -> [(Vec<u8>, Vec<Vec<u8>>); 2] {
    let shards = agreement.shards.unwrap() as usize;
    let (first, second): (Vec<End>, Vec<End>) = (0..=shards).map(|_| ends(None)).unzip();
    let party = |session: &mut Workspace, lines: Vec<End>| {
        let (sent, inside) = (Arc::new(Mutex::new(vec![])), Arc::new(Mutex::new(vec![])));
        let line = |end| Box::new(Overheard { end, sent: sent.clone() }) as Box<dyn Transport>;
        let mut lines = lines.into_iter().map(|end| Channel::new(line(end), Limits::default()));
        session.channel = lines.next().unwrap();
        for (shard, channel) in session.shards.sessions.iter_mut().zip(lines) {
            shard.channel = channel;
        }
        let prepared = prepare(session, agreement, QUICK).unwrap();
        for shard in std::mem::take(&mut session.shards.asked) {
            session.shards.asked.push(Box::new(Spied { shard, inside: inside.clone() }));
        }
        let table = &tables[session.role as usize];
        let budget = budget(agreement);
        release_prepared(session, agreement, table, budget, prepared, &|_| {}).unwrap();
        let (sent, inside) = (sent.lock().unwrap().clone(), inside.lock().unwrap().clone());
        (sent, inside)
    };
    let outcome = run_workspaces(
        setup(agreement).seed(11),
        |session| party(session, first),
        |session| party(session, second),
    );
    [outcome.p1, outcome.p2]
}

#[test]
fn nothing_that_lead_and_shards_tell_each_other_is_told_to_the_peer() {
    let rows: Vec<Row> = renamed(&rows(90, 7), 0)
        .into_iter()
        .map(|row| (format!("MARKER{}", row.0), row.1, row.2, row.3, row.4))
        .collect();
    let terms = "epsilon = \"2\"\nspecializations = 2\nutility = \"leaf-max\"";
    let scale = "[scale]\nshards = 3\n";
    for agreement in [
        loans("vertical", &format!("{terms}\n{scale}")),
        loans("vertical", &format!("{terms}\n[class]\nowner = \"p2\"\n{scale}")),
        sharded(&hidden_loans("p1", None, "epsilon = \"2\"\nspecializations = 2"), 3),
    ] {
        let [first, second] = [(Role::P1, &rows[..60]), (Role::P2, &rows[30..])];
        let tables = [first, second].map(|(role, rows)| view(&agreement, rows, Some(role)));
        for (sent, inside) in overheard(&agreement, &tables) {
            let marked =
                |bytes: &[u8]| bytes.windows(6).any(|part| part.eq_ignore_ascii_case(b"marker"));
            assert!(inside.iter().any(|bytes| marked(bytes)), "shards get their people");
            let answers = inside.iter().skip(1).step_by(2);
            assert!(!answers.into_iter().any(|bytes| marked(bytes)), "leads do not");
            let said: std::collections::HashSet<&[u8]> = telling(&sent).collect();
            assert!(!marked(&sent) && said.len() > 10_000);
            let told = inside.iter().flat_map(|bytes| telling(bytes));
            assert_eq!(told.filter(|part| said.contains(part)).count(), 0);
        }
    }
}

/// A line to a shard that might as well be in another process.
pub struct Near(pub Server);

impl Line for Near {
    fn call(&mut self, call: &[u8], _: &Stop) -> Result<Answer, Failed> {
        self.0.serve(call)
    }
}

/// Gives each shard its own records, at the end of a line; the lead says how many there are in all.
fn move_out(session: &mut Workspace, agreement: &Agreement, table: &Table, said: usize) {
    let shards = std::mem::take(&mut session.shards.sessions);
    let dealing = Dealing::new(&session.id, shards.len());
    let rows = dealing.rows(table.identifiers().unwrap(), table.len()).unwrap();
    session.shards.records = Some(said);
    for (shard, rows) in shards.into_iter().zip(rows) {
        let own = Some(table.select(&rows));
        let host = Host::new(shard, Arc::new(agreement.clone()), own);
        let near = Near(Server::new(Box::new(host)));
        session.shards.asked.push(Box::new(Remote::new(Box::new(near))));
    }
}

#[test]
fn shards_elsewhere_with_records_of_their_own_make_the_same_release() {
    let rows = rows(90, 8);
    let terms = "epsilon = \"2\"\nspecializations = 3\nutility = \"leaf-max\"";
    for class in ["", "[class]\nowner = \"p1\"\n"] {
        let agreement = loans("vertical", &format!("{terms}\n{class}[scale]\nshards = 3\n"));
        let (expected, tape) = alone(&agreement, &view(&agreement, &rows[30..60], None), 8);
        let parts = [(Role::P1, &rows[..60]), (Role::P2, &rows[30..])];
        let tables = parts.map(|(role, rows)| view(&agreement, rows, Some(role)));
        let party = |session: &mut Workspace, coins: TapeCoins| {
            session.coins = Box::new(coins);
            let table = &tables[session.role as usize];
            move_out(session, &agreement, table, table.len());
            let nothing = Table::default();
            let budget = budget(&agreement);
            release_with(session, &agreement, &nothing, budget, Keys::Agreed, &|_| {}).unwrap()
        };
        let (first, second) = TapeCoins::pair(&tape);
        let outcome = run_workspaces(
            setup(&agreement),
            |session| party(session, first),
            |session| party(session, second),
        );
        let said = (&outcome.transcripts, &outcome.costs);
        assert_release_forecast(&agreement, said, [60, 60], 30, expected.table.cuts.made());
        for party in [outcome.p1, outcome.p2] {
            assert_equal(&agreement, &party.release, &expected, 8);
        }
    }
}

/// What both count of classes that differ needs identifiers, which the lead does not have.
#[test]
fn shards_tell_for_how_many_people_the_class_differs() {
    let rows = rows(40, 9);
    let terms = "epsilon = \"2\"\n[id]\nrehearse = \"labels\"\n[scale]\nshards = 3\n";
    let agreement = loans("vertical", terms);
    let other =
        |row: &Row| (row.0.clone(), if row.1 == "Y" { "N" } else { "Y" }, row.2, row.3, row.4);
    let changed: Vec<Row> = rows[..5].iter().map(other).chain(rows[5..].iter().cloned()).collect();
    let tables = [(Role::P1, &rows), (Role::P2, &changed)];
    let tables = tables.map(|(role, rows)| view(&agreement, rows, Some(role)));
    let (_, tape) = alone(&agreement, &view(&agreement, &rows, None), 9);
    let outcome = together(&agreement, [&tables[0], &tables[1]], TapeCoins::pair(&tape));
    for party in [outcome.p1, outcome.p2] {
        let five = |error: &Error| error.message().contains("between the parties for 5 people");
        assert!(party.as_ref().is_err_and(five), "{party:?}");
    }
}

#[test]
fn shards_that_lack_records_are_found_before_anything_is_said_of_them() {
    let rows = rows(20, 8);
    let agreement = loans("vertical", "epsilon = \"2\"\n[scale]\nshards = 2\n");
    let party = |session: &mut Workspace| {
        let table = view(&agreement, &rows, Some(session.role));
        move_out(session, &agreement, &table, table.len() + 1);
        let prepared = prepare(session, &agreement, Keys::Agreed).map(|_| ());
        session.conclude(prepared).unwrap_err()
    };
    let outcome = run_workspaces(setup(&agreement), party, party);
    assert!(outcome.p1.to_string().contains("as many records"), "{}", outcome.p1);
}

#[test]
fn what_runs_at_an_epsilon_runs_at_every_smaller_one_and_a_refusal_says_what_to_change() {
    let steps: Vec<u32> = [1, 2, 5].into_iter().chain((10..=4000).step_by(7)).collect();
    let hidden = "[id]\nmembership = \"hidden\"\n[class]\nowner = \"p1\"";
    for (choices, most) in [("", 4000), ("[id]\nmatching = \"ristretto255\"", 4000), (hidden, 1300)]
    {
        for shards in NUMBERS {
            let tried = |hundredths: &u32| {
                let epsilon = format!("{}.{:02}", hundredths / 100, hundredths % 100);
                let terms = format!("epsilon = \"{epsilon}\"\nspecializations = 3\n{choices}");
                let agreement =
                    loans("vertical", &format!("{terms}\n[scale]\nshards = {shards}\n"));
                let sizes = Plan::new(&agreement).and_then(|plan| Sizes::of(&agreement, &plan));
                sizes.map(|_| epsilon).map_err(|error| error.to_string())
            };
            let found: Vec<_> = steps.iter().filter(|n| **n <= most).map(tried).collect();
            let (run, refused) = found.split_at(found.partition_point(Result::is_ok));
            assert!(refused.iter().all(Result::is_err), "{choices} {shards}: {found:?}");
            assert!(run.len() > 100, "{choices} {shards}: {found:?}");
            for words in refused.iter().flat_map(|one| one.as_ref().err()) {
                let limit = if choices == hidden { "12.0" } else { "16.6" };
                let remedy = format!("lower `epsilon` to {limit}, or use fewer `shards` or none");
                assert!(words.ends_with(&remedy), "{choices} {shards}: {words}");
            }
        }
    }
}
