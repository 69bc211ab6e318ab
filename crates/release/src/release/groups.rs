//! Groups of people with the same values, and whether they are as an agreement requires: what models
//! have in common that hide people in groups.
//!
//! *Which combinations are tested.* A rule speaks of every combination of at most l values. A
//! combination of fewer is a union of longer ones: people add up, and the part that has a protected
//! value is an average of theirs. So combinations of exactly min(l, p) attributes suffice, where p
//! attributes have more than one value at all; they are walked depth first, and each step divides the
//! cells of the one before, so that a cell is a number and no key is ever hashed from a whole tuple.
//!
//! *Cost*: groups are divided C(p + 1, l) times, shorter combinations on the way included, with p − 1
//! and l − 1 where one attribute is given. [`Groups::steps`] foretells it: who tests a table of
//! somebody else refuses above [`MOST_STEPS`].

pub mod protected;
pub mod table;

use std::collections::HashMap;

use rayon::prelude::*;

use crate::Error;
use crate::agreement::syntactic::{Terms, combinations};
use crate::table::{Domain, Schema};

/// Most steps of a test of another party's table.
pub const MOST_STEPS: u64 = 1_000_000_000;

/// An error for groups that cannot be tested in reasonable time.
pub fn too_many_steps(steps: u64) -> Error {
    Error::input(format!(
        "too many combinations to check: {steps} steps, above {MOST_STEPS}; agree on a smaller l or fewer \
         attributes"
    ))
}

/// A requirement of an agreement, by places of attributes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// What an attacker may know.
    pub attributes: Vec<usize>,
    /// How many of them at a time.
    pub most: usize,
    /// People in a group, at least.
    pub k: u64,
    /// The part of them that may have a protected value, as a fraction.
    pub part: (u64, u64),
}

/// Groups of people who agree in all values.
#[derive(Clone, Debug, Default)]
pub struct Groups {
    /// Per attribute, the number of each group's value.
    pub values: Vec<Vec<u32>>,
    /// Per attribute, how many values there are; numbers are below.
    pub widths: Vec<u32>,
    /// Per group, its people and how many of them have each protected value.
    pub counts: Vec<u64>,
    /// How many protected values there are.
    pub protected: usize,
}

/// The extremes of the combinations that were tested.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extremes {
    /// People in the smallest group.
    pub smallest: u64,
    /// Of the group that tells most: how many have the protected value, and how many people there are.
    pub largest: (u64, u64),
    /// The first combination that breaks the rule.
    pub offender: Option<Offender>,
}

/// People who share a combination of values, and break a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offender {
    /// The attributes of the combination.
    pub attributes: Vec<usize>,
    /// A group that has it.
    pub group: usize,
    /// How many people.
    pub people: u64,
    /// The protected value that too many of them have, and how many; none if they are too few.
    pub told: Option<(usize, u64)>,
}

impl Rule {
    /// The rules of an agreement.
    pub fn of(terms: &Terms, schema: &Schema) -> Vec<Self> {
        let place = |name: &&str| schema.attributes.iter().position(|a| a.name == **name);
        let rule = |one: &crate::agreement::syntactic::Requirement| {
            let attributes: Vec<usize> =
                one.names(terms, schema).iter().filter_map(place).collect();
            let (above, below) = one.c.ratio();
            Self {
                most: one.l.map_or(attributes.len(), |l| l as usize),
                attributes,
                k: one.k,
                part: (u64::try_from(above).unwrap_or(0), below),
            }
        };
        terms.requirements.iter().map(rule).collect()
    }

    /// Whether it bounds what a group tells of protected values.
    pub fn is_limited(&self) -> bool {
        self.part.0 < self.part.1
    }

    /// Whether so many of so many people may have a protected value.
    pub fn allows(&self, people: u64, told: u64) -> bool {
        u128::from(told) * u128::from(self.part.1) <= u128::from(people) * u128::from(self.part.0)
    }
}

impl Default for Extremes {
    fn default() -> Self {
        Self { smallest: u64::MAX, largest: (0, 1), offender: None }
    }
}

impl Extremes {
    /// Those of both; the first offender counts.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            smallest: self.smallest.min(other.smallest),
            largest: larger(self.largest, other.largest),
            offender: self.offender.or(other.offender),
        }
    }

    /// Has seen so many of so many people with a protected value.
    pub fn widen(&mut self, told: u64, people: u64) {
        self.largest = larger(self.largest, (told, people));
    }
}

fn larger(a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
    if u128::from(b.0) * u128::from(a.1) > u128::from(a.0) * u128::from(b.1) { b } else { a }
}

/// Groups by what has been looked at so far.
struct Cells {
    /// Of each group.
    of: Vec<u32>,
    count: usize,
    attributes: Vec<usize>,
}

impl Groups {
    /// Without any group.
    pub fn new(attributes: usize, protected: usize) -> Self {
        let (values, widths) = (vec![Vec::new(); attributes], vec![0; attributes]);
        Self { values, widths, counts: Vec::new(), protected }
    }

    /// How many groups there are.
    pub fn len(&self) -> usize {
        self.counts.len() / (self.protected + 1)
    }

