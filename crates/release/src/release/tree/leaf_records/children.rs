//! In which child of a value a record lies, and moving records there.

use super::Parts;
use crate::Error;
use crate::release::tree;
use crate::table::{Column, CutValue, Domain, Schema, SetColumn, Specialization, Table};
use rayon::prelude::*;
use std::collections::BTreeMap;

/// Leaves with more records than this are divided by several threads.
const LARGE_LEAF: usize = 1 << 16;

/// For one value that is specialized: which child each record goes to.
pub enum ChildOf<'t> {
    /// By the code of a leaf of the taxonomy.
    Categorical {
        /// The column.
        codes: &'t [u16],
        /// From a leaf's code, less `first`, to the child above it.
        child: Vec<u16>,
        /// The code of the first leaf below the value.
        first: u16,
        /// How many children there are.
        children: usize,
    },
    /// Left of the split (0) or not (1).
    Numeric {
        /// The column.
        points: &'t [u32],
        /// The first point of the right child.
        split: u32,
    },
    /// The set of children above the record's items, as a mask.
    Set {
        /// The column.
        sets: &'t SetColumn,
        /// From a leaf's code, less `first`, to the child above it.
        child: Vec<u16>,
        /// The code of the first leaf below the value.
        first: u16,
    },
}

impl<'t> ChildOf<'t> {
    pub(super) fn new(
        schema: &Schema,
        table: &'t Table,
        made: &Specialization,
    ) -> Result<Self, Error> {
        let attribute = &schema.attributes[made.candidate.attribute];
        let column = table.column(made.candidate.attribute);
        match (&attribute.domain, column, made.candidate.value, made.split) {
            (Domain::Numeric(_), Some(Column::Numeric(points)), _, Some(split)) => {
                Ok(Self::Numeric { points, split })
            }
            (
                Domain::Categorical(taxonomy) | Domain::Set(taxonomy),
                Some(column),
                CutValue::Value(value),
                _,
            ) => {
                let mut child = Vec::with_capacity(taxonomy.leaf_range(value).len());
                let mut children = 0;
                for (number, below) in taxonomy.children(value).enumerate() {
                    child.resize(child.len() + taxonomy.leaf_range(below).len(), number as u16);
                    children = number + 1;
                }
                let first = taxonomy.leaf_range(value).start as u16;
                match column {
                    Column::Categorical(codes) => {
                        Ok(Self::Categorical { codes, child, first, children })
                    }
                    Column::Set(sets) => Ok(Self::Set { sets, child, first }),
                    Column::Numeric(_) => Err(tree::missing_column(&attribute.name)),
                }
            }
            _ => Err(tree::missing_column(&attribute.name)),
        }
    }

    /// The child's number, or for a set the mask of children.
    pub fn of(&self, record: u32) -> u64 {
        let record = record as usize;
        match self {
            Self::Categorical { codes, child, first, .. } => {
                u64::from(child[usize::from(codes[record] - first)])
            }
            Self::Numeric { points, split } => u64::from(points[record] >= *split),
            Self::Set { sets, child, first } => sets
                .items(record)
                .iter()
                .filter_map(|item| child.get(usize::from(item.checked_sub(*first)?)))
                .fold(0, |mask, number| mask | 1 << number),
        }
    }

    /// How many children there are; nothing for sets, whose sub-partitions are not numbered.
    pub fn children(&self) -> Option<usize> {
        match self {
            Self::Categorical { children, .. } => Some(*children),
            Self::Numeric { .. } => Some(2),
            Self::Set { .. } => None,
        }
    }

    /// The class counts of every child among some records: `classes` numbers per child. For sets
    /// only sub-partitions with records have numbers.
    pub fn tally(&self, records: &[u32], codes: &[u8], classes: usize) -> Vec<u32> {
        let Some(children) = self.children() else {
            return self.tally_sets(records, codes, classes).into_values().flatten().collect();
        };
        let mut counts = vec![0; children * classes];
        let mut add = |child: usize, record: u32| {
            counts[child * classes + usize::from(codes[record as usize])] += 1;
        };
        // One loop per kind, so that the kind is not asked for every record.
        match self {
            Self::Categorical { codes, child, first, .. } => {
                for record in records {
                    add(usize::from(child[usize::from(codes[*record as usize] - first)]), *record);
                }
            }
            Self::Numeric { points, split } => {
                for record in records {
                    add(usize::from(points[*record as usize] >= *split), *record);
                }
            }
            Self::Set { .. } => {}
        }
        counts
    }

    /// The same for sets, by mask.
    pub fn tally_sets(
        &self,
        records: &[u32],
        codes: &[u8],
        classes: usize,
    ) -> BTreeMap<u64, Vec<u32>> {
        let mut counts: BTreeMap<u64, Vec<u32>> = BTreeMap::new();
        for record in records {
            let child = counts.entry(self.of(*record)).or_insert_with(|| vec![0; classes]);
            child[usize::from(codes[*record as usize])] += 1;
        }
        counts
    }
}

/// Groups records by child, keeping their order, and counts classes in the same scan.
pub(super) fn divide(
    records: &mut [u32],
    child_of: &ChildOf<'_>,
    codes: &[u8],
    classes: usize,
) -> Parts {
    let group = |records: &[u32]| {
        let mut groups: BTreeMap<u64, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        let mut numbered: Vec<(Vec<u32>, Vec<u32>)> =
            vec![(Vec::new(), vec![0; classes]); child_of.children().unwrap_or(0)];
        for record in records {
            let child = child_of.of(*record);
            let group = if numbered.is_empty() {
                groups.entry(child).or_insert_with(|| (Vec::new(), vec![0; classes]))
            } else {
                &mut numbered[child as usize]
            };
            group.0.push(*record);
            group.1[usize::from(codes[*record as usize])] += 1;
        }
        groups.extend((0..).zip(numbered).filter(|(_, (records, _))| !records.is_empty()));
        groups
    };
    let chunks: Vec<_> = if records.len() > LARGE_LEAF {
        records.par_chunks(LARGE_LEAF / 2).map(group).collect()
    } else {
        vec![group(records)]
    };
    let mut whole: BTreeMap<u64, (Vec<Vec<u32>>, Vec<u32>)> = BTreeMap::new();
    for (child, (records, counts)) in chunks.into_iter().flatten() {
        let entry = whole.entry(child).or_insert_with(|| (Vec::new(), vec![0; classes]));
        entry.0.push(records);
        entry.1.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let mut end = 0;
    let mut children = Vec::with_capacity(whole.len());
    for (child, (parts, counts)) in whole {
        for part in parts {
            records[end..end + part.len()].copy_from_slice(&part);
            end += part.len();
        }
        children.push((child, end, counts));
    }
    Parts { children }
}
