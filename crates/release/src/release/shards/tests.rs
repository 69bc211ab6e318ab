use proptest::prelude::*;

use super::asks::{
    Due, Tally, add_counts, read_request, read_sums, tell_counts, tell_names, tell_shares,
};
use super::*;
use crate::error::Kind;
use crate::net::SessionId;
use crate::protocol::pair::{Setup, run_workspaces};
use crate::protocol::shards::stand_in::{Answers, StandIn};
use crate::protocol::shards::{Answer, Failed, Shards};
use crate::protocol::sum_by_group::{CountShape, SumShape};
use crate::release::diffgen::hidden::joined::Announced;
use crate::release::diffgen::own_records::OwnRecords;
use crate::table::{Candidate, CutValue, Reading, parse_csv};

fn names(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("person {number}")).collect()
}

#[test]
fn the_bound_is_the_mean_ten_deviations_and_some_room() {
    for (people, shards, expected) in [
        (0, 4, 0),
        (1, 1, 1),
        (1_000_000, 1, 1_000_000),
        (30, 3, 30),
        // 125,000 + 10·√(10^6·7)/8 = 125,000 + 3,307.2 + 34
        (1_000_000, 8, 128_342),
        (100_000_000, 1_024, 97_657 + 3_124 + 34),
    ] {
        assert_eq!(bound(people, shards), expected, "{people} in {shards}");
    }
    assert!(bound(usize::MAX, 1_024) < usize::MAX / 1_000);
}

/// Bernstein's inequality, in floating point: nothing depends on it.
#[test]
fn a_shard_is_too_full_with_probability_e_to_the_minus_50_at_most() {
    for people in [1usize, 10, 100, 5_000, 1 << 20, 100_000_000] {
        for shards in [2usize, 3, 16, 1_024] {
            let (n, p) = (people as f64, 1.0 / shards as f64);
            let variance = n * p * (1.0 - p);
            let beyond = bound(people, shards) as f64 + 1.0 - n * p;
            let exponent = beyond * beyond / (2.0 * (variance + beyond / 3.0));
            assert!(exponent >= 50.0 || bound(people, shards) == people, "{people} in {shards}");
        }
    }
}

#[test]
fn people_fall_evenly_and_elsewhere_in_every_run() {
    const PEOPLE: usize = 20_000;
    let (names, shards) = (names(PEOPLE), 16);
    let [one, other] = [1, 2].map(|run| Dealing::new(&SessionId::from_bytes([run; 32]), shards));
    let rows = one.rows(&names, PEOPLE).unwrap();
    let mean = PEOPLE as f64 / shards as f64;
    let chi_square: f64 = rows.iter().map(|rows| (rows.len() as f64 - mean).powi(2) / mean).sum();
    // 15 degrees of freedom: 44 is passed once in 10,000 keys, and this one is fixed.
    assert!(chi_square < 44.0, "{chi_square}");
    let mut all: Vec<usize> = rows.concat();
    all.sort_unstable();
    assert!(all.into_iter().eq(0..PEOPLE), "everybody once");
    let together = names.iter().filter(|name| one.shard(name) == other.shard(name)).count();
    assert!((together as f64 / mean - 1.0).abs() < 0.2, "{together} in the same shard again");
}

#[test]
fn a_shard_that_is_too_full_is_refused() {
    let dealing = Dealing::new(&SessionId::from_bytes([3; 32]), 4);
    let same: Vec<String> =
        names(4_000).into_iter().filter(|name| dealing.shard(name) == 2).take(200).collect();
    assert!(bound(same.len(), 4) < 200);
    let full = dealing.rows(&same, same.len()).unwrap_err();
    assert_eq!(full.kind(), Kind::Internal);
    assert!(full.message().contains("more people fall into one shard"), "{full}");
    assert!(dealing.rows(&same, 4_000).is_ok(), "where the table is padded that far");
}

/// `hashlib.sha256(b"diptych shards v1" + bytes(32) + name).digest()[:8]` as a little-endian number,
/// times 1,000, over 2^64.
#[test]
fn the_hash_is_the_one_that_the_page_states() {
    let dealing = Dealing::new(&SessionId::from_bytes([0; 32]), 1_000);
    let shards = ["ada", "grace", "é"].map(|name| dealing.shard(name));
    assert_eq!(shards, [961, 286, 224]);
}

