//! LKC-privacy by two parties that hold the same columns of different individuals.
//!
//! *Inputs*: the agreement; each party's records. *Output*, to both: the release that one party would
//! have made of the united table, by score `max`, byte for byte.
//!
//! 1. *Overlap check*, if agreed: both learn how many identifiers are common.
//! 2. *The coarsest table* must be as required: one bit is opened.
//! 3. *Structure*: whenever an interval appears, a circuit opens its best split on the public grid, or
//!    that there is none ([`best::split`]). Each time a circuit opens the best of all candidates that
//!    were not refused ([`best::candidate`]), and another whether it is valid ([`validity`]). All
//!    circuits are sized by the cuts, what was refused, and `max_records`: their sizes tell whoever watches
//!    the network the order of examination and what was refused, as far as candidates differ in size.
//! 4. *Counts*: those of all rows, opened. Each party's own are its shares, and whoever knows its own
//!    knows the other's: nothing would be hidden by a mask.
//!
//! *Learned by the peer* beyond the release: this party's counts of every row, by subtraction; the bit
//! of the coarsest table; the order of examination with one bit each; every interval's best split.
//! *Theorem*: the view of a party is simulated from its own input, the release and these: all else is
//! labels of garbled circuits.
//!
//! *What can be timed*: counting at home takes time that depends on how many records there are.
//! *Not wiped*: a party's own counts (`OwnCells`) are sums over its table, which stands in its memory
//! as it is until the run ends; labels, shares and seeds, which are the protocol's, are.

use std::collections::HashMap;

use super::super::diffgen::histograms::sides;
use super::super::diffgen::horizontal::{count_overlap, record_bits};
use super::super::{Outcome, Release, Step, tree};
use super::sealed::{MOST_CELLS, combinations, reduced};
use super::state::{Shared, bits_of, listed};
use super::vertical::{EXAMINATION, OPENING, STRUCTURE};
use super::{Groups, Rule, Specialized};
use crate::Error;
use crate::agreement::Agreement;
use crate::agreement::syntactic::{Search, Terms};
use crate::mechanism::best::{self, CandidateShape, SplitShape};
use crate::mechanism::validity::{self, CellShape, Cells};
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::WordShares;
use crate::protocol::yao::Reveal;
use crate::release::impossible;
use crate::release::lkc::too_many_cells;
use crate::role::Role;
use crate::table::{Candidate, Column, CutValue, Cuts, Specialization, Table};

/// Makes a release with the peer, after [`super::vertical::prepare`].
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
    let overlap = count_overlap(session, agreement, table, progress)?;
    session.channel.begin_phase(STRUCTURE);
    let plan = Plan::new(agreement, terms);
    let own = Specialized::start(&agreement.schema, terms, table)?;
    let mut side = Side { plan, own, splits: HashMap::new() };
    side.meet_at_top(session)?;
    progress(Step::Began { phase: EXAMINATION, total: agreement.schema.attributes.len() });
    for interval in side.plan.first_intervals() {
        side.find_split(session, interval)?;
    }
    while side.examine(session)? {
        progress(Step::Advanced(1));
    }
    let table = side.count(session)?;
    progress(Step::Ended);
    let notes = side.plan.shared.notes();
    Ok(Outcome {
        release: Release { table, spends: Vec::new(), notes },
        in_both: overlap.map(|overlap| overlap.common),
        peer_records: overlap.map(|overlap| overlap.peer_size),
        course: side.plan.shared.course,
        paths: Default::default(),
    })
}

/// What both parties know.
pub(super) struct Plan<'a> {
    pub shared: Shared<'a>,
    classes: usize,
    several: bool,
    protected: usize,
}

impl<'a> Plan<'a> {
    pub fn new(agreement: &'a Agreement, terms: &'a Terms) -> Self {
        let several = matches!(terms.search, Search::TopDown { beneficial: true, .. });
        Self {
            // How many records there are nobody knows.
            shared: Shared::new(agreement, terms, 0),
            classes: agreement.schema.class.values.len(),
            several,
            protected: terms.sensitive.as_ref().map_or(0, |sensitive| sensitive.protect.len()),
        }
    }

    /// No table of both has more people.
    fn most_people(&self) -> u64 {
        self.shared.agreement.max_records.saturating_mul(2)
    }

    /// All that can still be examined, in the order of the agreement.
    fn open(&self) -> Vec<Candidate> {
        self.shared.candidates(Role::P1)
    }

