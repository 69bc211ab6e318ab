//! How the class is distributed over the values of columns whose owner does not have it: in shares.
//!
//! *Inputs*: the attribute's owner has the value of every record, the class's owner its class.
//! *Output*: shares over Z_{2^k} of how many records of each class every value has, on the grid or
//! among the leaves of the taxonomy. *Learned*: nothing. One pass of [`sum_by_group`](crate::protocol::sum_by_group) per attribute,
//! whose groups are the values; messages depend on the number of records, values and classes alone.
//!
//! Every score of the utility Max follows from these numbers by sums, which are sums of shares, and
//! by MAX: a value's records are those of the leaves below it, wherever its leaf of the table is. With
//! leaf-max only splits do, so there only numbers have one ([`super::leaf_counts`] is for the rest).

use std::collections::BTreeMap;
use std::ops::Range;

use super::Plan;
use crate::Error;
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::{SumShape, forecast_units};
use crate::release::shards::Parts;
use crate::release::shards::asks::Sum;
use crate::release::tree::utility::Utility;
use crate::release::{Step, tree};
use crate::role::Role;
use crate::table::{Column, CutValue, Domain, Specialization, Table};

/// The phase in which they are made.
pub(super) const PHASE: &str = "histograms";

/// One party's shares of the histograms of all attributes whose scores nobody knows.
pub struct Histograms {
    classes: usize,
    /// By attribute: values slowest, classes fastest.
    shares: BTreeMap<usize, WordShares>,
}

/// Each attribute whose histogram is shared, and the sums that make it.
///
/// # Errors
/// [`Error::fault`] for a set attribute, which no two parties have.
pub fn shapes(
    plan: &Plan,
    records: usize,
    share_bits: u32,
) -> Result<Vec<(usize, SumShape)>, Error> {
    let schema = plan.schema();
    let words = schema.class.values.len();
    let by_value = plan.utility() != Utility::LeafMax;
    let attributes = schema.attributes.iter().enumerate();
    attributes
        .filter(|(index, _)| plan.scores_together(*index))
        .filter(|(_, attribute)| by_value || matches!(attribute.domain, Domain::Numeric(_)))
        .map(|(index, attribute)| {
            let groups = values_of(&attribute.domain)?;
            Ok((index, SumShape { records, groups, words, bits: share_bits }))
        })
        .collect()
}

/// Values of a histogram: leaves of the taxonomy, or points of the grid.
pub(super) fn values_of(domain: &Domain) -> Result<usize, Error> {
    match domain {
        Domain::Categorical(taxonomy) => Ok(taxonomy.leaves().len()),
        Domain::Numeric(range) => Ok(range.points() as usize),
        Domain::Set(_) => Err(Error::fault("a set between two parties")),
    }
}

/// Hashes of each party that the histograms of so many records take.
///
/// # Errors
/// As [`shapes`].
pub fn hashes(plan: &Plan, records: usize, share_bits: u32) -> Result<u64, Error> {
    let shapes = shapes(plan, records, share_bits)?;
    Ok(shapes.iter().map(|(_, shape)| shape.hashes()).fold(0, u64::saturating_add))
}

/// The messages of [`Histograms::share`].
///
/// # Errors
/// As it has for records that are too many.
pub fn forecast(
    f: &mut Forecast,
    plan: &Plan,
    class_owner: Role,
    records: usize,
    share_bits: u32,
) -> Result<(), Error> {
    f.begin_phase(PHASE);
    for (_, shape) in shapes(plan, records, share_bits)? {
        forecast_units(f, class_owner, &shape)?;
    }
    Ok(())
}

impl Histograms {
    /// From shares by attribute, values slowest and classes fastest.
    pub(super) fn from_shares(plan: &Plan, shares: BTreeMap<usize, WordShares>) -> Self {
        Self { classes: plan.schema().class.values.len(), shares }
    }

