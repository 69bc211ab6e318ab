//! Conjunctions of bits in XOR shares, on every source of transfers.

use crate::Error;
use crate::app::bench::ot::per_item;
use crate::app::bench::process::taken;
use crate::app::bench::{Figure, Options};
use crate::protocol::Session;
use crate::protocol::bits::{Bits, and};
use crate::protocol::pair::run_pair;
use crate::protocol::transfers::Source;

const ANDS: usize = 1 << 22;

/// ANDs in bulk, by source of transfers.
///
/// # Errors
/// If a run fails.
pub fn run(options: &Options) -> Result<Vec<Figure>, Error> {
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
        let note = format!("per AND of {count} in one round, both sides and set-up, all cores");
        let name = format!("AND on {} transfers", source.name());
        figures.extend(per_item(&name, count, &note, taken, outcome)?);
    }
    Ok(figures)
}
