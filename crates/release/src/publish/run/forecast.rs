//! What a run will exchange, from its first message to its last.

use super::{messages, unfinished};
use crate::Error;
use crate::agreement::{Agreement, Partition};
use crate::net::Costs;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::publish::manifest;
use crate::release::forecast::{Records, prepare, together};
use crate::release::rehearsal::noisy::{self, NoisyPlan};
use crate::release::{Examined, shards};
use crate::role::Role;

/// One party's side of a run in which this is examined, and the rows of its release. Neither party has
/// unfinished runs.
///
/// # Errors
/// As [`together`].
pub fn whole_run(
    agreement: &Agreement,
    role: Role,
    records: Records,
    course: &[Examined],
    finished_before: bool,
) -> Result<(Forecast, u64), Error> {
    let mut forecast = Forecast::new(role);
    Session::forecast(&mut forecast);
    if let Some(shards) = shards::paired(agreement) {
        messages::forecast_shards(&mut forecast, shards)?;
    }
    unfinished::forecast(&mut forecast, finished_before)?;
    prepare(&mut forecast, agreement)?;
    messages::forecast_heads(&mut forecast)?;
    let rows = together(&mut forecast, agreement, records, course)?;
    messages::forecast_end(&mut forecast, manifest::SIGNED_BYTES)?;
    Ok((forecast, rows))
}

/// One party's side of a noisy rehearsal, for `own` and `peer` records. Neither party has unfinished runs.
///
/// # Errors
/// If there are too many records.
pub fn whole_rehearsal(
    agreement: &Agreement,
    plan: &NoisyPlan,
    role: Role,
    records: [usize; 2],
    finished_before: bool,
) -> Result<Forecast, Error> {
    let mut forecast = Forecast::new(role);
    Session::forecast(&mut forecast);
    unfinished::forecast(&mut forecast, finished_before)?;
    noisy::forecast_prepare(&mut forecast, plan);
    messages::forecast_heads(&mut forecast)?;
    noisy::forecast(&mut forecast, agreement, plan, records, false)?;
    messages::forecast_closing(&mut forecast)?;
    Ok(forecast)
}

/// The records that an estimate is for: ours, and what is assumed of the peer's and of the common ones.
///
/// # Errors
/// If that cannot be, or no message depends on it.
pub fn assumed_records(
    agreement: &Agreement,
    own: usize,
    assumed: (Option<usize>, Option<usize>),
) -> Result<Records, Error> {
    if agreement.identifier().is_none() && assumed != (None, None) {
        return Err(Error::input(
            "under this agreement no message depends on how many records there are",
        )
        .advise("leave out --peer-records and --common-records"));
    }
    let peer = assumed.0.unwrap_or(own);
    if peer as u64 > agreement.most_records() {
        let bound = if agreement.pad_to().is_some() { "pad_to" } else { "max_records" };
        return Err(Error::input(format!(
            "the peer cannot have {peer} records: {bound} is {}",
            agreement.most_records()
        )));
    }
    let most = own.min(peer);
    let common = assumed.1.unwrap_or(most);
    if common > most {
        return Err(Error::input(format!(
            "{common} common records are more than one of the parties has ({own} and {peer})"
        ))
        .advise("give --common-records that is at most the smaller of both, or leave it out"));
    }
    Ok(Records { own, peer, common, ..Records::default() })
}

/// How many people would be released.
pub fn people(agreement: &Agreement, records: Records) -> u64 {
    let people = match agreement.partition {
        Partition::Horizontal { .. } => records.own.saturating_add(records.peer),
        _ => records.common,
    };
    people as u64
}

/// Whether a run exchanged, message by message, what its release and the numbers of records say;
/// nothing if there is no forecast. The phases around set-up, debit and release depend on both
/// ledgers and are left out.
pub(super) fn was_as_forecast(
    agreement: &Agreement,
    role: Role,
    records: Records,
    course: &[Examined],
    measured: &Costs,
) -> Option<bool> {
    let mut forecast = Forecast::new(role);
    prepare(&mut forecast, agreement).ok()?;
    // What comes between them always looks the same, and what follows is counted from there.
    messages::forecast_heads(&mut forecast).ok()?;
    together(&mut forecast, agreement, records, course).ok()?;
    Some(forecast.matches(measured))
}
