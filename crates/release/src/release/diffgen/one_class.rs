//! The structure and counts of a vertical release where one party has the class.
//!
//! [`super::vertical`] says what comes before: the common individuals in one order.
//!
//! 1. *Histograms*: how the class is distributed over the values of the other party's columns, as
//!    shares ([`Histograms`]); with leaf-max only over those of numbers.
//! 2. *Structure*: scores of those columns are shares that nobody knows ([`SharedScores`]); the class's
//!    owner knows the scores of its own columns, whose shares are the score and 0. Winners are chosen
//!    among all of them by noisy maximum. Splits of the other party's numbers are chosen on the public
//!    grid in the same way and opened when they are drawn; those of its own the class's owner draws
//!    alone and tells when their interval wins.
//!
//!    Leaf-max looks at the leaves that the attribute's owner makes with its own cuts, for either
//!    party, and counts what is gained: so scores of both compare, and each moves by at most 1. In
//!    leaves that the other party's cuts have just made, classes are counted as shares
//!    ([`Passes`]), a pass for each of its columns.
//! 3. *Counts*: the joint count table, the class within its owner's cells; noise, opening.
//!
//! *Learned by the peer*: what set intersection shows; the release; every split of the other party's
//! numbers that was drawn. *Theorem*: the view of a party is simulated from its own input, these and
//! the release, up to the total variation that [`Sizes`] turns into δ. All of these but the sizes and
//! the intersection were chosen by mechanisms with the spends that the release lists, so for the
//! peer's columns of one common individual replaced, the class among them where the peer has it, each
//! party's view is (2ε, (1 + e^ε)·δ)-private, computationally.
//!
//! *What can be timed*: the class's owner scores its own columns between two choices, which takes time
//! that depends on its records. It is part of the leak that SECURITY.md states.

use std::collections::HashMap;

use super::histograms::Histograms;
use super::holder::Holder;
use super::leaf_counts::Passes;
use super::shared_scores::{Coordinates, SharedScores};
use super::sizes::{Sizes, scaling};
use super::two_party::{CountNoise, begin_structure, noisy_records};
use super::vertical::{Alone, count_in_parts};
use super::{Leaves, Plan, Specializer};
use crate::Error;
use crate::agreement::Agreement;
use crate::mechanism::noisy_max::{NoisyMax, Scores};
use crate::privacy::choice::SCORE_GRID_BITS;
use crate::privacy::exponential::Exponential;
use crate::privacy::{Calibration, Choose, Spend};
use crate::protocol::Workspace;
use crate::protocol::shares::WordShares;
use crate::release::Step;
use crate::release::matching::exchange_split;
use crate::release::shards::Parts;
use crate::release::tree::layout::Layout;
use crate::release::tree::leaf_records::LeafRecords;
use crate::release::tree::scorer::known_at_once;
use crate::release::tree::utility;
use crate::role::Role;
use crate::table::{Candidate, CutValue, Cuts, Specialization, Table};

/// One party's side of [`run`](super::run).
pub(super) struct OneClass<'a, 'p, 't> {
    session: &'a mut Workspace,
    agreement: &'a Agreement,
    plan: &'p Plan,
    sizes: &'a Sizes,
    own: Own<'p, 't>,
    histograms: Histograms,
    scores: SharedScores,
    passes: Passes<'p>,
    parts: Parts,
    table: &'t Table,
    /// Of the columns whose scores are shared.
    splits: HashMap<Candidate, u32>,
    progress: &'a (dyn Fn(Step) + Sync),
}

/// A party's own records.
enum Own<'p, 't> {
    /// With the class: its own columns are scored.
    Labelled(Box<Holder<'p, 't>>),
    /// Without.
    Unlabelled(Box<LeafRecords<'t>>),
}

impl<'t> Own<'_, 't> {
    fn leaf_records(&self) -> &LeafRecords<'t> {
        match self {
            Self::Labelled(holder) => holder.leaf_records(),
            Self::Unlabelled(leaf_records) => leaf_records,
        }
    }

    /// A share of how many of all records have the most frequent class: its owner knows it.
    fn largest_class(&self) -> u64 {
        match self {
            Self::Labelled(holder) => {
                let records = holder.leaf_records();
                let of = |leaf| u64::from(utility::largest(records.counts(leaf)));
                records.leaf_ids().map(of).sum() // there is one leaf, or none
            }
            Self::Unlabelled(_) => 0,
        }
    }
}

