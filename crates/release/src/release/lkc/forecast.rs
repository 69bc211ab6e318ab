//! What a release by two parties will exchange, for a given order of examination; and a guess at one.

use rand::rngs::ChaCha8Rng;
use rand::{RngExt, SeedableRng};

use super::super::diffgen::forecast::Records;
use super::super::{Examined, matching};
use super::horizontal::Plan;
use super::state::Shared;
use super::vertical::{ASSUMPTIONS, Met, Named, OPENING, STRUCTURE, Worth};
use super::{Rule, groups, rows, sealed};
use crate::Error;
use crate::agreement::syntactic::{Linkage, Terms};
use crate::agreement::{Agreement, Partition};
use crate::crypto::commutative::Ristretto;
use crate::mechanism::heads;
use crate::protocol::forecast::Forecast;
use crate::protocol::{psi, shares, sum_by_group};
use crate::release::lkc::too_many_cells;
use crate::release::one_party;
use crate::role::Role;
use crate::table::{Candidate, CutValue, Cuts, Domain, Specialization};

/// The messages of [`super::vertical::release`] or [`super::horizontal::release`] for a run in which
/// this was examined; its number of rows, the empty ones included.
///
/// # Errors
/// For an agreement of one party, if there is too much to count, and those of a course that cannot be.
pub fn together(
    f: &mut Forecast,
    agreement: &Agreement,
    terms: &Terms,
    records: Records,
    course: &[Examined],
) -> Result<u64, Error> {
    match &agreement.partition {
        Partition::Vertical { .. } => {}
        Partition::Horizontal { overlap_check, .. } => {
            if overlap_check.is_some() {
                let (own, peer) = (records.own, records.peer);
                psi::forecast_cardinality(f, &Ristretto::default(), own, peer);
            }
            return Plan::new(agreement, terms).forecast(f, course);
        }
        Partition::Local => return Err(one_party()),
    }
    matching::forecast_intersection(f, agreement, ASSUMPTIONS, records.own, records.peer)?;
    matching::forecast_classes(f);
    f.begin_phase(STRUCTURE);
    let mut shared = Shared::new(agreement, terms, records.common);
    if let Some(holder) = shared.holder() {
        f.message_like(holder, &Met { met: true })?;
    }
    for Examined { made, performed } in course {
        heads::forecast(f, &shared.heads());
        let (candidate, owner) = (made.candidate, shared.owner(made.candidate.attribute));
        f.message_like(owner, &Named { place: 0 })?;
        match terms.linkage {
            Some(Linkage::Rows) => rows::forecast(f, &shared, owner, candidate)?,
            _ => sealed::forecast(f, &shared, owner, candidate)?,
        }
        if !performed {
            shared.refuse(candidate);
            continue;
        }
        if made.split.is_some() {
            matching::forecast_split(f, owner)?;
        }
        if terms.slack.is_some() {
            f.message_like(owner, &Worth { above: 0, below: 1 })?;
        }
        shared.perform(made)?;
    }
    heads::forecast(f, &shared.heads());
    let (_, layout, shape) = shared.release_table()?;
    sum_by_group::forecast_table(f, &shape)?;
    f.begin_phase(OPENING);
    shares::forecast_open(f, shape.bits, layout.entries());
    Ok(layout.entries() as u64)
}

/// Trees that a release could have, the smallest first: values are drawn at random and made finer as
/// long as people who divide about evenly would leave groups as large as required, and no further
/// than can be counted. The same trees every time.
///
/// # Errors
/// None for agreements of two parties.
pub fn random_trees(
    agreement: &Agreement,
    terms: &Terms,
    count: usize,
    records: Option<u64>,
) -> Result<Vec<Cuts>, Error> {
    let records = records.unwrap_or(agreement.max_records);
    let rules = Rule::of(terms, &agreement.schema);
    let is_likely = |widths: &[u64]| {
        is_likely(&rules, widths, records) && tested(&rules, widths) <= MOST_TESTED && {
            let rows = widths.iter().fold(1, |rows: u64, width| rows.saturating_mul(*width));
            rows.saturating_mul(rows_per_leaf(agreement, terms)) <= MOST_ROWS
        }
    };
    drawn_trees(agreement, terms, count.min(MOST_TREES), &is_likely)
}

