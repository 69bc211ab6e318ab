//! What a table looks like from outside: names of columns, and what kind of cells they hold.

use super::super::{CellRules, Date, Decimal, MAX_TEXT, clean_text};
use super::dialect::Dialect;
use super::{Blocks, bad_header, regular_file, unreadable};
use crate::Error;
use std::collections::BTreeSet;
use std::path::Path;

/// Records after which a column's kind is decided.
const LOOKED_AT: usize = 1_000;
/// Most columns of a table whose outline is taken.
pub const MAX_OUTLINED_COLUMNS: usize = 10_000;
/// Most distinct values of a column that are listed.
pub const MAX_LISTED_VALUES: usize = 200;

/// A table, as far as it can be described without an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableOutline {
    /// Its columns, in their order.
    pub columns: Vec<ColumnOutline>,
    /// What the first line shows of the dialect, unless it is the usual one.
    pub recognized: Option<String>,
}

/// A column, as far as it can be described without an agreement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ColumnOutline {
    /// From the first line.
    pub name: String,
    /// What its cells look like.
    pub looks: Looks,
    /// Whether some of its cells are empty.
    pub has_empty: bool,
    /// Its distinct values, if they were asked for and are few enough to list.
    pub values: Option<Vec<String>>,
}

/// What the cells of a column look like, those that are empty not counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looks {
    /// There are none.
    Empty,
    /// All are decimal numbers.
    Numeric,
    /// All are dates such as `2026-11-18`.
    Date,
    /// All are spellings of true or false, both occur, and they are not all numbers.
    Boolean,
    /// Anything else.
    Text,
}

/// Reads the first line of a table and looks at the kinds of its cells: at those of the first
/// records, or with `with_values` of all, whose values are then listed.
///
/// # Errors
/// If the file cannot be read, or its first line does not name columns.
pub fn outline_csv(path: &Path, with_values: bool) -> Result<TableOutline, Error> {
    let name = path.display().to_string();
    let file = regular_file(path)?;
    let bad = |problem: &str| bad_header(&name, problem);
    let looked = Dialect::recognized().look(file);
    let (dialect, recognized, source) = looked.map_err(|error| unreadable(&name, error))?;
    let mut source = dialect.encoding.decoded(source);
    let mut blocks = Blocks::new(&name, dialect);
    let mut columns: Vec<Growing> = Vec::new();
    let mut records = 0;
    'file: while let Some(length) = blocks.fill(&mut source)? {
        let mut reader = dialect.reader(&blocks.buffer[..length]);
        let mut record = ::csv::ByteRecord::new();
        while matches!(reader.read_byte_record(&mut record), Ok(true)) {
            if columns.is_empty() {
                columns = header(&record).map_err(|problem| bad(&problem))?;
                continue;
            }
            let cells = record.iter().map(<[u8]>::trim_ascii);
            records += 1;
            columns.iter_mut().zip(cells).for_each(|(column, cell)| column.take(cell, with_values));
            if records >= LOOKED_AT && !with_values {
                break 'file;
            }
        }
        blocks.consume(length);
    }
    if columns.is_empty() {
        return Err(bad("the first line must name the columns"));
    }
    let columns = columns.into_iter().map(|column| column.finish(with_values)).collect();
    Ok(TableOutline { columns, recognized })
}

/// The columns that the first line names.
fn header(record: &::csv::ByteRecord) -> Result<Vec<Growing>, String> {
    if record.len() > MAX_OUTLINED_COLUMNS {
        return Err(format!(
            "the first line has {} columns, and at most {MAX_OUTLINED_COLUMNS} are read: give a file \
             with a first line of the columns that are to be released, nothing else",
            record.len()
        ));
    }
    let named = record.iter().enumerate().map(|(place, name)| {
        let wrong = |what: &str| format!("the name of column {} {what}", place + 1);
        let name = std::str::from_utf8(name.trim_ascii())
            .map_err(|_| wrong("is not UTF-8: save the file as UTF-8, or write the name anew"))?;
        // What could not be decoded is U+FFFD.
        if name.contains('\u{fffd}') {
            return Err(wrong("holds what is no character: save the file as UTF-8"));
        }
        Growing::new(name).map_err(|error| wrong(&format!("cannot be used: {error}")))
    });
    named.collect()
}

struct Growing {
    outline: ColumnOutline,
    filled: usize,
    /// How many are numbers, dates, spellings of true, spellings of false.
    numbers: usize,
    dates: usize,
    yes: usize,
    no: usize,
    values: BTreeSet<String>,
}

impl Growing {
    fn new(name: &str) -> Result<Self, Error> {
        let name = clean_text(name.trim_start_matches('\u{feff}'))?;
        let outline = ColumnOutline { name, looks: Looks::Empty, has_empty: false, values: None };
        let (filled, numbers, dates, yes, no) = Default::default();
        Ok(Self { outline, filled, numbers, dates, yes, no, values: BTreeSet::new() })
    }

    fn take(&mut self, cell: &[u8], with_values: bool) {
        if cell.is_empty() {
            self.outline.has_empty = true;
            return;
        }
        self.filled += 1;
        let text = std::str::from_utf8(cell).ok();
        if let Some(text) = text {
            let spells = |words: &[&str]| words.iter().any(|word| word.eq_ignore_ascii_case(text));
            self.numbers += usize::from(Decimal::parse_rounding_down(text).is_ok());
            self.dates += usize::from(Date::parse(text).is_ok());
            self.yes += usize::from(spells(CellRules::TRUE));
            self.no += usize::from(spells(CellRules::FALSE));
        }
        if let (true, Some(text)) = (with_values && self.values.len() <= MAX_LISTED_VALUES, text)
            && text.len() <= 4 * MAX_TEXT
        {
            self.values.insert(text.to_owned());
        }
    }

    fn finish(self, with_values: bool) -> ColumnOutline {
        // Where most records have a value of their own, the values are people's, not the world's.
        let own = self.values.len() > 20 && 2 * self.values.len() > self.filled;
        let few = with_values && self.values.len() <= MAX_LISTED_VALUES && !own;
        let clean = || self.values.iter().map(|value| clean_text(value).ok()).collect();
        let looks = match self.filled {
            0 => Looks::Empty,
            all if self.numbers == all => Looks::Numeric,
            all if self.dates == all => Looks::Date,
            all if self.yes + self.no == all && self.yes > 0 && self.no > 0 => Looks::Boolean,
            _ => Looks::Text,
        };
        ColumnOutline { looks, values: if few { clean() } else { None }, ..self.outline }
    }
}
