//! Paths from CSV.
//!
//! *Wide*: a row for each person, with a path such as `b2>d3` (letters are the place, digits the time)
//! or `Main Street@7>Station@9`. *Long*: a row for each pair, with an identifier. Pieces of the file are
//! read at once; each numbers its own pairs, which are numbered anew when all are there.

use std::collections::HashMap;
use std::io::Read;

use unicode_normalization::UnicodeNormalization;

use super::Columns;
use super::paths::{MOST_DIFFERENT, MOST_PAIRS, Paths, Rows, name};
use crate::Error;
use crate::release::groups::protected;
use crate::table::{Dialect, Piece, nearest, read_records};

/// Most protected values: a label is a byte.
const MOST_PROTECTED: usize = 255;

/// Most different pairs while it is not known which of them are the same.
const MOST_SPELLINGS: usize = 1 << 20;

/// How a table of paths is written, and what it may hold.
#[derive(Clone, Debug)]
pub struct Form {
    /// The columns.
    pub columns: Columns,
    /// The column that nobody is to be known by.
    pub sensitive: String,
    /// What it may hold, if that is agreed.
    pub values: Option<Vec<String>>,
    /// Its protected values.
    pub protect: Vec<String>,
    /// The column that says for how many people a row stands, if there is one.
    pub count: Option<String>,
    /// Times are divided by this, and fractions dropped.
    pub bin: u64,
    /// Whether somebody who stays is counted at the first time alone.
    pub collapse: bool,
    /// Most people that may be there.
    pub most: u64,
    /// Whether identifiers are kept.
    pub identified: bool,
}

impl Form {
    /// Of tables with these columns, anything beside them, and times as they are.
    pub fn new(columns: Columns, sensitive: &str, protect: Vec<String>) -> Self {
        Self {
            columns,
            sensitive: sensitive.to_owned(),
            values: None,
            protect,
            count: None,
            bin: 1,
            collapse: false,
            most: u64::from(u32::MAX) / 2,
            identified: false,
        }
    }
}

impl Paths {
    /// Reads a table; `name` is used in messages, and `progress` is called with the number of bytes just done.
    ///
    /// # Errors
    /// What is wrong with it, and where.
    pub fn read(
        (name, dialect): (&str, Dialect),
        source: impl Read,
        form: &Form,
        progress: &(dyn Fn(usize) + Sync),
    ) -> Result<Self, Error> {
        if form.protect.len() > MOST_PROTECTED {
            let problem = format!("more than {MOST_PROTECTED} values are protected");
            return Err(Error::input(problem));
        }
        let mut wanted = vec![form.sensitive.as_str()];
        match &form.columns {
            Columns::Wide { id, path } => {
                wanted.push(path);
                wanted.extend(id.as_deref().or(form.count.as_deref()));
            }
            Columns::Long { id, location, time } => {
                wanted.extend([location, time, id].map(|c| &**c))
            }
        }
        let mut whole = Whole::new(name, form);
        let read = |places: &[usize], piece: &Piece<'_>| Part::read(form, places, piece);
        read_records((name, dialect), source, &wanted, progress, read, |part, lines| {
            whole.take(part, lines)
        })?;
        whole.finish()
    }
}

/// What a piece of a file holds. Pairs and values have numbers of its own.
#[derive(Default)]
struct Part {
    spelt: HashMap<Vec<u8>, u32>,
    numbers: HashMap<(u64, String), u32>,
    pairs: Vec<(u64, String)>,
    values: HashMap<Vec<u8>, u32>,
    names: Vec<String>,
    /// Of all records: pairs, where they end, the value, and how many people.
    items: Vec<u32>,
    records: Vec<(u32, u32, u32)>,
    /// Identifiers, one behind the other, with their ends and lines.
    ids: Vec<u8>,
    id_ends: Vec<(usize, u64)>,
    wrong: Option<(u64, String)>,
}

