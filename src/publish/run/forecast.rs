//! What a run will exchange, from its first message to its last.

use super::{messages, unfinished};
use crate::agreement::Agreement;
use crate::net::Costs;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::publish::failure::Failure;
use crate::publish::manifest;
use crate::release::forecast::{Records, prepare, together};
use crate::role::Role;
use crate::table::Specialization;

/// One party's side of a run that leads to this tree, and the rows of its release. Neither party has
/// unfinished runs.
///
/// # Errors
/// As [`release::diffgen::forecast::release`](crate::release::diffgen::forecast::release).
pub fn whole_run(
    agreement: &Agreement,
    role: Role,
    records: Records,
    tree: &[Specialization],
    finished_before: bool,
) -> Result<(Forecast, u64), Failure> {
    let mut forecast = Forecast::new(role);
    Session::forecast(&mut forecast);
    unfinished::forecast(&mut forecast, finished_before)?;
    prepare(&mut forecast, agreement)?;
    messages::forecast_heads(&mut forecast)?;
    let rows = together(&mut forecast, agreement, records, tree)?;
    messages::forecast_end(&mut forecast, manifest::SIGNED_BYTES)?;
    Ok((forecast, rows))
}

/// Whether a run exchanged, message by message, what its release and the numbers of records say;
/// nothing if there is no forecast. The phases around set-up, debit and release depend on both
/// ledgers and are left out.
pub(super) fn was_as_forecast(
    agreement: &Agreement,
    role: Role,
    records: Records,
    tree: &[Specialization],
    measured: &Costs,
) -> Option<bool> {
    let mut forecast = Forecast::new(role);
    prepare(&mut forecast, agreement).ok()?;
    // What comes between them always looks the same, and what follows is counted from there.
    messages::forecast_heads(&mut forecast).ok()?;
    together(&mut forecast, agreement, records, tree).ok()?;
    Some(forecast.matches(measured))
}
