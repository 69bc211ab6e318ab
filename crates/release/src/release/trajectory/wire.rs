//! One party's anonymized paths as bytes, and back. What comes from a peer is bounded before anything
//! is allocated for it and checked to the last byte: there is one way to write a table of paths, and
//! nothing else is taken.
//!
//! A *list of pairs*, in order: all times (8 bytes each), the lengths of all places (4), the places.
//! A *part*: the list of its pairs, every one of which some path has; of its rows, in order of path and
//! class, all lengths (2 bytes each), all classes (1) and all numbers of people (4); and the pairs of
//! all rows by their places in the list (2). All numbers are little-endian.

use serde::{Deserialize, Serialize};

use super::paths::{MOST_DIFFERENT, MOST_INSTANCES, MOST_PAIRS, Paths, Rows};
use crate::net::{Message, Tag};

/// Most different pairs of one of two parties: as many as all may have are those of both.
pub const MOST_DIFFERENT_EACH: usize = MOST_DIFFERENT / 2;
/// Most pairs in all rows of one of two parties, likewise.
pub const MOST_INSTANCES_EACH: usize = MOST_INSTANCES / 2;
/// Most bytes of the name of a place.
pub const MOST_NAME: usize = 256;
/// Most bytes of the names of places, each once for every time.
pub const MOST_NAMES: usize = 1 << 24;
/// Bytes of a pair beside the name of its place.
const OF_A_PAIR: usize = 12;
/// Bytes of a row beside its pairs.
const OF_A_ROW: usize = 7;

/// A pair: time and place.
pub type Pair = (u64, String);

/// How long a list of pairs is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListSize {
    /// How many there are.
    pub pairs: u32,
    /// Bytes of the names of their places.
    pub names: u32,
}

impl Message for ListSize {
    const TAG: Tag = Tag::new(*b"trjl");
    const MOST_BYTES: usize = 8;
}

/// How large a party's part of a release is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PartSize {
    /// Its pairs.
    pub pairs: ListSize,
    /// Its rows.
    pub rows: u32,
    /// The pairs of all rows.
    pub items: u32,
}

impl Message for PartSize {
    const TAG: Tag = Tag::new(*b"trjp");
    const MOST_BYTES: usize = 16;
}

impl ListSize {
    /// Of these pairs.
    pub fn of(pairs: &[Pair]) -> Self {
        let names = pairs.iter().map(|(_, place)| place.len()).sum::<usize>();
        Self { pairs: pairs.len() as u32, names: names as u32 }
    }

    /// Bytes of such a list.
    pub fn bytes(self) -> usize {
        OF_A_PAIR * self.pairs as usize + self.names as usize
    }

    /// Sees that a party can have so many.
    ///
    /// # Errors
    /// If not, after "the peer".
    pub fn check(self) -> Result<(), &'static str> {
        let fits = self.pairs as usize <= MOST_DIFFERENT_EACH && self.names as usize <= MOST_NAMES;
        if fits { Ok(()) } else { Err("has more pairs of place and time than a party may") }
    }
}

impl PartSize {
    /// Of paths in which every pair occurs.
    pub fn of(paths: &Paths) -> Self {
        let (rows, items) = (paths.rows() as u32, paths.items.len() as u32);
        Self { pairs: ListSize::of(&paths.pairs), rows, items }
    }

    /// No party has a larger one of so many people.
    pub fn most(people: u64) -> Self {
        let rows = people.min(u64::from(u32::MAX));
        let items = rows.saturating_mul(MOST_PAIRS as u64).min(MOST_INSTANCES_EACH as u64);
        let pairs = ListSize { pairs: MOST_DIFFERENT_EACH as u32, names: MOST_NAMES as u32 };
        Self { pairs, rows: rows as u32, items: items as u32 }
    }

    /// Bytes of such a part.
    pub fn bytes(self) -> usize {
        self.pairs.bytes() + OF_A_ROW * self.rows as usize + 2 * self.items as usize
    }

    /// Sees that a party of at most so many people can have it.
    ///
    /// # Errors
    /// If not, after "the peer".
    pub fn check(self, people: u64) -> Result<(), &'static str> {
        self.pairs.check()?;
        let (rows, items) = (u64::from(self.rows), u64::from(self.items));
        if rows == 0 || rows > people {
            return Err("has no path, or more than are agreed");
        }
        let most = rows.saturating_mul(MOST_PAIRS as u64).min(MOST_INSTANCES_EACH as u64);
        if !(rows..=most).contains(&items) || u64::from(self.pairs.pairs) > items {
            return Err("has more or fewer pairs in its paths than it can");
        }
        Ok(())
    }
}

/// Whether a place can be written in a release such that it is read back unchanged.
pub fn is_place(place: &str) -> bool {
    (1..=MOST_NAME).contains(&place.len())
        && place.trim() == place
        && !place.contains(|c: char| c == '>' || c.is_control())
}

/// A list of pairs, which must be in order.
pub fn write_list(pairs: &[Pair]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(ListSize::of(pairs).bytes());
    pairs.iter().for_each(|(time, _)| bytes.extend(time.to_le_bytes()));
    pairs.iter().for_each(|(_, place)| bytes.extend((place.len() as u32).to_le_bytes()));
    pairs.iter().for_each(|(_, place)| bytes.extend(place.as_bytes()));
    bytes
}

