//! Shared bits and other forms: rings, garbled circuits.

use rand::Rng;
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

/// Bits that are converted before the sender answers.
const WINDOW: usize = 1 << 18;

/// u of every bit.
const DIFFERENCES: Tag = Tag::new(*b"btdf");

/// Shares over Z_{2^k} of shared bits.
///
/// *How*, for bits b = b1 ⊕ b2: P2 chooses by b2 in a transfer from P1; with x0 and x1 hashes of its
/// rows, P1 sends u = x0 − x1 − 2·b1 and keeps b1 − x0. P2 has x0 if b2 = 0, which is its share, and x1
/// if b2 = 1; then its share is 1 + x1 + u = 1 + x0 − 2·b1. u is masked by the hash that P2 lacks.
/// *Cost* per bit: a transfer with its choice and k bits; one round for 262,144 bits.
///
/// # Errors
/// If k is not 1 to 64, the connection fails, or the peer sends something that is not allowed.
pub fn to_words(session: &mut Session, bits: &Bits, ring_bits: u32) -> Result<WordShares, Error> {
    // Refuses a ring that is none before anything is sent.
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
    Ok(WordShares::new(ring_bits, std::mem::take(&mut *words))?)
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
/// As [`to_words`] for a ring that is none.
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

/// A circuit whose inputs are shared bits, to be garbled: both parties put in their shares, which
/// are XORed for free. Outputs go to whom they are revealed, or into shares again.
pub struct SharedInputs {
    program: Program,
    input_bits: usize,
}

impl SharedInputs {
    /// Wraps `circuit`; whose its inputs are does not matter.
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
    /// Shares of bits that this party draws: the peer's shares are whatever it has.
    pub fn random(session: &mut Session, length: usize) -> Self {
        let mut bytes = Zeroizing::new(vec![0; length.div_ceil(8)]);
        session.rng.fill_bytes(&mut bytes);
        Self::from_bytes(&bytes, length)
    }
}
