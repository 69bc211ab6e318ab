//! The contents of a page, taken only from a release that verifies.

use std::path::Path;

use num_bigint::BigUint;
use num_integer::Integer;
use serde_json::Value;

use super::tree::Tree;
use crate::Error;
use crate::agreement::Agreement;
use crate::math::Rational;
use crate::privacy::ledger::Hash;
use crate::publish::artefacts::RELEASE;
use crate::publish::manifest::{Manifest, Promised};
use crate::publish::{verify, width};
use crate::role::Role;

/// Rows that the page shows.
pub const MOST_ROWS: usize = 200;
/// Digits of a part of ε behind the point, unless ε itself has more.
const EPSILON_DIGITS: u32 = 6;
/// Most digits of an agreed ε behind the point.
const MOST_DIGITS: u32 = 18;
/// Longest common denominator that the parts of ε are written with.
const MOST_DENOMINATOR_BITS: u64 = 64;

/// The contents of a page, as plain text.
#[derive(Clone, Debug, Default)]
pub struct Facts {
    pub id: String,
    pub version: String,
    pub promise: Told,
    /// The warning that comes before anything else.
    pub warning: Option<String>,
    /// The parties' names; none for a release by one.
    pub parties: Vec<String>,
    /// The agreement in plain words, by heading.
    pub words: Vec<(String, Vec<String>)>,
    /// Of every attribute; none where there is no attribute, as of paths.
    pub trees: Vec<Tree>,
    /// Attribute, value and what it was divided into.
    pub steps: Vec<(String, String, Vec<String>)>,
    pub class: String,
    pub classes: Vec<String>,
    pub header: Vec<String>,
    pub rows: Vec<Vec<String>>,
    /// Places of attributes that have one value in all rows.
    pub constant: Vec<usize>,
    pub all_rows: u64,
    pub spends: Vec<Spend>,
    /// How far the noise takes a count away from the truth, nearly always.
    pub width: Option<u64>,
    /// Whether the manifest names a ledger of each party that was debited.
    pub ledgers: bool,
    /// What was checked and what was found.
    pub checks: Vec<(String, String)>,
    /// What has which hash.
    pub hashes: Vec<(String, String)>,
    pub signatures: Vec<Signed>,
}

/// What is promised.
#[derive(Clone, Debug)]
pub enum Told {
    Differential { epsilon: String, delta: String },
    Words(String),
}

impl Default for Told {
    fn default() -> Self {
        Self::Words(String::new())
    }
}

/// A part of ε and what it was spent on.
#[derive(Clone, Debug, Default)]
pub struct Spend {
    pub name: String,
    /// A fraction; all parts have one denominator.
    pub exact: String,
    /// Rounded so that all parts add up to ε.
    pub decimal: String,
    /// Its part of the whole, in thousandths.
    pub thousandths: u32,
}

impl Spend {
    /// Whether it paid for the choice of a value.
    pub fn is_choice(&self) -> bool {
        self.name.ends_with(": choice")
    }
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
    pub fn of(directory: &Path) -> Result<Self, Error> {
        let (manifest, lines) = verify::check(directory)?;
        let canonical = manifest.value(&["agreement"]).map(ToString::to_string).unwrap_or_default();
        let agreement = Agreement::from_canonical(canonical.as_bytes())?;
        let text = |path: &[&str]| manifest.text(path).unwrap_or_default().to_owned();
        let promise = match manifest.promise() {
            Some(Promised::Differential { epsilon, delta }) => {
                let (epsilon, delta) = (epsilon.to_owned(), verify::short_delta(delta));
                Told::Differential { epsilon, delta }
            }
            Some(Promised::Words(words)) => Told::Words(words.to_owned()),
            None => Told::default(),
        };
        let class = &agreement.schema.class;
        let mut facts = Self {
            id: agreement.id.clone(),
            version: text(&["version"]),
            promise,
            warning: verify::warning(&lines).map(str::to_owned),
            parties: agreement
                .parties()
                .map(|parties| vec![parties.p1.name.clone(), parties.p2.name.clone()])
                .unwrap_or_default(),
            words: sections(&agreement.plain_words()),
            steps: steps(&manifest),
            class: class.column.clone(),
            classes: class.values.clone(),
            all_rows: manifest.value(&["release", "rows"]).and_then(Value::as_u64).unwrap_or(0),
            spends: agreement.epsilon().map_or_else(Vec::new, |all| spends(&manifest, all.value())),
            width: manifest
                .value(&["spends"])
                .and_then(Value::as_array)
                .and_then(|spends| width::of_counts(agreement.model.noises(), spends)),
            ledgers: debited(&manifest),
            checks: checks(&lines),
            hashes: hashes(&manifest),
            signatures: signatures(&manifest, &agreement),
            ..Self::default()
        };
        let divided = !agreement.schema.attributes.is_empty();
        facts.read_rows(&directory.join(RELEASE), &agreement.columns(), divided)?;
        Ok(facts)
    }

