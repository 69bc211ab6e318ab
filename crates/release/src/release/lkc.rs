//! LKC-privacy by top-down specialization (thesis 3.1; PPMashup and the game paper for the other
//! scores): by one party here, by two in `vertical` and `horizontal`. *Not differential privacy*: see
//! [`crate::agreement::syntactic`].
//!
//! *Inputs*: the table and the agreement. *Output*: the table generalized by global cuts, with exact
//! counts, the sensitive attribute as it is. *Learned*: all of it, by whoever reads the release.
//!
//! Every value starts at its coarsest. A *candidate* is a value on a cut with finer ones and records;
//! it is *valid* if the table after it still meets every rule of [`groups`]. The valid candidate of
//! the highest score is replaced by its children, until there is none.
//!
//! *Theorem (lazy validity).* A specialization divides cells and never joins them. So no smallest
//! group grows and no largest part falls, and **an invalid candidate stays invalid**. The scores of
//! [`Score::InfoGain`], [`Score::GainRatio`] and [`Score::Max`] depend on the records of the value
//! alone, which do not change while it is on the cut. So the best candidate is taken, tested once,
//! and performed or dropped for good; the result is that of testing all of them in every step.
//!
//! An interval's split is that of the largest information gain; of those, the highest point that
//! leaves people on both sides. By score `max` it is that of the largest score, which many splits have:
//! of those the one that divides people most evenly, and of these the highest. If it is invalid the
//! interval is dropped, though another split might not be.
//!
//! *Cost*: each test reads the records of its value once and then works on groups; see [`groups`].

pub(super) mod forecast;
pub mod game;
pub(super) mod horizontal;
mod model;
mod rows;
mod score;
mod sealed;
mod state;
#[cfg(test)]
mod tests;
pub(super) mod vertical;

use std::collections::BTreeMap;
use std::sync::Arc;

use super::groups::{self, Extremes, Groups, Rule};
use super::plan::Plan;
use super::tree::leaf_records::{LeafId, LeafRecords};
use super::tree::output::most_bytes_of_rows;
use super::tree::utility::Logarithms;
use super::tree::{Generalized, LeafList, Leaves};
use super::{Release, Step};
use crate::Error;
use crate::agreement::syntactic::{Score, Search, Terms};
use crate::agreement::{Agreement, Partition};
use crate::privacy::Promise;
use crate::release::unmet;
use crate::table::{Candidate, Column, CutValue, Cuts, Domain, Schema, Specialization, Table};
use rayon::prelude::*;
use score::{Kept, Value};

pub(super) fn plan(agreement: &Agreement, terms: &Terms) -> Plan {
    let people = match agreement.partition {
        Partition::Horizontal { .. } => agreement.max_records.saturating_mul(2),
        _ => agreement.max_records,
    };
    let rows = people.saturating_mul(agreement.schema.class.values.len() as u64);
    Plan {
        promise: Promise::Words(terms.promise(&agreement.schema)),
        most_bytes: most_bytes_of_rows(&agreement.schema, rows),
        most_rows: rows,
        details: Vec::new(),
    }
}

pub(super) fn alone(
    agreement: &Agreement,
    terms: &Terms,
    table: &Table,
    progress: &dyn Fn(Step),
) -> Result<Release, Error> {
    progress(Step::Began { phase: "specializing", total: table.len() });
    let made = specialize(&agreement.schema, terms, table)?;
    progress(Step::Advanced(table.len()));
    progress(Step::Ended);
    let notes = made.notes();
    Ok(Release { table: made.into_table()?, spends: Vec::new(), notes })
}

/// A candidate that was looked at, and what became of it.
#[derive(Clone, Debug)]
pub struct Tried {
    /// What would be replaced.
    pub made: Specialization,
    /// What it is worth.
    pub value: Value,
    /// How the table would have broken a rule, in words; none if the candidate was performed.
    pub refused: Option<String>,
}

/// Candidates that have a score.
#[derive(Clone, Debug)]
struct Scored {
    made: Specialization,
    value: Value,
    /// What the score follows from, if that never changes.
    kept: Option<Kept>,
}

