//! The random value protocol: time, bytes and rounds by the length of the bound.

use std::thread;
use std::time::Instant;

use num_bigint::BigUint;
use num_traits::One;

use crate::Error;
use crate::app::bench::net::loopback_pair;
use crate::app::bench::{Figure, Options};
use crate::math::Randomness;
use crate::net::Error;
use crate::net::meter::CpuClock;
use crate::paper::random_value::draw;
use crate::protocol::Session;
use crate::protocol::pair::{Outcome, run_pair};
use crate::protocol::shares::{Ring, Share, deal};
use crate::protocol::{Session, yao};
use crate::role::Role;

const SIGMA: usize = 64;

/// Bounds of 64, 900 and 28,000 bits over Z_{2^k}, and of 3,072 over Z_N.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Error> {
    let odd = |bits: usize| Ring::Modulo((BigUint::one() << bits) - 1u8);
    let rings = match options.size {
        Some(bits) => vec![Ring::PowerOfTwo(bits), odd(bits)],
        None if options.quick => vec![Ring::PowerOfTwo(64), odd(900)],
        None => vec![
            Ring::PowerOfTwo(64),
            Ring::PowerOfTwo(900),
            Ring::PowerOfTwo(28_000),
            odd(900),
            odd(3_072),
        ],
    };
    let mut figures = Vec::new();
    if options.network.is_none() {
        figures.push(over_loopback(&Ring::PowerOfTwo(900))?);
    }
    for ring in rings {
        figures.extend(measure(options, &ring)?);
    }
    Ok(figures)
}

/// Over loopback TLS: the first value of a session, base transfers included.
fn over_loopback(ring: &Ring) -> Result<Figure, Error> {
    let bound = (ring.order() >> 1u8) + 1u8;
    let (first, second) = deal(ring, &bound, &mut Randomness::from_os()?);
    let (one, two) = loopback_pair()?;
    let party = |share: &Share, role, channel| -> Result<(f64, f64), Error> {
        let mut session = Session::establish(channel, role, b"bench", Randomness::from_os()?)?;
        session.channel.restart_meter(CpuClock::Thread);
        let start = Instant::now();
        draw(&mut session, Role::P1, share, SIGMA).map_err(Error::internal)?;
        let cpu = session.channel.costs().total().cpu;
        Ok((start.elapsed().as_secs_f64(), cpu.as_secs_f64()))
    };
    let (evaluator, garbler) = thread::scope(|scope| {
        let first = || party(&first, Role::P1, one);
        let other =
            thread::Builder::new().spawn_scoped(scope, first).map_err(net::Error::NoThread)?;
        let evaluator = party(&second, Role::P2, two)?;
        let garbler = other.join().map_err(|_| Error::internal("the other party panicked"))??;
        Ok::<_, Error>((evaluator, garbler))
    })?;
    let name = format!("random value, {} bits, over loopback TLS", ring.width());
    let parameters = format!(
        "the first of a session, base transfers included; CPU: {:.1} ms and {:.1} ms",
        garbler.1 * 1e3,
        evaluator.1 * 1e3
    );
    Ok(Figure::new(name, evaluator.0 * 1e3, "ms", parameters))
}

fn measure(options: &Options, ring: &Ring) -> Result<Vec<Figure>, Error> {
    let draws = if options.network.is_some() { 3 } else { 20 };
    let mut rng = Randomness::from_os()?;
    let bound = (ring.order() >> 1u8) + 1u8;
    let (first, second) = deal(ring, &bound, &mut rng);
    let party = |share: &Share, session: &mut Session| -> Result<(f64, f64), net::Error> {
        let start = Instant::now();
        yao::set_up(session, Role::P1)?;
        let set_up = start.elapsed().as_secs_f64();
        session.channel.begin_phase("draws");
        let start = Instant::now();
        for _ in 0..draws {
            draw(session, Role::P1, share, SIGMA)?;
        }
        Ok((set_up, start.elapsed().as_secs_f64()))
    };
    let outcome: Outcome<_, _> = run_pair(
        options.setup(),
        |session| party(&first, session),
        |session| party(&second, session),
    );
    outcome.p1.map_err(Error::internal)?;
    let (set_up, seconds) = outcome.p2.map_err(Error::internal)?;
    let costs = &outcome.costs;
    let (garbler, evaluator) = (costs.p1.phase("draws"), costs.p2.phase("draws"));
    let each = |total: f64| total / draws as f64;
    let kind = if matches!(ring, Ring::PowerOfTwo(_)) { "Z_2^k" } else { "Z_N" };
    let name = |what: &str| format!("random value, {} bits, {kind}{what}", ring.width());
    let parameters = format!("σ = {SIGMA}; set-up before, once: {:.1} ms", set_up * 1e3);
    let bytes = (garbler.bytes_sent + garbler.bytes_received) as f64;
    Ok(vec![
        Figure::new(name(""), each(seconds) * 1e3, "ms", parameters),
        Figure::new(name(": garbler"), each(garbler.cpu.as_secs_f64()) * 1e3, "ms CPU", ""),
        Figure::new(name(": evaluator"), each(evaluator.cpu.as_secs_f64()) * 1e3, "ms CPU", ""),
        Figure::new(name(": both ways"), each(bytes) / 1e3, "kB", ""),
        Figure::new(name(""), each(evaluator.rounds as f64), "rounds", "at the evaluator"),
    ])
}
