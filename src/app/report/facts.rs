//! What a page tells: taken from a release that verifies, and from nothing else.

use std::path::Path;

use serde_json::Value;

use super::tree::Tree;
use crate::agreement::Agreement;
use crate::app::artefacts::RELEASE;
use crate::app::failure::Failure;
use crate::app::manifest::Manifest;
use crate::app::verify;
use crate::math::Rational;

/// Rows that the page shows.
pub const MOST_ROWS: usize = 200;
/// Digits of an ε behind the point, rounded up.
const EPSILON_DIGITS: u32 = 6;

/// Everything that a page tells, as plain text.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub id: String,
    pub version: String,
    pub epsilon: String,
    pub delta: String,
    /// The parties' names; none for a release by one.
    pub parties: Vec<String>,
    /// The agreement in plain words, by heading.
    pub words: Vec<(String, Vec<String>)>,
    pub trees: Vec<Tree>,
    /// Attribute, value and what it was divided into.
    pub steps: Vec<(String, String, Vec<String>)>,
    pub class: String,
    pub classes: Vec<String>,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
    pub all_rows: u64,
    pub spends: Vec<Spend>,
    /// What was checked and what was found.
    pub checks: Vec<(String, String)>,
    /// What has which hash.
    pub hashes: Vec<(String, String)>,
    pub signatures: Vec<Signed>,
}

/// A part of ε and what it was spent on.
#[derive(Clone, Debug, Default)]
pub struct Spend {
    pub name: String,
    pub exact: String,
    pub decimal: String,
    /// Its part of the whole, in thousandths.
    pub thousandths: u32,
}

/// A signature.
#[derive(Clone, Debug, Default)]
pub struct Signed {
    pub name: String,
    pub fingerprint: String,
    pub public_key: String,
    pub signature: String,
}

impl Facts {
    /// Reads and verifies a release.
    ///
    /// # Errors
    /// If it does not verify, or is not what the manifest says.
    pub fn of(directory: &Path) -> Result<Self, Failure> {
        let (manifest, lines) = verify::check(directory)?;
        let canonical = manifest.value(&["agreement"]).map(ToString::to_string).unwrap_or_default();
        let agreement =
            Agreement::from_canonical(canonical.as_bytes()).map_err(Failure::wrong_input)?;
        let text = |path: &[&str]| manifest.text(path).unwrap_or_default().to_owned();
        let class = &agreement.schema.class;
        let mut facts = Self {
            id: agreement.id.clone(),
            version: text(&["version"]),
            epsilon: text(&["epsilon"]),
            delta: verify::short_delta(&text(&["delta"])),
            parties: agreement
                .parties()
                .map(|parties| vec![parties.p1.name.clone(), parties.p2.name.clone()])
                .unwrap_or_default(),
            words: sections(&agreement.plain_words()),
            steps: steps(&manifest),
            class: class.column.clone(),
            classes: class.values.clone(),
            all_rows: manifest.value(&["release", "rows"]).and_then(Value::as_u64).unwrap_or(0),
            spends: spends(&manifest, agreement.epsilon.value()),
            checks: checks(&lines),
            hashes: hashes(&manifest),
            signatures: signatures(&manifest, &agreement),
            ..Self::default()
        };
        let attributes: Vec<&str> =
            agreement.schema.attributes.iter().map(|attribute| attribute.name.as_str()).collect();
        facts.read_rows(&directory.join(RELEASE), &attributes)?;
        Ok(facts)
    }

    /// The first rows, and all counts for the pictures.
    fn read_rows(&mut self, path: &Path, attributes: &[&str]) -> Result<(), Failure> {
        let wrong = |what: &str| Failure::failed(format!("{}: {what}", path.display()));
        let file =
            std::fs::File::open(path).map_err(|error| Failure::file(path, "read", &error))?;
        let mut reader = csv::Reader::from_reader(std::io::BufReader::new(file));
        let unreadable = |error: csv::Error| wrong(&error.to_string());
        let header = reader.headers().map_err(unreadable)?.clone();
        let expected = attributes.iter().copied().chain([self.class.as_str(), "count"]);
        if !header.iter().eq(expected) {
            return Err(wrong("the columns are not those of the agreement"));
        }
        self.header = header.iter().map(str::to_owned).collect();
        let mut record = csv::StringRecord::new();
        while reader.read_record(&mut record).map_err(unreadable)? {
            if self.trees.is_empty() {
                self.plant(attributes, &record);
            }
            if self.rows.len() < MOST_ROWS {
                self.rows.push(record.iter().map(str::to_owned).collect());
            }
            let class =
                self.classes.iter().position(|class| record.get(attributes.len()) == Some(class));
            let count = record.get(attributes.len() + 1).and_then(|count| count.parse().ok());
            let (Some(class), Some(count)) = (class, count) else {
                return Err(wrong("a row's class or count is not one"));
            };
            for (tree, value) in self.trees.iter_mut().zip(record.iter()) {
                tree.count(value, class, count);
            }
        }
        self.trees.iter_mut().for_each(Tree::add_up);
        Ok(())
    }

