//! Minimal violating sets: of at most L pairs, breaking the rule, with no part that breaks it.
//!
//! Level by level. A set of pairs that occurs is a candidate if none of its parts is violating; for
//! that it is enough that every two of its pairs may stand together (a bitmap) and that it has no
//! part among the longer sets found so far. Counting goes by first pair: its rows are cut behind it,
//! what may not stand beside it is dropped, and the same again for the next pair, so that a level
//! costs at most one increment for every set of its length in every row. First pairs are independent
//! of each other, and levels are not: the result does not depend on the number of threads.
//!
//! *Memory*: sets are counted by all threads together, and all stop once there are more than
//! [`MOST_SETS`].

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::paths::{Index, Paths};
use super::projection::{Rest, Work};
use super::sets::Sets;
use crate::Error;
use crate::release::groups::{Extremes, Rule};

/// Most violating sets that are kept in memory.
pub const MOST_SETS: usize = 10_000_000;

/// What a search found.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// All minimal violating sets.
    pub sets: Sets,
    /// The smallest group and the largest part, of sets that do not violate.
    pub extremes: Extremes,
    /// How often something was counted.
    pub increments: u64,
}

/// All minimal violating sets of at most `most` pairs.
///
/// # Errors
/// If there are too many.
pub fn find(paths: &Paths, index: &Index, most: usize, rule: &Rule) -> Result<Found, Error> {
    find_at_most(paths, index, most, rule, MOST_SETS)
}

/// The same with another limit.
pub(super) fn find_at_most(
    paths: &Paths,
    index: &Index,
    most: usize,
    rule: &Rule,
    most_sets: usize,
) -> Result<Found, Error> {
    let pairs = paths.pairs.len();
    let longest = (0..paths.rows()).map(|row| paths.of(row).len()).max().unwrap_or(0);
    let mut search = Search {
        paths,
        index,
        rule,
        together: vec![Bits::new(0); pairs],
        sets: Sets::default(),
        made: AtomicUsize::new(0),
        most_sets,
    };
    let (single, mut found) = search.singles()?;
    for length in 2..=most.min(longest) {
        let of_one = |work: &mut Work, first: u32| search.level(first, length, &single, work);
        let level: Result<Vec<Level>, Error> = (0..pairs as u32)
            .into_par_iter()
            .map_init(|| Work::new(pairs, paths.protected.len()), of_one)
            .collect();
        for (first, one) in level?.into_iter().enumerate() {
            if let Some(row) = one.together {
                search.together[first] = row;
            }
            search.sets.extend(length, &one.sets);
            found.extremes = found.extremes.and(one.extremes);
            found.increments += one.increments;
        }
    }
    Ok(Found { sets: search.sets, ..found })
}

struct Search<'p> {
    paths: &'p Paths,
    index: &'p Index,
    rule: &'p Rule,
    /// For every pair, which later ones may stand with it.
    together: Vec<Bits>,
    /// What was found on earlier levels.
    sets: Sets,
    /// How many sets all threads have made.
    made: AtomicUsize,
    most_sets: usize,
}

/// What one first pair has on a level.
#[derive(Default)]
struct Level {
    sets: Vec<u32>,
    /// On the second level: which later pairs may stand with it.
    together: Option<Bits>,
    extremes: Extremes,
    increments: u64,
}

impl Level {
    /// Notes a set that does not violate.
    fn see(&mut self, counts: &[u32]) {
        let people = u64::from(counts[0]);
        self.extremes.smallest = self.extremes.smallest.min(people);
        for told in &counts[1..] {
            self.extremes.widen(u64::from(*told), people);
        }
    }
}

