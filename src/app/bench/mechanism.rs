//! Two parties that run one mechanism: what `select` and `noise` have in common.

use std::thread;
use std::time::{Duration, Instant};

use crate::Error;
use crate::app::bench::net::loopback_pair;
use crate::app::bench::{Figure, Options};
use crate::math::{Randomness, Rational};
use crate::mechanism::noisy_max::NoiseWidths;
use crate::net::meter::CpuClock;
use crate::net::{self, Channel, Direction, Limits, Tag, memory};
use crate::privacy::slack::{Noises, PublicBounds};
use crate::privacy::{Budget, Epsilon, Spend};
use crate::protocol::transfers::{Assumptions, Source};
use crate::protocol::yao::{self, TABLES};
use crate::protocol::{Bulk, Session, Workspace};
use crate::role::Role;

const PHASE: &str = "mechanism";

/// What one party saw of a run, without the connection's and the circuits' set-up.
struct Seen {
    wall: Duration,
    cpu: Duration,
    bytes_sent: u64,
    rounds: u64,
    gates: usize,
}

/// What a run took both parties, without the connection's and the circuits' set-up.
pub(super) struct Measured {
    /// Milliseconds on the wall.
    pub millis: f64,
    /// Bytes of both directions.
    pub bytes: u64,
    /// In words: gates, bytes, rounds, processor time, network.
    pub parameters: String,
}

impl Measured {
    /// As a figure, the time as its value.
    pub fn figure(self, name: String) -> Figure {
        Figure::new(name, self.millis, "ms", self.parameters)
    }
}

/// Transfers for so many noises of these widths, as a release would take them.
pub(super) fn source(noises: usize, widths: NoiseWidths) -> Source {
    let count = noises * widths.digits as usize * 3 * widths.tau as usize;
    Source::suited_to(Assumptions::Lpn, count)
}

/// Runs `party` at both ends, over loopback TLS or in memory under a network model. With IKNP
/// everything is garbled, as in the papers.
pub(super) fn measure<E: std::error::Error + Send>(
    options: &Options,
    source: Source,
    party: impl Fn(&mut Workspace) -> Result<(), E> + Sync,
) -> Result<Measured, Error> {
    let (first, second) = match options.network {
        Some(network) => memory::pair_with_network(Limits::default(), network),
        None => loopback_pair()?,
    };
    let (p1, p2) = thread::scope(|scope| {
        let second = || one_party(second, Role::P2, source, &party);
        let other = thread::Builder::new().spawn_scoped(scope, second);
        let other = other.map_err(net::Error::NoThread)?;
        let p1 = one_party(first, Role::P1, source, &party);
        Ok::<_, Error>((p1, other.join().unwrap_or_else(|_| Err(net::Error::Closed.into()))))
    })?;
    let (p1, p2) = (p1?, p2?);
    let network = match options.network {
        Some(network) => format!("in memory, round trip {:?}", network.round_trip),
        None => "loopback TLS".to_owned(),
    };
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let bytes = p1.bytes_sent + p2.bytes_sent;
    let parameters = format!(
        "{} garbled ANDs, {} transfers, {:.2} MB, {} rounds, CPU {:.0} and {:.0} ms, {network}",
        p1.gates,
        source.name(),
        bytes as f64 / 1e6,
        p1.rounds.max(p2.rounds),
        millis(p1.cpu),
        millis(p2.cpu),
    );
    Ok(Measured { millis: millis(p1.wall.max(p2.wall)), bytes, parameters })
}

fn one_party<E: std::error::Error>(
    channel: Channel,
    role: Role,
    source: Source,
    party: &(impl Fn(&mut Workspace) -> Result<(), E> + Sync),
) -> Result<Seen, Error> {
    let rng = Randomness::from_os()?;
    let mut session = Workspace::from(Session::establish(channel, role, b"bench mechanism", rng)?);
    session.channel.restart_meter(CpuClock::Thread);
    session.use_transfers(source);
    if source != Source::Iknp {
        session.bulk = Bulk::SharedBits;
    }
    yao::set_up(&mut session, Role::P1).map_err(Error::internal)?;
    session.channel.begin_phase(PHASE);
    session.channel.record_transcript();
    let start = Instant::now();
    party(&mut session).map_err(Error::internal)?;
    let wall = start.elapsed();
    let costs = session.channel.costs().phase(PHASE);
    let sent = |tag: Tag| {
        let transcript = session.channel.transcript();
        let tables =
            transcript.iter().filter(|(way, name, _)| *way == Direction::Sent && *name == tag);
        tables.map(|(_, _, length)| *length).sum::<usize>()
    };
    Ok(Seen {
        wall,
        cpu: costs.cpu,
        bytes_sent: costs.bytes_sent,
        rounds: costs.rounds,
        gates: sent(TABLES) / crate::crypto::garble::BYTES_PER_AND,
    })
}

/// The right to spend `epsilon` once.
pub(super) fn spend(epsilon: &Rational) -> Result<Spend, crate::privacy::Error> {
    let all: Epsilon = "1".parse()?;
    Budget::new(&all).spend("bench", epsilon)
}

/// The widths of a run with ε = 1 whose only slack are these noises.
pub(super) fn widths(count: u64, rate: Rational) -> Result<NoiseWidths, Error> {
    let epsilon = "1".parse().map_err(Error::internal)?;
    let noises = vec![Noises { count, rate }];
    let bounds = PublicBounds { epsilon, noises, masked_values: 0, random_values: 0, failures: 0 };
    let widths = bounds.widths().map_err(Error::internal)?;
    Ok(NoiseWidths { tau: widths.tau, digits: widths.digits.first().copied().unwrap_or(1) })
}
