//! From the bytes of a record to codes.

use super::super::columns::{plain_integer, whole};
use super::super::identifiers::by_line;
use super::super::{
    Attribute, CellRules, Column, Decimal, Domain, Identifier, Missing, NumericDomain, OnBadValue,
    SetColumn, Splits, Table, Taxonomy, nearest, text,
};
use super::dialect::{self, Dialect};
use super::found::{Found, Place, Places, SHOWN_BYTES, Why};
use super::{Reading, bad_header, newlines};
use crate::Error;
use crate::role::Role;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;

/// The positions of the needed columns in a line, and how their cells are read.
pub(super) struct Header<'a> {
    dialect: Dialect,
    places: Places,
    fields: usize,
    attributes: Vec<Option<(usize, CellReader<'a>)>>,
    names: Vec<&'a str>,
    /// `None` if the other party holds it, or there is none.
    class: Option<ClassReader<'a>>,
    identifier: Option<(usize, &'a Identifier)>,
}

/// The position of the class, its column, the codes of its values, and these.
type ClassReader<'a> = (usize, &'a str, HashMap<&'a [u8], u8>, &'a [String]);

/// How the cells of one attribute become codes.
struct CellReader<'a> {
    values: Values<'a>,
    rules: &'a CellRules,
    bad: Bad,
    missing: Option<Bad>,
}

enum Values<'a> {
    Leaves { taxonomy: &'a Taxonomy, leaves: HashMap<&'a [u8], u16>, set: bool },
    Number { range: &'a NumericDomain, whole: Option<(i64, i64, i64)> },
}

/// The agreement's rule for values that do not fit, or are missing.
#[derive(Clone, Copy)]
enum Bad {
    Refuse,
    Drop,
    Map(u32),
}

/// What a cell came to.
enum Cell {
    Code(u32),
    /// The code of the end that is nearest to the value.
    Nearest(u32),
    Drop,
    Refused,
}

impl<'a> Header<'a> {
    /// Reads the first record of the file; returns it with the place where the next one begins.
    pub(super) fn read(
        file: &str,
        block: &[u8],
        dialect: Dialect,
        reading: &Reading<'a>,
    ) -> Result<(Self, usize), Error> {
        let (names, end) = first_record(file, block, dialect)?;
        Ok((Self::of_names(file, &names, Places::Lines, dialect, reading)?, end))
    }

    /// Finds the needed columns among those of the table.
    pub(super) fn of_names(
        file: &str,
        names: &[String],
        places: Places,
        dialect: Dialect,
        reading: &Reading<'a>,
    ) -> Result<Self, Error> {
        let place = |wanted: &str| places.column(file, names, wanted);
        let schema = reading.schema;
        let here = |owner: Option<Role>| {
            reading.owner.is_none() || owner.is_none() || owner == reading.owner
        };
        let wanted = |attribute: &Attribute| here(attribute.owner);
        let of_schema = schema.attributes.iter().map(|it| (it.name.as_str(), it.owner));
        let class = schema.class.name().map(|name| (name, schema.class.owner));
        let of_schema = of_schema.chain(class);
        let (ours, theirs): (Vec<_>, Vec<_>) = of_schema.partition(|(_, owner)| here(*owner));
        let identified = reading.identifier.map(|identifier| identifier.column.as_str());
        let ours: Vec<&str> = ours.into_iter().map(|(name, _)| name).chain(identified).collect();
        let theirs: Vec<&str> = theirs.into_iter().map(|(name, _)| name).collect();
        places.all_there(file, names, &ours, &theirs)?;
        let attributes = schema
            .attributes
            .iter()
            .map(|attribute| {
                wanted(attribute)
                    .then(|| Ok((place(&attribute.name)?, CellReader::new(attribute))))
                    .transpose()
            })
            .collect::<Result<_, Error>>()?;
        let class = Some(&schema.class).filter(|class| !class.is_none() && here(class.owner));
        let class = class.map(|class| -> Result<_, Error> {
            let values = class.values.iter().enumerate();
            let codes = values.map(|(code, name)| (name.as_bytes(), code as u8));
            let place = place(&class.column)?;
            Ok((place, class.column.as_str(), codes.collect(), class.values.as_slice()))
        });
        let identifier = match reading.identifier {
            Some(identifier) => Some((place(&identifier.column)?, identifier)),
            None => None,
        };
        Ok(Self {
            dialect,
            places,
            fields: names.len(),
            attributes,
            names: schema.attributes.iter().map(|attribute| attribute.name.as_str()).collect(),
            class: class.transpose()?,
            identifier,
        })
    }

