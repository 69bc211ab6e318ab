//! What is known of a release, and rejected, before anything is spent, by model.

use super::model;
use crate::Error;
use crate::agreement::Agreement;
use crate::privacy::Promise;
use crate::release::one_party;
use crate::table::Specialization;

/// What a release will be like.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it promises.
    pub promise: Promise,
    /// No release has a longer file; of paths, whose places no agreement lists, none that is likely.
    pub most_bytes: u64,
    /// No release has more rows.
    pub most_rows: u64,
    /// Technical details, in lines.
    pub details: Vec<String>,
}

/// The plan of a release by one party.
///
/// # Errors
/// What the model rejects.
pub fn alone(agreement: &Agreement) -> Result<Plan, Error> {
    model::of(agreement).plan_alone(agreement)
}

/// The plan of a release by two parties.
///
/// # Errors
/// What the model rejects, and agreements for one party.
pub fn together(agreement: &Agreement) -> Result<Plan, Error> {
    if agreement.parties().is_none() {
        return Err(one_party());
    }
    model::of(agreement).plan_together(agreement)
}

/// No release with so many rows counts more people: as many as the tables may have, and what noise adds
/// but for a chance of 2^-40.
///
/// # Errors
/// What the model rejects.
pub fn most_people(agreement: &Agreement, rows: u64) -> Result<u64, Error> {
    let tables = if agreement.parties().is_some() { 2 } else { 1 };
    let people = agreement.max_records.saturating_mul(tables);
    Ok(people.saturating_add(model::of(agreement).most_added(agreement, rows)?))
}

/// No release has more specializations, if the agreement bounds them: each spends a part of ε.
///
/// # Errors
/// What the model refuses.
pub fn most_specializations(agreement: &Agreement) -> Result<Option<u32>, Error> {
    model::of(agreement).most_specializations(agreement)
}

/// Whether a release can have these specializations, in this order, where the agreement alone
/// determines them.
///
/// # Errors
/// What the model refuses.
pub fn allows(agreement: &Agreement, made: &[Specialization]) -> Result<bool, Error> {
    model::of(agreement).allows(agreement, made)
}

/// What a release will look like, in lines for people; `records` is how many there are thought to be.
/// A party that gives its own number must not pass the lines on.
///
/// # Errors
/// What the model rejects.
pub fn outlook(agreement: &Agreement, records: Option<u64>) -> Result<Vec<String>, Error> {
    model::of(agreement).outlook(agreement, records)
}

/// Whether a party may come with so many records.
///
/// # Errors
/// If what the model does with them would take too long.
pub fn check_records(agreement: &Agreement, records: usize) -> Result<(), Error> {
    model::of(agreement).check_records(agreement, records)
}
