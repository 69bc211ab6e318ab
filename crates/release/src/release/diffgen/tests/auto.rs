//! A number of specializations that nobody agreed on: the rule, what it costs, and what is said of it.

use super::*;
use crate::release::diffgen::outlook::outlook;
use crate::release::diffgen::plan::MOST_AUTO;

const NUMBERS: &str = "[[attribute]]\nname = \"a\"\nkind = \"numeric\"\nmin = 0\nmax = 999\nstep = 1\n\
    [[attribute]]\nname = \"b\"\nkind = \"numeric\"\nmin = 0\nmax = 999\nstep = 1\n";

fn auto(terms: &str, classes: &str, attributes: &str) -> Agreement {
    agreement(
        &format!("{terms}\nstructure_share = \"0.7\"\nutility = \"leaf-max\""),
        classes,
        attributes,
    )
}

/// 10·2^h/(0.3·ε) for the leaves and 200·h/(0.7·ε) for the choices, the latter beyond log2 classes.
#[test]
fn more_records_bear_more_specializations() {
    let two = Plan::new(&auto("epsilon = \"1\"", "\"Y\", \"N\"", NUMBERS)).unwrap();
    let least: Vec<u64> =
        (1..=MOST_AUTO).map(|h| two.least_records(h).try_into().unwrap()).collect();
    assert_eq!(least, [67, 572, 858, 1143, 1429, 2134, 4267]);
    assert_eq!((two.specializations(), two.fewest()), (7, 1), "until it is decided");
    for (records, suited) in [(i64::MIN, 1), (571, 1), (572, 2), (4266, 6), (i64::MAX, 7)] {
        assert_eq!(two.for_records(records).specializations(), suited);
    }
    for h in 1..=MOST_AUTO {
        assert_eq!(two.for_records(two.records_for(h)).specializations(), h);
    }
    let six = "\"1\", \"2\", \"3\", \"4\", \"5\", \"6\"";
    let six = Plan::new(&auto("epsilon = \"0.5\"", six, NUMBERS)).unwrap();
    let least: Vec<u64> = (1..=4).map(|h| six.least_records(h).try_into().unwrap()).collect();
    assert_eq!(least, [134, 267, 534, 2286], "three specializations for six classes");
}

#[test]
fn a_noisy_number_is_paid_first_and_an_expected_one_is_not() {
    let row = |index: usize| format!("{},{},{}\n", index % 997, index % 31, ["Y", "N"][index % 2]);
    let csv = "a,b,class\n".to_owned() + &(0..3000).map(row).collect::<String>();
    let mut rng = Randomness::seeded(5);
    for (terms, first) in [("", Some("1/50")), ("\nexpected_records = 900", None)] {
        let terms = format!("epsilon = \"1\"{terms}");
        let agreement = auto(&terms, "\"Y\", \"N\"", NUMBERS);
        let table = table(&agreement, &csv);
        let release = release(&agreement, &table, budget(&agreement), &mut rng, &|_| {}).unwrap();
        let records = release.spends.iter().find(|entry| entry.name == RECORDS);
        assert_eq!(records.map(|entry| entry.epsilon.to_string()).as_deref(), first);
        assert_eq!(release.spends[0].name == RECORDS, first.is_some());
        assert_eq!(spent(&release), Rational::whole(1u32));
        // 3,000 ± 71 are for 6, and 900 for 3.
        let made = release.table.cuts.made().len();
        assert_eq!(made, if first.is_some() { 6 } else { 3 });
    }
}

#[test]
fn values_that_would_make_too_many_leaves_wait_until_there_are_no_others() {
    let many: Vec<String> = (0..40).map(|value| format!("\"v{value}\"")).collect();
    let wide = format!(
        "[[attribute]]\nname = \"w\"\nkind = \"categorical\"\ntaxonomy = {{ W = [{}] }}\n\
         [[attribute]]\nname = \"b\"\nkind = \"categorical\"\ntaxonomy = {{ B = [\"x\", \"y\"] }}\n",
        many.join(", ")
    );
    let plan = Plan::new(&auto("epsilon = \"1\"", "\"Y\", \"N\"", &wide)).unwrap();
    assert_eq!(plan.specializations(), 2, "more are not possible");
    let decided = plan.for_records(1_000_000);
    let mut cuts = Cuts::topmost(decided.schema());
    let names = |cuts: &Cuts| -> Vec<String> {
        decided.candidates(cuts).iter().map(|candidate| cuts.name(*candidate)).collect()
    };
    assert_eq!(names(&cuts), ["B"]);
    cuts.specialize(&Specialization { candidate: named(&cuts, "B"), split: None }).unwrap();
    assert_eq!(names(&cuts), ["W"]);
    let given = auto("epsilon = \"1\"\nspecializations = 2", "\"Y\", \"N\"", &wide);
    let all = Plan::new(&given).unwrap().candidates(&Cuts::topmost(&given.schema));
    assert_eq!(all.len(), 2, "an agreed number leaves nothing out");
}

