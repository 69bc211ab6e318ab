//! The Adult census data, where it is at hand: cuts and totals must look sensible.

#![expect(clippy::unwrap_used, clippy::print_stderr, reason = "helpers of a test")]

use diptych::agreement::Agreement;
use diptych::math::Randomness;
use diptych::privacy::Budget;
use diptych::release::diffgen::single;
use diptych::table::{Reading, parse_csv};
use std::path::{Path, PathBuf};

const COLUMNS: [(&str, Option<(u32, u32)>); 14] = [
    ("age", Some((17, 90))),
    ("workclass", None),
    ("fnlwgt", Some((13_492, 1_490_400))),
    ("education", None),
    ("education-num", Some((1, 16))),
    ("marital-status", None),
    ("occupation", None),
    ("relationship", None),
    ("race", None),
    ("sex", None),
    ("capital-gain", Some((0, 99_999))),
    ("capital-loss", Some((0, 4_356))),
    ("hours-per-week", Some((1, 99))),
    ("native-country", None),
];

fn adult() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/adult");
    let there = place.join("adult.data").exists();
    if !there {
        eprintln!("skipped: there is no Adult data at {}", place.display());
    }
    there.then_some(place)
}

fn agreement(place: &Path, terms: &str) -> Agreement {
    let mut text = format!(
        "[release]\nid = \"adult\"\npartition = \"local\"\nepsilon = \"1\"\nspecializations = 10\n\
         max_records = 50000\n{terms}\n[class]\ncolumn = \"class\"\nvalues = [\"<=50K\", \">50K\"]\n"
    );
    for (name, range) in COLUMNS {
        text += &format!("[[attribute]]\nname = \"{name}\"\n");
        text += &match range {
            Some((min, max)) => format!("kind = \"numeric\"\nmin = {min}\nmax = {max}\nstep = 1\n"),
            None => format!(
                "kind = \"categorical\"\ntaxonomy_file = \"{name}.json\"\non_bad_value = \"drop\"\n"
            ),
        };
    }
    let file = std::fs::read(place.join("taxonomies.json")).unwrap();
    let taxonomies: serde_json::Value = serde_json::from_slice(&file).unwrap();
    let taxonomy =
        |name: &str| Ok(taxonomies[name.trim_end_matches(".json")].to_string().into_bytes());
    Agreement::parse("adult.toml", text.as_bytes(), &taxonomy).unwrap()
}

#[test]
fn releases_of_adult_find_what_tells_incomes_apart() {
    let Some(place) = adult() else { return };
    let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
    let data = std::fs::read_to_string(place.join("adult.data")).unwrap();
    let csv = format!("{},class\n{data}", names.join(","));
    for terms in ["profile = \"paper\"", "utility = \"leaf-max\"\nstructure_share = \"0.7\""] {
        let agreement = agreement(&place, terms);
        let reading = Reading {
            schema: &agreement.schema,
            owner: None,
            identifier: None,
            max_records: agreement.max_records,
        };
        // Records with `?` are dropped, as in the papers.
        let table = parse_csv("adult.csv", csv.as_bytes(), &reading, &|_| {}).unwrap();
        assert_eq!(table.len(), 30_162);
        let mut found = 0;
        for seed in 0..5 {
            let budget = Budget::new(&"1".parse().unwrap());
            let mut rng = Randomness::seeded(seed);
            let release = single::release(&agreement, &table, budget, &mut rng, &|_| {}).unwrap();
            assert_eq!(release.cuts.made().len(), 10);
            // Being married, and gains on capital, tell more about incomes than anything else.
            let size = |name: &str| {
                let attribute = names.iter().position(|known| *known == name).unwrap();
                release.cuts.of(attribute).len()
            };
            let family = size("marital-status") > 1 || size("relationship") > 1;
            found += u32::from(family && size("capital-gain") > 1);
            let total: u64 = release.counts.iter().sum();
            if terms.contains("leaf-max") {
                assert!(total.abs_diff(30_162) < 1_500, "{total}");
            } else {
                assert!(total > 29_000, "{total}"); // setting negatives to 0 adds people
            }
        }
        assert!(found >= 4, "only {found} of 5 releases with {terms} found family and gains");
    }
}
