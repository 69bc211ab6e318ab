//! Paths of people: pairs of place and time, read from CSV and written to it.
//!
//! *Wide*: a row for each person, with a path such as `b2>d3` (letters are the place, digits the time)
//! or `Main Street@7>Station@9`. *Long*: a row for each pair, with an identifier. Pairs are numbered by
//! time and place, so that a path is a rising list of numbers.

use std::collections::HashMap;
use std::io::{self, Read, Write};

use super::Error;
use crate::release::groups::protected;

/// Most pairs of one path: more were never seen, and would make every step slow.
const MOST_PAIRS: usize = 4_096;

/// Most different pairs: which two may stand together is a bitmap of their square.
const MOST_DIFFERENT: usize = 1 << 16;

/// Most protected values: a label is a byte.
const MOST_PROTECTED: usize = 255;

/// How a table of paths is written.
#[derive(Clone, Debug)]
pub struct Form {
    /// The columns.
    pub columns: Columns,
    /// The column that nobody is to be known by.
    pub sensitive: String,
    /// Its protected values.
    pub protect: Vec<String>,
    /// Times are divided by this, and fractions dropped.
    pub bin: u64,
    /// Whether somebody who stays is counted at the first time alone.
    pub collapse: bool,
}

/// The columns of a table of paths.
#[derive(Clone, Debug)]
pub enum Columns {
    /// A path in each row; the identifier, if there is one, must not come twice.
    Wide {
        /// The identifier.
        id: Option<String>,
        /// The path.
        path: String,
    },
    /// A pair in each row.
    Long {
        /// The identifier.
        id: String,
        /// The place.
        location: String,
        /// The time.
        time: String,
    },
}

/// Paths, all in one list. Private, like any table.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Paths {
    /// Time and place of each pair, in order.
    pub pairs: Vec<(u64, String)>,
    /// The pairs of all paths.
    pub items: Vec<u32>,
    /// Where each path ends.
    pub ends: Vec<usize>,
    /// Of each path: 0, or one more than the place of its protected value.
    pub labels: Vec<u8>,
    /// The protected values.
    pub protected: Vec<String>,
    /// Of each path, the number of its sensitive value.
    pub sensitive: Vec<u32>,
    /// The sensitive values.
    pub values: Vec<String>,
}

/// Where each pair occurs: in which path, at which place of it.
pub struct Index {
    starts: Vec<usize>,
    places: Vec<(u32, u16)>,
}

impl Index {
    /// Where a pair occurs.
    pub fn of(&self, pair: u32) -> &[(u32, u16)] {
        &self.places[self.starts[pair as usize]..self.starts[pair as usize + 1]]
    }
}

impl Paths {
    /// How many.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The pairs of a path.
    pub fn of(&self, path: usize) -> &[u32] {
        let start = if path == 0 { 0 } else { self.ends[path - 1] };
        &self.items[start..self.ends[path]]
    }

    /// People whose whole path nobody else has.
    pub fn alone(&self) -> usize {
        let mut seen: HashMap<&[u32], usize> = HashMap::with_capacity(self.len());
        (0..self.len()).for_each(|path| *seen.entry(self.of(path)).or_default() += 1);
        seen.into_values().filter(|count| *count == 1).count()
    }

    /// Where each pair occurs, by counting.
    pub fn index(&self) -> Index {
        let mut starts = vec![0; self.pairs.len() + 1];
        self.items.iter().for_each(|pair| starts[*pair as usize + 1] += 1);
        (1..starts.len()).for_each(|pair| starts[pair] += starts[pair - 1]);
        let (mut next, mut places) = (starts.clone(), vec![(0, 0); self.items.len()]);
        for path in 0..self.len() {
            for (place, pair) in self.of(path).iter().enumerate() {
                places[next[*pair as usize]] = (path as u32, place as u16);
                next[*pair as usize] += 1;
            }
        }
        Index { starts, places }
    }

    /// Sets of at most `most` pairs in all paths: no search counts more.
    pub fn most_increments(&self, most: usize) -> u128 {
        self.sets_by_size(most).into_iter().fold(0, u128::saturating_add)
    }

