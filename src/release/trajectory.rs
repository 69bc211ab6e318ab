//! LKC-privacy for paths of people through places (thesis, chapter 4), for one party. *Not
//! differential privacy*.
//!
//! *Inputs*: paths, each with a sensitive value. *Output*: the same paths without some pairs of place
//! and time. *Promise*: of every q of at most L pairs that occurs in a path, at least K paths have it,
//! and at most the part C of them any one protected value.
//!
//! A pair has its own time, so that a subsequence is a subset, and all of it is mining of item sets.
//! [`violating`] finds the minimal sets that break the promise, [`frequent`] the maximal sets that are
//! worth keeping, [`suppress`] takes pairs out of every path until nothing is violated.
//!
//! *Theorem.* Where a pair is taken out of all paths, as many paths as before have any set without
//! it. So what is violated afterwards is what was violated before and has none of the pairs taken
//! out, and one pass over a list that is made once suffices. Paths that become empty are left out: to
//! leave them in would tell something of all those who are nowhere else.
//!
//! *Does not protect* against L + 1 pairs, knowledge of where somebody was not or of a place without
//! its time, or two releases.

pub mod frequent;
pub mod generate;
pub mod paths;
pub mod suppress;
pub mod violating;

#[cfg(test)]
mod tests;

pub use paths::{Form, Paths};
pub use suppress::Score;

use super::groups::Rule;
use std::collections::HashMap;

/// Most increments of counters that are begun with.
pub const MOST_INCREMENTS: u128 = 200_000_000_000;

/// What is required, and what is to be kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// Pairs that somebody may know.
    pub l: usize,
    /// Paths that must share them.
    pub k: u64,
    /// The part of those that may have a protected value, as a fraction.
    pub c: (u64, u64),
    /// Sets that so many paths have are worth keeping.
    pub support: u64,
    /// Which pair is taken out first.
    pub score: Score,
}

/// Why there is no release.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The table is not one of paths.
    #[error("{0}")]
    Table(String),
    /// The whole table breaks the promise.
    #[error("the whole table is not as required: {0}; no suppression can help")]
    Unmet(String),
    /// It would take too long.
    #[error("this would take about {0} steps: use a smaller `l`, coarser times, or shorter paths")]
    TooLong(u128),
    /// Too many sets are frequent.
    #[error("more than {0} sets of pairs are frequent: use a larger support")]
    TooManyFrequent(usize),
}

/// What is released, and how it came about.
#[derive(Clone, Debug)]
pub struct Anonymized {
    /// The paths that are left, in no order that tells anything.
    pub paths: Paths,
    /// Minimal violating sets, by length from 1.
    pub violating: Vec<usize>,
    /// The pairs that were taken out, in order.
    pub suppressed: Vec<suppress::Suppressed>,
    /// Maximal frequent sets of the raw table, and how many of them are whole.
    pub frequent: (usize, usize),
    /// Pairs in all paths, before and after.
    pub instances: (usize, usize),
    /// Paths that became empty and were left out.
    pub emptied: usize,
}

impl Terms {
    /// What every set of pairs must meet.
    pub fn rule(&self) -> Rule {
        Rule { attributes: Vec::new(), most: self.l, k: self.k, part: self.c }
    }

    /// What is promised, in one sentence.
    pub fn promise(&self) -> String {
        format!(
            "not differential privacy but groups: whoever knows at most {} pairs of place and time \
             of a person is left with at least {} people, at most the part {}/{} of them with any \
             one protected value",
            self.l, self.k, self.c.0, self.c.1
        )
    }

    /// What stands wherever the release is shown.
    pub fn warning(&self, alone: usize) -> String {
        format!(
            "This is not differential privacy. {alone} people are alone on their whole path; {} \
             sightings identify them. It does not protect against whoever knows where somebody was \
             not, or has another release of this data.",
            self.l + 1
        )
    }
}

/// Takes pairs out of paths until the terms hold.
///
/// # Errors
/// What cannot be met, or would take too long.
pub fn anonymize(paths: &Paths, terms: &Terms) -> Result<Anonymized, Error> {
    meet_as_a_whole(paths, terms)?;
    let steps = paths.most_increments(terms.l);
    if steps > MOST_INCREMENTS {
        return Err(Error::TooLong(steps));
    }
    let index = paths.index();
    let violating = violating::find(paths, &index, terms.l, &terms.rule());
    let frequent = frequent::find(paths, &index, terms.support)?;
    let suppressed = suppress::choose(paths, &violating, &frequent, terms.score);
    let gone: Vec<bool> = {
        let mut gone = vec![false; paths.pairs.len()];
        suppressed.iter().for_each(|one| gone[one.pair as usize] = true);
        gone
    };
    let kept = frequent.iter().filter(|set| set.iter().all(|pair| !gone[*pair as usize])).count();
    let left = paths.without(&gone);
    Ok(Anonymized {
        violating: (1..=terms.l)
            .map(|length| violating.iter().filter(|set| set.len() == length).count())
            .collect(),
        suppressed,
        frequent: (frequent.len(), kept),
        instances: (paths.items.len(), left.items.len()),
        emptied: paths.len() - left.len(),
        paths: left,
    })
}

/// The whole table must be as required, or nothing can be.
fn meet_as_a_whole(paths: &Paths, terms: &Terms) -> Result<(), Error> {
    let people = paths.len() as u64;
    if people < terms.k {
        return Err(Error::Unmet(format!("{people} paths are fewer than k = {}", terms.k)));
    }
    let mut told: HashMap<u8, u64> = HashMap::new();
    paths.labels.iter().filter(|label| **label > 0).for_each(|l| *told.entry(*l).or_default() += 1);
    for (label, count) in told {
        if !terms.rule().allows(people, count) {
            let value = &paths.protected[usize::from(label) - 1];
            return Err(Error::Unmet(format!("{count} of {people} have {value}")));
        }
    }
    Ok(())
}
