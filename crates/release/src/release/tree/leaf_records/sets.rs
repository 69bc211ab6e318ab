//! Set attributes: a leaf is divided into one sub-partition per set of children (thesis 6.3.2).
//!
//! Every record lies in exactly one, so the noisy sizes of all of them cost one spend. Those whose
//! noisy size is too small are dropped with their records; empty ones may be kept. All sizes are
//! given, zeros included: noise on each is the law that the thesis' test-and-generate method has,
//! and the plan has bounded how many there can be.

use super::super::utility::largest;
use super::{Leaf, LeafId, LeafRecords, Parts, Replaced};
use crate::Error;
use crate::table::{CutValue, Domain, Specialization};
use std::collections::{BTreeMap, HashMap};

impl LeafRecords<'_> {
    /// The sub-partitions of a set attribute's value: for every leaf that holds it (in the order of
    /// the release) and every non-empty subset of the children (as a mask, ascending), the size.
    ///
    /// # Errors
    /// If the party does not hold the attribute.
    pub fn sub_partitions(&mut self, made: &Specialization) -> Result<SubPartitions, Error> {
        let (old, parts) = self.divide(made)?;
        let Domain::Set(taxonomy) = &self.schema.attributes[made.candidate.attribute].domain else {
            return Err(Error::fault("sub-partitions of an attribute that is not a set"));
        };
        let CutValue::Value(value) = made.candidate.value else {
            return Err(Error::fault("an interval of a set attribute"));
        };
        let children = taxonomy.children(value).count() as u32;
        // The plan has refused taxonomies whose subsets would be too many.
        let masks = 1u64.checked_shl(children).unwrap_or(u64::MAX) - 1;
        let mut order: Vec<usize> = (0..old.len()).collect();
        order.sort_by_cached_key(|place| self.position(old[*place]));
        let mut found: Vec<(LeafId, Parts)> = Vec::with_capacity(old.len());
        let mut parts: Vec<Option<Parts>> = parts.into_iter().map(Some).collect();
        for place in order {
            if let Some(parts) = parts[place].take() {
                found.push((old[place], parts));
            }
        }
        let mut sizes = Vec::new();
        for (_, parts) in &found {
            let before = sizes.len();
            sizes.resize(before + masks as usize, 0u64);
            let mut start = 0;
            for (mask, end, _) in &parts.children {
                sizes[before + *mask as usize - 1] = (end - start) as u64;
                start = *end;
            }
        }
        Ok(SubPartitions { found, masks, sizes })
    }

    /// Keeps the sub-partitions for which `keep` says so and drops the others with their records.
    ///
    /// # Errors
    /// [`Error::fault`] if `keep` does not fit.
    pub fn keep(
        &mut self,
        made: &Specialization,
        children: &[CutValue],
        parts: SubPartitions,
        keep: &[bool],
    ) -> Result<Replaced, Error> {
        if keep.len() != parts.sizes.len() {
            return Err(Error::fault("a test of sub-partitions that does not fit them"));
        }
        let (attribute, key) = (made.candidate.attribute, made.candidate.value.key());
        self.links[attribute].remove(&key);
        let (mut old, mut new, mut old_largest) = (Vec::new(), Vec::new(), 0);
        for ((leaf, found), keep) in parts.found.into_iter().zip(keep.chunks(parts.masks as usize))
        {
            let parent = self.retire(leaf);
            old.push(leaf);
            old_largest += u64::from(largest(&parent.counts));
            let others: Vec<u32> = self.sets.keys(parent.coordinates[attribute]).to_vec();
            let mut start = 0;
            let mut with_records: BTreeMap<u64, (usize, usize, Vec<u32>)> = BTreeMap::new();
            for (mask, end, counts) in found.children {
                with_records.insert(mask, (start, end, counts));
                start = end;
            }
            for (index, _) in keep.iter().enumerate().filter(|(_, keep)| **keep) {
                let mask = index as u64 + 1;
                let mut keys: Vec<u32> = others.iter().copied().filter(|k| *k != key).collect();
                keys.extend(
                    (0..children.len()).filter(|c| mask >> c & 1 == 1).map(|c| children[c].key()),
                );
                keys.sort_unstable();
                let mut coordinates = parent.coordinates.clone();
                coordinates[attribute] = self.sets.number(keys);
                let (start, end, counts) =
                    with_records.remove(&mask).unwrap_or_else(|| (0, 0, vec![0; self.classes]));
                let (start, end) = (parent.start + start, parent.start + end);
                new.push(self.add(Leaf { coordinates, start, end, counts, alive: true }));
            }
        }
        Ok(Replaced { old, new, old_largest })
    }
}

/// Sub-partitions before it is known which are kept. Private.
pub struct SubPartitions {
    found: Vec<(LeafId, Parts)>,
    masks: u64,
    sizes: Vec<u64>,
}

impl SubPartitions {
    /// The size of each: sets of records that are disjoint. Empty ones are among them.
    pub fn sizes(&self) -> &[u64] {
        &self.sizes
    }
}

/// Sets of keys, each with a number.
#[derive(Default)]
pub(super) struct Sets {
    pub(super) all: Vec<Vec<u32>>,
    numbers: HashMap<Vec<u32>, u32>,
}

impl Sets {
    pub(super) fn number(&mut self, keys: Vec<u32>) -> u32 {
        if let Some(number) = self.numbers.get(&keys) {
            return *number;
        }
        let number = self.all.len() as u32;
        self.all.push(keys.clone());
        self.numbers.insert(keys, number);
        number
    }

    pub(super) fn keys(&self, number: u32) -> &[u32] {
        &self.all[number as usize]
    }
}
