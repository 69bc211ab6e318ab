//! What two parties keep while they specialize: what both know, and what one sees of everybody's values.

use std::collections::HashSet;

use super::super::Examined;
use super::super::diffgen::forecast::MOST_HASHES;
use super::super::tree::layout::Layout;
use super::super::tree::{Generalized, LeafList, Leaves};
use super::{Rule, groups};
use crate::Error;
use crate::agreement::Agreement;
use crate::agreement::syntactic::{Score, Search, Terms};
use crate::mechanism::heads::HeadShape;
use crate::protocol::sum_by_group::{self, CountShape};
use crate::release::lkc::too_many_cells;
use crate::role::Role;
use crate::table::{Candidate, CutValue, Cuts, Schema, Specialization};

/// What both parties know while they specialize.
pub(super) struct Shared<'a> {
    pub agreement: &'a Agreement,
    pub terms: &'a Terms,
    pub rules: Vec<Rule>,
    /// Common people.
    pub records: usize,
    pub cuts: Cuts,
    /// The position of the sensitive attribute.
    pub sensitive: Option<usize>,
    refused: HashSet<Candidate>,
    pub course: Vec<Examined>,
}

impl<'a> Shared<'a> {
    pub fn new(agreement: &'a Agreement, terms: &'a Terms, records: usize) -> Self {
        Self {
            agreement,
            terms,
            rules: Rule::of(terms, &agreement.schema),
            records,
            cuts: Cuts::topmost(&agreement.schema),
            sensitive: groups::protected(terms, &agreement.schema).map(|(place, _)| place),
            refused: HashSet::new(),
            course: Vec::new(),
        }
    }

    pub fn schema(&self) -> &Schema {
        &self.agreement.schema
    }

    /// Who holds an attribute.
    pub fn owner(&self, attribute: usize) -> Role {
        self.schema().attributes[attribute].owner.unwrap_or(Role::P1)
    }

    /// Who holds the sensitive attribute, where what is told of it is bounded.
    pub fn holder(&self) -> Option<Role> {
        let limited = self.rules.iter().any(Rule::is_limited);
        self.sensitive.filter(|_| limited).map(|place| self.owner(place))
    }

    /// How the best of both are compared.
    pub fn heads(&self) -> HeadShape {
        let ratio = matches!(self.terms.search, Search::TopDown { score: Score::GainRatio, .. });
        HeadShape { fractions: ratio }
    }

    /// What a party may still name, in the order of the agreement.
    pub fn candidates(&self, owner: Role) -> Vec<Candidate> {
        let own = self.terms.quasi(self.schema()).filter(|place| self.owner(*place) == owner);
        let mut all = self.cuts.candidates(own);
        all.retain(|candidate| !self.refused.contains(candidate));
        all
    }

    /// A candidate stays as it is.
    pub fn refuse(&mut self, candidate: Candidate) {
        self.refused.insert(candidate);
        let made = Specialization { candidate, split: None };
        self.course.push(Examined { made, performed: false });
    }

    /// A candidate is replaced by its children.
    ///
    /// # Errors
    /// If the release could no longer be counted.
    pub fn perform(&mut self, made: &Specialization) -> Result<Vec<CutValue>, Error> {
        let children = self.cuts.specialize(made)?;
        self.course.push(Examined { made: *made, performed: true });
        self.release_table()?;
        Ok(children)
    }

    /// The cuts of the release, and how its counts are made.
    ///
    /// # Errors
    /// If there are too many.
    pub fn release_table(&self) -> Result<(Cuts, Layout, CountShape), Error> {
        let cuts = self.cuts.in_canonical_order(self.sensitive)?;
        let rows = cuts.leaves().saturating_mul(self.schema().class.values.len() as u64);
        if rows > sum_by_group::MOST_SUMS as u64 {
            return Err(too_many_cells(rows));
        }
        let layout = Layout::new(&cuts, self.agreement);
        let shape = layout.by_transfers(self.records, bits_of(self.records as u64));
        if shape.check().is_err() || shape.hashes() > MOST_HASHES {
            return Err(too_many_cells(rows));
        }
        Ok((cuts, layout, shape))
    }

