//! From the bytes of a record to codes.

use super::super::columns::{plain_integer, whole};
use super::super::{
    Attribute, Column, Decimal, Domain, Error, Identifier, NumericDomain, OnBadValue, SetColumn,
    Table, Taxonomy, nearest, text,
};
use super::Reading;
use std::collections::HashMap;
use unicode_normalization::UnicodeNormalization;

/// Longest cell that is kept for a message, in bytes.
const SHOWN_BYTES: usize = 256;

/// What is wrong with a record.
#[derive(Debug)]
pub(super) struct Problem {
    /// Where the record begins, counted from the start of the piece.
    pub(super) offset: usize,
    /// Field, column and content of the cell, if one cell is to blame.
    pub(super) cell: Option<(usize, String, Vec<u8>)>,
    /// What is wrong and what to do.
    pub(super) text: String,
}

/// Where in a line the wanted columns stand, and how their cells are read.
pub(super) struct Header<'a> {
    fields: usize,
    attributes: Vec<Option<(usize, CellReader<'a>)>>,
    names: Vec<&'a str>,
    /// Nothing if somebody else holds it.
    class: Option<ClassReader<'a>>,
    identifier: Option<(usize, &'a Identifier)>,
}

/// Where the class stands, its column, the codes of its values, and these.
type ClassReader<'a> = (usize, &'a str, HashMap<&'a [u8], u8>, &'a [String]);

/// How the cells of one attribute become codes.
enum CellReader<'a> {
    Values { taxonomy: &'a Taxonomy, leaves: HashMap<&'a [u8], u16>, set: bool, bad: Bad<u16> },
    Number { range: &'a NumericDomain, whole: Option<(i64, i64, i64)>, bad: Bad<u32> },
}

/// The agreement's rule for values that do not fit.
#[derive(Clone, Copy)]
enum Bad<T> {
    Refuse,
    Drop,
    Map(T),
}

/// What a cell came to.
enum Cell {
    Code(u32),
    Drop,
    Refused(String),
}

impl<'a> Header<'a> {
    /// Reads the first record of the file; returns it with the place where the next one begins.
    pub(super) fn read(
        file: &str,
        block: &[u8],
        reading: &Reading<'a>,
    ) -> Result<(Self, usize), Error> {
        let bad = |problem: String| Error::BadHeader { file: file.to_owned(), problem };
        let skipped = if block.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let mut reader = csv_reader(&block[skipped..]);
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
        let place = |wanted: &str| {
            let mut places = names.iter().enumerate().filter(|(_, name)| *name == wanted);
            match (places.next(), places.next()) {
                (Some((place, _)), None) => Ok(place),
                (Some(_), Some(_)) => {
                    Err(bad(format!("the column `{wanted}` is there twice: remove one of them")))
                }
                (None, _) => {
                    let meant = nearest(wanted, names.iter().map(String::as_str));
                    let meant = meant.map_or_else(String::new, |name| {
                        format!(" (is it the one called `{}`?)", text::shown(name))
                    });
                    Err(bad(format!(
                        "the column `{wanted}` is missing{meant}: name it in the first line as \
                         the agreement does"
                    )))
                }
            }
        };
        let schema = reading.schema;
        let wanted = |attribute: &Attribute| {
            reading.owner.is_none() || attribute.owner.is_none() || attribute.owner == reading.owner
        };
        let attributes = schema
            .attributes
            .iter()
            .map(|attribute| {
                wanted(attribute)
                    .then(|| Ok((place(&attribute.name)?, CellReader::new(attribute))))
                    .transpose()
            })
            .collect::<Result<_, Error>>()?;
        let class = Some(&schema.class).filter(|class| {
            reading.owner.is_none() || class.owner.is_none() || class.owner == reading.owner
        });
        let class = class.map(|class| {
            let values = class.values.iter().enumerate();
            let codes = values.map(|(code, name)| (name.as_bytes(), code as u8));
            let place = place(&class.column)?;
            Ok((place, class.column.as_str(), codes.collect(), class.values.as_slice()))
        });
        let identifier = match reading.identifier {
            Some(identifier) => Some((place(&identifier.column)?, identifier)),
            None => None,
        };
        let header = Self {
            fields: record.len(),
            attributes,
            names: schema.attributes.iter().map(|attribute| attribute.name.as_str()).collect(),
            class: class.transpose()?,
            identifier,
        };
        Ok((header, end))
    }

    /// Reads whole records.
    pub(super) fn piece(&self, piece: &[u8]) -> Result<Table, Problem> {
        let mut reader = csv_reader(piece);
        let mut record = ::csv::ByteRecord::new();
        let mut builder = Builder::new(self);
        loop {
            // Lines without anything are skipped by the reader, but not counted by it.
            let before = reader.position().byte() as usize;
            let blank = piece[before.min(piece.len())..]
                .iter()
                .position(|byte| !matches!(byte, b'\r' | b'\n'));
            let offset = before + blank.unwrap_or(0);
            match reader.read_byte_record(&mut record) {
                Ok(true) => builder.record(offset, &record)?,
                Ok(false) => return Ok(builder.finish()),
                Err(error) => {
                    return Err(Problem { offset, cell: None, text: format!("{error}") });
                }
            }
        }
    }
}

