//! The way in which everything that two parties do is measured: both run in this process, in memory
//! or over loopback TLS.

use std::fmt::Display;
use std::thread;

use super::Figures;
use super::net::loopback_pair;
use super::process::{Taken, taken};
use crate::Error;
use crate::math::Randomness;
use crate::net::meter::{CpuClock, PhaseCost};
use crate::net::{self, Channel, Costs, Transcript};
use crate::protocol::pair::{Both, Outcome, Setup, try_run_workspaces};
use crate::protocol::{Session, Workspace};
use crate::role::Role;

/// How the two parties are connected.
pub(super) enum Line {
    Memory(Setup),
    Tls,
}

/// What the two parties found, and what it took.
pub(super) struct Pair<A, B> {
    pub p1: A,
    pub p2: B,
    pub taken: Taken,
    pub costs: [Costs; 2],
    /// The messages as P1 saw them.
    pub transcript: Transcript,
}

impl<A, B> Pair<A, B> {
    /// Bytes of both directions.
    pub fn bytes(&self) -> f64 {
        self.costs.iter().map(|costs| costs.total().bytes_sent as f64).sum()
    }

    /// What a phase cost each party.
    pub fn phase(&self, name: &str) -> [PhaseCost; 2] {
        self.costs.each_ref().map(|costs| costs.phase(name))
    }

    /// Adds what the whole run took; `count` items of a kind were processed.
    pub fn add_whole(
        &self,
        name: &str,
        note: &str,
        (count, item): (usize, &str),
        out: &mut Figures,
    ) {
        let Taken { wall, cpu, peak_bytes } = self.taken;
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let (bytes, each) = (self.bytes(), self.bytes() / count.max(1) as f64);
        out.add(format!("{name}: CPU"), cpu, "s", format!("both parties, {note}"));
        out.add(format!("{name}: wall"), wall, "s", format!("both parties on {cores} cores"));
        out.add(format!("{name}: bytes"), bytes / 1e6, "MB", "both directions");
        out.add(format!("{name}: bytes per {item}"), each, "bytes", "both directions");
        if let Some(peak) = peak_bytes {
            let note = "both parties and their inputs in one process";
            out.add(format!("{name}: peak memory"), peak as f64 / 1e6, "MB", note);
        }
    }

    /// Adds what one of `count` items took.
    pub fn add_each(&self, name: &str, note: &str, count: usize, out: &mut Figures) {
        let Taken { wall, cpu, .. } = self.taken;
        let values = [
            ("processor", cpu * 1e9, "ns CPU"),
            ("wall", wall * 1e9, "ns"),
            ("line", self.bytes(), "bytes"),
        ];
        for (what, total, unit) in values {
            out.add(format!("{name}: {what}"), total / count as f64, unit, note);
        }
    }
}

/// Runs both parties to their ends.
pub(super) fn pair<A: Send, B: Send, E: Display + Send, F: Display + Send>(
    line: Line,
    p1: impl FnOnce(&mut Workspace) -> Result<A, E> + Send,
    p2: impl FnOnce(&mut Workspace) -> Result<B, F> + Send,
) -> Result<Pair<A, B>, Error> {
    let (outcome, taken) = match line {
        Line::Memory(setup) => taken(|| try_run_workspaces(setup, p1, p2)),
        Line::Tls => {
            let channels = loopback_pair()?;
            taken(|| over_tls(channels, p1, p2))
        }
    };
    let Outcome { p1, p2, transcripts, costs } = outcome?;
    Ok(Pair {
        p1: p1.map_err(Error::internal)?,
        p2: p2.map_err(Error::internal)?,
        taken,
        costs: [costs.p1, costs.p2],
        transcript: transcripts.p1,
    })
}

fn over_tls<A: Send, B>(
    (first, second): (Channel, Channel),
    p1: impl FnOnce(&mut Workspace) -> A + Send,
    p2: impl FnOnce(&mut Workspace) -> B,
) -> Result<Outcome<A, B>, net::Error> {
    let (first, second) = thread::scope(|scope| {
        let first = || one_party(first, Role::P1, p1);
        let other =
            thread::Builder::new().spawn_scoped(scope, first).map_err(net::Error::NoThread)?;
        let second = one_party(second, Role::P2, p2);
        Ok::<_, net::Error>((other.join().map_err(|_| net::Error::Closed)??, second?))
    })?;
    Ok(Outcome {
        p1: first.0,
        p2: second.0,
        transcripts: Both { p1: first.1, p2: second.1 },
        costs: Both { p1: first.2, p2: second.2 },
    })
}

fn one_party<T>(
    channel: Channel,
    role: Role,
    party: impl FnOnce(&mut Workspace) -> T,
) -> Result<(T, Transcript, Costs), net::Error> {
    let session = Session::establish(channel, role, b"bench", Randomness::from_os()?)?;
    let mut session = Workspace::from(session);
    session.channel.restart_meter(CpuClock::Thread);
    session.channel.record_transcript();
    let found = party(&mut session);
    Ok((found, session.transcript(), session.costs()))
}