    fn candidates(&self, open: &[Candidate]) -> CandidateShape {
        let children = |one: &Candidate| self.shared.cuts.number_of_children(*one);
        CandidateShape {
            classes: self.classes,
            count_bits: record_bits(self.shared.agreement),
            children: open.iter().map(children).collect(),
            several: self.several,
        }
    }

    /// The intervals that there are at the beginning.
    pub fn first_intervals(&self) -> Vec<Candidate> {
        let all = self.open().into_iter();
        all.filter(|one| matches!(one.value, CutValue::Interval { .. })).collect()
    }

    /// The intervals among the children of a value that was replaced.
    pub fn intervals(&self, candidate: Candidate, children: &[CutValue]) -> Vec<Candidate> {
        let new = children.iter().map(|value| Candidate { value: *value, ..candidate });
        let splits = |one: &Candidate| matches!(one.value, CutValue::Interval { .. });
        new.filter(|one| splits(one) && self.shared.cuts.can_be_specialized(*one)).collect()
    }

    fn splits(&self, interval: Candidate) -> SplitShape {
        let splits = match interval.value {
            CutValue::Interval { start, end } => (end - start) as usize - 1,
            CutValue::Value(_) => 0,
        };
        let count_bits = record_bits(self.shared.agreement);
        SplitShape { classes: self.classes, count_bits, splits }
    }

    fn cell_shape(&self) -> CellShape {
        let limited = self.shared.rules.iter().filter(|rule| rule.is_limited());
        let largest = limited.map(|rule| reduced(rule.part).1).max();
        let people = self.most_people();
        CellShape {
            count_bits: bits_of(people),
            margin_bits: largest.map_or(1, |below| bits_of(below.saturating_mul(people)) + 1),
            margins: if largest.is_some() { self.protected } else { 0 },
        }
    }

    /// The combinations that a test of a candidate is about, each with its rule and the widths of its
    /// attributes.
    ///
    /// # Errors
    /// If they have too many cells.
    fn tested(&self, candidate: Candidate) -> Result<Vec<Tested>, Error> {
        let cuts = &self.shared.cuts;
        let width = |place: usize| match place == candidate.attribute {
            true => cuts.number_of_children(candidate),
            false => cuts.of(place).len(),
        };
        let widths: Vec<usize> = (0..self.shared.schema().attributes.len()).map(width).collect();
        let found =
            combinations(&self.shared, Role::P1, candidate, &widths).into_iter().map(|one| {
                let attributes = one.own.into_iter().map(|place| (place, widths[place])).collect();
                Tested { rule: one.rule, attributes }
            });
        let found: Vec<Tested> = found.collect();
        let cells = found.iter().map(Tested::cells).fold(0, usize::saturating_add);
        if cells.saturating_mul(1 + self.cell_shape().margins) > MOST_CELLS {
            return Err(too_many_cells(cells as u64));
        }
        Ok(found)
    }

    /// Whether everything can be tested once this was performed, as far as it can be counted.
    ///
    /// # Errors
    /// If not.
    pub fn check(&mut self, made: &[Specialization]) -> Result<(), Error> {
        let _ = made.iter().try_for_each(|made| self.shared.perform(made).map(|_| ()));
        self.open().into_iter().try_for_each(|candidate| self.tested(candidate).map(|_| ()))
    }

    /// The messages of [`release`] from the structure on, for a run in which this was examined; its
    /// number of rows, the empty ones included.
    pub fn forecast(
        &mut self,
        f: &mut Forecast,
        course: &[super::super::Examined],
    ) -> Result<u64, Error> {
        f.begin_phase(STRUCTURE);
        validity::forecast(f, &self.cell_shape(), self.shared.rules.len());
        let first = self.first_intervals();
        first.iter().for_each(|one| best::forecast_split(f, &self.splits(*one)));
        for examined in course {
            best::forecast_candidate(f, &self.candidates(&self.open()));
            let candidate = examined.made.candidate;
            let cells = self.tested(candidate)?.iter().map(Tested::cells).sum();
            validity::forecast(f, &self.cell_shape(), cells);
            if !examined.performed {
                self.shared.refuse(candidate);
                continue;
            }
            let children = self.shared.perform(&examined.made)?;
            for interval in self.intervals(candidate, &children) {
                best::forecast_split(f, &self.splits(interval));
            }
        }
        let open = self.open();
        if !open.is_empty() {
            best::forecast_candidate(f, &self.candidates(&open));
        }
        let (cuts, ..) = self.shared.release_table()?;
        let rows = cuts.leaves() * self.classes as u64;
        f.begin_phase(OPENING);
        crate::protocol::shares::forecast_open(f, bits_of(self.most_people()), rows as usize);
        Ok(rows)
    }
}