fn csv_reader(bytes: &[u8]) -> ::csv::Reader<&[u8]> {
    ::csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes)
}

/// The records of one piece, so far.
pub(super) struct Builder<'h, 'a> {
    header: &'h Header<'a>,
    columns: Vec<Option<Column>>,
    classes: Vec<u8>,
    identifiers: Option<Vec<String>>,
    codes: Vec<u32>,
    items: Vec<Vec<u16>>,
}

impl<'h, 'a> Builder<'h, 'a> {
    pub(super) fn new(header: &'h Header<'a>) -> Self {
        let column = |reader: &CellReader<'_>| match reader {
            CellReader::Values { set: true, .. } => Column::Set(SetColumn::default()),
            CellReader::Values { .. } => Column::Categorical(Vec::new()),
            CellReader::Number { .. } => Column::Numeric(Vec::new()),
        };
        let columns: Vec<_> = header
            .attributes
            .iter()
            .map(|wanted| wanted.as_ref().map(|(_, reader)| column(reader)))
            .collect();
        Self {
            header,
            codes: vec![0; columns.len()],
            items: vec![Vec::new(); columns.len()],
            columns,
            classes: Vec::new(),
            identifiers: header.identifier.map(|_| Vec::new()),
        }
    }

    pub(super) fn finish(self) -> Table {
        // The columns grew together, so they make a table.
        Table::new(self.columns, self.classes, self.identifiers).unwrap_or_default()
    }

    fn record(&mut self, offset: usize, record: &::csv::ByteRecord) -> Result<(), Problem> {
        let header = self.header;
        if record.len() != header.fields {
            let (found, wanted) = (record.len(), header.fields);
            let text = format!(
                "{found} fields where the first line has {wanted}: put quotes around cells that \
                 hold commas"
            );
            return Err(Problem { offset, cell: None, text });
        }
        let cell = |field: usize| record.get(field).unwrap_or_default().trim_ascii();
        let blame = |field: usize, column: &str, text: String| Problem {
            offset,
            cell: Some((
                field,
                column.to_owned(),
                cell(field).iter().copied().take(SHOWN_BYTES).collect(),
            )),
            text,
        };
        let mut refused = None;
        for (attribute, wanted) in header.attributes.iter().enumerate() {
            let Some((field, reader)) = wanted else { continue };
            match reader.read(cell(*field), &mut self.items[attribute]) {
                Cell::Code(code) => self.codes[attribute] = code,
                // A record that is left out may hold anything.
                Cell::Drop => return Ok(()),
                Cell::Refused(why) => {
                    refused.get_or_insert((*field, attribute, why));
                }
            }
        }
        if let Some((field, attribute, why)) = refused {
            return Err(blame(field, header.names[attribute], why));
        }
        let class = match &header.class {
            None => 0,
            Some((field, column, classes, names)) => {
                let written = cell(*field);
                let other = || other_form(written).and_then(|name| classes.get(name.as_bytes()));
                match classes.get(written).or_else(other) {
                    Some(class) => *class,
                    None => {
                        let known = names.iter().map(String::as_str);
                        return Err(blame(*field, column, unknown(written, known, "class")));
                    }
                }
            }
        };
        if let (Some((field, identifier)), Some(identifiers)) =
            (header.identifier, &mut self.identifiers)
        {
            let written = record.get(field).unwrap_or_default();
            match std::str::from_utf8(written)
                .map(|written| identifier.normalize.apply(written).into_owned())
            {
                Ok(name) if !name.is_empty() => identifiers.push(name),
                Ok(_) => {
                    let text = "is not an identifier: it is empty; give the record one".to_owned();
                    return Err(blame(field, &identifier.column, text));
                }
                Err(_) => {
                    let text = "is not UTF-8: save the file as UTF-8".to_owned();
                    return Err(blame(field, &identifier.column, text));
                }
            }
        }
        self.classes.push(class);
        for (attribute, column) in self.columns.iter_mut().enumerate() {
            match column {
                Some(Column::Categorical(codes)) => codes.push(self.codes[attribute] as u16),
                Some(Column::Numeric(points)) => points.push(self.codes[attribute]),
                Some(Column::Set(sets)) => sets.push(&self.items[attribute]),
                None => {}
            }
        }
        Ok(())
    }
}

