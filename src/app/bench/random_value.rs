//! The random value protocol: time, bytes and rounds by the length of the bound.

use num_bigint::BigUint;
use num_traits::One;

use super::pair::{Line, Pair, pair};
use super::{BenchArgs, Figures};
use crate::Error;
use crate::math::Randomness;
use crate::paper::random_value::draw;
use crate::protocol::shares::{Ring, Share, deal};
use crate::protocol::{Workspace, yao};
use crate::role::Role;

const SIGMA: usize = 64;
const SET_UP: &str = "set-up";
const DRAWS: &str = "draws";

/// Bounds of 64, 900 and 28,000 bits over Z_{2^k}, and of 3,072 over Z_N.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let odd = |bits: usize| Ring::Modulo((BigUint::one() << bits) - 1u8);
    let rings = match options.size {
        Some(bits) => vec![Ring::PowerOfTwo(bits), odd(bits)],
        None if options.quick => vec![Ring::PowerOfTwo(64), odd(900)],
        None => [64, 900, 28_000]
            .map(Ring::PowerOfTwo)
            .into_iter()
            .chain([900, 3_072].map(odd))
            .collect(),
    };
    if options.net.is_none() {
        let run = measure(Line::Tls, &Ring::PowerOfTwo(900), 1)?;
        let [garbler, evaluator] = run.costs.each_ref().map(|costs| costs.total());
        let [cpu, peer_cpu] = [&garbler, &evaluator].map(|cost| cost.cpu.as_secs_f64() * 1e3);
        let note = format!(
            "the first of a session, base transfers included; CPU: {cpu:.1} ms and {peer_cpu:.1} ms"
        );
        let name = "random value, 900 bits, over loopback TLS";
        out.add(name, evaluator.wall.as_secs_f64() * 1e3, "ms", note);
    }
    for ring in rings {
        let draws = if options.net.is_some() { 3 } else { 20 };
        let run = measure(options.memory(), &ring, draws)?;
        let each = |seconds: f64| seconds * 1e3 / draws as f64;
        let [garbler, evaluator] = run.phase(DRAWS);
        let kind = if matches!(ring, Ring::PowerOfTwo(_)) { "Z_2^k" } else { "Z_N" };
        let name = |what: &str| format!("random value, {} bits, {kind}{what}", ring.width());
        let set_up = run.phase(SET_UP)[1].wall.as_secs_f64() * 1e3;
        let note = format!("σ = {SIGMA}; set-up before, once: {set_up:.1} ms");
        out.add(name(""), each(evaluator.wall.as_secs_f64()), "ms", note);
        out.add(name(": garbler"), each(garbler.cpu.as_secs_f64()), "ms CPU", "");
        out.add(name(": evaluator"), each(evaluator.cpu.as_secs_f64()), "ms CPU", "");
        let bytes = (garbler.bytes_sent + garbler.bytes_received) as f64 / draws as f64;
        out.add(name(": both directions"), bytes / 1e3, "kB", "");
        let rounds = evaluator.rounds as f64 / draws as f64;
        out.add(name(""), rounds, "rounds", "at the evaluator");
    }
    Ok(())
}

/// Draws so many values below a shared bound of about half the ring.
fn measure(line: Line, ring: &Ring, draws: usize) -> Result<Pair<(), ()>, Error> {
    let bound = (ring.order() >> 1u8) + 1u8;
    let (first, second) = deal(ring, &bound, &mut Randomness::from_os()?);
    let party = |share: &Share, session: &mut Workspace| -> Result<(), crate::net::Error> {
        session.channel.begin_phase(SET_UP);
        yao::set_up(session, Role::P1)?;
        session.channel.begin_phase(DRAWS);
        (0..draws).try_for_each(|_| draw(session, Role::P1, share, SIGMA).map(drop))
    };
    pair(line, |session| party(&first, session), |session| party(&second, session))
}
