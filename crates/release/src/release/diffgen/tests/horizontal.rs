//! Two parties with different records against one that has them all.

use super::two_parties::{
    Party, Row, alone, assert_equal, assert_release_forecast, auto_terms, loans, random_rows,
    thesis_rows, together,
};
use super::*;
use crate::protocol::coins::{Coins, TapeCoins};
use crate::protocol::pair::{Outcome as Ran, assert_same_shape};

pub fn table_of(agreement: &Agreement, rows: &[Row]) -> Table {
    let row = |(id, class, job, sex, salary): &Row| format!("{id},{class},{job},{sex},{salary}\n");
    let header = std::iter::once("id,class,job,sex,salary\n".to_owned());
    let csv: String = header.chain(rows.iter().map(row)).collect();
    let reading = Reading {
        schema: &agreement.schema,
        owner: None,
        identifier: agreement.identifier(),
        max_records: agreement.max_records,
    };
    parse_csv("rows.csv", csv.as_bytes(), &reading, &|_| {}).unwrap()
}

fn of_rows<C: Coins + Send + 'static>(
    agreement: &Agreement,
    rows: [&[Row]; 2],
    coins: (C, C),
) -> Ran<Party, Party> {
    let tables = rows.map(|rows| table_of(agreement, rows));
    together(agreement, [&tables[0], &tables[1]], coins)
}

/// Terms with both utilities, selections and noises.
pub fn all_terms() -> Vec<String> {
    let mut terms = Vec::new();
    for (utility, selection) in [
        ("max", "permute-and-flip"),
        ("leaf-max", "permute-and-flip"),
        ("max", "exponential\"\ntaylor_digits = 3\ntaylor_degree = 4\n#\""),
    ] {
        for noise in ["two-party", "joint"] {
            terms.push(format!(
                "epsilon = \"2\"\nspecializations = 4\nutility = \"{utility}\"\n\
                 selection = \"{selection}\"\nnoise = \"{noise}\""
            ));
        }
    }
    terms.push(
        "epsilon = \"2\"\nspecializations = 3\nprofile = \"paper\"\ntaylor_degree = 3".to_owned(),
    );
    terms.extend(auto_terms());
    terms
}

pub fn assert_same(agreement: &Agreement, rows: &[Row], first: usize, seed: u64) {
    let (expected, tape) = alone(agreement, &table_of(agreement, rows), seed);
    let (first, second) = rows.split_at(first.min(rows.len()));
    let outcome = of_rows(agreement, [first, second], TapeCoins::pair(&tape));
    assert_release_forecast(
        agreement,
        (&outcome.transcripts, &outcome.costs),
        [first.len(), second.len()],
        0,
        expected.table.cuts.made(),
    );
    for party in [outcome.p1, outcome.p2] {
        let party = party.unwrap();
        assert_equal(agreement, &party.release, &expected, seed);
        assert_eq!(party.in_both, None);
    }
}

#[test]
fn table_7_1_of_the_thesis_is_released_as_by_one_party() {
    for (seed, terms) in all_terms().iter().enumerate() {
        assert_same(&loans("horizontal", terms), &thesis_rows(), 5, seed as u64);
    }
}

/// About a hundred tables, split anywhere; each with the next of the terms.
#[test]
fn random_tables_are_released_as_by_one_party() {
    let mut rng = Randomness::seeded(21);
    let agreements: Vec<Agreement> =
        all_terms().iter().map(|terms| loans("horizontal", terms)).collect();
    for round in 0..93u64 {
        let rows = random_rows(&mut rng);
        let agreement = &agreements[round as usize % agreements.len()];
        assert_same(agreement, &rows, round as usize % 31, round);
    }
}

#[test]
fn the_overlap_is_counted_if_that_is_agreed() {
    let terms = "epsilon = \"1\"\nspecializations = 1\noverlap_check = true";
    let agreement = loans("horizontal", terms);
    let rows = thesis_rows();
    let mut rng = Randomness::seeded(22);
    let outcome = of_rows(&agreement, [&rows[..6], &rows[4..]], (rng.fork(), rng.fork()));
    let p1 = outcome.p1.unwrap();
    assert_release_forecast(
        &agreement,
        (&outcome.transcripts, &outcome.costs),
        [6, 6],
        2,
        p1.release.table.cuts.made(),
    );
    assert_eq!(p1.in_both, Some(2));
    assert_eq!(outcome.p2.unwrap().in_both, Some(2));
}

