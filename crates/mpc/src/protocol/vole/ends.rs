//! The work of the two ends.

use rayon::prelude::*;
use zeroize::Zeroizing;

use super::plan::{Level, Plan};
use super::{BITS, SUMS};
use crate::Error;
use crate::crypto::field_code::FieldCode;
use crate::crypto::garble::Delta;
use crate::crypto::half_tree::{grow_transfers, regrow_transfers};
use crate::crypto::soft_spoken::Columns;
use crate::crypto::tree::record_keys;
use crate::protocol::Session;
use crate::protocol::ot;
use crate::protocol::soft_spoken;
use crate::protocol::transfers::{Numbers, Purpose, Receiving, Sending};
use crate::simd::field::times_x;
use crate::simd::lanes::xor_into;

/// Elements that are made from transfers together.
pub(super) const BASE_CHUNK: usize = 1 << 9;

/// Lists of one length: B, or A and C.
pub(super) type Elements<const N: usize> = [Zeroizing<Vec<u128>>; N];

/// One end's own part of the work.
pub(super) trait End<const N: usize> {
    /// Elements from transfers.
    fn base(&mut self, session: &mut Session, count: usize) -> Result<Elements<N>, Error>;

    /// What a level makes of the first of these.
    fn level(
        &mut self,
        session: &mut Session,
        level: Level,
        inputs: &Elements<N>,
    ) -> Result<Elements<N>, Error>;
}

/// Makes what is planned.
pub(super) fn run<const N: usize>(
    end: &mut impl End<N>,
    session: &mut Session,
    plan: &Plan,
) -> Result<Elements<N>, Error> {
    let mut have = end.base(session, plan.base)?;
    let Some((last, before)) = plan.levels.split_last() else { return Ok(have) };
    let total: usize = plan.levels.iter().map(|level| level.handed_out).sum();
    let mut all: Elements<N> = std::array::from_fn(|_| Zeroizing::default());
    for level in before {
        let made = end.level(session, *level, &have)?;
        for ((all, have), made) in all.iter_mut().zip(&mut have).zip(made) {
            let (handed_out, kept) = made.split_at(level.handed_out);
            if all.is_empty() && !handed_out.is_empty() {
                *all = Zeroizing::new(Vec::with_capacity(total));
            }
            all.extend_from_slice(handed_out);
            *have = Zeroizing::new(kept.to_vec());
        }
    }
    let mut made = end.level(session, *last, &have)?;
    for (all, made) in all.iter_mut().zip(&mut made) {
        made.truncate(last.handed_out);
        if all.is_empty() {
            *all = std::mem::take(made);
        } else {
            all.extend_from_slice(made);
        }
    }
    Ok(all)
}

/// What both ends count and hash alike.
struct Common {
    trees: u128,
    leaves: u128,
    code: FieldCode,
    /// Numbers of the next tree and the next row of the matrix, in the whole direction.
    tree: u64,
    row: u64,
}

impl Common {
    fn new(numbers: &Numbers) -> Self {
        let [trees, leaves, code] =
            [Purpose::VoleTrees, Purpose::VoleLeaves, Purpose::VoleCode].map(|p| numbers.start(p));
        Self { trees, leaves, code: FieldCode::new(code), tree: 0, row: 0 }
    }

    fn advance(&mut self, blocks: usize, size: usize) {
        self.tree += blocks as u64;
        self.row += (blocks * size) as u64;
    }
}

fn zeros<const N: usize>(count: usize) -> Elements<N> {
    std::array::from_fn(|_| Zeroizing::new(vec![0; count]))
}

/// The element that 128 rows of transfers are: their sum, row i times x^i.
fn element(rows: &[u128]) -> u128 {
    rows.iter().rev().fold(0, |sum, row| times_x(sum) ^ row)
}

fn total(nodes: &[u128]) -> u128 {
    nodes.iter().fold(0, |sum, node| sum ^ node)
}

/// The sender's end.
pub(super) struct SenderEnd {
    source: soft_spoken::Sender,
    common: Common,
}

impl SenderEnd {
    pub fn setup(session: &mut Session, delta: Delta) -> Result<Self, Error> {
        let mut source = soft_spoken::Sender::setup(session, Columns::Four, delta)?;
        let common = Common::new(source.numbers());
        Ok(Self { source, common })
    }

    pub fn into_delta(self) -> Delta {
        Delta::new(self.source.delta().expose())
    }
}

impl End<1> for SenderEnd {
    fn base(&mut self, session: &mut Session, count: usize) -> Result<Elements<1>, Error> {
        let mut elements = Zeroizing::new(Vec::with_capacity(count));
        let mut rows = Zeroizing::new(Vec::with_capacity(BASE_CHUNK * BITS));
        for chunk in ot::chunks(count, BASE_CHUNK) {
            rows.clear();
            self.source.extend(session, chunk * BITS, &mut rows)?;
            elements.par_extend(rows.par_chunks(BITS).map(element));
        }
        Ok([elements])
    }