/// The list of pairs that a peer sent.
///
/// # Errors
/// What is wrong with it, after "the peer".
pub fn read_list(bytes: &[u8], size: ListSize) -> Result<Vec<Pair>, &'static str> {
    let mut rest = Rest(bytes);
    let pairs = rest.list(size)?;
    rest.end()?;
    Ok(pairs)
}

/// Paths in which every pair occurs, as a part.
pub fn write_part(paths: &Paths) -> Vec<u8> {
    let mut bytes = write_list(&paths.pairs);
    bytes.reserve(PartSize::of(paths).bytes() - bytes.len());
    let mut rows: Vec<usize> = (0..paths.rows()).collect();
    // Values of one path are in the order of their names.
    let same = rows.chunk_by_mut(|a, b| paths.of(*a) == paths.of(*b));
    same.for_each(|rows| rows.sort_unstable_by_key(|row| paths.sensitive[*row]));
    for row in &rows {
        bytes.extend((paths.of(*row).len() as u16).to_le_bytes());
    }
    rows.iter().for_each(|row| bytes.push(paths.sensitive[*row] as u8));
    rows.iter().for_each(|row| bytes.extend(paths.people[*row].to_le_bytes()));
    for row in &rows {
        paths.of(*row).iter().for_each(|pair| bytes.extend((*pair as u16).to_le_bytes()));
    }
    bytes
}

/// The part that a peer of at most so many people sent; `names` has the values that are agreed.
///
/// # Errors
/// What is wrong with it, after "the peer".
pub fn read_part(
    bytes: &[u8],
    size: PartSize,
    people: u64,
    names: Paths,
) -> Result<Paths, &'static str> {
    size.check(people)?;
    let mut rest = Rest(bytes);
    let pairs = rest.list(size.pairs)?;
    let lengths = rest.numbers::<2>(size.rows)?.iter().map(|bytes| u16::from_le_bytes(*bytes));
    let classes = rest.numbers::<1>(size.rows)?.iter().map(|[class]| *class);
    let counts = rest.numbers::<4>(size.rows)?.iter().map(|bytes| u32::from_le_bytes(*bytes));
    let mut items = rest.numbers::<2>(size.items)?;
    rest.end()?;
    let (mut rows, mut used) = (Rows::default(), vec![false; pairs.len()]);
    let mut all = 0u64;
    for ((length, class), count) in lengths.zip(classes).zip(counts) {
        let length = usize::from(length);
        let path = items.get(..length).ok_or("sent a path that does not end")?;
        items = &items[length..];
        if path.is_empty() || length > MOST_PAIRS {
            return Err("sent a path without any pair, or with too many");
        }
        let start = rows.items.len();
        rows.items.extend(path.iter().map(|pair| u32::from(u16::from_le_bytes(*pair))));
        let path = &rows.items[start..];
        if path.iter().any(|pair| *pair as usize >= pairs.len()) {
            return Err("sent a path with a pair that it did not list");
        }
        let rises = |two: &[u32]| pairs[two[0] as usize].0 < pairs[two[1] as usize].0;
        if !path.windows(2).all(rises) {
            return Err("sent a path whose times do not rise");
        }
        path.iter().for_each(|pair| used[*pair as usize] = true);
        if usize::from(class) >= names.values.len() {
            return Err("sent a value that is not agreed");
        }
        all = all.saturating_add(count.into());
        if count == 0 || all > people {
            return Err("sent a row of nobody, or of more people than are agreed");
        }
        rows.end(class.into(), count);
    }
    if !items.is_empty() || used.contains(&false) {
        return Err("sent pairs that no path has");
    }
    if !rows.are_in_order() {
        return Err("sent rows that are not in order");
    }
    Ok(rows.into_paths(Paths { pairs, ..names }))
}

/// Bytes that were not read yet.
struct Rest<'b>(&'b [u8]);

impl<'b> Rest<'b> {
    fn take(&mut self, count: usize) -> Result<&'b [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or("sent too few bytes")?;
        self.0 = rest;
        Ok(taken)
    }

    /// So many numbers of so many bytes.
    fn numbers<const N: usize>(&mut self, count: u32) -> Result<&'b [[u8; N]], &'static str> {
        Ok(self.take(N * count as usize)?.as_chunks().0)
    }

    fn list(&mut self, size: ListSize) -> Result<Vec<Pair>, &'static str> {
        size.check()?;
        let times = self.numbers::<8>(size.pairs)?.iter().map(|bytes| u64::from_le_bytes(*bytes));
        let lengths = self.numbers::<4>(size.pairs)?.iter().map(|bytes| u32::from_le_bytes(*bytes));
        let mut names = Self(self.take(size.names as usize)?);
        let mut pairs: Vec<Pair> = Vec::with_capacity(size.pairs as usize);
        for (time, length) in times.zip(lengths) {
            let place = names.take(length as usize)?;
            let place = std::str::from_utf8(place).ok().filter(|place| is_place(place));
            let pair = (time, place.ok_or("sent a place that cannot be written")?.to_owned());
            if pairs.last().is_some_and(|last| *last >= pair) {
                return Err("sent a list of pairs that is not in order");
            }
            pairs.push(pair);
        }
        names.end()?;
        Ok(pairs)
    }

    fn end(&self) -> Result<(), &'static str> {
        if self.0.is_empty() { Ok(()) } else { Err("sent too many bytes") }
    }
}
