//! Whether a candidate is valid, told to both as one bit: nobody sees a group.
//!
//! *Inputs*: everybody's values on the cuts, each party's of its own columns; the owner of the
//! candidate also has the child that everybody would fall into, and whoever holds the sensitive
//! attribute its labels. *Output*, to both: whether every rule would still be met. *Learned*: that bit.
//!
//! A rule speaks of combinations of attributes ([`super::groups`]), each of which has a part at the
//! owner and a part at the peer. *Shares* of how many people are in every cell of a combination, and
//! how many of them have each protected value, come from sums by group: the owner's cell is the
//! group (all who do not have the value fall into one more, which nobody looks at), the peer's cells
//! are the places of its ones. The owner's part decides a *pass* over the records, and the peer's parts
//! that go with it are summed together; or else one pass counts everything by all attributes, and
//! combinations are sums of its shares: what takes less work, by public numbers. Then [`validity`]
//! tests all cells. What the owner sees alone it tests at home, and adds its answer as a bit.
//!
//! *What a watcher of the network learns*: lengths of messages follow from the cuts, the candidate's owner
//! and its number of children, so that they tell the order of examination and what was refused, as
//! far as these numbers tell candidates apart. Tests are not padded: docs/experiments/lkc.md
//! says what it would cost.
//!
//! *Cost*: per pass as [`sum_by_group`] says, per cell as [`validity`] says.

use std::collections::{BTreeMap, BTreeSet};

use zeroize::Zeroizing;

use super::super::diffgen::forecast::MOST_HASHES;
use super::state::{Shared, bits_of};
use super::vertical::Side;
use crate::Error;
use crate::mechanism::validity::{self, CellShape, Cells};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::sum_by_group::{SumShape, forecast_units, sum_several};
use crate::release::lkc::too_many_cells;
use crate::role::Role;
use crate::table::{Candidate, Specialization};

/// Cells that one test may have, each counted once more for every protected value: some hundred bytes
/// and as many ANDs each.
pub(super) const MOST_CELLS: usize = 1 << 22;

/// What a transfer takes beside a hash of sums by group, roughly.
const HASHES_PER_TRANSFER: u64 = 8;

/// Tests a candidate. Nothing if it is not valid; and nothing is heard of the peer's records.
///
/// # Errors
/// If there is too much to count, or if the run fails.
#[allow(clippy::option_option, reason = "whether it is valid, and then what was heard")]
pub(super) fn examine(
    session: &mut Session,
    side: &Side<'_, '_>,
    owner: Role,
    candidate: Candidate,
    own: Option<&Specialization>,
) -> Result<Option<Option<Vec<u16>>>, Error> {
    let test = Test::new(&side.shared, owner, candidate)?;
    // The bit of what the owner sees is in its share alone.
    let known = match own {
        Some(made) => side.is_valid_at_home(made)?,
        None => false,
    };
    let mut tables = Vec::with_capacity(test.passes.len());
    for pass in &test.passes {
        let (shape, places) = (test.shape(pass), test.places(side, pass, own)?);
        let each = pass.peer.len();
        tables.push(sum_several(session, owner.peer(), &shape, &places, each, &|_| ())?);
    }
    let mut cells = Shares::default();
    for combination in &test.combinations {
        let (pass, place) = test.pass_of(combination);
        test.add_cells(combination, pass, place, tables[pass].words(), &mut cells);
    }
    let cells = Cells { least: &cells.least, counts: &cells.counts, margins: &cells.margins };
    let valid = validity::all_valid(session, &test.cell_shape(), &cells, known)?;
    Ok(valid.then_some(None))
}

/// Whether a candidate can be tested.
///
/// # Errors
/// If there is too much to count.
pub(super) fn check(shared: &Shared<'_>, owner: Role, candidate: Candidate) -> Result<(), Error> {
    Test::new(shared, owner, candidate).map(|_| ())
}

/// The messages of [`examine`].
///
/// # Errors
/// If there is too much to count.
pub(super) fn forecast(
    f: &mut Forecast,
    shared: &Shared<'_>,
    owner: Role,
    candidate: Candidate,
) -> Result<(), Error> {
    let test = Test::new(shared, owner, candidate)?;
    for pass in &test.passes {
        forecast_units(f, owner.peer(), &test.shape(pass))?;
    }
    validity::forecast(f, &test.cell_shape(), test.cells());
    Ok(())
}