const VERTICAL: &str = r#"
        [release]
        id = "shards"
        partition = "vertical"
        epsilon = "1"
        specializations = 1
        max_records = 1000
        [parties.p1]
        name = "North"
        fingerprint = "sha256:1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a1a"
        [parties.p2]
        name = "South"
        fingerprint = "sha256:2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b2b"
        [id]
        column = "id"
        normalize = ["trim"]
        [class]
        column = "ill"
        values = ["yes", "no"]
        [[attribute]]
        name = "job"
        kind = "categorical"
        owner = "p1"
        taxonomy = { Any_Job = ["Engineer", "Writer"] }
        [[attribute]]
        name = "age"
        kind = "numeric"
        owner = "p1"
        min = 0
        max = 99
        step = 1
        [[attribute]]
        name = "town"
        kind = "categorical"
        owner = "p2"
        taxonomy = { Any_Town = ["A", "B"] }
        [scale]
        shards = 3
    "#;

fn parse(text: &str) -> Agreement {
    Agreement::parse("a.toml", text.as_bytes(), &|_| Err("no files here".to_owned())).unwrap()
}

fn agreement() -> Agreement {
    parse(VERTICAL)
}

fn table(agreement: &Agreement) -> Table {
    let (schema, max_records) = (&agreement.schema, agreement.max_records);
    let (owner, identifier) = (Some(Role::P1), agreement.identifier());
    let reading = Reading { schema, owner, identifier, max_records };
    let rows = "id,job,age,ill\nx1,Writer,7,no\né2,Engineer,99,yes\nx3,Writer,0,yes\n";
    parse_csv("rows.csv", rows.as_bytes(), &reading, &|_| ()).unwrap()
}

/// One request of each kind.
fn requests() -> Vec<Vec<u8>> {
    let value = CutValue::Interval { start: 0, end: 100 };
    let candidate = Candidate { attribute: 1, value };
    let made = vec![Specialization { candidate, split: Some(4) }];
    let announced = Announced::new(&agreement(), Role::P1, 3, 4, true);
    let asks = [
        Ask::SetUp,
        Ask::Match { due: [5, 6] },
        Ask::Labelled,
        Ask::Join { announced },
        Ask::Count { made: made.clone() },
        Ask::Tally(Tally::Children(vec![(made[0], Some(vec![0, 0, 3])), (made[0], None)])),
        Ask::Tally(Tally::Points(vec![candidate])),
        Ask::Tally(Tally::Leaves),
        Ask::Specialize(made[0]),
    ];
    let mut requests: Vec<Vec<u8>> = asks.iter().map(|ask| request(ask, &[]).unwrap()).collect();
    let cells = CountShape { records: 4, cells: [2, 300], bits: 32 };
    let units = SumShape { records: 3, groups: 2, words: 2, bits: 20 };
    let sums = [
        (Sum::Cells(cells), vec![1, 299, 0]),
        (Sum::Units(Role::P2, units), vec![0, 1, 1]),
        (Sum::Cells(cells), vec![70_000]),
    ];
    requests.push(request_sums("structure", &sums).unwrap());
    let (ask, follows) = read_request(requests.last().unwrap()).unwrap();
    let Ask::Sums { phase, sums: heads } = ask else { panic!("sums were asked for") };
    assert_eq!(read_sums(phase, &heads, follows, 4).unwrap(), ("structure", sums.to_vec()));
    assert!(read_sums(phase, &heads, follows, 3).is_err(), "over more records than there may be");
    requests
}

#[test]
fn what_shards_and_their_lead_say_reads_as_it_was_written() {
    let (agreement, role) = (agreement(), Role::P1);
    let table = table(&agreement);
    for (named, identifiers) in [(true, table.identifiers()), (false, None)] {
        let bytes = records::write(&agreement, role, &table, named).unwrap();
        let read = records::read(&agreement, role, &bytes, named).unwrap();
        assert_eq!(
            (0..3).map(|a| read.column(a)).collect::<Vec<_>>(),
            [table.column(0), table.column(1), None]
        );
        assert_eq!((read.classes(), read.identifiers()), (table.classes(), identifiers));
        for cut in 0..bytes.len() {
            assert!(records::read(&agreement, role, &bytes[..cut], named).is_err(), "{cut}");
        }
    }
    assert!(records::write(&agreement, Role::P2, &table, true).is_err(), "no town");
    let shares = [WordShares::new(9, vec![1, 511]).unwrap(), WordShares::new(64, vec![3]).unwrap()];
    let told = tell_shares(&shares);
    let due = [Due { bits: 9, words: 2 }, Due { bits: 64, words: 1 }];
    let heard = hear_shares(&told, &due).unwrap();
    let words = |shares: &[WordShares]| -> Vec<_> {
        shares.iter().map(|shares| (shares.bits(), shares.words().to_vec())).collect()
    };
    assert_eq!(words(&heard), words(&shares));
    assert!(hear_shares(&told, &due[..1]).is_err() && hear_shares(&told[..9], &due).is_err());
    for other in [Due { bits: 10, words: 2 }, Due { bits: 9, words: 1 }, Due { bits: 9, words: 3 }]
    {
        assert!(hear_shares(&told, &[other, due[1]]).is_err(), "{other:?}");
    }
    let names = vec![b"one".to_vec(), vec![], b"three".to_vec()];
    assert_eq!(hear_names(&tell_names(&names)).unwrap(), names);
}

