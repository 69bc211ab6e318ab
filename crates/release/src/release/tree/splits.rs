//! Where to split an interval: every possible split has a score, and stretches of neighbouring splits
//! have the same one.
//!
//! *Theorem.* Choosing a split by the exponential mechanism over the stretches, weighted by their
//! number of points, is the exponential mechanism over the points. It sees only the records inside
//! the interval, so the draws for two intervals of one attribute cost one spend together.
//!
//! *Ties.* Where one class prevails on both sides of a split, Max and leaf-max are what they are without
//! it. In a wide domain nearly all points are such, most of them in ranges without records, and a
//! draw among them is uniform. So a score may be w·u + min(l, r), where l and r records of the interval
//! lie left and right of the split ([`SplitScore`]).
//!
//! *Theorem.* That score has the sensitivity w·Δ + 1, and is monotone if u is. *Proof.* A record more
//! raises l or r by 1, and so min(l, r) by 0 or 1, and it moves w·u by at most w·Δ.
//! Nothing more is spent: the rate of u becomes w/(w + 1/Δ) of what it was.
//!
//! Scores are lowered by the least of them before they are weighed. That changes no probability of
//! the exact mechanism, and the least weight is still 2^f, so the bound on what rounding costs holds
//! as it is; but weights become as short as scores are close. For the exponential mechanism stretches
//! are also grouped by score, since the split is uniform among the points of one score.

use super::leaf_records::LeafRecords;
use super::utility::{Logarithms, Utility, largest};
use crate::Error;
use crate::privacy::{Choice, Score, Scored};
use crate::table::{Column, CutValue};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// How splits are scored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitScore {
    /// u, the utility of the specialization that a split makes.
    pub utility: Utility,
    /// w of w·u + min(l, r), where l and r records lie left and right; u alone without it.
    pub weight: Option<u32>,
}

impl From<Utility> for SplitScore {
    fn from(utility: Utility) -> Self {
        Self { utility, weight: None }
    }
}

/// Neighbouring possible splits with one score.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stretch {
    /// The first of them: the first point of the right child.
    pub first: u32,
    /// How many.
    pub points: u32,
    /// The score of each.
    pub score: Score,
}

/// Records whose places are noted in one go.
const AT_ONCE: usize = 1 << 12;

/// The stretches of an interval, ascending; they cover all its points but the first.
///
/// # Errors
/// If the party does not hold the attribute.
pub fn stretches(
    leaf_records: &LeafRecords<'_>,
    attribute: usize,
    interval: CutValue,
    scored: SplitScore,
    logarithms: Option<&Logarithms>,
) -> Result<Vec<Stretch>, Error> {
    let (CutValue::Interval { start, end }, Some(Column::Numeric(points))) =
        (interval, leaf_records.column(attribute))
    else {
        return Err(Error::fault("a split of something that is not an interval"));
    };
    let classes = leaf_records.classes();
    let leaves = leaf_records.link(attribute, interval);
    // For leaf-max every leaf counts for itself; otherwise all count together.
    let groups = if scored.utility == Utility::LeafMax { leaves.len().max(1) } else { 1 };
    let codes = leaf_records.class_codes();
    let mut keys: Vec<u64> = leaves
        .par_iter()
        .enumerate()
        .flat_map(|(leaf, id)| {
            let group = if groups > 1 { leaf } else { 0 };
            leaf_records.records(*id).par_chunks(AT_ONCE).flat_map_iter(move |records| {
                let mut keys = Vec::with_capacity(records.len());
                for record in records {
                    let record = *record as usize;
                    let slot = group * classes + usize::from(codes[record]);
                    keys.push(u64::from(points[record]) << 32 | slot as u64);
                }
                keys
            })
        })
        .collect();
    keys.par_sort_unstable();
    let mut sides = Sides::new(groups, classes, &keys, scored.weight);
    let mut stretches: Vec<Stretch> = Vec::new();
    let mut first = start + 1;
    let mut add = |until: u32, score: Score| {
        // Splits first..=until send the same records left.
        if until < first {
            return;
        }
        match stretches.last_mut() {
            Some(stretch) if stretch.score == score => stretch.points += until - first + 1,
            _ => stretches.push(Stretch { first, points: until - first + 1, score }),
        }
        first = until + 1;
    };
    let mut before = None;
    for key in &keys {
        let point = (key >> 32) as u32;
        if before != Some(point) {
            add(point.min(end - 1), sides.score(logarithms)?);
            before = Some(point);
        }
        sides.move_left((key & 0xffff_ffff) as usize);
    }
    add(end - 1, sides.score(logarithms)?);
    Ok(stretches)
}