impl Part {
    fn read(form: &Form, places: &[usize], piece: &Piece<'_>) -> Self {
        let mut part = Self::default();
        let read = piece.each(|record, line| part.record(form, places, record, line));
        part.wrong = read.err();
        part
    }

    fn record(
        &mut self,
        form: &Form,
        places: &[usize],
        record: &csv::ByteRecord,
        line: u64,
    ) -> Result<(), String> {
        let cell = |column: usize| {
            let place = places.get(column);
            place.and_then(|place| record.get(*place)).unwrap_or_default().trim_ascii()
        };
        let (value, mut people) = (self.value(form, cell(0))?, 1u32);
        let id = match &form.columns {
            Columns::Wide { id, .. } => {
                self.path(form, cell(1))?;
                if form.count.is_some() {
                    let count = std::str::from_utf8(cell(2)).ok().and_then(|n| n.parse().ok());
                    people = count.filter(|people| *people > 0).ok_or("a count is not one")?;
                }
                id.as_ref().map(|_| cell(2))
            }
            Columns::Long { .. } => {
                self.pair(form, cell(1), cell(2))?;
                Some(cell(3))
            }
        };
        if let Some(id) = id {
            self.ids.extend_from_slice(id);
            self.id_ends.push((self.ids.len(), line));
        }
        self.records.push((self.items.len() as u32, value, people));
        Ok(())
    }

    /// The pairs of a path, without those of one bin or one stay; times must rise.
    fn path(&mut self, form: &Form, cell: &[u8]) -> Result<(), String> {
        let start = self.items.len();
        for token in cell.split(|byte| *byte == b'>').map(<[u8]>::trim_ascii) {
            if token.is_empty() {
                continue;
            }
            let number = match self.spelt.get(token) {
                Some(number) => *number,
                None => {
                    let (time, place) = split(token).ok_or_else(|| not_a_pair(token))?;
                    self.spell(form, token, time, place)?
                }
            };
            let (time, place) = &self.pairs[number as usize];
            if let Some(last) = self.items[start..].last() {
                let (before, there) = &self.pairs[*last as usize];
                if *last == number || form.collapse && time > before && there == place {
                    continue;
                }
                if time <= before {
                    return Err("a path is at two places at one time, or goes back in time".into());
                }
            }
            self.items.push(number);
        }
        if self.items.len() - start > MOST_PAIRS {
            return Err(format!("a path has more than {MOST_PAIRS} pairs"));
        }
        Ok(())
    }

    fn pair(&mut self, form: &Form, place: &[u8], time: &[u8]) -> Result<(), String> {
        let time = std::str::from_utf8(time).ok().and_then(|time| time.parse().ok());
        let time: u64 = time.ok_or("the time is not a whole number")?;
        let token = [place, b"@", time.to_string().as_bytes()].concat();
        let number = match self.spelt.get(&token) {
            Some(number) => *number,
            None => {
                let place = std::str::from_utf8(place).map_err(|_| "a place is not UTF-8")?.trim();
                if place.is_empty() || place.contains('>') {
                    return Err("the place is empty, or holds `>`, which divides pairs".into());
                }
                self.spell(form, &token, time, place.to_owned())?
            }
        };
        self.items.push(number);
        Ok(())
    }

    /// The number of a pair that was not spelt so before.
    fn spell(
        &mut self,
        form: &Form,
        token: &[u8],
        time: u64,
        place: String,
    ) -> Result<u32, String> {
        if self.spelt.len() >= MOST_SPELLINGS {
            return Err(too_many_different());
        }
        let pair = (time / form.bin.max(1), place);
        let next = self.pairs.len() as u32;
        let number = *self.numbers.entry(pair).or_insert_with_key(|pair| {
            self.pairs.push(pair.clone());
            next
        });
        self.spelt.insert(token.to_vec(), number);
        Ok(number)
    }