    /// How messages name a place in this table.
    pub(super) fn places(&self) -> Places {
        self.places
    }

    /// What is wrong with the identifiers of a table, in words.
    pub(super) fn repeated(&self, table: &Table) -> Option<String> {
        let ((_, identifier), names) = (self.identifier?, table.identifiers()?);
        let error = identifier.normalize.check(names).err()?;
        let words = by_line(&error, self.places.word(), &|record| table.line(record));
        Some(format!("column `{}`: {words}", identifier.column))
    }

    /// The positions of the needed columns in a record.
    pub(super) fn wanted(&self) -> Vec<usize> {
        let attributes = self.attributes.iter().flatten().map(|(field, _)| *field);
        let class = self.class.iter().map(|(field, ..)| *field);
        attributes.chain(class).chain(self.identifier.map(|(field, _)| field)).collect()
    }

    /// Reads whole records; lines of what does not fit are counted from the start of the piece.
    pub(super) fn piece(&self, piece: &[u8]) -> (Table, Found) {
        let mut reader = self.dialect.reader(piece);
        let mut record = ::csv::ByteRecord::new();
        let mut builder = Builder::new(self, piece);
        loop {
            // Lines without anything are skipped by the reader, but not counted by it.
            let before = reader.position().byte() as usize;
            let blank = piece[before.min(piece.len())..]
                .iter()
                .position(|byte| !matches!(byte, b'\r' | b'\n'));
            let offset = before + blank.unwrap_or(0);
            match reader.read_byte_record(&mut record) {
                Ok(true) => builder.record(offset, &record),
                // Bytes in memory always make records.
                Ok(false) | Err(_) => return builder.finish(),
            }
        }
    }

    /// The column's name and place in a line, from 1.
    pub(super) fn column(&self, place: Place) -> (Option<String>, usize) {
        match place {
            Place::Record => (None, 0),
            Place::Attribute(attribute) => {
                let field = self.attributes[attribute].as_ref().map_or(0, |(field, _)| *field);
                (Some(self.names[attribute].to_owned()), field + 1)
            }
            Place::Class => match &self.class {
                Some((field, column, ..)) => (Some((*column).to_owned()), field + 1),
                None => (None, 0),
            },
            Place::Identifier => {
                let (field, identifier) =
                    self.identifier.map_or((0, None), |(field, it)| (field, Some(it)));
                (identifier.map(|it| it.column.clone()), field + 1)
            }
        }
    }

    /// Why a cell there does not fit; with the nearest value that does, if it may take a while.
    pub(super) fn why(&self, place: Place, cell: &[u8], look_up: bool) -> Why {
        match place {
            Place::Record => Why::new(
                format!(
                    "{} fields where the first line has {}",
                    String::from_utf8_lossy(cell),
                    self.fields
                ),
                ": put quotes around cells that hold commas",
            ),
            Place::Attribute(attribute) => {
                let why = self.attributes[attribute].as_ref().map(|(_, it)| it.why(cell, look_up));
                let mut why = why.unwrap_or_else(|| Why::new("does not fit", ""));
                why.advice += ", or agree on an `on_bad_value` for this attribute";
                why
            }
            Place::Class => {
                let known = self.class.iter().flat_map(|(.., names)| names.iter());
                unknown(cell, known.map(String::as_str).filter(|_| look_up), "class")
            }
            Place::Identifier if std::str::from_utf8(cell).is_err() => not_utf8(),
            Place::Identifier => {
                Why::new("is not an identifier: it is empty", "; give the record one")
            }
        }
    }
}

/// The names of the columns, which the first record of the file has, and the place where the next one
/// begins.
pub(super) fn first_record(
    file: &str,
    block: &[u8],
    dialect: Dialect,
) -> Result<(Vec<String>, usize), Error> {
    let bad = |problem: String| bad_header(file, problem);
    let skipped = if block.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
    let mut reader = dialect.reader(&block[skipped..]);
    let mut record = ::csv::ByteRecord::new();
    let found = reader.read_byte_record(&mut record);
    if !matches!(found, Ok(true)) {
        return Err(bad("the first line must name the columns".to_owned()));
    }
    let end = skipped + reader.position().byte() as usize;
    let names: Vec<String> = record
        .iter()
        .map(|cell| String::from_utf8_lossy(cell.trim_ascii()).nfc().collect())
        .collect();
    match dialect::hint(block, names.len(), dialect) {
        Some(hint) => Err(bad(hint)),
        None => Ok((names, end)),
    }
}