/// A value, a class or a text that is not one is refused, wherever it stands.
#[test]
fn records_outside_their_domains_are_refused() {
    let (agreement, role) = (agreement(), Role::P1);
    let bytes = records::write(&agreement, role, &table(&agreement), true).unwrap();
    // Three records: jobs of 2 bytes, ages of 4, classes of 1, then a length and a name.
    for (place, byte) in [(0, 4), (7, 1), (8, 2), (14, 100), (26, 2), (37, 0xff), (29, 0xff)] {
        let mut changed = bytes.clone();
        changed[place] = byte;
        assert!(records::read(&agreement, role, &changed, true).is_err(), "{place}");
    }
}

/// Shards that hear what they cannot use refuse it, and tell their peers that the run is over.
fn refused(requests: &[Vec<u8>]) {
    let agreement = Arc::new(agreement());
    for bytes in requests {
        let party = |session: &mut Workspace| {
            let mut host = Host::new(session.shards.sessions.remove(0), agreement.clone(), None);
            host.ask(bytes).map(|_| ()).map_err(|failed| failed.to_string())
        };
        let outcome = run_workspaces(Setup::default().shards(1, 1), party, party);
        let why = outcome.p1.unwrap_err();
        assert!(why.contains("understand each other") || why.contains("ended the run"), "{why}");
        outcome.p2.unwrap_err();
    }
}

#[test]
fn a_shard_refuses_what_is_out_of_turn() {
    let no_records = request(&Ask::Match { due: [5, 6] }, &[]).unwrap();
    let many = request(&Ask::Match { due: [1_001, 6] }, &[8; 0]).unwrap();
    let table = records::write(&agreement(), Role::P1, &table(&agreement()), true).unwrap();
    let too_many = request(&Ask::Match { due: [1_001, 6] }, &table).unwrap();
    let counts = request(&Ask::Count { made: Vec::new() }, &[]).unwrap();
    let tally = request(&Ask::Tally(Tally::All), &[]).unwrap();
    refused(&[no_records, many, too_many, counts, tally, Vec::new(), vec![255; 40]]);
}

proptest! {
    #[test]
    fn garbage_is_refused_or_reads_as_what_was_written(
        garbage in proptest::collection::vec(any::<u8>(), 0..99), place in 0usize..200, which in 0usize..10,
    ) {
        let agreement = agreement();
        let _ = records::read(&agreement, Role::P1, &garbage, place % 2 == 0);
        let due = vec![Due { bits: 8, words: 2 }; which];
        let _ = (hear_shares(&garbage, &due), hear_names(&garbage), read_request(&garbage));
        let mut changed = requests().swap_remove(which);
        let place = place % changed.len();
        changed[place] ^= garbage.first().copied().unwrap_or(1).max(1);
        if let Ok((ask, follows)) = read_request(&changed) {
            prop_assert_eq!(request(&ask, follows).unwrap(), &changed[..]);
            if let Ask::Sums { phase, sums } = ask {
                let _ = read_sums(phase, &sums, follows, 1_000);
            }
        }
    }
}

/// A shard that says how many records it has, and has none.
struct Says(u64);

impl Answers for Says {
    fn ask(&mut self, _: &[u8]) -> Result<Answer, Failed> {
        Ok(Answer::new(self.0.to_le_bytes().to_vec()))
    }
}

/// Before any shard has sent something: one that found it later would leave the others matched.
#[test]
fn shards_with_records_of_their_own_that_are_too_full_end_the_run_before_it_is_debited() {
    let agreement = agreement();
    let set_up = |held: [u64; 3], said: usize| {
        let party = |session: &mut Workspace| {
            session.shards.asked =
                held.iter().map(|held| Box::new(StandIn(Says(*held))) as Box<dyn Shard>).collect();
            session.shards.records = Some(said);
            set_up(session, &agreement)
        };
        run_workspaces(Setup::default(), party, party).p1
    };
    assert_eq!(bound(1_000, 3), 518);
    assert!(set_up([518, 482, 0], 1_000).is_ok());
    for (sizes, kind) in [([519, 481, 0], Kind::Internal), ([300, 300, 300], Kind::Input)] {
        assert_eq!(set_up(sizes, 1_000).unwrap_err().kind(), kind);
    }
}

