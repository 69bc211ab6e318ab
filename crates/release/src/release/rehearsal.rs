//! A rehearsal: how many people two parties have in common, before anything is released.
//!
//! Two kinds: an exact one, outside ε, which is here, and one with noise that spends ε ([`noisy`]).
//!
//! *Inputs*: identifiers, and classes if the agreement says so. *Output*, to both: how many records
//! the other has, how many people are common and, with labels, for how many of these the class
//! differs. Nobody learns who they are.
//!
//! Set-intersection cardinality, with a fresh key each time: over identifiers, and with labels once
//! more over pairs of identifier and class. Who is common with the same class is common, so the
//! difference of the two numbers is how many classes differ.
//!
//! *Outside ε*: two rehearsals on tables that differ in one person tell about that person. The caller
//! enters each in its ledger before the first message, and the ledger has one for a data set and a peer
//! ([`Ledger::rehearse`](crate::privacy::ledger::Ledger::rehearse)).

pub mod noisy;

use super::Step;
use crate::Error;
use crate::agreement::{Agreement, Rehearsal};
use crate::crypto::commutative::Ristretto;
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::protocol::psi::{self, Cardinality};
use crate::table::Table;

/// What an exact rehearsal reveals to both parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rehearsed {
    /// Records of the peer.
    pub peer_records: usize,
    /// People whom both have.
    pub common: usize,
    /// For how many of them the class differs, where it is agreed to count that.
    pub differing: Option<usize>,
}

/// Counts exactly with the peer. `table` has identifiers and, for labels, classes.
///
/// # Errors
/// Unless the agreement allows it, and those of set intersection.
pub fn run(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Rehearsed, Error> {
    let with_labels = with_labels(agreement)?;
    let identifiers = table.identifiers().ok_or_else(no_rehearsal)?;
    let starts = |total| progress(Step::Began { phase: "set intersection", total });
    let options = psi::Options {
        largest_set: usize::try_from(agreement.max_records).unwrap_or(usize::MAX),
        starts: &starts,
        progress: &|items| progress(Step::Advanced(items)),
    };
    let group = Ristretto::default();
    let Cardinality { common, peer_size } =
        psi::cardinality(session, &group, identifiers, options)?;
    let differing = match with_labels {
        false => None,
        true => {
            let labelled = labelled(table).ok_or_else(no_rehearsal)?;
            let same = psi::cardinality(session, &group, &labelled, options)?;
            Some(common.saturating_sub(same.common))
        }
    };
    progress(Step::Ended);
    Ok(Rehearsed { peer_records: peer_size, common, differing })
}

/// The messages of [`run`], for tables of `own` and `peer` records.
///
/// # Errors
/// Unless the agreement allows it.
pub fn forecast(
    f: &mut Forecast,
    agreement: &Agreement,
    own: usize,
    peer: usize,
) -> Result<(), Error> {
    let times = if with_labels(agreement)? { 2 } else { 1 };
    (0..times).for_each(|_| psi::forecast_cardinality(f, &Ristretto::default(), own, peer));
    Ok(())
}

/// What a rehearsal under this agreement may reveal.
///
/// # Errors
/// If there may be none.
pub fn allowed(agreement: &Agreement) -> Result<Rehearsal, Error> {
    agreement.matching().and_then(|matching| matching.rehearse).ok_or_else(no_rehearsal)
}

fn no_rehearsal() -> Error {
    Error::input(
        "the agreement allows no such rehearsal: agree on `rehearse = \"noisy\"` in [id], which spends a \
         small ε; or, once for a data set and a peer, on `true`, or \"labels\" to count differing labels \
         too",
    )
}

/// Whether an exact rehearsal counts labels too.
fn with_labels(agreement: &Agreement) -> Result<bool, Error> {
    match allowed(agreement)? {
        Rehearsal::Numbers => Ok(false),
        Rehearsal::Labels => Ok(true),
        Rehearsal::Noisy { .. } => Err(no_rehearsal()),
    }
}

/// Everybody's class and identifier as one text: the same at both parties where both are.
pub(super) fn labelled(table: &Table) -> Option<Vec<Vec<u8>>> {
    let people = table.identifiers()?.iter().zip(table.classes());
    Some(people.map(|(name, class)| [&[*class], name.as_bytes()].concat()).collect())
}
