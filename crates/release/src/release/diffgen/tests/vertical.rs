//! Two parties against one: the same decisions give the same release.

use super::two_parties::{
    Row, alone, assert_equal, assert_release_forecast, auto_terms, delta, loans, random_rows,
    thesis_rows, together,
};
use super::*;
use crate::agreement::CountTable;
use crate::error::Kind;
use crate::net::Tag;
use crate::protocol::Workspace;
use crate::protocol::coins::TapeCoins;
use crate::protocol::pair::{
    Outcome as Ran, Setup, assert_forecast, assert_same_shape, run_workspaces,
};
use crate::release::diffgen::forecast::check_table;
use crate::release::rehearsal;
use crate::role::Role;

/// A party's view of the rows; `owner` none is the joined table.
pub fn view(agreement: &Agreement, rows: &[Row], owner: Option<Role>) -> Table {
    let row = |(id, class, job, sex, salary): &Row| match owner {
        None => format!("{id},{class},{job},{sex},{salary}\n"),
        Some(Role::P1) => format!("{id},{class},{job}\n"),
        Some(Role::P2) => format!("{id},{class},{sex},{salary}\n"),
    };
    let header = match owner {
        None => "id,class,job,sex,salary\n",
        Some(Role::P1) => "id,class,job\n",
        Some(Role::P2) => "id,class,sex,salary\n",
    };
    let csv: String = std::iter::once(header.to_owned()).chain(rows.iter().map(row)).collect();
    let crate::agreement::Partition::Vertical { identifier, .. } = &agreement.partition else {
        panic!("a vertical agreement")
    };
    let reading = Reading {
        schema: &agreement.schema,
        owner,
        identifier: owner.map(|_| identifier),
        max_records: agreement.max_records,
    };
    parse_csv("rows.csv", csv.as_bytes(), &reading, &|_| {}).unwrap()
}

fn both_views(agreement: &Agreement, rows: &[Row]) -> [Table; 2] {
    Role::BOTH.map(|owner| view(agreement, rows, Some(owner)))
}

/// Terms with both selections, noises and all utilities.
fn all_terms() -> Vec<String> {
    let mut terms = Vec::new();
    for utility in ["max", "leaf-max", "info-gain"] {
        for selection in ["exponential", "permute-and-flip"] {
            for noise in ["two-party", "joint"] {
                terms.push(format!(
                    "epsilon = \"2\"\nspecializations = 4\nutility = \"{utility}\"\n\
                     selection = \"{selection}\"\nnoise = \"{noise}\""
                ));
            }
        }
    }
    terms.push("epsilon = \"2\"\nspecializations = 4\nprofile = \"paper\"".to_owned());
    terms.extend(auto_terms());
    // Random tables may be empty.
    terms.iter_mut().for_each(|terms| *terms += "\n[id]\nmin_common = 0");
    terms
}

pub fn assert_same(agreement: &Agreement, rows: &[Row], seed: u64) {
    let joined = view(agreement, rows, None);
    let (expected, tape) = alone(agreement, &joined, seed);
    let [first, second] = both_views(agreement, rows);
    let outcome = together(agreement, [&first, &second], TapeCoins::pair(&tape));
    let (tree, size) = (expected.table.cuts.made(), rows.len());
    assert_release_forecast(
        agreement,
        (&outcome.transcripts, &outcome.costs),
        [size, size],
        size,
        tree,
    );
    for party in [outcome.p1, outcome.p2] {
        let party = party.unwrap();
        assert_equal(agreement, &party.release, &expected, seed);
        assert_eq!(party.in_both, Some(rows.len()));
    }
}

#[test]
fn table_7_1_of_the_thesis_is_released_as_by_one_party() {
    for (seed, terms) in all_terms().iter().enumerate() {
        assert_same(&loans("vertical", terms), &thesis_rows(), seed as u64);
    }
}