/// A combination of attributes that a rule speaks of.
struct Tested {
    rule: usize,
    attributes: Vec<(usize, usize)>,
}

impl Tested {
    fn cells(&self) -> usize {
        self.attributes.iter().fold(1, |cells, (_, width)| cells.saturating_mul(*width))
    }
}

/// One party's side of a run.
struct Side<'a, 't> {
    plan: Plan<'a>,
    /// Its own records, at the cuts of both.
    own: Specialized<'t>,
    /// The best split of every interval that has one.
    splits: HashMap<Candidate, u32>,
}

impl Side<'_, '_> {
    /// The coarsest table of both must be as required.
    fn meet_at_top(&self, session: &mut Workspace) -> Result<(), Error> {
        let rules = &self.plan.shared.rules;
        if rules.iter().any(|rule| rule.k > self.plan.most_people()) {
            return Err(unmet_together());
        }
        let mut counts = vec![0; self.plan.protected + 1];
        counts[0] = self.own.table.len() as u64;
        for label in self.own.labels.iter().filter(|label| **label > 0) {
            counts[usize::from(*label)] += 1;
        }
        let mut cells = OwnCells::default();
        let margins = self.plan.cell_shape().margins;
        rules.iter().for_each(|rule| cells.push(rule, &counts, margins));
        if self.test(session, &cells)? { Ok(()) } else { Err(unmet_together()) }
    }

    fn test(&self, session: &mut Workspace, cells: &OwnCells) -> Result<bool, Error> {
        let OwnCells { least, counts, margins } = cells;
        let cells = Cells { least, counts, margins };
        let known = session.role == Role::P1;
        Ok(validity::all_valid(session, &self.plan.cell_shape(), &cells, known)?)
    }

    /// Opens the best split of an interval, if it has one.
    fn find_split(&mut self, session: &mut Workspace, interval: Candidate) -> Result<(), Error> {
        let Candidate { attribute, value } = interval;
        let (CutValue::Interval { start, end }, Some(Column::Numeric(points))) =
            (value, self.own.table.column(attribute))
        else {
            return Err(Error::fault("a split of something that is not an interval"));
        };
        let (records, classes) = (&self.own.records, self.plan.classes);
        let mut at = vec![0u64; (end - start) as usize * classes];
        for leaf in records.link(attribute, value) {
            for record in records.records(leaf) {
                let record = *record as usize;
                let place = (points[record] - start) as usize * classes;
                at[place + usize::from(records.class_codes()[record])] += 1;
            }
        }
        let found = best::split(session, &self.plan.splits(interval), &sides(&at, classes))?;
        if let Some(place) = found {
            self.splits.insert(interval, start + 1 + place as u32);
        }
        Ok(())
    }

    /// Opens the best candidate and whether it is valid, and performs it if it is. Whether there was
    /// any.
    fn examine(&mut self, session: &mut Workspace) -> Result<bool, Error> {
        let open = self.plan.open();
        if open.is_empty() {
            return Ok(false);
        }
        let mut counts = Vec::new();
        for candidate in &open {
            counts.extend(self.children(*candidate)?);
        }
        let shape = self.plan.candidates(&open);
        let Some(best) = best::candidate(session, &shape, &counts)? else { return Ok(false) };
        let candidate = open[best];
        let split = self.splits.get(&candidate).copied();
        let is_interval = matches!(candidate.value, CutValue::Interval { .. });
        if is_interval && split.is_none() {
            return Err(impossible("chose an interval that has no split"));
        }
        let made = Specialization { candidate, split };
        let groups = self.own.groups_after(&made)?;
        let mut cells = OwnCells::default();
        let margins = self.plan.cell_shape().margins;
        for tested in self.plan.tested(candidate)? {
            cells.add(&groups, &self.plan.shared.rules[tested.rule], &tested, margins);
        }
        if !self.test(session, &cells)? {
            self.plan.shared.refuse(candidate);
            return Ok(true);
        }
        let children = self.plan.shared.perform(&made)?;
        self.own.cuts.specialize(&made)?;
        self.own.records.specialize(&made, &children)?;
        for interval in self.plan.intervals(candidate, &children) {
            self.find_split(session, interval)?;
        }
        Ok(true)
    }

