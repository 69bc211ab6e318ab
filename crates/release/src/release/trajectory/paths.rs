//! Paths of people: pairs of place and time, and how many people have each path.
//!
//! Pairs are numbered by time and place, so that a path is a rising list of numbers. People with the
//! same path and value are one row, and rows are in order: what came first in a file tells nothing
//! any more, and every step later costs by rows and not by people.

use crate::Error;
use std::collections::HashMap;
use std::io::{self, Write};

use rayon::prelude::*;

/// Most pairs of one path: more were never seen, and would make every step slow.
pub const MOST_PAIRS: usize = 4_096;

/// Most different pairs: which two may stand together is a bitmap of their square.
pub const MOST_DIFFERENT: usize = 1 << 16;

/// Most pairs in all rows: places in them are 32-bit numbers, and an index of them is kept in memory.
pub const MOST_INSTANCES: usize = 1 << 27;

/// Paths, all in one list. Private, like any table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Time and place of each pair, in order.
    pub pairs: Vec<(u64, String)>,
    /// The pairs of all rows.
    pub items: Vec<u32>,
    /// Where each row ends.
    pub ends: Vec<u32>,
    /// How many people each row represents.
    pub people: Vec<u32>,
    /// The protected values.
    pub protected: Vec<String>,
    /// Of each row, the number of its sensitive value.
    pub sensitive: Vec<u32>,
    /// The sensitive values.
    pub values: Vec<String>,
    /// The identifiers of all people, where they were asked for, in an order of their own.
    pub identifiers: Vec<String>,
}

/// What is behind a pair in a row that has it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Behind {
    /// Where it begins.
    pub start: u32,
    /// How many people the row represents.
    pub people: u32,
    /// How many pairs it is.
    pub length: u16,
    /// 0, or one more than the place of the row's protected value.
    pub label: u8,
}

/// Where each pair occurs.
pub struct Index {
    starts: Vec<usize>,
    places: Vec<Behind>,
}

impl Index {
    /// What is behind a pair, row by row.
    pub fn of(&self, pair: u32) -> &[Behind] {
        &self.places[self.starts[pair as usize]..self.starts[pair as usize + 1]]
    }
}

impl Paths {
    /// Rows: different paths and values.
    pub fn rows(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is nobody.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// People, one for each path that was read.
    pub fn len(&self) -> usize {
        self.people.iter().map(|people| *people as usize).sum()
    }

    /// Pairs in the paths of all people.
    pub fn instances(&self) -> u64 {
        (0..self.rows()).map(|row| self.of(row).len() as u64 * u64::from(self.people[row])).sum()
    }

    /// The pairs of a row.
    pub fn of(&self, row: usize) -> &[u32] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.items[start as usize..self.ends[row] as usize]
    }

    /// Of each sensitive value: 0, or one more than its place among the protected ones.
    fn labels(&self) -> Vec<u8> {
        let protected = |value: &String| self.protected.iter().position(|known| known == value);
        self.values.iter().map(|value| protected(value).map_or(0, |p| (p + 1) as u8)).collect()
    }

    /// All people, and those with each protected value.
    pub fn told(&self) -> (u64, Vec<u64>) {
        let labels = self.labels();
        let mut told = vec![0; self.protected.len() + 1];
        let values = self.sensitive.iter().zip(&self.people);
        values.for_each(|(v, n)| told[usize::from(labels[*v as usize])] += u64::from(*n));
        (self.len() as u64, told.split_off(1))
    }

    /// People whose whole path nobody else has.
    pub fn alone(&self) -> usize {
        // Rows with the same path are adjacent.
        let same = (0..self.rows()).collect::<Vec<_>>();
        let same = same.chunk_by(|a, b| self.of(*a) == self.of(*b));
        same.filter(|rows| matches!(rows, [row] if self.people[*row] == 1)).count()
    }

    /// Where each pair occurs, by counting.
    pub fn index(&self) -> Index {
        let labels = self.labels();
        let mut starts = vec![0; self.pairs.len() + 1];
        self.items.iter().for_each(|pair| starts[*pair as usize + 1] += 1);
        (1..starts.len()).for_each(|pair| starts[pair] += starts[pair - 1]);
        let (mut next, mut places) = (starts.clone(), vec![Behind::default(); self.items.len()]);
        let mut start = 0;
        for row in 0..self.rows() {
            let (people, label) = (self.people[row], labels[self.sensitive[row] as usize]);
            let end = self.ends[row];
            for pair in &self.items[start as usize..end as usize] {
                start += 1;
                let place = &mut next[*pair as usize];
                places[*place] = Behind { start, people, length: (end - start) as u16, label };
                *place += 1;
            }
        }
        Index { starts, places }
    }

