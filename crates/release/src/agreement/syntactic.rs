//! Models that hide people in groups and promise nothing about ε, in an agreement: what they require
//! of every group, how it is read and written, and what it means in words.
//!
//! The words for a requirement are those of LKC-privacy: whoever knows at most `l` of a person's
//! values is left with at least `k` people, of whom at most the part `c` have any one of the
//! protected values. k-anonymity, (α, k)-anonymity, confidence bounding and lists of several
//! quasi-identifiers are requirements of this form.

pub(super) mod read;
pub(super) mod words;

pub(super) use read::{ACKNOWLEDGE, ACKNOWLEDGED, MAX_PROTECTED};

use serde_json::{Value, json};

use super::diffgen::{Entries, Profile, choice};
use super::form::Form;
use super::model::{Beside, ModelTerms};
use super::read::Kind;
use crate::table::{Decimal, Domain, Schema, Taxonomy, ValueId};

/// What the holder of the data chooses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// What must hold of the table that is released: all of them.
    pub requirements: Vec<Requirement>,
    /// What is to be told of nobody, if there is such a thing.
    pub sensitive: Option<Sensitive>,
    /// How a table is found for which it holds.
    pub search: Search,
    /// What the parties of a vertical release tell each other of single people; no other has one.
    pub linkage: Option<Linkage>,
    /// By how much the score of what a party of a vertical release has made finer may be above the
    /// other's for it to go on, where they agree on such a bound.
    pub slack: Option<Decimal>,
}

/// Every combination of at most `l` of the values is shared by at least `k` people, and tells each
/// protected value of at most the part `c` of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requirement {
    /// The attributes that somebody may know; none for all but the sensitive one.
    pub attributes: Option<Vec<String>>,
    /// How many of them at a time; none for all.
    pub l: Option<u32>,
    /// People in a group, at least.
    pub k: u64,
    /// From above 0 to 1, which allows everything.
    pub c: Decimal,
}

/// An attribute that is released as it is and protected by bounds on what a group tells of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sensitive {
    /// Its name.
    pub attribute: String,
    /// The leaves that nobody is to be known to have.
    pub protect: Vec<String>,
}

/// How a table is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Search {
    /// From the coarsest values down, by the best score that is still allowed: `model = "lkc"`.
    TopDown {
        /// What is best.
        score: Score,
        /// Whether values whose people are all of one class are left as they are.
        beneficial: bool,
    },
    /// Among all ways to make values coarser, the most informative: `model = "lattice"`.
    Lattice(Elements),
}

/// Most elements of a lattice that are looked at.
pub const MOST_ELEMENTS: u64 = 1_000_000;
/// Most values in all cuts that a lattice lists, leaves below them counted.
pub const MOST_LISTED: u64 = 20_000_000;
/// Most combinations of attributes that the requirements of an agreement may have tested.
pub const MOST_COMBINATIONS: u64 = 1_000_000;

choice! {
    /// Which ways there are to make an attribute's values coarser.
    Elements {
        /// All cuts of its taxonomy.
        Cuts = "cuts",
        /// Its levels; a leaf above one stays.
        Levels = "levels",
    }
}
choice! {
    /// What the parties of a vertical release tell each other of single people.
    Linkage {
        /// Nothing: groups are counted in shares, and cuts alone are told.
        Sealed = "sealed",
        /// Into which finer value everybody falls whose value is replaced, as in the papers.
        Rows = "rows",
    }
}
choice! {
    /// What a specialization is worth.
    Score {
        /// What it tells about the class.
        InfoGain = "info-gain",
        /// The same, by what it tells at all.
        GainRatio = "gain-ratio",
        /// The same, by what it takes from the smallest group.
        GainPerLoss = "gain-per-loss",
        /// By how much fewer pairs of people look alike.
        DiscernibilityDrop = "discernibility-drop",
        /// How many records the largest classes of its children have.
        Max = "max",
    }
}

/// How many cuts there are below a value: itself, or any combination of its children's.
fn cuts(values: &Taxonomy, value: ValueId) -> u64 {
    if values.is_leaf(value) {
        return 1;
    }
    let below = values.children(value).map(|child| cuts(values, child));
    below.fold(1, u64::saturating_mul).saturating_add(1)
}

/// How many combinations are looked at to test all of `l` among `p` attributes, shorter ones on the
/// way included: those of i that can still be completed are C(p − l + i, i), and their sum is
/// C(p + 1, l).
pub fn combinations(p: usize, l: usize) -> u64 {
    let (p, l) = (p as u64, l.min(p) as u64);
    // C(p + 1 − l + i, i) for i from 1 up: no division has a rest, and no number is above the last.
    let ways = (1..=l).try_fold(1u64, |ways, i| {
        let more = u128::from(ways) * u128::from(p + 1 - l + i) / u128::from(i);
        u64::try_from(more).ok()
    });
    ways.unwrap_or(u64::MAX)
}

impl Requirement {
    /// The names of the attributes that somebody may know.
    pub fn names<'a>(&'a self, terms: &'a Terms, schema: &'a Schema) -> Vec<&'a str> {
        match &self.attributes {
            Some(names) => names.iter().map(String::as_str).collect(),
            None => terms.quasi(schema).map(|place| &*schema.attributes[place].name).collect(),
        }
    }
}

impl Terms {
    /// The places of the attributes that are generalized: all but the sensitive one.
    pub fn quasi<'a>(&'a self, schema: &'a Schema) -> impl Iterator<Item = usize> + 'a {
        let sensitive = self.sensitive.as_ref().map(|sensitive| sensitive.attribute.as_str());
        let named = schema.attributes.iter().enumerate();
        named.filter(move |(_, a)| Some(a.name.as_str()) != sensitive).map(|(place, _)| place)
    }