/// A shard that answers shares of sums, all of one shape.
struct Shares(Due);

impl Answers for Shares {
    fn ask(&mut self, _: &[u8]) -> Result<Answer, Failed> {
        let shares = WordShares::new(self.0.bits, vec![1; self.0.words]);
        Ok(tell_shares(&[shares.map_err(|error| Failed::internal(error.to_string()))?]))
    }
}

/// Shares of another shape would be found by whoever uses them, or by nobody.
#[test]
fn a_shard_that_answers_other_sums_than_were_asked_for_ends_the_run() {
    let shape = CountShape { records: 4, cells: [2, 3], bits: 32 };
    let add_up = |told: Due| {
        let party = |session: &mut Workspace| {
            let shard = || Box::new(StandIn(Shares(told))) as Box<dyn Shard>;
            session.shards.asked = vec![shard(), shard()];
            let parts = Parts::in_shards(vec![2, 2]).unwrap();
            let places = |_, rows: Range<usize>| Ok(vec![0; rows.len()]);
            parts.add_up(session, "count table", &[Sum::Cells(shape)], places, &|_| ())
        };
        run_workspaces(Setup::default(), party, party).p1
    };
    let due = Due { bits: 32, words: 6 };
    assert_eq!(add_up(due).unwrap()[0].len(), 6);
    for told in [Due { bits: 31, ..due }, Due { words: 5, ..due }, Due { words: 0, ..due }] {
        let why = add_up(told).unwrap_err().to_string();
        assert!(why.contains("another shape"), "{why}");
    }
}

/// The same columns, of which each party has all.
fn horizontal() -> Agreement {
    let (before, id) = VERTICAL.split_once("[id]").unwrap();
    let (_, after) = id.split_once("[class]").unwrap();
    let text = format!("{before}[class]{after}").replace("vertical", "horizontal");
    parse(&text.replace("owner = \"p1\"", "").replace("owner = \"p2\"", ""))
}

fn counter(agreement: &Agreement) -> Counter {
    let (schema, max_records) = (&agreement.schema, agreement.max_records);
    let reading = Reading { schema, owner: None, identifier: None, max_records };
    let rows = "job,age,town,ill\nWriter,7,A,no\nEngineer,99,B,yes\nWriter,0,B,yes\n";
    let table = parse_csv("rows.csv", rows.as_bytes(), &reading, &|_| ()).unwrap();
    Counter::new(agreement, table).unwrap()
}

fn interval(start: u32, end: u32) -> Candidate {
    Candidate { attribute: 1, value: CutValue::Interval { start, end } }
}

fn asked(counter: &mut Counter, ask: &Ask) -> Result<Vec<u64>, String> {
    let request = request(ask, &[]).map_err(|error| error.to_string())?;
    let answer = counter.ask(&request).map_err(|failed| failed.to_string())?;
    let (counts, rest) = answer.as_chunks();
    assert!(rest.is_empty());
    Ok(counts.iter().map(|count| u64::from_le_bytes(*count)).collect())
}

#[test]
fn a_shard_counts_its_own_records() {
    let agreement = horizontal();
    let mut counter = counter(&agreement);
    let made = Specialization { candidate: interval(0, 100), split: Some(7) };
    assert_eq!(asked(&mut counter, &Ask::SetUp), Ok(vec![3]));
    // Those who are ill come first.
    assert_eq!(asked(&mut counter, &Ask::Tally(Tally::All)), Ok(vec![2, 1]));
    let in_all = Ask::Tally(Tally::Children(vec![(made, None)]));
    assert_eq!(asked(&mut counter, &in_all), Ok(vec![1, 0, 1, 1]));
    let points = asked(&mut counter, &Ask::Tally(Tally::Points(vec![interval(0, 100)]))).unwrap();
    let at = |place: usize| &points[2 * place..2 * place + 2];
    assert_eq!((points.len(), points.iter().sum::<u64>()), (200, 3));
    assert_eq!((at(0), at(7), at(99)), (&[1, 0][..], &[0, 1][..], &[1, 0][..]));
    assert_eq!(asked(&mut counter, &Ask::Specialize(made)), Ok(vec![]));
    assert_eq!(asked(&mut counter, &Ask::Tally(Tally::Leaves)), Ok(vec![1, 0, 1, 1]));
    asked(&mut counter, &Ask::Specialize(made)).unwrap_err();
    asked(&mut counter, &in_all).unwrap_err();
}