    /// What was examined, for the eyes of the two parties.
    pub fn notes(&self) -> Vec<String> {
        let mut cuts = Cuts::topmost(self.cuts.schema());
        let mut lines = Vec::new();
        for Examined { made, performed } in &self.course {
            let attribute = &self.schema().attributes[made.candidate.attribute].name;
            let name = cuts.name(made.candidate);
            lines.push(match performed {
                true => format!("{attribute}: {name} was specialized"),
                false => format!("{attribute}: {name} stays"),
            });
            if *performed {
                let _ = cuts.specialize(made);
            }
        }
        lines
    }
}

/// Bits that hold a number; at least one.
pub(super) fn bits_of(number: u64) -> u32 {
    (u64::BITS - number.leading_zeros()).max(1)
}

/// The rows with people, of counts for all leaves and classes in order.
pub(super) fn listed(cuts: Cuts, counts: &[u64]) -> Generalized {
    let classes = cuts.schema().class.values.len();
    let (mut coordinates, mut kept) = (Vec::new(), Vec::new());
    for (leaf, counts) in counts.chunks_exact(classes).enumerate() {
        if counts.iter().all(|count| *count == 0) {
            continue;
        }
        let mut rest = leaf;
        let mut keys = Vec::with_capacity(cuts.schema().attributes.len());
        for attribute in (0..cuts.schema().attributes.len()).rev() {
            let cut = cuts.of(attribute);
            keys.push(cut[rest % cut.len()].key());
            rest /= cut.len();
        }
        keys.reverse();
        coordinates.push(keys);
        kept.extend_from_slice(counts);
    }
    let leaves = Leaves::Listed(LeafList { coordinates, sets: Vec::new() });
    Generalized { cuts, leaves, counts: kept }
}

/// Which value of a cut each person has, for the attributes that a party sees.
pub(super) struct Values {
    /// Per attribute, a key for every person.
    keys: Vec<Option<Vec<u32>>>,
}

impl Values {
    pub fn new(cuts: &Cuts) -> Self {
        Self { keys: vec![None; cuts.schema().attributes.len()] }
    }

    /// Everybody has the coarsest value.
    pub fn know(&mut self, cuts: &Cuts, attribute: usize, records: usize) {
        self.keys[attribute] = Some(vec![cuts.of(attribute)[0].key(); records]);
    }

    /// Sees an attribute from now on, if it was not seen before: nobody's value was ever replaced.
    pub fn see(&mut self, cuts: &Cuts, attribute: usize, records: usize) {
        if self.keys[attribute].is_none() {
            self.know(cuts, attribute, records);
        }
    }

    /// Who has a value.
    pub fn holding(&self, candidate: Candidate) -> Vec<usize> {
        let key = candidate.value.key();
        let keys = self.keys[candidate.attribute].iter().flatten().enumerate();
        keys.filter(|(_, known)| **known == key).map(|(record, _)| record).collect()
    }

    /// Everybody's place on the cut, if the attribute is seen.
    pub fn places(&self, cuts: &Cuts, attribute: usize) -> Option<Vec<u32>> {
        let cut = cuts.of(attribute);
        let place = |key: &u32| cut.partition_point(|value| value.key() < *key) as u32;
        Some(self.keys[attribute].as_ref()?.iter().map(place).collect())
    }

    /// A value was replaced by its children.
    pub fn follow(
        &mut self,
        candidate: Candidate,
        children: &[CutValue],
        child: impl Fn(usize) -> usize,
    ) {
        let holding = self.holding(candidate);
        let Some(keys) = &mut self.keys[candidate.attribute] else { return };
        for record in holding {
            if let Some(value) = children.get(child(record)) {
                keys[record] = value.key();
            }
        }
    }
}
