//! Random triples c = a·b in shares, from transfers.

use zeroize::Zeroizing;

use super::vector::Bits;
use crate::Error;
use crate::crypto::ot::{lowest_bits, lowest_hash_bits};
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::transfers::{self, Numbers, Purpose};
use crate::protocol::yao::{self, Side};
use crate::protocol::{Session, ot};
use crate::role::Role;

/// Triples that are made together: their rows fit the processor's caches, and messages are few.
const WINDOW: usize = 1 << 13;

/// One party's shares of a, b and c = a·b.
#[derive(Default)]
pub(super) struct Triples {
    pub a: Bits,
    pub b: Bits,
    pub c: Bits,
}

impl Triples {
    /// `count` of them, from transfers whose sender is P1.
    pub fn make(session: &mut Session, count: usize) -> Result<Self, Error> {
        let mut all = Self::default();
        if count == 0 {
            return Ok(all);
        }
        let mut rows = Zeroizing::new(Vec::with_capacity(2 * WINDOW.min(count) + 128));
        session.with_garbling(|yao, session| -> Result<(), Error> {
            match yao.transfers(session, Role::P1)? {
                Side::Sender(source) => {
                    for window in ot::chunks(count, WINDOW) {
                        rows.clear();
                        source.extend(session, 2 * window, &mut rows)?;
                        let delta = source.delta().expose();
                        all.add_sent(source.numbers(), delta, &rows);
                    }
                }
                Side::Receiver(source) => {
                    for window in ot::chunks(count, WINDOW) {
                        rows.clear();
                        source.extend(session, 2 * window, &mut rows)?;
                        all.add_received(source.numbers(), &rows);
                    }
                }
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// The sender's: the first half of the rows are the first transfers of all triples.
    fn add_sent(&mut self, numbers: &mut Numbers, delta: u128, rows: &[u128]) {
        let (start, first) = take_numbers(numbers, rows.len());
        let [(x0, y0), (x1, y1)] = [0, delta].map(|offset| halves(start, first, offset, rows));
        let (a, b) = (y0.xor(&y1), x0.xor(&x1));
        self.append(&a, &b, &x0.xor(&y0));
    }

    fn add_received(&mut self, numbers: &mut Numbers, rows: &[u128]) {
        let (start, first) = take_numbers(numbers, rows.len());
        let (xa, yb) = halves(start, first, 0, rows);
        let (a, b) = rows.split_at(rows.len() / 2);
        let choices = |rows: &[u128]| Bits::from_words(lowest_bits(rows), rows.len());
        self.append(&choices(a), &choices(b), &xa.xor(&yb));
    }

    /// Appends shares of a and b, and a·b ⊕ the masks of both transfers.
    fn append(&mut self, a: &Bits, b: &Bits, masks: &Bits) {
        self.a.append(a);
        self.b.append(b);
        self.c.append(&a.and_with(b).xor(masks));
    }
}

fn take_numbers(numbers: &mut Numbers, count: usize) -> (u128, u64) {
    (numbers.start(Purpose::Triples), numbers.take_transfers(count))
}

/// One bit of the hash of every row ⊕ `offset`, of both halves of the rows.
fn halves(start: u128, first: u64, offset: u128, rows: &[u128]) -> (Bits, Bits) {
    let (head, tail) = rows.split_at(rows.len() / 2);
    let bits = |first, rows: &[u128]| {
        let mut words = lowest_hash_bits(start, first, offset, rows);
        Bits::from_words(std::mem::take(&mut *words), rows.len())
    };
    (bits(first, head), bits(first + head.len() as u64, tail))
}

/// The messages of `count` triples, with those of the set-up of transfers from P1.
pub(super) fn forecast_triples(f: &mut Forecast, count: usize) {
    yao::forecast_set_up(f, Role::P1);
    for window in ot::chunks(count, WINDOW) {
        transfers::forecast_random(f, Role::P1, 2 * window);
    }
    f.work(Work::Hash, if f.role() == Role::P1 { 4 * count } else { 2 * count });
}
