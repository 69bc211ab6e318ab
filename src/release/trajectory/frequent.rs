//! Maximal frequent sets: so many paths have them, and no set with one pair more.
//!
//! The same projection as for violating sets, over frequent pairs alone. Every frequent set marks its
//! parts of one pair less: those are not maximal.
//!
//! Sets are counted by all threads together, and all stop once there are too many. Every part of a
//! frequent set is frequent, so that a long one is too many by itself: that bounds the recursion.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::Error;
use super::paths::{Index, Paths};
use super::violating::Set;

/// Most frequent sets that are kept in memory.
const MOST_SETS: usize = 10_000_000;

/// A longer set has 2²⁴ − 1 parts or more, all of them frequent.
const LONGEST: usize = MOST_SETS.ilog2() as usize;

/// The maximal sets that at least `support` paths have, in order.
///
/// # Errors
/// [`Error::TooManyFrequent`].
pub fn find(paths: &Paths, index: &Index, support: u64) -> Result<Vec<Set>, Error> {
    let support = support.max(1);
    let pairs = paths.pairs.len() as u32;
    let good: Vec<bool> = (0..pairs).map(|pair| index.of(pair).len() as u64 >= support).collect();
    let made = AtomicUsize::new(0);
    let of_one = |first: u32| {
        let mut sets = Vec::new();
        if good[first as usize] {
            let rests: Vec<Vec<u32>> = index
                .of(first)
                .iter()
                .map(|(path, place)| {
                    let behind = paths.of(*path as usize).iter().skip(*place as usize + 1);
                    behind.copied().filter(|pair| good[*pair as usize]).collect()
                })
                .collect();
            let rests: Vec<&[u32]> = rests.iter().map(Vec::as_slice).collect();
            grow(&mut vec![first], &rests, support, &made, &mut sets)?;
        }
        Ok(sets)
    };
    let sets: Result<Vec<Vec<Set>>, Error> = (0..pairs).into_par_iter().map(of_one).collect();
    let sets: Vec<Set> = sets?.into_iter().flatten().collect();
    let mut maximal: HashMap<&[u32], bool> =
        sets.iter().map(|set| (set.as_slice(), true)).collect();
    let mut part = Vec::new();
    for set in &sets {
        for left_out in 0..set.len() {
            part.clear();
            part.extend(set.iter().enumerate().filter(|(p, _)| *p != left_out).map(|(_, x)| *x));
            if let Some(is_maximal) = maximal.get_mut(part.as_slice()) {
                *is_maximal = false;
            }
        }
    }
    let mut left: Vec<Set> =
        maximal.into_iter().filter(|(_, is)| *is).map(|(set, _)| set.to_vec()).collect();
    left.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    Ok(left)
}

/// The frequent sets that begin with a prefix, itself first.
fn grow(
    prefix: &mut Set,
    rests: &[&[u32]],
    support: u64,
    made: &AtomicUsize,
    sets: &mut Vec<Set>,
) -> Result<(), Error> {
    if prefix.len() > LONGEST {
        // The others need not go on either.
        made.store(MOST_SETS, Ordering::Relaxed);
    }
    if made.fetch_add(1, Ordering::Relaxed) >= MOST_SETS {
        return Err(Error::TooManyFrequent(MOST_SETS));
    }
    sets.push(prefix.clone());
    let mut counts: HashMap<u32, u64> = HashMap::new();
    rests.iter().flat_map(|rest| rest.iter()).for_each(|p| *counts.entry(*p).or_default() += 1);
    let mut next: Vec<u32> =
        counts.into_iter().filter(|(_, count)| *count >= support).map(|(pair, _)| pair).collect();
    next.sort_unstable();
    for pair in next {
        let behind = |rest: &&[u32]| rest.binary_search(&pair).ok().map(|place| place + 1);
        let finer: Vec<&[u32]> =
            rests.iter().filter_map(|rest| Some(&rest[behind(rest)?..])).collect();
        prefix.push(pair);
        grow(prefix, &finer, support, made, sets)?;
        prefix.pop();
    }
    Ok(())
}
