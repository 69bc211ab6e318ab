//! The time limit of a whole run. Every wait has its own limit, but a peer that sends something
//! just before the end of each could delay a run for days.

use std::time::Duration;

use super::Side;
use super::forecast::{whole_rehearsal, whole_run};
use crate::Error;
use crate::net::Limits;
use crate::protocol::forecast::{Forecast, Work};
use crate::release::forecast::{Records, beyond, course, key_bits, random_trees};
use crate::release::rehearsal::noisy::NoisyPlan;
use crate::release::trajectory::union::Extent;
use crate::role::Role;

/// The shortest time limit.
const LEAST: Duration = Duration::from_secs(600);
/// The longest time limit, unless the party file says otherwise.
const MOST: Duration = Duration::from_secs(365 * 86_400);
/// The factor between the time on the slowest line with a slow machine and the limit.
const TIMES: u32 = 10;
/// Trees that are drawn to find a large one: enough for a bound that is this generous.
const TREES: usize = 21;
/// Length of the Paillier keys that the times below are for.
const KEY_BITS: u128 = 3072;

/// How long a run may take: what the party file says, or else ten times the forecast for a large
/// tree, for as many records of the peer as are agreed, on the slowest line that does not count as
/// stalled and two slow machines.
pub(super) fn of(side: &Side<'_>, own: Records) -> Result<Duration, Error> {
    if let Some(limit) = side.party.run_limit {
        return Ok(limit);
    }
    let agreement = side.agreement;
    let most = usize::try_from(agreement.most_records()).unwrap_or(usize::MAX);
    let paths = [own.paths[0], Extent::most(agreement)];
    let records = Records { own: own.own, peer: most, common: own.own, paths };
    let trees = random_trees(agreement, TREES, None)?;
    let course = trees.last().map(|tree| course(agreement, tree)).unwrap_or_default();
    let beyond = trees.last().map_or(Ok(1), |tree| beyond(agreement, tree))?;
    let of_role = |role: Role| {
        let records = if role == side.party.role { records } else { records.turned() };
        Ok(whole_run(agreement, role, records, &course, true)?.0)
    };
    limit(side, key_bits(agreement), beyond, of_role)
}

/// The same of a noisy rehearsal.
pub(super) fn of_rehearsal(
    side: &Side<'_>,
    plan: &NoisyPlan,
    own: usize,
) -> Result<Duration, Error> {
    if let Some(limit) = side.party.run_limit {
        return Ok(limit);
    }
    let most = usize::try_from(side.agreement.most_records()).unwrap_or(usize::MAX);
    limit(side, 0, 1, |role| {
        let records = if role == side.party.role { [own, most] } else { [most, own] };
        whole_rehearsal(side.agreement, plan, role, records, true)
    })
}

/// Ten times what both parties' sides of a conversation take, one after the other, and so many times more.
fn limit(
    side: &Side<'_>,
    key_bits: usize,
    beyond: u64,
    of_role: impl Fn(Role) -> Result<Forecast, Error>,
) -> Result<Duration, Error> {
    let mut nanoseconds = 0;
    for role in Role::BOTH {
        let forecast = of_role(role)?;
        nanoseconds += cpu_nanoseconds(&forecast, key_bits as u128);
        // One party's messages are all messages.
        let total = forecast.costs().total();
        if role == side.party.role {
            let bytes = total.bytes_sent.saturating_add(total.bytes_received);
            nanoseconds += Limits::time_for(bytes).as_nanos();
        }
    }
    let times = u128::from(TIMES).saturating_mul(u128::from(beyond));
    let seconds = (nanoseconds / 1_000_000_000).saturating_mul(times);
    let seconds = Duration::from_secs(u64::try_from(seconds).unwrap_or(u64::MAX));
    Ok(seconds.clamp(LEAST, MOST))
}

/// What a conversation takes a slow machine with one core.
fn cpu_nanoseconds(forecast: &Forecast, key_bits: u128) -> u128 {
    let works = forecast.works().into_iter().flat_map(|(_, works)| works);
    works.map(|(work, times)| u128::from(times) * slow_nanoseconds(work, key_bits)).sum()
}

/// Several times what a machine of 2020 takes without vector instructions.
fn slow_nanoseconds(work: Work, key_bits: u128) -> u128 {
    let under_a_key =
        |nanoseconds: u128| nanoseconds * key_bits.pow(3).max(KEY_BITS.pow(3)) / KEY_BITS.pow(3);
    match work {
        Work::GroupOperation => 300_000,
        Work::BaseTransfers => 200_000_000,
        Work::Transfer => 2_000,
        Work::Element | Work::Lookup => 20_000,
        Work::Garble | Work::Evaluate | Work::Hash => 1_000,
        Work::MakeKey => under_a_key(30_000_000_000),
        Work::CheckKey => under_a_key(1_000_000_000),
        Work::Encrypt | Work::Decrypt | Work::Rerandomise => under_a_key(50_000_000),
        Work::Add | Work::PowerBit => under_a_key(100_000),
    }
}