/// A table specialized as far as its rules allow.
pub struct Specialized<'t> {
    rules: Vec<Rule>,
    score: Score,
    beneficial: bool,
    table: &'t Table,
    records: LeafRecords<'t>,
    cuts: Cuts,
    logarithms: Logarithms,
    /// The position of the sensitive attribute, and the names of its values.
    sensitive: Option<usize>,
    protected: Vec<String>,
    /// Of each record: 0, or one more than the place of its protected value.
    labels: Vec<u8>,
    /// Of each rule, as the table is.
    extremes: Vec<Extremes>,
    tried: Vec<Tried>,
}

/// Specializes a table as far as the terms allow.
///
/// # Errors
/// If even the coarsest table breaks a rule; those of a table without a column.
pub fn specialize<'t>(
    schema: &Arc<Schema>,
    terms: &Terms,
    table: &'t Table,
) -> Result<Specialized<'t>, Error> {
    let (mut made, mut open) = begin(schema, terms, table)?;
    while let Some(best) = best(&open) {
        let Scored { made: specialization, value, .. } = open.swap_remove(best);
        let (found, refused) = made.tested(terms, &specialization)?;
        let performed = refused.is_none();
        made.tried.push(Tried { made: specialization, value, refused });
        if performed {
            made.perform_among(&mut open, &specialization, found)?;
        }
    }
    Ok(made)
}

/// A table at its coarsest, and what can be specialized of it.
fn begin<'t>(
    schema: &Arc<Schema>,
    terms: &Terms,
    table: &'t Table,
) -> Result<(Specialized<'t>, Vec<Scored>), Error> {
    let mut made = Specialized::start(schema, terms, table)?;
    if made.sensitive.is_some_and(|place| table.column(place).is_none()) {
        return Err(no_sensitive_column());
    }
    made.meet_at_top(terms)?;
    let quasi: Vec<usize> = terms.quasi(schema).collect();
    let mut open = Vec::new();
    for candidate in made.cuts.candidates(quasi) {
        open.extend(made.scored(candidate)?);
    }
    Ok((made, open))
}

/// The place of the highest score; of equal ones, that of the first in the agreement's order.
fn best(open: &[Scored]) -> Option<usize> {
    let order = |one: &Scored| (one.made.candidate.attribute, one.made.candidate.value.key());
    (0..open.len()).max_by(|a, b| {
        let (a, b) = (&open[*a], &open[*b]);
        a.value.cmp(&b.value).then_with(|| order(b).cmp(&order(a)))
    })
}

/// An error for more combinations of values than two parties can count together.
fn too_many_cells(cells: u64) -> Error {
    Error::input(format!(
        "two parties would have to count {cells} combinations of values, which takes too long; agree on \
         fewer attributes, a larger k, or an l of all attributes"
    ))
}

fn no_sensitive_column() -> Error {
    Error::fault("the sensitive column was not read")
}

pub(super) fn labels(table: &Table, sensitive: usize, codes: &[usize]) -> Result<Vec<u8>, Error> {
    let Some(Column::Categorical(column)) = table.column(sensitive) else {
        return Err(no_sensitive_column());
    };
    let label = |code: &u16| codes.iter().position(|known| *known == usize::from(*code));
    Ok(column.iter().map(|code| label(code).map_or(0, |place| (place + 1) as u8)).collect())
}

/// How a group breaks a rule, in words.
pub(super) fn words(
    schema: &Schema,
    terms: &Terms,
    rule: &Rule,
    offender: &groups::Offender,
) -> String {
    let name = |place: &usize| schema.attributes[*place].name.as_str();
    let by: Vec<&str> = offender.attributes.iter().map(name).collect();
    let by = if by.is_empty() { String::new() } else { format!(" by {}", by.join(", ")) };
    let people = offender.people;
    match (offender.told, &terms.sensitive) {
        (Some((value, told)), Some(sensitive)) => format!(
            "of a group{by} of {people} people {told} have {}, more than c allows",
            sensitive.protect[value]
        ),
        _ => {
            let noun = if people == 1 { "person" } else { "people" };
            format!("a group{by} has {people} {noun}, fewer than k = {}", rule.k)
        }
    }
}

