//! Nobody learns who is common: the same decisions give the release that one party makes of the joined
//! table, and nothing that is said depends on who is in it.

use rand::RngExt;

use super::one_class::view;
use super::two_parties::{
    Party, Row, alone, assert_equal, assert_release_forecast, delta, loans, random_rows, setup,
    thesis_rows,
};
use super::*;
use crate::net::{self, Blame, Tag};
use crate::protocol::Workspace;
use crate::protocol::coins::{Coins, TapeCoins};
use crate::protocol::pair::{
    Outcome as Ran, Setup, assert_forecast, assert_same_shape, run_workspaces,
};
use crate::release::diffgen::forecast::{self, Records, check_table};
use crate::release::diffgen::two_party::{Keys, prepare, release_with};
use crate::role::Role;

/// Few bins: see [`Keys::ForTests`].
pub const QUICK: Keys = Keys::ForTests(512);

/// The loans with the class at one party and membership hidden; P2 has the numbers.
pub fn hidden_loans(owner: &str, pad_to: Option<u64>, terms: &str) -> Agreement {
    let pad = pad_to.map_or(String::new(), |records| format!("pad_to = {records}\n"));
    let of_id = format!("[id]\nmembership = \"hidden\"\n{pad}");
    loans("vertical", &format!("{terms}\n{of_id}[class]\nowner = \"{owner}\""))
}

/// Either owner of the class, padded and not.
fn agreements(terms: &str) -> Vec<Agreement> {
    let ways = [("p1", None), ("p2", None), ("p1", Some(60)), ("p2", Some(45))];
    ways.iter().map(|(owner, pad_to)| hidden_loans(owner, *pad_to, terms)).collect()
}

fn picked(rows: &[Row], numbers: &[usize]) -> Vec<Row> {
    numbers.iter().map(|number| rows[*number].clone()).collect()
}

/// Both parties' runs, with randomness that repeats itself: few bins may fail.
pub fn together<C: Coins + Send + 'static>(
    agreement: &Agreement,
    tables: [&Table; 2],
    coins: (C, C),
    keys: Keys,
    seed: u64,
) -> Ran<Party, Party> {
    let party = |table: &Table, coins: C, session: &mut Workspace| {
        session.coins = Box::new(coins);
        let made = release_with(session, agreement, table, budget(agreement), keys, &|_| {});
        session.conclude(made)
    };
    let [first, second] = tables;
    run_workspaces(
        setup(agreement).seed(seed),
        |session| party(first, coins.0, session),
        |session| party(second, coins.1, session),
    )
}

/// P1 knows some of the people, P2 others; the release is that of those whom both know.
pub fn assert_same(
    agreement: &Agreement,
    rows: &[Row],
    known: [&[usize]; 2],
    keys: Keys,
    seed: u64,
) {
    let common: Vec<usize> =
        known[0].iter().copied().filter(|number| known[1].contains(number)).collect();
    let joined = view(agreement, &picked(rows, &common), None);
    let (expected, tape) = alone(agreement, &joined, seed);
    let own = |role: Role| view(agreement, &picked(rows, known[role as usize]), Some(role));
    let (first, second) = (own(Role::P1), own(Role::P2));
    let outcome = together(agreement, [&first, &second], TapeCoins::pair(&tape), keys, seed);
    let (tree, numbers) = (expected.table.cuts.made(), known.map(<[usize]>::len));
    if keys == QUICK {
        let said = (&outcome.transcripts, &outcome.costs);
        assert_release_forecast(agreement, said, numbers, 0, tree);
    } else {
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            let (own, peer) = (f.role() as usize, f.role().peer() as usize);
            let records = Records { own: numbers[own], peer: numbers[peer], ..Records::default() };
            forecast::release(f, agreement, records, tree).unwrap();
        });
    }
    for (role, party) in [(Role::P1, outcome.p1), (Role::P2, outcome.p2)] {
        let party = party.unwrap();
        assert_equal(agreement, &party.release, &expected, seed);
        assert_eq!(party.in_both, None, "nobody knows");
        let of_peer = numbers[role.peer() as usize];
        assert_eq!(party.peer_records, agreement.pad_to().is_none().then_some(of_peer));
    }
}

