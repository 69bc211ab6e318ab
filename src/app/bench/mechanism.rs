//! Two parties that run one mechanism: what `select` and `noise` have in common.

use std::fmt::Display;

use super::pair::{Line, pair};
use super::{BenchArgs, Figures};
use crate::Error;
use crate::crypto::garble::BYTES_PER_AND;
use crate::math::Rational;
use crate::mechanism::noisy_max::NoiseWidths;
use crate::net::Direction;
use crate::privacy::slack::{Noises, PublicBounds};
use crate::privacy::{Budget, Epsilon, Spend};
use crate::protocol::transfers::{Assumptions, Source};
use crate::protocol::yao::{self, TABLES};
use crate::protocol::{Bulk, Workspace};
use crate::role::Role;

const PHASE: &str = "mechanism";

/// What a run took both parties, without the set-up of the connection and of the circuits.
pub(super) struct Measured {
    /// Milliseconds on the wall.
    pub millis: f64,
    /// Bytes of both directions.
    pub bytes: u64,
    /// In words: gates, bytes, rounds, processor time, network.
    pub parameters: String,
}

impl Measured {
    /// Adds the time as a figure.
    pub fn add(self, name: String, out: &mut Figures) {
        out.add(name, self.millis, "ms", self.parameters);
    }
}

/// Transfers for so many noises of these widths, as a release would take them.
pub(super) fn source(noises: usize, widths: NoiseWidths) -> Source {
    let count = noises * widths.digits as usize * 3 * widths.tau as usize;
    Source::suited_to(Assumptions::Lpn, count)
}

/// Runs `party` at both ends, over loopback TLS or in memory under a network model. With IKNP
/// everything is garbled, as in the papers.
pub(super) fn measure<E: Display>(
    options: &BenchArgs,
    source: Source,
    party: impl Fn(&mut Workspace) -> Result<(), E> + Sync,
) -> Result<Measured, Error> {
    let prepared = |session: &mut Workspace| -> Result<(), Error> {
        session.use_transfers(source);
        if source != Source::Iknp {
            session.bulk = Bulk::SharedBits;
        }
        yao::set_up(session, Role::P1).map_err(Error::internal)?;
        session.channel.begin_phase(PHASE);
        party(session).map_err(Error::internal)
    };
    let line = if options.net.is_some() { options.memory() } else { Line::Tls };
    let run = pair(line, prepared, prepared)?;
    let [p1, p2] = run.phase(PHASE);
    let sent =
        run.transcript.iter().filter(|(way, tag, _)| (*way, *tag) == (Direction::Sent, TABLES));
    let gates = sent.map(|(.., length)| *length).sum::<usize>() / BYTES_PER_AND;
    let network = match options.net {
        Some(network) => format!("in memory, round trip {:?}", network.round_trip),
        None => "loopback TLS".to_owned(),
    };
    let bytes = p1.bytes_sent + p2.bytes_sent;
    let parameters = format!(
        "{gates} garbled ANDs, {} transfers, {:.2} MB, {} rounds, CPU {:.0} and {:.0} ms, {network}",
        source.name(),
        bytes as f64 / 1e6,
        p1.rounds.max(p2.rounds),
        p1.cpu.as_secs_f64() * 1e3,
        p2.cpu.as_secs_f64() * 1e3,
    );
    Ok(Measured { millis: p1.wall.max(p2.wall).as_secs_f64() * 1e3, bytes, parameters })
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