/// Attributes of which a rule speaks together, the candidate's among them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Combination {
    pub rule: usize,
    /// Those of the candidate's owner.
    pub own: Vec<usize>,
    /// Those of its peer.
    pub peer: Vec<usize>,
}

/// Sums by group that go over the records once.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Pass {
    /// The attributes that make the owner's cells.
    own: Vec<usize>,
    /// Those that make the peer's: several sets of them.
    peer: Vec<Vec<usize>>,
}

/// What is public about a test.
struct Test<'s, 'a> {
    shared: &'s Shared<'a>,
    candidate: Candidate,
    /// Per attribute, how many values there would be; of the candidate's, how many children.
    widths: Vec<usize>,
    combinations: Vec<Combination>,
    passes: Vec<Pass>,
    /// Labels that the owner's and the peer's cells are divided by.
    labels: [usize; 2],
    /// Of the ring of counts, and that of what is compared.
    bits: [u32; 2],
}

/// One party's shares of all cells.
#[derive(Default)]
struct Shares {
    least: Vec<u64>,
    counts: Zeroizing<Vec<u64>>,
    margins: Zeroizing<Vec<u64>>,
}

impl<'s, 'a> Test<'s, 'a> {
    fn new(shared: &'s Shared<'a>, owner: Role, candidate: Candidate) -> Result<Self, Error> {
        let cuts = &shared.cuts;
        let width = |attribute: usize| match attribute == candidate.attribute {
            true => cuts.number_of_children(candidate),
            false => cuts.of(attribute).len(),
        };
        let widths: Vec<usize> = (0..shared.schema().attributes.len()).map(width).collect();
        let limited = |combination: &Combination| shared.rules[combination.rule].is_limited();
        let holder = shared.holder();
        let mut combinations = combinations(shared, owner, candidate, &widths);
        // The owner sees the others itself.
        combinations
            .retain(|one| !one.peer.is_empty() || (limited(one) && holder == Some(owner.peer())));
        let some_limited = combinations.iter().any(limited);
        let protected = shared.terms.sensitive.as_ref().map_or(0, |s| s.protect.len());
        let labels = [owner, owner.peer()]
            .map(|role| if some_limited && holder == Some(role) { protected + 1 } else { 1 });
        let count_bits = bits_of(shared.records as u64);
        let rules = combinations.iter().map(|one| &shared.rules[one.rule]);
        let largest = rules.filter(|rule| rule.is_limited()).map(|rule| reduced(rule.part).1).max();
        let margin_bits = largest.map(|below| bits_of(below * shared.records as u64) + 1);
        let bits = [count_bits, margin_bits.unwrap_or(count_bits).max(count_bits)];
        let passes = Vec::new();
        let mut test = Self { shared, candidate, widths, combinations, passes, labels, bits };
        test.choose_passes();
        test.check()?;
        Ok(test)
    }

    /// One pass for each of the owner's parts, or one for everything: what takes less work.
    fn choose_passes(&mut self) {
        let mut apart: BTreeMap<&[usize], BTreeSet<&[usize]>> = BTreeMap::new();
        for one in &self.combinations {
            apart.entry(&one.own).or_default().insert(&one.peer);
        }
        let sets = |peer: BTreeSet<&[usize]>| peer.into_iter().map(<[usize]>::to_vec).collect();
        let apart: Vec<Pass> = apart
            .into_iter()
            .map(|(own, peer)| Pass { own: own.to_vec(), peer: sets(peer) })
            .collect();
        let union = |of: fn(&Combination) -> &[usize]| -> Vec<usize> {
            let all: BTreeSet<usize> = self.combinations.iter().flat_map(of).copied().collect();
            all.into_iter().collect()
        };
        let whole = Pass { own: union(|one| &one.own), peer: vec![union(|one| &one.peer)] };
        let work = |pass: &Pass| {
            let shape = self.shape(pass);
            shape.hashes().saturating_add(HASHES_PER_TRANSFER * shape.transfers() as u64)
        };
        let all = |passes: &[Pass]| passes.iter().map(work).fold(0, u64::saturating_add);
        let whole = vec![whole];
        let together = !apart.is_empty() && all(&whole) < all(&apart);
        self.passes = if together { whole } else { apart };
    }

