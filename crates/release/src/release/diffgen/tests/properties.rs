//! Random tables and random cuts against plain recounts; tables at the edge; limits.

use super::*;
use crate::privacy;
use crate::release::tree::scorer::{Known, Scorer, known_at_once};
use crate::release::tree::splits::{SplitScore, stretches};
use crate::release::tree::utility::{self, Logarithms, Utility};
use proptest::prelude::*;

const ATTRIBUTES: &str = "[[attribute]]\nname = \"a\"\nkind = \"categorical\"\ntaxonomy = { A = \
    { A1 = [\"p\", \"q\", \"r\"], A2 = { A3 = [\"s\"], A4 = [\"t\", \"u\"] } } }\n\
    [[attribute]]\nname = \"n\"\nkind = \"numeric\"\nmin = 0\nmax = 15\nstep = 1\n\
    [[attribute]]\nname = \"b\"\nkind = \"categorical\"\ntaxonomy = { B = [\"x\", \"y\"] }\n";
const TERMS: &str = "epsilon = \"1\"\nspecializations = 4";

fn small(terms: &str) -> Agreement {
    agreement(terms, "\"0\", \"1\", \"2\"", ATTRIBUTES)
}

type Rows = Vec<(usize, u32, usize, usize)>;

fn rows() -> impl Strategy<Value = Rows> {
    prop::collection::vec((0usize..6, 0u32..16, 0usize..2, 0usize..3), 0..60)
}

fn csv(rows: &Rows) -> String {
    let row = |(a, n, b, class): &(usize, u32, usize, usize)| {
        format!("{},{n},{},{class}\n", ["p", "q", "r", "s", "t", "u"][*a], ["x", "y"][*b])
    };
    std::iter::once("a,n,b,class\n".to_owned()).chain(rows.iter().map(row)).collect()
}

/// The value on a cut that generalizes a record's cell, by name.
fn generalized(cuts: &Cuts, attribute: usize, row: &(usize, u32, usize, usize)) -> usize {
    let covers = |value: &CutValue| match (&cuts.schema().attributes[attribute].domain, value) {
        (Domain::Categorical(taxonomy), CutValue::Value(value)) => {
            let leaf = if attribute == 0 { row.0 } else { row.2 };
            taxonomy.generalizes(*value, taxonomy.leaves()[leaf])
        }
        (_, CutValue::Interval { start, end }) => (*start..*end).contains(&row.1),
        _ => false,
    };
    cuts.of(attribute).iter().position(covers).unwrap()
}

fn naive_counts(cuts: &Cuts, rows: &Rows) -> Vec<u64> {
    let mut counts = vec![0; cuts.leaves() as usize * 3];
    for row in rows {
        let leaf = (0..3).fold(0, |leaf, attribute| {
            leaf * cuts.of(attribute).len() + generalized(cuts, attribute, row)
        });
        counts[leaf * 3 + row.3] += 1;
    }
    counts
}

fn naive_score(cuts: &Cuts, made: &Specialization, rows: &Rows, utility: Utility) -> u64 {
    let mut after = cuts.clone();
    let children = after.specialize(made).unwrap();
    if utility == Utility::LeafMax {
        let counts = naive_counts(&after, rows);
        return counts.chunks(3).map(|leaf| leaf.iter().max().unwrap()).sum();
    }
    let attribute = made.candidate.attribute;
    let mut counts = vec![0u32; children.len() * 3];
    for row in rows {
        let value = after.of(attribute)[generalized(&after, attribute, row)];
        if let Some(child) = children.iter().position(|child| *child == value) {
            counts[child * 3 + row.3] += 1;
        }
    }
    match utility {
        Utility::InfoGain => Logarithms::up_to(60).info_gain(&counts, 3).steps(),
        _ => utility::max(&counts, 3),
    }
}

