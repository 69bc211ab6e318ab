//! Shared bits and other forms: rings, garbled circuits.

use zeroize::Zeroizing;

use super::{Bits, Error};
use crate::circuit::{Builder, Circuit, Gates, Program};
use crate::crypto::ot::hash_rows;
use crate::net::Tag;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::{pack, unpack};
use crate::protocol::transfers::{self, Purpose, Receiving, Sending};
use crate::protocol::yao::{self, Reveal, Side};
use crate::protocol::{Session, ot};
use crate::role::Role;

/// Transfers before the sender answers.
const WINDOW: usize = 1 << 19;

/// u of every bit.
const DIFFERENCES: Tag = Tag::new(*b"btdf");

/// What opens to products of bits and words.
const PRODUCTS: Tag = Tag::new(*b"btpr");

/// Shares over Z_{2^k} of shared bits.
///
/// *How*, for bits b = b1 ⊕ b2: P2 chooses by b2 in a transfer from P1; with x0 and x1 hashes of its
/// rows, P1 sends u = x0 − x1 − 2·b1 and keeps b1 − x0. P2 has x0 if b2 = 0, which is its share, and x1
/// if b2 = 1; then its share is 1 + x1 + u = 1 + x0 − 2·b1. u is masked by the hash that P2 lacks.
/// *Cost* per bit: a transfer with its choice and k bits; one round for 2^19 bits.
///
/// # Errors
/// If k is not 1 to 64, the connection fails, or the peer sends something that is not allowed.
pub fn to_words(session: &mut Session, bits: &Bits, ring_bits: u32) -> Result<WordShares, Error> {
    // Rejects an unsupported ring before anything is sent.
    WordShares::new(ring_bits, Vec::new())?;
    let mut words = Zeroizing::new(Vec::with_capacity(bits.len()));
    session.with_garbling(|yao, session| -> Result<(), Error> {
        match yao.transfers(session, Role::P1)? {
            Side::Sender(source) => {
                for part in bits.parts(WINDOW) {
                    send_words(session, source, &part, ring_bits, &mut words)?;
                }
            }
            Side::Receiver(source) => {
                for part in bits.parts(WINDOW) {
                    receive_words(session, source, &part, ring_bits, &mut words)?;
                }
            }
        }
        Ok(())
    })?;
    WordShares::new(ring_bits, std::mem::take(&mut *words))
}

fn send_words(
    session: &mut Session,
    source: &mut (dyn Sending + Send),
    bits: &Bits,
    ring_bits: u32,
    words: &mut Vec<u64>,
) -> Result<(), Error> {
    let mut rows = source.corrected(session, bits.len())?;
    let delta = source.delta().expose();
    let mut other = Zeroizing::new(Vec::with_capacity(rows.len()));
    other.extend(rows.iter().map(|row| row ^ delta));
    let numbers = source.numbers();
    let (start, first) = (numbers.start(Purpose::Conversions), numbers.take_transfers(rows.len()));
    hash_rows(start, first, &mut rows);
    hash_rows(start, first, &mut other);
    let mut differences = Zeroizing::new(Vec::with_capacity(rows.len()));
    for (place, (zero, one)) in rows.iter().zip(other.iter()).enumerate() {
        let (bit, zero, one) = (u64::from(bits.get(place)), *zero as u64, *one as u64);
        differences.push(zero.wrapping_sub(one).wrapping_sub(2 * bit));
        words.push(bit.wrapping_sub(zero));
    }
    let mut message = vec![0; packed_bytes(bits.len(), ring_bits)];
    pack(&differences, ring_bits, &mut message);
    session.channel.send_bytes(DIFFERENCES, &message)?;
    Ok(())
}

fn receive_words(
    session: &mut Session,
    source: &mut (dyn Receiving + Send),
    bits: &Bits,
    ring_bits: u32,
    words: &mut Vec<u64>,
) -> Result<(), Error> {
    let choices = Zeroizing::new(bits.to_bools());
    let mut rows = source.chosen_rows(session, &choices)?;
    let numbers = source.numbers();
    let (start, first) = (numbers.start(Purpose::Conversions), numbers.take_transfers(rows.len()));
    hash_rows(start, first, &mut rows);
    let due = packed_bytes(bits.len(), ring_bits);
    let message = session.channel.receive_bytes(DIFFERENCES, due)?;
    let mut differences = Zeroizing::new(vec![0; rows.len()]);
    unpack(&message, ring_bits, &mut differences);
    for (place, (row, difference)) in rows.iter().zip(differences.iter()).enumerate() {
        let bit = u64::from(bits.get(place));
        let more = (difference.wrapping_add(1)) & bit.wrapping_neg();
        words.push((*row as u64).wrapping_add(more));
    }
    Ok(())
}

fn packed_bytes(words: usize, ring_bits: u32) -> usize {
    (words * ring_bits as usize).div_ceil(8)
}

