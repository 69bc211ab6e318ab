//! Class counts of the children of leaves, where the owner of the attributes does not have the class:
//! in shares.
//!
//! *Inputs*: the attributes' owner has the leaf and the child of every record, the class's owner its
//! class. *Output*: shares over Z_{2^k} of how many records of each class every child of every new leaf
//! has. *Learned*: nothing. One pass of [`sum_by_group`](crate::protocol::sum_by_group) per attribute
//! with new groups, in the direction that takes fewer bytes: cells are the children of the new leaves,
//! the empty ones too, and one more for all other records. So messages depend on the number of
//! records, on the cuts and on the number of classes alone.
//!
//! With the utility leaf-max these are the counts behind [`SharedScores`](super::shared_scores::SharedScores):
//! a group is counted once, when its leaf appears.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use super::Plan;
use super::shared_scores::{Coordinates, Pending};
use super::two_party::STRUCTURE;
use crate::Error;
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::protocol::sum_by_group::{CountShape, forecast_cells};
use crate::release::shards::Parts;
use crate::release::shards::asks::Sum;
use crate::release::tree::leaf_records::{LeafId, LeafRecords};
use crate::role::Role;
use crate::table::{Candidate, Cuts, Specialization, Table};

/// The public numbers of all passes of a run.
#[derive(Clone, Copy, Debug)]
pub struct Passes<'p> {
    /// The plan.
    pub plan: &'p Plan,
    /// Who alone has the class.
    pub class_owner: Role,
    /// Common records, of one part of them.
    pub records: usize,
    /// k: counts are shared over Z_{2^k}.
    pub share_bits: u32,
}

/// Shares of the class counts of a candidate's children in a leaf, classes fastest.
pub type LeafCounts = HashMap<(Candidate, Coordinates), Vec<u64>>;

/// A leaf, what divides it, and the first of its cells.
type Divided<'a> = (&'a Specialization, &'a Coordinates, usize);

impl Passes<'_> {
    /// By attribute: the groups that are new, and the number of cells.
    fn cells<'a>(&self, pending: &'a [Pending]) -> BTreeMap<usize, (Vec<Divided<'a>>, usize)> {
        let cuts = Cuts::topmost(self.plan.schema());
        let mut passes: BTreeMap<usize, (Vec<Divided<'a>>, usize)> = BTreeMap::new();
        for (made, leaf) in pending {
            let Some(leaf) = leaf else { continue };
            let (groups, cells) = passes.entry(made.candidate.attribute).or_insert((vec![], 1));
            groups.push((made, leaf, *cells));
            *cells += cuts.number_of_children(made.candidate);
        }
        passes
    }

    fn shape(&self, cells: usize) -> CountShape {
        let classes = self.plan.schema().class.values.len();
        let cells = match self.class_owner {
            Role::P1 => [classes, cells],
            Role::P2 => [cells, classes],
        };
        CountShape { records: self.records, cells, bits: self.share_bits }
    }

    /// The messages of [`Passes::count`].
    ///
    /// # Errors
    /// As it has for records or cells that are too many.
    pub fn forecast(&self, f: &mut Forecast, pending: &[Pending]) -> Result<(), Error> {
        for (_, cells) in self.cells(pending).values() {
            forecast_cells(f, &self.shape(*cells))?;
        }
        Ok(())
    }

    /// Counts with the peer. `leaf_records` are those of the attributes' owner, who has them; `table`
    /// is this party's, with the class if it has it.
    ///
    /// # Errors
    /// Those of [`sum_by_group`](crate::protocol::sum_by_group), and a column that is not there.
    pub fn count(
        &self,
        session: &mut Workspace,
        pending: &[Pending],
        leaf_records: &LeafRecords<'_>,
        table: &Table,
        parts: &Parts,
    ) -> Result<LeafCounts, Error> {
        let mut found = LeafCounts::new();
        let by_coordinates: HashMap<Coordinates, LeafId> =
            leaf_records.leaf_ids().map(|leaf| (leaf_records.coordinates(leaf), leaf)).collect();
        let codes: Vec<u32> = table.classes().iter().map(|class| u32::from(*class)).collect();
        for (groups, cells) in self.cells(pending).values() {
            let of_leaves;
            let places = if session.role == self.class_owner {
                &codes
            } else {
                of_leaves = places(groups, leaf_records, &by_coordinates, table.len())?;
                &of_leaves
            };
            let sum = Sum::Cells(self.shape(*cells));
            let of = |_, rows| Ok(places.get::<Range<usize>>(rows).unwrap_or_default().to_vec());
            let counts = parts.add_up(session, STRUCTURE, &[sum], of, &|_| ())?;
            let counts = counts.first().ok_or_else(|| Error::fault("leaves without counts"))?;
            self.file(groups, *cells, counts.words(), &mut found)?;
        }
        Ok(found)
    }

    /// Finds each group's counts in the table of one pass.
    fn file(
        &self,
        groups: &[Divided<'_>],
        cells: usize,
        counts: &[u64],
        found: &mut LeafCounts,
    ) -> Result<(), Error> {
        let classes = self.plan.schema().class.values.len();
        let cuts = Cuts::topmost(self.plan.schema());
        let entry = |cell: usize, class: usize| match self.class_owner {
            Role::P1 => class * cells + cell,
            Role::P2 => cell * classes + class,
        };
        for (made, leaf, first) in groups {
            let own = *first..first + cuts.number_of_children(made.candidate);
            let of_cell = |cell| (0..classes).map(move |class| (cell, class));
            let counts = own.flat_map(of_cell).map(|(cell, class)| counts.get(entry(cell, class)));
            let counts = counts.map(Option::<&u64>::copied).collect::<Option<Vec<u64>>>();
            let counts = counts.ok_or_else(|| Error::fault("a leaf without counts"))?;
            found.insert((made.candidate, (*leaf).clone()), counts);
        }
        Ok(())
    }
}

/// The cell of every record: 0 unless its leaf is one of the new ones.
fn places(
    groups: &[Divided<'_>],
    leaf_records: &LeafRecords<'_>,
    by_coordinates: &HashMap<Coordinates, LeafId>,
    records: usize,
) -> Result<Vec<u32>, Error> {
    let mut places = vec![0; records];
    for (made, leaf, first) in groups {
        let Some(leaf) = by_coordinates.get(*leaf) else { continue };
        let child_of = leaf_records.child_of(made)?;
        for record in leaf_records.records(*leaf) {
            let cell = *first as u64 + child_of.of(*record);
            places[*record as usize] = u32::try_from(cell).unwrap_or(u32::MAX);
        }
    }
    Ok(places)
}