    /// Sets of at most `most` pairs in all rows: as many as a search counts that leaves none out, and
    /// no search counts more.
    pub fn most_increments(&self, most: usize) -> u128 {
        self.sets_by_size(most).into_iter().fold(0, u128::saturating_add)
    }

    /// Steps of a search for violating sets of at most `most` pairs: increments, and the parts of
    /// every different set of three and more pairs, which are looked at again on every later level.
    pub fn most_steps(&self, most: usize) -> u128 {
        self.most_steps_among(self.pairs.len(), most)
    }

    /// The same if there were so many different pairs. As if there were any number of them it adds up:
    /// two tables take no more together than each by itself.
    pub fn most_steps_among(&self, pairs: usize, most: usize) -> u128 {
        let different = subsets(pairs, most);
        let step = |(size, (sets, different)): (usize, (u128, u128))| {
            let parts = if size < 3 { 0 } else { 1u128 << (size - 1).min(100) };
            let levels = (most - size).saturating_add(1) as u128;
            let looks = sets.min(different).saturating_mul(parts).saturating_mul(levels);
            sets.saturating_add(looks)
        };
        let sizes = self.sets_by_size(most).into_iter().zip(different);
        (1..).zip(sizes).map(step).fold(0, u128::saturating_add)
    }

    /// Sets of each size from 1 to `most` in all rows, a set once for every row that has it.
    fn sets_by_size(&self, most: usize) -> Vec<u128> {
        let mut by_length: HashMap<usize, u128> = HashMap::new();
        (0..self.rows()).for_each(|row| *by_length.entry(self.of(row).len()).or_default() += 1);
        let longest = by_length.keys().copied().max().unwrap_or(0);
        let mut sizes = vec![0u128; most.min(longest)];
        for (length, rows) in by_length {
            for (sum, sets) in sizes.iter_mut().zip(subsets(length, most)) {
                *sum = sum.saturating_add(sets.saturating_mul(rows));
            }
        }
        sizes
    }

    /// The paths without some pairs, and without those that become empty.
    #[must_use]
    pub fn without(&self, gone: &[bool]) -> Self {
        let mut rows = Rows::default();
        for row in 0..self.rows() {
            let before = rows.items.len();
            rows.items.extend(self.of(row).iter().copied().filter(|pair| !gone[*pair as usize]));
            if rows.items.len() > before {
                rows.end(self.sensitive[row], self.people[row]);
            }
        }
        let (pairs, protected) = (self.pairs.clone(), self.protected.clone());
        let names = Self { pairs, protected, values: self.values.clone(), ..Self::default() };
        rows.into_paths(names)
    }

    /// The paths without pairs that none of them has.
    #[must_use]
    pub fn compact(&self) -> Self {
        let mut numbers = vec![None; self.pairs.len()];
        self.items.iter().for_each(|pair| numbers[*pair as usize] = Some(0));
        let used = numbers.iter_mut().flatten();
        used.zip(0u32..).for_each(|(number, place)| *number = place);
        let kept = self.pairs.iter().zip(&numbers).filter(|(_, number)| number.is_some());
        let number = |pair: &u32| numbers[*pair as usize].unwrap_or_default();
        Self {
            pairs: kept.map(|(pair, _)| pair.clone()).collect(),
            items: self.items.iter().map(number).collect(),
            ..self.clone()
        }
    }

    /// Both tables as one, of the same values.
    #[must_use]
    pub fn union(&self, other: &Self) -> Self {
        let mut pairs: Vec<&(u64, String)> = self.pairs.iter().chain(&other.pairs).collect();
        pairs.sort_unstable();
        pairs.dedup();
        let mut rows = Rows::default();
        for part in [self, other] {
            let place = |pair| pairs.partition_point(|known| *known < pair) as u32;
            let places: Vec<u32> = part.pairs.iter().map(place).collect();
            for row in 0..part.rows() {
                rows.items.extend(part.of(row).iter().map(|pair| places[*pair as usize]));
                rows.end(part.sensitive[row], part.people[row]);
            }
        }
        let pairs = pairs.into_iter().cloned().collect();
        let (protected, values) = (self.protected.clone(), self.values.clone());
        rows.into_paths(Self { pairs, protected, values, ..Self::default() })
    }