/// Bits of shares of counts and scores: room for all records that there may be, and one bit more.
pub(super) fn share_bits(agreement: &Agreement) -> u32 {
    u64::BITS - agreement.most_records().leading_zeros() + 1
}

impl<'a, 'p, 't> OneClass<'a, 'p, 't> {
    /// Shares the histograms of the common people's records, and is ready for the first choice.
    ///
    /// # Errors
    /// See [`Error`].
    pub(super) fn start(
        session: &'a mut Workspace,
        agreement: &'a Agreement,
        plan: &'p Plan,
        sizes: &'a Sizes,
        (table, parts): (&'t Table, Parts),
        class_owner: Role,
        progress: &'a (dyn Fn(Step) + Sync),
    ) -> Result<Self, Error> {
        let own = if session.role == class_owner {
            Own::Labelled(Box::new(Holder::new(plan, table)?))
        } else {
            Own::Unlabelled(Box::new(LeafRecords::new(plan.schema(), table)?))
        };
        let bits = share_bits(agreement);
        let histograms =
            Histograms::share(session, plan, class_owner, (table, &parts), bits, progress)?;
        let (mut scores, cuts) =
            (SharedScores::of_shares(plan, bits), Cuts::topmost(plan.schema()));
        scores.start_with(&cuts, own.largest_class());
        scores.add_first(plan, &cuts);
        let passes = Passes { plan, class_owner, records: parts.padded(), share_bits: bits };
        let splits = HashMap::new();
        Ok(Self {
            session,
            agreement,
            plan,
            sizes,
            own,
            histograms,
            scores,
            passes,
            parts,
            table,
            splits,
            progress,
        })
    }

    fn noisy_max(
        &mut self,
        spend: Spend,
        calibration: &Calibration,
        shares: Vec<u64>,
    ) -> Result<usize, Error> {
        let shared = WordShares::new(self.scores.shape().share_bits, shares)?;
        let mut mechanism = NoisyMax::with(self.session, self.sizes.by_noisy_max())?;
        Ok(mechanism.choose(spend, calibration, &Scores::Shared(shared))?.index)
    }

    /// This party's share of a candidate's score.
    fn share(&self, candidate: Candidate) -> Result<u64, Error> {
        if self.plan.scores_together(candidate.attribute) {
            return self.scores.share(candidate);
        }
        match &self.own {
            Own::Labelled(holder) => Ok(holder.score(candidate)?.steps() >> SCORE_GRID_BITS),
            Own::Unlabelled(_) => Ok(0),
        }
    }

    /// Draws splits of columns whose scores are shared.
    fn draw_together(&mut self, draws: Vec<(Spend, Candidate)>) -> Result<(), Error> {
        let histograms = &self.histograms;
        let sides_of = |interval: Candidate| histograms.sides(interval.attribute, interval.value);
        let (session, plan) = (&mut *self.session, self.plan);
        let drawn = self.scores.draw_splits(session, plan, self.sizes, draws, sides_of)?;
        self.splits.extend(drawn);
        Ok(())
    }

    /// The owner of the class draws splits of its own columns; the peer has nothing to do.
    fn draw_alone(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error> {
        let Own::Labelled(holder) = &mut self.own else {
            self.session.coins.skip(intervals.len());
            return Ok(());
        };
        let mut mechanism = Exponential::new(scaling(), Alone(&mut *self.session.coins))
            .within(self.sizes.largest_split_score);
        holder.draw_splits(spend, attribute, intervals, &mut mechanism, false)
    }
}

impl Specializer for OneClass<'_, '_, '_> {
    fn noisy_records(&mut self, spend: Spend) -> Result<i64, Error> {
        let own = if self.session.role == Role::P1 { self.table.len() as u64 } else { 0 };
        noisy_records(self.session, self.plan.terms(), self.sizes, spend, own)
    }

    fn begin(&mut self, plan: &Plan) -> Result<(), Error> {
        begin_structure(self.session, self.plan, plan, self.sizes)
    }

    fn draw_splits(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error> {
        if !self.plan.scores_together(attribute) {
            return self.draw_alone(spend, attribute, intervals);
        }
        // Records of different intervals are different records.
        let spends = spend.over_disjoint_records(intervals.len());
        let intervals = intervals.iter().map(|value| Candidate { attribute, value: *value });
        self.draw_together(spends.into_iter().zip(intervals).collect())
    }

    /// Those of the peer's columns are drawn together, where they stand one after the other.
    fn draw_first_splits(&mut self, first: Vec<(Spend, Candidate)>) -> Result<(), Error> {
        let mut together = Vec::new();
        for (spend, candidate) in first {
            if self.plan.scores_together(candidate.attribute) {
                together.push((spend, candidate));
                continue;
            }
            self.draw_together(std::mem::take(&mut together))?;
            self.draw_alone(spend, candidate.attribute, &[candidate.value])?;
        }
        self.draw_together(together)
    }

    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error> {
        let (plan, histograms) = (self.plan, &self.histograms);
        let (pending, leaf_records) = (self.scores.pending(), self.own.leaf_records());
        let (session, parts) = (&mut *self.session, &self.parts);
        let in_leaves = self.passes.count(session, pending, leaf_records, self.table, parts)?;
        let counts = |made: &Specialization, leaf: Option<&Coordinates>| match leaf {
            None => histograms.children(plan, made),
            Some(leaf) => {
                let counts = in_leaves.get(&(made.candidate, leaf.clone())).cloned();
                counts.ok_or_else(|| Error::fault("a leaf that was not counted"))
            }
        };
        self.scores.settle(self.session, counts)?;
        let shares = candidates.iter().map(|c| self.share(*c)).collect::<Result<Vec<_>, _>>()?;
        self.noisy_max(spend, self.plan.calibration(), shares)
    }

    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error> {
        if self.plan.scores_together(winner.attribute) {
            let missing = || Error::fault("an interval won for which no split was drawn");
            return self.splits.get(&winner).copied().ok_or_else(missing);
        }
        let own = match &self.own {
            Own::Labelled(holder) => Some(holder.split_of(winner)?),
            Own::Unlabelled(_) => None,
        };
        exchange_split(self.session, winner, own)
    }

    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        _: Option<Spend>,
    ) -> Result<(), Error> {
        let attribute = made.candidate.attribute;
        match &mut self.own {
            Own::Labelled(holder) => holder.specialize(made, children)?,
            Own::Unlabelled(leaf_records) if leaf_records.attributes().contains(&attribute) => {
                leaf_records.specialize(made, children)?;
            }
            Own::Unlabelled(_) => {}
        }
        if self.plan.scores_together(attribute) {
            self.scores.follow(made, children)?;
            let cuts = Cuts::topmost(self.plan.schema());
            for made in known_at_once(&cuts, attribute, children) {
                self.scores.add(made, None);
            }
        }
        Ok(())
    }

    fn noisy_counts(&mut self, spend: Spend, cuts: &Cuts, _: &Leaves) -> Result<Vec<i64>, Error> {
        let (layout, terms) = (Layout::new(cuts, self.agreement), self.plan.terms());
        let noise = CountNoise::prepare(terms, self.sizes, &spend, layout.entries(), self.session)?;
        let cells = layout.cells_of_records(self.own.leaf_records(), cuts, self.session.role);
        let shape = layout.by_transfers(self.parts.padded(), self.sizes.count_bits);
        let table = count_in_parts(self.session, &self.parts, &shape, &cells, self.progress)?;
        noise.add(self.session, spend, &layout.in_release_order(&table)?)
    }
}