#[test]
fn both_forms_of_the_count_table_make_the_same_release_of_one_tape() {
    for noise in ["two-party", "joint"] {
        let agreements = ["transfers", "paillier"].map(|form| {
            let terms = format!(
                "epsilon = \"2\"\nspecializations = 4\nnoise = \"{noise}\"\n[crypto]\n\
                 count_table = \"{form}\""
            );
            loans("vertical", &terms)
        });
        let rows = thesis_rows();
        let (expected, tape) = alone(&agreements[0], &view(&agreements[0], &rows, None), 3);
        let mut deltas = Vec::new();
        for agreement in &agreements {
            let [first, second] = both_views(agreement, &rows);
            let outcome = together(agreement, [&first, &second], TapeCoins::pair(&tape));
            let said = |tag: [u8; 4]| {
                outcome.transcripts.p1.iter().any(|(_, seen, _)| *seen == Tag::new(tag))
            };
            let by_transfers = terms(agreement).unwrap().count_table == Some(CountTable::Transfers);
            assert_eq!((said(*b"sums"), said(*b"ssp1")), (by_transfers, !by_transfers));
            for party in [outcome.p1.unwrap(), outcome.p2.unwrap()] {
                assert_equal(agreement, &party.release, &expected, 3);
            }
            deltas.push(delta(agreement));
        }
        // Shares of sums are exact: the masks' part of δ is gone.
        assert!(deltas[0] < deltas[1]);
    }
}

/// More than a hundred tables; each with the next of the terms.
#[test]
fn random_tables_are_released_as_by_one_party() {
    let mut rng = Randomness::seeded(11);
    let agreements: Vec<Agreement> =
        all_terms().iter().map(|terms| loans("vertical", terms)).collect();
    for round in 0..120u64 {
        let rows = random_rows(&mut rng);
        assert_same(&agreements[round as usize % agreements.len()], &rows, round);
    }
}

#[test]
fn only_common_individuals_count_and_their_order_does_not() {
    let agreement = loans("vertical", "epsilon = \"100\"\nspecializations = 1");
    let [first, second] = both_views(&agreement, &thesis_rows());
    // P1 has 1 to 7 backwards, P2 has 4 to 10.
    let first = first.select(&[6, 5, 4, 3, 2, 1, 0]);
    let second = second.select(&[3, 4, 5, 6, 7, 8, 9]);
    let mut rng = Randomness::seeded(12);
    let outcome = together(&agreement, [&first, &second], (rng.fork(), rng.fork()));
    let (p1, p2) = (outcome.p1.unwrap(), outcome.p2.unwrap());
    assert_release_forecast(
        &agreement,
        (&outcome.transcripts, &outcome.costs),
        [7, 7],
        4,
        p1.release.table.cuts.made(),
    );
    assert_eq!((p1.in_both, p2.in_both), (Some(4), Some(4)));
    assert_eq!(text(&p1.release), text(&p2.release));
    // At ε = 100 there is hardly any noise: three Y and one N among 4, 5, 6, 7.
    assert_eq!(p1.release.table.counts.iter().sum::<u64>(), 4);
}

#[test]
fn no_common_individual_is_a_normal_run_if_that_is_agreed() {
    let terms = "epsilon = \"1\"\nspecializations = 3\n[id]\nmin_common = 0";
    let agreement = loans("vertical", terms);
    let [first, second] = both_views(&agreement, &thesis_rows());
    let (first, second) = (first.select(&[0, 1]), second.select(&[7, 8]));
    let mut rng = Randomness::seeded(13);
    let outcome = together(&agreement, [&first, &second], (rng.fork(), rng.fork()));
    let (p1, p2) = (outcome.p1.unwrap(), outcome.p2.unwrap());
    assert_release_forecast(
        &agreement,
        (&outcome.transcripts, &outcome.costs),
        [2, 2],
        0,
        p1.release.table.cuts.made(),
    );
    assert_eq!(p1.in_both, Some(0));
    assert_eq!(text(&p1.release), text(&p2.release));
}

