//! Set intersection by an oblivious pseudorandom function: for large lists, without a group operation
//! per element.
//!
//! *Inputs*, *output*, *learned*: those of [`super::intersect`]. There is no form that counts only:
//! whoever holds the values F(x) can test its own identifiers. *Cost*: 16 bytes per column of the
//! smaller list's store (1.1 per identifier), ⌈(64 + ⌈log2 n1·n2⌉)/8⌉ bytes and a bit per identifier
//! of the larger list, and what [`crate::protocol::vole`] takes. A round trip for the base of the
//! transfers and one for each of its levels; waiting does not grow with the lists. *Assumptions*: those
//! of [`crate::protocol::oprf`].
//!
//! *How.* The party with the smaller list (P1 if they are equally long) is the receiver of an
//! [`oprf`]; the other evaluates F on its own list and sends the values, shuffled. The receiver compares
//! and answers with one bit per value. If a list is empty, nothing more is said.
//!
//! *Common order.* Ascending F, cut to whole bytes that hold σ + ⌈log2 n1·n2⌉ bits, σ = 64: two
//! different identifiers have the same value with probability below 2⁻⁶⁴ in the whole run.
//!
//! *What a peer can count or time.* Messages depend on the two sizes alone. Identifiers are digested
//! before the first message. How long a store takes, and in which order memory is read, follow hashes
//! under a seed of this run: random to whoever does not know the identifiers, but the peer knows the
//! seed, and can compare times with those of identifiers that it guesses, a few nanoseconds each. The
//! answer goes out when all of it is done. Between the sizes and the first message of the transfers
//! the receiver makes its store, and the sender evaluates its whole list before the first value: for more
//! than 10^7 identifiers on slow machines that may need a larger `silence_seconds`.
//!
//! *A faulty peer.* A list longer than the bound, a message of another length than expected, a
//! value twice that matches, an answer with more bits than the receiver has identifiers or with
//! bits after the last: each aborts the run with an error. A receiver that lies within these rules
//! can test as many guesses as its store has places, 1.1·n + 383 for n announced; it learns the
//! result first, and may abort then.
//!
//! *Memory.* At the receiver about 200 bytes per identifier of its own and 1/8 of the peer's (values
//! are compared as they come); at the sender about 130 per identifier of its own. Nothing grows with
//! what the peer announces: its store is no larger than one for as many as this side has.

use rand::seq::SliceRandom;
use zeroize::Zeroizing;

use super::{Error, Intersection, Options, PHASE, forecast_beginning, lists};
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::oprf::{self, HashedKey, hash_keys};
use crate::protocol::ot::chunks;
use crate::protocol::vole::Method;
use crate::role::Role;

/// The sender's values.
const VALUES: Tag = Tag::new(*b"psi3");
/// Which of them the receiver has.
const ANSWER: Tag = Tag::new(*b"psi4");

/// Ways in which a run may fail, in units of 2⁻⁶⁴: two different identifiers of the two lists have
/// the same value (1); the store needs another seed, or two of the receiver's own have one (½
/// each).
pub const FAILURES: u64 = 2;

/// Statistical security of the comparison, bits.
const SIGMA: u32 = 64;
/// Values in a message; a multiple of 8.
const CHUNK: usize = 1 << 15;
/// Bytes of the answer in a message.
const ANSWER_CHUNK: usize = 1 << 19;
/// The one use of the function.
const NUMBER: u64 = 0;

/// Finds the common identifiers; both parties learn which they are.
///
/// # Errors
/// See [`Error`].
pub fn intersect<S: AsRef<[u8]> + Sync>(
    session: &mut Session,
    method: Method,
    identifiers: &[S],
    options: Options<'_>,
) -> Result<Intersection, Error> {
    let lists = lists(session, identifiers, options)?;
    intersect_lists(session, method, lists, options)
}

fn intersect_lists(
    session: &mut Session,
    method: Method,
    lists: super::Lists,
    options: Options<'_>,
) -> Result<Intersection, Error> {
    let (own, peer) = (lists.digests.len(), lists.peer_size);
    let sender = sender(session.role, own, peer);
    (options.starts)(if session.role == sender { own } else { 2 * own + peer });
    let keys = hash_keys(session, sender, &lists.digests);
    drop(lists);
    let rows = if own.min(peer) == 0 {
        Vec::new()
    } else if session.role == sender {
        send(session, method, &keys, peer, options)?
    } else {
        receive(session, method, &keys, peer, options)?
    };
    Ok(Intersection { rows, peer_size: peer })
}

/// The messages of [`intersect`], for lists of `own` and `peer` elements.
pub fn forecast(f: &mut Forecast, method: Method, own: usize, peer: usize) {
    f.begin_phase(PHASE);
    forecast_beginning(f);
    let (few, many) = (own.min(peer), own.max(peer));
    if few == 0 {
        return;
    }
    let sender = sender(f.role(), own, peer);
    oprf::forecast(f, sender, method, few);
    f.work(Work::Lookup, own);
    for chunk in chunks(many, CHUNK) {
        f.message(sender, VALUES, chunk * width(own, peer));
    }
    for bytes in chunks(many.div_ceil(8), ANSWER_CHUNK) {
        f.message(sender.peer(), ANSWER, bytes);
    }
}

/// Who evaluates the function, seen from `role`: the party with the longer list, else P2.
fn sender(role: Role, own: usize, peer: usize) -> Role {
    let longer = if own > peer { role } else { role.peer() };
    if own == peer { Role::P2 } else { longer }
}