    /// Steps of a search for violating sets of at most `most` pairs: increments, and the parts of
    /// every different set of three and more pairs, which are looked at again on every later level.
    pub fn most_steps(&self, most: usize) -> u128 {
        let different = subsets(self.pairs.len(), most);
        let step = |(size, (sets, different)): (usize, (u128, u128))| {
            let parts = if size < 3 { 0 } else { 1u128 << (size - 1).min(100) };
            let levels = (most - size).saturating_add(1) as u128;
            let looks = sets.min(different).saturating_mul(parts).saturating_mul(levels);
            sets.saturating_add(looks)
        };
        let sizes = self.sets_by_size(most).into_iter().zip(different);
        (1..).zip(sizes).map(step).fold(0, u128::saturating_add)
    }

    /// Sets of each size from 1 to `most` in all paths, a set once for every path that has it.
    fn sets_by_size(&self, most: usize) -> Vec<u128> {
        let mut by_length: HashMap<usize, u128> = HashMap::new();
        (0..self.len()).for_each(|path| *by_length.entry(self.of(path).len()).or_default() += 1);
        let longest = by_length.keys().copied().max().unwrap_or(0);
        let mut sizes = vec![0u128; most.min(longest)];
        for (length, paths) in by_length {
            for (sum, sets) in sizes.iter_mut().zip(subsets(length, most)) {
                *sum = sum.saturating_add(sets.saturating_mul(paths));
            }
        }
        sizes
    }

    /// The paths without some pairs, and without those that become empty.
    #[must_use]
    pub fn without(&self, gone: &[bool]) -> Self {
        let mut left = Self { items: Vec::new(), ends: Vec::new(), ..self.clone() };
        (left.labels, left.sensitive) = (Vec::new(), Vec::new());
        for path in 0..self.len() {
            let before = left.items.len();
            left.items.extend(self.of(path).iter().copied().filter(|pair| !gone[*pair as usize]));
            if left.items.len() > before {
                left.ends.push(left.items.len());
                left.labels.push(self.labels[path]);
                left.sensitive.push(self.sensitive[path]);
            }
        }
        left
    }

    /// Reads a table.
    ///
    /// # Errors
    /// [`Error::Table`]: what is wrong with it, and where.
    pub fn read(source: impl Read, form: &Form) -> Result<Self, Error> {
        if form.protect.len() > MOST_PROTECTED {
            let problem = format!("more than {MOST_PROTECTED} values are protected");
            return Err(Error::Table(problem));
        }
        let mut reader = csv::ReaderBuilder::new().from_reader(source);
        let wrong = |error: csv::Error| Error::Table(error.to_string());
        let header = reader.byte_headers().map_err(wrong)?.clone();
        let place = |name: &str| {
            let found = header.iter().position(|known| known.trim_ascii() == name.as_bytes());
            found.ok_or_else(|| Error::Table(format!("there is no column `{name}`")))
        };
        let mut builder = Builder::new(form, place(&form.sensitive)?);
        let mut record = csv::ByteRecord::new();
        match &form.columns {
            Columns::Wide { id, path } => {
                let (id, path) = (id.as_deref().map(place).transpose()?, place(path)?);
                let mut known = HashMap::new();
                while reader.read_byte_record(&mut record).map_err(wrong)? {
                    if let Some(id) = id
                        && known.insert(record[id].trim_ascii().to_vec(), ()).is_some()
                    {
                        return Err(at(&record, "an identifier comes twice"));
                    }
                    builder.wide(&record, path)?;
                }
            }
            Columns::Long { id, location, time } => {
                let places = [place(id)?, place(location)?, place(time)?];
                while reader.read_byte_record(&mut record).map_err(wrong)? {
                    builder.long(&record, places)?;
                }
            }
        }
        builder.finish()
    }

