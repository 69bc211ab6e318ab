//! How a party of a run meets its peer, and the peer's shards, if there are such.

use std::time::Duration;

use super::waiting::{Met, about_ports, while_peer_stays};
use super::{Options, Side, messages};
use crate::Error;
use crate::net::{AbortReason, Limits, Stop};
use crate::protocol::shards::Shard;
use crate::protocol::shards::remote::{Line, Remote};
use crate::protocol::{Session, Workspace};
use crate::publish::Watcher;
use crate::publish::meeting::{Door, Meeting};
use crate::publish::shards::{Opening, Workers};
use crate::release;

/// How long a party that may not run looks for its peer, to tell it.
const LONGEST_TELLING: Duration = Duration::from_secs(5);

impl Side<'_> {
    fn door<'d>(
        &'d self,
        meeting: &'d Meeting,
        limits: Limits,
        watcher: &'d dyn Watcher,
    ) -> Door<'d> {
        let role = self.party.role;
        let (identity, peer, stop) = (&self.identity, self.peer, watcher.stop());
        Door { meeting, identity, peer, role, limits, watcher, stop, listener: None }
    }

    /// Meets the peer, and its shards, if there are such.
    pub(super) fn meet(
        &self,
        options: Options,
        workers: Option<&dyn Workers>,
        watcher: &dyn Watcher,
    ) -> Result<Workspace, Error> {
        if let Some(shards) = release::shards::paired(self.agreement) {
            return self.meet_in_shards(shards, options, workers, watcher);
        }
        let terms = self.agreement.canonical();
        let mut door = self.door(&self.party.meeting, self.party.limits, watcher);
        let (Some(workers), Some(shards)) = (workers, release::shards::number(self.agreement))
        else {
            return Ok(door.meet(terms.as_bytes(), false)?.into());
        };
        // Nobody waits for shards that meet nobody: they have their records before the peer is met.
        let lines = workers.open(&Opening::alone(self.agreement, shards), &watcher.stop())?;
        watcher.say(&format!("{shards} shards have their records"));
        let mut session = Workspace::from(door.meet(terms.as_bytes(), false)?);
        session.shards.at_once = options.shards_at_once.max(1) as usize;
        ask_workers(&mut session, Some(workers), lines, watcher);
        Ok(session)
    }

    /// Meets the peer, and its shards, one after the other.
    fn meet_in_shards(
        &self,
        shards: usize,
        options: Options,
        workers: Option<&dyn Workers>,
        watcher: &dyn Watcher,
    ) -> Result<Workspace, Error> {
        let terms = self.agreement.canonical();
        let own_ports = options.shard_ports || workers.is_some();
        if own_ports {
            // A port above 65535 is rejected before connecting.
            self.party.meeting.of_shard(shards.saturating_sub(1))?;
        }
        let mut door = self.door(&self.party.meeting, self.party.limits, watcher);
        let mut session = Workspace::from(door.meet(terms.as_bytes(), !own_ports)?);
        let at_once = options.shards_at_once.max(1);
        session.shards.at_once = messages::exchange_at_once(&mut session, at_once)?;
        let opening = Opening::new(self.agreement, &session.id, shards);
        let about_ports = |failure| about_ports(failure, own_ports);
        let met = while_peer_stays(&mut session, watcher, about_ports, |stop| {
            if let Some(workers) = workers {
                return workers.open(&opening, stop).map(Met::Lines);
            }
            door.stop = stop.clone();
            let meet = |number| match own_ports {
                true => self.meet_at_port(&opening, number, watcher, stop),
                false => door.meet(&opening.terms(number), number + 1 < shards),
            };
            let met: Result<_, _> = (0..shards).map(meet).collect();
            met.map(Met::Sessions).map_err(about_ports)
        });
        match met? {
            Met::Lines(lines) => ask_workers(&mut session, workers, lines, watcher),
            Met::Sessions(sessions) => session.shards.sessions = sessions,
        }
        watcher.say(&format!("{shards} shards are connected"));
        Ok(session)
    }

    /// Meets one of the peer's shards at its own port.
    ///
    /// # Errors
    /// If it does not come, or the meeting has no such port.
    pub(in crate::publish) fn meet_shard(
        &self,
        opening: &Opening,
        shard: usize,
        watcher: &dyn Watcher,
    ) -> Result<Session, Error> {
        self.meet_at_port(opening, shard, watcher, &watcher.stop())
            .map_err(|failure| about_ports(failure, true))
    }

    fn meet_at_port(
        &self,
        opening: &Opening,
        shard: usize,
        watcher: &dyn Watcher,
        stop: &Stop,
    ) -> Result<Session, Error> {
        let meeting = self.party.meeting.of_shard(shard)?;
        let mut door = self.door(&meeting, self.party.limits, watcher);
        door.stop = stop.clone();
        door.meet(&opening.terms(shard), false)
    }

    /// Tells a peer that waits already that this side's cap lets no such run begin.
    pub(super) fn tell_of_cap(&self, terms: &str, watcher: &dyn Watcher) {
        let name = self.peer_name;
        watcher.say(&format!("the cap allows no such run; telling {name}, if it is there"));
        let connect = self.party.limits.connect.min(LONGEST_TELLING);
        let limits = Limits { connect, ..self.party.limits };
        let mut door = self.door(&self.party.meeting, limits, watcher);
        match door.meet(terms.as_bytes(), false) {
            Ok(mut session) => {
                session.channel.abort(AbortReason::OverCap);
                watcher.say(&format!("{name} is told"));
            }
            Err(_) => watcher.say(&format!("{name} could not be told")),
        }
    }
}

/// From now on the lead asks its shards over these lines.
fn ask_workers(
    session: &mut Workspace,
    workers: Option<&dyn Workers>,
    lines: Vec<Box<dyn Line>>,
    watcher: &dyn Watcher,
) {
    session.shards.records = workers.map(Workers::records);
    let remote = |line| Box::new(Remote::new(line)) as Box<dyn Shard>;
    session.shards.asked = lines.into_iter().map(remote).collect();
    session.stop_on(&watcher.stop());
}