impl<'t> Specialized<'t> {
    /// All records at the coarsest values. A table without the sensitive column labels nobody.
    fn start(schema: &Arc<Schema>, terms: &Terms, table: &'t Table) -> Result<Self, Error> {
        let (score, beneficial) = match terms.search {
            Search::TopDown { score, beneficial } => (score, beneficial),
            Search::Lattice(_) => (Score::InfoGain, true),
        };
        let protected = groups::protected(terms, schema);
        let labels = match &protected {
            Some((place, codes)) if table.column(*place).is_some() => labels(table, *place, codes)?,
            _ => vec![0; table.len()],
        };
        Ok(Self {
            rules: Rule::of(terms, schema),
            score,
            beneficial,
            table,
            records: LeafRecords::new(schema, table)?,
            cuts: Cuts::topmost(schema),
            logarithms: Logarithms::up_to(table.len()),
            sensitive: protected.map(|(place, _)| place),
            protected: terms.sensitive.as_ref().map_or(Vec::new(), |s| s.protect.clone()),
            labels,
            extremes: Vec::new(),
            tried: Vec::new(),
        })
    }
}

impl Specialized<'_> {
    /// Everything that was looked at, in order.
    pub fn tried(&self) -> &[Tried] {
        &self.tried
    }

    /// The cuts, with the specializations in the order they were made.
    pub fn cuts(&self) -> &Cuts {
        &self.cuts
    }

    /// The coarsest table must meet every rule.
    fn meet_at_top(&mut self, terms: &Terms) -> Result<(), Error> {
        let mut top = Groups::new(self.cuts.schema().attributes.len(), self.protected.len());
        top.values.iter_mut().for_each(|column| column.push(0));
        let mut counts = vec![0; self.protected.len() + 1];
        self.labels.iter().filter(|label| **label > 0).for_each(|l| counts[usize::from(*l)] += 1);
        counts[0] = self.table.len() as u64;
        top.counts = counts;
        for rule in &self.rules {
            let extremes = top.test(rule, None);
            if let Some(offender) = &extremes.offender {
                let schema = self.cuts.schema();
                return Err(unmet(&words(schema, terms, rule, offender)));
            }
            self.extremes.push(extremes);
        }
        Ok(())
    }

    /// A candidate with its score; none if it has no records, no split, or is not worth it.
    fn scored(&self, candidate: Candidate) -> Result<Option<Scored>, Error> {
        let leaves = self.records.link(candidate.attribute, candidate.value);
        let mut classes = vec![0u64; self.records.classes()];
        for leaf in &leaves {
            let counts = self.records.counts(*leaf).iter();
            classes.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u64::from(*count));
        }
        let present = classes.iter().filter(|count| **count > 0).count();
        if present == 0 || (self.beneficial && present < 2) {
            return Ok(None);
        }
        let split = match candidate.value {
            CutValue::Interval { .. } => match self.best_split(candidate, &leaves)? {
                Some(split) => Some(split),
                None => return Ok(None),
            },
            CutValue::Value(_) => None,
        };
        let made = Specialization { candidate, split };
        let (value, kept) = self.value(&made)?;
        Ok(Some(Scored { made, value, kept }))
    }

    /// Whether a candidate's score may be another once a value of an attribute was specialized. Gains
    /// stay as they are, and losses where no rule speaks of both attributes.
    fn is_touched(&self, one: &Scored, attribute: usize) -> bool {
        let of_both = |rule: &Rule| {
            [attribute, one.made.candidate.attribute].iter().all(|a| rule.attributes.contains(a))
        };
        match self.score {
            Score::GainPerLoss => self.rules.iter().any(of_both) || one.kept.is_some(),
            _ => false,
        }
    }

    /// The rules as they would be met after a specialization; none for those that it does not touch.
    fn extremes_after(&self, made: &Specialization) -> Result<Vec<Option<Extremes>>, Error> {
        let attribute = made.candidate.attribute;
        let touched = |rule: &&Rule| rule.attributes.contains(&attribute);
        if !self.rules.iter().any(|rule| touched(&rule)) {
            return Ok(vec![None; self.rules.len()]);
        }
        let groups = self.groups_after(made)?;
        let test = |rule| touched(&rule).then(|| groups.test(rule, Some(attribute)));
        Ok(self.rules.iter().map(test).collect())
    }

    /// The same, and how the table would break a rule, in words; none if it would not.
    fn tested(
        &self,
        terms: &Terms,
        made: &Specialization,
    ) -> Result<(Vec<Option<Extremes>>, Option<String>), Error> {
        let found = self.extremes_after(made)?;
        let offence = found.iter().zip(&self.rules).find_map(|(extremes, rule)| {
            let offender = extremes.as_ref()?.offender.as_ref()?;
            Some(words(self.cuts.schema(), terms, rule, offender))
        });
        Ok((found, offence))
    }

    /// The groups that the records of a value would form.
    fn groups_after(&self, made: &Specialization) -> Result<Groups, Error> {
        let (child_of, attribute) = (self.records.child_of(made)?, made.candidate.attribute);
        let (wide, leaves) = (self.protected.len() + 1, self.linked(made));
        let tallies: Vec<Vec<u32>> = leaves
            .par_iter()
            .map(|leaf| child_of.tally(self.records.records(*leaf), &self.labels, wide))
            .collect();
        let mut groups = Groups::new(self.cuts.schema().attributes.len(), self.protected.len());
        for (place, width) in groups.widths.iter_mut().enumerate() {
            *width = self.cuts.of(place).len() as u32;
        }
        groups.widths[attribute] = self.cuts.number_of_children(made.candidate) as u32;
        // Nobody looks at the values of others then.
        let alone = self.rules.iter().all(|rule| rule.most <= 1);
        for (leaf, tally) in leaves.iter().zip(tallies) {
            let coordinates = self.records.coordinates(*leaf);
            for (child, counts) in tally.chunks_exact(wide).enumerate() {
                let people: u64 = counts.iter().map(|count| u64::from(*count)).sum();
                if people == 0 {
                    continue;
                }
                for (place, column) in groups.values.iter_mut().enumerate() {
                    if place != attribute && alone {
                        continue;
                    }
                    let of_leaf = |key| self.cuts.of(place).partition_point(|v| v.key() < key);
                    let number =
                        if place == attribute { child } else { of_leaf(coordinates[place]) };
                    column.push(number as u32);
                }
                groups.counts.push(people);
                groups.counts.extend(counts[1..].iter().map(|count| u64::from(*count)));
            }
        }
        Ok(groups)
    }

    fn linked(&self, made: &Specialization) -> Vec<LeafId> {
        self.records.link(made.candidate.attribute, made.candidate.value)
    }

    /// Of each candidate, the pairs of people that it parts in some leaves.
    fn drops(&self, open: &[Scored], leaves: &[LeafId]) -> Result<Vec<u128>, Error> {
        let mut having: BTreeMap<(usize, u32), Vec<LeafId>> = BTreeMap::new();
        for leaf in leaves {
            for place in self.records.coordinates(*leaf).into_iter().enumerate() {
                having.entry(place).or_default().push(*leaf);
            }
        }
        let drop = |one: &Scored| {
            let Candidate { attribute, value } = one.made.candidate;
            match having.get(&(attribute, value.key())) {
                Some(leaves) => self.drop_in(&one.made, leaves),
                None => Ok(0),
            }
        };
        open.iter().map(drop).collect()
    }

    /// Replaces a value by its children, which are candidates from now on, and scores again where
    /// scores depend on the whole table. Of discernibility only what the divided leaves had to do with
    /// it changes.
    fn perform_among(
        &mut self,
        open: &mut Vec<Scored>,
        made: &Specialization,
        found: Vec<Option<Extremes>>,
    ) -> Result<(), Error> {
        let (attribute, by_leaf) =
            (made.candidate.attribute, self.score == Score::DiscernibilityDrop);
        let lost = if by_leaf { self.drops(open, &self.linked(made))? } else { Vec::new() };
        let (children, fresh) = self.perform(made, found)?;
        if by_leaf {
            let of_child = |child| self.records.link(attribute, child);
            let leaves: Vec<LeafId> = children.into_iter().flat_map(of_child).collect();
            let gained = self.drops(open, &leaves)?;
            for ((one, lost), gained) in open.iter_mut().zip(lost).zip(gained) {
                one.value = one.value.moved(lost, gained);
            }
        }
        for one in open.iter_mut().filter(|one| self.is_touched(one, attribute)) {
            one.value = match &one.kept {
                Some(kept) => self.per_loss(kept),
                None => self.value(&one.made)?.0,
            };
        }
        open.extend(fresh);
        Ok(())
    }

    /// Replaces a value by its children; these, and what can be specialized of them.
    fn perform(
        &mut self,
        made: &Specialization,
        found: Vec<Option<Extremes>>,
    ) -> Result<(Vec<CutValue>, Vec<Scored>), Error> {
        let children = self.cuts.specialize(made)?;
        self.records.specialize(made, &children)?;
        for (extremes, found) in self.extremes.iter_mut().zip(found) {
            // What was not divided is as it was, and the rest was never better than that.
            *extremes = std::mem::take(extremes).and(found.unwrap_or_default());
        }
        let mut open = Vec::new();
        for value in children.iter().copied() {
            let candidate = Candidate { value, ..made.candidate };
            if self.cuts.can_be_specialized(candidate) {
                open.extend(self.scored(candidate)?);
            }
        }
        Ok((children, open))
    }

    /// What was tried, for the holder of the data only.
    fn notes(&self) -> Vec<String> {
        let mut cuts = Cuts::topmost(self.cuts.schema());
        let mut lines = Vec::new();
        for tried in &self.tried {
            let candidate = tried.made.candidate;
            let attribute = &self.cuts.schema().attributes[candidate.attribute].name;
            let (name, value) = (cuts.name(candidate), tried.value);
            lines.push(match &tried.refused {
                None => format!("{attribute}: {name} was specialized (score {value})"),
                Some(why) => format!("{attribute}: {name} stays (score {value}): {why}"),
            });
            if tried.refused.is_none() {
                let _ = cuts.specialize(&tried.made);
            }
        }
        lines
    }

    /// The table to be released, with cuts in an order that tells nothing of how they were found.
    fn into_table(self) -> Result<Generalized, Error> {
        let cuts = self.cuts.in_canonical_order(self.sensitive);
        let cuts = cuts?;
        Ok(tabulate(&self.records, self.table, cuts, self.sensitive))
    }
}