#[test]
fn table_7_1_of_the_thesis_is_released_as_by_one_party() {
    let rows = thesis_rows();
    let all: Vec<usize> = (0..rows.len()).collect();
    for (number, agreement) in agreements("epsilon = \"2\"\nspecializations = 4").iter().enumerate()
    {
        let seed = 10 * number as u64;
        assert_same(agreement, &rows, [&all, &all], QUICK, seed);
        assert_same(agreement, &rows, [&all[..7], &all[3..]], QUICK, seed + 1);
        assert_same(agreement, &rows, [&all[..4], &all[4..]], QUICK, seed + 2);
        assert_same(agreement, &rows, [&[6], &all], QUICK, seed + 3);
        assert_same(agreement, &rows, [&[6], &[6]], QUICK, seed + 4);
    }
}

/// With as many bins as a release has.
#[test]
fn a_release_with_all_its_bins_is_that_of_one_party() {
    let mut rng = Randomness::seeded(3);
    let rows: Vec<Row> = (0..12)
        .flat_map(|_| random_rows(&mut rng))
        .enumerate()
        .map(|(number, row)| (format!("person {number}"), row.1, row.2, row.3, row.4))
        .collect();
    let all: Vec<usize> = (0..rows.len()).collect();
    let third = all.len() / 3;
    let known: [&[usize]; 2] = [&all[..2 * third], &all[third..]];
    let terms = "epsilon = \"2\"\nspecializations = 5";
    assert_same(&hidden_loans("p1", None, terms), &rows, known, Keys::Agreed, 1);
    assert_same(&hidden_loans("p2", Some(900), terms), &rows, known, Keys::Agreed, 2);
}

/// Each with the next of the agreements; tables without anybody are among them.
#[test]
fn random_tables_are_released_as_by_one_party() {
    let mut rng = Randomness::seeded(32);
    let agreements = [
        agreements("epsilon = \"2\"\nspecializations = 4"),
        agreements("epsilon = \"13\"\nspecializations = 6\nstructure_share = \"0.9\""),
        agreements("epsilon = \"13\""), // a noisy number of records decides
    ]
    .concat();
    for round in 0..24u64 {
        let rows = random_rows(&mut rng);
        let overlap = rng.random_range(0..=2);
        let mut known = [Vec::new(), Vec::new()];
        for number in 0..rows.len() {
            let whose = if overlap == 2 { 0 } else { rng.random_range(0..4) };
            for (role, others) in [(0, 1), (1, 2)] {
                // Everybody is common, some are, or nobody is.
                if whose != others && (overlap > 0 || whose == 3 - others) {
                    known[role].push(number);
                }
            }
        }
        let agreement = &agreements[round as usize % agreements.len()];
        assert_same(agreement, &rows, [&known[0], &known[1]], QUICK, round);
    }
}

/// The same people under other names.
fn renamed(rows: &[Row]) -> Vec<Row> {
    rows.iter().map(|row| (format!("other {}", row.0), row.1, row.2, row.3, row.4)).collect()
}

