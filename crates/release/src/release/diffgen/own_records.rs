//! What a horizontal release asks of a party's records: class counts, and nothing else.
//!
//! All of them add up over disjoint sets of records. So it does not matter to a release whether they lie in
//! one table ([`Held`]) or in shards that are asked ([`InShards`](crate::release::shards::InShards)).

use std::collections::HashMap;
use std::sync::Arc;

use rayon::prelude::*;

use super::shared_scores::{Coordinates, Pending};
use crate::Error;
use crate::release::tree;
use crate::release::tree::leaf_records::{LeafId, LeafRecords};
use crate::table::{Candidate, Column, CutValue, Cuts, Schema, Specialization, Table};

/// A party's records, as its own release sees them. In every list of counts classes are fastest.
pub trait OwnRecords {
    /// Class counts of all records.
    ///
    /// # Errors
    /// If they cannot be counted.
    fn all(&mut self) -> Result<Vec<u64>, Error>;

    /// Class counts of the children of each of these: in one leaf, or in all.
    ///
    /// # Errors
    /// If they cannot be counted.
    fn children(&mut self, of: &[Pending]) -> Result<Vec<Vec<u64>>, Error>;

    /// Class counts at every point of each of these intervals.
    ///
    /// # Errors
    /// If they cannot be counted.
    fn points(&mut self, of: &[Candidate]) -> Result<Vec<Vec<u64>>, Error>;

    /// Moves the records of a value into its children.
    ///
    /// # Errors
    /// If it is not on its cut.
    fn specialize(&mut self, made: &Specialization) -> Result<(), Error>;

    /// Class counts of every leaf, in the order of the release.
    ///
    /// # Errors
    /// If they cannot be counted.
    fn leaves(&mut self) -> Result<Vec<u64>, Error>;
}

/// Records in a table here.
pub struct Held<'t> {
    leaf_records: LeafRecords<'t>,
    cuts: Cuts,
}

impl<'t> Held<'t> {
    /// All of a table's in one leaf.
    ///
    /// # Errors
    /// If a column is missing.
    pub fn of(schema: &Arc<Schema>, table: &'t Table) -> Result<Self, Error> {
        Self::complete(schema, LeafRecords::new(schema, table)?)
    }

    /// The same with a table of its own.
    ///
    /// # Errors
    /// If a column is missing.
    pub fn owning(schema: &Arc<Schema>, table: Table) -> Result<Held<'static>, Error> {
        Held::complete(schema, LeafRecords::owning(schema, table)?)
    }

    fn complete(schema: &Arc<Schema>, leaf_records: LeafRecords<'t>) -> Result<Self, Error> {
        let held = leaf_records.attributes();
        if let Some(missing) = (0..schema.attributes.len()).find(|index| !held.contains(index)) {
            let name = schema.attributes[missing].name.clone();
            return Err(tree::missing_column(&name));
        }
        Ok(Self { leaf_records, cuts: Cuts::topmost(schema) })
    }

    /// What they are generalized to.
    pub fn cuts(&self) -> &Cuts {
        &self.cuts
    }

    fn children_in(
        &self,
        made: &Specialization,
        leaves: impl IntoIterator<Item = LeafId>,
    ) -> Result<Vec<u64>, Error> {
        let records = &self.leaf_records;
        let (codes, classes) = (records.class_codes(), records.classes());
        let child_of = records.child_of(made)?;
        let children = child_of.children().ok_or_else(|| Error::fault("a set in two tables"))?;
        let mut counts = vec![0; children * classes];
        for leaf in leaves {
            let tally = child_of.tally(records.records(leaf), codes, classes);
            counts.iter_mut().zip(tally).for_each(|(sum, count)| *sum += u64::from(count));
        }
        Ok(counts)
    }

    fn points_of(&self, interval: &Candidate) -> Result<Vec<u64>, Error> {
        let Candidate { attribute, value } = *interval;
        let records = &self.leaf_records;
        let (CutValue::Interval { start, end }, Some(Column::Numeric(points))) =
            (value, records.column(attribute))
        else {
            return Err(Error::fault("a split of something that is not an interval"));
        };
        let (codes, classes) = (records.class_codes(), records.classes());
        let mut at = vec![0u64; (end - start) as usize * classes];
        for leaf in records.link(attribute, value) {
            for record in records.records(leaf) {
                let record = *record as usize;
                let place = (points[record] - start) as usize * classes;
                at[place + usize::from(codes[record])] += 1;
            }
        }
        Ok(at)
    }
}

impl OwnRecords for Held<'_> {
    fn all(&mut self) -> Result<Vec<u64>, Error> {
        let mut totals = vec![0; self.leaf_records.classes()];
        let codes = self.leaf_records.class_codes();
        codes.iter().for_each(|class| totals[usize::from(*class)] += 1);
        Ok(totals)
    }

    fn children(&mut self, of: &[Pending]) -> Result<Vec<Vec<u64>>, Error> {
        let records = &self.leaf_records;
        let named = of.iter().any(|(_, leaf)| leaf.is_some());
        let leaves = records.leaf_ids().filter(|_| named);
        let by_coordinates: HashMap<Coordinates, LeafId> =
            leaves.map(|leaf| (records.coordinates(leaf), leaf)).collect();
        let of_one = |(made, leaf): &Pending| match leaf {
            Some(leaf) => self.children_in(made, by_coordinates.get(leaf).copied()),
            None => {
                let Candidate { attribute, value } = made.candidate;
                self.children_in(made, records.link(attribute, value))
            }
        };
        of.par_iter().map(of_one).collect()
    }

    fn points(&mut self, of: &[Candidate]) -> Result<Vec<Vec<u64>>, Error> {
        of.par_iter().map(|interval| self.points_of(interval)).collect()
    }

    fn specialize(&mut self, made: &Specialization) -> Result<(), Error> {
        let children = self.cuts.specialize(made)?;
        self.leaf_records.specialize(made, &children)?;
        Ok(())
    }

    fn leaves(&mut self) -> Result<Vec<u64>, Error> {
        Ok(self.leaf_records.leaf_counts(&self.cuts))
    }
}
