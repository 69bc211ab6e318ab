//! Conjunctions of bits in XOR shares, on every source of transfers.

use crate::app::bench::process::taken;
use crate::app::bench::scalar_product::total_bytes;
use crate::app::bench::{Figure, Options};
use crate::protocol::Session;
use crate::protocol::bits::{Bits, and};
use crate::protocol::pair::run_pair;
use crate::protocol::transfers::Source;
use crate::publish::failure::Failure;

const ANDS: usize = 1 << 22;

/// ANDs in bulk, by source of transfers.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Failure> {
    let share = if options.network.is_some() || options.quick { 64 } else { 1 };
    let count = ANDS / share;
    let mut figures = Vec::new();
    for source in Source::ALL {
        let party = |session: &mut Session| {
            session.use_transfers(source);
            let (x, y) = (Bits::random(session, count), Bits::random(session, count));
            and(session, &x, &y).map(drop)
        };
        let (outcome, taken) = taken(|| run_pair(options.setup(), party, party));
        outcome.p1.map_err(Failure::failed)?;
        outcome.p2.map_err(Failure::failed)?;
        let bytes = total_bytes(&outcome.costs.p1, &outcome.costs.p2) as f64;
        let note = format!("per AND of {count} in one round, both sides and set-up, all cores");
        let per = |total: f64| total / count as f64;
        let name = |what| format!("AND on {} transfers: {what}", source.name());
        figures.extend([
            Figure::new(name("processor"), per(taken.cpu * 1e9), "ns CPU", note.as_str()),
            Figure::new(name("wall"), per(taken.wall * 1e9), "ns", note.as_str()),
            Figure::new(name("line"), per(bytes), "bytes", note.as_str()),
        ]);
    }
    Ok(figures)
}
