//! Cuts: how far each attribute has been specialized. All of it is public.
//!
//! A cut through a taxonomy holds exactly one value of every path from the root to a leaf; a cut
//! through a numeric range is a list of intervals. Specializing a value replaces it, everywhere in
//! the table, by its children. The leaves of a release are the cross product of the cuts.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::{Domain, Schema, Taxonomy, ValueId};
use crate::Error;

/// A value on a cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum CutValue {
    /// A value of a taxonomy.
    Value(ValueId),
    /// Grid points of a numeric range.
    Interval {
        /// The first point.
        start: u32,
        /// One past the last point.
        end: u32,
    },
}

/// A value that could be specialized, of the attribute with this number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Candidate {
    /// The attribute's place in the schema.
    pub attribute: usize,
    /// A value on its cut that has children.
    pub value: CutValue,
}

/// One specialization, as one party sends it to the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Specialization {
    /// What is replaced by its children.
    pub candidate: Candidate,
    /// For an interval, the first point of the right child.
    pub split: Option<u32>,
}

/// The cuts of all attributes, and how they came about.
#[derive(Clone, Debug)]
pub struct Cuts {
    schema: Arc<Schema>,
    cuts: Vec<Vec<CutValue>>,
    made: Vec<Specialization>,
}

impl Cuts {
    /// Every attribute at its most general value.
    pub fn topmost(schema: &Arc<Schema>) -> Self {
        let top = |domain: &Domain| match domain {
            Domain::Categorical(taxonomy) | Domain::Set(taxonomy) => {
                CutValue::Value(taxonomy.root())
            }
            Domain::Numeric(range) => CutValue::Interval { start: 0, end: range.points() },
        };
        let cuts = schema.attributes.iter().map(|attribute| vec![top(&attribute.domain)]);
        Self { schema: schema.clone(), cuts: cuts.collect(), made: Vec::new() }
    }

    /// The schema they cut through.
    pub fn schema(&self) -> &Arc<Schema> {
        &self.schema
    }

    /// The values on an attribute's cut: in taxonomy pre-order, or ascending.
    pub fn of(&self, attribute: usize) -> &[CutValue] {
        &self.cuts[attribute]
    }

    /// Whether nothing but one value of an attribute is on its cut, although its domain has several.
    pub fn is_undivided(&self, attribute: usize) -> bool {
        let only = |value: &CutValue| Candidate { attribute, value: *value };
        match self.of(attribute) {
            [value] => self.can_be_specialized(only(value)),
            _ => false,
        }
    }

    /// The specializations so far, in the order they were made.
    pub fn made(&self) -> &[Specialization] {
        &self.made
    }

    /// All candidates of the attributes, in the order in which those are given.
    pub fn candidates(&self, attributes: impl IntoIterator<Item = usize>) -> Vec<Candidate> {
        let of_one = |attribute: usize| {
            self.cuts[attribute].iter().map(move |value| Candidate { attribute, value: *value })
        };
        let all = attributes.into_iter().flat_map(of_one);
        all.filter(|candidate| self.can_be_specialized(*candidate)).collect()
    }

    /// Whether a value has children.
    pub fn can_be_specialized(&self, candidate: Candidate) -> bool {
        let domain = &self.schema.attributes[candidate.attribute].domain;
        match (domain, candidate.value) {
            (Domain::Categorical(taxonomy) | Domain::Set(taxonomy), CutValue::Value(value)) => {
                !taxonomy.is_leaf(value)
            }
            (Domain::Numeric(_), CutValue::Interval { start, end }) => end - start > 1,
            _ => false,
        }
    }

    /// The children of a value on a cut, in order.
    ///
    /// # Errors
    /// An internal one, unless the value is on the cut and has children, and the split lies inside the
    /// interval.
    pub fn children(&self, specialization: &Specialization) -> Result<Vec<CutValue>, Error> {
        let candidate = specialization.candidate;
        let refused = || {
            Error::internal(format!(
                "{candidate:?} cannot be specialized here: both parties must use the same agreement \
                 and version"
            ))
        };
        let attribute = self.schema.attributes.get(candidate.attribute).ok_or_else(refused)?;
        if !self.cuts[candidate.attribute].contains(&candidate.value) {
            return Err(refused());
        }
        match (&attribute.domain, candidate.value, specialization.split) {
            (
                Domain::Categorical(taxonomy) | Domain::Set(taxonomy),
                CutValue::Value(value),
                None,
            ) if !taxonomy.is_leaf(value) => {
                Ok(taxonomy.children(value).map(CutValue::Value).collect())
            }
            (Domain::Numeric(_), CutValue::Interval { start, end }, Some(split))
                if start < split && split < end =>
            {
                let (left, right) = ((start, split), (split, end));
                Ok([left, right].map(|(start, end)| CutValue::Interval { start, end }).to_vec())
            }
            _ => Err(refused()),
        }
    }

