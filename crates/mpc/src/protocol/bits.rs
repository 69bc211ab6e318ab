//! Bits in XOR shares: vectors of bits of which each party has a share, and circuits on them.
//!
//! *Inputs*: each party's [`Bits`], whose XOR nobody knows. *Output*: shares of any circuit of them
//! ([`run`]), of a ring element ([`to_words`]), of whether strings are equal ([`equal`]), of a unit
//! vector ([`unit_vector`]); inputs and outputs of garbled circuits ([`SharedInputs`]). *Learned*:
//! nothing but the public lengths; with [`open`], the bits, by whom it names.
//!
//! XOR is free, and so is negation, which P1 alone does to its share. An AND takes a random triple of
//! shared bits c = a·b, and two opened bits: with d = x ⊕ a and e = y ⊕ b opened,
//! x·y = c ⊕ d·b ⊕ e·a ⊕ d·e, where P1 adds the last term.
//!
//! *Triples* come from two transfers from P1 with random choices. The sender's bits of the first are
//! x0 and x1, of the second y0 and y1, each one bit of a hash of a row; its share of a is y0 ⊕ y1, of
//! b x0 ⊕ x1, and of c a·b ⊕ x0 ⊕ y0. The receiver's shares of a and b are its choices, and of c it is
//! a·b ⊕ x_a ⊕ y_b. The products of one's a with the other's b come out as x_a ⊕ x0 and y_b ⊕ y0.
//!
//! *Why it hides.* To the receiver the sender's a and b are hashes of rows that differ from its own
//! by Δ; to the sender the receiver's are random bits of transfers. So shares of a and b are uniform to
//! the other, and opened bits are masked by them. Hashes have a starting point of their own, and
//! every transfer serves once.
//!
//! *Cost* of n ANDs that do not depend on each other: 2n transfers; n/2 bytes in all; 4n hashes at P1
//! and 2n at P2; one round per 2^23 of them. That is 0.67 bytes per AND with silent transfers and 8.3
//! with SoftSpoken, against 32 in a garbled circuit, which has one round whatever its depth is: wide
//! and shallow work goes here. On IKNP transfers an AND costs more bytes than garbling.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::Error;
//! use diptych_mpc::protocol::bits::{Bits, and, open};
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::yao::Reveal;
//! use diptych_mpc::protocol::Session;
//!
//! // x = 0101 ⊕ 0110 = 0011 and y = 1111 ⊕ 0101 = 1010, in shares, first bit first.
//! let bits = |text: &str| text.chars().map(|c| c == '1').collect::<Bits>();
//! let party = |session: &mut Session, x: &str, y: &str| -> Result<_, Error> {
//!     let product = and(session, &bits(x), &bits(y))?;
//!     open(session, &product, Reveal::Both)
//! };
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| party(session, "0101", "1111"),
//!     |session| party(session, "0110", "0101"),
//! );
//! assert_eq!(outcome.p1?, Some(vec![false, false, true, false]));
//! assert_eq!(outcome.p2?, Some(vec![false, false, true, false]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod circuits;
mod convert;
mod signs;
#[cfg(test)]
mod tests;
mod triples;
mod vector;

pub use circuits::{Copies, Slices, forecast_run, forecast_together, ideal_run, run, run_together};
pub use convert::{SharedInputs, forecast_select_words, forecast_to_words, select_words, to_words};
pub use signs::{forecast_negative, negative};
pub use vector::Bits;

use triples::{Triples, forecast_triples};

use crate::Error;
use crate::net::Tag;
use crate::protocol::forecast::Forecast;
use crate::protocol::yao::Reveal;
use crate::protocol::{Session, ot};
use crate::role::Role;

/// Bits that both send before they wait for each other's: far fewer than may be in flight.
const PART: usize = 1 << 24;

/// Opened bits.
const OPENED: Tag = Tag::new(*b"btop");

/// # Errors
/// Unless all vectors have this length.
fn check_equally_long(length: usize, vectors: &[&Bits]) -> Result<(), Error> {
    match vectors.iter().find(|bits| bits.len() != length) {
        Some(other) => Err(Error::internal(format!(
            "a vector of {} bits where the others have {length}",
            other.len()
        ))),
        None => Ok(()),
    }
}