    fn level(
        &mut self,
        session: &mut Session,
        level: Level,
        [inputs]: &Elements<1>,
    ) -> Result<Elements<1>, Error> {
        let rows = self.source.corrected(session, level.transfers())?;
        let (set, size) = (level.set, level.set.block());
        let (secret, noise) = inputs.split_at(set.secret);
        let [mut made] = zeros::<1>(level.blocks * size);
        let (delta, common) = (self.source.delta().expose(), &self.common);
        let mut message = Vec::new();
        let mut first = 0;
        for blocks in level.chunks() {
            message.clear();
            message.resize(blocks * set.message_bytes(), 0);
            (made[first * size..(first + blocks) * size].par_chunks_mut(size))
                .zip(rows[first * set.levels..].par_chunks(set.levels))
                .zip(message.par_chunks_mut(set.message_bytes()))
                .zip(&noise[first..first + blocks])
                .enumerate()
                .for_each(|block| {
                    let (number, (((nodes, rows), message), noise)) = block;
                    let number = (first + number) as u64;
                    let (sums, closing) = message.split_at_mut(16 * (set.levels - 1));
                    let keys = record_keys(common.trees, common.tree + number);
                    grow_transfers(&keys, delta, rows, nodes, sums.as_chunks_mut().0);
                    record_keys(common.leaves, common.tree + number).hash(0, nodes);
                    closing.copy_from_slice(&(noise ^ total(nodes)).to_le_bytes());
                    common.code.add(common.row + number * size as u64, [secret], [nodes]);
                });
            session.channel.send_bytes(SUMS, &message)?;
            first += blocks;
        }
        self.common.advance(level.blocks, size);
        Ok([made])
    }
}

/// The receiver's end.
pub(super) struct ReceiverEnd {
    source: soft_spoken::Receiver,
    common: Common,
}

impl ReceiverEnd {
    pub fn setup(session: &mut Session) -> Result<Self, Error> {
        let mut source = soft_spoken::Receiver::setup(session, Columns::Four)?;
        let common = Common::new(source.numbers());
        Ok(Self { source, common })
    }
}

impl End<2> for ReceiverEnd {
    fn base(&mut self, session: &mut Session, count: usize) -> Result<Elements<2>, Error> {
        let [mut a, mut c] = [0; 2].map(|_| Zeroizing::new(Vec::with_capacity(count)));
        let mut rows = Zeroizing::new(Vec::with_capacity(BASE_CHUNK * BITS));
        for chunk in ot::chunks(count, BASE_CHUNK) {
            rows.clear();
            self.source.extend(session, chunk * BITS, &mut rows)?;
            // The lowest bit of a row is the choice.
            let choices = |rows: &[u128]| rows.iter().rev().fold(0, |all, row| all << 1 | row & 1);
            a.par_extend(rows.par_chunks(BITS).map(choices));
            c.par_extend(rows.par_chunks(BITS).map(element));
        }
        Ok([a, c])
    }

    fn level(
        &mut self,
        session: &mut Session,
        level: Level,
        [a, c]: &Elements<2>,
    ) -> Result<Elements<2>, Error> {
        let (set, size) = (level.set, level.set.block());
        let mask = size as u32 - 1;
        let mut holes = Zeroizing::new(Vec::with_capacity(level.blocks));
        holes.extend((0..level.blocks).map(|_| u32::from_le_bytes(session.rng.array()) & mask));
        // The choice at each level is 1 where the path turns left: the receiver gets the other
        // side.
        let path = |hole: &u32| {
            let hole = *hole;
            (0..set.levels).rev().map(move |bit| hole >> bit & 1 == 0)
        };
        let mut choices = Zeroizing::new(Vec::with_capacity(level.transfers()));
        choices.extend(holes.iter().flat_map(path));
        let rows = self.source.chosen_rows(session, &choices)?;
        let ((secret_a, noise_a), (secret_c, noise_c)) =
            (a.split_at(set.secret), c.split_at(set.secret));
        let [mut made_a, mut made_c] = zeros::<2>(level.blocks * size);
        let common = &self.common;
        let mut message = Vec::new();
        let mut first = 0;
        for blocks in level.chunks() {
            let due = blocks * set.message_bytes();
            session.channel.receive_bytes_into(SUMS, due, &mut message)?;
            let (places, range) = (first * size..(first + blocks) * size, first..first + blocks);
            (made_a[places.clone()].par_chunks_mut(size))
                .zip(made_c[places].par_chunks_mut(size))
                .zip(rows[first * set.levels..].par_chunks(set.levels))
                .zip(message.par_chunks(set.message_bytes()))
                .zip(
                    holes[range.clone()]
                        .par_iter()
                        .zip(&noise_a[range.clone()])
                        .zip(&noise_c[range]),
                )
                .enumerate()
                .for_each(|block| {
                    let (number, ((((places, nodes), rows), message), ((hole, a), c))) = block;
                    let number = (first + number) as u64;
                    let (sums, closing) = message.split_at(16 * (set.levels - 1));
                    let keys = record_keys(common.trees, common.tree + number);
                    regrow_transfers(&keys, *hole, rows, sums.as_chunks().0, nodes);
                    record_keys(common.leaves, common.tree + number).hash(0, nodes);
                    // All leaves, and the closing value, sum up to b; the leaf in the hole is wrong
                    // and cancels in the sum.
                    let closing = closing.as_chunks().0.first().copied().unwrap_or_default();
                    let mend = total(nodes) ^ u128::from_le_bytes(closing) ^ c;
                    xor_into(nodes, *hole, mend);
                    xor_into(places, *hole, *a);
                    let row = common.row + number * size as u64;
                    common.code.add(row, [secret_a, secret_c], [places, nodes]);
                });
            first += blocks;
        }
        self.common.advance(level.blocks, size);
        Ok([made_a, made_c])
    }
}