impl<'a> CellReader<'a> {
    fn new(attribute: &'a Attribute) -> Self {
        match &attribute.domain {
            Domain::Categorical(taxonomy) | Domain::Set(taxonomy) => {
                let code = |place: usize| place as u16; // a taxonomy has at most 65,536 values
                let leaves: HashMap<&[u8], u16> = taxonomy
                    .leaves()
                    .iter()
                    .enumerate()
                    .map(|(place, leaf)| (taxonomy.name(*leaf).as_bytes(), code(place)))
                    .collect();
                let bad = match &attribute.on_bad_value {
                    OnBadValue::Drop => Bad::Drop,
                    OnBadValue::MapToLeaf(leaf) => {
                        Bad::Map(taxonomy.leaf_range(*leaf).start as u16)
                    }
                    _ => Bad::Refuse,
                };
                let set = matches!(attribute.domain, Domain::Set(_));
                Self::Values { taxonomy, leaves, set, bad }
            }
            Domain::Numeric(range) => {
                let bad = match &attribute.on_bad_value {
                    OnBadValue::Drop => Bad::Drop,
                    OnBadValue::MapToNumber(number) => {
                        range.locate(*number).map_or(Bad::Refuse, Bad::Map)
                    }
                    _ => Bad::Refuse,
                };
                let ends = (whole(range.min()), whole(range.max()), whole(range.step()));
                let whole = match ends {
                    (Some(min), Some(max), Some(step)) => Some((min, max, step)),
                    _ => None,
                };
                Self::Number { range, whole, bad }
            }
        }
    }

    fn read(&self, cell: &[u8], items: &mut Vec<u16>) -> Cell {
        match self {
            Self::Values { taxonomy, leaves, set: false, bad } => {
                match leaf(cell, taxonomy, leaves) {
                    Some(code) => Cell::Code(u32::from(code)),
                    None => bad.cell(u32::from, || unknown_leaf(cell, taxonomy)),
                }
            }
            Self::Values { taxonomy, leaves, set: true, bad } => {
                items.clear();
                for written in cell.split(|byte| *byte == b'|').map(<[u8]>::trim_ascii) {
                    match leaf(written, taxonomy, leaves) {
                        Some(code) => items.push(code),
                        None => {
                            items.clear();
                            if let Bad::Map(code) = bad {
                                items.push(*code);
                            }
                            return bad.cell(u32::from, || unknown_item(written, taxonomy));
                        }
                    }
                }
                items.sort_unstable();
                items.dedup();
                Cell::Code(0)
            }
            Self::Number { range, whole, bad } => {
                if let (Some((min, max, step)), Some(number)) = (whole, plain_integer(cell)) {
                    if (*min..=*max).contains(&number) {
                        // Both ends have at most 18 digits, so nothing overflows.
                        return Cell::Code(((number - min) / step) as u32);
                    }
                } else if let Some(point) = std::str::from_utf8(cell)
                    .ok()
                    .and_then(|text| Decimal::parse(text).ok())
                    .and_then(|number| range.locate(number))
                {
                    return Cell::Code(point);
                }
                bad.cell(|point| point, || out_of_range(cell, range))
            }
        }
    }
}

impl<T: Copy> Bad<T> {
    fn cell(&self, code: impl Fn(T) -> u32, why: impl FnOnce() -> String) -> Cell {
        match self {
            Self::Refuse => Cell::Refused(format!(
                "{}, or agree on an `on_bad_value` for this attribute",
                why()
            )),
            Self::Drop => Cell::Drop,
            Self::Map(value) => Cell::Code(code(*value)),
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

fn unknown_leaf(cell: &[u8], taxonomy: &Taxonomy) -> String {
    if std::str::from_utf8(cell).ok().and_then(|text| taxonomy.find(text)).is_some() {
        return "is a general value, and records hold the most specific ones: give the value \
                itself"
            .to_owned();
    }
    let leaves = taxonomy.leaves().iter().map(|leaf| taxonomy.name(*leaf));
    unknown(cell, leaves, "value of the taxonomy")
}

fn unknown_item(item: &[u8], taxonomy: &Taxonomy) -> String {
    let shown = text::shown(&String::from_utf8_lossy(item));
    match item {
        [] => "holds no item, or an empty one: write items like `a|b`".to_owned(),
        _ => format!("holds `{shown}`, which {}", unknown_leaf(item, taxonomy)),
    }
}

fn unknown<'n>(cell: &[u8], known: impl IntoIterator<Item = &'n str>, what: &str) -> String {
    if cell.is_empty() {
        return format!("is empty, which is not a {what}: complete the record");
    }
    match std::str::from_utf8(cell) {
        Err(_) => "is not UTF-8: save the file as UTF-8".to_owned(),
        Ok(written) => match nearest(written, known) {
            Some(meant) => format!("is not a {what}: did you mean `{meant}`? Correct the file"),
            None => format!("is not a {what}: correct the file"),
        },
    }
}

fn out_of_range(cell: &[u8], range: &NumericDomain) -> String {
    let number = std::str::from_utf8(cell).ok().and_then(|text| Decimal::parse(text).ok());
    let (min, max) = (range.min(), range.max());
    match number {
        None => format!(
            "is not a number: write digits with an optional sign and decimal point, from {min} to \
             {max}"
        ),
        Some(number) => {
            let end = if number < min { min } else { max };
            format!(
                "is outside {min} to {max}; the nearest value allowed is {end}: correct the file"
            )
        }
    }
}
