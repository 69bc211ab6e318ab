//! How far a release's tables are from those of the records it was made from, at the granularity of the
//! data.
//!
//! At the granularity of the release a column that was not divided agrees always: one value holds
//! everybody. Here every column is compared on a fixed public binning instead: the points of a number or
//! the leaves of a taxonomy, in their order, in at most [`MOST_GROUPS`] groups of equally many (to within
//! one); the class as it is. The release stands for rows that are uniform over the points or leaves of each of
//! its values; what is compared is their expectation, computed exactly and not drawn. (Concrete rows differ
//! from it in numbers with `edges`, where they are uniform over the numbers, and are never missing where a
//! value has others.)
//!
//! All tables of one, two and three columns are compared by total variation: half the sum of the absolute
//! differences of frequencies, 0 if all agree and 1 if nothing is in both. Above [`MOST_TABLES`] tables of a
//! kind, so many of them are compared, evenly spaced in the order of the columns: which ones follows from
//! the number of columns alone. Columns of sets are left out: a cell of theirs is not one value.
//!
//! Costs (rows + records) · tables, and per table at most about 100³ steps.

use std::ops::Range;

use crate::release::judge::tree::Rows;
use crate::table::{Column, CutValue, Cuts, Domain, Table};

/// Most groups of a column's values.
pub const MOST_GROUPS: u32 = 32;
/// Most tables of each kind that are compared.
pub const MOST_TABLES: usize = 500;

/// Distances at the granularity of the data.
#[derive(Clone, Debug, PartialEq)]
pub struct FineDistances {
    /// Of each attribute that is not a set, by its place in the schema.
    pub attributes: Vec<(usize, f64)>,
    /// Means over the tables of one, two and three columns.
    pub means: [Mean; 3],
}

/// A mean over tables.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mean {
    /// The mean distance; nothing if there are too few columns for such a table.
    pub distance: Option<f64>,
    /// Tables that were compared.
    pub compared: usize,
    /// Tables that there are.
    pub all: usize,
}

/// Compares a release, whose attributes are numbered by their places on the cuts, with records. Nothing if
/// the table lacks a column.
pub fn fine_distances(cuts: &Cuts, release: &Rows, records: &Table) -> Option<FineDistances> {
    let schema = cuts.schema();
    let sets = |place: &usize| matches!(schema.attributes[*place].domain, Domain::Set(_));
    let places: Vec<usize> = (0..schema.attributes.len()).filter(|place| !sets(place)).collect();
    let mut columns: Vec<Binned> = places
        .iter()
        .map(|place| Binned::attribute(cuts, *place, release, records))
        .collect::<Option<_>>()?;
    columns.push(Binned::class(schema.class.values.len(), release, records));
    let total: f64 = release.weights.iter().sum();
    let both = Both { weights: &release.weights, total, records: records.len() };
    let attributes =
        places.iter().zip(&columns).map(|(place, column)| (*place, both.distance(&[column])));
    let attributes = attributes.collect();
    let means = [1, 2, 3].map(|ways| {
        let all = combinations(columns.len(), ways);
        let chosen = chosen(columns.len(), ways, MOST_TABLES);
        let distances = chosen.iter().map(|table| {
            let table: Vec<&Binned> = table.iter().map(|place| &columns[*place]).collect();
            both.distance(&table)
        });
        let sum: f64 = distances.sum();
        let compared = chosen.len();
        Mean { distance: (compared > 0).then(|| sum / compared as f64), compared, all }
    });
    Some(FineDistances { attributes, means })
}

/// A column of both sides, in groups.
struct Binned {
    groups: usize,
    /// Parts of groups that a value of the release can be: the first are whole groups.
    parts: Vec<Vec<(usize, f64)>>,
    /// Of each row of the release.
    part_of_row: Vec<u32>,
    /// Of each record.
    group_of_record: Vec<u32>,
}

impl Binned {
    fn attribute(cuts: &Cuts, place: usize, release: &Rows, records: &Table) -> Option<Self> {
        let binning = Binning::of(&cuts.schema().attributes[place].domain);
        let mut parts: Vec<Vec<(usize, f64)>> =
            (0..binning.groups as usize).map(|group| vec![(group, 1.0)]).collect();
        let mut part_of_value = Vec::new();
        for value in cuts.of(place) {
            let units = units(&cuts.schema().attributes[place].domain, *value)?;
            let spread = binning.spread(units);
            // What lies in one group is as good as the whole group: so there are few parts.
            part_of_value.push(match spread[..] {
                [(group, _)] => group as u32,
                _ => {
                    parts.push(spread);
                    parts.len() as u32 - 1
                }
            });
        }
        let codes = release.columns.get(place)?.iter();
        let part_of_row =
            codes.map(|code| part_of_value.get(*code as usize).copied()).collect::<Option<_>>()?;
        let group_of_record = match records.column(place)? {
            Column::Categorical(leaves) => {
                leaves.iter().map(|leaf| binning.group(u32::from(*leaf))).collect()
            }
            Column::Numeric(points) => points.iter().map(|point| binning.group(*point)).collect(),
            _ => return None,
        };
        Some(Self { groups: binning.groups as usize, parts, part_of_row, group_of_record })
    }

