//! Histograms and counts of people of whom nobody knows whether they count: in shares.
//!
//! *Inputs*: the two joins ([`Joined`]) and each party's own values. *Output*: shares over Z_{2^k} of how
//! many common people have each value and class, of every attribute; of how many have each pair of
//! both parties' leaves. *Learned*: nothing. Messages follow from the numbers of bins, of values,
//! classes and leaves alone.
//!
//! *How.* Everything is summed over all bins of the party that knows the group: the receiver of
//! [`sum_shared`]. Each of its people stands in one bin, so that nobody counts twice. What is summed is 1
//! for a common person and 0 for anybody else, in shares: so empty bins, which count as group 0, and
//! people whom the peer does not have add nothing, and nobody need know who they are. An owner that has
//! the class too sums by value and class; otherwise the class, and at the end the peer's leaf, is
//! summed as a unit vector that is 0 throughout where the person is not common.

use std::collections::BTreeMap;

use zeroize::Zeroizing;

use super::joined::{Announced, Joined, index_bits};
use crate::Error;
use crate::protocol::bits::{self, Bits};
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::{SumShape, forecast_units, sum_shared};
use crate::protocol::{Session, join};
use crate::release::Step;
use crate::release::diffgen::Plan;
use crate::release::diffgen::histograms::{Histograms, values, values_of};
use crate::role::Role;
use crate::table::Table;

/// The phase of the histograms, and of the counts.
const HISTOGRAMS: &str = "histograms";
pub(super) const COUNTS: &str = "count table";

/// Words that are made at a time, in shares of 8 bytes: what bounds the memory.
const PART_WORDS: usize = 1 << 21;

/// Shares of whether the person in each bin of the class's owner is common, over Z_{2^`bits`}.
///
/// # Errors
/// See [`Error`].
pub fn members(
    session: &mut Session,
    joined: &Joined,
    class_owner: Role,
    bits: u32,
) -> Result<WordShares, Error> {
    Ok(bits::to_words(session, &joined.members[class_owner as usize], bits)?)
}

/// The messages of [`members`].
///
/// # Errors
/// If there are too many records.
pub fn forecast_members(
    f: &mut Forecast,
    announced: &Announced,
    class_owner: Role,
    bits: u32,
) -> Result<(), Error> {
    Ok(bits::forecast_to_words(f, announced.join(class_owner)?.bins(), bits)?)
}

/// Each attribute of an owner, and how its histogram is summed over some of the owner's bins.
fn shapes(
    plan: &Plan,
    owner: Role,
    bins: usize,
    share_bits: u32,
) -> Result<Vec<(usize, SumShape)>, Error> {
    if plan.is_public() {
        return Ok(Vec::new());
    }
    let classes = plan.schema().class.values.len();
    let labelled = plan.class_owner() == Some(owner);
    let attributes = plan.schema().attributes.iter().enumerate();
    let own = attributes.filter(|(_, attribute)| attribute.owner == Some(owner));
    own.map(|(index, attribute)| {
        let values = values_of(&attribute.domain)?;
        let (groups, words) = if labelled { (values * classes, 1) } else { (values, classes) };
        Ok((index, SumShape { records: bins, groups, words, bits: share_bits }))
    })
    .collect()
}

/// Hashes of each party that all histograms take.
///
/// # Errors
/// [`Error::fault`] for a set attribute.
pub fn histogram_hashes(plan: &Plan, bins: usize, share_bits: u32) -> Result<u64, Error> {
    let mut hashes = 0u64;
    for owner in Role::BOTH {
        let shapes = shapes(plan, owner, bins, share_bits)?;
        hashes = shapes.iter().map(|(_, shape)| shape.hashes()).fold(hashes, u64::saturating_add);
    }
    Ok(hashes)
}

/// Transfers that the histograms of one party's attributes take, from its peer.
///
/// # Errors
/// As [`histogram_hashes`].
pub fn transfers(plan: &Plan, owner: Role, bins: usize, share_bits: u32) -> Result<usize, Error> {
    let shapes = shapes(plan, owner, bins, share_bits)?;
    Ok(shapes.iter().map(|(_, shape)| shape.transfers()).fold(0, usize::saturating_add))
}

/// Lengths of parts of so many bins, for words that each bin takes.
fn parts(bins: usize, words: usize) -> impl Iterator<Item = usize> {
    let most = (PART_WORDS / words.max(1)).max(1);
    (0..bins).step_by(most).map(move |first| most.min(bins - first))
}

/// Shares of unit vectors over Z_{2^`ring_bits`}, bin after bin: 1 at the place that the index of the bin
/// numbers, and 0 throughout where the gate is 0.
fn unit_words(
    session: &mut Session,
    index: &[Bits],
    gate: &Bits,
    places: usize,
    ring_bits: u32,
) -> Result<Zeroizing<Vec<u64>>, Error> {
    let bins = gate.len();
    let units = bits::unit_vector(session, index, Some(gate), places, bins)?;
    let words = bits::to_words(session, &Bits::concat(&units), ring_bits)?;
    let mut by_bin = Zeroizing::new(vec![0; places * bins]);
    for (place, of_place) in words.words().chunks(bins.max(1)).enumerate() {
        let places = by_bin.iter_mut().skip(place).step_by(places);
        places.zip(of_place).for_each(|(to, word)| *to = *word);
    }
    Ok(by_bin)
}

