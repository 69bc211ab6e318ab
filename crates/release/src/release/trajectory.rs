//! LKC-privacy for paths of people through places (thesis, chapter 4), by one party, and in [`union`] by
//! two that hold different people. *Not differential privacy*.
//!
//! *Inputs*: paths, each with a sensitive value. *Output*: the same paths without some pairs of place
//! and time. *Promise*: of every q of at most L pairs that occurs in a path, at least K paths have it,
//! and at most the part C of them any one protected value.
//!
//! A pair has its own time, so that a subsequence is a subset, and all of it is mining of item sets.
//! [`read`] reads them, [`violating`] finds the minimal sets that break the promise, [`frequent`] the maximal sets that are
//! worth keeping, [`suppress`] takes pairs out of every path until nothing is violated.
//!
//! *Theorem.* Where a pair is taken out of all paths, as many paths as before have any set without
//! it. So what is violated afterwards is what was violated before and has none of the pairs taken
//! out, and one pass over a list that is made once suffices. Paths that become empty are left out: to
//! leave them in would tell something of all those who are nowhere else.
//!
//! The theorem is about sets of one pair and more. Whoever knows no pair at all (q = ∅) sees all paths
//! that are left, and leaving some out changes the part of a protected value among them. So [`whole`]
//! is asked of the table and again of what is left, and there is no release if the answer is no.
//!
//! *Does not protect* against L + 1 pairs, knowledge of where somebody was not or of a place without
//! its time, two releases, or a person with several paths, who is counted several times.

pub mod frequent;
pub mod generate;
mod made;
mod model;
pub mod paths;
mod projection;
pub mod read;
pub mod sets;
pub mod suppress;
pub mod union;
pub mod violating;
pub mod wire;

#[cfg(test)]
mod tests;

pub use paths::Paths;
pub use read::Form;
pub use union::Part;

use super::groups::{Rule, protected};
use crate::Error;
use crate::agreement::trajectory::{self as agreed, words};
pub use crate::agreement::trajectory::{Columns, Score};

/// Most steps that are begun with.
pub const MOST_STEPS: u128 = 20_000_000_000;

/// Most pairs that somebody may be taken to know.
pub const MOST_KNOWN: usize = agreed::MOST_KNOWN as usize;

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

/// An error for what would take too long.
fn too_long(steps: u128) -> Error {
    Error::input(format!(
        "this would take about {steps} steps: use a smaller `l`, coarser times, or shorter paths"
    ))
}

/// An error for what is left breaking the promise, since paths without any pair left are left out.
fn unmet_then(emptied: usize, problem: &str) -> Error {
    Error::unmet(format!(
        "what is left once {emptied} paths have lost all their pairs is not as required: {problem}; \
         raise `c`, or lower `k` or `l`, so that fewer are lost"
    ))
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
    pub instances: (u64, u64),
    /// Paths that became empty and were left out.
    pub emptied: usize,
}

impl Terms {
    /// What every set of pairs must meet.
    pub fn rule(&self) -> Rule {
        Rule { attributes: Vec::new(), most: self.l, k: self.k, part: self.c }
    }

    /// Those of an agreement, for so many people.
    pub fn of(terms: &agreed::Terms, people: u64) -> Self {
        let (above, below) = terms.c.ratio();
        Self {
            l: terms.l as usize,
            k: terms.k,
            c: (u64::try_from(above).unwrap_or(0), below),
            support: share(terms.support.ratio(), people),
            score: terms.score,
        }
    }

    /// What is promised, in one sentence.
    pub fn promise(&self, protected: &[String]) -> String {
        let (part, values) = (format!("{}/{}", self.c.0, self.c.1), protected.join(", "));
        let limited = self.c.0 < self.c.1;
        words::promise(self.l, self.k, limited.then_some((part, values.as_str())))
    }

    /// The notice wherever the release is shown.
    pub fn warning(&self, alone: usize) -> String {
        words::warning(self.l, alone)
    }

    /// Sees that something is asked for, of values that the table has.
    ///
    /// # Errors
    /// If they do not.
    pub fn ask_for_something(&self, paths: &Paths) -> Result<(), Error> {
        let limited = self.c.0 < self.c.1;
        if !limited && self.k <= 1 {
            let problem =
                "with `k` at most 1 and `c` 1 nothing is required: raise `k`, or lower `c`";
            return Err(Error::input(problem));
        }
        protected::check(&paths.protected, limited, paths.values.iter().map(String::as_str))
            .map_err(Error::input)
    }

    /// Sees that a search by these terms ends.
    ///
    /// # Errors
    /// If `l` is out of range, or it would take too long.
    pub fn end_in_time(&self, paths: &Paths) -> Result<(), Error> {
        if !(1..=MOST_KNOWN).contains(&self.l) {
            return Err(Error::input(format!(
                "`l` is {}: it must be from 1 to {MOST_KNOWN}",
                self.l
            )));
        }
        match paths.most_steps(self.l) {
            steps if steps > MOST_STEPS => Err(too_long(steps)),
            _ => Ok(()),
        }
    }
}

/// Takes pairs out of paths until the terms hold.
///
/// # Errors
/// What cannot be met, or would take too long.
pub fn anonymize(paths: &Paths, terms: &Terms) -> Result<Anonymized, Error> {
    terms.end_in_time(paths)?;
    whole(paths, terms).map_err(|problem| {
        Error::unmet(format!(
            "the whole table is not as required: {problem}; no suppression can help: raise `c` or lower \
             `k`"
        ))
    })?;
    let index = paths.index();
    let violating = violating::find(paths, &index, terms.l, &terms.rule())?.sets;
    let frequent = frequent::find(paths, &index, terms.support)?;
    let suppressed = suppress::choose(paths, &violating, &frequent, terms.score);
    let mut gone = vec![false; paths.pairs.len()];
    suppressed.iter().for_each(|one| gone[one.pair as usize] = true);
    let kept = frequent.iter().filter(|set| set.iter().all(|pair| !gone[*pair as usize])).count();
    let left = paths.without(&gone);
    let emptied = paths.len() - left.len();
    whole(&left, terms).map_err(|problem| unmet_then(emptied, &problem))?;
    let mut by_length = violating.lengths();
    by_length.resize(terms.l, 0);
    Ok(Anonymized {
        violating: by_length,
        suppressed,
        frequent: (frequent.len(), kept),
        instances: (paths.instances(), left.instances()),
        emptied,
        paths: left,
    })
}

/// So many people are a part of all, rounded up.
pub fn share((above, below): (i128, u64), people: u64) -> u64 {
    let above = u128::try_from(above).unwrap_or(0);
    let many = (above * u128::from(people)).div_ceil(u128::from(below.max(1)));
    u64::try_from(many).unwrap_or(u64::MAX)
}

/// Whether all paths together are as required: what is told to whoever knows no pair.
///
/// # Errors
/// What is not.
pub fn whole(paths: &Paths, terms: &Terms) -> Result<(), String> {
    let (people, told) = paths.told();
    if people < terms.k {
        return Err(format!("{people} paths are fewer than k = {}", terms.k));
    }
    let mut values = told.iter().zip(&paths.protected);
    match values.find(|(count, _)| !terms.rule().allows(people, **count)) {
        Some((count, value)) => Err(format!("{count} of {people} have {value}")),
        None => Ok(()),
    }
}
