//! Conjunctions of bits in XOR shares, on every source of transfers.

use super::pair::pair;
use super::{BenchArgs, Figures};
use crate::Error;
use crate::protocol::Workspace;
use crate::protocol::bits::{Bits, and};
use crate::protocol::transfers::Source;

/// ANDs in bulk, by source of transfers.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    let count = (1 << 22) / options.share();
    for source in Source::ALL {
        let party = |session: &mut Workspace| {
            session.use_transfers(source);
            let (x, y) = (Bits::random(session, count), Bits::random(session, count));
            and(session, &x, &y).map(drop)
        };
        let run = pair(options.memory(), party, party)?;
        let note = format!("per AND of {count} in one round, both parties and set-up, all cores");
        run.add_each(&format!("AND on {} transfers", source.name()), &note, count, out);
    }
    Ok(())
}