/// A vector whose every bit is `value`, in shares that everybody knows.
pub fn constant(role: Role, value: bool, length: usize) -> Bits {
    Bits::repeat(value && role == Role::P1, length)
}

/// The negation: P1 negates its share.
#[must_use]
pub fn not(role: Role, bits: &Bits) -> Bits {
    bits.xor(&constant(role, true, bits.len()))
}

/// Shared random bits a and b that nobody knows, and their products: [a, b, a·b]. They are as
/// random to each party as the transfers that they come from, and nothing is opened for them.
///
/// # Errors
/// If the connection fails or the peer sends something that is not allowed.
pub fn random_products(session: &mut Session, count: usize) -> Result<[Bits; 3], Error> {
    let Triples { a, b, c } = Triples::make(session, count)?;
    Ok([a, b, c])
}

/// The messages of [`random_products`].
pub fn forecast_random_products(f: &mut Forecast, count: usize) {
    if count > 0 {
        forecast_triples(f, count);
    }
}

/// The conjunction, place by place, in one round.
///
/// # Errors
/// If the vectors differ in length, the connection fails, or the peer sends something that is not
/// allowed.
pub fn and(session: &mut Session, x: &Bits, y: &Bits) -> Result<Bits, Error> {
    check_equally_long(x.len(), &[y])?;
    if x.is_empty() {
        return Ok(Bits::default());
    }
    let Triples { a, b, c } = Triples::make(session, x.len())?;
    let mut masked = x.xor(&a);
    masked.append(&y.xor(&b));
    let opened = exchange(session, &masked)?.xor(&masked);
    let (d, e) = opened.split(x.len());
    let product = c.xor(&d.and_with(&b)).xor(&e.and_with(&a));
    Ok(if session.role == Role::P1 { product.xor(&d.and_with(&e)) } else { product })
}

/// The messages of [`and`] on `count` bits, with those of the set-up of transfers from P1 if it is
/// not done yet.
pub fn forecast_and(f: &mut Forecast, count: usize) {
    if count > 0 {
        forecast_triples(f, count);
        forecast_exchange(f, 2 * count);
    }
}

/// Opens the bits to the given parties.
///
/// # Errors
/// If the connection fails or the peer's message has the wrong length.
pub fn open(
    session: &mut Session,
    bits: &Bits,
    reveal: Reveal,
) -> Result<Option<Vec<bool>>, Error> {
    let both = reveal.to(session.role) && reveal.to(session.role.peer());
    if both {
        return Ok(Some(exchange(session, bits)?.xor(bits).to_bools()));
    }
    if reveal.to(session.role.peer()) {
        for part in bits.parts(PART) {
            session.channel.send_bytes(OPENED, &part.to_bytes())?;
        }
    }
    if !reveal.to(session.role) {
        return Ok(None);
    }
    let mut theirs = Bits::default();
    for part in bits.parts(PART) {
        theirs.append(&receive(session, part.len())?);
    }
    Ok(Some(theirs.xor(bits).to_bools()))
}

/// The messages of [`open`].
pub fn forecast_open(f: &mut Forecast, count: usize, reveal: Reveal) {
    if reveal == Reveal::Both {
        return forecast_exchange(f, count);
    }
    for from in Role::BOTH.into_iter().filter(|from| reveal.to(from.peer())) {
        for part in ot::chunks(count, PART) {
            f.message(from, OPENED, part.div_ceil(8));
        }
    }
}

/// Sends bits and receives as many.
fn exchange(session: &mut Session, bits: &Bits) -> Result<Bits, Error> {
    let mut theirs = Bits::default();
    for part in bits.parts(PART) {
        session.channel.send_bytes(OPENED, &part.to_bytes())?;
        theirs.append(&receive(session, part.len())?);
    }
    Ok(theirs)
}

fn receive(session: &mut Session, count: usize) -> Result<Bits, Error> {
    let bytes = session.channel.receive_bytes(OPENED, count.div_ceil(8))?;
    Ok(Bits::from_bytes(&bytes, count))
}

fn forecast_exchange(f: &mut Forecast, count: usize) {
    for part in ot::chunks(count, PART) {
        f.exchange(OPENED, part.div_ceil(8));
    }
}

