//! Where the leaf of a record lies in the release, when each party knows a part of its coordinates.

use super::leaf_records::LeafRecords;
use crate::agreement::Agreement;
use crate::net;
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::CountShape;
use crate::role::Role;
use crate::table::Cuts;

/// For every combination of the cuts of `attributes` (the last one fastest), what it adds to the
/// place of a leaf in the release. The places of two parties' combinations add up, because every
/// attribute belongs to one of them.
pub fn leaf_offsets(cuts: &Cuts, attributes: &[usize]) -> Vec<usize> {
    let mut offsets = vec![0];
    for attribute in attributes {
        let later = attribute + 1..cuts.schema().attributes.len();
        let stride: usize = later.map(|later| cuts.of(later).len()).product();
        let values = cuts.of(*attribute).len();
        offsets = offsets
            .into_iter()
            .flat_map(|offset| (0..values).map(move |value| offset + value * stride))
            .collect();
    }
    offsets
}

/// Where the entries of the joint table lie in the release. Public.
pub struct Layout {
    classes: usize,
    /// To whose cells the class belongs.
    class_owner: Role,
    /// What P1's and P2's combinations add to the place of a leaf.
    offsets: [Vec<usize>; 2],
}

impl Layout {
    /// Of the leaves that these cuts have.
    pub fn new(cuts: &Cuts, agreement: &Agreement) -> Self {
        let offsets = Role::BOTH.map(|owner| {
            let attributes = agreement.schema.attributes.iter().enumerate();
            let own: Vec<usize> = attributes
                .filter(|(_, a)| a.owner == Some(owner))
                .map(|(index, _)| index)
                .collect();
            leaf_offsets(cuts, &own)
        });
        let class = &agreement.schema.class;
        let class_owner = class.owner.unwrap_or(Role::P1);
        Self { classes: class.values.len(), class_owner, offsets }
    }

    /// Cells of P1 and of P2; those of the class's owner are its leaves times the classes.
    pub fn cells(&self) -> [usize; 2] {
        Role::BOTH.map(|role| {
            let classes = if role == self.class_owner { self.classes } else { 1 };
            self.offsets[role as usize].len() * classes
        })
    }

    /// The cell of every record of a party.
    pub fn cells_of_records(
        &self,
        leaf_records: &LeafRecords<'_>,
        cuts: &Cuts,
        role: Role,
    ) -> Vec<u32> {
        let mut cells = leaf_records.leaf_of_records(cuts);
        if role == self.class_owner {
            let (classes, codes) = (self.classes as u32, leaf_records.class_codes());
            let labelled = cells.iter_mut().zip(codes);
            labelled.for_each(|(cell, class)| *cell = *cell * classes + u32::from(*class));
        }
        cells
    }

    /// The table by sums by group, over Z_{2^`bits`}.
    pub fn by_transfers(&self, records: usize, bits: u32) -> CountShape {
        CountShape { records, cells: self.cells(), bits }
    }

    /// Counts of the whole table.
    pub fn entries(&self) -> usize {
        self.cells().iter().product()
    }

    /// Entry `cell1 · m2 + cell2` of the table goes to its leaf and class.
    ///
    /// # Errors
    /// None: the ring is that of the table.
    pub fn in_release_order(&self, table: &WordShares) -> Result<WordShares, net::Error> {
        let mut words = vec![0; self.entries()];
        let cells = self.cells();
        for (entry, word) in table.words().iter().enumerate() {
            let of_both = [entry / cells[1], entry % cells[1]];
            let labelled = of_both[self.class_owner as usize];
            let other = of_both[self.class_owner.peer() as usize];
            let leaf = self.offsets[self.class_owner as usize][labelled / self.classes]
                + self.offsets[self.class_owner.peer() as usize][other];
            words[leaf * self.classes + labelled % self.classes] = *word;
        }
        WordShares::new(table.bits(), words)
    }
}