    /// Writes the paths in the order of their text, which tells nothing of where they came from.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(&self, sensitive: &str, out: impl Write) -> io::Result<()> {
        let mut order: Vec<usize> = (0..self.len()).collect();
        let key = |path: &usize| (self.of(*path), &self.values[self.sensitive[*path] as usize]);
        order.sort_unstable_by(|a, b| key(a).cmp(&key(b)));
        // Places of letters and nothing else are written as they were read.
        let short = |(time, place): &(u64, String)| match !place.is_empty()
            && place.bytes().all(|b| b.is_ascii_alphabetic())
        {
            true => format!("{place}{time}"),
            false => format!("{place}@{time}"),
        };
        let names: Vec<String> = self.pairs.iter().map(short).collect();
        let mut csv = csv::WriterBuilder::new()
            .terminator(csv::Terminator::Any(b'\n'))
            .buffer_capacity(1 << 16)
            .from_writer(out);
        csv.write_record(["path", sensitive])?;
        let mut text = String::new();
        for path in order {
            text.clear();
            for (place, pair) in self.of(path).iter().enumerate() {
                text.push_str(if place > 0 { ">" } else { "" });
                text.push_str(&names[*pair as usize]);
            }
            csv.write_record([&text, &self.values[self.sensitive[path] as usize]])?;
        }
        csv.flush()
    }
}

/// Sets of each size from 1 to `most` out of so many pairs.
fn subsets(pairs: usize, most: usize) -> impl Iterator<Item = u128> {
    (1..=most.min(pairs)).scan(1u128, move |sets, size| {
        *sets = sets.saturating_mul((pairs - size + 1) as u128) / size as u128;
        Some(*sets)
    })
}

fn at(record: &csv::ByteRecord, problem: &str) -> Error {
    let line = record.position().map_or(0, csv::Position::line);
    Error::Table(format!("line {line}: {problem}"))
}

/// A path's pairs while their final numbers are not known.
struct Builder<'f> {
    form: &'f Form,
    sensitive_at: usize,
    numbers: HashMap<Vec<u8>, u32>,
    pairs: Vec<(u64, String)>,
    paths: Vec<(Vec<u32>, u32)>,
    values: HashMap<Vec<u8>, u32>,
    names: Vec<String>,
    people: HashMap<Vec<u8>, usize>,
}

impl<'f> Builder<'f> {
    fn new(form: &'f Form, sensitive_at: usize) -> Self {
        Self {
            form,
            sensitive_at,
            numbers: HashMap::new(),
            pairs: Vec::new(),
            paths: Vec::new(),
            values: HashMap::new(),
            names: Vec::new(),
            people: HashMap::new(),
        }
    }

    fn wide(&mut self, record: &csv::ByteRecord, path: usize) -> Result<(), Error> {
        let mut pairs = Vec::new();
        for token in record[path].split(|byte| *byte == b'>').map(<[u8]>::trim_ascii) {
            if token.is_empty() {
                continue;
            }
            let number = match self.numbers.get(token) {
                Some(number) => *number,
                None => {
                    let pair = split(token).ok_or_else(|| {
                        let shown: String =
                            String::from_utf8_lossy(token).chars().take(40).collect();
                        at(
                            record,
                            &format!("`{shown}` is not a place and a time, such as b2 or b@2"),
                        )
                    })?;
                    self.number(token, pair)
                }
            };
            pairs.push(number);
        }
        let value = self.value(record)?;
        self.push(record, pairs, value)
    }

    fn long(
        &mut self,
        record: &csv::ByteRecord,
        [id, place, time]: [usize; 3],
    ) -> Result<(), Error> {
        let text =
            |cell: usize| std::str::from_utf8(&record[cell]).map(str::trim).unwrap_or_default();
        let time: u64 =
            text(time).parse().map_err(|_| at(record, "the time is not a whole number"))?;
        if text(place).is_empty() || text(place).contains('>') {
            return Err(at(record, "the place is empty, or holds `>`, which divides pairs"));
        }
        let token = format!("{}@{time}", text(place)).into_bytes();
        let number = match self.numbers.get(&token) {
            Some(number) => *number,
            None => self.number(&token, (time, text(place).to_owned())),
        };
        let value = self.value(record)?;
        let id = record[id].trim_ascii();
        match self.people.get(id) {
            Some(person) => {
                let (pairs, known) = &mut self.paths[*person];
                if *known != value {
                    return Err(at(record, "a person has two sensitive values"));
                }
                pairs.push(number);
                if pairs.len() > MOST_PAIRS {
                    return Err(at(record, "a path has too many pairs"));
                }
                Ok(())
            }
            None => {
                self.people.insert(id.to_vec(), self.paths.len());
                self.push(record, vec![number], value)
            }
        }
    }