    fn check(&self) -> Result<(), Error> {
        let shapes = || self.passes.iter().map(|pass| self.shape(pass));
        let hashes = shapes().map(|shape| shape.hashes()).fold(0, u64::saturating_add);
        let bad = shapes().any(|shape| shape.check().is_err());
        let numbers = self.cells().saturating_mul(1 + self.cell_shape().margins);
        if bad || hashes > MOST_HASHES || numbers > MOST_CELLS {
            return Err(too_many_cells(self.cells() as u64));
        }
        Ok(())
    }

    /// Cells of a set of attributes.
    fn cells_of(&self, attributes: &[usize]) -> usize {
        attributes.iter().fold(1, |cells, place| cells.saturating_mul(self.widths[*place]))
    }

    /// Cells of all combinations.
    fn cells(&self) -> usize {
        let of_one =
            |one: &Combination| self.cells_of(&one.own).saturating_mul(self.cells_of(&one.peer));
        self.combinations.iter().map(of_one).fold(0, usize::saturating_add)
    }

    fn shape(&self, pass: &Pass) -> SumShape {
        let [of_owner, of_peer] = self.labels;
        let groups = self.cells_of(&pass.own).saturating_mul(of_owner).saturating_add(1);
        let words = pass.peer.iter().map(|set| self.cells_of(set).saturating_mul(of_peer));
        let words = words.fold(0, usize::saturating_add);
        SumShape { records: self.shared.records, groups, words, bits: self.bits[1] }
    }

    fn cell_shape(&self) -> CellShape {
        let margins = self.labels.iter().max().map_or(0, |labels| labels - 1);
        CellShape { count_bits: self.bits[0], margin_bits: self.bits[1], margins }
    }

    /// This party's groups, or the places of its ones, for everybody.
    fn places(
        &self,
        side: &Side<'_, '_>,
        pass: &Pass,
        own: Option<&Specialization>,
    ) -> Result<Zeroizing<Vec<u32>>, Error> {
        let records = self.shared.records;
        let columns = |set: &[usize]| -> Vec<(usize, Vec<u32>)> {
            let others = set.iter().filter(|place| **place != self.candidate.attribute);
            let places = |place: &usize| side.values.places(&self.shared.cuts, *place);
            others.filter_map(|place| Some((self.widths[*place], places(place)?))).collect()
        };
        let label = |record: usize, labels: usize| match labels {
            1 => 0,
            _ => usize::from(side.own.labels[record]),
        };
        let cell = |columns: &[(usize, Vec<u32>)], from: usize, record: usize| {
            columns
                .iter()
                .fold(from, |cell, (width, places)| cell * width + places[record] as usize)
        };
        let Some(made) = own else {
            let (labels, mut offset) = (self.labels[1], 0);
            let mut sets = Vec::with_capacity(pass.peer.len());
            for set in &pass.peer {
                sets.push((offset, columns(set)));
                offset += self.cells_of(set) * labels;
            }
            let mut places = Zeroizing::new(Vec::with_capacity(records * sets.len()));
            for record in 0..records {
                places.extend(sets.iter().map(|(offset, columns)| {
                    (offset + cell(columns, 0, record) * labels + label(record, labels)) as u32
                }));
            }
            return Ok(places);
        };
        // The candidate's attribute counts first; it stands first in the order of digits, too.
        let (labels, columns) = (self.labels[0], columns(&pass.own));
        let child_of = side.own.records.child_of(made)?;
        let outside = (self.cells_of(&pass.own) * labels) as u32;
        let mut groups = Zeroizing::new(vec![outside; records]);
        for record in side.values.holding(self.candidate) {
            let child = child_of.of(record as u32) as usize;
            let cell = cell(&columns, child, record);
            groups[record] = (cell * labels + label(record, labels)) as u32;
        }
        Ok(groups)
    }

    /// The pass that counts a combination, and its place among the peer's sets there.
    fn pass_of(&self, combination: &Combination) -> (usize, usize) {
        let apart = self.passes.iter().enumerate().find_map(|(number, pass)| {
            let place = pass.peer.iter().position(|set| *set == combination.peer)?;
            (pass.own == combination.own).then_some((number, place))
        });
        apart.unwrap_or((0, 0))
    }

