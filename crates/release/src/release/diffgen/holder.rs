//! What one party does with its own records, whoever else takes part: groups them by leaf, scores
//! the candidates of its own attributes, and draws the splits of its own intervals.

use num_bigint::BigUint;

use super::Plan;
use crate::Error;
use crate::privacy::choice::SCORE_GRID_BITS;
use crate::privacy::{self, Choose, Score, Scored, Spend};
use crate::release::tree::leaf_records::LeafRecords;
use crate::release::tree::scorer::{Known, Scorer, known_at_once};
use crate::release::tree::splits::{self, Options};
use crate::release::tree::utility;
use crate::role::Role;
use crate::table::{Candidate, CutValue, Cuts, Specialization, Table};

/// The records of one party, with scores and splits of the attributes that it holds. Private.
pub struct Holder<'p, 't> {
    plan: &'p Plan,
    leaf_records: LeafRecords<'t>,
    scorer: Scorer,
    /// The candidates that are scored. An interval is one of them once its split is drawn.
    known: Known,
}

impl<'p, 't> Holder<'p, 't> {
    /// All records in one leaf, and all candidates of taxonomies scored.
    ///
    /// # Errors
    /// If a column is not of the kind that the agreement says.
    pub fn new(plan: &'p Plan, table: &'t Table) -> Result<Self, Error> {
        Self::of_owner(plan, table, None)
    }

    /// The same with the columns of one owner alone, if one is given.
    ///
    /// # Errors
    /// As [`Holder::new`].
    pub fn of_owner(plan: &'p Plan, table: &'t Table, owner: Option<Role>) -> Result<Self, Error> {
        let leaf_records = LeafRecords::of_owner(plan.schema(), table, owner)?;
        let scorer = Scorer::new(plan.utility(), &leaf_records);
        let mut holder = Self { plan, leaf_records, scorer, known: Known::new() };
        let cuts = Cuts::topmost(plan.schema());
        for attribute in holder.leaf_records.attributes().to_vec() {
            holder.learn(known_at_once(&cuts, attribute, cuts.of(attribute)))?;
        }
        Ok(holder)
    }

