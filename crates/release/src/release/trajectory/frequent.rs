//! Maximal frequent sets: so many people have them, and no set with one pair more.
//!
//! The same projection as for violating sets, over frequent pairs alone. Every frequent set marks its
//! parts of one pair less: those are not maximal.
//!
//! Sets are counted by all threads together, and all stop once there are too many. Every part of a
//! frequent set is frequent, so that a long one is too many by itself: that bounds the recursion. Pairs that
//! are looked at are counted too, since how many that will be is not known before: no search goes on
//! for longer than one for violating sets may.

use crate::Error;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::MOST_STEPS;
use super::paths::{Index, Paths};
use super::projection::{Rest, Work};
use super::sets::Sets;

/// Most frequent sets that are kept in memory.
const MOST_SETS: usize = 10_000_000;

/// A longer set has 2²⁴ − 1 parts or more, all of them frequent.
const LONGEST: usize = MOST_SETS.ilog2() as usize;

/// The maximal sets that at least `support` people have.
///
/// # Errors
/// If there are too many, or they are not found in time.
pub fn find(paths: &Paths, index: &Index, support: u64) -> Result<Sets, Error> {
    let support = support.max(1);
    let pairs = paths.pairs.len() as u32;
    let people = |pair: u32| index.of(pair).iter().map(|row| u64::from(row.people)).sum::<u64>();
    let rare: Vec<bool> = (0..pairs).into_par_iter().map(|pair| people(pair) < support).collect();
    let paths = paths.without(&rare);
    let index = paths.index();
    let search = Search {
        items: &paths.items,
        support,
        made: AtomicUsize::new(0),
        steps: AtomicU64::new(0),
    };
    let of_one = |work: &mut Work, first: u32| {
        let mut sets = Vec::new();
        if !rare[first as usize] {
            let rests = index.of(first).iter().map(|row| {
                let (start, end) = (row.start, row.start + u32::from(row.length));
                Rest { start, end, people: row.people, label: 0 }
            });
            search.grow(&mut vec![first], &rests.collect::<Vec<_>>(), work, &mut sets)?;
        }
        Ok(sets)
    };
    let by_first: Result<Vec<Vec<Vec<u32>>>, Error> =
        (0..pairs).into_par_iter().map_init(|| Work::new(pairs as usize, 0), of_one).collect();
    let mut all = Sets::default();
    for by_length in by_first? {
        for (length, sets) in (1..).zip(by_length) {
            all.extend(length, &sets);
        }
    }
    Ok(all.maximal())
}

struct Search<'p> {
    items: &'p [u32],
    support: u64,
    /// How many sets all threads have made.
    made: AtomicUsize,
    /// How many pairs they have looked at.
    steps: AtomicU64,
}

impl Search<'_> {
    /// The frequent sets that begin with a prefix, itself first, by length.
    fn grow(
        &self,
        prefix: &mut Vec<u32>,
        rests: &[Rest],
        work: &mut Work,
        sets: &mut Vec<Vec<u32>>,
    ) -> Result<(), Error> {
        if prefix.len() > LONGEST {
            // The others need not go on either.
            self.made.store(MOST_SETS, Ordering::Relaxed);
        }
        if self.made.fetch_add(1, Ordering::Relaxed) >= MOST_SETS {
            return Err(Error::input(format!(
                "more than {MOST_SETS} sets of pairs are frequent: use a larger support"
            )));
        }
        sets.resize(sets.len().max(prefix.len()), Vec::new());
        if let Some(sets) = sets.get_mut(prefix.len() - 1) {
            sets.extend_from_slice(prefix);
        }
        let looked_at: u64 = rests.iter().map(|rest| u64::from(rest.end - rest.start)).sum();
        if u128::from(self.steps.fetch_add(looked_at, Ordering::Relaxed)) > MOST_STEPS {
            return Err(Error::input(format!(
                "frequent sets of pairs are not found in {MOST_STEPS} steps: use a larger support"
            )));
        }
        for rest in rests {
            for pair in &self.items[rest.start as usize..rest.end as usize] {
                work.add(*pair, rest.people, 0);
            }
        }
        let mut next = Vec::new();
        work.harvest(|pair, counts| {
            if u64::from(counts[0]) >= self.support {
                next.push(pair);
            }
        });
        if next.is_empty() {
            return Ok(());
        }
        let (places, ends) = work.by_next(self.items, rests, 0);
        let mut start = 0;
        for (pair, end) in ends {
            let same = &places[start..end];
            start = end;
            if next.binary_search(&pair).is_err() {
                continue;
            }
            let finer = same
                .iter()
                .map(|(place, number)| Rest { start: place + 1, ..rests[*number as usize] });
            prefix.push(pair);
            self.grow(prefix, &finer.collect::<Vec<_>>(), work, sets)?;
            prefix.pop();
        }
        Ok(())
    }
}