    fn push(&mut self, record: &csv::ByteRecord, pairs: Vec<u32>, value: u32) -> Result<(), Error> {
        if pairs.len() > MOST_PAIRS {
            return Err(at(record, "a path has too many pairs"));
        }
        self.paths.push((pairs, value));
        Ok(())
    }

    fn number(&mut self, token: &[u8], (time, place): (u64, String)) -> u32 {
        let number = self.pairs.len() as u32;
        self.numbers.insert(token.to_vec(), number);
        self.pairs.push((time / self.form.bin.max(1), place));
        number
    }

    fn value(&mut self, record: &csv::ByteRecord) -> Result<u32, Error> {
        let cell = record.get(self.sensitive_at).unwrap_or_default().trim_ascii();
        if let Some(number) = self.values.get(cell) {
            return Ok(*number);
        }
        let name = std::str::from_utf8(cell).map_err(|_| at(record, "a value is not UTF-8"))?;
        let number = self.names.len() as u32;
        self.values.insert(cell.to_vec(), number);
        self.names.push(name.to_owned());
        Ok(number)
    }

    /// Numbers pairs by time and place, and sees that every path rises.
    fn finish(self) -> Result<Paths, Error> {
        let mut pairs = self.pairs.clone();
        pairs.sort_unstable();
        pairs.dedup();
        if pairs.len() > MOST_DIFFERENT {
            let problem = format!("{} different pairs of place and time", pairs.len());
            return Err(Error::Table(format!("{problem}: divide times, or name coarser places")));
        }
        let number = |pair| pairs.binary_search(pair).unwrap_or(0) as u32;
        let numbers: Vec<u32> = self.pairs.iter().map(number).collect();
        let protected = protected::trimmed(&self.form.protect);
        let labelled = |name: &String| protected.iter().position(|known| known == name);
        let labels: Vec<u8> =
            self.names.iter().map(|name| labelled(name).map_or(0, |p| (p + 1) as u8)).collect();
        let mut paths = Paths { protected, values: self.names, ..Paths::default() };
        for (row, (path, value)) in self.paths.into_iter().enumerate() {
            let mut path: Vec<u32> = path.into_iter().map(|pair| numbers[pair as usize]).collect();
            if matches!(self.form.columns, Columns::Long { .. }) {
                path.sort_unstable();
            }
            // Times of one bin fall together.
            path.dedup();
            if self.form.collapse {
                path.dedup_by(|b, a| pairs[*a as usize].1 == pairs[*b as usize].1);
            }
            let rises = |two: &[u32]| pairs[two[0] as usize].0 < pairs[two[1] as usize].0;
            if !path.windows(2).all(rises) {
                let problem = "is at two places at one time, or goes back in time";
                return Err(Error::Table(format!("path number {} {problem}", row + 1)));
            }
            paths.items.extend(path);
            paths.ends.push(paths.items.len());
            paths.labels.push(labels[value as usize]);
            paths.sensitive.push(value);
        }
        paths.pairs = pairs;
        Ok(paths)
    }
}

/// The time and place of `b2` or `b@2`.
fn split(token: &[u8]) -> Option<(u64, String)> {
    let text = std::str::from_utf8(token).ok()?;
    let (place, time) = match text.rsplit_once('@') {
        Some(parts) => parts,
        None => {
            let letters = text.find(|c: char| c.is_ascii_digit())?;
            let (place, time) = text.split_at(letters);
            (place.bytes().all(|byte| byte.is_ascii_alphabetic())).then_some((place, time))?
        }
    };
    let place = place.trim();
    (!place.is_empty()).then_some((time.trim().parse().ok()?, place.to_owned()))
}