    /// The plan.
    pub fn plan(&self) -> &'p Plan {
        self.plan
    }

    /// The records, grouped by leaf.
    pub fn leaf_records(&self) -> &LeafRecords<'t> {
        &self.leaf_records
    }

    /// Whether the party holds an attribute.
    pub fn holds(&self, attribute: usize) -> bool {
        self.leaf_records.attributes().contains(&attribute)
    }

    /// The score of a candidate of an attribute that the party holds; where splits are drawn late,
    /// an interval has that of its best split. Between parties with different columns leaf-max
    /// counts what is gained.
    ///
    /// # Errors
    /// [`Error::fault`] for any other.
    pub fn score(&self, candidate: Candidate) -> Result<Score, Error> {
        let late = self.plan.splits_late(candidate.attribute)
            && matches!(candidate.value, CutValue::Interval { .. });
        let gain =
            if late { Some(self.best_gain(candidate)?) } else { self.scorer.gain(candidate)? };
        let base = if self.plan.is_vertical() { 0 } else { self.scorer.base() };
        match gain {
            Some(gain) => Score::whole(base + gain).ok_or_else(|| Error::fault("too many records")),
            None => Ok(self.scorer.score(candidate)?),
        }
    }

    /// Leaf-max: what the best split of an interval gains. Costs a sort of its records, since every
    /// specialization may change it.
    fn best_gain(&self, candidate: Candidate) -> Result<u64, Error> {
        let (attribute, value) = (candidate.attribute, candidate.value);
        let stretches = splits::stretches(
            &self.leaf_records,
            attribute,
            value,
            self.scorer.utility().into(),
            None,
        )?;
        let best =
            stretches.iter().map(|run| run.score.steps() >> SCORE_GRID_BITS).max().unwrap_or(0);
        let leaves = self.leaf_records.link(attribute, value).into_iter();
        let now = leaves.map(|leaf| u64::from(utility::largest(self.leaf_records.counts(leaf))));
        Ok(best.saturating_sub(now.sum())) // dividing a leaf never lowers what it is worth
    }

    /// The split that was drawn for an interval.
    ///
    /// # Errors
    /// [`Error::fault`] if none was.
    pub fn split_of(&self, candidate: Candidate) -> Result<u32, Error> {
        let drawn = self.known.get(&candidate).and_then(|made| made.split);
        drawn.ok_or_else(|| Error::fault("an interval won for which no split was drawn"))
    }

    /// Draws a split for each interval, looking only at the records inside it. `in_order` is for
    /// mechanisms whose ties are broken by the order of the points.
    ///
    /// # Errors
    /// Those of the mechanism.
    pub fn draw_splits<S>(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
        mechanism: &mut S,
        in_order: bool,
    ) -> Result<(), Error>
    where
        S: Choose<Scores = [Scored], Error = privacy::Error>,
    {
        // Records of different intervals are different records.
        let spends = spend.over_disjoint_records(intervals.len());
        for (interval, spend) in intervals.iter().zip(spends) {
            let (scored, logarithms) = (self.plan.split_score(attribute), self.scorer.logarithms());
            let stretches =
                splits::stretches(&self.leaf_records, attribute, *interval, scored, logarithms)?;
            let options =
                if in_order { Options::in_order(stretches) } else { Options::by_score(stretches) };
            let choice = mechanism.choose(
                spend,
                self.plan.split_calibration(attribute),
                &options.weighed,
            )?;
            let split = options.split(choice).ok_or_else(|| Error::fault("no such split won"))?;
            let candidate = Candidate { attribute, value: *interval };
            self.learn(vec![Specialization { candidate, split: Some(split) }])?;
        }
        Ok(())
    }

    /// Moves the records into the children of a categorical or numeric value. Does nothing if
    /// another party holds the attribute.
    ///
    /// # Errors
    /// If the records do not fit.
    pub fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
    ) -> Result<(), Error> {
        if !self.holds(made.candidate.attribute) {
            return Ok(());
        }
        self.known.remove(&made.candidate);
        let replaced = self.leaf_records.specialize(made, children)?;
        self.scorer.follow(&self.leaf_records, &replaced, made.candidate, &self.known)?;
        self.learn_children(made, children)
    }

    /// The same for a value of a set attribute: sub-partitions whose noisy size is below `least` are
    /// dropped with their records. `noisy` adds noise to the sizes, which are of disjoint sets.
    ///
    /// # Errors
    /// Those of `noisy`, or if the records do not fit.
    pub fn specialize_set(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        least: &BigUint,
        noisy: impl FnOnce(&[u64]) -> Result<Vec<i64>, Error>,
    ) -> Result<(), Error> {
        self.known.remove(&made.candidate);
        let parts = self.leaf_records.sub_partitions(made)?;
        let least = i64::try_from(least).unwrap_or(i64::MAX);
        let keep: Vec<bool> = noisy(parts.sizes())?.iter().map(|size| *size >= least).collect();
        let replaced = self.leaf_records.keep(made, children, parts, &keep)?;
        self.scorer.follow(&self.leaf_records, &replaced, made.candidate, &self.known)?;
        self.scorer.recount(&self.leaf_records, &self.known)?;
        self.learn_children(made, children)
    }

    fn learn_children(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
    ) -> Result<(), Error> {
        let cuts = Cuts::topmost(self.plan.schema());
        self.learn(known_at_once(&cuts, made.candidate.attribute, children))
    }

    fn learn(&mut self, candidates: Vec<Specialization>) -> Result<(), Error> {
        if self.plan.is_public() {
            return Ok(()); // nobody asks for a score
        }
        for made in candidates {
            self.known.insert(made.candidate, made);
            self.scorer.add(&self.leaf_records, &made)?;
        }
        Ok(())
    }
}
