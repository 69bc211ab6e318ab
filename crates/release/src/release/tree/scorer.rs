//! The scores of the candidates, kept up to date as leaves are divided.
//!
//! Max and InfoGain of a value depend on its own records only, so they are counted once, when the
//! value appears. Leaf-max is kept as a sum over leaves: a leaf that is divided takes its part out,
//! the new ones bring theirs. Records that a set attribute drops are taken out of everything.

use super::leaf_records::{LeafId, LeafRecords, Replaced};
use super::utility::{self, Logarithms, Utility};
use crate::Error;
use crate::privacy::Score;
use crate::table::{Candidate, CutValue, Cuts, Specialization};
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};

/// The specialization of each candidate: its split is set once it is drawn.
pub type Known = HashMap<Candidate, Specialization>;

/// Scores of all candidates of one party.
pub struct Scorer {
    utility: Utility,
    logarithms: Option<Logarithms>,
    /// Max and InfoGain.
    scores: HashMap<Candidate, Score>,
    /// Leaf-max: what a candidate gains over all leaves, and what each leaf contributes to it.
    gains: HashMap<Candidate, u64>,
    contributions: HashMap<LeafId, Vec<(Candidate, u64)>>,
    /// Leaf-max as it is now: Σ over leaves of the largest class count.
    base: u64,
}

impl Scorer {
    /// A scorer that knows no candidate yet.
    pub fn new(utility: Utility, leaf_records: &LeafRecords<'_>) -> Self {
        let logarithms = (utility == Utility::InfoGain)
            .then(|| Logarithms::up_to(leaf_records.class_codes().len()));
        let base = leaf_records
            .leaf_ids()
            .map(|leaf| u64::from(utility::largest(leaf_records.counts(leaf))))
            .sum();
        Self {
            utility,
            logarithms,
            scores: HashMap::new(),
            gains: HashMap::new(),
            contributions: HashMap::new(),
            base,
        }
    }

    /// The utility.
    pub fn utility(&self) -> Utility {
        self.utility
    }

    /// Logarithms for InfoGain.
    pub fn logarithms(&self) -> Option<&Logarithms> {
        self.logarithms.as_ref()
    }

    /// The score of a candidate.
    ///
    /// # Errors
    /// [`Error::fault`] for a candidate that was never scored.
    pub fn score(&self, candidate: Candidate) -> Result<Score, Error> {
        match self.gain(candidate)? {
            Some(gain) => {
                Score::whole(self.base + gain).ok_or_else(|| Error::fault("too many records"))
            }
            None => self.scores.get(&candidate).copied().ok_or_else(unknown),
        }
    }

    /// Leaf-max: what a candidate gains over the leaves as they are.
    ///
    /// # Errors
    /// [`Error::fault`] for a candidate that was never scored.
    pub fn gain(&self, candidate: Candidate) -> Result<Option<u64>, Error> {
        match self.utility {
            Utility::LeafMax => self.gains.get(&candidate).copied().map(Some).ok_or_else(unknown),
            _ => Ok(None),
        }
    }

    /// Leaf-max as it is now: Σ over leaves of the largest class count.
    pub fn base(&self) -> u64 {
        self.base
    }

    /// Scores a candidate that has just appeared, or whose split was just drawn.
    ///
    /// # Errors
    /// If the party does not hold the attribute.
    pub fn add(
        &mut self,
        leaf_records: &LeafRecords<'_>,
        made: &Specialization,
    ) -> Result<(), Error> {
        let candidate = made.candidate;
        let leaves = leaf_records.link(candidate.attribute, candidate.value);
        let child_of = leaf_records.child_of(made)?;
        let (codes, classes) = (leaf_records.class_codes(), leaf_records.classes());
        if self.utility == Utility::LeafMax {
            let gains: Vec<u64> = leaves
                .par_iter()
                .map(|leaf| {
                    let tally = child_of.tally(leaf_records.records(*leaf), codes, classes);
                    gain(&tally, leaf_records.counts(*leaf))
                })
                .collect();
            self.gains.insert(candidate, gains.iter().sum());
            for (leaf, gain) in leaves.into_iter().zip(gains) {
                self.contributions.entry(leaf).or_default().push((candidate, gain));
            }
            return Ok(());
        }
        let counts = if child_of.children().is_some() {
            let tallies = leaves.par_iter().flat_map(|leaf| {
                let chunks = leaf_records.records(*leaf).par_chunks(1 << 16);
                chunks.map(|records| child_of.tally(records, codes, classes))
            });
            tallies.reduce(Vec::new, added)
        } else {
            // A sub-partition is a set of children, wherever its records lie.
            let mut all: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
            for leaf in leaves {
                let tally = child_of.tally_sets(leaf_records.records(leaf), codes, classes);
                for (mask, counts) in tally {
                    let sum = all.remove(&mask).unwrap_or_default();
                    all.insert(mask, added(sum, counts));
                }
            }
            all.into_values().flatten().collect()
        };
        let score = match &self.logarithms {
            Some(logarithms) => logarithms.info_gain(&counts, classes),
            None => Score::whole(utility::max(&counts, classes))
                .ok_or_else(|| Error::fault("too many records"))?,
        };
        self.scores.insert(candidate, score);
        Ok(())
    }

