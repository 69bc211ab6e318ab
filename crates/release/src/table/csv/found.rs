//! What is wrong with a data file: every distinct thing once, with how often and where.

use super::super::{Table, nearest, text};
use super::bad_header;
use super::cells::Header;
use crate::Error;
use std::collections::{HashMap, HashSet};
use std::fmt;

/// Longest cell that is kept for a message, in bytes.
pub(super) const SHOWN_BYTES: usize = 256;
/// Most distinct values that are kept; of others only the number is.
const MAX_DISTINCT: usize = 10_000;
/// Values for which the nearest legal one is looked up: it takes a walk through the taxonomy.
const MAX_LOOKED_UP: usize = 200;
/// Lines that are kept of each.
const MAX_LINES: usize = 3;
/// Values that a message lists.
const MAX_SHOWN: usize = 12;

/// The column that was probably meant, for a message.
fn meant(wanted: &str, names: &[String]) -> String {
    nearest(wanted, names.iter().map(String::as_str)).map_or_else(String::new, |name| {
        format!(" (is it the one called `{}`?)", text::shown(name))
    })
}

/// How messages name the place of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Places {
    /// By its line in a file, from 1.
    Lines,
    /// By its place among the rows of a table in memory, from 1.
    Rows,
}

impl Places {
    pub fn word(self) -> &'static str {
        match self {
            Self::Lines => "line",
            Self::Rows => "row",
        }
    }

    /// Names all columns that are missing, if several are; `theirs` are those of the other party.
    pub fn all_there(
        self,
        file: &str,
        names: &[String],
        wanted: &[&str],
        theirs: &[&str],
    ) -> Result<(), Error> {
        let there: HashSet<&str> = names.iter().map(String::as_str).collect();
        let missing: Vec<&str> =
            wanted.iter().copied().filter(|name| !there.contains(name)).collect();
        if missing.len() < 2 {
            return Ok(());
        }
        let swapped = theirs.iter().any(|name| there.contains(name));
        let shown = missing.iter().take(MAX_SHOWN).map(|name| match swapped {
            true => format!("`{name}`"),
            false => format!("`{name}`{}", meant(name, names)),
        });
        let shown = shown.collect::<Vec<_>>().join(", ");
        let more = match missing.len().saturating_sub(MAX_SHOWN) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let swapped = if swapped { " (is this the file of the other party?)" } else { "" };
        let named = self.in_first_line();
        let problem = format!(
            "the columns {shown}{more} are missing{swapped}: name them{named} as the agreement does"
        );
        Err(self.bad_header(file, problem))
    }

    /// The place of a column among those that there are.
    pub fn column(self, file: &str, names: &[String], wanted: &str) -> Result<usize, Error> {
        let bad = |problem: String| self.bad_header(file, problem);
        let mut found = names.iter().enumerate().filter(|(_, name)| *name == wanted);
        match (found.next(), found.next()) {
            (Some((place, _)), None) => Ok(place),
            (Some(_), Some(_)) => {
                Err(bad(format!("the column `{wanted}` is there twice: remove one of them")))
            }
            (None, _) => {
                let (meant, named) = (meant(wanted, names), self.in_first_line());
                Err(bad(format!(
                    "the column `{wanted}` is missing{meant}: name it{named} as the agreement does"
                )))
            }
        }
    }

    fn in_first_line(self) -> &'static str {
        if self == Self::Lines { " in the first line" } else { "" }
    }

    /// An error about the columns as a whole.
    pub fn bad_header(self, file: &str, problem: String) -> Error {
        match self {
            Self::Lines => bad_header(file, problem),
            Self::Rows => Error::input(format!("{file}: {problem}")),
        }
    }

    fn at(self, file: &str, number: u64) -> String {
        match self {
            Self::Lines => format!("{file}:{number}"),
            Self::Rows => format!("{file}, row {number}"),
        }
    }

    /// What is to be corrected, in words that were written for a file.
    fn advice(self, advice: String) -> String {
        match self {
            Self::Lines => advice,
            Self::Rows => advice.replace("the file", "the table"),
        }
    }
}

/// A value that does not fit, however often.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// The column; nothing where the record as a whole does not fit.
    pub column: Option<String>,
    /// The column's place in a line, from 1.
    pub field: usize,
    /// What the cells hold, made printable and cut short.
    pub value: String,
    /// How many.
    pub count: u64,
    /// The first of their lines (or rows, in memory), from 1.
    pub lines: Vec<u64>,
    /// What is wrong with it.
    pub problem: String,
    /// The nearest value that would fit, where there is one.
    pub nearest: Option<String>,
    /// What to do, after the problem.
    advice: String,
}

/// Everything that does not fit, in the order of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValues {
    /// As given by the caller.
    pub file: String,
    /// Each distinct value.
    pub found: Vec<BadValue>,
    /// Cells with still others.
    pub left_out: u64,
    /// What is wrong with the identifiers of the other records.
    pub repeated: Option<String>,
    places: Places,
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(column) = &self.column {
            write!(f, "column `{column}` (field {}): `{}` ", self.field, self.value)?;
        }
        f.write_str(&self.problem)
    }
}

impl std::error::Error for BadValues {}

impl fmt::Display for BadValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_values(f)?;
        self.repeated.iter().try_for_each(|repeated| write!(f, "\n{}, {repeated}", self.file))
    }
}