    /// The trees as the steps grew them. What was never divided has one value, in any row.
    fn plant(&mut self, attributes: &[&str], row: &csv::StringRecord) {
        for (place, attribute) in attributes.iter().enumerate() {
            let own = |step: &&(usize, &(String, String, Vec<String>))| step.1.0 == *attribute;
            let steps: Vec<_> = self.steps.iter().enumerate().collect();
            let mut steps = steps.iter().filter(own).peekable();
            let top = steps.peek().map(|(_, (_, value, _))| value.as_str());
            let top = top.or(row.get(place)).unwrap_or_default();
            let mut tree = Tree::topmost(attribute, top, self.classes.len());
            for (index, (_, value, into)) in steps {
                tree.divide(index + 1, value, into);
            }
            self.trees.push(tree);
        }
    }
}

/// The agreement's page by heading, each item on one line. Its first two lines are its title.
fn sections(page: &str) -> Vec<(String, Vec<String>)> {
    let mut sections: Vec<(String, Vec<String>)> = Vec::new();
    for line in page.lines().skip(2).filter(|line| !line.trim().is_empty()) {
        match (line.strip_prefix("  - "), sections.last_mut()) {
            (Some(item), Some((_, items))) => items.push(item.trim().to_owned()),
            (None, Some((_, items))) if line.starts_with("    ") => {
                if let Some(item) = items.last_mut() {
                    item.push(' ');
                    item.push_str(line.trim());
                }
            }
            _ => sections.push((line.trim().to_owned(), Vec::new())),
        }
    }
    sections
}

fn list<'a>(manifest: &'a Manifest, key: &str) -> impl Iterator<Item = &'a Value> {
    manifest.value(&[key]).and_then(Value::as_array).into_iter().flatten()
}

fn field(entry: &Value, key: &str) -> String {
    entry.get(key).and_then(Value::as_str).unwrap_or_default().to_owned()
}

fn steps(manifest: &Manifest) -> Vec<(String, String, Vec<String>)> {
    list(manifest, "cuts")
        .map(|cut| {
            let into = cut.get("into").and_then(Value::as_array).into_iter().flatten();
            let into = into.filter_map(Value::as_str).map(str::to_owned).collect();
            (field(cut, "attribute"), field(cut, "value"), into)
        })
        .collect()
}

/// The parts of ε, what is left of it, and its sum.
fn spends(manifest: &Manifest, epsilon: &Rational) -> Vec<Spend> {
    let spend = |name: String, part: &Rational| {
        let share = part.checked_div(epsilon).unwrap_or_else(Rational::zero);
        let thousandths = (&share * &Rational::whole(1000u32)).floor();
        Spend {
            name,
            exact: part.to_string(),
            decimal: part
                .exact_decimal(EPSILON_DIGITS)
                .unwrap_or_else(|| part.decimal_rounded_up(EPSILON_DIGITS)),
            thousandths: u32::try_from(thousandths).unwrap_or(1000).min(1000),
        }
    };
    let mut left = epsilon.clone();
    let mut spends: Vec<Spend> = list(manifest, "spends")
        .map(|entry| {
            let part: Rational =
                field(entry, "epsilon").parse().unwrap_or_else(|_| Rational::zero());
            left = left.checked_sub(&part).unwrap_or_else(Rational::zero);
            spend(field(entry, "name"), &part)
        })
        .collect();
    if !left.is_zero() {
        spends.push(spend("not needed".to_owned(), &left));
    }
    spends
}

/// What `diptych verify` says, but for the copy without zero rows: the page is about two files.
fn checks(lines: &[String]) -> Vec<(String, String)> {
    let split = |line: &String| {
        let (what, found) = line.split_once(' ')?;
        Some((what.to_owned(), found.trim().to_owned()))
    };
    lines.iter().filter_map(split).filter(|(what, _)| what != "compact").collect()
}

fn hashes(manifest: &Manifest) -> Vec<(String, String)> {
    let paths: [(&str, &[&str]); 4] = [
        ("release.csv", &["release", "sha256"]),
        ("the agreement", &["agreement_sha256"]),
        ("P1's ledger after the debit", &["ledger_heads", "p1"]),
        ("P2's ledger after the debit", &["ledger_heads", "p2"]),
    ];
    paths
        .into_iter()
        .filter_map(|(what, path)| Some((what.to_owned(), manifest.text(path)?.to_owned())))
        .collect()
}

fn signatures(manifest: &Manifest, agreement: &Agreement) -> Vec<Signed> {
    let names = agreement.parties().map(|parties| [&parties.p1.name, &parties.p2.name]);
    let names = names.into_iter().flatten();
    list(manifest, "signatures")
        .zip(names)
        .map(|(entry, name)| Signed {
            name: name.clone(),
            fingerprint: field(entry, "fingerprint"),
            public_key: field(entry, "public_key"),
            signature: field(entry, "signature"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_agreements_words_are_taken_apart_by_heading_and_item() {
        let page = "Title\nSHA-256 x\n\nWho\n  - P1 is A, known by\n    its key\n    sha256:1\n  - B\n\nWhat\n  - c\n";
        let parts =
            |items: &[&str]| items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>();
        assert_eq!(
            sections(page),
            [
                ("Who".to_owned(), parts(&["P1 is A, known by its key sha256:1", "B"])),
                ("What".to_owned(), parts(&["c"])),
            ]
        );
    }
}