/// Bytes of a value.
fn width(own: usize, peer: usize) -> usize {
    let pairs = own as u128 * peer as u128;
    let bits = SIGMA + (u128::BITS - pairs.saturating_sub(1).leading_zeros());
    bits.div_ceil(8).min(16) as usize
}

/// The function's values truncated to the width, with the row of each.
fn cut(values: &[u128], width: usize) -> Zeroizing<Vec<(u128, u32)>> {
    let shift = 128 - 8 * width as u32;
    Zeroizing::new(values.iter().map(|value| value >> shift).zip(0..).collect())
}

fn send(
    session: &mut Session,
    method: Method,
    keys: &[HashedKey],
    peer: usize,
    options: Options<'_>,
) -> Result<Vec<usize>, Error> {
    let width = width(keys.len(), peer);
    let mut values = {
        let function = oprf::Sender::setup(session, method, peer)?;
        cut(&function.evaluate(NUMBER, keys), width)
    };
    values.shuffle(&mut session.rng);
    let mut message = Vec::with_capacity(width * CHUNK.min(values.len()));
    for part in values.chunks(CHUNK) {
        message.clear();
        for (value, _) in part {
            message.extend_from_slice(&value.to_be_bytes()[16 - width..]);
        }
        session.channel.send_bytes(VALUES, &message)?;
        (options.progress)(part.len());
    }
    let mut answer = Vec::with_capacity(keys.len().div_ceil(8));
    for bytes in chunks(keys.len().div_ceil(8), ANSWER_CHUNK) {
        session.channel.receive_bytes_into(ANSWER, bytes, &mut message)?;
        answer.extend_from_slice(&message);
    }
    let ones: usize = answer.iter().map(|byte| byte.count_ones() as usize).sum();
    let is_common = |place: usize| answer[place / 8] >> (place % 8) & 1 == 1;
    if ones > peer || (keys.len()..8 * answer.len()).any(is_common) {
        return Err(super::bad_answer());
    }
    let chosen = values.iter().enumerate().filter(|(place, _)| is_common(*place));
    let mut common: Vec<(u128, u32)> = chosen.map(|(_, value)| *value).collect();
    common.sort_unstable();
    Ok(common.into_iter().map(|(_, row)| row as usize).collect())
}

fn receive(
    session: &mut Session,
    method: Method,
    keys: &[HashedKey],
    peer: usize,
    options: Options<'_>,
) -> Result<Vec<usize>, Error> {
    let width = width(keys.len(), peer);
    let values = {
        let function = oprf::Receiver::setup(session, method, keys)?;
        (options.progress)(keys.len());
        cut(&function.outputs(NUMBER, keys), width)
    };
    (options.progress)(keys.len());
    let mut table = Table::new(values, width)?;
    let (mut answer, mut message) = (vec![0u8; 0], Vec::new());
    for count in chunks(peer, CHUNK) {
        session.channel.receive_bytes_into(VALUES, count * width, &mut message)?;
        let first = answer.len();
        answer.resize(first + count.div_ceil(8), 0);
        for (place, value) in message.chunks_exact(width).enumerate() {
            let mut block = [0; 16];
            block[16 - width..].copy_from_slice(value);
            let found = table.take(u128::from_be_bytes(block))?;
            answer[first + place / 8] |= u8::from(found) << (place % 8);
        }
        (options.progress)(count);
    }
    for bytes in answer.chunks(ANSWER_CHUNK) {
        session.channel.send_bytes(ANSWER, bytes)?;
    }
    Ok(table.found())
}

/// One's own values, ascending, and which of them the peer has.
struct Table {
    values: Zeroizing<Vec<(u128, u32)>>,
    is_found: Vec<bool>,
    /// Where the values with each prefix begin: they are random, so that few share one.
    index: Vec<u32>,
    shift: u32,
}

impl Table {
    fn new(mut values: Zeroizing<Vec<(u128, u32)>>, width: usize) -> Result<Self, Error> {
        values.sort_unstable();
        if values.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return Err(super::matching::peer_duplicate("what came of the peer's messages"));
        }
        let prefix_bits = values.len().max(2).ilog2();
        let shift = 8 * width as u32 - prefix_bits;
        let mut index = Vec::with_capacity((1 << prefix_bits) + 1);
        let mut at = 0;
        for prefix in 0..=1u128 << prefix_bits {
            while values.get(at as usize).is_some_and(|(value, _)| value >> shift < prefix) {
                at += 1;
            }
            index.push(at);
        }
        let is_found = vec![false; values.len()];
        Ok(Self { values, is_found, index, shift })
    }

    /// Records that the peer has this value, and returns whether it is one of one's own.
    fn take(&mut self, value: u128) -> Result<bool, Error> {
        let prefix = (value >> self.shift) as usize;
        let (start, end) = (self.index[prefix] as usize, self.index[prefix + 1] as usize);
        let place = self.values[start..end].iter().position(|(own, _)| *own == value);
        match place {
            None => Ok(false),
            Some(place) if self.is_found[start + place] => {
                Err(super::matching::peer_duplicate("the peer's list"))
            }
            Some(place) => {
                self.is_found[start + place] = true;
                Ok(true)
            }
        }
    }

    /// The rows of those that the peer has, by ascending value.
    fn found(self) -> Vec<usize> {
        let pairs = self.values.iter().zip(&self.is_found);
        pairs.filter(|(_, is_found)| **is_found).map(|((_, row), _)| *row as usize).collect()
    }
}

#[cfg(test)]
mod tests;