    /// Follows a specialization: `known` holds all candidates that are scored, without the one
    /// that was specialized.
    ///
    /// # Errors
    /// If a column is not there.
    pub fn follow(
        &mut self,
        leaf_records: &LeafRecords<'_>,
        replaced: &Replaced,
        winner: Candidate,
        known: &Known,
    ) -> Result<(), Error> {
        self.scores.remove(&winner);
        self.gains.remove(&winner);
        if self.utility != Utility::LeafMax {
            return Ok(());
        }
        let largest = |leaf: &LeafId| u64::from(utility::largest(leaf_records.counts(*leaf)));
        self.base =
            self.base - replaced.old_largest + replaced.new.iter().map(largest).sum::<u64>();
        for leaf in &replaced.old {
            for (candidate, gain) in self.contributions.remove(leaf).unwrap_or_default() {
                if let Some(sum) = self.gains.get_mut(&candidate) {
                    *sum -= gain;
                }
            }
        }
        let prepared: HashMap<(usize, u32), _> = known
            .values()
            .map(|made| {
                let key = (made.candidate.attribute, made.candidate.value.key());
                Ok((key, (made.candidate, leaf_records.child_of(made)?)))
            })
            .collect::<Result<_, Error>>()?;
        let (codes, classes) = (leaf_records.class_codes(), leaf_records.classes());
        let contributions: Vec<Vec<(Candidate, u64)>> = replaced
            .new
            .par_iter()
            .map(|leaf| {
                let keys = leaf_records.attributes().iter().flat_map(|attribute| {
                    leaf_records.keys(*leaf, *attribute).iter().map(move |key| (*attribute, *key))
                });
                let candidates: Vec<_> = keys.filter_map(|key| prepared.get(&key)).collect();
                let records = leaf_records.records(*leaf);
                candidates
                    .par_iter()
                    .with_min_len(if records.len() > 1 << 14 { 1 } else { usize::MAX })
                    .map(|(candidate, child_of)| {
                        let tally = child_of.tally(records, codes, classes);
                        (*candidate, gain(&tally, leaf_records.counts(*leaf)))
                    })
                    .collect()
            })
            .collect();
        for (leaf, contribution) in replaced.new.iter().zip(contributions) {
            for (candidate, gain) in &contribution {
                *self.gains.entry(*candidate).or_default() += gain;
            }
            self.contributions.insert(*leaf, contribution);
        }
        Ok(())
    }

    /// Forgets Max and InfoGain scores and computes them anew: after records were dropped.
    ///
    /// # Errors
    /// If a column is not there.
    pub fn recount(&mut self, leaf_records: &LeafRecords<'_>, known: &Known) -> Result<(), Error> {
        if self.utility == Utility::LeafMax {
            return Ok(()); // dropped leaves took their part with them
        }
        known.values().try_for_each(|made| self.add(leaf_records, made))
    }
}

fn unknown() -> Error {
    Error::fault("a candidate without a score")
}

/// Candidates whose children are known without a draw: those of taxonomies.
pub fn known_at_once(cuts: &Cuts, attribute: usize, values: &[CutValue]) -> Vec<Specialization> {
    values
        .iter()
        .map(|value| Candidate { attribute, value: *value })
        .filter(|candidate| matches!(candidate.value, CutValue::Value(_)))
        .filter(|candidate| cuts.can_be_specialized(*candidate))
        .map(|candidate| Specialization { candidate, split: None })
        .collect()
}

/// How much the sum of the largest class counts grows when a leaf is divided.
fn gain(children: &[u32], leaf: &[u32]) -> u64 {
    utility::max(children, leaf.len()) - u64::from(utility::largest(leaf))
}

fn added(mut a: Vec<u32>, b: Vec<u32>) -> Vec<u32> {
    if a.is_empty() {
        return b;
    }
    a.iter_mut().zip(b).for_each(|(sum, count)| *sum += count);
    a
}