    fn class(groups: usize, release: &Rows, records: &Table) -> Self {
        let codes = |classes: &[u8]| classes.iter().map(|class| u32::from(*class)).collect();
        Self {
            groups,
            parts: (0..groups).map(|group| vec![(group, 1.0)]).collect(),
            part_of_row: codes(&release.classes),
            group_of_record: codes(records.classes()),
        }
    }
}

/// The values that stand for a value of a release: leaves or points, by number.
fn units(domain: &Domain, value: CutValue) -> Option<Range<u32>> {
    match (domain, value) {
        (Domain::Categorical(taxonomy), CutValue::Value(value)) => Some(taxonomy.leaf_range(value)),
        (Domain::Numeric(_), CutValue::Interval { start, end }) => Some(start..end),
        _ => None,
    }
}

/// Leaves or points, in their order, in groups.
#[derive(Clone, Copy, Debug)]
struct Binning {
    units: u32,
    groups: u32,
}

impl Binning {
    fn of(domain: &Domain) -> Self {
        let units = match domain {
            Domain::Numeric(range) => range.points(),
            Domain::Categorical(taxonomy) | Domain::Set(taxonomy) => {
                u32::try_from(taxonomy.leaves().len()).unwrap_or(u32::MAX)
            }
        };
        Self { units, groups: units.clamp(1, MOST_GROUPS) }
    }

    fn group(self, unit: u32) -> u32 {
        let group = u64::from(unit) * u64::from(self.groups) / u64::from(self.units.max(1));
        (group as u32).min(self.groups - 1)
    }

    /// The first unit of a group.
    fn start(self, group: u32) -> u32 {
        let start = u64::from(group) * u64::from(self.units);
        start.div_ceil(u64::from(self.groups)) as u32
    }

    /// How units that are equally likely are spread over groups.
    fn spread(self, units: Range<u32>) -> Vec<(usize, f64)> {
        let last = self.group(units.end.saturating_sub(1));
        let part = |group: u32| {
            let from = units.start.max(self.start(group));
            let to = units.end.min(self.start(group + 1));
            f64::from(to.saturating_sub(from)) / f64::from(units.end - units.start)
        };
        (self.group(units.start)..=last).map(|group| (group as usize, part(group))).collect()
    }
}

/// Rows of a release and records.
struct Both<'r> {
    weights: &'r [f64],
    total: f64,
    records: usize,
}

impl Both<'_> {
    /// The total variation distance of the frequencies of some columns.
    fn distance(&self, columns: &[&Binned]) -> f64 {
        // Frequencies of nothing are 0, as far from any others as can be.
        match (self.total > 0.0, self.records > 0) {
            (false, false) => return 0.0,
            (true, true) => {}
            _ => return 1.0,
        }
        let mut cells = vec![0.0; columns.iter().map(|column| column.parts.len()).product()];
        for (row, weight) in self.weights.iter().enumerate() {
            let place = columns.iter().fold(0, |place, column| {
                place * column.parts.len() + column.part_of_row[row] as usize
            });
            cells[place] += weight / self.total;
        }
        // From the first column to the last: parts become groups.
        let mut before = 1;
        for column in columns {
            cells = in_groups(&cells, before, column);
            before *= column.groups;
        }
        let each = 1.0 / self.records as f64;
        for record in 0..self.records {
            let place = columns.iter().fold(0, |place, column| {
                place * column.groups + column.group_of_record[record] as usize
            });
            cells[place] -= each;
        }
        cells.iter().map(|difference| difference.abs()).sum::<f64>() / 2.0
    }
}

/// Spreads the parts of one column over its groups; `before` is how many cells the columns before it have.
fn in_groups(cells: &[f64], before: usize, column: &Binned) -> Vec<f64> {
    let after = cells.len() / (before * column.parts.len()).max(1);
    let mut spread = vec![0.0; before * column.groups * after];
    for one in 0..before {
        for (part, groups) in column.parts.iter().enumerate() {
            let from = &cells[(one * column.parts.len() + part) * after..][..after];
            if from.iter().all(|cell| *cell == 0.0) {
                continue;
            }
            for (group, share) in groups {
                let to = &mut spread[(one * column.groups + group) * after..][..after];
                to.iter_mut().zip(from).for_each(|(to, from)| *to += share * from);
            }
        }
    }
    spread
}

/// How many tables of so many columns there are.
fn combinations(columns: usize, ways: usize) -> usize {
    (0..ways).fold(1, |all, way| all * columns.saturating_sub(way) / (way + 1))
}

/// The tables that are compared, in the order of their columns: all, or `most` evenly spaced ones.
fn chosen(columns: usize, ways: usize, most: usize) -> Vec<Vec<usize>> {
    let all = combinations(columns, ways);
    let compared = all.min(most);
    (0..compared).map(|index| table(index * all / compared, columns, ways)).collect()
}

/// The table with this number in the order of the columns.
fn table(mut number: usize, columns: usize, ways: usize) -> Vec<usize> {
    let (mut places, mut next) = (Vec::new(), 0);
    for left in (0..ways).rev() {
        loop {
            let with_next = combinations(columns - next - 1, left);
            next += 1;
            if number < with_next {
                break;
            }
            number -= with_next;
        }
        places.push(next - 1);
    }
    places
}

#[cfg(test)]
mod tests;