#[test]
fn class_columns_that_differ_end_the_run_on_both_sides() {
    let agreement = loans("vertical", "epsilon = \"1\"\nspecializations = 3");
    let rows = thesis_rows();
    let mut other = rows.clone();
    other[4].1 = "N";
    let first = view(&agreement, &rows, Some(Role::P1));
    let second = view(&agreement, &other, Some(Role::P2));
    let mut rng = Randomness::seeded(14);
    let outcome = together(&agreement, [&first, &second], (rng.fork(), rng.fork()));
    for party in [outcome.p1, outcome.p2] {
        let error = party.unwrap_err();
        assert_eq!(error.kind(), Kind::Disagreement);
        let words = "differ between the parties: compare how each side derived column `class`";
        assert!(error.message().contains(words), "{error}");
    }
}

#[test]
fn how_many_classes_differ_is_told_where_a_rehearsal_may_tell_it() {
    let terms = "epsilon = \"1\"\nspecializations = 3\n[id]\nrehearse = \"labels\"";
    let agreement = loans("vertical", terms);
    let rows = thesis_rows();
    let mut other = rows.clone();
    (other[4].1, other[1].1, other[9].1) = ("N", "Y", "N");
    let first = view(&agreement, &rows, Some(Role::P1));
    // The tenth person is not common.
    let second = view(&agreement, &other[..9], Some(Role::P2));
    let mut rng = Randomness::seeded(16);
    let outcome = together(&agreement, [&first, &second], (rng.fork(), rng.fork()));
    for party in [outcome.p1, outcome.p2] {
        let error = party.unwrap_err();
        assert_eq!(error.kind(), Kind::Disagreement);
        assert!(error.to_string().contains("differ between the parties for 2 people"), "{error}");
    }
}

#[test]
fn fewer_common_people_than_agreed_end_the_run_on_both_sides() {
    let rows = thesis_rows();
    for (line, common, ends) in [
        ("", 0, true),
        ("", 1, false),
        ("min_common = 0", 0, false),
        ("min_common = 4", 3, true),
        ("min_common = 4", 4, false),
    ] {
        let terms = format!("epsilon = \"1\"\nspecializations = 1\n[id]\n{line}");
        let agreement = loans("vertical", &terms);
        let [first, second] = both_views(&agreement, &rows);
        let first = first.select(&[0, 1, 2, 3, 4]);
        let second = second.select(&(5 - common..10).collect::<Vec<_>>());
        let mut rng = Randomness::seeded(17);
        let outcome = together(&agreement, [&first, &second], (rng.fork(), rng.fork()));
        for party in [outcome.p1, outcome.p2] {
            match party {
                Ok(made) => assert!(!ends && made.in_both == Some(common), "{line} {common}"),
                Err(error) => {
                    assert_eq!((ends, error.kind()), (true, Kind::Disagreement));
                    let asked = if line.is_empty() { 1 } else { 4 };
                    for words in [
                        format!("people {common} are also in the peer's data"),
                        format!("at least {asked} (`min_common` in [id])"),
                        "writes column `id`".to_owned(),
                    ] {
                        assert!(error.message().contains(&words), "{error}");
                    }
                }
            }
        }
    }
}

/// What both parties' rehearsals tell.
fn rehearsed(agreement: &Agreement, tables: [&Table; 2]) -> Ran<[usize; 3], [usize; 3]> {
    let party = |table: &Table, session: &mut Workspace| {
        let told = rehearsal::run(session, agreement, table, &|_| {}).unwrap();
        [told.peer_records, told.common, told.differing.unwrap_or(usize::MAX)]
    };
    let [first, second] = tables;
    run_workspaces(
        Setup::default(),
        |session| party(first, session),
        |session| party(second, session),
    )
}

