//! A new agreement, to be completed by people: every attribute, sensible defaults, open ends marked.

use super::builtin::Builtin;
use super::form::TO_DO;
use crate::role::Role;
use crate::table::Looks;
use std::fmt::Write as _;

/// What is known when an agreement is begun.
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// The release's name.
    pub id: Option<String>,
    /// How the data is divided.
    pub division: Division,
    /// Names and fingerprints of the two parties, as far as they are known.
    pub parties: [DraftParty; 2],
    /// The column by which people are recognized.
    pub identifier: Option<String>,
    /// The column that the release is to tell about, and its values if they were listed.
    pub class: Option<(String, Option<Vec<String>>)>,
    /// Who alone holds that column, in a vertical release; both unless given.
    pub class_owner: Option<Role>,
    /// The privacy budget; `1.0` unless given.
    pub epsilon: Option<String>,
    /// The columns to release.
    pub attributes: Vec<DraftAttribute>,
    /// Columns that name people and are therefore no attributes.
    pub left_out: Vec<String>,
    /// Values that are listed grow a tree with so many branches.
    pub branches: Option<u8>,
}

/// How the data is divided.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Division {
    /// The same people, different columns.
    #[default]
    Vertical,
    /// The same columns, different people.
    Horizontal,
    /// One party.
    Local,
}

impl Division {
    /// Each with its word in an agreement.
    pub const ALL: [(&'static str, Self); 3] =
        [("vertical", Self::Vertical), ("horizontal", Self::Horizontal), ("local", Self::Local)];

    fn word(self) -> &'static str {
        Self::ALL[self as usize].0
    }
}

/// A party of a draft.
#[derive(Clone, Debug, Default)]
pub struct DraftParty {
    /// For people.
    pub name: Option<String>,
    /// As `diptych keygen` printed it.
    pub fingerprint: Option<String>,
}

/// A column to release.
#[derive(Clone, Debug)]
pub struct DraftAttribute {
    /// Its name in the data.
    pub name: String,
    /// Who holds it, in a vertical release.
    pub owner: Role,
    /// Whether the other party holds it too.
    pub at_both: bool,
    /// What its cells look like.
    pub looks: Looks,
    /// What becomes of missing values, if that was decided: `refuse`, `drop` or `category`.
    pub missing: Option<&'static str>,
    /// Its values, if they were listed from the data.
    pub values: Option<Vec<String>>,
}

impl Draft {
    /// The agreement as it can be written to a file, in TOML with comments.
    pub fn to_toml(&self) -> String {
        let mut text = String::from(HEAD);
        self.release(&mut text);
        if self.division != Division::Local {
            for (role, party) in ["p1", "p2"].iter().zip(&self.parties) {
                let whose = party.name.as_deref().unwrap_or("that party");
                line(&mut text, &format!("\n[parties.{role}]"));
                or_to_do(&mut text, "name", party.name.as_deref(), "the organisation's name");
                let what = format!("the line that `diptych keygen` printed at {whose}");
                or_to_do(&mut text, "fingerprint", party.fingerprint.as_deref(), &what);
            }
        }
        if self.division == Division::Vertical {
            line(&mut text, "\n[id]                              # how both find the same person");
            or_to_do(
                &mut text,
                "column",
                self.identifier.as_deref(),
                "the column that names people",
            );
            line(
                &mut text,
                "normalize = [\"trim\", \"uppercase\"]   # so that 'a1 ' and 'A1' are one",
            );
            text.push_str(
                "# min_common = 100                # with fewer people in common, no release\n",
            );
            text.push_str(
                "# rehearse = \"noisy\"             # both may count them before, with noise, for ε \
                 0.05 each time\n",
            );
            if self.class_owner.is_some() {
                let hidden = "# membership = \"hidden\"           # neither learns who is common, in \
                              place of `min_common`";
                line(&mut text, hidden);
            }
        }
        self.class(&mut text);
        self.attributes.iter().for_each(|attribute| self.attribute(&mut text, attribute));
        for column in &self.left_out {
            let column = quoted(column);
            line(
                &mut text,
                &format!("\n# The column {column} seems to name people: it is left out."),
            );
        }
        if self.attributes.is_empty() {
            text.push_str(NO_ATTRIBUTE);
        }
        text
    }