    /// How many children a value has: two if it is an interval, wherever that is split.
    pub fn number_of_children(&self, candidate: Candidate) -> usize {
        match (&self.schema.attributes[candidate.attribute].domain, candidate.value) {
            (Domain::Categorical(taxonomy) | Domain::Set(taxonomy), CutValue::Value(value)) => {
                taxonomy.children(value).count()
            }
            _ => 2,
        }
    }

    /// How much of its attribute's range a value covers, and all of it: leaves of the taxonomy, or points
    /// of the grid.
    pub fn width(&self, candidate: Candidate) -> (u64, u64) {
        match (&self.schema.attributes[candidate.attribute].domain, candidate.value) {
            (Domain::Categorical(taxonomy) | Domain::Set(taxonomy), CutValue::Value(value)) => {
                let leaves = |value| taxonomy.leaf_range(value).len() as u64;
                (leaves(value), leaves(taxonomy.root()))
            }
            (Domain::Numeric(range), CutValue::Interval { start, end }) => {
                (u64::from(end - start), u64::from(range.points()))
            }
            _ => (0, 1),
        }
    }

    /// Replaces a value by its children and returns these.
    ///
    /// # Errors
    /// As [`Cuts::children`]; nothing is changed then.
    pub fn specialize(&mut self, specialization: &Specialization) -> Result<Vec<CutValue>, Error> {
        let children = self.children(specialization)?;
        let cut = &mut self.cuts[specialization.candidate.attribute];
        if let Some(place) = cut.iter().position(|v| *v == specialization.candidate.value) {
            cut.splice(place..=place, children.iter().copied());
        }
        self.made.push(*specialization);
        Ok(children)
    }

    /// The same cuts, made in an order that follows from them alone: by attribute, taxonomies in
    /// pre-order, ranges from below. The attribute `whole` is specialized down to its leaves.
    ///
    /// # Errors
    /// None in practice: what is on a cut can be reached.
    pub fn in_canonical_order(&self, whole: Option<usize>) -> Result<Self, Error> {
        Self::reaching(&self.schema, &self.cuts, whole)
    }

    /// The cuts with these values, made in canonical order.
    ///
    /// # Errors
    /// If there are no such cuts.
    pub fn reaching(
        schema: &Arc<Schema>,
        goals: &[Vec<CutValue>],
        whole: Option<usize>,
    ) -> Result<Self, Error> {
        let mut again = Self::topmost(schema);
        for (attribute, goal) in goals.iter().enumerate() {
            let is_done = |value: &CutValue| whole != Some(attribute) && goal.contains(value);
            let mut place = 0;
            while let Some(value) = again.cuts[attribute].get(place).copied() {
                let candidate = Candidate { attribute, value };
                if is_done(&value) || !again.can_be_specialized(candidate) {
                    place += 1;
                    continue;
                }
                let split = match value {
                    CutValue::Interval { start, .. } => {
                        goal.iter().map(|goal| goal.key()).find(|key| *key > start)
                    }
                    CutValue::Value(_) => None,
                };
                again.specialize(&Specialization { candidate, split })?;
            }
        }
        Ok(again)
    }

    /// How many leaves there are, sets aside.
    pub fn leaves(&self) -> u64 {
        self.cuts.iter().fold(1, |product, cut| product.saturating_mul(cut.len() as u64))
    }

    /// How a value is written in a release.
    pub fn name(&self, candidate: Candidate) -> String {
        match (&self.schema.attributes[candidate.attribute].domain, candidate.value) {
            (Domain::Categorical(taxonomy) | Domain::Set(taxonomy), CutValue::Value(value)) => {
                taxonomy.name(value).to_owned()
            }
            (Domain::Numeric(range), CutValue::Interval { start, end }) => {
                range.interval(start..end)
            }
            _ => String::new(),
        }
    }
}

