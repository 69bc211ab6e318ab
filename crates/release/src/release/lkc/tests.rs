mod two_parties;

use super::*;
use crate::release::examine;
use crate::release::tree::output::{Rows, write_csv};
use crate::table::{Reading, parse_csv};
use proptest::prelude::*;

fn text(l: u32, k: u64, c: &str, score: Score) -> String {
    format!(
        "[release]\nid = \"x\"\npartition = \"local\"\nmodel = \"lkc\"\nmax_records = 200\n[lkc]\n\
         acknowledge = \"not differentially private\"\nl = {l}\nk = {k}\nc = \"{c}\"\n\
         score = \"{}\"\nsensitive = \"ill\"\nprotect = [\"flu\", \"cold\"]\n\
         [class]\ncolumn = \"class\"\nvalues = [\"Y\", \"N\"]\n\
         [[attribute]]\nname = \"job\"\nkind = \"categorical\"\n\
         taxonomy = {{ Any = {{ A = [\"a1\", \"a2\"], B = [\"b1\", \"b2\", \"b3\"] }} }}\n\
         [[attribute]]\nname = \"age\"\nkind = \"numeric\"\nmin = 0\nmax = 20\nstep = 1\n\
         [[attribute]]\nname = \"sex\"\nkind = \"categorical\"\ntaxonomy = {{ All = [\"m\", \"f\"] }}\n\
         [[attribute]]\nname = \"ill\"\nkind = \"categorical\"\n\
         taxonomy = {{ Ill = [\"flu\", \"cold\", \"none\"] }}\n",
        score.word()
    )
}

fn agreement(l: u32, k: u64, c: &str, score: Score) -> Agreement {
    let text = text(l, k, c, score);
    Agreement::parse("a.toml", text.as_bytes(), &|_| Err(String::new())).unwrap()
}

type Row = (usize, u32, usize, usize, usize);

fn csv(rows: &[Row]) -> String {
    let mut csv = "job,age,sex,ill,class\n".to_owned();
    for (job, age, sex, ill, class) in rows {
        let job = ["a1", "a2", "b1", "b2", "b3"][*job];
        let (sex, ill) = (["m", "f"][*sex], ["flu", "cold", "none", "none"][*ill]);
        csv += &format!("{job},{age},{sex},{ill},{}\n", ["Y", "N"][*class]);
    }
    csv
}

fn table(agreement: &Agreement, rows: &[Row]) -> Table {
    let csv = csv(rows);
    let reading =
        Reading { schema: &agreement.schema, owner: None, identifier: None, max_records: 200 };
    parse_csv("t.csv", csv.as_bytes(), &reading, &|_| ()).unwrap()
}

fn terms(agreement: &Agreement) -> &Terms {
    match &agreement.model {
        crate::agreement::Model::Syntactic(terms) => terms,
        _ => panic!("another model"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]
    #[test]
    fn what_comes_out_is_as_required_and_nothing_valid_is_left(
        rows in prop::collection::vec((0usize..5, 0u32..21, 0usize..2, 0usize..4, 0usize..2), 1..120),
        l in 1u32..4, k in 2u64..6, c in prop::sample::select(vec!["1", "0.5", "0.34"]),
        score in 0usize..5,
    ) {
        let agreement = agreement(l, k, c, Score::ALL[score].1);
        let table = table(&agreement, &rows);
        let Ok(made) = specialize(&agreement.schema, terms(&agreement), &table) else {
            return Ok(());
        };
        for candidate in made.cuts.candidates(terms(&agreement).quasi(&agreement.schema)) {
            if let Some(left) = made.scored(candidate)? {
                let after = made.extremes_after(&left.made)?;
                prop_assert!(after.iter().flatten().any(|extremes| extremes.offender.is_some()));
            }
        }
        let mut csv = Vec::new();
        write_csv(&made.into_table()?, Rows::All, &mut csv)?;
        let seen = examine::released(&agreement, csv.as_slice())?;
        prop_assert!(seen.warning.is_some_and(|words| words.contains("not differential privacy")));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn scores_that_are_kept_are_those_that_would_be_found_now(
        rows in prop::collection::vec((0usize..5, 0u32..21, 0usize..2, 0usize..4, 0usize..2), 1..120),
        l in 1u32..4,
        score in prop::sample::select(vec![Score::GainPerLoss, Score::DiscernibilityDrop]),
    ) {
        let agreement = agreement(l, 2, "1", score);
        let (terms, table) = (terms(&agreement), table(&agreement, &rows));
        let Ok((mut made, mut open)) = begin(&agreement.schema, terms, &table) else {
            return Ok(());
        };
        while let Some(place) = best(&open) {
            let one = open.swap_remove(place);
            let (found, refused) = made.tested(terms, &one.made)?;
            if refused.is_none() {
                made.perform_among(&mut open, &one.made, found)?;
            }
            for one in &open {
                prop_assert_eq!(one.value.parts(), made.value(&one.made)?.0.parts());
            }
        }
    }
}

#[test]
fn a_table_that_cannot_be_as_required_is_refused_with_the_reason() {
    let agreement = agreement(2, 3, "0.34", Score::InfoGain);
    let refused = |rows: &[_]| {
        let table = table(&agreement, rows);
        let refused = specialize(&agreement.schema, terms(&agreement), &table);
        refused.err().map(|error| error.to_string()).unwrap_or_default()
    };
    let few = refused(&[(0, 1, 0, 2, 0), (1, 2, 1, 2, 1)]);
    assert!(few.contains("2 people, fewer than k = 3"), "{few}");
    let told = refused(&[(0, 1, 0, 1, 0), (1, 2, 1, 1, 1), (1, 2, 1, 2, 1)]);
    assert!(told.contains("of a group of 3 people 2 have cold"), "{told}");
}