    fn value(&mut self, form: &Form, cell: &[u8]) -> Result<u32, String> {
        if let Some(number) = self.values.get(cell) {
            return Ok(*number);
        }
        let name = std::str::from_utf8(cell).map_err(|_| "a value is not UTF-8")?;
        let name: String = name.nfc().collect();
        if let Some(known) = form.values.as_ref().filter(|known| !known.contains(&name)) {
            let shown: String = name.chars().take(40).collect();
            let meant = nearest(&name, known.iter().map(String::as_str));
            let meant = meant.map_or(String::new(), |meant| format!("; is it `{meant}`?"));
            return Err(format!("`{shown}` is not an agreed value of `{}`{meant}", form.sensitive));
        }
        let number = self.names.len() as u32;
        self.values.insert(cell.to_vec(), number);
        self.names.push(name);
        Ok(number)
    }

    /// The identifier of a record and its line.
    fn id(&self, record: usize) -> Option<(&[u8], u64)> {
        let (end, line) = *self.id_ends.get(record)?;
        let start = if record == 0 { 0 } else { self.id_ends[record - 1].0 };
        Some((&self.ids[start..end], line))
    }
}

/// All that was read so far.
struct Whole<'f> {
    name: &'f str,
    form: &'f Form,
    numbers: HashMap<(u64, String), u32>,
    values: HashMap<String, u32>,
    rows: Rows,
    people: u64,
    /// Of each identifier, its place among those.
    known: HashMap<Vec<u8>, usize>,
    /// In the long form, of each person: pairs and value.
    persons: Vec<(Vec<u32>, u32)>,
}

impl<'f> Whole<'f> {
    fn new(name: &'f str, form: &'f Form) -> Self {
        let agreed = form.values.iter().flatten().cloned().zip(0..);
        Self {
            name,
            form,
            numbers: HashMap::new(),
            values: agreed.collect(),
            rows: Rows::default(),
            people: 0,
            known: HashMap::new(),
            persons: Vec::new(),
        }
    }

    fn wrong(&self, line: u64, problem: &str) -> Error {
        Error::input(format!("{}, line {line}: {problem}", self.name))
    }

    fn take(&mut self, part: Part, lines: u64) -> Result<(), Error> {
        let numbers: Vec<u32> = part
            .pairs
            .iter()
            .map(|pair| {
                let next = self.numbers.len() as u32;
                *self.numbers.entry(pair.clone()).or_insert(next)
            })
            .collect();
        if self.numbers.len() > MOST_SPELLINGS {
            return Err(Error::input(format!("{}: {}", self.name, too_many_different())));
        }
        let values: Vec<u32> = part
            .names
            .iter()
            .map(|name| {
                let next = self.values.len() as u32;
                *self.values.entry(name.clone()).or_insert(next)
            })
            .collect();
        let mut start = 0;
        for (record, (end, value, people)) in part.records.iter().enumerate() {
            let pairs = &part.items[start as usize..*end as usize];
            start = *end;
            let pairs = pairs.iter().map(|pair| numbers[*pair as usize]);
            let value = values[*value as usize];
            if matches!(self.form.columns, Columns::Long { .. }) {
                let (id, line) = part.id(record).unwrap_or_default();
                self.add_to_person(id, pairs, value)
                    .map_err(|problem| self.wrong(lines + line + 1, problem))?;
                continue;
            }
            if let Some((id, line)) = part.id(record)
                && self.known.insert(id.to_vec(), record).is_some()
            {
                return Err(self.wrong(lines + line + 1, "an identifier comes twice"));
            }
            self.rows.items.extend(pairs);
            self.rows.end(value, *people);
            self.people += u64::from(*people);
        }
        self.rows.check()?;
        if let Some((line, problem)) = &part.wrong {
            return Err(self.wrong(lines + line + 1, problem));
        }
        match self.people.max(self.persons.len() as u64) > self.form.most {
            true => Err(Error::input(format!(
                "{}: there are more than {} people: agree on a larger number, or take fewer",
                self.name, self.form.most
            ))),
            false => Ok(()),
        }
    }