/// The messages of [`unit_words`].
fn forecast_unit_words(
    f: &mut Forecast,
    bins: usize,
    places: usize,
    ring_bits: u32,
) -> Result<(), Error> {
    bits::forecast_unit_vector(f, places, true, bins);
    Ok(bits::forecast_to_words(f, places * bins, ring_bits)?)
}

/// Calls `work` with some bins at a time: the first of them, and unit vectors as [`unit_words`].
fn in_parts(
    session: &mut Session,
    index: &[Bits],
    gate: &Bits,
    places: usize,
    ring_bits: u32,
    mut work: impl FnMut(&mut Session, usize, &[u64]) -> Result<(), Error>,
) -> Result<(), Error> {
    let most = parts(gate.len(), places).next().unwrap_or(1);
    let mut index: Vec<_> = index.iter().map(|bits| bits.parts(most)).collect();
    for (number, gate) in gate.parts(most).enumerate() {
        let index: Vec<Bits> = index.iter_mut().filter_map(Iterator::next).collect();
        let words = unit_words(session, &index, &gate, places, ring_bits)?;
        work(session, number * most, &words)?;
    }
    Ok(())
}

/// Adds shares to those that are there already.
fn add(sums: &mut Option<WordShares>, more: WordShares) -> Result<(), Error> {
    *sums = Some(match sums.take() {
        Some(before) => before.plus(&more)?,
        None => more,
    });
    Ok(())
}

/// Makes the histograms of all attributes with the peer. `members` are those of the class's owner.
///
/// # Errors
/// Those of the protocols, and a table without a column that the agreement gives this party.
pub fn histograms(
    session: &mut Session,
    plan: &Plan,
    joined: &Joined,
    table: &Table,
    members: &WordShares,
    share_bits: u32,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Histograms, Error> {
    session.channel.begin_phase(HISTOGRAMS);
    let class_owner = plan.class_owner().ok_or_else(|| Error::fault("a class that both have"))?;
    let other = class_owner.peer();
    let bins = |owner: Role| joined.members[owner as usize].len();
    let of_owner = |owner: Role, bins| shapes(plan, owner, bins, share_bits);
    let groups = own_groups(session.role, plan, joined, table)?;
    let none = Vec::new();
    let of = |attribute: usize| groups.get(&attribute).unwrap_or(&none);
    let attributes = plan.schema().attributes.iter().filter_map(|attribute| attribute.owner);
    progress(Step::Began { phase: HISTOGRAMS, total: attributes.map(bins).sum() });
    let advanced = |records| progress(Step::Advanced(records));

    let mut sums: BTreeMap<usize, Option<WordShares>> = BTreeMap::new();
    let words = WordShares::new(share_bits, members.words().to_vec())?;
    for (attribute, shape) in of_owner(class_owner, bins(class_owner))? {
        let groups = of(attribute);
        let made = sum_shared(session, class_owner, &shape, groups, words.words(), &advanced)?;
        sums.insert(attribute, Some(made));
    }
    let (gate, classes) = (&joined.members[other as usize], plan.schema().class.values.len());
    in_parts(session, &joined.class, gate, classes, share_bits, |session, first, words| {
        let part = words.len() / classes;
        for (attribute, shape) in of_owner(other, part)? {
            let groups = of(attribute).get(first..first + part).unwrap_or_default();
            let made = sum_shared(session, other, &shape, groups, words, &advanced)?;
            add(sums.entry(attribute).or_default(), made)?;
        }
        Ok(())
    })?;
    let shares = sums.into_iter().filter_map(|(attribute, made)| Some((attribute, made?)));
    Ok(Histograms::from_shares(plan, shares.collect()))
}

/// The messages of [`histograms`].
///
/// # Errors
/// If there are too many records.
pub fn forecast_histograms(
    f: &mut Forecast,
    plan: &Plan,
    class_owner: Role,
    announced: &Announced,
    share_bits: u32,
) -> Result<(), Error> {
    f.begin_phase(HISTOGRAMS);
    let other = class_owner.peer();
    let bins = |owner: Role| announced.join(owner).map(|shape| shape.bins());
    for (_, shape) in shapes(plan, class_owner, bins(class_owner)?, share_bits)? {
        forecast_units(f, other, &shape)?;
    }
    let classes = plan.schema().class.values.len();
    for part in parts(bins(other)?, classes) {
        forecast_unit_words(f, part, classes, share_bits)?;
        for (_, shape) in shapes(plan, other, part, share_bits)? {
            forecast_units(f, class_owner, &shape)?;
        }
    }
    Ok(())
}

/// The group of each of this party's bins in the histogram of each of its attributes.
fn own_groups(
    role: Role,
    plan: &Plan,
    joined: &Joined,
    table: &Table,
) -> Result<BTreeMap<usize, Vec<u32>>, Error> {
    let classes = plan.schema().class.values.len() as u32;
    let mut groups = BTreeMap::new();
    for (index, attribute) in plan.schema().attributes.iter().enumerate() {
        if attribute.owner != Some(role) {
            continue;
        }
        let mut of_records = values(plan, table, index, 0..table.len())?;
        if plan.class_owner() == Some(role) {
            let labelled = of_records.iter_mut().zip(table.classes());
            labelled.for_each(|(group, class)| *group = *group * classes + u32::from(*class));
        }
        groups.insert(index, joined.in_bins(&of_records));
    }
    Ok(groups)
}

/// How the people of both parties' cells are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CountPlan {
    /// Whose cells are the groups, in its own bins.
    pub receiver: Role,
    /// Cells of the receiver.
    pub groups: usize,
    /// Cells of the peer, which come as a later payload if there is more than one.
    pub payloads: usize,
    /// k: counts are shared over Z_{2^k}.
    pub bits: u32,
}