/// The place of a column among those of a file.
pub(super) fn column(file: &str, names: &[String], wanted: &str) -> Result<usize, Error> {
    Places::Lines.column(file, names, wanted)
}

/// The records of one piece, so far.
pub(super) struct Builder<'h, 'a> {
    header: &'h Header<'a>,
    piece: &'h [u8],
    /// How far lines were counted, and how many there are until there.
    counted: usize,
    lines: u64,
    found: Found,
    /// Of every record, where there are identifiers, so that duplicates can be named.
    record_lines: Vec<u64>,
    columns: Vec<Option<Column>>,
    classes: Vec<u8>,
    identifiers: Option<Vec<String>>,
    codes: Vec<u32>,
    items: Vec<Vec<u16>>,
    /// Per attribute, whether the value of this record was out of range, and of how many it was.
    is_outside: Vec<bool>,
    outside: Vec<u64>,
}

impl<'h, 'a> Builder<'h, 'a> {
    pub(super) fn new(header: &'h Header<'a>, piece: &'h [u8]) -> Self {
        let column = |reader: &CellReader<'_>| match &reader.values {
            Values::Leaves { set: true, .. } => Column::Set(SetColumn::default()),
            Values::Leaves { .. } => Column::Categorical(Vec::new()),
            Values::Number { .. } => Column::Numeric(Vec::new()),
        };
        let columns: Vec<_> = header
            .attributes
            .iter()
            .map(|wanted| wanted.as_ref().map(|(_, reader)| column(reader)))
            .collect();
        Self {
            header,
            piece,
            counted: 0,
            lines: 0,
            found: Found::default(),
            record_lines: Vec::new(),
            codes: vec![0; columns.len()],
            items: vec![Vec::new(); columns.len()],
            is_outside: vec![false; columns.len()],
            outside: vec![0; columns.len()],
            columns,
            classes: Vec::new(),
            identifiers: header.identifier.map(|_| Vec::new()),
        }
    }

    pub(super) fn finish(self) -> (Table, Found) {
        // The columns grew together, so they make a table.
        let table = Table::new(self.columns, self.classes, self.identifiers).unwrap_or_default();
        (table.with_lines(self.record_lines).with_outside(self.outside), self.found)
    }

    /// Takes a record that does not stand in a piece; `number` is what messages call it.
    pub(super) fn record_number(&mut self, number: u64, record: &::csv::ByteRecord) {
        self.lines = number;
        self.record(0, record);
    }

    fn record(&mut self, offset: usize, record: &::csv::ByteRecord) {
        let header = self.header;
        if record.len() != header.fields {
            let line = self.line(offset);
            self.found.note(Place::Record, record.len().to_string().as_bytes(), line);
            return;
        }
        let cell = |field: usize| record.get(field).unwrap_or_default().trim_ascii();
        let mut refused: Vec<(Place, usize)> = Vec::new();
        for (attribute, wanted) in header.attributes.iter().enumerate() {
            let Some((field, reader)) = wanted else { continue };
            let read = reader.read(cell(*field), &mut self.items[attribute]);
            self.is_outside[attribute] = matches!(read, Cell::Nearest(_));
            match read {
                Cell::Code(code) | Cell::Nearest(code) => self.codes[attribute] = code,
                // A record that is left out may hold anything.
                Cell::Drop => return,
                Cell::Refused => refused.push((Place::Attribute(attribute), *field)),
            }
        }
        let class = match &header.class {
            None => Some(0),
            Some((field, _, classes, _)) => {
                let written = cell(*field);
                let other = || other_form(written).and_then(|name| classes.get(name.as_bytes()));
                let class = classes.get(written).or_else(other).copied();
                if class.is_none() {
                    refused.push((Place::Class, *field));
                }
                class
            }
        };
        let mut identifier = None;
        if let Some((field, rule)) = header.identifier {
            let written = std::str::from_utf8(record.get(field).unwrap_or_default());
            let name = written.map(|written| rule.normalize.apply(written).into_owned());
            match name {
                Ok(name) if !name.is_empty() => identifier = Some(name),
                _ => refused.push((Place::Identifier, field)),
            }
        }
        if !refused.is_empty() {
            let line = self.line(offset);
            refused.iter().for_each(|(place, field)| self.found.note(*place, cell(*field), line));
        }
        let (Some(class), true) = (class, refused.is_empty()) else { return };
        if let (Some(name), Some(identifiers)) = (identifier, &mut self.identifiers) {
            identifiers.push(name);
            let line = self.line(offset);
            self.record_lines.push(line);
        }
        self.classes.push(class);
        for (attribute, column) in self.columns.iter_mut().enumerate() {
            self.outside[attribute] += u64::from(self.is_outside[attribute]);
            match column {
                Some(Column::Categorical(codes)) => codes.push(self.codes[attribute] as u16),
                Some(Column::Numeric(points)) => points.push(self.codes[attribute]),
                Some(Column::Set(sets)) => sets.push(&self.items[attribute]),
                None => {}
            }
        }
    }

    /// The line of a place in the piece, from 0. Places come in their order.
    fn line(&mut self, offset: usize) -> u64 {
        let offset = offset.min(self.piece.len());
        self.lines += newlines(&self.piece[self.counted.min(offset)..offset]);
        self.counted = offset;
        self.lines
    }
}

