//! People in shards: the same decisions give the same release, however many shards there are, and nothing
//! that is said depends on who falls where.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use super::hidden::{QUICK, hidden_loans};
use super::two_parties::{
    Party, Row, alone, assert_equal, assert_release_forecast, delta, loans, random_rows, setup,
    together,
};
use super::{hidden, one_class, vertical, *};
use crate::net::memory::{End, ends};
use crate::net::{
    self, Accept, Channel, Header, Limits, Patience, SessionId, Stop, Tag, Transport,
};
use crate::protocol::Session;
use crate::protocol::coins::TapeCoins;
use crate::protocol::join;
use crate::protocol::pair::{Outcome as Ran, assert_same_shape, run_pair};
use crate::release::diffgen::two_party::{Error, Keys, release_with};
use crate::role::Role;

const NUMBERS: [u32; 4] = [1, 2, 3, 16];

fn rows(count: usize, seed: u64) -> Vec<Row> {
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
    for seed in 0..100 {
        let coins = TapeCoins::pair(tape);
        let outcome = hidden::together(agreement, [&tables[0], &tables[1]], coins, QUICK, seed);
        let full = |party: &Party| matches!(party, Err(Error::Join(join::Error::Placement(_))));
        if !full(&outcome.p1) && !full(&outcome.p2) {
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
            let party = |session: &mut Session, end: End| {
                let limits = Limits { read: Duration::from_secs(20), ..Limits::default() };
                let line: Box<dyn Transport> = match session.role == victim {
                    true => Box::new(Cut { end: Some(end), left }),
                    false => Box::new(end),
                };
                let (rng, id) = (session.rng.fork(), SessionId::from_bytes([7; 32]));
                let shard = Session::ready(session.role, Channel::new(line, limits), rng, id);
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
            let outcome = run_pair(
                setup(&agreement),
                |session| party(session, first),
                |session| party(session, second),
            );
            match (outcome.p1, outcome.p2) {
                (Ok(()), Ok(())) => break,
                (p1, p2) => {
                    for error in [p1, p2].into_iter().filter_map(Result::err) {
                        assert!(!matches!(error, Error::DiffGen(_)), "{error}");
                        ended += 1;
                    }
                }
            }
            frames += 1 + frames / 4;
        }
        assert!(ended >= 20, "{ended}");
    }
}