    /// Whether there is no group.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Adds people to a table without groups: per attribute that is known, everybody's value; and
    /// everybody's label, 0 or one more than the place of a protected value.
    pub fn add_people(
        &mut self,
        known: &[(usize, Vec<u32>)],
        labels: impl ExactSizeIterator<Item = u8>,
    ) {
        let mut of = vec![0u32; labels.len()];
        let mut first: Vec<usize> = if of.is_empty() { Vec::new() } else { vec![0] };
        for (_, values) in known.iter().filter(|(attribute, _)| self.widths[*attribute] > 1) {
            let mut numbers = HashMap::new();
            first.clear();
            for (person, (group, value)) in of.iter_mut().zip(values).enumerate() {
                let next = numbers.len() as u32;
                *group = *numbers.entry((*group, *value)).or_insert_with(|| {
                    first.push(person);
                    next
                });
            }
        }
        for (attribute, column) in self.values.iter_mut().enumerate() {
            let values = known.iter().find(|(place, _)| *place == attribute);
            let value = |person: &usize| values.map_or(0, |(_, values)| values[*person]);
            column.extend(first.iter().map(value));
        }
        let wide = self.protected + 1;
        self.counts = vec![0; first.len() * wide];
        for (group, label) in of.iter().zip(labels) {
            let counts = &mut self.counts[*group as usize * wide..][..wide];
            counts[0] += 1;
            if label > 0 {
                counts[usize::from(label)] += 1;
            }
        }
    }

    /// People who are the only ones with their values.
    pub fn alone(&self) -> u64 {
        self.counts.chunks_exact(self.protected + 1).filter(|counts| counts[0] == 1).count() as u64
    }

    /// How many steps a test takes: groups times combinations, and each protected value counts as a
    /// group more.
    pub fn steps(&self, rule: &Rule) -> u64 {
        let several = rule.attributes.iter().filter(|attribute| self.widths[**attribute] > 1);
        (self.counts.len() as u64).saturating_mul(combinations(several.count(), rule.most))
    }

    /// Tests every combination that a rule speaks of; of those with the attribute `given` alone, if
    /// one is. Ends at an offender with its part of them.
    pub fn test(&self, rule: &Rule, given: Option<usize>) -> Extremes {
        let several = |attribute: &usize| self.widths[*attribute] > 1 && Some(*attribute) != given;
        let others: Vec<usize> = rule.attributes.iter().copied().filter(several).collect();
        let mut first = Cells { of: vec![0; self.len()], count: 1, attributes: Vec::new() };
        let mut left = rule.most.min(others.len() + usize::from(given.is_some()));
        if let Some(attribute) = given {
            first = self.divide(&first, attribute);
            left = left.saturating_sub(1);
        }
        if left == 0 {
            return self.extremes(rule, &first);
        }
        // Each begins with another attribute, so no combination is tested twice.
        let found: Vec<Extremes> = (0..=others.len() - left)
            .into_par_iter()
            .map(|place| {
                let mut extremes = Extremes::default();
                let cells = self.divide(&first, others[place]);
                self.walk(rule, &cells, &others[place + 1..], left - 1, &mut extremes);
                extremes
            })
            .collect();
        found.into_iter().fold(Extremes::default(), Extremes::and)
    }

    fn walk(&self, rule: &Rule, cells: &Cells, rest: &[usize], left: usize, found: &mut Extremes) {
        if left == 0 {
            *found = std::mem::take(found).and(self.extremes(rule, cells));
            return;
        }
        for place in 0..=rest.len() - left {
            let finer = self.divide(cells, rest[place]);
            self.walk(rule, &finer, &rest[place + 1..], left - 1, found);
            if found.offender.is_some() {
                return;
            }
        }
    }

    fn divide(&self, cells: &Cells, attribute: usize) -> Cells {
        let (values, width) = (&self.values[attribute], self.widths[attribute] as usize);
        let mut count = 0;
        let mut next = || {
            count += 1;
            count - 1
        };
        let pairs = cells.of.iter().zip(values);
        let of = if cells.count.saturating_mul(width) <= (4 * values.len()).max(1 << 12) {
            let mut numbers = vec![u32::MAX; cells.count * width];
            pairs
                .map(|(cell, value)| {
                    let number = &mut numbers[*cell as usize * width + *value as usize];
                    if *number == u32::MAX {
                        *number = next();
                    }
                    *number
                })
                .collect()
        } else {
            let mut numbers = HashMap::new();
            pairs.map(|pair| *numbers.entry(pair).or_insert_with(&mut next)).collect()
        };
        let attributes = cells.attributes.iter().copied().chain([attribute]).collect();
        Cells { of, count: count as usize, attributes }
    }

    fn extremes(&self, rule: &Rule, cells: &Cells) -> Extremes {
        let wide = self.protected + 1;
        let mut sums = vec![0; cells.count * wide];
        for (cell, counts) in cells.of.iter().zip(self.counts.chunks_exact(wide)) {
            let sums = &mut sums[*cell as usize * wide..][..wide];
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        let mut found = Extremes::default();
        for (cell, sums) in sums.chunks_exact(wide).enumerate() {
            let people = sums[0];
            found.smallest = found.smallest.min(people);
            let mut told = None;
            for (value, count) in sums[1..].iter().enumerate() {
                found.largest = larger(found.largest, (*count, people));
                if !rule.allows(people, *count) {
                    told = told.or(Some((value, *count)));
                }
            }
            if found.offender.is_none() && (people < rule.k || told.is_some()) {
                let group = cells.of.iter().position(|of| *of as usize == cell).unwrap_or(0);
                let attributes = cells.attributes.clone();
                let told = told.filter(|_| people >= rule.k);
                found.offender = Some(Offender { attributes, group, people, told });
            }
        }
        found
    }
}

/// The codes of the protected values, as places among the leaves, and where the attribute stands.
pub fn protected(terms: &Terms, schema: &Schema) -> Option<(usize, Vec<usize>)> {
    let sensitive = terms.sensitive.as_ref()?;
    let place = schema.attributes.iter().position(|a| a.name == sensitive.attribute)?;
    let Domain::Categorical(values) = &schema.attributes[place].domain else { return None };
    let code = |name: &String| {
        let value = values.find(name)?;
        values.leaves().iter().position(|leaf| *leaf == value)
    };
    Some((place, sensitive.protect.iter().filter_map(code).collect()))
}
