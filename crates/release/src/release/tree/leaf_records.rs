//! The records of a party, grouped by the leaf they lie in (thesis 6.3.3).
//!
//! Every value on a cut has a link to the leaves that hold it, so specializing a value touches the
//! records of these leaves and no others; their class counts are collected in the same scan. Only
//! leaves with records are kept, since the empty ones follow from the cuts. Where there is a set
//! attribute they do not (a sub-partition is kept or dropped leaf by leaf), so there all are listed.

mod children;
mod sets;

use super::utility::largest;
use std::sync::Arc;

use crate::Error;
use crate::release::tree;
use crate::role::Role;
use crate::table::{Column, CutValue, Cuts, Domain, Schema, Specialization, Table};
pub use children::ChildOf;
use rayon::prelude::*;
use sets::Sets;
pub use sets::SubPartitions;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

/// The leaves of a release, in its order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Leaves {
    /// Every combination of the cuts' values, the last attribute fastest.
    CrossProduct,
    /// These, in lexicographic order.
    Listed(LeafList),
    /// Paths, which no cut divides, each with its class.
    Paths(PathList),
}

/// Paths in their order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PathList {
    /// How each pair of place and time is written.
    pub names: Vec<String>,
    /// The pairs of all paths.
    pub items: Vec<u32>,
    /// Where each path ends.
    pub ends: Vec<usize>,
    /// The place of each path's class.
    pub classes: Vec<usize>,
}

/// Leaves that are not simply all combinations. A coordinate is the key of a value on a cut, or for
/// a set attribute the number of a set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeafList {
    /// Of each leaf, one per attribute.
    pub coordinates: Vec<Vec<u32>>,
    /// Each set, as the keys of its values in ascending order.
    pub sets: Vec<Vec<u32>>,
}

/// Places in the list of leaves.
pub type LeafId = u32;

/// Records that agree on all generalized values.
#[derive(Clone, Debug)]
struct Leaf {
    coordinates: Vec<u32>,
    start: usize,
    end: usize,
    counts: Vec<u32>,
    alive: bool,
}

/// A leaf's records by child, and how large the children are.
struct Parts {
    /// Child number or set mask; end within the leaf; class counts.
    children: Vec<(u64, usize, Vec<u32>)>,
}

/// The records of one party, grouped by leaf. Private, like the table.
pub struct LeafRecords<'t> {
    schema: Arc<Schema>,
    table: Cow<'t, Table>,
    attributes: Vec<usize>,
    classes: usize,
    records: Vec<u32>,
    leaves: Vec<Leaf>,
    /// Per attribute: from the key of a value to the leaves that hold it.
    links: Vec<HashMap<u32, Vec<LeafId>>>,
    sets: Sets,
    lists_empty: bool,
}

impl<'t> LeafRecords<'t> {
    /// All records in one leaf. The attributes are those whose columns the table holds.
    ///
    /// # Errors
    /// If a column is not of the kind that the schema says.
    pub fn new(schema: &Arc<Schema>, table: &'t Table) -> Result<Self, Error> {
        Self::of_owner(schema, table, None)
    }