    fn release(&self, text: &mut String) {
        let (about, whose) = match self.division {
            Division::Vertical => ("the same people, different columns", " of each party"),
            Division::Horizontal => ("the same columns, different people", " of each party"),
            Division::Local => ("one party holds everything", ""),
        };
        line(text, "\n[release]");
        or_to_do(
            text,
            "id",
            self.id.as_deref(),
            "a name for this release, such as \"loans-2026q4\"",
        );
        line(text, &format!("partition = \"{}\"  # {about}", self.division.word()));
        let epsilon = quoted(self.epsilon.as_deref().unwrap_or("1.0"));
        line(
            text,
            &format!("epsilon = {epsilon}  # the privacy budget, exactly; 1 or less is usual"),
        );
        line(
            text,
            "specializations = \"auto\"  # how often a value is replaced by finer ones: as the number \
             of records allows",
        );
        line(
            text,
            &format!(
                "max_records = 100000  # a public bound on the records{whose}; more are refused"
            ),
        );
        text.push_str(DECLARED);
    }

    fn class(&self, text: &mut String) {
        line(text, "\n[class]                           # what the release is to tell about");
        let (column, values) = match &self.class {
            Some((column, values)) => (Some(column.as_str()), values.as_deref()),
            None => (None, None),
        };
        let what = "the column that the release is to tell about; it has no [[attribute]] below";
        or_to_do(text, "column", column, what);
        if let (Division::Vertical, Some(owner)) = (self.division, self.class_owner) {
            line(text, &format!("owner = \"{owner}\"  # {} does not have it", owner.peer()));
        }
        match values {
            Some(values) => {
                text.push_str("values = ");
                list_from_data(text, values);
                text.push('\n');
            }
            None => or_to_do(text, "values", None, "all that it may hold, such as [\"Y\", \"N\"]"),
        }
    }

    fn attribute(&self, text: &mut String, attribute: &DraftAttribute) {
        line(text, "\n[[attribute]]");
        line(text, &format!("name = {}", quoted(&attribute.name)));
        if self.division == Division::Vertical {
            let owner = attribute.owner;
            let note = format!("  # {} has it too; only one brings it", owner.peer());
            let note = if attribute.at_both { note } else { String::new() };
            line(text, &format!("owner = \"{owner}\"{note}"));
        }
        match attribute.looks {
            Looks::Numeric => number(text),
            Looks::Date => date(text),
            Looks::Boolean => {
                line(
                    text,
                    "kind = \"boolean\"  # true or false, yes or no, 1 or 0, t or f, y or n",
                );
            }
            Looks::Text => {
                line(text, "kind = \"categorical\"");
                self.values(text, attribute);
            }
            Looks::Empty => {
                let what = "\"categorical\" (then `taxonomy`), \"numeric\" (then `min`, `max`, \
                            `step`), \"date\" (then `min`, `max`) or \"boolean\"";
                or_to_do(text, "kind", None, what);
            }
        }
        line(text, "on_bad_value = \"refuse\"  # refuse | drop | a value that it is read as");
        if let Some(missing) = attribute.missing {
            let choices = "refuse | drop | category: a released value of their own | a value";
            line(text, &format!("missing = \"{missing}\"  # {choices}"));
        }
    }

