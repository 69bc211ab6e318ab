//! What a candidate is worth, as an exact fraction.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use super::super::tree::splits::stretches;
use super::super::tree::utility::{Utility, largest, max};
use super::{Extremes, LeafId, Rule, Specialized};
use crate::Error;
use crate::agreement::syntactic::Score;
use crate::privacy::choice::SCORE_GRID_BITS;
use crate::table::{Candidate, Column, Specialization};

/// Steps of the grid of scores in 1.
const ONE: u128 = 1 << SCORE_GRID_BITS;

/// A score: a fraction whose lower number is not 0.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    above: u128,
    below: u128,
}

impl Value {
    fn new(above: u128, below: u128) -> Self {
        Self { above, below: below.max(1) }
    }

    /// The fraction.
    pub fn parts(self) -> (u128, u128) {
        (self.above, self.below)
    }

    /// A whole number that has lost something and gained something.
    pub(super) fn moved(self, lost: u128, gained: u128) -> Self {
        Self::new((self.above + gained).saturating_sub(lost), self.below)
    }

    /// In the order of the numbers.
    pub fn cmp(&self, other: &Self) -> Ordering {
        (self.above * other.below).cmp(&(other.above * self.below))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.above as f64 / self.below as f64;
        if number == number.trunc() { write!(f, "{number}") } else { write!(f, "{number:.4}") }
    }
}

/// What gain per loss follows from: the gain, and how the rules would be met. Where every rule speaks
/// of one attribute at a time, both depend on the records of the value alone.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    gain: u128,
    found: Arc<[Option<Extremes>]>,
}

/// Of the people of one leaf, by child and class: ordered pairs who look alike before and not after.
fn pairs_parted(tally: &[u32], classes: usize) -> u128 {
    let square = |counts: &[u32]| u128::from(counts.iter().sum::<u32>()).pow(2);
    square(tally) - tally.chunks_exact(classes).map(square).sum::<u128>()
}