proptest! {
    #[test]
    fn leaf_counts_and_scores_equal_a_naive_recount(
        rows in rows(),
        choices in prop::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..8)
    ) {
        let agreement = small(TERMS);
        let table = table(&agreement, &csv(&rows));
        for utility in [Utility::Max, Utility::LeafMax, Utility::InfoGain] {
            let mut cuts = Cuts::topmost(&agreement.schema);
            let mut leaf_records = LeafRecords::new(&agreement.schema, &table).unwrap();
            let mut scorer = Scorer::new(utility, &leaf_records);
            let mut known = Known::new();
            for (choice, split) in std::iter::once(None).chain(choices.iter().map(Some)).flatten() {
                for candidate in cuts.candidates(0..3) {
                    // Splits are drawn when an interval appears.
                    if let (CutValue::Interval { start, end }, false) =
                        (candidate.value, known.contains_key(&candidate))
                    {
                        let split = start + 1 + split.index((end - start - 1) as usize) as u32;
                        let made = Specialization { candidate, split: Some(split) };
                        let found = stretches(&leaf_records, 1, candidate.value, utility.into(), scorer.logarithms());
                        let stretch = found.unwrap().into_iter().find(|stretch| {
                            (stretch.first..stretch.first + stretch.points).contains(&split)
                        });
                        known.insert(candidate, made);
                        scorer.add(&leaf_records, &made).unwrap();
                        if utility != Utility::LeafMax {
                            // The stretch of the split has the score that the candidate then has.
                            prop_assert_eq!(stretch.unwrap().score, scorer.score(candidate).unwrap());
                        } else {
                            prop_assert!(stretch.is_some());
                        }
                    }
                }
                for attribute in 0..3 {
                    for made in known_at_once(&cuts, attribute, cuts.of(attribute)) {
                        if known.insert(made.candidate, made).is_none() {
                            scorer.add(&leaf_records, &made).unwrap();
                        }
                    }
                }
                let candidates = cuts.candidates(0..3);
                for candidate in &candidates {
                    let score = scorer.score(*candidate).unwrap();
                    let expected = naive_score(&cuts, &known[candidate], &rows, utility);
                    let found = if utility == Utility::InfoGain { score.steps() } else { score.steps() >> 20 };
                    prop_assert_eq!(found, expected);
                }
                if candidates.is_empty() {
                    break;
                }
                let made = known.remove(&candidates[choice.index(candidates.len())]).unwrap();
                let children = cuts.specialize(&made).unwrap();
                let replaced = leaf_records.specialize(&made, &children).unwrap();
                scorer.follow(&leaf_records, &replaced, made.candidate, &known).unwrap();
                prop_assert_eq!(leaf_records.leaf_counts(&cuts), naive_counts(&cuts, &rows));
            }
        }
    }

    #[test]
    fn runs_cover_every_possible_split_with_its_score(rows in rows()) {
        let agreement = small(TERMS);
        let table = table(&agreement, &csv(&rows));
        let cuts = Cuts::topmost(&agreement.schema);
        let leaf_records = LeafRecords::new(&agreement.schema, &table).unwrap();
        let interval = cuts.of(1)[0];
        let utilities = [Utility::Max, Utility::LeafMax, Utility::InfoGain];
        for (utility, weight) in utilities.into_iter().flat_map(|u| [(u, None), (u, Some(8))]) {
            let logarithms = (utility == Utility::InfoGain).then(|| Logarithms::up_to(60));
            let scored = SplitScore { utility, weight };
            let found = stretches(&leaf_records, 1, interval, scored, logarithms.as_ref()).unwrap();
            let mut next = 1;
            for run in &found {
                prop_assert_eq!(run.first, next);
                for split in run.first..run.first + run.points {
                    let candidate = Candidate { attribute: 1, value: interval };
                    let made = Specialization { candidate, split: Some(split) };
                    let expected = naive_score(&cuts, &made, &rows, utility);
                    let expected = if utility == Utility::InfoGain { expected } else { expected << 20 };
                    let left = rows.iter().filter(|row| row.1 < split).count();
                    let smaller = left.min(rows.len() - left) as u64;
                    let expected = weight.map_or(expected, |w| expected * u64::from(w) + (smaller << 20));
                    prop_assert_eq!(run.score.steps(), expected);
                }
                next += run.points;
            }
            prop_assert_eq!(next, 16);
            prop_assert!(found.windows(2).all(|pair| pair[0].score != pair[1].score));
        }
    }

    #[test]
    fn a_record_more_lowers_no_split_and_raises_none_by_more_than_the_sensitivity(rows in rows()) {
        let agreement = small(TERMS);
        let interval = Cuts::topmost(&agreement.schema).of(1)[0];
        for utility in ["max", "leaf-max"] {
            let plan = Plan::new(&small(&format!("{TERMS}\nutility = \"{utility}\""))).unwrap();
            let of = |rows: &Rows| {
                let table = table(&agreement, &csv(rows));
                let leaf_records = LeafRecords::new(&agreement.schema, &table).unwrap();
                let found = stretches(&leaf_records, 1, interval, plan.split_score(1), None).unwrap();
                let points = found.iter().flat_map(|run| vec![run.score.value(); run.points as usize]);
                points.collect::<Vec<_>>()
            };
            let mut fewer = rows.clone();
            if fewer.pop().is_none() {
                continue;
            }
            for (before, after) in of(&fewer).iter().zip(of(&rows)) {
                let moved = after.checked_sub(before);
                prop_assert!(moved.is_some_and(|moved| &moved <= plan.split_calibration(1).sensitivity()));
            }
        }
    }
}