    /// The first rows, and all counts for the pictures, where values can be `divided`.
    fn read_rows(&mut self, path: &Path, attributes: &[&str], divided: bool) -> Result<(), Error> {
        let wrong = |what: &str| Error::internal(format!("{}: {what}", path.display()));
        let file = std::fs::File::open(path).map_err(|error| Error::file(path, "read", &error))?;
        let mut reader = csv::Reader::from_reader(std::io::BufReader::new(file));
        let unreadable = |error: csv::Error| wrong(&error.to_string());
        let header = reader.headers().map_err(unreadable)?.clone();
        let class = (!self.class.is_empty()).then_some(self.class.as_str());
        let expected = attributes.iter().copied().chain(class).chain(["count"]);
        if !header.iter().eq(expected) {
            return Err(wrong("the columns are not those of the agreement"));
        }
        self.header = header.iter().map(str::to_owned).collect();
        let mut record = csv::StringRecord::new();
        let mut first = csv::StringRecord::new();
        self.constant = (0..attributes.len()).collect();
        while reader.read_record(&mut record).map_err(unreadable)? {
            if first.is_empty() {
                first = record.clone();
                if divided {
                    self.plant(attributes, &record);
                }
            }
            self.constant.retain(|place| record.get(*place) == first.get(*place));
            if self.rows.len() < MOST_ROWS {
                self.rows.push(record.iter().map(str::to_owned).collect());
            }
            let labels = usize::from(!self.class.is_empty());
            let label = if labels == 0 { Some("") } else { record.get(attributes.len()) };
            let class = self.classes.iter().position(|class| label == Some(class));
            let count = record.get(attributes.len() + labels).and_then(|count| count.parse().ok());
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

/// The parts of ε, and what is left of it.
fn spends(manifest: &Manifest, epsilon: &Rational) -> Vec<Spend> {
    let mut left = epsilon.clone();
    let mut parts: Vec<(String, Rational)> = list(manifest, "spends")
        .map(|entry| {
            let part: Rational =
                field(entry, "epsilon").parse().unwrap_or_else(|_| Rational::zero());
            left = left.checked_sub(&part).unwrap_or_else(Rational::zero);
            (field(entry, "name"), part)
        })
        .collect();
    if !left.is_zero() {
        parts.push(("not needed".to_owned(), left));
    }
    listed(parts, epsilon)
}

/// Parts that add up to ε, so written that a reader who adds them finds ε in both columns.
fn listed(parts: Vec<(String, Rational)>, epsilon: &Rational) -> Vec<Spend> {
    let denominator = common_denominator(parts.iter().map(|(_, part)| part).chain([epsilon]));
    let decimals = decimals(&parts, epsilon);
    parts
        .into_iter()
        .zip(decimals)
        .map(|((name, part), decimal)| {
            let share = part.checked_div(epsilon).unwrap_or_else(Rational::zero);
            let thousandths = (&share * &Rational::whole(1000u32)).floor();
            let exact = match &denominator {
                Some(common) => {
                    format!("{}/{common}", (&part * &Rational::whole(common.clone())).floor())
                }
                None => part.to_string(),
            };
            let thousandths = u32::try_from(thousandths).unwrap_or(1000).min(1000);
            Spend { name, exact, decimal, thousandths }
        })
        .collect()
}

/// The least common denominator, unless it is too long to be read.
fn common_denominator<'r>(numbers: impl Iterator<Item = &'r Rational>) -> Option<BigUint> {
    let mut common = BigUint::from(1u32);
    for number in numbers {
        common = common.lcm(number.denominator());
        if common.bits() > MOST_DENOMINATOR_BITS {
            return None;
        }
    }
    Some(common)
}

/// Each part to some digits: rounded down, and what that leaves of ε goes, a unit each, to those
/// that lost most by it.
fn decimals(parts: &[(String, Rational)], epsilon: &Rational) -> Vec<String> {
    let digits = (EPSILON_DIGITS..=MOST_DIGITS)
        .find(|digits| epsilon.exact_decimal(*digits).is_some())
        .unwrap_or(EPSILON_DIGITS);
    let unit = Rational::whole(BigUint::from(10u32).pow(digits));
    let mut units: Vec<(BigUint, Rational)> = parts
        .iter()
        .map(|(_, part)| {
            let scaled = part * &unit;
            let whole = scaled.floor();
            let lost = scaled.checked_sub(&Rational::whole(whole.clone()));
            (whole, lost.unwrap_or_else(Rational::zero))
        })
        .collect();
    let listed: BigUint = units.iter().map(|(whole, _)| whole).sum();
    let all = (epsilon * &unit).floor();
    let missing = if all > listed { all - listed } else { BigUint::ZERO };
    let mut order: Vec<usize> = (0..units.len()).collect();
    order.sort_by(|one, other| units[*other].1.cmp(&units[*one].1));
    for place in order.into_iter().take(usize::try_from(missing).unwrap_or(usize::MAX)) {
        units[place].0 += 1u32;
    }
    let text = |(whole, _): (BigUint, Rational)| {
        let part = Rational::whole(whole).checked_div(&unit);
        part.and_then(|part| part.exact_decimal(digits)).unwrap_or_default()
    };
    units.into_iter().map(text).collect()
}

/// Whether both parties entered the release in a ledger, as far as the manifest says.
fn debited(manifest: &Manifest) -> bool {
    let entered = |role| manifest.ledger_head(role).is_some_and(|head| head != Hash::BEGINNING);
    Role::BOTH.into_iter().all(entered)
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
    let names = match agreement.parties() {
        Some(parties) => vec![parties.p1.name.as_str(), parties.p2.name.as_str()],
        None => vec!["the party that made it"],
    };
    list(manifest, "signatures")
        .zip(names)
        .map(|(entry, name)| Signed {
            name: name.to_owned(),
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

    fn parts(texts: &[&str]) -> Vec<(String, Rational)> {
        texts.iter().map(|text| ((*text).to_owned(), text.parse().unwrap())).collect()
    }

    fn decimal(text: &str) -> Rational {
        let (whole, rest) = text.split_once('.').unwrap_or((text, ""));
        let units: BigUint = format!("{whole}{rest}").parse().unwrap();
        Rational::new(units, BigUint::from(10u32).pow(rest.len() as u32)).unwrap()
    }

    #[test]
    fn both_columns_of_the_budget_add_up_to_epsilon() {
        for (epsilon, texts) in [
            ("1", &["7/90", "7/90", "7/90", "23/30"][..]),
            ("1/3", &["1/9", "1/9", "1/9"]),
            ("7/10000000", &["1/10000000", "1/10000000", "5/10000000"]),
            ("5", &["5/7", "5/7", "25/7"]),
        ] {
            let epsilon: Rational = epsilon.parse().unwrap();
            let listed = listed(parts(texts), &epsilon);
            let sum = |of: &dyn Fn(&Spend) -> Rational| {
                listed.iter().fold(Rational::zero(), |sum, spend| &sum + &of(spend))
            };
            assert_eq!(sum(&|spend| spend.exact.parse().unwrap()), epsilon);
            let denominators: Vec<_> =
                listed.iter().map(|spend| spend.exact.split_once('/').unwrap().1).collect();
            assert!(denominators.iter().all(|one| *one == denominators[0]), "{denominators:?}");
            let together = sum(&|spend| decimal(&spend.decimal));
            let unit = Rational::new(1u32, 1_000_000u32).unwrap();
            match epsilon.exact_decimal(18) {
                Some(_) => assert_eq!(together, epsilon),
                None => assert!(epsilon.checked_sub(&together).unwrap() < unit),
            }
            for (spend, (_, part)) in listed.iter().zip(parts(texts)) {
                let shown = decimal(&spend.decimal);
                let error = shown.checked_sub(&part).or_else(|| part.checked_sub(&shown)).unwrap();
                assert!(error < unit, "{spend:?}");
            }
        }
    }

    #[test]
    fn parts_without_a_short_common_denominator_stay_as_they_are() {
        let odd = ["1/1000003", "1/1000033", "1/1000037", "1/1000039"];
        let listed = listed(parts(&odd), &Rational::whole(1u32));
        assert!(listed.iter().zip(odd).all(|(spend, exact)| spend.exact == exact), "{listed:?}");
    }
}
