//! Hidden joins: both parties in one process, on all cores.

use super::pair::pair;
use super::{BenchArgs, Figures, names};
use crate::Error;
use crate::net;
use crate::protocol::Workspace;
use crate::protocol::join::{Bins, Hint, JoinShape};
use crate::protocol::transfers::{Assumptions, Source};
use crate::protocol::vole::Method;
use crate::role::Role;

/// Bits of the payload.
const PAYLOAD_BITS: usize = 8;

/// One join, set-up included, for each size.
pub(super) fn run(options: &BenchArgs, out: &mut Figures) -> Result<(), Error> {
    for size in options.sizes(&[10_000, 100_000, 1_000_000], &[500]) {
        // Half of them are common.
        let (own, peer) = (names(0, size), names(size / 2, size));
        let shape = JoinShape::new(Role::P1, size, size)?;
        // A conjunction takes two transfers, and a bin some 80 conjunctions.
        let source = Source::suited_to(Assumptions::Lpn, 2 * 80 * shape.bins());
        let method = Method::suited_to(Assumptions::Lpn);
        let owner = |session: &mut Workspace| -> Result<_, net::Error> {
            session.use_transfers(source);
            Bins::setup(session, method, shape, &own)?.receive_members(session, PAYLOAD_BITS)
        };
        let giver = |session: &mut Workspace| -> Result<_, net::Error> {
            session.use_transfers(source);
            let payloads: Vec<u32> =
                (0..size as u32).map(|row| row % (1 << PAYLOAD_BITS)).collect();
            let mut hint = Hint::setup(session, method, shape, &peer)?;
            hint.send_members(session, PAYLOAD_BITS, &payloads)
        };
        let run = pair(options.memory(), owner, giver)?;
        let is_member = run.p1.bits.xor(&run.p2.bits).to_bools();
        if is_member.iter().filter(|is_member| **is_member).count() != size - size / 2 {
            return Err(Error::internal("the join is wrong"));
        }
        let note =
            format!("{PAYLOAD_BITS}-bit payload, {} transfers, set-up included", source.name());
        run.add_whole(&format!("hidden join {size} × {size}"), &note, (size, "record"), out);
    }
    Ok(())
}