impl CountPlan {
    /// The party with fewer cells gives its own as payload; P2 if they are equally many.
    pub fn new(cells: [usize; 2], bits: u32) -> Self {
        let giver = if cells[0] < cells[1] { Role::P1 } else { Role::P2 };
        let receiver = giver.peer();
        let [groups, payloads] = [receiver, giver].map(|role| cells[role as usize]);
        Self { receiver, groups, payloads, bits }
    }

    /// The sums over so many bins.
    pub fn sums(&self, bins: usize) -> SumShape {
        SumShape { records: bins, groups: self.groups, words: self.payloads, bits: self.bits }
    }
}

/// Counts with the peer the common people of every pair of cells: shares, entry `cell1 · m2 + cell2`.
/// `cells` has one for each of this party's records, `members` are those of `members_of`.
///
/// # Errors
/// See [`Error`].
pub fn counts(
    session: &mut Session,
    joined: &mut Joined,
    shape: &CountPlan,
    cells: &[u32],
    (members_of, members): (Role, &WordShares),
    progress: &(dyn Fn(Step) + Sync),
) -> Result<WordShares, Error> {
    session.channel.begin_phase(COUNTS);
    let CountPlan { receiver, payloads, bits, .. } = *shape;
    let bins = joined.members[receiver as usize].len();
    progress(Step::Began { phase: COUNTS, total: bins });
    let advanced = |records| progress(Step::Advanced(records));
    let own = session.role == receiver;
    let groups = if own { joined.in_bins(cells) } else { Vec::new() };
    let mut sums = None;
    if payloads == 1 {
        // A class's owner has more than one cell, so it is the receiver; without one either may be.
        let words = match receiver == members_of {
            true => WordShares::new(bits, members.words().to_vec())?,
            false => bits::to_words(session, &joined.members[receiver as usize], bits)?,
        };
        let sum = shape.sums(bins);
        add(&mut sums, sum_shared(session, receiver, &sum, &groups, words.words(), &advanced)?)?;
    } else {
        let index = joined.later_payload(session, receiver, index_bits(payloads), cells)?;
        let gate = &joined.members[receiver as usize];
        in_parts(session, &index, gate, payloads, bits, |session, first, words| {
            let part = words.len() / payloads;
            let groups = groups.get(first..first + part).unwrap_or_default();
            let sum = shape.sums(part);
            add(&mut sums, sum_shared(session, receiver, &sum, groups, words, &advanced)?)
        })?;
    }
    in_order(shape, &sums.ok_or_else(|| Error::fault("no bins"))?)
}

/// From the receiver's cells times the peer's to P1's times P2's.
fn in_order(shape: &CountPlan, sums: &WordShares) -> Result<WordShares, Error> {
    let (groups, payloads, words) = (shape.groups, shape.payloads, sums.words());
    let place = |entry: usize| match shape.receiver {
        Role::P1 => entry,
        Role::P2 => entry % groups * payloads + entry / groups,
    };
    let turned = (0..words.len()).map(|entry| words[place(entry)]).collect();
    Ok(WordShares::new(shape.bits, turned)?)
}

/// The messages of [`counts`].
///
/// # Errors
/// If there are too many records or cells.
pub fn forecast_counts(
    f: &mut Forecast,
    announced: &Announced,
    shape: &CountPlan,
    members_of: Role,
) -> Result<(), Error> {
    f.begin_phase(COUNTS);
    let join = announced.join(shape.receiver)?;
    let giver = shape.receiver.peer();
    if shape.payloads == 1 {
        if shape.receiver != members_of {
            bits::forecast_to_words(f, join.bins(), shape.bits)?;
        }
        return Ok(forecast_units(f, giver, &shape.sums(join.bins()))?);
    }
    join::forecast_payload(f, &join, index_bits(shape.payloads));
    for part in parts(join.bins(), shape.payloads) {
        forecast_unit_words(f, part, shape.payloads, shape.bits)?;
        forecast_units(f, giver, &shape.sums(part))?;
    }
    Ok(())
}