#[test]
fn a_child_s_split_looks_at_no_record_outside_it() {
    let agreement = small(TERMS);
    let made = |cuts: &Cuts| Specialization { candidate: cuts.candidates([1])[0], split: Some(8) };
    let of = |rows: &Rows, utility: Utility| {
        let table = table(&agreement, &csv(rows));
        let mut cuts = Cuts::topmost(&agreement.schema);
        let mut leaf_records = LeafRecords::new(&agreement.schema, &table).unwrap();
        let made = made(&cuts);
        let children = cuts.specialize(&made).unwrap();
        leaf_records.specialize(&made, &children).unwrap();
        stretches(&leaf_records, 1, children[0], utility.into(), None).unwrap()
    };
    let inside = vec![(0, 2, 0, 0), (1, 5, 1, 1), (2, 7, 0, 2)];
    let mut more = inside.clone();
    more.extend([(3, 8, 0, 0), (4, 15, 1, 1), (0, 9, 0, 2)]);
    for utility in [Utility::Max, Utility::LeafMax] {
        assert_eq!(of(&inside, utility), of(&more, utility));
    }
}

/// One class prevails everywhere, so the utility of every split is the same.
#[test]
fn splits_lie_among_the_records_where_the_utility_of_all_is_the_same() {
    let wide = "[[attribute]]\nname = \"n\"\nkind = \"numeric\"\nmin = 0\nmax = 999\nstep = 1\n";
    let terms = "epsilon = \"4\"\nspecializations = 1";
    let rows: String =
        (0..1000).map(|i| format!("{},{}\n", 40 + i % 20, u8::from(i % 9 == 0))).collect();
    for utility in ["leaf-max", "info-gain"] {
        let terms = format!("{terms}\nutility = \"{utility}\"");
        let agreement = agreement(&terms, "\"0\", \"1\"", wide);
        let table = table(&agreement, &format!("n,class\n{rows}"));
        let among = (0..20).filter(|seed| {
            let mut rng = Randomness::seeded(*seed);
            let release =
                release(&agreement, &table, budget(&agreement), &mut rng, &|_| {}).unwrap();
            let split = release.table.cuts.made()[0].split.unwrap();
            (41..60).contains(&split)
        });
        assert!(among.count() >= 18, "{utility}");
    }
}