impl<'a> CellReader<'a> {
    fn new(attribute: &'a Attribute) -> Self {
        let rules = &attribute.rules;
        let (values, category) = match &attribute.domain {
            Domain::Categorical(taxonomy) | Domain::Set(taxonomy) => {
                let code = |place: usize| place as u16; // a taxonomy has at most 65,536 values
                let mut leaves: HashMap<&[u8], u16> = taxonomy
                    .leaves()
                    .iter()
                    .enumerate()
                    .map(|(place, leaf)| (taxonomy.name(*leaf).as_bytes(), code(place)))
                    .collect();
                if rules.boolean {
                    let code = |name: &str| leaves.get(name.as_bytes()).copied();
                    let (yes, no) = (code("true").unwrap_or(0), code("false").unwrap_or(1));
                    leaves.extend(CellRules::TRUE.iter().map(|word| (word.as_bytes(), yes)));
                    leaves.extend(CellRules::FALSE.iter().map(|word| (word.as_bytes(), no)));
                }
                let set = matches!(attribute.domain, Domain::Set(_));
                let last = taxonomy.leaves().len().saturating_sub(1) as u32;
                (Values::Leaves { taxonomy, leaves, set }, last)
            }
            Domain::Numeric(range) => {
                let step = match range.splits() {
                    Splits::Step(step) if !range.has_missing() => whole(step),
                    _ => None,
                };
                let whole = match (whole(range.min()), whole(range.max()), step) {
                    (Some(min), Some(max), Some(step)) => Some((min, max, step)),
                    _ => None,
                };
                (Values::Number { range, whole }, 0)
            }
        };
        let missing = rules.missing.as_ref().map(|missing| match missing {
            Missing::Category => Bad::Map(category),
            Missing::As(treated) => Bad::new(treated, &attribute.domain),
        });
        Self { values, rules, bad: Bad::new(&attribute.on_bad_value, &attribute.domain), missing }
    }

    fn why(&self, cell: &[u8], look_up: bool) -> Why {
        match &self.values {
            Values::Leaves { .. } if self.rules.boolean && !cell.is_empty() => Why::new(
                "is neither true nor false",
                ": write true or false, yes or no, 1 or 0, t or f, y or n",
            ),
            Values::Leaves { taxonomy, set: false, .. } => unknown_leaf(cell, taxonomy, look_up),
            Values::Leaves { taxonomy, leaves, .. } => {
                let mut items = cell.split(|byte| *byte == b'|').map(<[u8]>::trim_ascii);
                let wrong = items.find(|item| leaf(item, taxonomy, leaves).is_none());
                unknown_item(wrong.unwrap_or_default(), taxonomy, look_up)
            }
            Values::Number { range, .. } if range.is_date() => not_a_date(cell, range),
            Values::Number { range, .. } => out_of_range(cell, range),
        }
    }

