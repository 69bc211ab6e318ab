//! The Adult data and the agreements under which it is released.

use diptych::agreement::Agreement;
use diptych::app::failure::Failure;
use diptych::table::{Reading, Table, parse_csv};
use std::path::{Path, PathBuf};

/// Name, range where it is numeric, and whether the second party of the papers' split holds it.
type Column = (&'static str, Option<(u32, u32)>, bool);

const COLUMNS: [Column; 14] = [
    ("age", Some((17, 90)), false),
    ("workclass", None, true),
    ("fnlwgt", Some((13_492, 1_490_400)), false),
    ("education", None, false),
    ("education-num", Some((1, 16)), false),
    ("marital-status", None, false),
    ("occupation", None, true),
    ("relationship", None, false),
    ("race", None, false),
    ("sex", None, false),
    ("capital-gain", Some((0, 99_999)), true),
    ("capital-loss", Some((0, 4_356)), true),
    ("hours-per-week", Some((1, 99)), true),
    ("native-country", None, false),
];

/// Where the data lies, if it does.
pub fn place() -> Option<PathBuf> {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/adult");
    let names = ["adult.data", "adult.test", "taxonomies.json"];
    names.iter().all(|name| place.join(name).exists()).then_some(place)
}

/// Training and test records, and the taxonomies.
pub struct Adult {
    /// 30,162 records.
    pub train: Table,
    /// 15,060 records.
    pub test: Table,
    taxonomies: serde_json::Value,
}

impl Adult {
    /// Reads the files as they were published. Records with `?` are left out, as in the papers.
    pub fn read(place: &Path) -> Result<Self, Failure> {
        let file = |name: &str| {
            let path = place.join(name);
            std::fs::read_to_string(&path).map_err(|error| Failure::file(&path, "read", &error))
        };
        let taxonomies =
            serde_json::from_str(&file("taxonomies.json")?).map_err(Failure::wrong_input)?;
        let mut adult = Self { train: Table::default(), test: Table::default(), taxonomies };
        let agreement = adult.agreement("partition = \"local\"\nepsilon = \"1\"", 10)?;
        let names: Vec<&str> = COLUMNS.iter().map(|(name, ..)| *name).collect();
        let reading = Reading {
            schema: &agreement.schema,
            owner: None,
            identifier: None,
            max_records: agreement.max_records,
        };
        let read = |name: &str, text: &str| {
            let csv = format!("{},class\n{text}", names.join(","));
            parse_csv(name, csv.as_bytes(), &reading, &|_| {})
        };
        adult.train = read("adult.data", &file("adult.data")?)?;
        // The first line is a comment, and classes end in a full stop.
        let test = file("adult.test")?;
        let lines = test.lines().skip(1).map(|line| line.trim_end().trim_end_matches('.'));
        adult.test = read("adult.test", &lines.collect::<Vec<_>>().join("\n"))?;
        Ok(adult)
    }

    /// The agreement with these further lines for `[release]`.
    pub fn agreement(&self, terms: &str, specializations: u32) -> Result<Agreement, Failure> {
        let mut text = format!(
            "[release]\nid = \"adult\"\nspecializations = {specializations}\n\
             max_records = 50000\n{terms}\n\
             [class]\ncolumn = \"class\"\nvalues = [\"<=50K\", \">50K\"]\n"
        );
        let two_parties = terms.contains("vertical");
        if two_parties {
            text += "[id]\ncolumn = \"id\"\nnormalize = [\"trim\"]\n";
            for (role, digits) in [("p1", "a1"), ("p2", "b2")] {
                let fingerprint = digits.repeat(32);
                text += &format!(
                    "[parties.{role}]\nname = \"{role}\"\nfingerprint = \"sha256:{fingerprint}\"\n"
                );
            }
        }
        for (name, range, second) in COLUMNS {
            text += &format!("[[attribute]]\nname = \"{name}\"\n");
            if two_parties {
                text += if second { "owner = \"p2\"\n" } else { "owner = \"p1\"\n" };
            }
            text += &match range {
                Some((min, max)) => {
                    format!("kind = \"numeric\"\nmin = {min}\nmax = {max}\nstep = 1\n")
                }
                None => format!(
                    "kind = \"categorical\"\ntaxonomy_file = \"{name}.json\"\n\
                     on_bad_value = \"drop\"\n"
                ),
            };
        }
        let taxonomy = |name: &str| {
            Ok(self.taxonomies[name.trim_end_matches(".json")].to_string().into_bytes())
        };
        Agreement::parse("adult.toml", text.as_bytes(), &taxonomy).map_err(Failure::wrong_input)
    }
}
