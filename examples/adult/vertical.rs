//! What two parties with different columns release together, without the cryptography: each scores
//! its own candidates and knows its own cuts only.

use crate::data::held_by;
use diptych::agreement::{Agreement, Selection};
use diptych::app::evaluate::generalize::Generalization;
use diptych::math::{Randomness, Rational};
use diptych::privacy::choice::SCORE_GRID_BITS;
use diptych::privacy::decisions::Decisions;
use diptych::privacy::{
    self, AddNoise, Budget, Calibration, Candidate as Weighed, Choose, Score, Spend,
};
use diptych::release::diffgen::holder::Holder;
use diptych::release::diffgen::single::{Chooser, Noiser};
use diptych::release::diffgen::utility::{Utility, largest};
use diptych::release::diffgen::{Error, Form, Leaves, Plan, Release, run};
use diptych::table::{Candidate, CutValue, Cuts, Specialization, Table};

/// How the scores of two parties are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compare {
    /// As they are.
    Scores,
    /// By how much a party's own leaves gain: sensitivity 1, but not monotone.
    Gains,
    /// Less a noisy estimate of what a party's own leaves have gained so far, on which a third of
    /// each choice's budget is spent: monotone.
    Estimated,
}

pub fn release<'s>(
    agreement: &'s Agreement,
    table: &Table,
    compare: Compare,
    rng: &mut Randomness,
) -> Result<Release<'s>, Error> {
    let plan = Plan::new(agreement)?;
    let missing = || Error::Fault("a column is missing");
    let [first, second] = [false, true].map(|second| held_by(table, second));
    let (first, second) = (first.ok_or_else(missing)?, second.ok_or_else(missing)?);
    let mut form = TwoParties {
        holders: [Holder::new(&plan, &first)?, Holder::new(&plan, &second)?],
        table,
        compare,
        gained: [0; 2],
        start: 0,
        coins: rng.fork(),
        choose: Chooser::new(agreement.selection, rng.fork())?,
        split: Chooser::new(Selection::Exponential, rng.fork())?,
        noise: Noiser::new(agreement.noise, rng.fork()),
    };
    form.start = form.base(0);
    run(&plan, Budget::new(plan.epsilon()), &mut form, &|_| {})
}

struct TwoParties<'p, 't> {
    holders: [Holder<'p, 't>; 2],
    table: &'t Table,
    compare: Compare,
    /// Estimates of what each party's own leaves have gained so far.
    gained: [i64; 2],
    /// Where both began.
    start: i64,
    coins: Randomness,
    choose: Chooser<Randomness>,
    split: Chooser<Randomness>,
    noise: Noiser<Randomness>,
}

impl<'p, 't> TwoParties<'p, 't> {
    /// Σ over a party's own leaves of the largest class count.
    fn base(&self, party: usize) -> i64 {
        let partition = self.holders[party].partition();
        let leaves = partition.leaf_ids();
        leaves.map(|leaf| i64::from(largest(partition.counts(leaf)))).sum()
    }

    fn holder(&self, attribute: usize) -> &Holder<'p, 't> {
        &self.holders[usize::from(!self.holders[0].holds(attribute))]
    }
}

impl Form for TwoParties<'_, '_> {
    type Error = Error;

    fn draw_splits(
        &mut self,
        spend: Spend,
        attribute: usize,
        intervals: &[CutValue],
    ) -> Result<(), Error> {
        let party = usize::from(!self.holders[0].holds(attribute));
        self.holders[party].draw_splits(spend, attribute, intervals, &mut self.split, false)
    }

    fn choose(&mut self, spend: Spend, candidates: &[Candidate]) -> Result<usize, Error> {
        let plan = self.holders[0].plan();
        let whole = plan.utility() != Utility::LeafMax || self.compare == Compare::Scores;
        let bases = [0, 1].map(|party| match self.compare {
            _ if whole => 0,
            Compare::Estimated => self.gained[party],
            _ => self.base(party),
        });
        let weighed: Vec<Weighed> = candidates
            .iter()
            .map(|candidate| {
                let score = self.holder(candidate.attribute).score(*candidate)?;
                let party = usize::from(!self.holders[0].holds(candidate.attribute));
                let base = bases[party] << SCORE_GRID_BITS;
                let steps = i64::try_from(score.steps()).unwrap_or(i64::MAX) - base;
                Ok(Weighed::single(Score::from_steps(u64::try_from(steps).unwrap_or(0))))
            })
            .collect::<Result<_, Error>>()?;
        let calibration = match self.compare {
            _ if whole => plan.calibration().clone(),
            Compare::Estimated => {
                let part = Rational::new(3u32, 2u32).unwrap_or_else(Rational::zero);
                Calibration::new(part, true)?
            }
            _ => Calibration::max_of_the_papers(),
        };
        Ok(self.choose.choose(spend, &calibration, &weighed)?.index)
    }

    fn split_of(&mut self, winner: Candidate) -> Result<u32, Error> {
        self.holder(winner.attribute).split_of(winner)
    }

    fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        _: Option<Spend>,
    ) -> Result<(), Error> {
        self.holders.iter_mut().try_for_each(|holder| holder.specialize(made, children))?;
        let party = usize::from(!self.holders[0].holds(made.candidate.attribute));
        let third = Rational::new(1u32, 3u32).unwrap_or_else(Rational::zero);
        let epsilon = self.holders[0].plan().epsilon_step() * &third;
        let noise = self.coins.discrete_laplace(&epsilon)?;
        let noise = i64::try_from(noise).unwrap_or(0);
        self.gained[party] = self.base(party) - self.start + noise;
        Ok(())
    }

    fn leaves(&mut self, _: &Cuts<'_>) -> Result<Leaves, Error> {
        Ok(Leaves::CrossProduct)
    }

    fn noisy_counts(
        &mut self,
        spend: Spend,
        cuts: &Cuts<'_>,
        _: &Leaves,
    ) -> Result<Vec<i64>, Error> {
        let records = Generalization::new(cuts).records(self.table);
        let records = records.ok_or(Error::Fault("a column is missing"))?;
        let mut counts = vec![0u64; cuts.leaves() as usize * records.class_count];
        for (row, class) in records.classes.iter().enumerate() {
            let leaf = records.columns.iter().enumerate().fold(0, |leaf, (attribute, column)| {
                leaf * cuts.of(attribute).len() + column[row] as usize
            });
            counts[leaf * records.class_count + usize::from(*class)] += 1;
        }
        let noisy: Result<Vec<i64>, privacy::Error> = self.noise.add_noise(spend, &counts);
        Ok(noisy?)
    }
}
