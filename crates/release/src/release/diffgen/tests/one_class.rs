//! One party has the class: the same decisions give the release that one party makes of everything.

use super::two_parties::{
    Row, alone, assert_equal, assert_release_forecast, loans, random_rows, thesis_rows, together,
};
use super::*;
use crate::error::Kind;
use crate::protocol::coins::TapeCoins;
use crate::protocol::pair::assert_same_shape;
use crate::release::diffgen::forecast::check_table;
use crate::release::diffgen::sizes::Sizes;
use crate::role::Role;

/// A party's view of the rows, with the class if it is its own; `owner` none is the joined table.
pub fn view(agreement: &Agreement, rows: &[Row], owner: Option<Role>) -> Table {
    let labelled = owner.is_none() || owner == agreement.schema.class.owner;
    let own = |(id, class, job, sex, salary): &Row| {
        let columns = match owner {
            None => format!("{job},{sex},{salary}"),
            Some(Role::P1) => job.to_string(),
            Some(Role::P2) => format!("{sex},{salary}"),
        };
        if labelled { format!("{id},{columns},{class}\n") } else { format!("{id},{columns}\n") }
    };
    let columns = match owner {
        None => "job,sex,salary",
        Some(Role::P1) => "job",
        Some(Role::P2) => "sex,salary",
    };
    let class = if labelled { ",class" } else { "" };
    let header = format!("id,{columns}{class}\n");
    let csv: String = std::iter::once(header).chain(rows.iter().map(own)).collect();
    let reading = Reading {
        schema: &agreement.schema,
        owner,
        identifier: owner.and(agreement.identifier()),
        max_records: agreement.max_records,
    };
    parse_csv("rows.csv", csv.as_bytes(), &reading, &|_| {}).unwrap()
}

fn both_views(agreement: &Agreement, rows: &[Row]) -> [Table; 2] {
    Role::BOTH.map(|owner| view(agreement, rows, Some(owner)))
}

/// The loans with the class at one party; P2 has the numbers.
fn loans_of(owner: &str, terms: &str) -> Agreement {
    loans("vertical", &format!("{terms}\n[id]\nmin_common = 0\n[class]\nowner = \"{owner}\""))
}

/// Both owners with both utilities and both noises.
fn agreements(terms: &str) -> Vec<Agreement> {
    let mut agreements = Vec::new();
    for owner in ["p1", "p2"] {
        for choices in [["max", "two-party"], ["max", "joint"], ["leaf-max", "joint"]] {
            let [utility, noise] = choices;
            let terms = format!("{terms}\nutility = \"{utility}\"\nnoise = \"{noise}\"");
            agreements.push(loans_of(owner, &terms));
        }
    }
    agreements
}

