//! What a candidate is worth, as an exact fraction.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::fmt;

use super::super::tree::splits::stretches;
use super::super::tree::utility::{Utility, largest, max};
use super::super::{Error, tree};
use super::{LeafId, Specialized};
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

impl Specialized<'_> {
    /// The score of a specialization of the table as it is.
    pub(super) fn value(&self, made: &Specialization) -> Result<Value, Error> {
        let (leaves, child_of) = (self.linked(made), self.records.child_of(made)?);
        let classes = self.records.classes();
        let (mut counts, mut drop): (Vec<u32>, u128) = (Vec::new(), 0);
        for leaf in &leaves {
            let codes = self.records.class_codes();
            let tally = child_of.tally(self.records.records(*leaf), codes, classes);
            counts.resize(tally.len(), 0);
            counts.iter_mut().zip(&tally).for_each(|(sum, count)| *sum += count);
            let square = |size: u32| u128::from(size) * u128::from(size);
            drop += square(tally.iter().sum());
            drop -=
                tally.chunks_exact(classes).map(|child| square(child.iter().sum())).sum::<u128>();
        }
        let (loss, rules) = match self.score {
            Score::GainPerLoss => self.loss(made)?,
            Score::DiscernibilityDrop => return Ok(Value::new(drop, 1)),
            _ => return Ok(self.value_by_class(&counts)),
        };
        let gain = u128::from(self.logarithms.info_gain(&counts, classes).steps());
        Ok(Value::new(gain * rules, ONE * rules + loss))
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

    /// What the rules lose that speak of the attribute: by how much smallest groups fall and largest
    /// parts rise, in steps, over how many rules that is to be averaged.
    fn loss(&self, made: &Specialization) -> Result<(u128, u128), Error> {
        let steps = |(told, people): (u64, u64)| u128::from(told) * ONE / u128::from(people.max(1));
        let (mut sum, mut rules) = (0, 0);
        for (before, found) in self.extremes.iter().zip(self.extremes_after(made)?) {
            let Some(found) = found else { continue };
            let after = before.clone().and(found);
            sum += u128::from(before.smallest - after.smallest) * ONE;
            sum += steps(after.largest) - steps(before.largest);
            rules += 1;
        }
        Ok((sum, u128::max(rules, 1)))
    }

    /// Where an interval is split: at the largest information gain, as high as that is and as there
    /// are people on both sides. Nothing if all are at one point.
    pub(super) fn best_split(
        &self,
        candidate: Candidate,
        leaves: &[LeafId],
    ) -> Result<Option<u32>, Error> {
        let Some(Column::Numeric(points)) = self.table.column(candidate.attribute) else {
            return Err(tree::Error::Fault("an interval of something that is not a number").into());
        };
        let records = || leaves.iter().flat_map(|leaf| self.records.records(*leaf));
        let lowest = records().map(|record| points[*record as usize]).min();
        let highest = records().map(|record| points[*record as usize]).max();
        let (Some(lowest), Some(highest)) = (lowest, highest) else { return Ok(None) };
        let Candidate { attribute, value } = candidate;
        if self.score == Score::Max {
            return Ok(self.most_even_split(points, leaves));
        }
        let found =
            stretches(&self.records, attribute, value, Utility::InfoGain, Some(&self.logarithms))?;
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
