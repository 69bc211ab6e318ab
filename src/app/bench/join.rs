//! Hidden joins: both parties in one process, on all cores.

use crate::app::bench::process::{Taken, taken};
use crate::app::bench::scalar_product::total_bytes;
use crate::app::bench::{Figure, Options};
use crate::net::Error;
use crate::protocol::Session;
use crate::protocol::join::{Bins, Hint, JoinShape, Members};
use crate::protocol::pair::run_pair;
use crate::protocol::transfers::{Assumptions, Source};
use crate::protocol::vole::Method;
use crate::publish::failure::Failure;
use crate::role::Role;

/// Identifiers per side, where no size is asked for.
const SIZES: [usize; 3] = [10_000, 100_000, 1_000_000];

/// Identifiers per side for a first look.
const QUICK: usize = 500;

/// Bits of the payload.
const PAYLOAD_BITS: usize = 8;

/// One join, set-up included, for each size.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Failure> {
    let mut figures = Vec::new();
    for size in options.sizes(&SIZES, &[QUICK]) {
        figures.extend(one_join(options, size)?);
    }
    Ok(figures)
}

fn one_join(options: &Options, size: usize) -> Result<Vec<Figure>, Failure> {
    // Half of them are common.
    let (own, peer) = (names(0, size), names(size / 2, size));
    let shape = JoinShape::new(Role::P1, size, size)?;
    // Two for each conjunction, and there is one for each bit of a target but one.
    let source = Source::suited_to(Assumptions::Lpn, 2 * 80 * shape.bins());
    let method = Method::suited_to(Assumptions::Lpn);
    let owner = |session: &mut Session| -> Result<Members, Error> {
        session.use_transfers(source);
        Bins::setup(session, method, shape, &own)?.receive_members(session, PAYLOAD_BITS)
    };
    let giver = |session: &mut Session| {
        session.use_transfers(source);
        let payloads: Vec<u32> = (0..size as u32).map(|row| row % (1 << PAYLOAD_BITS)).collect();
        Hint::setup(session, method, shape, &peer)?.send_members(session, PAYLOAD_BITS, &payloads)
    };
    let (outcome, Taken { wall, cpu, peak_bytes }) =
        taken(|| run_pair(options.setup(), owner, giver));
    let is_member = outcome.p1?.bits.xor(&outcome.p2?.bits);
    if is_member.to_bools().iter().filter(|is_member| **is_member).count() != size - size / 2 {
        return Err(Failure::failed("the join is wrong"));
    }
    let bytes = total_bytes(&outcome.costs.p1, &outcome.costs.p2) as f64;
    let name = format!("hidden join {size} × {size}");
    let note = format!("{PAYLOAD_BITS}-bit payload, {} transfers, set-up included", source.name());
    let line = format!("both directions: {:.1} bytes per record", bytes / size as f64);
    let mut figures = vec![
        Figure::new(format!("{name}: CPU, both roles"), cpu, "s", note),
        Figure::new(format!("{name}: wall"), wall, "s", "both roles, all cores"),
        Figure::new(format!("{name}: bytes"), bytes / 1e6, "MB", line),
    ];
    let memory = peak_bytes.map(|peak| {
        let note = "both parties and both lists of identifiers in one process";
        Figure::new(format!("{name}: peak memory"), peak as f64 / 1e6, "MB", note)
    });
    figures.extend(memory);
    Ok(figures)
}

fn names(first: usize, count: usize) -> Vec<String> {
    (first..first + count).map(|number| format!("individual {number:09}")).collect()
}