    /// Where each cell of a set of attributes lies among those of a part of it. The candidate's
    /// attribute comes first, the others in their order.
    fn projected(&self, from: &[usize], to: &[usize]) -> Vec<usize> {
        let first = |place: &&usize| **place == self.candidate.attribute;
        let order = |set: &[usize]| -> Vec<usize> {
            let rest = set.iter().filter(|place| !first(place));
            set.iter().filter(first).chain(rest).copied().collect()
        };
        let (from, to) = (order(from), order(to));
        let mut cells = vec![0];
        for attribute in &from {
            let width = self.widths[*attribute];
            let counts = to.contains(attribute);
            cells = cells
                .into_iter()
                .flat_map(|cell| {
                    (0..width).map(move |value| if counts { cell * width + value } else { cell })
                })
                .collect();
        }
        cells
    }

    /// This party's shares of the cells of a combination.
    fn add_cells(
        &self,
        one: &Combination,
        pass: usize,
        set: usize,
        words: &[u64],
        shares: &mut Shares,
    ) {
        let (pass, [of_owner, of_peer]) = (&self.passes[pass], self.labels);
        let width = self.shape(pass).words;
        let before = pass.peer[..set].iter().map(|set| self.cells_of(set) * of_peer);
        let offset: usize = before.sum();
        let rows = self.projected(&pass.own, &one.own);
        let columns = self.projected(&pass.peer[set], &one.peer);
        let (cells, of_row) = (self.cells_of(&one.own), self.cells_of(&one.peer));
        let protected = self.cell_shape().margins;
        let wide = protected + 1;
        let mut sums = Zeroizing::new(vec![0u64; cells * of_row * wide]);
        for (row, cell) in rows.iter().enumerate() {
            for row_label in 0..of_owner {
                let words = &words[(row * of_owner + row_label) * width + offset..];
                for (column, peer_cell) in columns.iter().enumerate() {
                    for column_label in 0..of_peer {
                        let word = words[column * of_peer + column_label];
                        let sums = &mut sums[(cell * of_row + peer_cell) * wide..][..wide];
                        let label = row_label.max(column_label);
                        sums[0] = sums[0].wrapping_add(word);
                        if label > 0 {
                            sums[label] = sums[label].wrapping_add(word);
                        }
                    }
                }
            }
        }
        let rule = &self.shared.rules[one.rule];
        let (above, below) = if rule.is_limited() { reduced(rule.part) } else { (0, 0) };
        for sums in sums.chunks_exact(wide) {
            shares.least.push(rule.k);
            shares.counts.push(sums[0]);
            let allowed = sums[0].wrapping_mul(above);
            let margin = |told: &u64| allowed.wrapping_sub(told.wrapping_mul(below));
            shares.margins.extend(sums[1..].iter().map(margin));
        }
    }
}

/// All that the rules speak of together with a candidate's attribute: as many attributes as a rule
/// says, of those that have more than one value.
pub(super) fn combinations(
    shared: &Shared<'_>,
    owner: Role,
    candidate: Candidate,
    widths: &[usize],
) -> Vec<Combination> {
    let mut found = Vec::new();
    for (rule, need) in shared.rules.iter().enumerate() {
        let attribute = candidate.attribute;
        if !need.attributes.contains(&attribute) {
            continue;
        }
        let several = |place: &&usize| **place != attribute && widths[**place] > 1;
        let others: Vec<usize> = need.attributes.iter().filter(several).copied().collect();
        let size = need.most.min(others.len() + 1) - 1;
        for chosen in subsets(&others, size) {
            let mut all: Vec<usize> = chosen.into_iter().chain([attribute]).collect();
            all.sort_unstable();
            let (own, peer) = all.into_iter().partition(|place| shared.owner(*place) == owner);
            found.push(Combination { rule, own, peer });
        }
    }
    found
}

/// All subsets of so many, in order.
fn subsets(of: &[usize], size: usize) -> Vec<Vec<usize>> {
    if size == 0 {
        return vec![Vec::new()];
    }
    let mut found = Vec::new();
    for (place, first) in of.iter().enumerate() {
        if of.len() - place < size {
            break;
        }
        for rest in subsets(&of[place + 1..], size - 1) {
            found.push([&[*first], &rest[..]].concat());
        }
    }
    found
}

/// A fraction in lowest terms.
pub(super) fn reduced((above, below): (u64, u64)) -> (u64, u64) {
    let (mut a, mut b) = (above, below);
    while b != 0 {
        (a, b) = (b, a % b);
    }
    (above / a.max(1), below / a.max(1))
}
