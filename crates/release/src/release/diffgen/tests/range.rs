//! The tree follows from the agreement: the same for any data, and in every form the release that one
//! party makes with the same noise.

use super::two_parties::{Row, alone, loans, random_rows, thesis_rows};
use super::{hidden, horizontal, one_class, vertical, *};
use crate::table::{Class, CutValue, Schema};
use std::sync::Arc;

const TERMS: &str = "epsilon = \"2\"\nspecializations = 4\nutility = \"range\"";

/// Four specializations, and a number that records decide on: a noisy one, and an expected one.
fn all_terms() -> Vec<String> {
    let auto = "epsilon = \"13\"\nutility = \"range\"".to_owned();
    let expected = format!("{auto}\nexpected_records = 20");
    vec![TERMS.to_owned(), format!("{TERMS}\nnoise = \"joint\""), auto, expected]
}

/// The same agreement without its class.
fn without_class(agreement: &Agreement) -> Agreement {
    let schema = Schema { class: Class::none(), ..Schema::clone(&agreement.schema) };
    let agreement = Agreement { schema: Arc::new(schema), ..agreement.clone() };
    Agreement::from_canonical(agreement.canonical().as_bytes()).unwrap()
}

fn in_words(cuts: &Cuts) -> Vec<String> {
    let words = |made: &Specialization| match (made.candidate.value, made.split) {
        (CutValue::Interval { start, end }, Some(split)) => format!("[{start}, {end}) at {split}"),
        _ => cuts.name(made.candidate),
    };
    cuts.made().iter().map(words).collect()
}

#[test]
fn the_widest_is_divided_first_and_an_interval_at_its_middle() {
    let terms = "epsilon = \"1\"\nspecializations = 7\nutility = \"range\"";
    let plan = Plan::new(&loans("vertical", terms)).unwrap();
    let all = ["Any_Job", "Any_Sex", "[0, 82) at 41", "Professional", "Artist"];
    let halves = ["[0, 41) at 20", "[41, 82) at 61"];
    let tree = plan.public_tree().unwrap();
    assert_eq!(in_words(&tree), [&all[..], &halves[..]].concat(), "P1's columns come first");
    let plan = Plan::new(&loans("horizontal", terms)).unwrap();
    let tree = in_words(&plan.public_tree().unwrap());
    assert_eq!(tree[..3], ["Any_Sex", "Any_Job", "[0, 82) at 41"], "in the agreement's order");
}

#[test]
fn the_tree_is_the_same_for_any_data_and_all_of_epsilon_goes_to_the_counts() {
    let mut rng = Randomness::seeded(7);
    for agreement in [loans("horizontal", TERMS), without_class(&loans("horizontal", TERMS))] {
        let plan = Plan::new(&agreement).unwrap();
        assert_eq!(&plan.epsilon_counts(), plan.epsilon().value());
        let public = plan.public_tree().unwrap();
        for seed in 0..10 {
            let table = horizontal::table_of(&agreement, &random_rows(&mut rng));
            let (release, _) = alone(&agreement, &table, seed);
            assert_eq!(release.table.cuts.made(), public.made());
            let spends: Vec<_> = release.spends.iter().map(|spend| spend.name.as_str()).collect();
            assert_eq!(spends, ["counts"]);
            let rows = public.leaves() as usize * agreement.schema.class.values.len();
            assert_eq!(release.table.counts.len(), rows);
        }
    }
}

#[test]
fn only_the_cuts_of_the_agreement_are_allowed() {
    let plan = Plan::new(&loans("horizontal", TERMS)).unwrap();
    let tree = plan.public_tree().unwrap();
    assert!(plan.allows(tree.made()).unwrap());
    assert!(!plan.allows(&tree.made()[..3]).unwrap(), "one is missing");
    let mut other = tree.made().to_vec();
    other[2].split = Some(40);
    assert!(!plan.allows(&other).unwrap(), "not the middle");
    other.swap(0, 1);
    assert!(!plan.allows(&other).unwrap(), "another order");
    let auto = Plan::new(&loans("horizontal", "epsilon = \"1\"\nutility = \"range\"")).unwrap();
    for specializations in 1..=auto.specializations() {
        let decided = auto.for_records(auto.records_for(specializations));
        assert!(auto.allows(decided.public_tree().unwrap().made()).unwrap());
    }
}

/// The thesis's rows and random ones; empty tables are among them.
fn tables() -> Vec<Vec<Row>> {
    let mut rng = Randomness::seeded(9);
    let random = (0..4).map(|_| random_rows(&mut rng));
    [thesis_rows(), Vec::new()].into_iter().chain(random).collect()
}

#[test]
fn two_parties_with_different_columns_release_what_one_would() {
    for terms in all_terms() {
        let both = loans("vertical", &format!("{terms}\n[id]\nmin_common = 0"));
        let none = without_class(&both);
        for (seed, rows) in (0..).zip(tables()) {
            vertical::assert_same(&both, &rows, seed);
            one_class::assert_same(&none, &rows, seed);
            for owner in ["p1", "p2"] {
                let of_class = format!("[id]\nmin_common = 0\n[class]\nowner = \"{owner}\"");
                let one = loans("vertical", &format!("{terms}\n{of_class}"));
                one_class::assert_same(&one, &rows, seed);
            }
        }
    }
}

#[test]
fn two_parties_with_different_people_release_what_one_would() {
    for terms in all_terms() {
        let labelled = loans("horizontal", &terms);
        for agreement in [without_class(&labelled), labelled] {
            for (seed, rows) in (0..).zip(tables()) {
                horizontal::assert_same(&agreement, &rows, rows.len() / 3, seed);
            }
        }
    }
}

#[test]
fn two_parties_of_whom_nobody_learns_who_is_common_release_what_one_would() {
    let rows = thesis_rows();
    let all: Vec<usize> = (0..rows.len()).collect();
    let auto = "epsilon = \"13\"\nutility = \"range\"";
    // With one specialization P1 alone has more than one cell.
    let one = "epsilon = \"2\"\nspecializations = 1\nutility = \"range\"";
    for (seed, terms) in
        (0..).zip([one, "epsilon = \"2\"\nspecializations = 4\nutility = \"range\"", auto])
    {
        for (owner, pad_to) in [("p1", None), ("p2", Some(45))] {
            let labelled = hidden::hidden_loans(owner, pad_to, terms);
            for agreement in [without_class(&labelled), labelled] {
                hidden::assert_same(&agreement, &rows, [&all[..7], &all[3..]], hidden::QUICK, seed);
                hidden::assert_same(&agreement, &rows, [&all[..4], &all[4..]], hidden::QUICK, seed);
            }
        }
    }
}