    fn add_to_person(
        &mut self,
        id: &[u8],
        pairs: impl Iterator<Item = u32>,
        value: u32,
    ) -> Result<(), &'static str> {
        let person = match self.known.get(id) {
            Some(person) => *person,
            None => {
                self.known.insert(id.to_vec(), self.persons.len());
                self.persons.push((Vec::new(), value));
                self.persons.len() - 1
            }
        };
        let (items, known) = &mut self.persons[person];
        if *known != value {
            return Err("a person has two sensitive values");
        }
        items.extend(pairs);
        if items.len() > MOST_PAIRS {
            return Err("a path has too many pairs");
        }
        Ok(())
    }

    /// Numbers pairs by time and place.
    fn finish(mut self) -> Result<Paths, Error> {
        let mut pairs: Vec<((u64, String), u32)> = self.numbers.drain().collect();
        pairs.sort_unstable();
        if pairs.len() > MOST_DIFFERENT {
            return Err(Error::input(format!("{}: {}", self.name, too_many_different())));
        }
        let mut numbers = vec![0; pairs.len()];
        (0u32..).zip(&pairs).for_each(|(number, (_, before))| numbers[*before as usize] = number);
        let pairs: Vec<(u64, String)> = pairs.into_iter().map(|(pair, _)| pair).collect();
        self.rows.items.iter_mut().for_each(|pair| *pair = numbers[*pair as usize]);
        for (mut path, value) in std::mem::take(&mut self.persons) {
            path.iter_mut().for_each(|pair| *pair = numbers[*pair as usize]);
            path.sort_unstable();
            // Times of one bin fall together.
            path.dedup();
            if self.form.collapse {
                path.dedup_by(|b, a| pairs[*a as usize].1 == pairs[*b as usize].1);
            }
            let rises = |two: &[u32]| pairs[two[0] as usize].0 < pairs[two[1] as usize].0;
            if !path.windows(2).all(rises) {
                let problem = "somebody is at two places at one time";
                return Err(Error::input(format!("{}: {problem}", self.name)));
            }
            self.rows.items.extend(path);
            self.rows.end(value, 1);
        }
        self.rows.check()?;
        let identifiers = self.identifiers()?;
        let mut values = vec![String::new(); self.values.len()];
        self.values.into_iter().for_each(|(name, number)| values[number as usize] = name);
        let protected = protected::trimmed(&self.form.protect);
        let names = Paths { pairs, values, protected, identifiers, ..Paths::default() };
        Ok(self.rows.into_paths(names))
    }

    /// Those of all people, where they are kept.
    fn identifiers(&mut self) -> Result<Vec<String>, Error> {
        if !self.form.identified {
            return Ok(Vec::new());
        }
        let known = std::mem::take(&mut self.known).into_keys().map(String::from_utf8);
        let known: Result<Vec<String>, _> = known.collect();
        let problem = |_| Error::input(format!("{}: an identifier is not UTF-8", self.name));
        let mut known = known.map_err(problem)?;
        known.sort_unstable();
        Ok(known)
    }
}

fn too_many_different() -> String {
    format!(
        "there are more than {MOST_DIFFERENT} different pairs of place and time: divide times, or name \
         coarser places"
    )
}

fn not_a_pair(token: &[u8]) -> String {
    let shown: String = String::from_utf8_lossy(token).chars().take(40).collect();
    format!("`{shown}` is not a place and a time, such as b2 or b@2")
}

/// The times and places of a path that is written as a release writes it; nothing of any other.
pub fn read_spelt(text: &str) -> Option<Vec<(u64, String)>> {
    let mut pairs: Vec<(u64, String)> = Vec::new();
    for token in text.split('>') {
        let (time, place) = split(token.as_bytes())?;
        let rises = pairs.last().is_none_or(|(before, _)| *before < time);
        if !rises || pairs.len() == MOST_PAIRS || name(time, &place) != token {
            return None;
        }
        pairs.push((time, place));
    }
    Some(pairs)
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