/// Other records, and other numbers of them, under the same decisions: the same messages.
#[test]
fn the_transcript_does_not_depend_on_records_or_how_many_there_are() {
    for terms in [
        "epsilon = \"0.001\"\nspecializations = 2\nutility = \"leaf-max\"\nnoise = \"joint\"",
        "epsilon = \"0.001\"\nspecializations = 2",
        // A noisy number of records is opened too.
        "epsilon = \"0.001\"",
    ] {
        let agreement = loans("horizontal", terms);
        let rows = thesis_rows();
        let (_, tape) = alone(&agreement, &table_of(&agreement, &rows), 5);
        let splits: [[&[Row]; 2]; 4] = [
            [&rows[..5], &rows[5..]],
            [&rows[5..], &rows[..5]],
            [&[], &rows[..]],
            [&rows[..3], &rows[4..5]],
        ];
        assert_same_shape(&splits, |split| of_rows(&agreement, *split, TapeCoins::pair(&tape)));
    }
}

#[test]
fn a_polynomial_that_does_not_fit_the_key_is_refused_before_anything_is_sent() {
    let terms = "epsilon = \"1\"\nspecializations = 2\nselection = \"exponential\"\n\
                 taylor_digits = 18\ntaylor_degree = 64";
    let agreement = loans("horizontal", terms);
    let rows = thesis_rows();
    let mut rng = Randomness::seeded(23);
    let outcome = of_rows(&agreement, [&rows, &[]], (rng.fork(), rng.fork()));
    let error = outcome.p1.unwrap_err().to_string();
    assert!(error.contains("lower `taylor_degree`"), "{error}");
    assert!(outcome.p2.is_err());
}

/// Thesis, table 5.2: blood transfusions. Party A has records 1 to 3; B and C are one party here.
#[test]
fn table_5_2_of_the_thesis_is_released_as_by_one_party() {
    let transfusions = "job,sex,age,class\nJanitor,M,34,Y\nLawyer,F,58,N\nMover,M,58,N\n\
        Lawyer,M,24,N\nMover,M,34,Y\nJanitor,M,44,Y\nDoctor,F,44,N\nDoctor,M,58,N\n\
        Doctor,M,24,N\nCarpenter,F,63,Y\nTechnician,F,63,Y\n";
    let people = "[parties.p1]\nname = \"A\"\nfingerprint = \"sha256:P\"\n[parties.p2]\nname = \
        \"B\"\nfingerprint = \"sha256:Q\"\n";
    let people = people.replace('P', &"1".repeat(64)).replace('Q', &"2".repeat(64));
    for terms in ["", "utility = \"leaf-max\"", "noise = \"two-party\"", "profile = \"paper\""] {
        let text = format!(
            "[release]\nid = \"blood\"\npartition = \"horizontal\"\nepsilon = \"1\"\n\
             specializations = 4\nmax_records = 20\n{terms}\n{people}\
             [class]\ncolumn = \"class\"\nvalues = [\"Y\", \"N\"]\n\
             [[attribute]]\nname = \"job\"\nkind = \"categorical\"\ntaxonomy = {{ ANY_Job = \
             {{ Blue-collar = {{ Non-Technical = [\"Janitor\", \"Mover\"], Technical = \
             [\"Carpenter\", \"Technician\"] }}, White-collar = {{ Professional = [\"Lawyer\", \
             \"Doctor\"] }} }} }}\n\
             [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\ntaxonomy = {{ ANY_Sex = \
             [\"M\", \"F\"] }}\n\
             [[attribute]]\nname = \"age\"\nkind = \"numeric\"\nmin = 1\nmax = 99\nstep = 1\n"
        );
        let agreement =
            Agreement::parse("blood.toml", text.as_bytes(), &|_| Err("no files here".to_owned()))
                .unwrap_or_else(|error| panic!("{error}\n{text}"));
        let all = table(&agreement, transfusions);
        let (expected, tape) = alone(&agreement, &all, 7);
        let parts = [all.select(&[0, 1, 2]), all.select(&[3, 4, 5, 6, 7, 8, 9, 10])];
        let outcome = together(&agreement, [&parts[0], &parts[1]], TapeCoins::pair(&tape));
        for party in [outcome.p1.unwrap(), outcome.p2.unwrap()] {
            assert_equal(&agreement, &party.release, &expected, 7);
        }
    }
}
