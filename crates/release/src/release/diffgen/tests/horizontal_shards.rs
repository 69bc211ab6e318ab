//! Horizontally, records in shards: the same release, by the same messages, however many shards there are.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::horizontal::{all_terms, table_of};
use super::shards::{NUMBERS, Near, Overheard, Spied, rows};
use super::two_parties::{
    Party, Row, alone, assert_equal, assert_release_forecast, delta, key_bits, loans,
};
use super::*;
use crate::error::Kind;
use crate::net::memory::{End, ends};
use crate::net::{self, AbortReason, Blame, Channel, Limits, Stop, Transport};
use crate::protocol::Workspace;
use crate::protocol::coins::TapeCoins;
use crate::protocol::pair::{Outcome as Ran, Setup, run_workspaces};
use crate::protocol::shards::remote::{Remote, Server};
use crate::protocol::shards::{Answer, Failed, Shard};
use crate::release::diffgen::two_party::{Keys, prepare, release_with};
use crate::release::shards::{Counter, records};
use crate::role::Role;

/// Where a party's records lie.
#[derive(Clone, Copy)]
enum Lie {
    AtTheLead,
    InShards,
    Elsewhere,
}

fn in_shards(terms: &str, shards: u32) -> Agreement {
    loans("horizontal", &format!("{terms}\n[scale]\nshards = {shards}\n"))
}

/// Each shard with its part of the records, dealt by position.
fn counters(agreement: &Agreement, table: &Table) -> Vec<Box<dyn Shard>> {
    let shards = agreement.shards.unwrap() as usize;
    let end = |shard| table.len() * shard / shards;
    let part = |shard| table.select(&(end(shard)..end(shard + 1)).collect::<Vec<_>>());
    let counter = |shard| Counter::new(agreement, part(shard)).unwrap();
    (0..shards).map(|shard| Box::new(counter(shard)) as Box<dyn Shard>).collect()
}

/// Gives the records to shards, if they lie there; returns what is left to the lead.
fn give(session: &mut Workspace, agreement: &Agreement, table: &Table, lie: Lie) -> Table {
    let remote =
        |shard| Box::new(Remote::new(Box::new(Near(Server::new(shard))))) as Box<dyn Shard>;
    session.shards.asked = match lie {
        Lie::AtTheLead => return table.clone(),
        Lie::InShards => counters(agreement, table),
        Lie::Elsewhere => counters(agreement, table).into_iter().map(remote).collect(),
    };
    session.shards.records = Some(table.len());
    session.shards.at_once = 2;
    Table::default()
}

fn run_of(
    agreement: &Agreement,
    rows: [&[Row]; 2],
    lies: [Lie; 2],
    tape: &Tape,
) -> Ran<Party, Party> {
    let tables = rows.map(|rows| table_of(agreement, rows));
    let party = |session: &mut Workspace, coins: TapeCoins| {
        session.coins = Box::new(coins);
        let role = session.role as usize;
        let left = give(session, agreement, &tables[role], lies[role]);
        let keys = Keys::ForTests(key_bits(agreement));
        release_with(session, agreement, &left, budget(agreement), keys, &|_| {})
    };
    let (first, second) = TapeCoins::pair(tape);
    let party = &party;
    run_workspaces(
        Setup::default(),
        |session| party(session, first),
        |session| party(session, second),
    )
}

/// However the records lie, it is the release of one party, and both say what they say without shards.
fn assert_same(terms: &str, rows: [&[Row]; 2], cases: &[(u32, [Lie; 2])], seed: u64) {
    let plain = loans("horizontal", terms);
    let (expected, tape) = alone(&plain, &table_of(&plain, &rows.concat()), seed);
    let tree = expected.table.cuts.made();
    for (shards, lies) in cases {
        let agreement = in_shards(terms, *shards);
        assert_eq!(delta(&agreement), delta(&plain));
        let outcome = run_of(&agreement, rows, *lies, &tape);
        let said = (&outcome.transcripts, &outcome.costs);
        for forecast in [&agreement, &plain] {
            assert_release_forecast(forecast, said, rows.map(<[Row]>::len), 0, tree);
        }
        for party in [outcome.p1.unwrap(), outcome.p2.unwrap()] {
            assert_equal(&agreement, &party.release, &expected, seed);
            assert_eq!((party.in_both, party.peer_records), (None, None));
        }
    }
}

#[test]
fn any_number_of_shards_makes_the_same_release_by_the_same_messages() {
    let rows = rows(60, 21);
    let lies = [
        [Lie::InShards, Lie::Elsewhere],
        [Lie::Elsewhere, Lie::InShards],
        [Lie::InShards, Lie::AtTheLead],
        [Lie::Elsewhere; 2],
    ];
    let cases: Vec<_> = NUMBERS.into_iter().zip(lies).collect();
    for (seed, terms) in all_terms().iter().enumerate() {
        assert_same(terms, [&rows[..25], &rows[25..]], &cases, seed as u64);
    }
}