    /// How many elements a lattice has: the product over attributes of their cuts or levels.
    pub fn elements(&self, schema: &Schema) -> u64 {
        let Search::Lattice(by) = self.search else { return 0 };
        let of_one = |place: usize| match (&schema.attributes[place].domain, by) {
            (Domain::Categorical(values), Elements::Cuts) => cuts(values, values.root()),
            (Domain::Categorical(values), Elements::Levels) => values.height() as u64 + 1,
            _ => 1,
        };
        self.quasi(schema).map(of_one).fold(1, u64::saturating_mul)
    }

    /// How many places are listed of the cuts of all attributes: one for each leaf in each cut.
    pub fn listed(&self, schema: &Schema) -> u64 {
        let of_one = |place: usize| match (&schema.attributes[place].domain, self.search) {
            (Domain::Categorical(values), Search::Lattice(Elements::Cuts)) => {
                cuts(values, values.root()).saturating_mul(values.leaves().len() as u64)
            }
            _ => 0,
        };
        self.quasi(schema).map(of_one).fold(0, u64::saturating_add)
    }

    /// How many combinations of attributes the requirements have tested, for every group.
    pub fn combinations(&self, schema: &Schema) -> u64 {
        let of_one = |one: &Requirement| {
            let known = one.names(self, schema).len();
            combinations(known, one.l.map_or(known, |l| l as usize))
        };
        self.requirements.iter().map(of_one).fold(0, u64::saturating_add)
    }

    /// The names of the attributes that are made coarser and that no requirement is about.
    pub fn uncovered<'a>(&self, schema: &'a Schema) -> Vec<&'a str> {
        let covered = |name: &str| {
            let names = |one: &Requirement| match &one.attributes {
                Some(names) => names.iter().any(|known| known == name),
                None => true,
            };
            self.requirements.iter().any(names)
        };
        let quasi = self.quasi(schema).map(|place| schema.attributes[place].name.as_str());
        quasi.filter(|name| !covered(name)).collect()
    }
}

impl ModelTerms for Terms {
    fn word(&self) -> &'static str {
        match self.search {
            Search::TopDown { .. } => "lkc",
            Search::Lattice(_) => "lattice",
        }
    }

    fn in_short(&self) -> String {
        let each = self.requirements.iter().map(|one| {
            let l = one.l.map_or("m".to_owned(), |l| l.to_string());
            format!("({l}, {}, {})", one.k, one.c)
        });
        let each: Vec<String> = each.collect();
        let how = match self.search {
            Search::TopDown { score, .. } => score.word(),
            Search::Lattice(elements) => elements.word(),
        };
        let linked = self.linkage.map(|linkage| format!(" {}", linkage.word()));
        format!("{} {} {how}{}", self.word(), each.join(" "), linked.unwrap_or_default())
    }

    fn is_paper(&self) -> bool {
        self.linkage == Some(Linkage::Rows)
    }

    fn largest_group(&self, kind: Option<Kind>) -> Option<(u64, u64)> {
        let parties = if kind == Some(Kind::Horizontal) { 2 } else { 1 };
        Some((self.requirements.iter().map(|one| one.k).max()?, parties))
    }

    fn check(&self, form: &mut Form<'_>, beside: Beside<'_>, at: usize) {
        read::check(form, beside.schema, self, beside.kind, at);
    }

    /// In [release]: as in the papers, where single people are told of.
    fn entries(&self) -> (Entries, Entries) {
        let release = match self.is_paper() {
            true => vec![(read::PROFILE, json!(Profile::Paper.word()))],
            false => Vec::new(),
        };
        (release, Entries::new())
    }

    fn own_entries(&self) -> Option<Entries> {
        let requirement = |one: &Requirement| {
            let mut entries = vec![("c", json!(one.c.to_string())), ("k", json!(one.k))];
            entries.extend(one.l.map(|l| ("l", json!(l))));
            entries.extend(one.attributes.as_ref().map(|names| ("attributes", json!(names))));
            super::canonical::object(entries)
        };
        let requirements: Vec<Value> = self.requirements.iter().map(requirement).collect();
        let mut entries =
            vec![(ACKNOWLEDGE, json!(ACKNOWLEDGED)), (read::REQUIREMENT, requirements.into())];
        match self.search {
            Search::TopDown { score, beneficial } => {
                entries.push(("score", json!(score.word())));
                entries.push(("beneficial", json!(beneficial)));
            }
            Search::Lattice(elements) => entries.push(("search", json!(elements.word()))),
        }
        entries.extend(self.linkage.map(|linkage| (read::LINKAGE, json!(linkage.word()))));
        entries.extend(self.slack.map(|slack| (read::SLACK, json!(slack.to_string()))));
        if let Some(sensitive) = &self.sensitive {
            entries.push(("sensitive", json!(sensitive.attribute)));
            entries.push(("protect", json!(sensitive.protect)));
        }
        Some(entries)
    }
}

#[cfg(test)]
mod tests {
    use super::combinations;

    /// The walk itself: beginnings that can be completed.
    fn walked(p: usize, l: usize) -> u64 {
        if l == 0 {
            return 1;
        }
        1 + (0..=p - l).map(|place| walked(p - place - 1, l - 1)).sum::<u64>()
    }

    #[test]
    fn combinations_are_as_many_as_the_walk_has_and_never_overflow() {
        for p in 0..12 {
            for l in 0..=p {
                assert_eq!(combinations(p, l), walked(p, l), "{l} of {p}");
            }
        }
        assert_eq!(combinations(3, 9), combinations(3, 3));
        assert_eq!(combinations(256, 256), 257);
        assert_eq!(combinations(256, 128), u64::MAX);
        assert_eq!(combinations(usize::MAX - 1, 2), u64::MAX);
    }
}
