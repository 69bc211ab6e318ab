//! The Adult data and the agreements under which it is released.

use diptych::Error;
use diptych::Role;
use diptych::agreement::Agreement;
use diptych::table::{Reading, Table, parse_csv};
use std::path::{Path, PathBuf};

/// Name, range where it is numeric, and whether the second party of the papers' split holds it.
type Column = (&'static str, Option<(u32, u32)>, bool);

const COLUMNS: [Column; 14] = [
    ("age", Some((17, 90)), false),
    ("workclass", None, true),
    ("fnlwgt", Some((10_000, 1_500_000)), false),
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
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/data/adult");
    let names = ["adult.data", "adult.test", "taxonomies.json"];
    names.iter().all(|name| place.join(name).exists()).then_some(place)
}

/// Training and test records, and the taxonomies.
pub struct Adult {
    /// 30,162 records.
    pub train: Table,
    /// 15,060 records.
    pub test: Table,
    /// The files as CSV with a header.
    csv: [String; 2],
    taxonomies: serde_json::Value,
}

impl Adult {
    /// Reads the files as they were published. Records with `?` are left out, as in the papers.
    pub fn read(place: &Path) -> Result<Self, Error> {
        let file = |name: &str| {
            let path = place.join(name);
            std::fs::read_to_string(&path).map_err(|error| Error::file(&path, "read", &error))
        };
        let taxonomies = serde_json::from_str(&file("taxonomies.json")?).map_err(Error::input)?;
        let names: Vec<&str> = COLUMNS.iter().map(|(name, ..)| *name).collect();
        // The first line of the second file is a comment, and its classes end in a full stop.
        let test = file("adult.test")?;
        let lines = test.lines().skip(1).map(|line| line.trim_end().trim_end_matches('.'));
        let texts = [file("adult.data")?, lines.collect::<Vec<_>>().join("\n")];
        let csv = texts.map(|text| format!("{},class\n{text}", names.join(",")));
        let (train, test) = (Table::default(), Table::default());
        let mut adult = Self { train, test, csv, taxonomies };
        let agreement = adult.agreement("partition = \"local\"\nepsilon = \"1\"", 10)?;
        [adult.train, adult.test] = adult.tables(&agreement)?;
        Ok(adult)
    }

    /// Training and test records on the grids of an agreement.
    pub fn tables(&self, agreement: &Agreement) -> Result<[Table; 2], Error> {
        let reading = Reading {
            schema: &agreement.schema,
            owner: None,
            identifier: None,
            max_records: agreement.max_records,
        };
        let read = |name: &str, csv: &str| parse_csv(name, csv.as_bytes(), &reading, &|_| {});
        let [train, test] = &self.csv;
        Ok([read("adult.data", train)?, read("adult.test", test)?])
    }

    /// The agreement with so many specializations and these further lines for `[release]`.
    pub fn agreement(&self, terms: &str, specializations: u32) -> Result<Agreement, Error> {
        self.agreement_with(&format!("specializations = {specializations}\n{terms}"))
    }

    /// The agreement with these further lines for `[release]`. A comment `# class at p1` there puts
    /// the class at one party, and `# hidden` hides who is common.
    pub fn agreement_with(&self, terms: &str) -> Result<Agreement, Error> {
        let mut text = format!(
            "[release]\nid = \"adult\"\nmax_records = 50000\n{terms}\n\
             [class]\ncolumn = \"class\"\nvalues = [\"<=50K\", \">50K\"]\n"
        );
        let labelled =
            ["p1", "p2"].into_iter().find(|role| terms.contains(&format!("# class at {role}")));
        text += &labelled.map_or(String::new(), |role| format!("owner = \"{role}\"\n"));
        let vertical = terms.contains("partition = \"vertical\"");
        let horizontal = terms.contains("partition = \"horizontal\"");
        let hidden = terms.contains("# hidden");
        if vertical {
            text += "[id]\ncolumn = \"id\"\nnormalize = [\"trim\"]\n";
            text += if hidden { "membership = \"hidden\"\n" } else { "" };
        }
        if vertical || horizontal {
            for (role, digits) in [("p1", "a1"), ("p2", "b2")] {
                let fingerprint = digits.repeat(32);
                text += &format!(
                    "[parties.{role}]\nname = \"{role}\"\nfingerprint = \"sha256:{fingerprint}\"\n"
                );
            }
        }
        for (name, range, second) in COLUMNS {
            text += &format!("[[attribute]]\nname = \"{name}\"\n");
            if vertical {
                text += if second { "owner = \"p2\"\n" } else { "owner = \"p1\"\n" };
            }
            text += &match range {
                Some((min, max)) => {
                    // Where splits are drawn by both together, a grid has at most 1,024 points.
                    let own = labelled.is_none_or(|role| (role == "p2") == second);
                    let together = horizontal || hidden || !own;
                    let step = if together { (max - min).div_ceil(1_023) } else { 1 };
                    let max = min + (max - min).div_ceil(step) * step;
                    format!("kind = \"numeric\"\nmin = {min}\nmax = {max}\nstep = {step}\n")
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
        Agreement::parse("adult.toml", text.as_bytes(), &taxonomy).map_err(Error::input)
    }
}

/// What each party holds: its own columns with identifiers, or every other record.
#[allow(dead_code, reason = "only what two parties run needs it")]
pub fn parts(agreement: &Agreement, table: &Table) -> Result<[Table; 2], Error> {
    if agreement.identifier().is_none() {
        let half =
            |first: usize| table.select(&(first..table.len()).step_by(2).collect::<Vec<_>>());
        return Ok([half(0), half(1)]);
    }
    let attributes = &agreement.schema.attributes;
    let part = |owner: Role| {
        let columns = attributes.iter().enumerate().map(|(index, attribute)| {
            (attribute.owner == Some(owner)).then(|| table.column(index).cloned()).flatten()
        });
        let identifiers = (0..table.len()).map(|record| record.to_string()).collect();
        let classes = match agreement.schema.class.owner {
            Some(labelled) if labelled != owner => vec![0; table.len()],
            _ => table.classes().to_vec(),
        };
        Table::new(columns.collect(), classes, Some(identifiers))
            .ok_or_else(|| Error::internal("columns of different lengths"))
    };
    Ok([part(Role::P1)?, part(Role::P2)?])
}