    fn is_missing(&self, cell: &[u8]) -> bool {
        let mut written = self.rules.missing_values.iter();
        match other_form(cell) {
            Some(name) => written.any(|it| *it == name),
            None => written.any(|it| it.as_bytes() == cell),
        }
    }

    fn read(&self, cell: &[u8], items: &mut Vec<u16>) -> Cell {
        if let Some(missing) = &self.missing
            && self.is_missing(cell)
        {
            return missing.cell(items);
        }
        match &self.values {
            Values::Leaves { leaves, .. } if self.rules.boolean => {
                // No spelling is longer, and `missing` is none of them.
                let lower = cell.get(..5).unwrap_or(cell).to_ascii_lowercase();
                match leaves.get(lower.as_slice()).filter(|_| cell.len() <= 5) {
                    Some(code) => Cell::Code(u32::from(*code)),
                    None => self.bad.cell(items),
                }
            }
            Values::Leaves { taxonomy, leaves, set: false } => match leaf(cell, taxonomy, leaves) {
                Some(code) => Cell::Code(u32::from(code)),
                None => self.bad.cell(items),
            },
            Values::Leaves { taxonomy, leaves, set: true } => {
                items.clear();
                for written in cell.split(|byte| *byte == b'|').map(<[u8]>::trim_ascii) {
                    match leaf(written, taxonomy, leaves) {
                        Some(code) => items.push(code),
                        None => return self.bad.cell(items),
                    }
                }
                items.sort_unstable();
                items.dedup();
                Cell::Code(0)
            }
            Values::Number { range, whole } => {
                if let (Some((min, max, step)), Some(number)) = (whole, plain_integer(cell))
                    && (*min..=*max).contains(&number)
                {
                    // Both ends have at most 18 digits, so nothing overflows.
                    return Cell::Code(((number - min) / step) as u32);
                }
                let number = std::str::from_utf8(cell).ok().and_then(|text| range.read(text));
                match number.map(|number| (range.locate(number), number)) {
                    Some((Some(point), _)) => Cell::Code(point),
                    Some((None, number)) if self.rules.outside_is_nearest => {
                        Cell::Nearest(range.nearest_end(number))
                    }
                    _ => self.bad.cell(items),
                }
            }
        }
    }
}

impl Bad {
    fn new(treated: &OnBadValue, domain: &Domain) -> Self {
        match (treated, domain) {
            (OnBadValue::Drop, _) => Self::Drop,
            (
                OnBadValue::MapToLeaf(leaf),
                Domain::Categorical(taxonomy) | Domain::Set(taxonomy),
            ) => Self::Map(taxonomy.leaf_range(*leaf).start),
            (OnBadValue::MapToNumber(number), Domain::Numeric(range)) => {
                range.locate(*number).map_or(Self::Refuse, Self::Map)
            }
            _ => Self::Refuse,
        }
    }

    /// `items` are what a set holds then.
    fn cell(&self, items: &mut Vec<u16>) -> Cell {
        items.clear();
        match self {
            Self::Refuse => Cell::Refused,
            Self::Drop => Cell::Drop,
            Self::Map(code) => {
                items.push(*code as u16);
                Cell::Code(*code)
            }
        }
    }
}

/// The leaf that a cell names, however its letters are encoded.
fn leaf(cell: &[u8], taxonomy: &Taxonomy, leaves: &HashMap<&[u8], u16>) -> Option<u16> {
    if let Some(code) = leaves.get(cell) {
        return Some(*code);
    }
    let found = taxonomy.find(&other_form(cell)?)?;
    taxonomy.is_leaf(found).then(|| taxonomy.leaf_range(found).start as u16)
}

/// The composed form of text that is not ASCII.
fn other_form(cell: &[u8]) -> Option<String> {
    if cell.is_ascii() || cell.len() > SHOWN_BYTES * 16 {
        return None;
    }
    std::str::from_utf8(cell).ok().map(|text| text.nfc().collect())
}

fn unknown_leaf(cell: &[u8], taxonomy: &Taxonomy, look_up: bool) -> Why {
    if std::str::from_utf8(cell).ok().and_then(|text| taxonomy.find(text)).is_some() {
        return Why::new(
            "is a general value, and records hold the most specific ones",
            ": give the value itself",
        );
    }
    let leaves = taxonomy.leaves().iter().map(|leaf| taxonomy.name(*leaf));
    unknown(cell, leaves.filter(|_| look_up), "value of the taxonomy")
}