#[test]
fn tables_at_the_edge_have_sensible_releases() {
    for terms in [
        "utility = \"max\"",
        "utility = \"leaf-max\"",
        "utility = \"info-gain\"",
        "profile = \"paper\"",
        "selection = \"permute-and-flip\"",
    ] {
        let agreement = small(&format!("{TERMS}\n{terms}"));
        let one_class = vec![(0, 3, 0, 0); 20];
        let one_value = (0..20).map(|i| (2, 7, 1, i % 3)).collect();
        for rows in [vec![], vec![(5, 15, 1, 2)], one_class, one_value] {
            let table = table(&agreement, &csv(&rows));
            let mut rng = Randomness::seeded(7);
            let release =
                release(&agreement, &table, budget(&agreement), &mut rng, &|_| {}).unwrap();
            assert_eq!(release.table.cuts.made().len(), 4, "{terms}");
            assert_eq!(release.table.counts.len() as u64, 3 * release.table.cuts.leaves());
            assert_eq!(&spent(&release), Plan::new(&agreement).unwrap().epsilon().value());
        }
    }
}

#[test]
fn a_numeric_attribute_with_one_point_is_never_split_and_costs_nothing() {
    let constant = "[[attribute]]\nname = \"n\"\nkind = \"numeric\"\nmin = 3\nmax = 3\nstep = 1\n\
                    [[attribute]]\nname = \"b\"\nkind = \"categorical\"\ntaxonomy = { B = [\"x\", \"y\"] }\n";
    let agreement = agreement("epsilon = \"1\"\nspecializations = 1", "\"0\", \"1\"", constant);
    let table = table(&agreement, "n,b,class\n3,x,0\n3,y,1\n");
    let mut rng = Randomness::seeded(7);
    let release = release(&agreement, &table, budget(&agreement), &mut rng, &|_| {}).unwrap();
    let names: Vec<_> = release.spends.iter().map(|entry| entry.name.as_str()).collect();
    assert_eq!(names, ["round 1: choice", "counts"]);
    assert!(text(&release).starts_with("n,b,class,count\n[3..3],x,0,"));
}

#[test]
fn a_release_that_could_become_too_large_is_refused_with_what_fits() {
    let wide: String = (0..200).map(|i| format!("\"v{i}\",")).collect();
    let attributes: String = (0..4)
        .map(|i| format!("[[attribute]]\nname = \"a{i}\"\nkind = \"categorical\"\ntaxonomy = {{ A{i} = [{wide}] }}\n"))
        .collect();
    let agreement = agreement("epsilon = \"1\"\nspecializations = 4", "\"0\", \"1\"", &attributes);
    let refused = Plan::new(&agreement).unwrap_err().to_string();
    // 200² · 2 rows fit, 200³ · 2 do not.
    assert!(refused.contains("specializations = 2 would fit for sure"), "{refused}");
}

#[test]
fn weights_that_could_become_too_long_are_refused_before_anything_is_spent() {
    let mut terms = String::from("epsilon = \"100\"\nspecializations = 1");
    let agreement = |terms: &str| {
        let text = format!(
            "[release]\nid = \"t\"\npartition = \"local\"\nmax_records = 100000000\n{terms}\n\
             [class]\ncolumn = \"class\"\nvalues = [\"0\", \"1\", \"2\"]\n{ATTRIBUTES}"
        );
        Agreement::parse("t", text.as_bytes(), &|_| Err(String::new())).unwrap()
    };
    let refused = Plan::new(&agreement(&terms)).unwrap_err().to_string();
    assert!(refused.contains("permute-and-flip"), "{refused}");
    terms += "\nselection = \"permute-and-flip\"";
    assert!(Plan::new(&agreement(&terms)).is_ok());
}

#[test]
fn two_noises_are_the_sum_of_two() {
    let spend = || Budget::new(&"1".parse().unwrap()).spend_rest("counts").unwrap();
    let mut two = Noiser::new(Noise::TwoParty, Tape::of_noise([1i64, 2, 10, -20]));
    assert_eq!(privacy::AddNoise::add_noise(&mut two, spend(), &[100, 0]).unwrap(), [111, -18]);
}
