//! Signs of shared words, as shared bits.
//!
//! The highest bit of the sum of two shares is the XOR of their highest bits and of the carry out
//! of the bits below: of whether x < y, x = 2^(k−1) − 1 − P1's lower bits and y P2's. Both are
//! divided into digits of five bits. For every digit P2 gets shares of whether x's is below y's and
//! whether they are equal, from a table of P1's with an entry for every value of y's (Rathee and
//! others, CrypTFlow2, CCS 2020). The answers of neighbouring digits are then combined in pairs, by
//! ANDs.
//!
//! *The table.* P2 chooses by the bits of its digit in transfers from P1. With h_{i,b} the hash of
//! the row for choice b in transfer i, entry j is masked by the XOR over i of the bits of h_{i,jᵢ}
//! at position j: P2 can compute that of its own digit, and of every other entry it lacks a hash.
//! The contents of entry j are XORed with two random bits of P1's, which are P1's shares.

use rand::Rng;
use zeroize::Zeroizing;

use super::{Bits, Error, and, forecast_and};
use crate::crypto::ot::hash_rows;
use crate::net::Tag;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::shares::WordShares;
use crate::protocol::transfers::{self, Purpose, Receiving, Sending};
use crate::protocol::yao::{self, Side};
use crate::protocol::{Session, ot};
use crate::role::Role;

/// Bits of a digit: a table of 32 entries of two bits is 8 bytes.
const DIGIT_BITS: u32 = 5;

/// Transfers before P1 answers.
const WINDOW: usize = 1 << 19;

/// Tables of all digits.
const TABLES: Tag = Tag::new(*b"bttb");

/// The low bit of every entry: whether x's digit is below y's. The high one is whether they are equal.
const BELOW: u64 = u64::MAX / 3;

/// Whether shared words are negative as signed numbers of their ring, as shared bits: the highest bit
/// of the sum of both shares. k − 1 transfers with choices, 1.6 bytes for each and about k/3 ANDs per
/// word; 1 + ⌈log2 k/5⌉ rounds for every 2^19 transfers.
///
/// # Errors
/// As for [`super::and`].
pub fn negative(session: &mut Session, words: &WordShares) -> Result<Bits, Error> {
    let width = words.bits() - 1;
    let highest: Bits = words.words().iter().map(|word| word >> width & 1 == 1).collect();
    if width == 0 || words.is_empty() {
        return Ok(highest);
    }
    let low = (1 << width) - 1;
    let own = words.words().iter().map(|word| match session.role {
        Role::P1 => low - (word & low),
        Role::P2 => word & low,
    });
    let own: Zeroizing<Vec<u64>> = Zeroizing::new(own.collect());
    let mut digits = vec![Answers::default(); digit_sizes(width).count()];
    session.with_garbling(|yao, session| -> Result<(), Error> {
        let mut side = yao.transfers(session, Role::P1)?;
        for part in own.chunks(words_per_window(width)) {
            match &mut side {
                Side::Sender(source) => send(session, *source, width, part, &mut digits)?,
                Side::Receiver(source) => receive(session, *source, width, part, &mut digits)?,
            }
        }
        Ok(())
    })?;
    Ok(highest.xor(&combine(session, digits)?))
}

/// The messages of [`negative`], with those of the set-up of transfers from P1.
pub fn forecast_negative(f: &mut Forecast, count: usize, ring_bits: u32) {
    let width = ring_bits.saturating_sub(1);
    if width == 0 || count == 0 {
        return;
    }
    yao::forecast_set_up(f, Role::P1);
    for part in ot::chunks(count, words_per_window(width)) {
        let transfers = part * width as usize;
        transfers::forecast(f, Role::P1, transfers);
        f.message(Role::P1, TABLES, part * table_bytes(width));
        f.work(Work::Hash, if f.role() == Role::P1 { 2 * transfers } else { transfers });
    }
    let mut digits = digit_sizes(width).count();
    while digits > 1 {
        forecast_and(f, ands(digits) * count);
        digits = digits.div_ceil(2);
    }
}

/// A party's shares of whether a digit of x is below that of y, and whether they are equal, of all words.
#[derive(Clone, Default)]
struct Answers {
    below: Bits,
    equal: Bits,
}

impl Answers {
    fn append(&mut self, entries: &[u64]) {
        let bits =
            |place: u32| -> Bits { entries.iter().map(|entry| entry >> place & 1 == 1).collect() };
        self.below.append(&bits(0));
        self.equal.append(&bits(1));
    }
}

/// Bits of every digit of a number of so many bits, the lowest first.
fn digit_sizes(width: u32) -> impl Iterator<Item = u32> {
    (0..width).step_by(DIGIT_BITS as usize).map(move |first| DIGIT_BITS.min(width - first))
}