pub fn assert_same(agreement: &Agreement, rows: &[Row], seed: u64) {
    let (expected, tape) = alone(agreement, &view(agreement, rows, None), seed);
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
fn table_7_1_of_the_thesis_is_released_as_by_one_party_whoever_has_the_class() {
    for (seed, agreement) in agreements("epsilon = \"2\"\nspecializations = 4").iter().enumerate() {
        for round in 0..3 {
            assert_same(agreement, &thesis_rows(), 10 * round + seed as u64);
        }
    }
}

/// Each with the next of the agreements; empty tables are among them.
#[test]
fn random_tables_are_released_as_by_one_party() {
    let mut rng = Randomness::seeded(31);
    let agreements = [
        agreements("epsilon = \"2\"\nspecializations = 4"),
        agreements("epsilon = \"40\"\nspecializations = 6\nstructure_share = \"0.9\""),
        agreements("epsilon = \"13\""), // a noisy number of records decides
    ]
    .concat();
    for round in 0..60u64 {
        let rows = random_rows(&mut rng);
        assert_same(&agreements[round as usize % agreements.len()], &rows, round);
    }
}

#[test]
fn only_common_individuals_count_and_their_order_does_not() {
    for owner in ["p1", "p2"] {
        let agreement = loans_of(owner, "epsilon = \"100\"\nspecializations = 1");
        let [first, second] = both_views(&agreement, &thesis_rows());
        // P1 has 1 to 7 backwards, P2 has 4 to 10.
        let first = first.select(&[6, 5, 4, 3, 2, 1, 0]);
        let second = second.select(&[3, 4, 5, 6, 7, 8, 9]);
        let mut rng = Randomness::seeded(12);
        let outcome = together(&agreement, [&first, &second], (rng.fork(), rng.fork()));
        let (p1, p2) = (outcome.p1.unwrap(), outcome.p2.unwrap());
        assert_eq!((p1.in_both, p2.in_both), (Some(4), Some(4)));
        assert_eq!(text(&p1.release), text(&p2.release));
        // At ε = 100 there is hardly any noise: three Y and one N among 4, 5, 6, 7.
        let counts = &p1.release.table.counts;
        let of_class = |class: usize| counts.iter().skip(class).step_by(2).sum::<u64>();
        assert_eq!([0, 1].map(of_class), [3u64, 1], "{owner}");
    }
}

/// Other values, other labels and other people in the same numbers, under the same decisions: each
/// party sends and gets messages of the same lengths.
#[test]
fn the_transcript_does_not_depend_on_values_or_labels() {
    for (owner, utility) in [("p1", "max"), ("p2", "max"), ("p1", "leaf-max"), ("p2", "leaf-max")] {
        let terms = "epsilon = \"0.001\"\nspecializations = 2";
        let agreement = loans_of(owner, &format!("{terms}\nutility = \"{utility}\""));
        let rows = thesis_rows();
        let mut turned = rows.clone();
        for (row, other) in turned.iter_mut().zip(rows.iter().rev()) {
            (row.2, row.3, row.4) = (other.2, other.3, other.4);
        }
        let mut relabelled = rows.clone();
        relabelled.iter_mut().for_each(|row| row.1 = "N");
        let (_, tape) = alone(&agreement, &view(&agreement, &rows, None), 5);
        assert_same_shape(&[rows, turned, relabelled], |rows| {
            let [first, second] = both_views(&agreement, rows);
            together(&agreement, [&first, &second], TapeCoins::pair(&tape))
        });
    }
}

#[test]
fn a_column_that_the_agreement_gives_a_party_must_be_there() {
    let agreement = loans_of("p1", "epsilon = \"1\"\nspecializations = 1");
    let [first, second] = both_views(&agreement, &thesis_rows());
    let columns = vec![second.column(0).cloned(), None, None];
    let names = second.identifiers().map(<[String]>::to_vec);
    let second = Table::new(columns, second.classes().to_vec(), names).unwrap();
    let mut rng = Randomness::seeded(14);
    let outcome = together(&agreement, [&first, &second], (rng.fork(), rng.fork()));
    let error = outcome.p2.unwrap_err();
    assert!(error.to_string().contains("salary"), "{error}");
    assert_eq!(outcome.p1.unwrap_err().kind(), Kind::Network);
}

#[test]
fn splits_that_are_drawn_together_count_in_delta() {
    let digits = |owner: &str| {
        let agreement = loans_of(owner, "epsilon = \"1\"\nspecializations = 2");
        let plan = Plan::new(&agreement).unwrap();
        let together: Vec<bool> = (0..3).map(|attribute| plan.scores_together(attribute)).collect();
        (together, Sizes::of(&agreement, &plan).unwrap().widths.delta)
    };
    // Sex, job, salary: P2 has the first and the last.
    let (at_p1, with_splits) = digits("p1");
    let (at_p2, without) = digits("p2");
    assert_eq!((at_p1, at_p2), (vec![true, false, true], vec![false, true, false]));
    assert!(with_splits != without, "82 points more are chosen among, several times");
}

#[test]
fn histograms_that_would_take_too_long_are_refused_before_the_run() {
    let agreement = loans_of("p1", "epsilon = \"1\"\nspecializations = 1");
    assert!(check_table(&agreement, 10_000_000).is_ok());
    let refused = check_table(&agreement, 1 << 36).unwrap_err();
    assert!(refused.to_string().contains("fewer leaves"), "{refused}");
    // Counting in leaves takes longer, if there are many.
    let leaf_max = loans_of("p1", "epsilon = \"1\"\nspecializations = 40");
    let refused = check_table(&leaf_max, 10_000_000_000).unwrap_err();
    assert!(refused.to_string().contains("use utility = \"max\""), "{refused}");
}
