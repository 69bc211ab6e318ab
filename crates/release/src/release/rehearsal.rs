//! A rehearsal: how many people two parties have in common, before anything is released.
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
//! enters each in its ledger before the first message, and none twice
//! ([`Ledger::rehearse`](crate::privacy::ledger::Ledger::rehearse)).

use super::{Error, Step};
use crate::agreement::{Agreement, Rehearsal};
use crate::crypto::commutative::Ristretto;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::psi::{self, Cardinality};
use crate::table::Table;

/// What a rehearsal tells both parties.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rehearsed {
    /// Records of the peer.
    pub peer_records: usize,
    /// People whom both have.
    pub common: usize,
    /// For how many of them the class differs, where it is agreed to count that.
    pub differing: Option<usize>,
}

/// Counts with the peer. `table` has identifiers and, for labels, classes.
///
/// # Errors
/// [`Error::NoRehearsal`] unless the agreement allows it, and those of set intersection.
pub fn run(
    session: &mut Session,
    agreement: &Agreement,
    table: &Table,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Rehearsed, Error> {
    let allowed = allowed(agreement)?;
    let identifiers = table.identifiers().ok_or(Error::NoRehearsal)?;
    let starts = |total| progress(Step::Began { phase: "set intersection", total });
    let options = psi::Options {
        largest_set: usize::try_from(agreement.max_records).unwrap_or(usize::MAX),
        starts: &starts,
        progress: &|items| progress(Step::Advanced(items)),
    };
    let group = Ristretto::default();
    let Cardinality { common, peer_size } =
        psi::cardinality(session, &group, identifiers, options)?;
    let differing = match allowed {
        Rehearsal::Numbers => None,
        Rehearsal::Labels => {
            let labelled = labelled(table).ok_or(Error::NoRehearsal)?;
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
/// [`Error::NoRehearsal`] unless the agreement allows it.
pub fn forecast(
    f: &mut Forecast,
    agreement: &Agreement,
    own: usize,
    peer: usize,
) -> Result<(), Error> {
    let times = match allowed(agreement)? {
        Rehearsal::Numbers => 1,
        Rehearsal::Labels => 2,
    };
    (0..times).for_each(|_| psi::forecast_cardinality(f, &Ristretto::default(), own, peer));
    Ok(())
}

/// What a rehearsal under this agreement may tell.
///
/// # Errors
/// [`Error::NoRehearsal`] if there may be none.
pub fn allowed(agreement: &Agreement) -> Result<Rehearsal, Error> {
    agreement.matching().and_then(|matching| matching.rehearse).ok_or(Error::NoRehearsal)
}

/// Everybody's class and identifier as one text: the same at both parties where both are.
pub(super) fn labelled(table: &Table) -> Option<Vec<Vec<u8>>> {
    let people = table.identifiers()?.iter().zip(table.classes());
    Some(people.map(|(name, class)| [&[*class], name.as_bytes()].concat()).collect())
}
