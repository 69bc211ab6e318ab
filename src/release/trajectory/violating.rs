//! Minimal violating sets: of at most L pairs, breaking the rule, with no part that breaks it.
//!
//! Level by level. A set of pairs that occurs is a candidate if none of its parts is violating; for
//! that it is enough that every two of its pairs may stand together (a bitmap) and that it has no
//! part among the longer sets found so far. Counting goes by first pair: its paths are cut behind it,
//! what may not stand beside it is dropped, and the same again for the next pair, so that a level
//! costs at most one increment for every set of its length in every path. First pairs are independent
//! of each other, and levels are not: the result does not depend on the number of threads.

use std::collections::HashSet;

use rayon::prelude::*;

use super::paths::{Index, Paths};
use crate::release::groups::Rule;

/// A set of pairs, in order.
pub type Set = Vec<u32>;

/// All minimal violating sets, in order.
pub fn find(paths: &Paths, index: &Index, most: usize, rule: &Rule) -> Vec<Set> {
    let pairs = paths.pairs.len();
    let mut search = Search {
        paths,
        index,
        rule,
        wide: paths.protected.len() + 1,
        together: vec![Bits::new(0); pairs],
        found: HashSet::new(),
    };
    let single = search.singles();
    let mut all: Vec<Set> =
        (0..pairs as u32).filter(|p| single[*p as usize]).map(|p| vec![p]).collect();
    for length in 2..=most {
        let of_one = |work: &mut Work, first: u32| search.level(first, length, &single, work);
        let level: Vec<(Vec<Set>, Option<Bits>)> = (0..pairs as u32)
            .into_par_iter()
            .map_init(|| Work::new(pairs, search.wide), of_one)
            .collect();
        for (first, (sets, row)) in level.into_iter().enumerate() {
            if let Some(row) = row {
                search.together[first] = row;
            }
            if length > 2 {
                search.found.extend(sets.iter().cloned());
            }
            all.extend(sets);
        }
        if search.is_exhausted(length) {
            break;
        }
    }
    all.sort_by(|a, b| a.len().cmp(&b.len()).then_with(|| a.cmp(b)));
    all
}

struct Search<'p> {
    paths: &'p Paths,
    index: &'p Index,
    rule: &'p Rule,
    /// A count, and one for every protected value.
    wide: usize,
    /// For every pair, which later ones may stand with it.
    together: Vec<Bits>,
    /// Violating sets of three and more pairs.
    found: HashSet<Set>,
}

/// What is left of a path behind the pairs that were chosen: a stretch of a list, and its label.
#[derive(Clone, Copy)]
struct Rest {
    start: u32,
    end: u32,
    label: u8,
}

impl Search<'_> {
    fn violates(&self, counts: &[u32]) -> bool {
        let people = u64::from(counts[0]);
        people < self.rule.k || counts[1..].iter().any(|n| !self.rule.allows(people, u64::from(*n)))
    }

    /// Whether each pair alone violates; pairs that do not occur do not matter.
    fn singles(&self) -> Vec<bool> {
        let mut counts = vec![0; self.paths.pairs.len() * self.wide];
        for path in 0..self.paths.len() {
            for pair in self.paths.of(path) {
                let counts = &mut counts[*pair as usize * self.wide..];
                counts[0] += 1;
                if self.paths.labels[path] > 0 {
                    counts[usize::from(self.paths.labels[path])] += 1;
                }
            }
        }
        counts
            .chunks_exact(self.wide)
            .map(|counts| counts[0] > 0 && self.violates(counts))
            .collect()
    }

    /// No path has more pairs.
    fn is_exhausted(&self, length: usize) -> bool {
        (0..self.paths.len()).all(|path| self.paths.of(path).len() <= length)
    }

    /// The violating sets of a length that begin with a pair; for length 2 also what may stand with it.
    fn level(
        &self,
        first: u32,
        length: usize,
        single: &[bool],
        work: &mut Work,
    ) -> (Vec<Set>, Option<Bits>) {
        if single[first as usize] {
            return (Vec::new(), (length == 2).then(|| Bits::new(0)));
        }
        let may = |pair: u32| match length {
            2 => !single[pair as usize],
            _ => self.together[first as usize].has(pair),
        };
        let (mut items, mut rests) = (Vec::new(), Vec::new());
        for (path, place) in self.index.of(first) {
            let start = items.len() as u32;
            let behind =
                self.paths.of(*path as usize).get(*place as usize + 1..).unwrap_or_default();
            items.extend(behind.iter().copied().filter(|pair| may(*pair)));
            let (end, label) = (items.len() as u32, self.paths.labels[*path as usize]);
            if end - start + 1 >= length as u32 {
                rests.push(Rest { start, end, label });
            }
        }
        let mut prefix = vec![first];
        if length == 2 {
            let mut row = Bits::new(self.paths.pairs.len());
            work.count(&items, &rests);
            work.harvest(|pair, counts| {
                if !self.violates(counts) {
                    row.set(pair);
                    return;
                }
                prefix.push(pair);
            });
            let sets = prefix[1..].iter().map(|second| vec![first, *second]).collect();
            return (sets, Some(row));
        }
        let mut sets = Vec::new();
        self.descend(&mut prefix, &items, &rests, length, work, &mut sets);
        (sets, None)
    }

    fn descend(
        &self,
        prefix: &mut Set,
        items: &[u32],
        rests: &[Rest],
        length: usize,
        work: &mut Work,
        sets: &mut Vec<Set>,
    ) {
        if prefix.len() + 1 == length {
            work.count(items, rests);
            work.harvest(|pair, counts| {
                if self.violates(counts) {
                    prefix.push(pair);
                    if !self.has_violating_part(prefix) {
                        sets.push(prefix.clone());
                    }
                    prefix.pop();
                }
            });
            return;
        }
        let (places, ends) = work.by_next(items, rests, length - prefix.len() - 1);
        let mut start = 0;
        for (next, end) in ends {
            let same = &places[start..end];
            start = end;
            prefix.push(next);
            if !self.has_violating_part(prefix) {
                let (mut finer, mut left) = (Vec::new(), Vec::new());
                for (place, number) in same {
                    let rest = rests[*number as usize];
                    let start = finer.len() as u32;
                    let behind = &items[*place as usize + 1..rest.end as usize];
                    let row = &self.together[next as usize];
                    finer.extend(behind.iter().copied().filter(|pair| row.has(*pair)));
                    let end = finer.len() as u32;
                    if (end - start) as usize + prefix.len() >= length {
                        left.push(Rest { start, end, label: rest.label });
                    }
                }
                self.descend(prefix, &finer, &left, length, work, sets);
            }
            prefix.pop();
        }
    }

    /// Whether a set has a part of three or more pairs, with its last one, that is violating. Parts
    /// without the last pair were looked at before it came.
    fn has_violating_part(&self, set: &[u32]) -> bool {
        let Some((last, before)) = set.split_last() else { return false };
        if self.found.is_empty() || before.len() < 2 {
            return false;
        }
        (1u64..1 << before.len().min(63)).filter(|chosen| chosen.count_ones() > 1).any(|chosen| {
            let chosen = |place: &usize| chosen >> place & 1 == 1;
            let part = (0..before.len()).filter(chosen).map(|place| before[place]).chain([*last]);
            self.found.contains(&part.collect::<Vec<u32>>())
        })
    }
}