/// The messages of [`to_words`] on `count` bits, with those of the set-up of transfers from P1.
///
/// # Errors
/// As [`to_words`] for an unsupported ring.
pub fn forecast_to_words(f: &mut Forecast, count: usize, ring_bits: u32) -> Result<(), Error> {
    WordShares::new(ring_bits, Vec::new())?;
    yao::forecast_set_up(f, Role::P1);
    for part in ot::chunks(count, WINDOW) {
        transfers::forecast(f, Role::P1, part);
        f.message(Role::P1, DIFFERENCES, packed_bytes(part, ring_bits));
    }
    f.work(Work::Hash, if f.role() == Role::P1 { 2 * count } else { count });
    Ok(())
}

/// Shares of the words where the bit is 1, and of 0 where it is not.
///
/// *How*, for a bit b1 ⊕ b2 and a word d1 + d2 modulo 2^k: the product is b1·d1 + b2·(1 − 2·b1)·d1 and
/// b2·d2 + b1·e with e = (1 − 2·b2)·d2. The first terms are known to one party each. Of b2 times what P1
/// knows they get shares by a transfer that P2 chooses with b2; of b1·e by one for every bit j of e,
/// which P2 chooses with that bit and which adds b1·2^j (Gilboa 1999). With x0 and x1 hashes of P1's
/// rows, t what is due for the choice 1 and w the bits that count, P1 sends x0 − x1 + t modulo 2^w,
/// masked by the hash that P2 lacks, and keeps −x0. *Cost* per word: k + 1 transfers with their
/// choices and k·(k + 3)/2 bits; one round for 2^19 transfers.
///
/// # Errors
/// As for [`super::and`]; if there is not one bit per word.
pub fn select_words(
    session: &mut Session,
    selected: &Bits,
    words: &WordShares,
) -> Result<WordShares, Error> {
    super::check_equally_long(words.len(), &[selected])?;
    let ring_bits = words.bits();
    let mut products = Zeroizing::new(Vec::with_capacity(words.len()));
    session.with_garbling(|yao, session| -> Result<(), Error> {
        let mut side = yao.transfers(session, Role::P1)?;
        let windows = words.words().chunks(words_per_window(ring_bits));
        for (words, bits) in windows.zip(selected.parts(words_per_window(ring_bits))) {
            let bits: Vec<u64> = (0..bits.len()).map(|i| u64::from(bits.get(i))).collect();
            let (bits, first) = (Zeroizing::new(bits), products.len());
            products.extend(words.iter().zip(bits.iter()).map(|(d, b)| d & b.wrapping_neg()));
            let products = &mut products[first..];
            match &mut side {
                Side::Sender(source) => {
                    send_products(session, *source, ring_bits, &bits, words, products)?;
                }
                Side::Receiver(source) => {
                    receive_products(session, *source, ring_bits, &bits, words, products)?;
                }
            }
        }
        Ok(())
    })?;
    WordShares::new(ring_bits, std::mem::take(&mut *products))
}

/// Words of one round of [`select_words`].
fn words_per_window(ring_bits: u32) -> usize {
    (WINDOW / (ring_bits as usize + 1)).max(1)
}

/// The transfers of a word: by how many bits what comes out is shifted. The first is that of the bit
/// itself.
fn shifts(ring_bits: u32) -> impl Iterator<Item = u32> {
    std::iter::once(0).chain(0..ring_bits)
}

/// Bytes of the differences of so many words.
fn product_bytes(words: usize, ring_bits: u32) -> usize {
    shifts(ring_bits).map(|shift| packed_bytes(words, ring_bits - shift)).sum()
}

/// d if the bit is 0, −d if it is 1.
fn negate_if(bit: u64, word: u64) -> u64 {
    (word ^ bit.wrapping_neg()).wrapping_add(bit)
}

fn send_products(
    session: &mut Session,
    source: &mut (dyn Sending + Send),
    ring_bits: u32,
    bits: &[u64],
    words: &[u64],
    products: &mut [u64],
) -> Result<(), Error> {
    let mut rows = source.corrected(session, words.len() * (ring_bits as usize + 1))?;
    let delta = source.delta().expose();
    let mut other = Zeroizing::new(Vec::with_capacity(rows.len()));
    other.extend(rows.iter().map(|row| row ^ delta));
    let numbers = source.numbers();
    let (start, first) = (numbers.start(Purpose::Conversions), numbers.take_transfers(rows.len()));
    hash_rows(start, first, &mut rows);
    hash_rows(start, first, &mut other);
    let mut message = vec![0; product_bytes(words.len(), ring_bits)];
    let (mut room, mut differences) = (&mut message[..], Zeroizing::new(vec![0; words.len()]));
    let columns = rows.chunks(words.len()).zip(other.chunks(words.len()));
    for (column, (shift, (zeros, ones))) in shifts(ring_bits).zip(columns).enumerate() {
        for (place, (zero, one)) in zeros.iter().zip(ones).enumerate() {
            let (zero, one) = (*zero as u64, *one as u64);
            let (bit, word) = (bits[place], words[place]);
            let due = if column == 0 { negate_if(bit, word) } else { bit };
            differences[place] = zero.wrapping_sub(one).wrapping_add(due);
            products[place] = products[place].wrapping_sub(zero << shift);
        }
        let width = ring_bits - shift;
        let (now, later) = room.split_at_mut(packed_bytes(words.len(), width));
        pack(&differences, width, now);
        room = later;
    }
    session.channel.send_bytes(PRODUCTS, &message)?;
    Ok(())
}

