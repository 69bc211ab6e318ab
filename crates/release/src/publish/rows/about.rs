//! What became of each column of a release: for whoever reads its rows.

use serde_json::{Value, json};

use crate::publish::released::Released;
use crate::table::{Candidate, Cuts};

/// How concrete values are drawn.
pub const DRAWN: &str = "concrete values are drawn uniformly within each released value, the only shape that is \
     public: means, spreads and correlations inside a released value are made up";

/// The columns of a release.
#[derive(Debug)]
pub struct About {
    release: String,
    sha256: Value,
    class: String,
    concrete: bool,
    columns: Vec<Left>,
}

/// What is left of a column.
#[derive(Debug)]
struct Left {
    name: String,
    /// Into how many values it was divided.
    divided_into: Option<usize>,
    /// The one value that stands for all others, where it was not divided.
    only: String,
    kept: bool,
}

impl About {
    /// What the cuts say of each column; concrete rows hold the undivided ones only if asked for.
    pub fn new(released: &Released, cuts: &Cuts, concrete: bool, undivided: bool) -> Self {
        let attributes = released.schema.attributes.iter().enumerate();
        let columns = attributes.map(|(attribute, column)| {
            let (cut, whole) = (cuts.of(attribute), !cuts.is_undivided(attribute));
            let value = cut.first().map(|value| Candidate { attribute, value: *value });
            Left {
                name: column.name.clone(),
                divided_into: whole.then_some(cut.len()),
                only: value.map(|value| cuts.name(value)).unwrap_or_default(),
                kept: whole || !concrete || undivided,
            }
        });
        let mut columns: Vec<Left> = columns.collect();
        if columns.is_empty() {
            // Columns of paths are concrete: nothing of them is divided.
            let names = released.agreement.columns().into_iter();
            let path = |name: &str| Left {
                name: name.to_owned(),
                divided_into: None,
                only: String::new(),
                kept: true,
            };
            columns = names.map(path).collect();
        }
        Self {
            release: released.agreement.id.clone(),
            sha256: released.manifest.pointer("/release/sha256").cloned().unwrap_or_default(),
            class: released.schema.class.column.clone(),
            concrete,
            columns,
        }
    }

    /// Which columns are in the rows.
    pub fn kept(&self) -> Vec<bool> {
        self.columns.iter().map(|column| column.kept).collect()
    }

    /// A line for each column, and how concrete values are drawn.
    pub fn lines(&self) -> Vec<String> {
        let mut lines: Vec<String> =
            self.columns.iter().filter_map(|column| column.line(self.concrete)).collect();
        lines.extend(self.concrete.then(|| DRAWN.to_owned()));
        lines
    }

    /// All of it as JSON, for so many rows.
    pub fn json(&self, rows: u64) -> String {
        let column = |column: &Left| {
            json!({
                "name": column.name,
                "divided_into": column.divided_into,
                "in_rows": column.kept,
            })
        };
        let all = json!({
            "format": "diptych rows v1",
            "release": self.release,
            "release_sha256": self.sha256,
            "rows": rows,
            "values": if self.concrete { "concrete" } else { "released" },
            "drawn": self.concrete.then_some(DRAWN),
            "columns": self.columns.iter().map(column).collect::<Vec<_>>(),
            "class": self.class,
        });
        format!("{all:#}\n")
    }
}

impl Left {
    fn line(&self, concrete: bool) -> Option<String> {
        let Self { name, divided_into, only, kept } = self;
        Some(match divided_into {
            Some(1) => format!("{name}: has only one possible value"),
            Some(values) => format!("{name}: divided into {values} values"),
            None if only.is_empty() => return None,
            None if !kept => {
                format!("{name}: not divided, and left out of these rows; --undivided keeps it")
            }
            None if concrete => {
                format!("{name}: not divided: its values are drawn from all of {only}")
            }
            None => format!("{name}: not divided: its only value is {only}"),
        })
    }
}