/// The conjunction of all vectors, place by place: ⌈log2⌉ of their number rounds.
///
/// # Errors
/// As for [`and`].
pub fn all(session: &mut Session, vectors: Vec<Bits>, length: usize) -> Result<Bits, Error> {
    check_equally_long(length, &vectors.iter().collect::<Vec<_>>())?;
    let mut left = vectors;
    while left.len() > 1 {
        let odd = if left.len() % 2 == 1 { left.pop() } else { None };
        let second = left.split_off(left.len() / 2);
        let products = and(session, &Bits::concat(&left), &Bits::concat(&second))?;
        left = products.parts(length).collect();
        left.extend(odd);
    }
    Ok(left.pop().unwrap_or_else(|| constant(session.role, true, length)))
}

/// The messages of [`all`].
pub fn forecast_all(f: &mut Forecast, vectors: usize, length: usize) {
    let mut left = vectors;
    while left > 1 && length > 0 {
        forecast_and(f, left / 2 * length);
        left = left.div_ceil(2);
    }
}

/// Whether two strings are equal, for many pairs of strings at once: vector j has bit j of every
/// string. Takes one AND less than a string has bits, and ⌈log2⌉ of that number rounds. Strings
/// without bits have no vector from which their number would follow: the result is empty.
///
/// # Errors
/// As for [`and`].
pub fn equal(session: &mut Session, first: &[Bits], second: &[Bits]) -> Result<Bits, Error> {
    if first.len() != second.len() {
        return Err(other_index(first.len(), second.len()));
    }
    let length = first.first().map_or(0, Bits::len);
    check_equally_long(length, &first.iter().chain(second).collect::<Vec<_>>())?;
    let role = session.role;
    let same = first.iter().zip(second).map(|(a, b)| not(role, &a.xor(b)));
    all(session, same.collect(), length)
}

/// Unit vectors of shared indices, many at once: vector j of `index` has bit j of every index, the
/// lowest first, and vector p of the result is 1 where the index is p, of `places` places. With a
/// `gate` all are 0 where the gate is. `places` − 2 ANDs each (none for one place), or one more with a gate, in as many
/// rounds as the index has bits, less one without a gate.
///
/// Bits of an index that would lead beyond the last place are ignored.
///
/// # Errors
/// As for [`and`], and unless the index has ⌈log2⌉ of `places` bits.
pub fn unit_vector(
    session: &mut Session,
    index: &[Bits],
    gate: Option<&Bits>,
    places: usize,
    length: usize,
) -> Result<Vec<Bits>, Error> {
    let levels = index_bits(places);
    if index.len() != levels {
        return Err(other_index(levels, index.len()));
    }
    check_equally_long(length, &index.iter().chain(gate).collect::<Vec<_>>())?;
    if places == 0 {
        return Ok(Vec::new());
    }
    let role = session.role;
    let mut nodes = vec![gate.cloned().unwrap_or_else(|| constant(role, true, length))];
    for level in 1..=levels {
        let bit = &index[levels - level];
        let width = places.div_ceil(1 << (levels - level));
        // A node without a right child is copied to the next level.
        let split = width / 2;
        let right: Vec<Bits> = if level == 1 && gate.is_none() {
            vec![bit.clone()]
        } else {
            let bits = Bits::concat(&vec![bit.clone(); split]);
            let products = and(session, &Bits::concat(&nodes[..split]), &bits)?;
            if length == 0 {
                vec![Bits::default(); split]
            } else {
                products.parts(length).collect()
            }
        };
        let mut children = Vec::with_capacity(width);
        for (number, node) in nodes.iter().enumerate() {
            match right.get(number) {
                Some(right) => children.extend([node.xor(right), right.clone()]),
                None => children.push(node.clone()),
            }
        }
        nodes = children;
    }
    Ok(nodes)
}

/// The messages of [`unit_vector`].
pub fn forecast_unit_vector(f: &mut Forecast, places: usize, gated: bool, length: usize) {
    let levels = index_bits(places);
    for level in if gated { 1..=levels } else { 2..=levels } {
        forecast_and(f, places.div_ceil(1 << (levels - level)) / 2 * length);
    }
}

/// ⌈log2⌉ of a number of places, 0 for none.
fn index_bits(places: usize) -> usize {
    (usize::BITS - places.saturating_sub(1).leading_zeros()) as usize
}

/// An index with too many or too few bits.
fn other_index(expected: usize, found: usize) -> Error {
    Error::internal(format!("an index of {found} bits where {expected} number all places"))
}