    /// Makes the shares with the peer, from the records of the common people in the common order.
    ///
    /// # Errors
    /// Those of [`sum_by_group`](crate::protocol::sum_by_group), and a table without a column that the agreement gives this party.
    pub fn share(
        session: &mut Workspace,
        plan: &Plan,
        class_owner: Role,
        (table, parts): (&Table, &Parts),
        share_bits: u32,
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<Self, Error> {
        session.channel.begin_phase(PHASE);
        let shapes = shapes(plan, parts.padded(), share_bits)?;
        progress(Step::Began { phase: PHASE, total: shapes.len() * table.len() });
        let advanced = |records| progress(Step::Advanced(records));
        let labelled = session.role == class_owner;
        let places = |number: usize, rows: Range<usize>| match labelled {
            true => {
                let codes = table.classes().get(rows).unwrap_or_default();
                Ok(codes.iter().map(|class| u32::from(*class)).collect())
            }
            false => values(plan, table, shapes[number].0, rows),
        };
        let sums: Vec<Sum> =
            shapes.iter().map(|(_, shape)| Sum::Units(class_owner, *shape)).collect();
        let made = parts.add_up(session, PHASE, &sums, places, &advanced)?;
        let attributes = shapes.iter().map(|(attribute, _)| *attribute);
        Ok(Self::from_shares(plan, attributes.zip(made).collect()))
    }

    /// The shares by attribute.
    pub(in crate::release) fn into_shares(self) -> BTreeMap<usize, WordShares> {
        self.shares
    }

    /// Shares of the class counts of every child of a value of a taxonomy, classes fastest.
    ///
    /// # Errors
    /// [`Error::fault`] for anything else.
    pub fn children(&self, plan: &Plan, made: &Specialization) -> Result<Vec<u64>, Error> {
        let attribute = made.candidate.attribute;
        let domain = plan.schema().attributes.get(attribute).map(|attribute| &attribute.domain);
        let (CutValue::Value(value), Some(Domain::Categorical(taxonomy))) =
            (made.candidate.value, domain)
        else {
            return Err(Error::fault("children of something that has none"));
        };
        let of_leaves = self.of(attribute)?;
        let mut counts = Vec::new();
        for child in taxonomy.children(value) {
            let leaves = taxonomy.leaf_range(child);
            let places = leaves.start as usize * self.classes..leaves.end as usize * self.classes;
            let rows =
                of_leaves.get(places).ok_or_else(|| Error::fault("leaves without counts"))?;
            let mut sums = vec![0; self.classes];
            rows.chunks(self.classes).for_each(|row| add(&mut sums, row));
            counts.extend(sums);
        }
        Ok(counts)
    }

    /// For every possible split of an interval, shares of the class counts left and right of it.
    ///
    /// # Errors
    /// [`Error::fault`] for anything but an interval of the attribute.
    pub(in crate::release) fn sides(
        &self,
        attribute: usize,
        interval: CutValue,
    ) -> Result<Vec<u64>, Error> {
        let CutValue::Interval { start, end } = interval else {
            return Err(Error::fault("a split of something that is not an interval"));
        };
        let classes = self.classes;
        let points = self.of(attribute)?.get(start as usize * classes..end as usize * classes);
        let points = points.ok_or_else(|| Error::fault("an interval outside its grid"))?;
        Ok(sides(points, classes))
    }

    fn of(&self, attribute: usize) -> Result<&[u64], Error> {
        let shares = self.shares.get(&attribute).map(WordShares::words);
        shares.ok_or_else(|| Error::fault("an attribute without a histogram"))
    }
}

/// From class counts of every point, or shares of them, to those left and right of every split.
/// Modulo 2^64, and so modulo every smaller power of two.
pub(in crate::release) fn sides(points: &[u64], classes: usize) -> Vec<u64> {
    let mut right = vec![0; classes];
    points.chunks(classes).for_each(|point| add(&mut right, point));
    let mut left = vec![0; classes];
    let splits = (points.len() / classes.max(1)).saturating_sub(1);
    let mut sides = Vec::with_capacity(2 * splits * classes);
    for point in points.chunks(classes).take(splits) {
        add(&mut left, point);
        right.iter_mut().zip(point).for_each(|(right, count)| *right = right.wrapping_sub(*count));
        sides.extend_from_slice(&left);
        sides.extend_from_slice(&right);
    }
    sides
}

fn add(sums: &mut [u64], counts: &[u64]) {
    sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum = sum.wrapping_add(*count));
}

/// The value of each of some records, by its place on the grid or among the leaves.
pub(super) fn values(
    plan: &Plan,
    table: &Table,
    attribute: usize,
    rows: Range<usize>,
) -> Result<Vec<u32>, Error> {
    match table.column(attribute) {
        Some(Column::Categorical(codes)) => {
            let codes = codes.get(rows).unwrap_or_default();
            Ok(codes.iter().map(|code| u32::from(*code)).collect())
        }
        Some(Column::Numeric(points)) => Ok(points.get(rows).unwrap_or_default().to_vec()),
        _ => {
            let name = plan.schema().attributes[attribute].name.clone();
            Err(tree::missing_column(&name))
        }
    }
}