    fn values(&self, text: &mut String, attribute: &DraftAttribute) {
        let Some(values) = attribute.values.as_deref().filter(|values| !values.is_empty()) else {
            let public = match likely_builtin(&attribute.name) {
                Some(builtin) => {
                    let references: Vec<String> =
                        builtin.references().iter().map(|name| quoted(name)).collect();
                    format!("; or a public one: {}", references.join(" or "))
                }
                None => String::new(),
            };
            let what = format!(
                "{{ Any = {{ Group = [\"a\", \"b\"], Other = [\"c\"] }} }}, or taxonomy_file = \
                 \"file.csv\" (leaf;group;…;root: ARX hierarchy files are such){public}"
            );
            return or_to_do(text, "taxonomy", None, &what);
        };
        let root = format!("Any_{}", attribute.name);
        let taken = |name: &str| values.iter().any(|value| value == name);
        let root =
            if taken(&root) || root.chars().count() > 100 { "Any value".to_owned() } else { root };
        let _ = write!(text, "taxonomy = {{ {} = ", quoted(&root));
        list_from_data(text, values);
        text.push_str(" }\n");
        if let Some(branches) = self.branches {
            line(text, &format!("branches = {branches}  # the list grows a tree"));
        }
    }
}

const HEAD: &str = "\
# Agreement on a release, begun by `diptych agreement new`. What is still TODO is named by
#   diptych agreement check THIS_FILE
# and every key is explained in docs/agreement.md.
# All of it is published: take values, bounds and steps from what everybody knows, never from the data.
";

const DECLARED: &str = "\
# For the page that is signed; all of it may be left out:
# purpose = \"\"                     # what the release is for
# retention = \"\"                   # who keeps what and how long
# contacts = [\"\"]                  # whom to ask, for each party
# valid_until = \"2027-12-31\"       # the last day on which a run may begin (UTC)
";

const NO_ATTRIBUTE: &str = "
# One section for each column to release:
# [[attribute]]
# name = \"age\"
# kind = \"numeric\"
# min = 0
# max = 119
# step = 1
";

fn number(text: &mut String) {
    line(text, "kind = \"numeric\"  # if these are codes: \"categorical\", with a taxonomy");
    or_to_do(text, "min", None, "the smallest value there can be, from what everybody knows");
    or_to_do(text, "max", None, "the largest value there can be; min + a multiple of step");
    or_to_do(text, "step", None, "the distance between two possible splits, such as 1");
}

fn date(text: &mut String) {
    line(text, "kind = \"date\"");
    let first = "the first day there can be, from what everybody knows, such as \"2000-01-01\"";
    or_to_do(text, "min", None, first);
    or_to_do(text, "max", None, "the last day there can be");
    line(text, "step = \"month\"  # day | month | quarter | year: where the range may be split");
}

/// The built-in taxonomy that a column's name suggests.
fn likely_builtin(column: &str) -> Option<Builtin> {
    const HINTS: &[(&str, &[&str])] = &[
        ("sex", &["sex", "gender"]),
        ("age-bands", &[" age ", " agegroup", " ageband"]),
        ("months", &["month"]),
        ("countries", &["country", "nation", "citizenship"]),
        ("isco-08", &["occupation", "job", "isco", "profession"]),
        ("nace-2.1", &["industry", "nace", "sector", "branch"]),
        ("isced-2011", &["education", "isced", "degree", "school"]),
        // Not built in: such columns get no taxonomy rather than that of ICD-10.
        ("icd-9 and icd-11", &["icd9", "icd 9", "icd11", "icd 11"]),
        ("icd-10", &["icd10", " icd ", " icdcode", "diagnosis"]),
        ("atc", &[" atc"]),
    ];
    // A space in a hint is the beginning or the end of a word.
    let column =
        format!(" {} ", column.to_lowercase().replace(|c: char| !c.is_alphanumeric(), " "));
    let (name, _) =
        HINTS.iter().find(|(_, words)| words.iter().any(|word| column.contains(word)))?;
    Builtin::all().find(|builtin| builtin.name == *name)
}

/// A list with one entry per line, each marked.
fn list_from_data(text: &mut String, values: &[String]) {
    text.push_str("[\n");
    for value in values {
        let _ =
            writeln!(text, "    {},  # from the data: keep it only if it is public", quoted(value));
    }
    text.push(']');
}

fn line(text: &mut String, line: &str) {
    text.push_str(line);
    text.push('\n');
}

fn or_to_do(text: &mut String, key: &str, value: Option<&str>, what: &str) {
    let value = value.map_or_else(|| quoted(&format!("{TO_DO}: {what}")), quoted);
    line(text, &format!("{key} = {value}"));
}

/// A text in quotes. What JSON escapes, TOML reads.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agreement::{Agreement, Problems, Rule};
    use proptest::prelude::*;

