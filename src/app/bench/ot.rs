//! Base transfers and extended oblivious transfers.

use super::pair::{Pair, pair};
use super::{BenchArgs, Figures};
use crate::Error;
use crate::crypto::garble::Delta;
use crate::math::Randomness;
use crate::net;
use crate::protocol::Workspace;
use crate::protocol::ot::{Receiver, Sender};
use crate::protocol::transfers::{Source, set_up_receiver, set_up_sender};

const LIMIT: &str = "limit: per transfer 1 AES block to send and 2 to receive (0.85 ns each), \
                     16 bytes moved, 128 bits transposed";
const TRANSFERS: &str = "transfers";

/// 128 base transfers; correlated, random and chosen extended transfers in memory.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let (correlated, chosen) = ((1 << 24) / options.share(), (1 << 21) / options.share());
    let word = u128::from_le_bytes(Randomness::from_os()?.array());
    let bits: Vec<bool> = (0..correlated).map(|i| word >> (i % 127) & 1 == 1).collect();
    let (few, pairs) = (&bits[..chosen], vec![[1, 2]; chosen]);

    let run = measure(options, |_, _| Ok(()), |_, _| Ok(()))?;
    let [sender, receiver] = run.costs.each_ref().map(|costs| costs.total());
    let note = "wall time until both have their seeds; limit: 128 variable-base multiplications";
    out.add("128 base transfers", receiver.wall.as_secs_f64() * 1e3, "ms", note);
    for (who, cost) in [("who will send", sender), ("who will receive", receiver)] {
        let name = format!("128 base transfers: party {who}");
        out.add(name, cost.cpu.as_secs_f64() * 1e3, "ms CPU", "of one core");
    }
    let run = measure(
        options,
        |session, sender| sender.correlated_chunks(session, correlated, &mut drop_rows),
        |session, receiver| receiver.correlated_chunks(session, &bits, &mut drop_rows),
    )?;
    add(&run, "correlated", correlated, LIMIT, out);
    let run = measure(
        options,
        |session, sender| sender.random(session, chosen).map(drop),
        |session, receiver| receiver.random(session, few).map(drop),
    )?;
    add(&run, "random", chosen, "as correlated, and 2 or 1 hashes", out);
    let run = measure(
        options,
        |session, sender| sender.chosen(session, &pairs),
        |session, receiver| receiver.chosen(session, few).map(drop),
    )?;
    add(&run, "chosen", chosen, "as random, and 32 bytes back", out);
    Source::ALL.into_iter().try_for_each(|source| by_source(options, source, correlated, out))
}

/// Transfers with random choices as other protocols take them, their set-up included.
fn by_source(
    options: &BenchArgs,
    source: Source,
    count: usize,
    out: &mut Figures,
) -> Result<(), Error> {
    let run = pair(
        options.memory(),
        |session| {
            let delta = Delta::random(&mut session.rng);
            let mut sender = set_up_sender(session, source, delta)?;
            in_parts(count, |part, rows| sender.extend(session, part, rows))
        },
        |session| {
            let mut receiver = set_up_receiver(session, source)?;
            in_parts(count, |part, rows| receiver.extend(session, part, rows))
        },
    )?;
    let note = format!("per transfer of {count}, both parties and set-up, all cores");
    run.add_each(&format!("{} transfers", source.name()), &note, count, out);
    Ok(())
}

/// Asks for transfers some at a time, and discards them.
fn in_parts(
    count: usize,
    mut extend: impl FnMut(usize, &mut Vec<u128>) -> Result<(), net::Error>,
) -> Result<(), net::Error> {
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

/// Adds what one of `count` transfers took after the set-up.
fn add(run: &Pair<(), ()>, name: &str, count: usize, limit: &str, out: &mut Figures) {
    let [sender, receiver] = run.phase(TRANSFERS);
    let rate = count as f64 / sender.wall.as_secs_f64();
    let note = format!("{count} transfers in memory; {limit}");
    out.add(format!("{name} transfers"), rate, "per second", note);
    for (who, cost) in [("sender", sender), ("receiver", receiver)] {
        let nanos = cost.cpu.as_secs_f64() * 1e9 / count as f64;
        out.add(format!("{name}: {who}"), nanos, "ns CPU", "per transfer");
    }
}

fn measure(
    options: &BenchArgs,
    send: impl FnOnce(&mut Workspace, &mut Sender) -> Result<(), net::Error> + Send,
    receive: impl FnOnce(&mut Workspace, &mut Receiver) -> Result<(), net::Error> + Send,
) -> Result<Pair<(), ()>, Error> {
    pair(
        options.memory(),
        |session| {
            let delta = Delta::random(&mut session.rng);
            let mut sender = Sender::setup(session, delta)?;
            session.channel.begin_phase(TRANSFERS);
            send(session, &mut sender)
        },
        |session| {
            let mut receiver = Receiver::setup(session)?;
            session.channel.begin_phase(TRANSFERS);
            receive(session, &mut receiver)
        },
    )
}
