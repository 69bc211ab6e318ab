//! LKC-privacy by two parties that hold different columns of the same individuals.
//!
//! *Inputs*: the agreement; each party's columns, the class and identifiers. *Output*, to both: the
//! release that one party would have made of the joined table, byte for byte.
//!
//! 1. *Set intersection and class*, as in every vertical release ([`matching`]).
//! 2. *The coarsest table* must be as required: how many people there are both know; of the sensitive
//!    attribute its holder tells one bit.
//! 3. *Structure*: a score depends on the value's records and the class alone, so each party keeps a
//!    queue of its own candidates. A circuit compares the two best ([`heads`]) and opens whose is
//!    better, or that neither has any, which is the end. The owner names its candidate, not its split.
//!    Both learn whether it is valid, by [`super::sealed`] or [`super::rows`]. If it is, the owner
//!    tells the split of an interval and both go on; if not, it stays as it is for good.
//! 4. *Counts*: the joint table of leaf, class and sensitive value in shares, opened.
//!
//! *Learned by the peer* beyond the release: numbers of identifiers, who is common, whether the classes
//! agree, the bit of the coarsest table, the order of examination with one bit each, and so which
//! intervals had a split at all. A value that stays on its cut although people of several classes
//! have it was refused, so with `beneficial` these bits follow from the release. *Theorem*
//! (`sealed`): the view of a party is simulated from its own input and these (composition of the
//! simulators of [`psi`](crate::protocol::psi), [`yao`](crate::protocol::yao) and
//! [`sum_by_group`]: all between two opened bits is shares and labels). With `rows` the peer also
//! learns the generalized values of every common person.
//!
//! *What can be timed*: scoring and testing at home take time that depends on records.

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::super::diffgen::two_party::{Ready, SET_UP};
use super::super::matching::{check_common, common_rows, compare_classes, exchange_split};
use super::super::{Outcome, Release, Step};
use super::state::{Shared, Values, listed};
use super::{Scored, Specialized, Value, best, rows, sealed};
use crate::Error;
use crate::agreement::Agreement;
use crate::agreement::syntactic::{Linkage, Terms};
use crate::crypto::soft_spoken::Columns;
use crate::math::Rational;
use crate::mechanism::heads::{self, Head};
use crate::net::{Message, Tag};
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::protocol::psi::Intersection;
use crate::protocol::sum_by_group;
use crate::protocol::transfers::{Assumptions, Source};
use crate::protocol::yao::{self, Reveal};
use crate::release::groups::{Groups, Rule};
use crate::release::impossible;
use crate::release::tree::{Generalized, Leaves};
use crate::role::Role;
use crate::table::{Candidate, Column, CutValue, Cuts, Domain, Specialization, Table};

/// What set intersection and transfers rest on: there is no choice.
pub(super) const ASSUMPTIONS: Assumptions = Assumptions::NoLpn;
/// The phase in which values are examined, and what progress calls it.
pub(super) const STRUCTURE: &str = "structure";
pub(super) const EXAMINATION: &str = "examination";
/// The phase in which the counts of the release are opened.
pub(super) const OPENING: &str = "counts";

/// Sets up transfers both ways: nothing that depends on data.
///
/// # Errors
/// If the run fails.
pub fn prepare(session: &mut Workspace) -> Result<(), Error> {
    session.channel.begin_phase(SET_UP);
    session.use_transfers(Source::SoftSpoken(Columns::Four));
    for sender in Role::BOTH {
        yao::set_up(session, sender)?;
    }
    session.channel.send(&Ready)?;
    let Ready = session.channel.receive()?;
    Ok(())
}

/// The messages of [`prepare`].
pub fn forecast_prepare(f: &mut Forecast) {
    f.begin_phase(SET_UP);
    f.use_transfers(Source::SoftSpoken(Columns::Four));
    Role::BOTH.into_iter().for_each(|sender| yao::forecast_set_up(f, sender));
    f.exchange(Ready::TAG, Ready::MOST_BYTES);
}