fn unknown_item(item: &[u8], taxonomy: &Taxonomy, look_up: bool) -> Why {
    if item.is_empty() {
        return Why::new("holds no item, or an empty one", ": write items like `a|b`");
    }
    let why = unknown_leaf(item, taxonomy, look_up);
    let shown = text::shown(&String::from_utf8_lossy(item));
    Why { problem: format!("holds `{shown}`, which {}", why.problem), ..why }
}

fn not_utf8() -> Why {
    Why::new(
        "is not UTF-8",
        ": save the file as UTF-8, or say its encoding (such as \"windows-1252\") in the party file",
    )
}

fn unknown<'n>(cell: &[u8], known: impl Iterator<Item = &'n str> + Clone, what: &str) -> Why {
    if cell.is_empty() {
        return Why::new(format!("is empty, which is not a {what}"), ": complete the record");
    }
    let Ok(written) = std::str::from_utf8(cell) else { return not_utf8() };
    let same = same_number(written, known.clone());
    match same.or_else(|| nearest(written, known)) {
        Some(meant) => Why {
            problem: format!("is not a {what}: did you mean `{meant}`?"),
            advice: " Correct the file".to_owned(),
            nearest: Some(meant.to_owned()),
        },
        None => Why::new(format!("is not a {what}"), ": correct the file"),
    }
}

/// The known text that is the same number, such as `6` for `6.0` or `06`.
fn same_number<'n>(written: &str, mut known: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let number = |text: &str| {
        let digits = text.trim_start_matches('0');
        let digits = if digits.starts_with(|c: char| c.is_ascii_digit()) { digits } else { text };
        Decimal::parse(digits).ok()
    };
    let wanted = number(written)?;
    known.find(|known| number(known) == Some(wanted))
}

/// Whether a number has more digits before the decimal point than can be held exactly.
fn is_too_long(text: &str) -> bool {
    let whole = text.trim_start_matches('-').split('.').next().unwrap_or_default();
    let digits = whole.bytes().all(|byte| byte.is_ascii_digit());
    digits && whole.len() > 18 && !whole.starts_with('0')
}

fn not_a_date(cell: &[u8], range: &NumericDomain) -> Why {
    let (min, max) = (range.write(range.min()), range.write(range.max()));
    let text = std::str::from_utf8(cell).unwrap_or_default();
    let Splits::Dates(_, format) = range.splits() else { return Why::new("does not fit", "") };
    match range.read(text) {
        None if cell.is_empty() => {
            Why::new("is empty, which is not a date", ": complete the record")
        }
        None => Why::new(
            format!("is not a date written as {}", format.text()),
            &format!(": write one from {min} to {max}, or agree on another `format`"),
        ),
        Some(day) => {
            let end = if day < range.min() { &min } else { &max };
            Why {
                problem: format!("is outside {min} to {max}; the nearest date allowed is {end}"),
                advice: ": correct the file".to_owned(),
                nearest: Some(end.clone()),
            }
        }
    }
}

fn out_of_range(cell: &[u8], range: &NumericDomain) -> Why {
    let text = std::str::from_utf8(cell).unwrap_or_default();
    let (min, max) = (range.min(), range.max());
    let with_point = || Decimal::parse(&text.replace(',', ".")).ok();
    match Decimal::parse_rounding_down(text) {
        Err(_) if is_too_long(text) => Why::new(
            "has more than 18 digits before the decimal point",
            &format!(": write a number from {min} to {max}"),
        ),
        Err(_) => match with_point().filter(|number| range.locate(*number).is_some()) {
            Some(meant) => Why {
                problem: format!("is not a number: did you mean `{meant}`?"),
                advice: format!(" Write a decimal point, from {min} to {max}"),
                nearest: Some(meant.to_string()),
            },
            None => Why::new(
                "is not a number",
                &format!(
                    ": write digits with an optional sign and decimal point, from {min} to {max}"
                ),
            ),
        },
        Ok(number) => {
            let end = if number < min { min } else { max };
            Why {
                problem: format!("is outside {min} to {max}; the nearest value allowed is {end}"),
                advice: ": correct the file".to_owned(),
                nearest: Some(end.to_string()),
            }
        }
    }
}