impl Search<'_> {
    fn violates(&self, counts: &[u32]) -> bool {
        let people = u64::from(counts[0]);
        people < self.rule.k || counts[1..].iter().any(|n| !self.rule.allows(people, u64::from(*n)))
    }

    /// Counts sets that were made, all threads together.
    fn made(&self, sets: usize) -> Result<(), Error> {
        if self.made.fetch_add(sets, Ordering::Relaxed).saturating_add(sets) > self.most_sets {
            return Err(Error::input(format!(
                "more than {} sets of pairs tell too much: use a smaller `l`, coarser times, or places \
                 that more people share",
                self.most_sets
            )));
        }
        Ok(())
    }

    /// Whether each pair alone violates.
    fn singles(&mut self) -> Result<(Vec<bool>, Found), Error> {
        let (mut work, mut level) =
            (Work::new(self.paths.pairs.len(), self.paths.protected.len()), Level::default());
        for pair in 0..self.paths.pairs.len() as u32 {
            let rows = self.index.of(pair);
            rows.iter().for_each(|row| work.add(pair, row.people, row.label));
        }
        let mut single = vec![false; self.paths.pairs.len()];
        work.harvest(|pair, counts| match self.violates(counts) {
            true => {
                single[pair as usize] = true;
                level.sets.push(pair);
            }
            false => level.see(counts),
        });
        self.made(level.sets.len())?;
        self.sets.extend(1, &level.sets);
        let (extremes, increments) = (level.extremes, work.increments);
        Ok((single, Found { extremes, increments, ..Found::default() }))
    }

    /// The violating sets of a length that begin with a pair; for length 2 also what may stand with it.
    fn level(
        &self,
        first: u32,
        length: usize,
        single: &[bool],
        work: &mut Work,
    ) -> Result<Level, Error> {
        let mut level = Level::default();
        if single[first as usize] {
            return Ok(level);
        }
        let before = work.increments;
        if length == 2 {
            self.second(first, single, work, &mut level)?;
        } else {
            let may = &self.together[first as usize];
            let (mut items, mut rests) = (Vec::new(), Vec::new());
            for row in self.index.of(first) {
                let behind = &self.paths.items[row.start as usize..][..usize::from(row.length)];
                let (people, label) = (row.people, row.label);
                push_rest(behind, may, length - 1, (people, label), &mut items, &mut rests);
            }
            self.descend(&mut vec![first], &items, &rests, length, work, &mut level)?;
        }
        level.increments = work.increments - before;
        Ok(level)
    }

    /// The violating sets of two pairs that begin with one, and what may stand with it.
    fn second(
        &self,
        first: u32,
        single: &[bool],
        work: &mut Work,
        level: &mut Level,
    ) -> Result<(), Error> {
        for row in self.index.of(first) {
            for pair in &self.paths.items[row.start as usize..][..usize::from(row.length)] {
                work.add(*pair, row.people, row.label);
            }
        }
        let mut together = Bits::new(self.paths.pairs.len());
        work.harvest(|pair, counts| {
            if single[pair as usize] {
                return;
            }
            match self.violates(counts) {
                true => level.sets.extend([first, pair]),
                false => {
                    together.set(pair);
                    level.see(counts);
                }
            }
        });
        level.together = Some(together);
        self.made(level.sets.len() / 2)
    }

    /// The violating sets of a length, at least two more than the prefix has, that begin with it.
    fn descend(
        &self,
        prefix: &mut Vec<u32>,
        items: &[u32],
        rests: &[Rest],
        length: usize,
        work: &mut Work,
        level: &mut Level,
    ) -> Result<(), Error> {
        let behind = length - prefix.len() - 1;
        let (places, ends) = work.by_next(items, rests, behind);
        let mut start = 0;
        for (next, end) in ends {
            let same = places[start..end].iter().map(|(place, number)| {
                let rest = rests[*number as usize];
                (&items[*place as usize + 1..rest.end as usize], rest)
            });
            start = end;
            prefix.push(next);
            let may = &self.together[next as usize];
            if self.has_violating_part(prefix) {
                prefix.pop();
                continue;
            }
            if behind == 1 {
                for (behind, rest) in same {
                    for pair in behind.iter().filter(|pair| may.has(**pair)) {
                        work.add(*pair, rest.people, rest.label);
                    }
                }
                self.last(prefix, work, level)?;
            } else {
                let (mut finer, mut left) = (Vec::new(), Vec::new());
                for (rows, rest) in same {
                    let row = (rest.people, rest.label);
                    push_rest(rows, may, behind, row, &mut finer, &mut left);
                }
                self.descend(prefix, &finer, &left, length, work, level)?;
            }
            prefix.pop();
        }
        Ok(())
    }

    /// The violating sets of a prefix and one of the pairs that were counted behind it.
    fn last(&self, prefix: &mut Vec<u32>, work: &mut Work, level: &mut Level) -> Result<(), Error> {
        let before = level.sets.len();
        work.harvest(|pair, counts| {
            prefix.push(pair);
            if !self.violates(counts) {
                level.see(counts);
            } else if !self.has_violating_part(prefix) {
                level.sets.extend_from_slice(prefix);
            }
            prefix.pop();
        });
        self.made((level.sets.len() - before) / (prefix.len() + 1))
    }

    /// Whether a set has a part of three or more pairs, with its last one, that is violating. Parts
    /// without the last pair were looked at before it came.
    fn has_violating_part(&self, set: &[u32]) -> bool {
        let Some((last, before)) = set.split_last() else { return false };
        if before.len() < 2 || !self.sets.has_longer_than(2) {
            return false;
        }
        let mut part = Vec::with_capacity(set.len());
        (1u64..1 << before.len().min(63)).filter(|chosen| chosen.count_ones() > 1).any(|chosen| {
            let chosen = |place: &usize| chosen >> place & 1 == 1;
            part.clear();
            part.extend((0..before.len()).filter(chosen).map(|place| before[place]));
            part.push(*last);
            self.sets.has(&part)
        })
    }
}

/// Keeps of a row what may stand with the pair before it, if so many pairs are left at least.
fn push_rest(
    row: &[u32],
    may: &Bits,
    least: usize,
    (people, label): (u32, u8),
    items: &mut Vec<u32>,
    rests: &mut Vec<Rest>,
) {
    let start = items.len();
    items.extend(row.iter().copied().filter(|pair| may.has(*pair)));
    if items.len() - start < least {
        items.truncate(start);
        return;
    }
    let (start, end) = (start as u32, items.len() as u32);
    rests.push(Rest { start, end, people, label });
}

/// A set of pairs.
#[derive(Clone)]
struct Bits(Vec<u64>);

impl Bits {
    fn new(pairs: usize) -> Self {
        Self(vec![0; pairs.div_ceil(64)])
    }

    fn has(&self, pair: u32) -> bool {
        self.0.get(pair as usize / 64).is_some_and(|word| word >> (pair % 64) & 1 == 1)
    }

    fn set(&mut self, pair: u32) {
        if let Some(word) = self.0.get_mut(pair as usize / 64) {
            *word |= 1 << (pair % 64);
        }
    }
}