/// Bytes of the table of a digit.
fn digit_bytes(size: u32) -> usize {
    (2usize << size).div_ceil(8)
}

/// Bytes of the tables of a word.
fn table_bytes(width: u32) -> usize {
    digit_sizes(width).map(digit_bytes).sum()
}

fn words_per_window(width: u32) -> usize {
    (WINDOW / width as usize).max(1)
}

/// All ones in the entries whose number has bit `place`.
fn entries_with(place: usize) -> u64 {
    (0..32u32).filter(|j| j >> place & 1 == 1).fold(0, |mask, j| mask | 3 << (2 * j))
}

fn send(
    session: &mut Session,
    source: &mut (dyn Sending + Send),
    width: u32,
    words: &[u64],
    digits: &mut [Answers],
) -> Result<(), Error> {
    let mut rows = source.corrected(session, words.len() * width as usize)?;
    let delta = source.delta().expose();
    let mut other = Zeroizing::new(Vec::with_capacity(rows.len()));
    other.extend(rows.iter().map(|row| row ^ delta));
    let numbers = source.numbers();
    let (start, first) = (numbers.start(Purpose::Comparisons), numbers.take_transfers(rows.len()));
    hash_rows(start, first, &mut rows);
    hash_rows(start, first, &mut other);
    let mut message = Vec::with_capacity(words.len() * table_bytes(width));
    let mut shares = Zeroizing::new(vec![0; words.len()]);
    for (number, (size, digit)) in digit_sizes(width).zip(digits).enumerate() {
        let place = number as u32 * DIGIT_BITS;
        let columns = place as usize..(place + size) as usize;
        for (index, (word, share)) in words.iter().zip(shares.iter_mut()).enumerate() {
            *share = session.rng.next_u64() & 3;
            let own = word >> place & ((1 << size) - 1);
            // Entries above x's digit say "below", that of its own says "equal".
            let mut table = (BELOW << (2 * own) << 2) | 2 << (2 * own);
            table ^= *share * BELOW;
            for (bit, column) in columns.clone().enumerate() {
                let [zero, one] =
                    [&rows, &other].map(|hashes| hashes[column * words.len() + index] as u64);
                table ^= zero ^ ((zero ^ one) & entries_with(bit));
            }
            // The unused bits of the last byte would be entries that P2 can open beside its own.
            table &= u64::MAX >> (64 - (2 << size));
            message.extend_from_slice(&table.to_le_bytes()[..digit_bytes(size)]);
        }
        digit.append(&shares);
    }
    session.channel.send_bytes(TABLES, &message)?;
    Ok(())
}

fn receive(
    session: &mut Session,
    source: &mut (dyn Receiving + Send),
    width: u32,
    words: &[u64],
    digits: &mut [Answers],
) -> Result<(), Error> {
    let mut choices = Zeroizing::new(Vec::with_capacity(words.len() * width as usize));
    for place in 0..width {
        choices.extend(words.iter().map(|word| word >> place & 1 == 1));
    }
    let mut rows = source.chosen_rows(session, &choices)?;
    let numbers = source.numbers();
    let (start, first) = (numbers.start(Purpose::Comparisons), numbers.take_transfers(rows.len()));
    hash_rows(start, first, &mut rows);
    let due = words.len() * table_bytes(width);
    let message = session.channel.receive_bytes(TABLES, due)?;
    let (mut rest, mut entries) = (&message[..], Zeroizing::new(vec![0; words.len()]));
    for (number, (size, digit)) in digit_sizes(width).zip(digits).enumerate() {
        let place = number as u32 * DIGIT_BITS;
        let (now, later) = rest.split_at(words.len() * digit_bytes(size));
        rest = later;
        let tables = now.chunks_exact(digit_bytes(size));
        for (index, (entry, bytes)) in entries.iter_mut().zip(tables).enumerate() {
            let mut table = [0; 8];
            table[..bytes.len()].copy_from_slice(bytes);
            let columns = place as usize..(place + size) as usize;
            let masks = columns.map(|column| rows[column * words.len() + index] as u64);
            let table = masks.fold(u64::from_le_bytes(table), |table, mask| table ^ mask);
            let own = words[index] >> place & ((1 << size) - 1);
            *entry = table >> (2 * own) & 3;
        }
        digit.append(&entries);
    }
    Ok(())
}

/// ANDs per word by which so many digits become half as many: whether the lowest digits are equal
/// does not matter.
fn ands(digits: usize) -> usize {
    2 * (digits / 2) - 1
}