impl CutValue {
    /// A number that tells the values of one cut apart and orders them as the cut does.
    pub fn key(self) -> u32 {
        match self {
            Self::Value(value) => value.index() as u32,
            Self::Interval { start, .. } => start,
        }
    }
}

/// The largest number of leaves after 0, 1, …, `specializations` of them, however the data looks;
/// numbers above `cap` stand for "more than `cap`".
///
/// For a set attribute every non-empty subset of its cut counts. Costs about
/// (values + attributes · specializations) · specializations steps.
pub fn most_leaves(schema: &Schema, specializations: u32, cap: u64) -> Vec<u64> {
    let most = specializations as usize;
    let mut best = vec![1u64];
    for attribute in &schema.attributes {
        let sizes = match &attribute.domain {
            Domain::Categorical(taxonomy) => largest_cuts(taxonomy, taxonomy.root(), most),
            Domain::Numeric(range) => {
                (1..=u64::from(range.points()).min(most as u64 + 1)).collect()
            }
            Domain::Set(taxonomy) => largest_cuts(taxonomy, taxonomy.root(), most)
                .into_iter()
                .map(|size| if size >= 63 { u64::MAX } else { (1 << size) - 1 })
                .collect(),
        };
        best = combined(&best, &sizes, most, |a, b| a.saturating_mul(b));
        best.iter_mut().for_each(|leaves| *leaves = (*leaves).min(cap.saturating_add(1)));
    }
    best.resize(most + 1, best.last().copied().unwrap_or(1));
    best
}

/// The size of the largest cut below `value` after 0, 1, … specializations.
fn largest_cuts(taxonomy: &Taxonomy, value: ValueId, most: usize) -> Vec<u64> {
    if taxonomy.is_leaf(value) || most == 0 {
        return vec![1];
    }
    let below = taxonomy.children(value).fold(vec![0], |sum, child| {
        combined(&sum, &largest_cuts(taxonomy, child, most - 1), most - 1, |a, b| a + b)
    });
    std::iter::once(1).chain(below).collect()
}