/// Makes a release with the peer, after [`prepare`].
///
/// # Errors
/// See [`Error`].
pub fn release(
    session: &mut Workspace,
    agreement: &Agreement,
    terms: &Terms,
    table: &Table,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Outcome, Error> {
    let Intersection { rows, peer_size } =
        common_rows(session, agreement, ASSUMPTIONS, table, progress)?;
    check_common(agreement, rows.len())?;
    let table = table.select(&rows);
    compare_classes(session, agreement, &table)?;
    session.channel.begin_phase(STRUCTURE);
    let mut side = Side::start(session.role, agreement, terms, &table)?;
    side.meet_at_top(session)?;
    progress(Step::Began { phase: EXAMINATION, total: side.shared.schema().attributes.len() });
    while let Some(owner) = side.better(session)? {
        side.examine(session, owner)?;
        progress(Step::Advanced(1));
    }
    let table = side.count(session, progress)?;
    side.check_worth(&table)?;
    progress(Step::Ended);
    let notes = side.shared.notes();
    let release = Release { table, spends: Vec::new(), notes };
    Ok(Outcome {
        release,
        in_both: Some(rows.len()),
        peer_records: Some(peer_size),
        course: side.shared.course,
        paths: Default::default(),
    })
}

/// The candidate that the owner of the better one examines, by its place among those it may name.
#[derive(Serialize, Deserialize)]
pub(super) struct Named {
    pub place: u32,
}

impl Message for Named {
    const TAG: Tag = Tag::new(*b"lkcn");
    const MOST_BYTES: usize = 4;
}

/// The score of a value that was made finer, where both keep account of it.
#[derive(Serialize, Deserialize)]
pub(super) struct Worth {
    pub above: u64,
    pub below: u64,
}

impl Message for Worth {
    const TAG: Tag = Tag::new(*b"lkcw");
    const MOST_BYTES: usize = 16;
}

/// Whether a requirement is met, sent by the party that knows.
#[derive(Serialize, Deserialize)]
pub(super) struct Met {
    pub met: bool,
}

impl Message for Met {
    const TAG: Tag = Tag::new(*b"lkcm");
    const MOST_BYTES: usize = 1;
}

/// One party's side of a run.
pub(super) struct Side<'a, 't> {
    pub role: Role,
    pub shared: Shared<'a>,
    /// Its own columns, with scores.
    pub own: Specialized<'t>,
    pub open: Vec<Scored>,
    pub values: Values,
    /// Scores of what P1 and P2 have made finer, where both keep account of it.
    worth: [Rational; 2],
    /// What the peer said that its values were worth.
    told: Vec<(Specialization, [u64; 2])>,
}

impl<'a, 't> Side<'a, 't> {
    pub fn start(
        role: Role,
        agreement: &'a Agreement,
        terms: &'a Terms,
        table: &'t Table,
    ) -> Result<Self, Error> {
        let shared = Shared::new(agreement, terms, table.len());
        let own = Specialized::start(&agreement.schema, terms, table)?;
        let attributes = terms.quasi(&agreement.schema);
        let known = attributes.filter(|place| shared.owner(*place) == role);
        let mut values = Values::new(&shared.cuts);
        known.for_each(|place| values.know(&shared.cuts, place, table.len()));
        let worth = [Rational::zero(), Rational::zero()];
        let (open, told) = Default::default();
        let mut side = Self { role, shared, own, open, values, worth, told };
        for candidate in side.shared.candidates(role) {
            side.open.extend(side.own.scored(candidate)?);
        }
        Ok(side)
    }
}

impl Side<'_, '_> {
    /// The coarsest table must be as required. Of numbers of people both know it.
    pub fn meet_at_top(&mut self, session: &mut Workspace) -> Result<(), Error> {
        let own = self.own.meet_at_top(self.shared.terms);
        if self.shared.rules.iter().any(|rule| (self.shared.records as u64) < rule.k) {
            return own;
        }
        match self.shared.holder() {
            Some(holder) if holder == self.role => {
                session.channel.send(&Met { met: own.is_ok() })?;
                own
            }
            Some(_) => {
                let Met { met } = session.channel.receive()?;
                if met { Ok(()) } else { Err(unmet_there()) }
            }
            None => own,
        }
    }

    /// Whose best candidate is better. As in the papers, what is known not to be valid does not bid
    /// where records are linked.
    pub fn better(&mut self, session: &mut Workspace) -> Result<Option<Role>, Error> {
        if self.shared.terms.linkage == Some(Linkage::Rows) {
            while let Some(place) = best(&self.open) {
                let made = self.open[place].made;
                if self.is_valid_at_home(&made)? {
                    break;
                }
                self.open.swap_remove(place);
            }
        }
        let head = best(&self.open).filter(|_| self.may_go_on()).map(|place| {
            let Scored { made, value, .. } = &self.open[place];
            let [above, below] = parts(*value);
            Head { above, below, order: made.candidate.attribute as u32 }
        });
        Ok(heads::better(session, &self.shared.heads(), head)?)
    }

    /// Whether this party is not too far ahead of the other.
    fn may_go_on(&self) -> bool {
        let Some(slack) = self.shared.terms.slack else { return true };
        let (above, below) = slack.ratio();
        let slack = Rational::new(above.unsigned_abs(), below).unwrap_or_else(Rational::zero);
        let [own, peer] = [self.role, self.role.peer()].map(|role| &self.worth[role as usize]);
        *own <= peer + &slack
    }

    /// Tells or hears what a value was worth that was made finer, where both keep account of it.
    fn account(
        &mut self,
        session: &mut Workspace,
        made: &Specialization,
        own: Option<Value>,
    ) -> Result<(), Error> {
        if self.shared.terms.slack.is_none() {
            return Ok(());
        }
        let Worth { above, below } = match own {
            Some(value) => {
                let [above, below] = parts(value);
                session.channel.send(&Worth { above, below })?;
                Worth { above, below }
            }
            None => session.channel.receive()?,
        };
        if own.is_none() {
            self.told.push((*made, [above, below]));
        }
        let worth = Rational::new(above, below);
        let worth = worth.ok_or_else(|| impossible("told a score that is not a number"))?;
        let owner = self.shared.owner(made.candidate.attribute);
        let account = &mut self.worth[owner as usize];
        *account = &*account + &worth;
        Ok(())
    }

    /// Sees that the peer's values were worth what it said: the release tells it.
    fn check_worth(&self, table: &Generalized) -> Result<(), Error> {
        let mut cuts = Cuts::topmost(table.cuts.schema());
        let mut told = self.told.iter();
        let mut next = told.next();
        for made in self.shared.course.iter().filter(|one| one.performed).map(|one| &one.made) {
            let children = cuts.specialize(made)?;
            if let Some((_, said)) = next.filter(|(known, _)| known == made) {
                let counts = class_counts(table, made.candidate.attribute, &children);
                if parts(self.own.value_by_class(&counts)) != *said {
                    return Err(impossible("told a score that the release refutes"));
                }
                next = told.next();
            }
        }
        Ok(())
    }

    /// The owner names its best candidate; both learn whether it is valid, and perform it if it is.
    pub fn examine(&mut self, session: &mut Workspace, owner: Role) -> Result<(), Error> {
        let listed = self.shared.candidates(owner);
        let mut value = None;
        let (candidate, own) = if owner == self.role {
            let place = best(&self.open).ok_or_else(nothing_open)?;
            let Scored { made, value: worth, .. } = self.open.swap_remove(place);
            value = Some(worth);
            let place = listed.iter().position(|candidate| *candidate == made.candidate);
            let place = place.ok_or_else(nothing_open)? as u32;
            session.channel.send(&Named { place })?;
            (made.candidate, Some(made))
        } else {
            let Named { place } = session.channel.receive()?;
            let named = listed.get(place as usize).copied();
            (named.ok_or_else(|| impossible("named a value that it may not examine"))?, None)
        };
        let found = match self.shared.terms.linkage {
            Some(Linkage::Rows) => rows::examine(session, self, owner, candidate, own.as_ref())?,
            _ => sealed::examine(session, self, owner, candidate, own.as_ref())?,
        };
        let Some(children_of) = found else {
            self.shared.refuse(candidate);
            return Ok(());
        };
        let split = match candidate.value {
            CutValue::Interval { .. } => {
                Some(exchange_split(session, candidate, own.and_then(|own| own.split))?)
            }
            CutValue::Value(_) => None,
        };
        let made = Specialization { candidate, split };
        self.account(session, &made, value)?;
        let children = self.shared.perform(&made)?;
        if own.is_some() {
            let child_of = self.own.records.child_of(&made)?;
            self.values.follow(candidate, &children, |record| child_of.of(record as u32) as usize);
            self.open.extend(self.own.perform(&made, Vec::new())?.1);
        } else if let Some(child) = children_of {
            self.values.follow(candidate, &children, |record| usize::from(child[record]));
        }
        Ok(())
    }

    /// Whether a candidate of this party leaves the table as required, as far as this party sees.
    pub fn is_valid_at_home(&self, made: &Specialization) -> Result<bool, Error> {
        let attribute = made.candidate.attribute;
        let child_of = self.own.records.child_of(made)?;
        let child = |record: usize| child_of.of(record as u32) as usize;
        let groups = self.groups_after(made.candidate, child);
        let valid = |rule: &&Rule| groups.test(rule, Some(attribute)).offender.is_none();
        let mut touched =
            self.shared.rules.iter().filter(|rule| rule.attributes.contains(&attribute));
        Ok(touched.all(|rule| valid(&rule)))
    }

    /// The groups that the people of a value would form, by the values that this party knows.
    pub fn groups_after(&self, candidate: Candidate, child: impl Fn(usize) -> usize) -> Groups {
        let (shared, own) = (&self.shared, &self.own);
        let mut groups = Groups::new(shared.schema().attributes.len(), own.protected.len());
        groups.widths.fill(1);
        let records = self.values.holding(candidate);
        let mut by: Vec<(usize, Vec<u32>)> = Vec::new();
        for attribute in 0..groups.widths.len() {
            if attribute == candidate.attribute {
                groups.widths[attribute] = shared.cuts.number_of_children(candidate) as u32;
                by.push((attribute, records.iter().map(|r| child(*r) as u32).collect()));
            } else if let Some(places) = self.values.places(&shared.cuts, attribute) {
                groups.widths[attribute] = shared.cuts.of(attribute).len() as u32;
                by.push((attribute, records.iter().map(|record| places[*record]).collect()));
            }
        }
        groups.add_people(&by, records.iter().map(|record| own.labels[*record]));
        groups
    }

    /// The rows of the release: everybody in shares by leaf, class and sensitive value, opened.
    pub fn count(
        &self,
        session: &mut Workspace,
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<Generalized, Error> {
        let (cuts, layout, shape) = self.shared.release_table()?;
        let cells = self.cells_of_release(&cuts)?;
        progress(Step::Began { phase: "count table", total: shape.records });
        let advanced = |records| progress(Step::Advanced(records));
        let counts = sum_by_group::count_table(session, &shape, &cells, &advanced)?;
        let counts = layout.in_release_order(&counts)?;
        session.channel.begin_phase(OPENING);
        let counts = counts.open(session, Reveal::Both)?.unwrap_or_default();
        if counts.iter().sum::<u64>() != shape.records as u64 {
            return Err(impossible("opened counts that are not those of the common people"));
        }
        Ok(listed(cuts, &counts))
    }

    /// This party's cell of everybody in the table of the release.
    fn cells_of_release(&self, cuts: &Cuts) -> Result<Vec<u32>, Error> {
        let mut cells = vec![0u32; self.shared.records];
        for attribute in 0..self.shared.schema().attributes.len() {
            if self.shared.owner(attribute) != self.role {
                continue;
            }
            let width = cuts.of(attribute).len() as u32;
            let places = if self.shared.sensitive == Some(attribute) {
                let Some(Column::Categorical(codes)) = self.own.table.column(attribute) else {
                    return Err(super::no_sensitive_column());
                };
                codes.iter().map(|code| u32::from(*code)).collect()
            } else {
                let places = self.values.places(cuts, attribute);
                places.ok_or_else(|| Error::fault("a column of this party was not followed"))?
            };
            cells.iter_mut().zip(places).for_each(|(cell, place)| *cell = *cell * width + place);
        }
        if self.role == Role::P1 {
            let classes = self.shared.schema().class.values.len() as u32;
            let labelled = cells.iter_mut().zip(self.own.table.classes());
            labelled.for_each(|(cell, class)| *cell = *cell * classes + u32::from(*class));
        }
        Ok(cells)
    }
}

/// How many people of each class have each of these values, or one below, in a table with exact
/// counts.
fn class_counts(table: &Generalized, attribute: usize, values: &[CutValue]) -> Vec<u32> {
    let schema = table.cuts.schema();
    let (classes, domain) = (schema.class.values.len(), &schema.attributes[attribute].domain);
    let covers = |value: &CutValue, on_cut: &CutValue| match (value, on_cut, domain) {
        (CutValue::Value(value), CutValue::Value(below), Domain::Categorical(taxonomy)) => {
            taxonomy.generalizes(*value, *below)
        }
        (CutValue::Interval { start, end }, on_cut, _) => (*start..*end).contains(&on_cut.key()),
        _ => false,
    };
    let place = |on_cut: &CutValue| values.iter().position(|value| covers(value, on_cut));
    let places: HashMap<u32, usize> = table
        .cuts
        .of(attribute)
        .iter()
        .filter_map(|on_cut| Some((on_cut.key(), place(on_cut)?)))
        .collect();
    let mut sums = vec![0u32; values.len() * classes];
    let Leaves::Listed(list) = &table.leaves else { return sums };
    for (keys, counts) in list.coordinates.iter().zip(table.counts.chunks_exact(classes)) {
        let Some(place) = places.get(&keys[attribute]) else { continue };
        for (sum, count) in sums[place * classes..].iter_mut().zip(counts) {
            *sum = sum.saturating_add(u32::try_from(*count).unwrap_or(u32::MAX));
        }
    }
    sums
}

/// A score's numbers, which are short.
fn parts(value: Value) -> [u64; 2] {
    let (above, below) = value.parts();
    [above, below].map(|part| u64::try_from(part).unwrap_or(u64::MAX))
}

fn nothing_open() -> Error {
    Error::fault("a candidate won that this party does not have")
}

/// An error for the coarsest table, as reported to the party without the sensitive attribute.
fn unmet_there() -> Error {
    Error::unmet(
        "even the coarsest table is not as the agreement requires, by what the peer says of its \
         sensitive attribute; no generalization can help, so agree on a larger c",
    )
}