/// Tables of both parties that are to look alike, and decisions under which they do: with such an ε noise
/// outweighs the data.
fn cases(agreement: &Agreement) -> (Vec<[Table; 2]>, Tape) {
    let (rows, others) = (thesis_rows(), renamed(&thesis_rows()));
    let mut half = others.clone();
    half[..5].clone_from_slice(&rows[..5]);
    let mut turned = rows.clone();
    for (row, other) in turned.iter_mut().zip(rows.iter().rev()) {
        (row.1, row.2, row.3, row.4) = (other.1, other.2, other.3, other.4);
    }
    let mut cases = vec![
        (rows.clone(), rows.clone()),
        (rows.clone(), others.clone()),
        (rows.clone(), half),
        (rows.clone(), turned),
    ];
    if agreement.pad_to().is_some() {
        cases.push((rows[..1].to_vec(), rows[..1].to_vec()));
        cases.push((rows[..3].to_vec(), others));
    }
    let (_, tape) = alone(agreement, &view(agreement, &rows, None), 5);
    let tables = cases.iter().map(|(first, second)| {
        [view(agreement, first, Some(Role::P1)), view(agreement, second, Some(Role::P2))]
    });
    (tables.collect(), tape)
}

#[test]
fn runs_with_nobody_and_with_everybody_in_common_look_the_same() {
    for agreement in agreements("epsilon = \"0.001\"\nspecializations = 2") {
        let (cases, tape) = cases(&agreement);
        assert_same_shape(&cases, |[first, second]| {
            let outcome = together(&agreement, [first, second], TapeCoins::pair(&tape), QUICK, 9);
            assert!(outcome.p1.is_ok() && outcome.p2.is_ok());
            outcome
        });
    }
}

/// P1 stops where its tape ends, at the first split or at the counts: what it has sent and got by then, and
/// what it says, do not depend on who is common; nor does what its peer has sent and got.
#[test]
fn runs_that_fail_look_the_same_too() {
    for agreement in agreements("epsilon = \"0.001\"\nspecializations = 2") {
        let (cases, tape) = cases(&agreement);
        let run = |[first, second]: &[Table; 2], short: &Tape| {
            let coins = (TapeCoins::pair(short).0, TapeCoins::pair(&tape).1);
            together(&agreement, [first, second], coins, QUICK, 9)
        };
        let whole = run(&cases[0], &tape).transcripts.p2;
        for made in [0, tape.remaining() - 1] {
            let mut seen = None;
            for case in &cases {
                let outcome = run(case, &tape.beginning(made));
                let said = (outcome.p1.unwrap_err().to_string(), outcome.transcripts.p1);
                assert_eq!(seen.get_or_insert_with(|| said.clone()), &said);
                assert!(outcome.p2.is_err());
                // The peer hears of it sooner or later.
                let other = outcome.transcripts.p2;
                let alike = other.iter().zip(&whole).take_while(|(one, due)| one == due).count();
                assert!(alike + 1 >= other.len(), "all but the word that it is over");
            }
        }
    }
}

#[test]
fn only_common_people_count_once_each_and_their_order_does_not() {
    for owner in ["p1", "p2"] {
        let agreement = hidden_loans(owner, None, "epsilon = \"13\"\nspecializations = 1");
        let rows = thesis_rows();
        let first: Vec<Row> = rows[..7].iter().rev().cloned().collect();
        let tables = [
            view(&agreement, &first, Some(Role::P1)),
            view(&agreement, &rows[3..], Some(Role::P2)),
        ];
        // Of the four who are common: no noise at all.
        let joined = view(&agreement, &rows[3..7], None);
        let (_, tape) = alone(&agreement, &joined, 1);
        let outcome = together(
            &agreement,
            [&tables[0], &tables[1]],
            TapeCoins::pair(&Tape::of_noise(vec![0; tape.remaining() + 50])),
            QUICK,
            4,
        );
        let counts = outcome.p1.unwrap().release.table.counts;
        let of_class = |class: usize| counts.iter().skip(class).step_by(2).sum::<u64>();
        // Three Y and one N among 4, 5, 6, 7.
        assert_eq!([0, 1].map(of_class), [3u64, 1], "{owner}");
    }
}