#[test]
fn a_shard_counts_nothing_that_is_not_there() {
    let agreement = horizontal();
    let mut counter = counter(&agreement);
    let made = |candidate, split| Specialization { candidate, split };
    let top = made(interval(0, 100), Some(7));
    let job = |value| Candidate { attribute: 0, value };
    let elsewhere = Candidate { attribute: 3, ..interval(0, 100) };
    for children in [
        (made(elsewhere, Some(7)), None),
        (made(interval(0, 99), Some(7)), None),
        (made(interval(0, 100), Some(0)), None),
        (made(interval(0, 100), Some(100)), None),
        (made(interval(0, 100), None), None),
        (made(job(CutValue::Interval { start: 0, end: 2 }), Some(1)), None),
        (top, Some(vec![0, 0])),
        (top, Some(vec![0, 1, 0])),
    ] {
        let words = asked(&mut counter, &Ask::Tally(Tally::Children(vec![children]))).unwrap_err();
        assert!(words.contains("no such"), "{words}");
    }
    for interval in [interval(0, 1), elsewhere, job(interval(0, 100).value)] {
        let words = asked(&mut counter, &Ask::Tally(Tally::Points(vec![interval]))).unwrap_err();
        assert!(words.contains("no such interval"), "{words}");
    }
    for ask in [Ask::Match { due: [1, 1] }, Ask::Labelled, Ask::Count { made: Vec::new() }] {
        assert!(asked(&mut counter, &ask).unwrap_err().contains("vertical"));
    }
    let longer = request(&Ask::Tally(Tally::All), &[0]).unwrap();
    assert!(counter.ask(&longer).unwrap_err().to_string().contains("left over"));
}

/// What would be too much at a time is asked for in parts.
#[test]
fn a_lead_asks_for_no_more_than_its_shards_tell_at_a_time() {
    let agreement = horizontal();
    let made = Specialization { candidate: interval(0, 100), split: Some(7) };
    let many = vec![(made, None); 80_000];
    let words = asked(&mut counter(&agreement), &Ask::Tally(Tally::Children(many.clone())));
    assert!(words.unwrap_err().contains("too much at a time"));
    let mut shards = Shards { records: Some(6), ..Shards::default() };
    for _ in 0..2 {
        shards.asked.push(Box::new(counter(&agreement)));
    }
    let mut records = InShards::new(&mut shards, &agreement.schema);
    let counted = records.children(&many).unwrap();
    assert!(counted.len() == many.len() && counted.iter().all(|counts| *counts == [2, 0, 2, 2]));
    assert!(records.children(&[]).unwrap().is_empty());
    // More than the lead was told that there are.
    shards.records = Some(3);
    let words = InShards::new(&mut shards, &agreement.schema).all().unwrap_err().to_string();
    assert!(words.contains("more records than there are"), "{words}");
}

proptest! {
    #[test]
    fn a_shard_that_counts_answers_counts_or_refuses(
        garbage in proptest::collection::vec(any::<u8>(), 0..99),
        flips in proptest::collection::vec((any::<usize>(), 1u8..), 0..4),
        which in proptest::collection::vec(0usize..10, 1..4),
    ) {
        let agreement = horizontal();
        let mut counter = counter(&agreement);
        let _ = counter.ask(&garbage);
        for which in which {
            let mut changed = requests().swap_remove(which);
            for (place, flip) in &flips {
                let place = place % changed.len();
                changed[place] ^= flip;
            }
            match counter.ask(&changed) {
                Ok(answer) => prop_assert!(answer.len() % 8 == 0 && answer.len() <= 8 * 8 * 200),
                Err(failed) => {
                    let words = failed.to_string();
                    prop_assert!(words.contains("understand each other"), "{}", words);
                }
            }
        }
    }

    #[test]
    fn counts_are_added_or_refused(
        garbage in proptest::collection::vec(any::<u8>(), 0..40),
        counts in proptest::collection::vec(0u64..100, 0..9), due in 0usize..9, most in 0u64..300,
    ) {
        let mut sums = vec![most / 2; due];
        let _ = add_counts(&garbage, &mut sums, most);
        prop_assert!(sums.iter().all(|sum| *sum <= most));
        let mut sums = vec![most / 2; due];
        let fits = counts.len() == due && counts.iter().all(|count| most / 2 + count <= most);
        prop_assert_eq!(add_counts(&tell_counts(&counts), &mut sums, most).is_ok(), fits);
    }
}