impl Specialized<'_> {
    /// The score of a specialization of the table as it is, and what it follows from, if that stays as
    /// it is when others are performed.
    pub(super) fn value(&self, made: &Specialization) -> Result<(Value, Option<Kept>), Error> {
        let (leaves, child_of) = (self.linked(made), self.records.child_of(made)?);
        let classes = self.records.classes();
        let (mut counts, mut drop): (Vec<u32>, u128) = (Vec::new(), 0);
        for leaf in &leaves {
            let codes = self.records.class_codes();
            let tally = child_of.tally(self.records.records(*leaf), codes, classes);
            counts.resize(tally.len(), 0);
            counts.iter_mut().zip(&tally).for_each(|(sum, count)| *sum += count);
            drop += pairs_parted(&tally, classes);
        }
        match self.score {
            Score::GainPerLoss => {
                let gain = u128::from(self.logarithms.info_gain(&counts, classes).steps());
                let kept = Kept { gain, found: self.extremes_after(made)?.into() };
                let alone = |rule: &Rule| rule.most <= 1;
                Ok((self.per_loss(&kept), self.rules.iter().all(alone).then_some(kept)))
            }
            Score::DiscernibilityDrop => Ok((Value::new(drop, 1), None)),
            _ => Ok((self.value_by_class(&counts), None)),
        }
    }

    /// The score of a specialization whose children have so many people of each class, where it depends
    /// on nothing else.
    pub(super) fn value_by_class(&self, counts: &[u32]) -> Value {
        let classes = self.records.classes();
        let gain = u128::from(self.logarithms.info_gain(counts, classes).steps());
        let sizes = || counts.chunks_exact(classes).map(|c| c.iter().sum()).collect::<Vec<u32>>();
        match self.score {
            Score::Max => Value::new(max(counts, classes).into(), 1),
            Score::GainRatio => match self.logarithms.entropy(&sizes()).steps() {
                0 => Value::new(gain, ONE),
                entropy => Value::new(gain, entropy.into()),
            },
            _ => Value::new(gain, ONE),
        }
    }

    /// How many pairs of people a specialization parts in some leaves.
    pub(super) fn drop_in(&self, made: &Specialization, leaves: &[LeafId]) -> Result<u128, Error> {
        let (child_of, codes) = (self.records.child_of(made)?, self.records.class_codes());
        let classes = self.records.classes();
        let tally = |leaf: &LeafId| child_of.tally(self.records.records(*leaf), codes, classes);
        Ok(leaves.iter().map(|leaf| pairs_parted(&tally(leaf), classes)).sum())
    }

    /// A gain over 1 and what the rules lose that speak of the attribute: by how much smallest groups
    /// fall and largest parts rise, on the average.
    pub(super) fn per_loss(&self, kept: &Kept) -> Value {
        let steps = |(told, people): (u64, u64)| u128::from(told) * ONE / u128::from(people.max(1));
        let (mut sum, mut rules) = (0, 0);
        for (before, found) in self.extremes.iter().zip(&*kept.found) {
            let Some(found) = found else { continue };
            let after = before.clone().and(found.clone());
            sum += u128::from(before.smallest - after.smallest) * ONE;
            sum += steps(after.largest) - steps(before.largest);
            rules += 1;
        }
        let rules = u128::max(rules, 1);
        Value::new(kept.gain * rules, ONE * rules + sum)
    }

    /// Where an interval is split: at the largest information gain, as high as that is and as there
    /// are people on both sides. Nothing if all are at one point.
    pub(super) fn best_split(
        &self,
        candidate: Candidate,
        leaves: &[LeafId],
    ) -> Result<Option<u32>, Error> {
        let Some(Column::Numeric(points)) = self.table.column(candidate.attribute) else {
            return Err(Error::fault("an interval of something that is not a number"));
        };
        let records = || leaves.iter().flat_map(|leaf| self.records.records(*leaf));
        let lowest = records().map(|record| points[*record as usize]).min();
        let highest = records().map(|record| points[*record as usize]).max();
        let (Some(lowest), Some(highest)) = (lowest, highest) else { return Ok(None) };
        let Candidate { attribute, value } = candidate;
        if self.score == Score::Max {
            return Ok(self.most_even_split(points, leaves));
        }
        let found = stretches(
            &self.records,
            attribute,
            value,
            Utility::InfoGain.into(),
            Some(&self.logarithms),
        )?;
        let best = found.iter().max_by_key(|stretch| (stretch.score, stretch.first));
        let split = best.map(|best| (best.first + best.points - 1).min(highest));
        Ok(split.filter(|split| *split > lowest))
    }

    /// Where the largest class counts of both sides sum to the most; of such splits that which leaves
    /// most people on its smaller side, and of these the highest.
    fn most_even_split(&self, points: &[u32], leaves: &[LeafId]) -> Option<u32> {
        let (classes, codes) = (self.records.classes(), self.records.class_codes());
        let mut at: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        let mut right = vec![0u32; classes];
        for record in leaves.iter().flat_map(|leaf| self.records.records(*leaf)) {
            let (point, class) = (points[*record as usize], usize::from(codes[*record as usize]));
            at.entry(point).or_insert_with(|| vec![0; classes])[class] += 1;
            right[class] += 1;
        }
        let mut left = vec![0u32; classes];
        let mut best = None;
        for (point, counts) in at {
            let sides = [&left, &right];
            let score: u64 = sides.iter().map(|side| u64::from(largest(side))).sum();
            let smaller = sides.map(|side| side.iter().sum::<u32>()).into_iter().min();
            if left.iter().any(|count| *count > 0) && best <= Some((score, smaller, point)) {
                best = Some((score, smaller, point));
            }
            left.iter_mut().zip(&counts).for_each(|(sum, count)| *sum += count);
            right.iter_mut().zip(&counts).for_each(|(sum, count)| *sum -= count);
        }
        best.map(|(_, _, point)| point)
    }
}