/// How many times as many cells as for this tree may have to be tested in a run of as many people as are
/// agreed: the trees of [`random_trees`] are no larger than a forecast is made for quickly.
///
/// # Errors
/// None for agreements of two parties.
pub fn beyond(agreement: &Agreement, terms: &Terms, tree: &Cuts) -> Result<u64, Error> {
    let rules = Rule::of(terms, &agreement.schema);
    let weight = |tree: &Cuts| {
        let attributes = 0..agreement.schema.attributes.len();
        let widths: Vec<u64> = attributes.map(|place| tree.of(place).len() as u64).collect();
        // No test has more: a run that needs more ends.
        let cells = tested(&rules, &widths).clamp(1, sealed::MOST_CELLS as u64);
        let left = tree.candidates(terms.quasi(&agreement.schema)).len();
        cells.saturating_mul((tree.made().len() + left + 1) as u64)
    };
    let people = match agreement.partition {
        Partition::Horizontal { .. } => agreement.max_records.saturating_mul(2),
        _ => agreement.max_records,
    };
    let is_likely = |widths: &[u64]| is_likely(&rules, widths, people);
    let trees = drawn_trees(agreement, terms, FEW_TREES, &is_likely)?;
    let most = trees.iter().map(weight).max().unwrap_or(1);
    Ok(most.div_ceil(weight(tree)))
}

/// Refuses what is likely to be too much to count for so many records: a usual tree as far as groups
/// would allow it, and every test of what it leaves.
///
/// # Errors
/// If there is too much to count.
pub fn check_cells(agreement: &Agreement, terms: &Terms, records: usize) -> Result<(), Error> {
    if matches!(agreement.partition, Partition::Local) {
        return Ok(());
    }
    let rules = Rule::of(terms, &agreement.schema);
    let is_likely = |widths: &[u64]| is_likely(&rules, widths, records as u64);
    let trees = drawn_trees(agreement, terms, FEW_TREES, &is_likely)?;
    let Some(usual) = trees.get(trees.len() / 2) else { return Ok(()) };
    let rows = usual.leaves().saturating_mul(rows_per_leaf(agreement, terms));
    if rows > sum_by_group::MOST_SUMS as u64 {
        return Err(too_many_cells(rows));
    }
    if matches!(agreement.partition, Partition::Horizontal { .. }) {
        return Plan::new(agreement, terms).check(usual.made());
    }
    let mut shared = Shared::new(agreement, terms, records);
    // People may divide less evenly than these, and where they do not the run ends.
    let _ = usual.made().iter().try_for_each(|made| shared.perform(made).map(|_| ()));
    if terms.linkage == Some(Linkage::Rows) {
        return Ok(());
    }
    for owner in Role::BOTH {
        for candidate in shared.candidates(owner) {
            sealed::check(&shared, owner, candidate)?;
        }
    }
    Ok(())
}

/// Trees that are drawn at most: each takes a forecast's time.
const MOST_TREES: usize = 101;
/// Trees that are drawn before every run.
const FEW_TREES: usize = 21;
/// Steps of one of them.
const MOST_STEPS: usize = 200;
/// Rows of the trees that a forecast is made for.
const MOST_ROWS: u64 = 1 << 20;
/// Cells of all tests in them: each is as good as garbled when it is foretold.
const MOST_TESTED: u64 = 1 << 15;
/// By how much the smallest group is smaller than an average one, in a guess.
const UNEVEN: u64 = 3;