    /// This party's class counts of a candidate's children. An interval without a split has none, and
    /// so never counts.
    fn children(&self, candidate: Candidate) -> Result<Vec<u64>, Error> {
        let (records, classes) = (&self.own.records, self.plan.classes);
        let split = self.splits.get(&candidate).copied();
        let mut counts = vec![0u64; self.plan.shared.cuts.number_of_children(candidate) * classes];
        if matches!(candidate.value, CutValue::Interval { .. }) && split.is_none() {
            return Ok(counts);
        }
        let child_of = records.child_of(&Specialization { candidate, split })?;
        for leaf in records.link(candidate.attribute, candidate.value) {
            let tally = child_of.tally(records.records(leaf), records.class_codes(), classes);
            counts.iter_mut().zip(tally).for_each(|(sum, count)| *sum += u64::from(count));
        }
        Ok(counts)
    }

    /// The rows of the release, opened.
    fn count(&self, session: &mut Workspace) -> Result<tree::Generalized, Error> {
        let (cuts, ..) = self.plan.shared.release_table()?;
        let counts = WordShares::new(bits_of(self.plan.most_people()), self.own_counts(&cuts)?)?;
        session.channel.begin_phase(OPENING);
        let counts = counts.open(session, Reveal::Both)?.unwrap_or_default();
        Ok(listed(cuts, &counts))
    }

    /// How many of this party's records are in every row, empty ones included.
    fn own_counts(&self, cuts: &Cuts) -> Result<Vec<u64>, Error> {
        let (classes, sensitive) = (self.plan.classes, self.plan.shared.sensitive);
        let mut counts = vec![0; cuts.leaves() as usize * classes];
        let places = self.own.records.leaf_of_records(cuts);
        let labels = self.own.table.classes();
        let later = |place: usize| place + 1..self.plan.shared.schema().attributes.len();
        let stride = |place: usize| later(place).map(|later| cuts.of(later).len()).product();
        let values = match sensitive.map(|place| (self.own.table.column(place), stride(place))) {
            Some((Some(Column::Categorical(codes)), stride)) => Some((codes, stride)),
            Some(_) => return Err(super::no_sensitive_column()),
            None => None,
        };
        for (record, place) in places.iter().enumerate() {
            let value: usize = values
                .as_ref()
                .map_or(0, |(codes, stride): &(_, usize)| usize::from(codes[record]) * stride);
            counts[(*place as usize + value) * classes + usize::from(labels[record])] += 1;
        }
        Ok(counts)
    }
}

/// This party's part of the cells of a test.
#[derive(Default)]
struct OwnCells {
    least: Vec<u64>,
    counts: Vec<u64>,
    margins: Vec<u64>,
}

impl OwnCells {
    /// A cell with so many people, and so many of them with each protected value.
    fn push(&mut self, rule: &Rule, counts: &[u64], margins: usize) {
        let (above, below) = if rule.is_limited() { reduced(rule.part) } else { (0, 0) };
        self.least.push(rule.k);
        self.counts.push(counts[0]);
        let allowed = counts[0].wrapping_mul(above);
        let margin = |told: &u64| allowed.wrapping_sub(told.wrapping_mul(below));
        self.margins.extend(counts[1..].iter().take(margins).map(margin));
    }

    /// The cells of a combination.
    fn add(&mut self, groups: &Groups, rule: &Rule, tested: &Tested, margins: usize) {
        let wide = groups.protected + 1;
        let mut sums = vec![0u64; tested.cells() * wide];
        for (group, counts) in groups.counts.chunks_exact(wide).enumerate() {
            let cell = tested.attributes.iter().fold(0, |cell, (place, width)| {
                cell * width + groups.values[*place][group] as usize
            });
            let sums = &mut sums[cell * wide..][..wide];
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
        }
        sums.chunks_exact(wide).for_each(|counts| self.push(rule, counts, margins));
    }
}

/// An error for the coarsest table, as reported to both parties where they hold different people.
fn unmet_together() -> Error {
    Error::unmet(
        "even the coarsest table of both parties' people is not as the agreement requires; no \
         generalization can help, so agree on a smaller k or a larger c",
    )
}