/// The best result of dividing k specializations between two parts, for k up to `most`.
fn combined(a: &[u64], b: &[u64], most: usize, join: impl Fn(u64, u64) -> u64) -> Vec<u64> {
    let mut best = vec![0; (a.len() + b.len() - 1).min(most + 1)];
    for (i, x) in a.iter().enumerate() {
        for (j, y) in b.iter().enumerate().take(best.len().saturating_sub(i)) {
            best[i + j] = best[i + j].max(join(*x, *y));
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::super::{Attribute, CellRules, Class, NumericDomain, OnBadValue, TaxonomyBuilder};
    use super::*;

    fn schema() -> Schema {
        let mut job = TaxonomyBuilder::new();
        job.open("Any_Job").unwrap();
        for (parent, leaves) in
            [("Professional", ["Engineer", "Lawyer"]), ("Artist", ["Dancer", "Writer"])]
        {
            job.open(parent).unwrap();
            leaves.iter().for_each(|leaf| job.leaf(leaf).unwrap());
            job.close();
        }
        let age = NumericDomain::new(18.into(), 64.into(), 1.into()).unwrap();
        let attribute = |name: &str, domain| Attribute {
            name: name.to_owned(),
            owner: None,
            domain,
            on_bad_value: OnBadValue::Refuse,
            rules: CellRules::default(),
        };
        Schema {
            attributes: vec![
                attribute("job", Domain::Categorical(job.finish().unwrap())),
                attribute("age", Domain::Numeric(age)),
            ],
            class: Class {
                column: "class".into(),
                owner: None,
                values: vec!["Y".into(), "N".into()],
            },
        }
    }

    fn names(cuts: &Cuts, attribute: usize) -> Vec<String> {
        let name = |value: &CutValue| cuts.name(Candidate { attribute, value: *value });
        cuts.of(attribute).iter().map(name).collect()
    }

    #[test]
    fn specializing_replaces_a_value_by_its_children_in_place() {
        let mut cuts = Cuts::topmost(&Arc::new(schema()));
        for _ in 0..2 {
            // The first candidate in the agreed order each time: Any_Job, then Professional.
            let candidate = cuts.candidates([0, 1])[0];
            cuts.specialize(&Specialization { candidate, split: None }).unwrap();
        }
        assert_eq!(names(&cuts, 0), ["Engineer", "Lawyer", "Artist"]);
        let age = cuts.candidates([1])[0];
        cuts.specialize(&Specialization { candidate: age, split: Some(22) }).unwrap();
        assert_eq!(names(&cuts, 1), ["[18..39]", "[40..64]"]);
        assert_eq!(cuts.leaves(), 6);
        assert_eq!(cuts.made().len(), 3);
        let left: Vec<_> = cuts.candidates([1, 0]).iter().map(|c| cuts.name(*c)).collect();
        assert_eq!(left, ["[18..39]", "[40..64]", "Artist"]);
    }

    #[test]
    fn what_is_no_candidate_is_refused_and_changes_nothing() {
        let mut cuts = Cuts::topmost(&Arc::new(schema()));
        let [job, age] = [0, 1].map(|attribute| cuts.candidates([attribute])[0]);
        let elsewhere = Candidate { attribute: 7, ..job };
        let below = CutValue::Interval { start: 3, end: 5 };
        for (candidate, split) in [
            (job, Some(3)),
            (age, None),
            (age, Some(0)),
            (age, Some(47)),
            (elsewhere, None),
            (Candidate { attribute: 1, ..job }, None),
            (Candidate { value: below, ..age }, Some(4)),
        ] {
            let refused = cuts.specialize(&Specialization { candidate, split });
            let refused = refused.unwrap_err();
            assert!(refused.message().contains("cannot be specialized here"), "{candidate:?}");
        }
        assert_eq!((cuts.leaves(), cuts.made().len()), (1, 0));
    }

    #[test]
    fn the_same_cuts_have_one_canonical_order() {
        let schema = Arc::new(schema());
        let made = |order: [usize; 4]| {
            let mut cuts = Cuts::topmost(&schema);
            for attribute in order {
                let candidate = cuts.candidates([attribute]).pop().unwrap();
                let split = match candidate.value {
                    CutValue::Interval { end, .. } => Some(if end == 47 { 22 } else { 10 }),
                    CutValue::Value(_) => None,
                };
                let candidate = match candidate.value {
                    CutValue::Interval { start: 22, .. } => cuts.candidates([1])[0],
                    _ => candidate,
                };
                let split = split.map(|split| if cuts.of(1).len() > 1 { 10 } else { split });
                cuts.specialize(&Specialization { candidate, split }).unwrap();
            }
            cuts
        };
        let (one, two) = (made([0, 1, 0, 1]), made([1, 1, 0, 0]));
        assert_eq!(one.cuts, two.cuts);
        assert_ne!(one.made, two.made);
        let [one, two] = [one, two].map(|cuts| cuts.in_canonical_order(None).unwrap());
        assert_eq!((&one.cuts, &one.made), (&two.cuts, &two.made));
        assert_eq!(names(&one, 0), ["Professional", "Dancer", "Writer"]);
        assert_eq!(names(&one, 1), ["[18..27]", "[28..39]", "[40..64]"]);
        let whole = two.in_canonical_order(Some(0)).unwrap();
        assert_eq!(names(&whole, 0), ["Engineer", "Lawyer", "Dancer", "Writer"]);
    }

    #[test]
    fn the_worst_case_counts_the_best_division_of_specializations() {
        let schema = schema();
        // 1 job + 1 age: 4; the second job pays 3/2, the second age too.
        assert_eq!(most_leaves(&schema, 4, 1 << 30), [1, 2, 4, 6, 9]);
        assert_eq!(most_leaves(&schema, 4, 5), [1, 2, 4, 6, 6]);
        let mut sets = schema.clone();
        if let Domain::Categorical(job) = &schema.attributes[0].domain {
            sets.attributes[0].domain = Domain::Set(job.clone());
        }
        sets.attributes.pop();
        // Cuts of 1, 2, 3, 4 values have 1, 3, 7, 15 non-empty subsets; more there is not.
        assert_eq!(most_leaves(&sets, 5, 1 << 30), [1, 3, 7, 15, 15, 15]);
    }
}