/// The rows of a table, in the order of their values; the sensitive attribute as it is.
pub(super) fn tabulate(
    records: &LeafRecords<'_>,
    table: &Table,
    cuts: Cuts,
    sensitive: Option<usize>,
) -> Generalized {
    let (classes, schema) = (records.classes(), cuts.schema());
    let sensitive =
        sensitive.and_then(|place| match (&schema.attributes[place].domain, table.column(place)) {
            (Domain::Categorical(values), Some(Column::Categorical(codes))) => {
                Some((place, values, codes))
            }
            _ => None,
        });
    let mut rows: Vec<(Vec<u32>, Vec<u64>)> = Vec::new();
    for leaf in records.leaf_ids() {
        let mut coordinates = records.coordinates(leaf);
        let Some((place, values, codes)) = sensitive else {
            let counts = records.counts(leaf).iter().map(|count| u64::from(*count));
            rows.push((coordinates, counts.collect()));
            continue;
        };
        let mut counts = vec![0; values.leaves().len() * classes];
        for record in records.records(leaf) {
            let record = *record as usize;
            let class = usize::from(table.classes()[record]);
            counts[usize::from(codes[record]) * classes + class] += 1;
        }
        for (value, counts) in values.leaves().iter().zip(counts.chunks_exact(classes)) {
            if counts.iter().any(|count| *count > 0) {
                coordinates[place] = CutValue::Value(*value).key();
                rows.push((coordinates.clone(), counts.to_vec()));
            }
        }
    }
    rows.par_sort_unstable();
    let (coordinates, counts): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
    let leaves = Leaves::Listed(LeafList { coordinates, sets: Vec::new() });
    Generalized { cuts, leaves, counts: counts.concat() }
}
