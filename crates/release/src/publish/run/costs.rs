//! The costs of a run, which only this party may see: sizes are not differentially private.

use serde_json::json;

use super::{Side, forecast};
use crate::Error;
use crate::net::{Costs, Direction};
use crate::protocol::Workspace;
use crate::publish::artefacts::Output;
use crate::publish::{Event, Watcher};
use crate::release::Examined;
use crate::release::forecast::Records;
use crate::release::trajectory::union::Extent;

/// The file under `private/`.
pub const COSTS: &str = "costs.json";
const MESSAGES: &str = "messages.csv";

/// The sizes of a run, as far as this party knows them at the end.
pub(super) struct About {
    /// Records of this party.
    pub own: usize,
    /// Of the peer, if that became known.
    pub peer: Option<usize>,
    /// Of both, if that became known.
    pub common: Option<usize>,
    /// What was examined.
    pub course: Vec<Examined>,
    /// How much both revealed of paths.
    pub paths: [Extent; 2],
}

/// Writes the costs of the run, and the shape of the conversation if it was recorded.
pub(super) fn write(
    output: &Output,
    side: &Side<'_>,
    session: &Workspace,
    about: &About,
    record: bool,
) -> Result<(), Error> {
    let costs = session.costs();
    // An unknown size was not exchanged, and no message depends on it.
    let records = Records {
        own: about.own,
        peer: about.peer.unwrap_or_default(),
        common: about.common.unwrap_or_default(),
        paths: about.paths,
    };
    let (agreement, role) = (side.agreement, side.party.role);
    let as_forecast = forecast::was_as_forecast(agreement, role, records, &about.course, &costs);
    let mut phases = costs.phases.clone();
    phases.push(costs.total());
    let phases: Vec<_> = phases
        .iter()
        .map(|phase| {
            json!({
                "phase": phase.phase,
                "bytes_sent": phase.bytes_sent,
                "bytes_received": phase.bytes_received,
                "messages_sent": phase.messages_sent,
                "messages_received": phase.messages_received,
                "rounds": phase.rounds,
                "wall_seconds": phase.wall.as_secs_f64(),
                "cpu_seconds": phase.cpu.as_secs_f64(),
            })
        })
        .collect();
    let page = json!({
        "private": "for this party only: sizes and times are not protected by ε",
        "release": side.agreement.id,
        "party": side.party.role.to_string(),
        "records": about.own,
        "peer_records": about.peer,
        "common_records": about.common,
        "as_forecast": as_forecast,
        "phases": phases,
    });
    let text = serde_json::to_string_pretty(&page).map_err(Error::internal)? + "\n";
    output.write_private(COSTS, &text)?;
    if record {
        let mut table = String::from("direction,kind,bytes\n");
        for (direction, tag, bytes) in session.transcript() {
            let direction = if direction == Direction::Sent { "sent" } else { "received" };
            table += &format!("{direction},{},{bytes}\n", tag.bytes().escape_ascii());
        }
        output.write_private(MESSAGES, &table)?;
    }
    Ok(())
}

/// Reports how far a failed run came.
pub(super) fn tell_end(costs: &Costs, watcher: &dyn Watcher) {
    let (Some(last), total) = (costs.phases.last(), costs.total()) else { return };
    let (sent, received) = (bytes(total.bytes_sent), bytes(total.bytes_received));
    let ended = format!(
        "the run ended in phase \"{}\" after {:.2} s; until then {sent} were sent and {received} received",
        last.phase,
        total.wall.as_secs_f64(),
    );
    watcher.tell(Event::Ended, &ended);
}

/// A number of bytes for people.
pub fn bytes(count: u64) -> String {
    match count {
        0..10_000 => format!("{count} B"),
        10_000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        1_000_000..10_000_000_000 => format!("{:.1} MB", count as f64 / 1e6),
        _ => format!("{:.1} GB", count as f64 / 1e9),
    }
}

/// The phases in a file that [`write`] wrote.
pub fn read(text: &str) -> Option<Costs> {
    let page: serde_json::Value = serde_json::from_str(text).ok()?;
    let number = |phase: &serde_json::Value, key: &str| phase.get(key)?.as_u64();
    let seconds = |phase: &serde_json::Value, key: &str| {
        std::time::Duration::try_from_secs_f64(phase.get(key)?.as_f64()?).ok()
    };
    let mut phases = Vec::new();
    for phase in page.get("phases")?.as_array()? {
        phases.push(crate::net::meter::PhaseCost {
            phase: phase.get("phase")?.as_str()?.to_owned(),
            bytes_sent: number(phase, "bytes_sent")?,
            bytes_received: number(phase, "bytes_received")?,
            messages_sent: number(phase, "messages_sent")?,
            messages_received: number(phase, "messages_received")?,
            rounds: number(phase, "rounds")?,
            shape: 0, // compared when the file was written
            wall: seconds(phase, "wall_seconds")?,
            cpu: seconds(phase, "cpu_seconds")?,
        });
    }
    phases.pop();
    Some(Costs { phases })
}