#[test]
fn a_column_that_the_agreement_gives_a_party_must_be_there() {
    let agreement = hidden_loans("p1", None, "epsilon = \"1\"\nspecializations = 1");
    let first = view(&agreement, &thesis_rows(), Some(Role::P1));
    let second = view(&agreement, &thesis_rows(), Some(Role::P2));
    let columns = vec![second.column(0).cloned(), None, None];
    let names = second.identifiers().map(<[String]>::to_vec);
    let second = Table::new(columns, second.classes().to_vec(), names).unwrap();
    let mut rng = Randomness::seeded(14);
    let coins = (rng.fork(), rng.fork());
    let outcome = together(&agreement, [&first, &second], coins, QUICK, 5);
    let error = outcome.p2.unwrap_err();
    assert!(error.to_string().contains("salary"), "{error}");
    assert!(outcome.p1.is_err());
}

#[test]
fn a_peer_that_announces_more_records_than_agreed_is_refused() {
    let agreement = hidden_loans("p1", None, "epsilon = \"1\"\nspecializations = 1");
    let first = view(&agreement, &thesis_rows(), Some(Role::P1));
    let outcome = run_workspaces(
        Setup::default(),
        |session| release_with(session, &agreement, &first, budget(&agreement), QUICK, &|_| {}),
        |session| {
            prepare(session, &agreement, QUICK).unwrap();
            session.channel.send_bytes(Tag::new(*b"hdrc"), &1001u64.to_le_bytes()).unwrap();
            let _ = session.channel.receive_bytes(Tag::new(*b"hdrc"), 8);
        },
    );
    let error = outcome.p1.unwrap_err();
    assert!(matches!(error.blame(), Blame::Connection(net::Error::Malformed { .. })), "{error}");
}

#[test]
fn a_table_larger_than_what_both_seem_to_have_is_refused_before_the_run() {
    let agreement = hidden_loans("p1", Some(9), "epsilon = \"1\"\nspecializations = 1");
    assert!(check_table(&agreement, 9).is_ok());
    let refused = check_table(&agreement, 10).unwrap_err();
    assert!(refused.to_string().contains("`pad_to` in [id] is 9"), "{refused}");
    // And by whoever forgot to ask.
    let tables = Role::BOTH.map(|role| view(&agreement, &thesis_rows(), Some(role)));
    let mut rng = Randomness::seeded(15);
    let coins = (rng.fork(), rng.fork());
    let outcome = together(&agreement, [&tables[0], &tables[1]], coins, QUICK, 6);
    let joins = |transcript: &net::Transcript| {
        transcript.iter().filter(|(_, tag, _)| *tag == Tag::new(*b"jnsd")).count()
    };
    assert_eq!(joins(&outcome.transcripts.p1), 0, "nothing that depends on data was said");
    for party in [outcome.p1, outcome.p2] {
        assert!(party.is_err());
    }
}

#[test]
fn what_would_take_too_long_is_refused_before_the_run() {
    let agreement = hidden_loans("p1", None, "epsilon = \"1\"\nspecializations = 1");
    assert!(check_table(&agreement, 10_000_000).is_ok());
    let refused = check_table(&agreement, 1 << 36).unwrap_err();
    assert!(refused.to_string().contains("without knowing who is common"), "{refused}");
    let fine = hidden_loans("p1", None, "epsilon = \"1\"\nspecializations = 40");
    let refused = check_table(&fine, 1 << 31).unwrap_err();
    assert!(refused.to_string().contains("lower `specializations`"), "{refused}");
}

#[test]
fn delta_counts_what_may_fail_in_both_joins() {
    let hidden = hidden_loans("p1", None, "epsilon = \"13\"\nspecializations = 2");
    // e^13 is more than 442,413.
    let failures = &Rational::whole(6 * 442_413u64) * &Rational::power_of_two(-64);
    assert!(delta(&hidden) > failures);
    assert!(delta(&hidden) <= Rational::power_of_two(-40));
    let plan = Plan::new(&hidden).unwrap();
    assert!((0..3).all(|attribute| plan.scores_together(attribute)));
}