fn receive_products(
    session: &mut Session,
    source: &mut (dyn Receiving + Send),
    ring_bits: u32,
    bits: &[u64],
    words: &[u64],
    products: &mut [u64],
) -> Result<(), Error> {
    let factors = bits.iter().zip(words).map(|(bit, word)| negate_if(*bit, *word));
    let factors: Zeroizing<Vec<u64>> = Zeroizing::new(factors.collect());
    let mut choices = Zeroizing::new(Vec::with_capacity(words.len() * (ring_bits as usize + 1)));
    choices.extend(bits.iter().map(|bit| *bit == 1));
    for place in 0..ring_bits {
        choices.extend(factors.iter().map(|factor| factor >> place & 1 == 1));
    }
    let mut rows = source.chosen_rows(session, &choices)?;
    let numbers = source.numbers();
    let (start, first) = (numbers.start(Purpose::Conversions), numbers.take_transfers(rows.len()));
    hash_rows(start, first, &mut rows);
    let due = product_bytes(words.len(), ring_bits);
    let message = session.channel.receive_bytes(PRODUCTS, due)?;
    let (mut rest, mut differences) = (&message[..], Zeroizing::new(vec![0; words.len()]));
    let columns = rows.chunks(words.len()).zip(choices.chunks(words.len()));
    for (shift, (rows, choices)) in shifts(ring_bits).zip(columns) {
        let width = ring_bits - shift;
        let (now, later) = rest.split_at(packed_bytes(words.len(), width));
        unpack(now, width, &mut differences);
        rest = later;
        for (place, (row, choice)) in rows.iter().zip(choices).enumerate() {
            let more = differences[place] & u64::from(*choice).wrapping_neg();
            let term = (*row as u64).wrapping_add(more) << shift;
            products[place] = products[place].wrapping_add(term);
        }
    }
    Ok(())
}

/// The messages of [`select_words`].
///
/// # Errors
/// For an unsupported ring.
pub fn forecast_select_words(f: &mut Forecast, count: usize, ring_bits: u32) -> Result<(), Error> {
    WordShares::new(ring_bits, Vec::new())?;
    yao::forecast_set_up(f, Role::P1);
    for part in ot::chunks(count, words_per_window(ring_bits)) {
        let transfers = part * (ring_bits as usize + 1);
        transfers::forecast(f, Role::P1, transfers);
        f.message(Role::P1, PRODUCTS, product_bytes(part, ring_bits));
        f.work(Work::Hash, if f.role() == Role::P1 { 2 * transfers } else { transfers });
    }
    Ok(())
}

/// A circuit whose inputs are shared bits, to be garbled: both parties give their shares as inputs,
/// which are XORed for free. Outputs are revealed to the chosen parties, or shared again.
pub struct SharedInputs {
    program: Program,
    input_bits: usize,
}

impl SharedInputs {
    /// Wraps `circuit`; the owners of its inputs are ignored.
    pub fn new(circuit: &Circuit) -> Self {
        let mut g = Builder::new();
        let width = circuit.input_bits();
        let first = g.input(Role::P1, "shares of P1", width);
        let second = g.input(Role::P2, "shares of P2", width);
        let inputs: Vec<_> = first.iter().zip(&second).map(|(a, b)| g.xor(*a, *b)).collect();
        let values = circuit.embed(&mut g, &inputs);
        let mut values = values.as_slice();
        for port in circuit.outputs() {
            let (value, rest) = values.split_at(port.width);
            g.output(&port.name, value);
            values = rest;
        }
        Self { program: Program::new(&g.finish()), input_bits: width }
    }

    /// The circuit that is garbled, for a forecast.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Runs it on shares of all inputs, port after port.
    ///
    /// # Errors
    /// If there are not as many shares as inputs, and as for [`yao::run`].
    pub fn run(
        &self,
        session: &mut Session,
        garbler: Role,
        inputs: &Bits,
        reveal: Reveal,
    ) -> Result<Option<Bits>, Error> {
        super::check_equally_long(self.input_bits, &[inputs])?;
        let own = Zeroizing::new(inputs.to_bools());
        let outputs = yao::run(session, garbler, &self.program, &own, reveal)?;
        Ok(outputs.map(|bits| Zeroizing::new(bits).iter().copied().collect()))
    }
}

impl Bits {
    /// This party's shares of bits that neither knows, from its coins.
    pub fn random(session: &mut Session, length: usize) -> Self {
        let mut bytes = Zeroizing::new(vec![0; length.div_ceil(8)]);
        session.coins.joint_bytes(&mut bytes);
        Self::from_bytes(&bytes, length)
    }
}
