//! What is known of a release, and refused, before anything is spent: each model's answer.

use super::Error;
use super::diffgen::sizes::Sizes;
use super::diffgen::{self, forecast};
use super::tree::output::most_bytes;
use crate::agreement::{Agreement, Model};
use crate::math::Rational;
use crate::privacy::Promise;

/// What a release will be like.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What it promises.
    pub promise: Promise,
    /// No release has a longer file; of paths, whose places no agreement lists, none that is likely.
    pub most_bytes: u64,
    /// No release has more rows.
    pub most_rows: u64,
    /// What an engineer may want to know, in lines.
    pub details: Vec<String>,
}

/// The plan of a release by one party.
///
/// # Errors
/// What the model refuses.
pub fn alone(agreement: &Agreement) -> Result<Plan, Error> {
    match &agreement.model {
        Model::DiffGen(terms) => {
            let plan = diffgen::Plan::new(agreement)?;
            // The samplers are exact, so nothing is lost to approximation.
            let (epsilon, delta) = (terms.epsilon.clone(), Rational::zero());
            let promise = Promise::Differential { epsilon, delta };
            let most_bytes = most_bytes(&agreement.schema, plan.specializations());
            Ok(Plan { promise, most_bytes, most_rows: plan.most_rows(), details: Vec::new() })
        }
        Model::Syntactic(terms) => Ok(super::lkc::plan(agreement, terms)),
        Model::Trajectory(terms) => Ok(super::trajectory::plan(agreement, terms)),
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => Ok(super::exact_counts::plan(agreement)),
    }
}

/// The plan of a release by two parties.
///
/// # Errors
/// What the model refuses, and agreements for one party.
pub fn together(agreement: &Agreement) -> Result<Plan, Error> {
    if agreement.parties().is_none() {
        return Err(Error::OneParty);
    }
    let alone = alone(agreement)?;
    match &agreement.model {
        Model::DiffGen(terms) => {
            let sizes = Sizes::of(agreement, &diffgen::Plan::new(agreement)?)?;
            let (epsilon, delta) = (terms.epsilon.clone(), sizes.widths.delta.clone());
            let promise = Promise::Differential { epsilon, delta };
            Ok(Plan { promise, details: vec![sizes.widths_in_words(terms)], ..alone })
        }
        Model::Syntactic(_) => Ok(alone),
        Model::Trajectory(_) => Ok(alone),
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => Ok(alone),
    }
}

/// No release with so many rows counts more people: as many as the tables may have, and what noise adds
/// but for a chance of 2^-40.
///
/// # Errors
/// What the model refuses.
pub fn most_people(agreement: &Agreement, rows: u64) -> Result<u64, Error> {
    let tables = if agreement.parties().is_some() { 2 } else { 1 };
    let people = agreement.max_records.saturating_mul(tables);
    let Model::DiffGen(_) = &agreement.model else { return Ok(people) };
    // Each of the noises is above 45/ε with a chance below e^-45 < 2^-64, and there are fewer than 2^23.
    let noises = Rational::whole(45 * agreement.model.noises());
    let widest = noises.checked_div(&diffgen::Plan::new(agreement)?.epsilon_counts());
    let widest = widest.and_then(|widest| u64::try_from(widest.ceil()).ok()).unwrap_or(u64::MAX);
    Ok(people.saturating_add(widest.saturating_mul(rows)))
}

/// What a release will look like, in lines for people; `records` is how many there are thought to be.
/// A party that gives its own number must not pass the lines on.
///
/// # Errors
/// What the model refuses.
pub fn outlook(agreement: &Agreement, records: Option<u64>) -> Result<Vec<String>, Error> {
    match &agreement.model {
        Model::DiffGen(_) => Ok(diffgen::outlook::outlook(agreement, records)?),
        Model::Syntactic(_) if agreement.parties().is_some() => Ok(vec![
            "Values are made as fine as every group allows; how fine that is depends on the data."
                .to_owned(),
        ]),
        Model::Trajectory(_) if agreement.parties().is_some() => Ok(vec![
            "Your anonymized paths without the pairs that the other party takes out, and its own \
             likewise."
                .to_owned(),
        ]),
        Model::Syntactic(_) | Model::Trajectory(_) => Ok(Vec::new()),
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => Ok(Vec::new()),
    }
}

/// Whether a party may come with so many records.
///
/// # Errors
/// If what the model does with them would take too long.
pub fn check_records(agreement: &Agreement, records: usize) -> Result<(), Error> {
    match &agreement.model {
        Model::DiffGen(_) => Ok(forecast::check_table(agreement, records)?),
        Model::Syntactic(terms) => super::lkc::forecast::check_cells(agreement, terms, records),
        Model::Trajectory(_) => Ok(()),
        #[cfg(any(test, feature = "testing"))]
        Model::ExactCounts => Ok(()),
    }
}