    /// The same with a table of its own.
    ///
    /// # Errors
    /// As [`LeafRecords::new`].
    pub fn owning(schema: &Arc<Schema>, table: Table) -> Result<LeafRecords<'static>, Error> {
        LeafRecords::of_columns(schema, Cow::Owned(table), None)
    }

    /// The same with the columns of one owner alone, if one is given.
    ///
    /// # Errors
    /// As [`LeafRecords::new`].
    pub fn of_owner(
        schema: &Arc<Schema>,
        table: &'t Table,
        owner: Option<Role>,
    ) -> Result<Self, Error> {
        Self::of_columns(schema, Cow::Borrowed(table), owner)
    }

    fn of_columns(
        schema: &Arc<Schema>,
        table: Cow<'t, Table>,
        owner: Option<Role>,
    ) -> Result<Self, Error> {
        let mut attributes = Vec::new();
        for (index, attribute) in schema.attributes.iter().enumerate() {
            if owner.is_some() && attribute.owner != owner {
                continue;
            }
            match (&attribute.domain, table.column(index)) {
                (_, None) => {}
                (Domain::Categorical(_), Some(Column::Categorical(_)))
                | (Domain::Numeric(_), Some(Column::Numeric(_)))
                | (Domain::Set(_), Some(Column::Set(_))) => attributes.push(index),
                _ => return Err(tree::missing_column(&attribute.name)),
            }
        }
        let records = u32::try_from(table.len()).map_err(|_| Error::fault("too many records"))?;
        let lists_empty =
            attributes.iter().any(|a| matches!(schema.attributes[*a].domain, Domain::Set(_)));
        let mut leaf_records = Self {
            schema: schema.clone(),
            table,
            attributes,
            classes: schema.class.values.len(),
            records: (0..records).collect(),
            leaves: Vec::new(),
            links: vec![HashMap::new(); schema.attributes.len()],
            sets: Sets::default(),
            lists_empty,
        };
        let top = Cuts::topmost(schema);
        let coordinate =
            |(index, attribute): (usize, &crate::table::Attribute)| match attribute.domain {
                Domain::Set(_) => leaf_records.sets.number(vec![top.of(index)[0].key()]),
                _ => top.of(index)[0].key(),
            };
        let coordinates = schema.attributes.iter().enumerate().map(coordinate).collect();
        let counts = leaf_records.class_counts(&leaf_records.records);
        if records > 0 || lists_empty {
            let end = leaf_records.records.len();
            leaf_records.add(Leaf { coordinates, start: 0, end, counts, alive: true });
        }
        Ok(leaf_records)
    }

    /// The attributes that the party holds.
    pub fn attributes(&self) -> &[usize] {
        &self.attributes
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.classes
    }

    /// The class of every record.
    pub fn class_codes(&self) -> &[u8] {
        self.table.classes()
    }

    /// The table's column.
    pub fn column(&self, attribute: usize) -> Option<&Column> {
        self.table.column(attribute)
    }

    /// The leaves that hold a value, in no particular order.
    pub fn link(&self, attribute: usize, value: CutValue) -> Vec<LeafId> {
        let linked = self.links[attribute].get(&value.key());
        linked.into_iter().flatten().copied().filter(|leaf| self.leaf(*leaf).alive).collect()
    }

    /// All leaves that have records, and where they are listed the empty ones too.
    pub fn leaf_ids(&self) -> impl Iterator<Item = LeafId> + '_ {
        (0..self.leaves.len() as LeafId).filter(|leaf| self.leaf(*leaf).alive)
    }

    /// The records of a leaf.
    pub fn records(&self, leaf: LeafId) -> &[u32] {
        let leaf = self.leaf(leaf);
        &self.records[leaf.start..leaf.end]
    }

    /// How many records of each class a leaf has.
    pub fn counts(&self, leaf: LeafId) -> &[u32] {
        &self.leaf(leaf).counts
    }

    /// The values on an attribute's cut that a leaf holds: one, or those of a set.
    pub fn keys(&self, leaf: LeafId, attribute: usize) -> &[u32] {
        let coordinate = &self.leaf(leaf).coordinates[attribute];
        match self.schema.attributes[attribute].domain {
            Domain::Set(_) => self.sets.keys(*coordinate),
            _ => std::slice::from_ref(coordinate),
        }
    }

    /// A leaf's coordinates: the key of its value of every attribute.
    pub fn coordinates(&self, leaf: LeafId) -> Vec<u32> {
        self.leaf(leaf).coordinates.clone()
    }

    /// In which child of a value each record lies.
    ///
    /// # Errors
    /// If the party does not hold the attribute.
    pub fn child_of(&self, made: &Specialization) -> Result<ChildOf<'_>, Error> {
        ChildOf::new(&self.schema, &self.table, made)
    }

    /// Moves the records of a value into its children. Returns the leaves that were replaced and
    /// those that came in their place.
    ///
    /// # Errors
    /// If the party does not hold the attribute, [`Error::fault`] for a
    /// set attribute, which needs [`LeafRecords::sub_partitions`].
    pub fn specialize(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
    ) -> Result<Replaced, Error> {
        let attribute = made.candidate.attribute;
        let (old, parts) = self.divide(made)?;
        self.links[attribute].remove(&made.candidate.value.key());
        let (mut new, mut old_largest) = (Vec::new(), 0);
        for (leaf, parts) in old.iter().zip(parts) {
            let mut sizes: BTreeMap<u64, (usize, usize, Vec<u32>)> = BTreeMap::new();
            let mut start = 0;
            for (child, end, counts) in parts.children {
                sizes.insert(child, (start, end, counts));
                start = end;
            }
            let parent = self.retire(*leaf);
            old_largest += u64::from(largest(&parent.counts));
            for (number, value) in children.iter().enumerate() {
                let found = sizes.remove(&(number as u64));
                if found.is_none() && !self.lists_empty {
                    continue;
                }
                let (start, end, counts) = found.unwrap_or_else(|| (0, 0, vec![0; self.classes]));
                let mut coordinates = parent.coordinates.clone();
                coordinates[attribute] = value.key();
                let (start, end) = (parent.start + start, parent.start + end);
                new.push(self.add(Leaf { coordinates, start, end, counts, alive: true }));
            }
        }
        Ok(Replaced { old, new, old_largest })
    }

    /// The leaves of the release, in its order.
    pub fn release_leaves(&self) -> Leaves {
        if !self.lists_empty {
            return Leaves::CrossProduct;
        }
        let mut order: Vec<LeafId> = self.leaf_ids().collect();
        order.sort_by_cached_key(|leaf| self.position(*leaf));
        let coordinates = order.iter().map(|leaf| self.leaf(*leaf).coordinates.clone()).collect();
        Leaves::Listed(LeafList { coordinates, sets: self.sets.all.clone() })
    }

    /// The true count of each leaf and class, classes fastest, in the order of the release. Over
    /// the cross product of the cuts of the attributes that the party holds.
    pub fn leaf_counts(&self, cuts: &Cuts) -> Vec<u64> {
        if self.lists_empty {
            let mut order: Vec<LeafId> = self.leaf_ids().collect();
            order.sort_by_cached_key(|leaf| self.position(*leaf));
            return order
                .iter()
                .flat_map(|leaf| self.counts(*leaf).iter().map(|count| u64::from(*count)))
                .collect();
        }
        let leaves: usize = self.attributes.iter().map(|a| cuts.of(*a).len()).product();
        let mut counts = vec![0; leaves * self.classes];
        for leaf in self.leaf_ids() {
            let first = self.index(leaf, cuts) * self.classes;
            for (cell, count) in counts[first..].iter_mut().zip(self.counts(leaf)) {
                *cell = u64::from(*count);
            }
        }
        counts
    }

    /// The leaf of every record, as a place in the cross product of the cuts of the attributes
    /// that the party holds, the last attribute fastest.
    pub fn leaf_of_records(&self, cuts: &Cuts) -> Vec<u32> {
        let mut places = vec![0; self.table.len()];
        for leaf in self.leaf_ids() {
            let place = self.index(leaf, cuts) as u32;
            self.records(leaf).iter().for_each(|record| places[*record as usize] = place);
        }
        places
    }

    fn index(&self, leaf: LeafId, cuts: &Cuts) -> usize {
        let coordinates = &self.leaf(leaf).coordinates;
        self.attributes.iter().fold(0, |index, attribute| {
            let cut = cuts.of(*attribute);
            let key = coordinates[*attribute];
            let place = cut.partition_point(|value| value.key() < key);
            index * cut.len() + place
        })
    }

    /// What leaves are ordered by: their values' order, set by set.
    fn position(&self, leaf: LeafId) -> Vec<Vec<u32>> {
        self.attributes.iter().map(|attribute| self.keys(leaf, *attribute).to_vec()).collect()
    }

    /// Groups the records of every linked leaf by child, in place.
    fn divide(&mut self, made: &Specialization) -> Result<(Vec<LeafId>, Vec<Parts>), Error> {
        let child_of = ChildOf::new(&self.schema, &self.table, made)?;
        let mut old = self.link(made.candidate.attribute, made.candidate.value);
        old.sort_by_key(|leaf| (self.leaf(*leaf).start, self.leaf(*leaf).end));
        let (classes, codes) = (self.classes, self.table.classes());
        let mut slices = Vec::with_capacity(old.len());
        let (mut rest, mut taken) = (self.records.as_mut_slice(), 0);
        for leaf in &old {
            let leaf = &self.leaves[*leaf as usize];
            if leaf.start == leaf.end {
                slices.push(&mut [][..]);
                continue;
            }
            let (_, tail) = rest.split_at_mut(leaf.start - taken);
            let (slice, tail) = tail.split_at_mut(leaf.end - leaf.start);
            slices.push(slice);
            (rest, taken) = (tail, leaf.end);
        }
        let parts = slices
            .into_par_iter()
            .map(|slice| children::divide(slice, &child_of, codes, classes))
            .collect();
        Ok((old, parts))
    }

    fn leaf(&self, leaf: LeafId) -> &Leaf {
        &self.leaves[leaf as usize]
    }

    fn retire(&mut self, leaf: LeafId) -> Leaf {
        let leaf = &mut self.leaves[leaf as usize];
        leaf.alive = false;
        let coordinates = std::mem::take(&mut leaf.coordinates);
        let counts = std::mem::take(&mut leaf.counts);
        Leaf { coordinates, counts, ..*leaf }
    }

    fn add(&mut self, leaf: Leaf) -> LeafId {
        let id = self.leaves.len() as LeafId;
        for attribute in &self.attributes {
            let coordinate = leaf.coordinates[*attribute];
            let links = &mut self.links[*attribute];
            match self.schema.attributes[*attribute].domain {
                Domain::Set(_) => {
                    for key in self.sets.keys(coordinate) {
                        links.entry(*key).or_default().push(id);
                    }
                }
                _ => links.entry(coordinate).or_default().push(id),
            }
        }
        self.leaves.push(leaf);
        id
    }

    fn class_counts(&self, records: &[u32]) -> Vec<u32> {
        let mut counts = vec![0; self.classes];
        let codes = self.table.classes();
        records.iter().for_each(|record| counts[usize::from(codes[*record as usize])] += 1);
        counts
    }
}

/// What a specialization did to the leaves.
#[derive(Clone, Debug, Default)]
pub struct Replaced {
    /// Leaves that are no more.
    pub old: Vec<LeafId>,
    /// Leaves in their place.
    pub new: Vec<LeafId>,
    /// Σ over the old leaves of the largest class count.
    pub old_largest: u64,
}
