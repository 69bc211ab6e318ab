//! Random triples c = a·b in shares, from transfers.

use zeroize::Zeroizing;

use super::vector::Bits;
use crate::crypto::ot::hash_rows;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::transfers::{self, Numbers, Purpose};
use crate::protocol::yao::{self, Side};
use crate::protocol::{Session, ot};
use crate::role::Role;

/// Triples that are made together: their rows stay near the processor, and messages are few.
const WINDOW: usize = 1 << 14;

/// One party's shares of a, b and c = a·b.
#[derive(Default)]
pub(super) struct Triples {
    pub a: Bits,
    pub b: Bits,
    pub c: Bits,
}

impl Triples {
    /// `count` of them, from transfers whose sender is P1.
    pub fn make(session: &mut Session, count: usize) -> Result<Self, ot::Error> {
        let mut all = Self::default();
        let mut rows = Zeroizing::new(Vec::with_capacity(2 * WINDOW.min(count) + 128));
        session.with_garbling(|yao, session| -> Result<(), ot::Error> {
            match yao.transfers(session, Role::P1)? {
                Side::Sender(source) => {
                    for window in ot::chunks(count, WINDOW) {
                        rows.clear();
                        source.extend(session, 2 * window, &mut rows)?;
                        let delta = source.delta().expose();
                        all.add_sent(source.numbers(), delta, &mut rows);
                    }
                }
                Side::Receiver(source) => {
                    for window in ot::chunks(count, WINDOW) {
                        rows.clear();
                        source.extend(session, 2 * window, &mut rows)?;
                        all.add_received(source.numbers(), &mut rows);
                    }
                }
            }
            Ok(())
        })?;
        Ok(all)
    }

    /// The sender's: the first half of the rows are the first transfers of all triples.
    fn add_sent(&mut self, numbers: &mut Numbers, delta: u128, rows: &mut [u128]) {
        let (start, first) = (numbers.start(Purpose::Triples), numbers.take_transfers(rows.len()));
        let mut other = Zeroizing::new(Vec::with_capacity(rows.len()));
        other.extend(rows.iter().map(|row| row ^ delta));
        hash_rows(start, first, rows);
        hash_rows(start, first, &mut other);
        let count = rows.len() / 2;
        let (x0, y0) = (lowest_bits(&rows[..count]), lowest_bits(&rows[count..]));
        let (x1, y1) = (lowest_bits(&other[..count]), lowest_bits(&other[count..]));
        let (a, b) = (y0.xor(&y1), x0.xor(&x1));
        self.append(&a, &b, &x0.xor(&y0));
    }

    fn add_received(&mut self, numbers: &mut Numbers, rows: &mut [u128]) {
        let (start, first) = (numbers.start(Purpose::Triples), numbers.take_transfers(rows.len()));
        let count = rows.len() / 2;
        let (a, b) = (lowest_bits(&rows[..count]), lowest_bits(&rows[count..]));
        hash_rows(start, first, rows);
        let masks = lowest_bits(&rows[..count]).xor(&lowest_bits(&rows[count..]));
        self.append(&a, &b, &masks);
    }

    /// Appends shares of a and b, and a·b ⊕ the masks of both transfers.
    fn append(&mut self, a: &Bits, b: &Bits, masks: &Bits) {
        self.a.append(a);
        self.b.append(b);
        self.c.append(&a.and_with(b).xor(masks));
    }
}

fn lowest_bits(rows: &[u128]) -> Bits {
    let word = |rows: &[u128]| rows.iter().rev().fold(0, |word, row| word << 1 | (*row as u64 & 1));
    Bits::from_words(rows.chunks(64).map(word).collect(), rows.len())
}

/// The messages of `count` triples, with those of the set-up of transfers from P1.
pub(super) fn forecast_triples(f: &mut Forecast, count: usize) {
    yao::forecast_set_up(f, Role::P1);
    for window in ot::chunks(count, WINDOW) {
        transfers::forecast_random(f, Role::P1, 2 * window);
    }
    f.work(Work::Hash, if f.role() == Role::P1 { 4 * count } else { 2 * count });
}
