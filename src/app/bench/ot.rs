//! Base transfers and extended oblivious transfers.

use std::time::Instant;

use crate::app::bench::process::{Taken, taken};
use crate::app::bench::scalar_product::total_bytes;
use crate::app::bench::{Figure, Options};
use crate::crypto::garble::Delta;
use crate::math::Randomness;
use crate::net::{Costs, Error};
use crate::protocol::Session;
use crate::protocol::ot::{Receiver, Sender};
use crate::protocol::pair::{Outcome, run_pair};
use crate::protocol::transfers::{Source, set_up_receiver, set_up_sender};
use crate::publish::failure::Failure;

const CORRELATED: usize = 1 << 24;
const CHOSEN: usize = 1 << 21;
const LIMIT: &str = "limit: per transfer 1 AES block to send and 2 to receive (0.85 ns each), \
                     16 bytes moved, 128 bits transposed";

/// 128 base transfers; correlated, random and chosen extended transfers in memory.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Failure> {
    // A modelled network gets less work, so that the measurement ends.
    let share = if options.network.is_some() || options.quick { 64 } else { 1 };
    let (correlated, chosen) = (CORRELATED / share, CHOSEN / share);
    let choices = |count: usize| -> Result<Vec<bool>, Failure> {
        let mut rng = Randomness::from_os()?;
        let word = u128::from_le_bytes(rng.array());
        Ok((0..count).map(|i| word >> (i % 127) & 1 == 1).collect())
    };
    let mut figures = Vec::new();
    let setup = measure(options, |_, _| Ok(()), |_, _| Ok(()))?;
    figures.push(Figure::new(
        "128 base transfers",
        setup.setup_seconds * 1e3,
        "ms",
        "wall time until both have their seeds; limit: 128 variable-base multiplications",
    ));
    for (who, seconds) in ["who will send", "who will receive"].iter().zip(setup.setup_cpu) {
        figures.push(Figure::new(
            format!("128 base transfers: party {who}"),
            seconds * 1e3,
            "ms CPU",
            "of one core",
        ));
    }
    let bits = choices(correlated)?;
    let run = measure(
        options,
        |session, sender| sender.correlated_chunks(session, correlated, &mut drop_rows),
        |session, receiver| receiver.correlated_chunks(session, &bits, &mut drop_rows),
    )?;
    figures.extend(run.figures("correlated", correlated, LIMIT));
    let bits = choices(chosen)?;
    let run = measure(
        options,
        |session, sender| sender.random(session, chosen).map(drop),
        |session, receiver| receiver.random(session, &bits).map(drop),
    )?;
    figures.extend(run.figures("random", chosen, "as correlated, and 2 or 1 hashes"));
    let pairs = vec![[1, 2]; chosen];
    let run = measure(
        options,
        |session, sender| sender.chosen(session, &pairs),
        |session, receiver| receiver.chosen(session, &bits).map(drop),
    )?;
    figures.extend(run.figures("chosen", chosen, "as random, and 32 bytes back"));
    for source in Source::ALL {
        figures.extend(by_source(options, source, correlated)?);
    }
    Ok(figures)
}

/// Transfers with random choices as other protocols take them, their set-up included.
fn by_source(options: &Options, source: Source, count: usize) -> Result<[Figure; 3], Failure> {
    let (outcome, taken) = taken(|| {
        run_pair(
            options.setup(),
            |session| {
                let delta = Delta::random(&mut session.rng);
                let mut sender = set_up_sender(session, source, delta)?;
                in_parts(count, |part, rows| sender.extend(session, part, rows))
            },
            |session| {
                let mut receiver = set_up_receiver(session, source)?;
                in_parts(count, |part, rows| receiver.extend(session, part, rows))
            },
        )
    });
    let note = format!("per transfer of {count}, both sides and set-up, all cores");
    per_item(&format!("{} transfers", source.name()), count, &note, taken, outcome)
}

/// What one of `count` things took both parties, done together by any of the sources.
pub(super) fn per_item<E: std::error::Error>(
    name: &str,
    count: usize,
    note: &str,
    taken: Taken,
    outcome: Outcome<Result<(), E>, Result<(), E>>,
) -> Result<[Figure; 3], Failure> {
    let failed = |error: E| Failure::failed(error.to_string());
    outcome.p1.map_err(failed)?;
    outcome.p2.map_err(failed)?;
    let bytes = total_bytes(&outcome.costs.p1, &outcome.costs.p2) as f64;
    let figure = |what, total: f64, unit| {
        Figure::new(format!("{name}: {what}"), total / count as f64, unit, note)
    };
    Ok([
        figure("processor", taken.cpu * 1e9, "ns CPU"),
        figure("wall", taken.wall * 1e9, "ns"),
        figure("line", bytes, "bytes"),
    ])
}

/// Asks for transfers some at a time, and forgets them.
fn in_parts(
    count: usize,
    mut extend: impl FnMut(usize, &mut Vec<u128>) -> Result<(), Error>,
) -> Result<(), Error> {
    const PART: usize = 1 << 18;
    let mut rows = Vec::with_capacity(PART);
    for first in (0..count).step_by(PART) {
        rows.clear();
        extend(PART.min(count - first), &mut rows)?;
        drop_rows(&rows);
    }
    Ok(())
}

fn drop_rows(rows: &[u128]) {
    std::hint::black_box(rows);
}

struct Measured {
    setup_seconds: f64,
    setup_cpu: [f64; 2],
    seconds: f64,
    cpu: [f64; 2],
}

impl Measured {
    fn figures(&self, name: &str, count: usize, limit: &str) -> Vec<Figure> {
        let parameters = format!("{count} transfers in memory; {limit}");
        let per = |seconds: f64| seconds * 1e9 / count as f64;
        vec![
            Figure::new(
                format!("{name} transfers"),
                count as f64 / self.seconds,
                "per second",
                parameters.as_str(),
            ),
            Figure::new(format!("{name}: sender"), per(self.cpu[0]), "ns CPU", "per transfer"),
            Figure::new(format!("{name}: receiver"), per(self.cpu[1]), "ns CPU", "per transfer"),
        ]
    }
}

fn measure(
    options: &Options,
    send: impl FnOnce(&mut Session, &mut Sender) -> Result<(), Error> + Send,
    receive: impl FnOnce(&mut Session, &mut Receiver) -> Result<(), Error> + Send,
) -> Result<Measured, Failure> {
    let outcome: Outcome<Result<f64, Error>, Result<f64, Error>> = run_pair(
        options.setup(),
        |session| {
            let delta = Delta::random(&mut session.rng);
            let mut sender = Sender::setup(session, delta)?;
            session.channel.begin_phase("transfers");
            let start = Instant::now();
            send(session, &mut sender)?;
            Ok(start.elapsed().as_secs_f64())
        },
        |session| {
            let start = Instant::now();
            let mut receiver = Receiver::setup(session)?;
            let setup = start.elapsed().as_secs_f64();
            session.channel.begin_phase("transfers");
            receive(session, &mut receiver)?;
            Ok(setup)
        },
    );
    let cpu = |costs: &Costs| costs.phase("transfers").cpu.as_secs_f64();
    let before = |costs: &Costs| costs.total().cpu.as_secs_f64() - cpu(costs);
    Ok(Measured {
        setup_seconds: outcome.p2.map_err(Failure::failed)?,
        setup_cpu: [before(&outcome.costs.p1), before(&outcome.costs.p2)],
        seconds: outcome.p1.map_err(Failure::failed)?,
        cpu: [cpu(&outcome.costs.p1), cpu(&outcome.costs.p2)],
    })
}