#[test]
fn shards_may_be_empty() {
    let rows = rows(3, 22);
    let cases = [(16, [Lie::InShards, Lie::Elsewhere]), (3, [Lie::AtTheLead, Lie::InShards])];
    for utility in ["max", "leaf-max"] {
        let terms = format!("epsilon = \"2\"\nspecializations = 3\nutility = \"{utility}\"");
        for rows in [[&rows[..1], &rows[1..]], [&rows[..1], &[]], [&[], &rows[..2]]] {
            assert_same(&terms, rows, &cases, 5);
        }
    }
}

/// What each party sends, byte for byte.
fn sent(agreement: &Agreement, rows: [&[Row]; 2], lies: [Lie; 2]) -> [Vec<u8>; 2] {
    let tables = rows.map(|rows| table_of(agreement, rows));
    let (first, second) = ends(None);
    let party = |session: &mut Workspace, end: End| {
        let (sent, role) = (Arc::new(Mutex::new(Vec::new())), session.role as usize);
        let line = Box::new(Overheard { end, sent: sent.clone() }) as Box<dyn Transport>;
        session.channel = Channel::new(line, Limits::default());
        let left = give(session, agreement, &tables[role], lies[role]);
        let keys = Keys::ForTests(key_bits(agreement));
        release_with(session, agreement, &left, budget(agreement), keys, &|_| {}).unwrap();
        sent.lock().unwrap().to_vec()
    };
    let outcome = run_workspaces(
        Setup::default().seed(23),
        |session| party(session, first),
        |session| party(session, second),
    );
    [outcome.p1, outcome.p2]
}

#[test]
fn the_peer_hears_the_very_bytes_that_it_hears_without_shards() {
    let rows = rows(60, 23);
    let rows: [&[Row]; 2] = [&rows[..30], &rows[30..]];
    for utility in ["max", "leaf-max"] {
        let terms = format!("epsilon = \"2\"\nspecializations = 3\nutility = \"{utility}\"");
        let plain = sent(&loans("horizontal", &terms), rows, [Lie::AtTheLead; 2]);
        assert!(plain[0].len() > 10_000);
        let sharded = sent(&in_shards(&terms, 3), rows, [Lie::InShards, Lie::Elsewhere]);
        assert!(plain == sharded, "{utility}");
    }
}

/// What one lead and its shards said, where P1's records lie in this order.
fn inside(agreement: &Agreement, rows: &[Row]) -> Vec<Vec<u8>> {
    let (_, tape) = alone(agreement, &table_of(agreement, rows), 24);
    let (first, second) = TapeCoins::pair(&tape);
    let heard = Mutex::new(Vec::new());
    let party = |session: &mut Workspace, coins: TapeCoins| {
        session.coins = Box::new(coins);
        let (lie, rows) = match session.role {
            Role::P1 => (Lie::InShards, rows),
            Role::P2 => (Lie::AtTheLead, &[][..]),
        };
        let left = give(session, agreement, &table_of(agreement, rows), lie);
        let inside = Arc::new(Mutex::new(Vec::new()));
        for shard in std::mem::take(&mut session.shards.asked) {
            session.shards.asked.push(Box::new(Spied { shard, inside: inside.clone() }));
        }
        // One after the other, so that what is heard has an order.
        session.shards.at_once = 1;
        let budget = budget(agreement);
        release_with(session, agreement, &left, budget, Keys::Agreed, &|_| {}).unwrap();
        heard.lock().unwrap().extend(inside.lock().unwrap().drain(..));
    };
    run_workspaces(
        Setup::default(),
        |session| party(session, first),
        |session| party(session, second),
    );
    heard.into_inner().unwrap()
}