/// Runs as a mechanism weighs them, and how to get back from its choice to a split.
pub struct Options {
    /// What to choose from.
    pub weighed: Vec<Scored>,
    stretches: Vec<Stretch>,
    grouped: bool,
}

impl Options {
    /// One option per stretch, in order: for mechanisms whose ties are broken by order.
    pub fn in_order(stretches: Vec<Stretch>) -> Self {
        let least = stretches.iter().map(|stretch| stretch.score).min().unwrap_or_default();
        let weighed = stretches
            .iter()
            .map(|stretch| Scored {
                score: lowered(stretch.score, least),
                multiplicity: u64::from(stretch.points),
            })
            .collect();
        Self { weighed, stretches, grouped: false }
    }

    /// One option per score, ascending: for the exponential mechanism.
    pub fn by_score(stretches: Vec<Stretch>) -> Self {
        let least = stretches.iter().map(|stretch| stretch.score).min().unwrap_or_default();
        let mut points: BTreeMap<Score, u64> = BTreeMap::new();
        for stretch in &stretches {
            *points.entry(lowered(stretch.score, least)).or_default() += u64::from(stretch.points);
        }
        let weighed = points
            .into_iter()
            .map(|(score, multiplicity)| Scored { score, multiplicity })
            .collect();
        Self { weighed, stretches, grouped: true }
    }

    /// The split of a choice.
    pub fn split(&self, choice: Choice) -> Option<u32> {
        if !self.grouped {
            let stretch = self.stretches.get(choice.index)?;
            return Some(stretch.first + u32::try_from(choice.offset).ok()?);
        }
        let least = self.stretches.iter().map(|stretch| stretch.score).min()?;
        let score = self.weighed.get(choice.index)?.score;
        let mut offset = choice.offset;
        for stretch in
            self.stretches.iter().filter(|stretch| lowered(stretch.score, least) == score)
        {
            if offset < u64::from(stretch.points) {
                return Some(stretch.first + offset as u32);
            }
            offset -= u64::from(stretch.points);
        }
        None
    }
}

fn lowered(score: Score, least: Score) -> Score {
    Score::from_steps(score.steps() - least.steps())
}

/// Class counts left and right of a split that moves right, for every group of records.
struct Sides {
    classes: usize,
    left: Vec<u32>,
    right: Vec<u32>,
    /// Σ over groups and sides of the largest class count.
    sum: u64,
    records: usize,
    records_left: usize,
    weight: Option<u32>,
}

impl Sides {
    fn new(groups: usize, classes: usize, keys: &[u64], weight: Option<u32>) -> Self {
        let mut right = vec![0; groups * classes];
        for key in keys {
            right[(key & 0xffff_ffff) as usize] += 1;
        }
        let sum = right.chunks_exact(classes).map(|group| u64::from(largest(group))).sum();
        let left = vec![0; right.len()];
        Self { classes, left, right, sum, records: keys.len(), records_left: 0, weight }
    }

    #[inline]
    fn move_left(&mut self, slot: usize) {
        let group = slot / self.classes * self.classes;
        let group = group..group + self.classes;
        let before = largest(&self.left[group.clone()]) + largest(&self.right[group.clone()]);
        self.records_left += 1;
        self.left[slot] += 1;
        self.right[slot] -= 1;
        let after = largest(&self.left[group.clone()]) + largest(&self.right[group]);
        self.sum = self.sum + u64::from(after) - u64::from(before);
    }

    fn score(&self, logarithms: Option<&Logarithms>) -> Result<Score, Error> {
        let too_many = || Error::fault("too many records");
        let utility = match logarithms {
            Some(logarithms) => {
                let both = [self.left.as_slice(), self.right.as_slice()].concat();
                logarithms.info_gain(&both, self.classes)
            }
            None => Score::whole(self.sum).ok_or_else(too_many)?,
        };
        let Some(weight) = self.weight else { return Ok(utility) };
        let smaller = self.records_left.min(self.records - self.records_left);
        let smaller = Score::whole(smaller as u64).ok_or_else(too_many)?;
        let weighted = utility.steps().checked_mul(weight.into());
        let steps = weighted.and_then(|weighted| weighted.checked_add(smaller.steps()));
        steps.map(Score::from_steps).ok_or_else(too_many)
    }
}