/// Places in a list with the number of their rest, those of one pair behind each other; and where
/// those of each pair end.
type ByNext = (Vec<(u32, u32)>, Vec<(u32, usize)>);

/// Counters of one thread: of every pair, and which of them are not 0.
struct Work {
    counts: Vec<u32>,
    touched: Vec<u32>,
    wide: usize,
}

impl Work {
    fn new(pairs: usize, wide: usize) -> Self {
        Self { counts: vec![0; pairs * wide], touched: Vec::new(), wide }
    }

    fn count(&mut self, items: &[u32], rests: &[Rest]) {
        for rest in rests {
            for pair in &items[rest.start as usize..rest.end as usize] {
                let counts = &mut self.counts[*pair as usize * self.wide..][..self.wide];
                if counts[0] == 0 {
                    self.touched.push(*pair);
                }
                counts[0] += 1;
                if rest.label > 0 {
                    counts[usize::from(rest.label)] += 1;
                }
            }
        }
    }

    /// Where each pair stands that has at least `behind` others behind it, with the number of its
    /// rest: all of one pair behind each other, and where those of each pair end.
    fn by_next(&mut self, items: &[u32], rests: &[Rest], behind: usize) -> ByNext {
        let places = |rest: &Rest| rest.start..rest.end.saturating_sub(behind as u32);
        for pair in rests.iter().flat_map(places).map(|place| items[place as usize]) {
            let count = &mut self.counts[pair as usize * self.wide];
            if *count == 0 {
                self.touched.push(pair);
            }
            *count += 1;
        }
        self.touched.sort_unstable();
        let (mut ends, mut next) = (Vec::with_capacity(self.touched.len()), 0);
        for pair in &self.touched {
            let count = &mut self.counts[*pair as usize * self.wide];
            let start = next;
            next += *count;
            *count = start;
            ends.push((*pair, next as usize));
        }
        let mut sorted = vec![(0, 0); next as usize];
        for (number, rest) in (0u32..).zip(rests) {
            for place in places(rest) {
                let to = &mut self.counts[items[place as usize] as usize * self.wide];
                sorted[*to as usize] = (place, number);
                *to += 1;
            }
        }
        for pair in self.touched.drain(..) {
            self.counts[pair as usize * self.wide] = 0;
        }
        (sorted, ends)
    }

    /// Shows what was counted, in order, and clears it.
    fn harvest(&mut self, mut see: impl FnMut(u32, &[u32])) {
        self.touched.sort_unstable();
        for pair in self.touched.drain(..) {
            let counts = &mut self.counts[pair as usize * self.wide..][..self.wide];
            see(pair, counts);
            counts.fill(0);
        }
    }
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
