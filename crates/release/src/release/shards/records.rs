//! Records as bytes, on the way between a party's own shards and its lead.
//!
//! The columns that the agreement gives the party, each as its codes: what they are follows from the
//! schema, so nothing but their number is written with them. Reading takes no more room than there are
//! bytes, and refuses every code that its domain does not have.

use crate::Error;
use crate::agreement::Agreement;
use crate::release::tree;
use crate::role::Role;
use crate::table::{Attribute, Column, Domain, Table};

const CUT_OFF: &str = "it ends early";

/// Bytes that are read from the front.
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    /// The next so many.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], &'static str> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(CUT_OFF)?;
        self.0 = rest;
        Ok(taken)
    }

    /// The next so many numbers of a width.
    pub(super) fn several<const WIDTH: usize>(
        &mut self,
        count: usize,
    ) -> Result<impl ExactSizeIterator<Item = [u8; WIDTH]> + use<'a, WIDTH>, &'static str> {
        let (numbers, _) = self.take(count.saturating_mul(WIDTH))?.as_chunks();
        Ok(numbers.iter().copied())
    }

    /// The next number.
    pub(super) fn number(&mut self) -> Result<u64, &'static str> {
        Ok(self.several(1)?.next().map_or(0, u64::from_le_bytes))
    }

    /// The next number, as a length.
    pub(super) fn length(&mut self) -> Result<usize, &'static str> {
        usize::try_from(self.number()?).map_err(|_| CUT_OFF)
    }

    /// Nothing is left.
    pub(super) fn end(&self) -> Result<(), &'static str> {
        if self.0.is_empty() { Ok(()) } else { Err("bytes are left over") }
    }
}

/// The attributes that the agreement gives a party, or both, with their places.
fn attributes(agreement: &Agreement, role: Role) -> impl Iterator<Item = (usize, &Attribute)> {
    let all = agreement.schema.attributes.iter().enumerate();
    all.filter(move |(_, attribute)| attribute.owner.is_none_or(|owner| owner == role))
}

/// The bytes of a party's records, with identifiers if they are `named`.
///
/// # Errors
/// If a column is missing.
pub fn write(
    agreement: &Agreement,
    role: Role,
    table: &Table,
    named: bool,
) -> Result<Vec<u8>, Error> {
    let mut bytes = (table.len() as u64).to_le_bytes().to_vec();
    for (index, attribute) in attributes(agreement, role) {
        match table.column(index) {
            Some(Column::Categorical(codes)) => {
                bytes.extend(codes.iter().flat_map(|code| code.to_le_bytes()));
            }
            Some(Column::Numeric(points)) => {
                bytes.extend(points.iter().flat_map(|point| point.to_le_bytes()));
            }
            _ => return Err(tree::missing_column(&attribute.name)),
        }
    }
    bytes.extend(table.classes());
    let names = if named { table.identifiers().unwrap_or_default() } else { &[] };
    for name in names {
        bytes.extend((name.len() as u64).to_le_bytes());
        bytes.extend(name.as_bytes());
    }
    Ok(bytes)
}

/// The records that [`write()`] wrote.
///
/// # Errors
/// What is wrong with the bytes.
pub fn read(
    agreement: &Agreement,
    role: Role,
    bytes: &[u8],
    named: bool,
) -> Result<Table, &'static str> {
    let mut bytes = Bytes(bytes);
    let records = bytes.length()?;
    let mut columns = vec![None; agreement.schema.attributes.len()];
    for (index, attribute) in attributes(agreement, role) {
        columns[index] = Some(column(&mut bytes, &attribute.domain, records)?);
    }
    let classes = bytes.take(records)?.to_vec();
    let known = agreement.schema.class.values.len();
    if classes.iter().any(|class| usize::from(*class) >= known) {
        return Err("a class is not one of the agreement's");
    }
    let mut names = Vec::new();
    while named && names.len() < records {
        let length = bytes.length()?;
        let name = std::str::from_utf8(bytes.take(length)?).map_err(|_| "a name is no text")?;
        names.push(name.to_owned());
    }
    bytes.end()?;
    Table::new(columns, classes, named.then_some(names)).ok_or("columns differ in length")
}

fn column(bytes: &mut Bytes<'_>, domain: &Domain, records: usize) -> Result<Column, &'static str> {
    const OUTSIDE: &str = "a value is not one of its attribute's";
    match domain {
        Domain::Categorical(taxonomy) => {
            let codes: Vec<u16> = bytes.several(records)?.map(u16::from_le_bytes).collect();
            let inside = codes.iter().all(|code| usize::from(*code) < taxonomy.leaves().len());
            if inside { Ok(Column::Categorical(codes)) } else { Err(OUTSIDE) }
        }
        Domain::Numeric(range) => {
            let points: Vec<u32> = bytes.several(records)?.map(u32::from_le_bytes).collect();
            let inside = points.iter().all(|point| u64::from(*point) < range.points() as u64);
            if inside { Ok(Column::Numeric(points)) } else { Err(OUTSIDE) }
        }
        Domain::Set(_) => Err("sets are not divided between two parties"),
    }
}