    fn problems(draft: &Draft) -> Vec<(Rule, String)> {
        let text = draft.to_toml();
        match Agreement::parse("a.toml", text.as_bytes(), &|_| Err("none".to_owned())) {
            Ok(_) => Vec::new(),
            Err(error) => {
                let problems = error.origin::<Problems>().unwrap().iter();
                problems.map(|problem| (problem.rule, problem.to_string())).collect()
            }
        }
    }

    fn attribute(name: &str, looks: Looks) -> DraftAttribute {
        let (name, owner) = (name.to_owned(), Role::P1);
        DraftAttribute { name, owner, at_both: false, looks, missing: None, values: None }
    }

    #[test]
    fn a_column_gets_the_public_taxonomy_that_its_name_suggests() {
        for (column, builtin) in [
            ("Gender", "sex"),
            ("country_of_birth", "countries"),
            ("JobTitle", "isco-08"),
            ("Age", "age-bands"),
            ("age_at_diagnosis", "age-bands"),
            ("AgeGroup", "age-bands"),
            ("ICD-10", "icd-10"),
            ("icd_code", "icd-10"),
            ("primary_icd10", "icd-10"),
            ("main diagnosis", "icd-10"),
            ("ATC", "atc"),
            ("atc_code", "atc"),
            ("drug-ATC5", "atc"),
        ] {
            assert_eq!(likely_builtin(column).unwrap().name, builtin, "{column}");
        }
        for column in
            ["zip", "batch", "match_code", "ICD9", "icd-11", "language", "stage", "dosage"]
        {
            assert!(likely_builtin(column).is_none(), "{column}");
        }
    }

    #[test]
    fn a_draft_with_values_and_everything_known_is_an_agreement() {
        let values = Some(vec!["a".to_owned(), "b \"so\"".to_owned(), "c".to_owned()]);
        let draft = Draft {
            id: Some("x".to_owned()),
            division: Division::Local,
            class: Some(("ill".to_owned(), values.clone())),
            attributes: vec![DraftAttribute { values, ..attribute("job", Looks::Text) }],
            branches: Some(2),
            ..Draft::default()
        };
        assert_eq!(problems(&draft), []);
        let text = draft.to_toml();
        assert_eq!(
            text.matches("# from the data: keep it only if it is public").count(),
            6,
            "{text}"
        );
    }

    proptest! {
        #[test]
        fn what_a_draft_leaves_open_is_all_that_is_wrong_with_it(
            names in prop::collection::hash_set("[a-zäß\"\\\\#= ]{0,12}[a-z]", 2..8),
            division in 0..3_usize, kinds in prop::collection::vec((0..5_usize, 0..4_usize), 8),
            known: bool,
        ) {
            let names: Vec<String> = names.iter().map(|name| name.trim().to_owned()).collect();
            let mut distinct = names.clone();
            distinct.sort();
            distinct.dedup();
            prop_assume!(distinct.len() == names.len() && names.iter().all(|name| name != "count"));
            let looks =
                [Looks::Empty, Looks::Numeric, Looks::Date, Looks::Boolean, Looks::Text];
            let mut attributes: Vec<DraftAttribute> = names
                .iter()
                .zip(kinds)
                .map(|(name, (kind, missing))| DraftAttribute {
                    missing: [None, Some("refuse"), Some("drop"), Some("category")][missing],
                    ..attribute(name, looks[kind])
                })
                .collect();
            attributes[0].owner = Role::P2;
            let draft = Draft {
                division: Division::ALL[division].1,
                identifier: known.then(|| "person".to_owned()),
                class: known.then(|| ("the class".to_owned(), None)),
                class_owner: known.then_some(Role::P2),
                attributes,
                ..Draft::default()
            };
            let wrong = problems(&draft);
            prop_assert!(!wrong.is_empty());
            for (rule, words) in wrong {
                prop_assert_eq!(rule, Rule::ToDo, "{}\n{}", words, draft.to_toml());
            }
        }
    }
}