#[test]
fn a_rehearsal_tells_sizes_how_many_are_common_and_how_many_labels_differ() {
    let rows = thesis_rows();
    let mut other = rows.clone();
    (other[4].1, other[6].1, other[9].1) = ("N", "N", "N");
    for (allowed, differing) in [("true", usize::MAX), ("\"labels\"", 2)] {
        let terms = format!("epsilon = \"1\"\nspecializations = 1\n[id]\nrehearse = {allowed}");
        let agreement = loans("vertical", &terms);
        let first = view(&agreement, &rows[..8], Some(Role::P1));
        let second = view(&agreement, &other[3..], Some(Role::P2));
        let outcome = rehearsed(&agreement, [&first, &second]);
        assert_eq!((outcome.p1, outcome.p2), ([7, 5, differing], [8, 5, differing]));
        assert_forecast(&outcome.transcripts, &outcome.costs, |forecast| {
            let (own, peer) = if forecast.role() == Role::P1 { (8, 7) } else { (7, 8) };
            rehearsal::forecast(forecast, &agreement, own, peer).unwrap();
        });
        // Who is common, and who has which label, changes no message.
        assert_same_shape(&[3, 0, 1], |offset| {
            let second = view(&agreement, &rows[*offset..*offset + 7], Some(Role::P2));
            rehearsed(&agreement, [&first, &second])
        });
    }
    let agreement = loans("vertical", "epsilon = \"1\"\nspecializations = 1");
    let table = view(&agreement, &rows, Some(Role::P1));
    let outcome = run_workspaces(
        Setup::default(),
        |session| rehearsal::run(session, &agreement, &table, &|_| {}).is_err(),
        |_| (),
    );
    assert!(outcome.p1, "nothing is counted that is not agreed");
}

/// Same identifiers, same outputs (the tape fixes the noise and ε is small enough for R to decide),
/// other values: what each party can count is the same.
#[test]
fn the_transcript_does_not_depend_on_values() {
    for terms in [
        "epsilon = \"0.001\"\nspecializations = 2",
        "epsilon = \"0.001\"\nspecializations = 2\nselection = \"permute-and-flip\"\n\
         noise = \"joint\"",
        "epsilon = \"0.001\"",
    ] {
        let agreement = loans("vertical", terms);
        let rows = thesis_rows();
        let mut turned = rows.clone();
        for (row, other) in turned.iter_mut().zip(rows.iter().rev()) {
            (row.1, row.2, row.3, row.4) = (other.1, other.2, other.3, other.4);
        }
        let (_, tape) = alone(&agreement, &view(&agreement, &rows, None), 5);
        assert_same_shape(&[rows, turned], |rows| {
            let [first, second] = both_views(&agreement, rows);
            together(&agreement, [&first, &second], TapeCoins::pair(&tape))
        });
    }
}

#[test]
fn a_table_that_would_take_too_long_is_refused_before_the_run() {
    let agreement = loans("vertical", "epsilon = \"1\"\nspecializations = 8");
    assert!(check_table(&agreement, 100_000_000).is_ok());
    let refused = check_table(&agreement, 1 << 40).unwrap_err();
    assert!(refused.to_string().contains("lower `specializations`"), "{refused}");
    let encrypted = "epsilon = \"1\"\nspecializations = 8\n[crypto]\ncount_table = \"paillier\"";
    assert!(check_table(&loans("vertical", encrypted), 1 << 40).is_ok());
}

#[test]
fn a_split_outside_its_interval_is_refused() {
    // The peer's message is checked by the cuts; here P2 owns the only numeric attribute and P1
    // is told a point that the interval does not have.
    let agreement = loans("vertical", "epsilon = \"1\"\nspecializations = 1");
    let mut cuts = Cuts::topmost(&agreement.schema);
    let candidate = named(&cuts, "[18..99]");
    for split in [0, 82, u32::MAX] {
        let made = Specialization { candidate, split: Some(split) };
        assert!(cuts.specialize(&made).is_err());
    }
}

#[test]
fn data_without_identifiers_is_refused_and_the_peer_is_told() {
    let agreement = loans("vertical", "epsilon = \"1\"\nspecializations = 1");
    let joined = view(&agreement, &thesis_rows(), None);
    let [_, second] = both_views(&agreement, &thesis_rows());
    let mut rng = Randomness::seeded(15);
    let outcome = together(&agreement, [&joined, &second], (rng.fork(), rng.fork()));
    let here = outcome.p1.unwrap_err();
    assert_eq!(here.kind(), Kind::Input);
    assert!(here.message().contains("read without identifiers"), "{here}");
    assert_eq!(outcome.p2.unwrap_err().kind(), Kind::Network);
}