/// Neither a column nor who is next to whom: answers are the same in whatever order a shard has its records.
#[test]
fn shards_tell_their_lead_counts_and_nothing_else() {
    let rows = rows(80, 24);
    for utility in ["max", "leaf-max"] {
        let terms = format!("epsilon = \"2\"\nspecializations = 3\nutility = \"{utility}\"");
        let agreement = in_shards(&terms, 2);
        let heard = inside(&agreement, &rows);
        let answers: Vec<&Vec<u8>> = heard.iter().skip(1).step_by(2).collect();
        assert!(answers.len() >= 2 * 8, "{}", answers.len());
        let count = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().unwrap());
        for counts in &answers {
            assert!(counts.chunks(8).all(|bytes| count(bytes) <= 40), "of 40 records");
        }
        let turned: Vec<Row> =
            rows[..40].iter().rev().chain(rows[40..].iter().rev()).cloned().collect();
        assert!(inside(&agreement, &turned) == heard);

        let columns = records::write(&agreement, Role::P1, &table_of(&agreement, &rows), false);
        let lively =
            |part: &&[u8]| part.iter().collect::<std::collections::HashSet<_>>().len() >= 6;
        let columns = columns.unwrap();
        let markers: std::collections::HashSet<&[u8]> =
            columns.windows(32).filter(lively).collect();
        assert!(markers.len() > 100, "{}", markers.len());
        for bytes in &heard {
            assert!(!bytes.windows(32).any(|part| markers.contains(part)));
        }
    }
}

/// A shard that answers so many requests, and then fails or answers something else.
struct Fails {
    shard: Box<dyn Shard>,
    left: usize,
    garbage: Option<Vec<u8>>,
    failed: Arc<AtomicBool>,
}

impl Shard for Fails {
    fn ask(&mut self, request: &[u8]) -> Result<Answer, Failed> {
        let answer = self.shard.ask(request)?;
        let Some(left) = self.left.checked_sub(1) else {
            self.failed.store(true, Ordering::Relaxed);
            return match &self.garbage {
                Some(garbage) => Ok(Answer::new([&answer[..], garbage].concat())),
                None => Err(Failed::internal("the machine is gone")),
            };
        };
        self.left = left;
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

    fn record_transcript(&mut self) {}

    fn costs(&self) -> net::Costs {
        self.shard.costs()
    }

    fn transcript(&self) -> net::Transcript {
        self.shard.transcript()
    }
}

#[test]
fn a_shard_that_fails_at_any_request_ends_the_run_at_both_sides() {
    let rows = rows(40, 25);
    let terms = "epsilon = \"2\"\nspecializations = 2\nutility = \"leaf-max\"";
    let agreement = in_shards(terms, 3);
    for garbage in [None, Some(vec![1; 8]), Some(vec![0])] {
        let mut left = 0;
        loop {
            let failed = Arc::new(AtomicBool::new(false));
            let party = |session: &mut Workspace| {
                let (rows, lie) = match session.role {
                    Role::P1 => (&rows[..20], Lie::InShards),
                    Role::P2 => (&rows[20..], Lie::AtTheLead),
                };
                let table = give(session, &agreement, &table_of(&agreement, rows), lie);
                if session.role == Role::P1 {
                    let shard = session.shards.asked.remove(1);
                    let (garbage, failed) = (garbage.clone(), failed.clone());
                    let fails = Box::new(Fails { shard, left, garbage, failed });
                    session.shards.asked.insert(1, fails);
                }
                let budget = budget(&agreement);
                let made = release_with(session, &agreement, &table, budget, Keys::Agreed, &|_| {});
                session.conclude(made).map(|_| ())
            };
            let outcome = run_workspaces(Setup::default(), party, party);
            if !failed.load(Ordering::Relaxed) {
                assert!(outcome.p1.is_ok() && outcome.p2.is_ok());
                break;
            }
            left += 1;
            let own = outcome.p1.unwrap_err();
            assert_eq!(own.kind(), Kind::Internal, "{own}");
            let told = outcome.p2.unwrap_err();
            let aborted = matches!(
                told.blame(),
                Blame::Connection(net::Error::PeerAborted(AbortReason::Internal))
            );
            assert!(aborted, "{told}");
        }
        assert!(left >= 8, "{left}");
    }
}

#[test]
fn shards_that_lack_records_are_found_before_anything_is_spent() {
    let agreement = in_shards("epsilon = \"2\"", 2);
    let party = |session: &mut Workspace| {
        let table = table_of(&agreement, &rows(20, 26));
        give(session, &agreement, &table, Lie::InShards);
        session.shards.records = Some(table.len() + 1);
        let prepared = prepare(session, &agreement, Keys::Agreed).map(|_| ());
        session.conclude(prepared).unwrap_err()
    };
    let outcome = run_workspaces(Setup::default(), party, party);
    assert!(outcome.p1.to_string().contains("as many records"), "{}", outcome.p1);
    let too_few = |session: &mut Workspace| {
        let table = table_of(&agreement, &rows(20, 26));
        give(session, &agreement, &table, Lie::InShards);
        session.shards.asked.pop();
        prepare(session, &agreement, Keys::Agreed).map(|_| ()).unwrap_err().to_string()
    };
    let outcome = run_workspaces(Setup::default(), too_few, too_few);
    assert!(outcome.p1.contains("not as many of these as are agreed"), "{}", outcome.p1);
}
