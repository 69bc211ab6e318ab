//! Rejects, before a run, what would take too long.

use super::super::hidden::joined::check_size;
use super::super::hidden::tables::{self, CountPlan};
use super::super::one_class::share_bits;
use super::super::sizes::Sizes;
use super::super::{Plan, histograms, terms};
use super::random_trees;
use crate::Error;
use crate::agreement::{Agreement, CountTable};
use crate::crypto::cuckoo;
use crate::release::shards;
use crate::release::tree::layout::Layout;
use crate::release::tree::utility::Utility;
use crate::table::Cuts;

/// Hashes of each party that a table of counts may take: about an hour at one per nanosecond, which
/// a processor without vector AES needs a night for.
pub const MOST_HASHES: u64 = 1 << 42;

/// Rejects a release whose table of counts would take too long: where the tree has more rows than
/// nineteen in twenty of [`random_trees`], for so many common records.
///
/// # Errors
/// If it would take too long, and those of [`Plan::new`] and [`Sizes::of`].
pub fn check_table(agreement: &Agreement, records: usize) -> Result<(), Error> {
    if terms(agreement)?.count_table != Some(CountTable::Transfers) {
        return Ok(());
    }
    let plan = Plan::new(agreement)?;
    let sizes = Sizes::of(agreement, &plan)?;
    let trees = random_trees(agreement, FEW_TREES, None)?;
    let Some(large) = trees.get(trees.len() * 95 / 100) else { return Ok(()) };
    if agreement.membership().is_hidden() {
        return check_hidden(agreement, &plan, &sizes, large, records);
    }
    let records = shards::padded(agreement, records);
    let shape = Layout::new(large, agreement).by_transfers(records, sizes.count_bits);
    let rows = shape.cells.iter().product::<usize>() as u64;
    if shape.hashes() > MOST_HASHES {
        return Err(Error::input(format!(
            "counting {records} people in a table of {rows} rows, as a large tree would have, takes more \
             than an hour of the fastest processor: lower `specializations`"
        )));
    }
    if histograms::hashes(&plan, records, share_bits(agreement))? > MOST_HASHES {
        return Err(histograms_too_long(records));
    }
    check_leaves(&plan, large, records)
}

/// The same where nobody learns who is common: everything runs over all bins of the larger table, which
/// is thought to have as many records as this one's, or is padded.
fn check_hidden(
    agreement: &Agreement,
    plan: &Plan,
    sizes: &Sizes,
    large: &Cuts,
    records: usize,
) -> Result<(), Error> {
    check_size(agreement, records)?;
    let records = agreement.pad_to().map_or(records, |pad| usize::try_from(pad).unwrap_or(records));
    let bins = match shards::number(agreement) {
        None => cuckoo::bins_for(records),
        Some(number) => number.saturating_mul(cuckoo::bins_for(shards::bound(records, number))),
    };
    let shape = CountPlan::new(Layout::new(large, agreement).cells(), sizes.count_bits);
    let words = (bins as u64).saturating_mul(shape.payloads as u64);
    let sums = shape.sums(bins);
    if words > MOST_PAYLOAD_WORDS || sums.hashes() > MOST_HASHES || sums.check().is_err() {
        return Err(Error::input(format!(
            "counting up to {records} people in {} combinations of values of the party that has fewer, \
             without knowing who is common, as a large tree would need, takes too long: lower \
             `specializations`, or `pad_to`",
            shape.payloads
        )));
    }
    if tables::histogram_hashes(plan, bins, share_bits(agreement))? > MOST_HASHES {
        return Err(histograms_too_long(records));
    }
    Ok(())
}

/// Words of unit vectors in all bins: three transfers and some 12 bytes each, about as long as
/// [`MOST_HASHES`].
const MOST_PAYLOAD_WORDS: u64 = 1 << 34;

/// Rejects leaf-max over more leaves of the party without the class than can be counted.
fn check_leaves(plan: &Plan, large: &Cuts, records: usize) -> Result<(), Error> {
    if plan.utility() != Utility::LeafMax || plan.class_owner().is_none() {
        return Ok(());
    }
    let together = (0..plan.schema().attributes.len()).filter(|a| plan.scores_together(*a));
    let leaves = together.fold(1, |leaves: usize, a| leaves.saturating_mul(large.of(a).len()));
    // Of the leaves that ever were, at most half have children; each is counted in every column.
    let columns = plan.schema().attributes.len() as u64;
    let cells = (leaves as u64).saturating_mul(4 * columns);
    if leaves > MOST_LEAVES || cells.saturating_mul(records as u64) > MOST_HASHES {
        return Err(Error::input(format!(
            "counting {records} people by class in each of {leaves} combinations of values of the party \
             without the class, as a large tree would have, takes too long: use utility = \"max\", or \
             lower `specializations`"
        )));
    }
    Ok(())
}

/// Leaves of the party without the class that leaf-max may have to score in shares.
const MOST_LEAVES: usize = 1 << 14;

/// Trees that are drawn to find a large one before every run.
const FEW_TREES: usize = 101;

/// An error for histograms of the columns of the party without the class that would take too long.
fn histograms_too_long(records: usize) -> Error {
    Error::input(format!(
        "counting {records} people by class and by each value of the party without the class, or of both \
         where membership is hidden, takes more than an hour of the fastest processor: use taxonomies \
         with fewer leaves, or coarser steps, there"
    ))
}