fn drawn_trees(
    agreement: &Agreement,
    terms: &Terms,
    count: usize,
    is_likely: &dyn Fn(&[u64]) -> bool,
) -> Result<Vec<Cuts>, Error> {
    // Nothing here is secret or released: the trees only size an estimate.
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut trees = Vec::with_capacity(count);
    for _ in 0..count {
        let mut cuts = Cuts::topmost(&agreement.schema);
        let mut widths = vec![1; agreement.schema.attributes.len()];
        let mut open: Vec<Candidate> = cuts.candidates(terms.quasi(&agreement.schema));
        while !open.is_empty() && cuts.made().len() < MOST_STEPS {
            let candidate = open.swap_remove(rng.random_range(0..open.len()));
            let more = cuts.number_of_children(candidate).saturating_sub(1) as u64;
            widths[candidate.attribute] += more;
            if !is_likely(&widths) {
                widths[candidate.attribute] -= more;
                continue;
            }
            let split = match candidate.value {
                CutValue::Interval { start, end } => Some(start + (end - start) / 2),
                CutValue::Value(_) => None,
            };
            let made = Specialization { candidate, split };
            let children = cuts.specialize(&made)?;
            let children = children.into_iter().map(|value| Candidate { value, ..candidate });
            open.extend(children.filter(|child| cuts.can_be_specialized(*child)));
        }
        trees.push(cuts);
    }
    trees.sort_by_key(Cuts::leaves);
    Ok(trees)
}

/// Rows for every leaf of the generalized attributes.
fn rows_per_leaf(agreement: &Agreement, terms: &Terms) -> u64 {
    let sensitive = groups::protected(terms, &agreement.schema);
    let values = sensitive.map(|(place, _)| match &agreement.schema.attributes[place].domain {
        Domain::Categorical(values) => values.leaves().len() as u64,
        _ => 1,
    });
    values.unwrap_or(1).saturating_mul(agreement.schema.class.values.len() as u64)
}

/// Whether people who divide about evenly over the cells of all combinations that a rule speaks of
/// would be as many as required in each.
fn is_likely(rules: &[Rule], widths: &[u64], records: u64) -> bool {
    let fits =
        |rule: &Rule| cells(rule, widths).saturating_mul(rule.k).saturating_mul(UNEVEN) <= records;
    rules.iter().all(fits)
}

/// Cells of all combinations that any rule speaks of.
fn tested(rules: &[Rule], widths: &[u64]) -> u64 {
    rules.iter().map(|rule| cells(rule, widths)).fold(0, u64::saturating_add)
}

/// Cells of all combinations that a rule speaks of: the sum over all sets of so many attributes of the
/// products of their widths.
fn cells(rule: &Rule, widths: &[u64]) -> u64 {
    let several: Vec<u64> =
        rule.attributes.iter().map(|place| widths[*place]).filter(|width| *width > 1).collect();
    let size = rule.most.min(several.len());
    let mut sums = vec![0u64; size + 1];
    sums[0] = 1;
    for width in several {
        for chosen in (1..=size).rev() {
            sums[chosen] = sums[chosen].saturating_add(sums[chosen - 1].saturating_mul(width));
        }
    }
    sums[size]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_those_of_all_sets_of_attributes_with_several_values() {
        let rule = |most| Rule { attributes: vec![0, 1, 2, 4], most, k: 2, part: (1, 1) };
        let widths = [2, 3, 1, 9, 5];
        assert_eq!(cells(&rule(1), &widths), 2 + 3 + 5);
        assert_eq!(cells(&rule(2), &widths), 2 * 3 + 2 * 5 + 3 * 5);
        assert_eq!(cells(&rule(3), &widths), 2 * 3 * 5);
        assert_eq!(cells(&rule(4), &widths), 2 * 3 * 5);
        assert_eq!(cells(&rule(2), &[u64::MAX; 5]), u64::MAX);
        assert!(is_likely(&[rule(3)], &widths, 180) && !is_likely(&[rule(3)], &widths, 179));
    }
}