    /// How each pair is written: `b2` where the place is letters and nothing else, or else `b@2`.
    pub fn names(&self) -> Vec<String> {
        self.pairs.iter().map(|(time, place)| name(*time, place)).collect()
    }

    /// Writes a row for each person, in order.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, sensitive: &str, out: impl Write) -> io::Result<()> {
        let names = self.names();
        let mut csv = csv::WriterBuilder::new()
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(1 << 16)
            .from_writer(out);
        csv.write_record(["path", sensitive])?;
        let mut text = String::new();
        for row in 0..self.rows() {
            spell(self.of(row), &names, &mut text);
            for _ in 0..self.people[row] {
                csv.write_record([&text, &self.values[self.sensitive[row] as usize]])?;
            }
        }
        csv.flush()
    }
}

/// How a pair is written.
pub(super) fn name(time: u64, place: &str) -> String {
    match !place.is_empty() && place.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        true => format!("{place}{time}"),
        false => format!("{place}@{time}"),
    }
}

/// A path as it is written.
pub fn spell(pairs: &[u32], names: &[String], text: &mut String) {
    text.clear();
    for (place, pair) in pairs.iter().enumerate() {
        text.push_str(if place > 0 { ">" } else { "" });
        text.push_str(&names[*pair as usize]);
    }
}

/// Rows in any order, some perhaps twice.
#[derive(Default)]
pub(super) struct Rows {
    pub items: Vec<u32>,
    ends: Vec<u32>,
    sensitive: Vec<u32>,
    people: Vec<u32>,
}

impl Rows {
    /// What was put into `items` since the last row is one, of so many people.
    pub fn end(&mut self, sensitive: u32, people: u32) {
        self.ends.push(self.items.len() as u32);
        self.sensitive.push(sensitive);
        self.people.push(people);
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether each has a greater path than the one before it, or the same and a greater value.
    pub fn are_in_order(&self) -> bool {
        let key = |row: usize| (self.of(row), self.sensitive[row]);
        (1..self.len()).all(|row| key(row - 1) < key(row))
    }

    /// Whether there are more pairs than can be worked with.
    ///
    /// # Errors
    /// If there are too many.
    pub fn check(&self) -> Result<(), Error> {
        if self.items.len() <= MOST_INSTANCES {
            return Ok(());
        }
        let problem = format!("the paths have more than {MOST_INSTANCES} pairs together");
        Err(Error::input(format!("{problem}: divide times, or release fewer people at a time")))
    }

    fn of(&self, row: usize) -> &[u32] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.items[start as usize..self.ends[row] as usize]
    }

    /// Brings rows that are the same together, and puts them in order.
    pub fn into_paths(self, names: Paths) -> Paths {
        let mut first: HashMap<(&[u32], u32), u32> = HashMap::with_capacity(self.len());
        let mut people = self.people.clone();
        let mut different: Vec<u32> = Vec::new();
        for row in 0..self.len() {
            let same = *first.entry((self.of(row), self.sensitive[row])).or_insert(row as u32);
            if same == row as u32 {
                different.push(same);
            } else {
                people[same as usize] = people[same as usize].saturating_add(people[row]);
            }
        }
        drop(first);
        let value = |row: u32| &names.values[self.sensitive[row as usize] as usize];
        different.par_sort_unstable_by(|a, b| {
            self.of(*a as usize).cmp(self.of(*b as usize)).then_with(|| value(*a).cmp(value(*b)))
        });
        let mut paths = names;
        for row in different {
            let row = row as usize;
            paths.items.extend_from_slice(self.of(row));
            paths.ends.push(paths.items.len() as u32);
            paths.sensitive.push(self.sensitive[row]);
            paths.people.push(people[row]);
        }
        paths
    }
}

/// Sets of each size from 1 to `most` out of so many pairs.
fn subsets(pairs: usize, most: usize) -> impl Iterator<Item = u128> {
    (1..=most.min(pairs)).scan(1u128, move |sets, size| {
        *sets = sets.saturating_mul((pairs - size + 1) as u128) / size as u128;
        Some(*sets)
    })
}
