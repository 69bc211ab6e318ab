//! Oblivious transfer: the receiver gets one of two strings, the sender does not learn which.
//!
//! *Inputs*: the sender's Δ (correlated), nothing (random) or pairs of strings
//! (chosen); the receiver's choice bits. *Output*: to the receiver the chosen
//! string of each pair; in the correlated form the pair is (q, q ⊕ Δ), in the
//! random form a pair of independent random strings, which the sender gets.
//! *Learned*: by the sender nothing, by the receiver nothing about the other
//! string; both know the number of transfers. *Cost*: 128 base transfers
//! (4 KiB, one round) per session and direction; then 16 bytes from the
//! receiver per transfer, padded to whole blocks of 128, and 32 bytes back in
//! the chosen form. Semi-honest.
//!
//! Transfers go in chunks, so memory does not grow with their number.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::crypto::garble::Delta;
//! use diptych_mpc::protocol::ot::{Receiver, Sender};
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//!
//! let pairs = [[10, 11], [20, 21], [30, 31]];
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| {
//!         let delta = Delta::random(&mut session.rng);
//!         Sender::setup(session, delta)?.chosen(session, &pairs)
//!     },
//!     |session| Receiver::setup(session)?.chosen(session, &[false, true, true]),
//! );
//! outcome.p1?;
//! assert_eq!(outcome.p2?, [10, 21, 31]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rand::Rng;
use zeroize::Zeroizing;

use crate::Error;
use crate::crypto::garble::Delta;
use crate::crypto::ot::{
    BASE_TRANSFERS, BLOCK_BYTES, BaseReceiver, BaseSender, ExtensionReceiver, ExtensionSender,
    ROWS, hash_rows,
};
use crate::math::wiped;
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::transfers::{Numbers, Purpose, Receiving, Sending};
use crate::role::Role;
use crate::simd::lanes;

/// Transfers per message: 256 KiB, which fit the cache while they are turned into rows.
pub const CHUNK: usize = 1 << 14;

/// Chosen-form transfers before the sender answers; the bytes in flight stay far below the limit.
const CHOSEN_WINDOW: usize = 1 << 18;

const BASE_PUBLIC: Tag = Tag::new(*b"otbs");
const BASE_ANSWERS: Tag = Tag::new(*b"otbr");
const COLUMNS: Tag = Tag::new(*b"otex");
const CIPHERTEXTS: Tag = Tag::new(*b"otct");

/// What a transfer computes: the chosen string of every pair.
pub fn ideal(pairs: &[[u128; 2]], choices: &[bool]) -> Vec<u128> {
    pairs.iter().zip(choices).map(|(pair, choice)| pair[usize::from(*choice)]).collect()
}

/// The messages of a set-up.
pub fn forecast_setup(forecast: &mut Forecast, sender: Role) {
    forecast.message(sender.peer(), BASE_PUBLIC, 32);
    forecast.message(sender, BASE_ANSWERS, 32 * BASE_TRANSFERS);
    forecast.work(Work::BaseTransfers, 1);
}

/// The messages of `count` correlated transfers.
pub fn forecast_correlated(forecast: &mut Forecast, sender: Role, count: usize) {
    for chunk in chunks(count, CHUNK) {
        forecast.message(sender.peer(), COLUMNS, chunk.div_ceil(ROWS) * BLOCK_BYTES);
    }
    forecast.work(Work::Transfer, count);
}

/// The base transfers at the side that will send: the chosen seed for every bit of Δ. The peer calls
/// [`base_pairs`].
pub(super) fn base_chosen(
    session: &mut Session,
    delta: &Delta,
) -> Result<(Zeroizing<Vec<u128>>, Numbers), Error> {
    let number = session.next_setup(session.role);
    let context = context(session, session.role, number);
    let mut public = [0; 32];
    public.copy_from_slice(&session.channel.receive_bytes(BASE_PUBLIC, 32)?);
    let receiver = BaseReceiver::new(public, delta.expose(), &mut session.rng)?;
    session.channel.send_bytes(BASE_ANSWERS, receiver.answers().as_flattened())?;
    let seeds = Zeroizing::new(receiver.keys(&context));
    Ok((seeds, Numbers::new(session, session.role, number)))
}

/// Both seeds of every base transfer.
pub(super) type Pairs = Zeroizing<Vec<[u128; 2]>>;

/// The base transfers at the side that will receive.
pub(super) fn base_pairs(session: &mut Session) -> Result<(Pairs, Numbers), Error> {
    let number = session.next_setup(session.role.peer());
    let context = context(session, session.role.peer(), number);
    let sender = BaseSender::new(&mut session.rng);
    session.channel.send_bytes(BASE_PUBLIC, &sender.public())?;
    let body = session.channel.receive_bytes(BASE_ANSWERS, 32 * BASE_TRANSFERS)?;
    let seeds = Zeroizing::new(sender.keys(&context, body.as_chunks::<32>().0)?);
    Ok((seeds, Numbers::new(session, session.role.peer(), number)))
}

/// The sending side, set up once per session.
pub struct Sender {
    extension: ExtensionSender,
    numbers: Numbers,
    message: Vec<u8>,
}

impl Sender {
    /// Runs the base transfers; the peer calls [`Receiver::setup`].
    ///
    /// # Errors
    /// If the connection fails or the peer's message is not acceptable.
    pub fn setup(session: &mut Session, delta: Delta) -> Result<Self, Error> {
        let (seeds, numbers) = base_chosen(session, &delta)?;
        let extension = ExtensionSender::new(delta, &seeds);
        Ok(Self { extension, numbers, message: Vec::new() })
    }

    /// Which set-up of this direction it is, from 1.
    pub fn number(&self) -> u64 {
        self.numbers.setup()
    }

    /// The difference of every correlated pair.
    pub fn delta(&self) -> &Delta {
        self.extension.delta()
    }

    /// `count` correlated transfers: hands q of each to `take`, a chunk at a time.
    ///
    /// # Errors
    /// If the connection fails or a message has the wrong length.
    pub fn correlated_chunks(
        &mut self,
        session: &mut Session,
        count: usize,
        take: &mut dyn FnMut(&[u128]),
    ) -> Result<(), Error> {
        let mut rows = Zeroizing::new(Vec::with_capacity(count.min(CHUNK) + ROWS));
        for chunk in chunks(count, CHUNK) {
            let due = chunk.div_ceil(ROWS) * BLOCK_BYTES;
            session.channel.receive_bytes_into(COLUMNS, due, &mut self.message)?;
            rows.clear();
            self.extension.extend(&self.message, &mut rows);
            take(&rows[..chunk]);
        }
        Ok(())
    }

    /// `count` correlated transfers: q of each.
    ///
    /// # Errors
    /// As for [`Sender::correlated_chunks`].
    pub fn correlated(&mut self, session: &mut Session, count: usize) -> Result<Vec<u128>, Error> {
        let mut all = Vec::with_capacity(count);
        self.correlated_chunks(session, count, &mut |rows| all.extend_from_slice(rows))?;
        Ok(all)
    }

    /// `count` random transfers: both strings of each.
    ///
    /// # Errors
    /// As for [`Sender::correlated_chunks`].
    pub fn random(&mut self, session: &mut Session, count: usize) -> Result<Vec<[u128; 2]>, Error> {
        let delta = self.delta().expose();
        let start = self.numbers.start(Purpose::Transfers);
        let mut next = self.numbers.take_transfers(count);
        let mut all = Vec::with_capacity(count);
        let mut zero = Zeroizing::new(Vec::with_capacity(count.min(CHUNK)));
        let mut other = Zeroizing::new(Vec::with_capacity(count.min(CHUNK)));
        self.correlated_chunks(session, count, &mut |rows| {
            zero.clear();
            zero.extend_from_slice(rows);
            other.clear();
            other.extend(rows.iter().map(|row| row ^ delta));
            hash_rows(start, next, &mut zero);
            hash_rows(start, next, &mut other);
            next += rows.len() as u64;
            all.extend(zero.iter().zip(other.iter()).map(|(a, b)| [*a, *b]));
        })?;
        Ok(all)
    }

    /// Transfers one string of each of `pairs`.
    ///
    /// # Errors
    /// As for [`Sender::correlated_chunks`].
    pub fn chosen(&mut self, session: &mut Session, pairs: &[[u128; 2]]) -> Result<(), Error> {
        for window in pairs.chunks(CHOSEN_WINDOW) {
            let masks = self.random(session, window.len())?;
            for (pairs, masks) in window.chunks(CHUNK).zip(masks.chunks(CHUNK)) {
                self.message.clear();
                for (word, mask) in pairs.as_flattened().iter().zip(masks.as_flattened()) {
                    self.message.extend_from_slice(&(word ^ mask).to_le_bytes());
                }
                session.channel.send_bytes(CIPHERTEXTS, &self.message)?;
            }
        }
        Ok(())
    }
}

/// The receiving side, set up once per session.
pub struct Receiver {
    extension: ExtensionReceiver,
    numbers: Numbers,
    message: Vec<u8>,
}

impl Receiver {
    /// Runs the base transfers; the peer calls [`Sender::setup`].
    ///
    /// # Errors
    /// If the connection fails or the peer's message is not acceptable.
    pub fn setup(session: &mut Session) -> Result<Self, Error> {
        let (seeds, numbers) = base_pairs(session)?;
        Ok(Self { extension: ExtensionReceiver::new(&seeds), numbers, message: Vec::new() })
    }

    /// Which set-up of this direction it is, from 1.
    pub fn number(&self) -> u64 {
        self.numbers.setup()
    }

    /// Correlated transfers: hands q ⊕ choice·Δ of each to `take`, a chunk at a time.
    ///
    /// # Errors
    /// If the connection fails.
    pub fn correlated_chunks(
        &mut self,
        session: &mut Session,
        choices: &[bool],
        take: &mut dyn FnMut(&[u128]),
    ) -> Result<(), Error> {
        let mut rows = Zeroizing::new(Vec::with_capacity(choices.len().min(CHUNK) + ROWS));
        let mut words = Zeroizing::new(Vec::with_capacity(CHUNK / ROWS));
        for chunk in choices.chunks(CHUNK) {
            words.clear();
            words.extend(chunk.chunks(ROWS).map(pack));
            rows.clear();
            self.message.clear();
            self.extension.extend(&words, &mut self.message, &mut rows);
            session.channel.send_bytes(COLUMNS, &self.message)?;
            take(&rows[..chunk.len()]);
        }
        Ok(())
    }

    /// Correlated transfers: q ⊕ choice·Δ of each.
    ///
    /// # Errors
    /// As for [`Receiver::correlated_chunks`].
    pub fn correlated(
        &mut self,
        session: &mut Session,
        choices: &[bool],
    ) -> Result<Vec<u128>, Error> {
        let mut all = Vec::with_capacity(choices.len());
        self.correlated_chunks(session, choices, &mut |rows| all.extend_from_slice(rows))?;
        Ok(all)
    }

    /// Random transfers: the chosen string of each.
    ///
    /// # Errors
    /// As for [`Receiver::correlated_chunks`].
    pub fn random(&mut self, session: &mut Session, choices: &[bool]) -> Result<Vec<u128>, Error> {
        let start = self.numbers.start(Purpose::Transfers);
        let mut next = self.numbers.take_transfers(choices.len());
        let mut all: Vec<u128> = Vec::with_capacity(choices.len());
        self.correlated_chunks(session, choices, &mut |rows| {
            let from = all.len();
            all.extend_from_slice(rows);
            hash_rows(start, next, &mut all[from..]);
            next += rows.len() as u64;
        })?;
        Ok(all)
    }

    /// Receives the chosen string of each of the sender's pairs.
    ///
    /// # Errors
    /// If the connection fails or a message has the wrong length.
    pub fn chosen(&mut self, session: &mut Session, choices: &[bool]) -> Result<Vec<u128>, Error> {
        let mut all = Vec::with_capacity(choices.len());
        for window in choices.chunks(CHOSEN_WINDOW) {
            let masks = self.random(session, window)?;
            for (choices, masks) in window.chunks(CHUNK).zip(masks.chunks(CHUNK)) {
                let due = 32 * choices.len();
                session.channel.receive_bytes_into(CIPHERTEXTS, due, &mut self.message)?;
                let pairs = self.message.as_chunks::<32>().0;
                for ((choice, mask), pair) in choices.iter().zip(masks).zip(pairs) {
                    let [zero, one] = [0, 16].map(|at| {
                        let mut word = [0; 16];
                        word.copy_from_slice(&pair[at..at + 16]);
                        u128::from_le_bytes(word)
                    });
                    all.push(lanes::choose(zero, one, *choice) ^ mask);
                }
            }
        }
        Ok(all)
    }
}

impl Sending for Sender {
    fn delta(&self) -> &Delta {
        self.delta()
    }

    fn numbers(&mut self) -> &mut Numbers {
        &mut self.numbers
    }

    fn extend(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error> {
        wiped::make_room(rows, count);
        self.correlated_chunks(session, count, &mut |chunk| {
            rows.extend(chunk.iter().map(|q| q & !1))
        })
    }

    /// The choices go into the extension, so that nothing is left to correct.
    fn corrected_chunks(
        &mut self,
        session: &mut Session,
        count: usize,
        take: &mut dyn FnMut(&[u128]),
    ) -> Result<(), Error> {
        self.correlated_chunks(session, count, take)
    }
}

impl Receiving for Receiver {
    fn numbers(&mut self) -> &mut Numbers {
        &mut self.numbers
    }

    /// The choices are drawn here, and are the rows' lowest bits.
    fn extend(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error> {
        wiped::make_room(rows, count);
        for chunk in chunks(count, CHUNK) {
            let choices: Zeroizing<Vec<bool>> = Zeroizing::new(random_bits(session, chunk));
            let mut bits = choices.iter();
            self.correlated_chunks(session, &choices, &mut |chunk| {
                let numbered = chunk.iter().zip(bits.by_ref());
                rows.extend(numbered.map(|(t, bit)| (t & !1) | u128::from(*bit)));
            })?;
        }
        Ok(())
    }

    /// The choices go into the extension, so that nothing is left to correct.
    fn chosen_chunks(
        &mut self,
        session: &mut Session,
        choices: &[bool],
        take: &mut dyn FnMut(&[u128]),
    ) -> Result<(), Error> {
        self.correlated_chunks(session, choices, take)
    }
}

fn random_bits(session: &mut Session, count: usize) -> Vec<bool> {
    let mut bytes = Zeroizing::new(vec![0; count.div_ceil(8)]);
    session.rng.fill_bytes(&mut bytes);
    (0..count).map(|bit| bytes[bit / 8] >> (bit % 8) & 1 == 1).collect()
}

fn pack(bits: &[bool]) -> u128 {
    bits.iter().rev().fold(0, |word, bit| word << 1 | u128::from(*bit))
}

pub(super) fn chunks(count: usize, size: usize) -> impl Iterator<Item = usize> {
    (0..count).step_by(size).map(move |start| size.min(count - start))
}

/// Binds keys to the session, to who sends in the extension, and to the number of the set-up.
fn context(session: &Session, sender: Role, number: u64) -> Vec<u8> {
    let mut context = session.id.as_bytes().to_vec();
    context.extend_from_slice(format!("{sender} {number}").as_bytes());
    context
}

#[cfg(test)]
mod tests;
