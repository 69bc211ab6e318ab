//! What spares people typing: built-in taxonomies, trees that grow from lists, open ends.

use super::*;
use crate::agreement::taxonomies::balanced;
use crate::table::{Taxonomy, TaxonomyBuilder};
use proptest::prelude::*;

const SEX: &str = "taxonomy = { Any_Sex = [\"Male\", \"Female\"] }";

fn flat(leaves: usize) -> Taxonomy {
    let mut builder = TaxonomyBuilder::new();
    builder.open("Any").unwrap();
    (0..leaves).for_each(|leaf| builder.leaf(&format!("v{leaf}")).unwrap());
    builder.finish().unwrap()
}

#[test]
fn a_builtin_taxonomy_is_the_same_as_its_values_written_out() {
    let built_in = with(LOANS, SEX, "taxonomy = \"builtin:sex/name\"");
    let written = with(LOANS, SEX, "taxonomy = { Any_Sex = [\"Female\", \"Male\"] }");
    let [built_in, written] = [built_in, written].map(|text| parse(&text).unwrap());
    assert_eq!(built_in.canonical(), written.canonical());
    let wrong = with(LOANS, SEX, "taxonomy = \"builtin:sx\"");
    assert_refused(
        &wrong,
        Rule::Taxonomy,
        &[
            "`taxonomy` in attribute `sex` cannot be \"builtin:sx\"",
            "did you mean \"builtin:sex\"?",
        ],
    );
    assert_refused(&with(LOANS, SEX, "taxonomy = \"x\""), Rule::Taxonomy, &["builtin:countries"]);
    assert_refused(&with(LOANS, SEX, ""), Rule::MissingKey, &["ARX hierarchy files"]);
}

#[test]
fn a_flat_list_grows_a_tree_where_the_agreement_asks_for_it() {
    let list = "taxonomy = { Any = [\"a\", \"b\", \"c\", \"d\", \"e\"] }";
    let grown = with(LOANS, SEX, &format!("{list}\nbranches = 2"));
    let written = "taxonomy.Any = { \"a … b\" = [\"a\", \"b\"], \
                   \"c … e\" = [\"c\", { \"d … e\" = [\"d\", \"e\"] }] }";
    let written = with(LOANS, SEX, written);
    assert_eq!(parse(&grown).unwrap().canonical(), parse(&written).unwrap().canonical());
    for (branches, rule, part) in
        [("1", Rule::OutOfRange, "from 2 to 64"), ("\"2\"", Rule::WrongType, "without quotes")]
    {
        let text = with(LOANS, SEX, &format!("{list}\nbranches = {branches}"));
        assert_refused(&text, rule, &["`branches` in attribute `sex`", part]);
    }
    let deep =
        with(LOANS, "taxonomy_file = \"job.csv\"", "taxonomy_file = \"job.csv\"\nbranches = 3");
    assert_refused(&deep, Rule::DoesNotApply, &["has levels of its own", "remove `branches`"]);
    let number = with(LOANS, "step = 1", "step = 1\nbranches = 3");
    assert_refused(&number, Rule::DoesNotApply, &["`branches` in attribute `salary`"]);
    let clash = with(LOANS, SEX, "taxonomy = { Any = [\"a\", \"b\", \"a … b\"] }\nbranches = 2");
    assert!(parse(&clash).is_ok(), "[a], [b, a … b] has no such group");
    let clash =
        with(LOANS, SEX, "taxonomy = { Any = [\"a\", \"b\", \"c\", \"a … b\"] }\nbranches = 2");
    assert_refused(&clash, Rule::Taxonomy, &["`a … b` is in the taxonomy twice"]);
}

#[test]
fn every_open_end_is_named_with_its_place_and_nothing_is_missed_twice() {
    let text = with(LOANS, "epsilon = \"1.0\"", "epsilon = \"TODO: how much may be spent\"");
    let text = with(&text, SEX, "taxonomy = \"TODO\"");
    let text = with(&text, "values = [\"Y\", \"N\"]", "values = \"TODO: list them\"");
    let problems = parse(&text).unwrap_err();
    let shown = problems.to_string();
    assert!(problems.iter().all(|problem| problem.rule == Rule::ToDo), "{shown}");
    assert_eq!(problems.count(), 3, "{shown}");
    for part in [
        "a.toml:8:11: `epsilon` in [release] is still to be filled in\n  how much may be spent",
        "`values` in [class] is still to be filled in\n  list them",
        "`taxonomy` in attribute `sex` is still to be filled in",
    ] {
        assert!(shown.contains(part), "{part:?} is not in\n{shown}");
    }
}

proptest! {
    #[test]
    fn a_balanced_tree_keeps_the_leaves_and_no_value_has_too_many_below_it(
        leaves in 1_usize..400, branches in 2_usize..20,
    ) {
        let flat = flat(leaves);
        let tree = balanced(&flat, branches).unwrap();
        let names = |tree: &Taxonomy| -> Vec<String> {
            tree.leaves().iter().map(|leaf| tree.name(*leaf).to_owned()).collect()
        };
        prop_assert_eq!(names(&tree), names(&flat));
        let depths: Vec<usize> = tree.leaves().iter().map(|leaf| tree.depth(*leaf)).collect();
        prop_assert!(depths.iter().max().unwrap() - depths.iter().min().unwrap() <= 1);
        for value in tree.values() {
            let children = tree.children(value).count();
            prop_assert!(children <= branches && (children != 1 || leaves == 1));
        }
    }
}