impl BadValues {
    fn write_values(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ([only], 0) = (&self.found[..], self.left_out)
            && let ([line], 1) = (&only.lines[..], only.count)
        {
            return write!(f, "{}: {only}{}", self.places.at(&self.file, *line), only.advice);
        }
        let cells = self.found.iter().map(|bad| bad.count).sum::<u64>() + self.left_out;
        let more = if self.left_out > 0 { "more than " } else { "" };
        let distinct = self.found.len();
        let times = |count| if count == 1 { "once".to_owned() } else { format!("{count} times") };
        writeln!(f, "{}: {more}{distinct} bad values, found {}:", self.file, times(cells))?;
        for bad in self.found.iter().take(MAX_SHOWN) {
            let line = bad.lines.first().copied().unwrap_or(0);
            write!(f, "  {}: {bad}", self.places.at(&self.file, line))?;
            if bad.count > 1 {
                let lines: Vec<String> = bad.lines.iter().map(u64::to_string).collect();
                let rest = if bad.count > bad.lines.len() as u64 { ", …" } else { "" };
                let (word, lines) = (self.places.word(), lines.join(", "));
                write!(f, " ({} times: {word}s {lines}{rest})", bad.count)?;
            }
            writeln!(f)?;
        }
        if distinct > MAX_SHOWN {
            let hidden = distinct - MAX_SHOWN;
            writeln!(f, "  and {hidden} more bad values; --problems FILE writes them all")?;
        }
        let advice = "correct the file, or agree on an `on_bad_value` for such an attribute";
        f.write_str(&self.places.advice(advice.to_owned()))
    }

    /// All of them as CSV, one line each.
    pub fn to_csv(&self) -> String {
        let word = self.places.word();
        let mut text = format!("column,field,value,count,first_{word},nearest,problem\n");
        let quoted = |cell: &str| format!("\"{}\"", cell.replace('"', "\"\""));
        for bad in &self.found {
            let cells = [
                quoted(bad.column.as_deref().unwrap_or_default()),
                bad.field.to_string(),
                quoted(&bad.value),
                bad.count.to_string(),
                bad.lines.first().copied().unwrap_or(0).to_string(),
                quoted(bad.nearest.as_deref().unwrap_or_default()),
                quoted(&bad.problem),
            ];
            text.push_str(&cells.join(","));
            text.push('\n');
        }
        text
    }
}

/// Where in a record a problem is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Place {
    /// The number of its fields.
    Record,
    /// The cell of an attribute.
    Attribute(usize),
    Class,
    Identifier,
}

/// Why a value does not fit.
pub(super) struct Why {
    pub problem: String,
    pub advice: String,
    pub nearest: Option<String>,
}

impl Why {
    pub fn new(problem: impl Into<String>, advice: &str) -> Self {
        Self { problem: problem.into(), advice: advice.to_owned(), nearest: None }
    }
}

/// What was found so far.
#[derive(Default)]
pub(super) struct Found {
    seen: HashMap<(Place, Vec<u8>), Seen>,
    left_out: u64,
}

struct Seen {
    count: u64,
    lines: Vec<u64>,
}

impl Found {
    pub fn is_empty(&self) -> bool {
        self.seen.is_empty()
    }

    pub fn note(&mut self, place: Place, cell: &[u8], line: u64) {
        let key = (place, cell[..cell.len().min(SHOWN_BYTES)].to_vec());
        self.add(key, Seen { count: 1, lines: vec![line] });
    }

    /// Takes over what was found in a later part of the file, whose first line is this.
    pub fn append(&mut self, later: Self, first_line: u64) {
        self.left_out += later.left_out;
        for (key, mut seen) in later.seen {
            seen.lines.iter_mut().for_each(|line| *line += first_line);
            self.add(key, seen);
        }
    }

    fn add(&mut self, key: (Place, Vec<u8>), seen: Seen) {
        if let Some(known) = self.seen.get_mut(&key) {
            known.count += seen.count;
            let room = MAX_LINES - known.lines.len().min(MAX_LINES);
            known.lines.extend(seen.lines.into_iter().take(room));
        } else if self.seen.len() < MAX_DISTINCT {
            self.seen.insert(key, seen);
        } else {
            self.left_out += seen.count;
        }
    }

    /// With the identifiers that are repeated among the records that fit.
    pub fn into_error(self, file: &str, header: &Header<'_>, table: &Table) -> Error {
        let places = header.places();
        let mut all: Vec<_> = self.seen.into_iter().collect();
        all.sort_by(|((place, cell), seen), ((other_place, other_cell), other)| {
            (&seen.lines, place, cell).cmp(&(&other.lines, other_place, other_cell))
        });
        let found = all.into_iter().enumerate().map(|(index, ((place, cell), seen))| {
            let (column, field) = header.column(place);
            let Why { problem, advice, nearest } = header.why(place, &cell, index < MAX_LOOKED_UP);
            let advice = places.advice(advice);
            BadValue {
                column,
                field,
                value: text::shown(&String::from_utf8_lossy(&cell)),
                count: seen.count,
                lines: seen.lines,
                problem,
                nearest,
                advice,
            }
        });
        let (found, left_out) = (found.collect(), self.left_out);
        let repeated = header.repeated(table);
        let values = BadValues { file: file.to_owned(), found, left_out, repeated, places };
        Error::input(&values).because(values)
    }
}