/// Whether x is below y, from the answers of all digits, the lowest first.
fn combine(session: &mut Session, mut digits: Vec<Answers>) -> Result<Bits, Error> {
    while digits.len() > 1 {
        let length = digits[0].below.len();
        let (mut high, mut low) = (Vec::new(), Vec::new());
        for (number, pair) in digits.chunks_exact(2).enumerate() {
            high.push(pair[1].equal.clone());
            low.push(pair[0].below.clone());
            if number > 0 {
                high.push(pair[1].equal.clone());
                low.push(pair[0].equal.clone());
            }
        }
        let products = and(session, &Bits::concat(&high), &Bits::concat(&low))?;
        let mut products = products.parts(length);
        let mut next = || products.next().unwrap_or_default();
        let mut fewer = Vec::with_capacity(digits.len().div_ceil(2));
        for (number, pair) in digits.chunks(2).enumerate() {
            fewer.push(match pair {
                [_, high] => Answers {
                    below: high.below.xor(&next()),
                    equal: if number > 0 { next() } else { Bits::default() },
                },
                alone => alone[0].clone(),
            });
        }
        digits = fewer;
    }
    Ok(digits.pop().map(|answers| answers.below).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crypto::soft_spoken::Columns;
    use crate::protocol::pair::{Setup, assert_forecast, assert_same_shape, run_pair};
    use crate::protocol::transfers::Source;

    fn signs(first: &WordShares, second: &WordShares, source: Source) -> Bits {
        let party = |session: &mut Session, own: &WordShares| {
            session.use_transfers(source);
            negative(session, own).unwrap()
        };
        let outcome = run_pair(
            Setup::default().seed(3),
            |session| party(session, first),
            |session| party(session, second),
        );
        assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
            f.use_transfers(source);
            forecast_negative(f, first.len(), first.bits());
        });
        outcome.p1.xor(&outcome.p2)
    }

    #[test]
    fn every_pair_of_small_shares_has_the_sign_of_its_sum() {
        for bits in 1..=6u32 {
            let all = 0..1u64 << (2 * bits);
            let first: Vec<u64> = all.clone().map(|both| both >> bits).collect();
            let second: Vec<u64> = all.map(|both| both & ((1 << bits) - 1)).collect();
            let due: Bits =
                first.iter().zip(&second).map(|(a, b)| (a + b) >> (bits - 1) & 1 == 1).collect();
            let shares = [first, second].map(|words| WordShares::new(bits, words).unwrap());
            assert_eq!(
                signs(&shares[0], &shares[1], Source::SoftSpoken(Columns::Four)),
                due,
                "{bits} bits"
            );
        }
    }

    #[test]
    fn words_of_any_length_have_their_signs_from_every_source() {
        let mut number = 7u64;
        let mut next = || {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_041);
            number ^ number >> 31
        };
        for (source, bits) in [7, 11, 19, 26, 31, 64]
            .iter()
            .flat_map(|bits| Source::SMALL.map(|source| (source, *bits)))
        {
            // Small differences as well as random ones.
            let values: Vec<u64> = (0..60)
                .map(|i| if i % 2 == 0 { next() } else { (i as u64).wrapping_sub(30) })
                .collect();
            let first: Vec<u64> = values.iter().map(|_| next()).collect();
            let second = values.iter().zip(&first).map(|(v, a)| v.wrapping_sub(*a)).collect();
            let due: Bits = values.iter().map(|value| value >> (bits - 1) & 1 == 1).collect();
            let shares = [first, second].map(|words| WordShares::new(bits, words).unwrap());
            assert_eq!(signs(&shares[0], &shares[1], source), due, "{bits} bits");
        }
    }

    /// Entries beyond the last would be masked by hashes that P2 has.
    #[test]
    fn tables_end_with_their_last_entry() {
        let outcome = run_pair(
            Setup::default().seed(3),
            |session| drop(negative(session, &WordShares::new(2, vec![1; 64]).unwrap()).unwrap()),
            |session| {
                let choices = Zeroizing::new(vec![false; 64]);
                session.with_garbling(|yao, session| {
                    if let Ok(Side::Receiver(source)) = yao.transfers(session, Role::P1) {
                        source.chosen_rows(session, &choices).unwrap();
                    }
                });
                session.channel.receive_bytes(TABLES, 64).unwrap()
            },
        );
        assert!(outcome.p2.iter().all(|table| table >> 4 == 0));
        assert!(outcome.p2.iter().any(|table| *table != 0));
    }

    #[test]
    fn what_is_sent_does_not_depend_on_the_words() {
        let words = |seed: u64| WordShares::new(17, vec![seed, seed << 9, 0, !seed]).unwrap();
        assert_same_shape(&[0, 1, 0xffff], |seed| {
            let party = |session: &mut Session| negative(session, &words(*seed)).unwrap();
            run_pair(Setup::default().seed(*seed), party, party)
        });
    }
}