/// Fourteen values and four classes, as `hpc_data` of docs/experiments/small-tables.md has them.
#[test]
fn a_value_with_many_children_is_a_candidate_where_records_are_enough_for_them() {
    let flat = |name: &str, count: usize| {
        let values: Vec<String> = (0..count).map(|value| format!("\"{name}{value}\"")).collect();
        format!(
            "[[attribute]]\nname = \"{name}\"\nkind = \"categorical\"\n\
             taxonomy = {{ any_{name} = [{}] }}\n",
            values.join(", ")
        )
    };
    let attributes = [flat("p", 2), flat("w", 14), flat("x", 26), NUMBERS.to_owned()].concat();
    let first = |classes: &str, records| -> Vec<String> {
        let plan = Plan::new(&auto("epsilon = \"0.1\"", classes, &attributes)).unwrap();
        let (plan, cuts) = (plan.for_records(records), Cuts::topmost(plan.schema()));
        let candidates = plan.candidates(&cuts);
        candidates
            .iter()
            .filter_map(|c| cuts.name(*c).strip_prefix("any_").map(String::from))
            .collect()
    };
    let four = "\"VF\", \"F\", \"M\", \"L\"";
    // Two specializations up to 8,571 records, which fill 25 leaves; with one fewer than 1,333 fill four.
    assert_eq!(first(four, 2_887), ["p", "w"]);
    assert_eq!(first(four, 8_572), ["p", "w", "x"]);
    assert_eq!(first(four, 1_000), ["p"]);
    // One up to 5,714, which fill 17.
    assert_eq!(first("\"Y\", \"N\"", 2_887), ["p", "w"]);
}

#[test]
fn what_to_expect_is_said_and_noise_is_warned_of() {
    let said = |terms: &str, records| {
        let agreement = auto(&format!("epsilon = {terms}"), "\"Y\", \"N\"", NUMBERS);
        outlook(&agreement, records).unwrap().join("\n")
    };
    let auto = said("\"1\"", None);
    assert!(auto.contains("1 for the smallest tables, 2 from 572, 3 from 858"), "{auto}");
    assert!(auto.contains("about ± 4.8 people"), "√2 by 0.294, of what the number leaves: {auto}");
    let expected = said("\"1\"\nexpected_records = 900", None);
    assert!(expected.contains("Specializations: 3, as suits the 900 records"), "{expected}");
    let given = said("\"0.1\"\nspecializations = 7", Some(1000));
    assert!(given.contains("ATTENTION: most rows will be noise. 1000 records"), "{given}");
    let enough = said("\"0.1\"\nspecializations = 7", Some(100_000));
    assert!(!enough.contains("ATTENTION") && enough.contains("People in a row"), "{enough}");
    assert!(said("\"0.1\"\nspecializations = 7", None).contains("With fewer than about"));
}

#[test]
fn how_many_columns_stay_undivided_is_said_in_advance() {
    let column = |number: usize| {
        format!(
            "[[attribute]]\nname = \"c{number}\"\nkind = \"numeric\"\nmin = 0\nmax = 9\nstep = 1\n"
        )
    };
    let nine: String = (0..9).map(column).collect();
    let said = |terms: &str| {
        let agreement = auto(&format!("epsilon = \"1\"\n{terms}"), "\"Y\", \"N\"", &nine);
        outlook(&agreement, None).unwrap().join("\n")
    };
    let one = said("specializations = 1");
    assert!(one.contains("about 8 of 9 columns will not be divided"), "{one}");
    let two = said("specializations = 2");
    assert!(two.contains("about 7 of 9 columns will not be divided"), "{two}");
    let open = said("");
    assert!(open.contains(" to 8 of 9 columns will not be divided"), "{open}");
    let all = auto("epsilon = \"1\"\nspecializations = 7", "\"Y\", \"N\"", NUMBERS);
    let all = outlook(&all, None).unwrap().join("\n");
    assert!(!all.contains("will not be divided"), "two columns and seven steps: {all}");
}
