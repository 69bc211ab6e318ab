//! Shares: what the two parties hold of a value that neither knows.
//!
//! The type says in which ring the shares are, because adding shares of different rings is an error
//! that no test with small numbers finds:
//! - [`Share`]: x = x1 + x2 in a [`Ring`], Z_N or Z_{2^k}. Each share alone is uniform.
//! - [`IntegerShare`]: x = x1 + x2 over the integers, |x| < 2^bits, masked σ bits wider. Each share
//!   alone is within 2^-σ of one that does not depend on x.
//! - [`WordShares`]: many values over Z_{2^k}, k ≤ 64, as one vector.
//!
//! *Functions* (nothing is sent): sums, and an integer share reduced into any ring. *Protocols*:
//! [`open`] and [`WordShares::open`], which reveal the value. A share never prints its value, and
//! two shares are combined in one place only: [`reconstruct`].
//!
//! *Cost* of opening: the width of the ring per value and direction, one message each.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::math::Randomness;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::shares::{Ring, deal, open};
//! use diptych_mpc::protocol::yao::Reveal;
//!
//! let ring = Ring::Modulo(1_000_003u32.into());
//! let mut rng = Randomness::from_os()?;
//! let (x1, x2) = deal(&ring, &20u32.into(), &mut rng);
//! let (y1, y2) = deal(&ring, &3u32.into(), &mut rng);
//!
//! // Each party computes a share of x + y alone; then both tell P2.
//! let (first, second) = (x1.plus(&y1)?, x2.plus(&y2)?);
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| open(session, &[first], Reveal::P2),
//!     |session| open(session, &[second], Reveal::P2),
//! );
//! assert_eq!(outcome.p1?, None);
//! assert_eq!(outcome.p2?, Some(vec![23u32.into()]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod integer;
mod ring;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use integer::IntegerMasks;
pub use integer::IntegerShare;
pub use ring::{Ring, Share};
pub(crate) use words::word_bits;
pub use words::{WordShares, forecast_open, signed};

use num_bigint::BigUint;

use crate::Error;
use crate::math::Randomness;
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::yao::Reveal;

const OPENED: Tag = Tag::new(*b"shar");

/// Bytes of opened shares per message, at most (or one share, if that is longer).
const CHUNK_BYTES: usize = 4 << 20;

/// The value that two shares make: the only place where shares become a value.
///
/// # Errors
/// If they are of different rings.
pub fn reconstruct(a: &Share, b: &Share) -> Result<BigUint, Error> {
    Ok(a.plus(b)?.number())
}

/// Shares of a known value, as a trusted dealer would hand them out: for ideal functions.
pub fn deal(ring: &Ring, value: &BigUint, rng: &mut Randomness) -> (Share, Share) {
    let mask = Share::random(ring, rng);
    let rest = mask.negate().plus_constant(&value.clone().into());
    (mask, rest)
}

/// Reveals the values of shares to the parties in `reveal`; the other party learns nothing.
/// [`Reveal::XorShares`] reveals them to nobody.
///
/// # Errors
/// If the connection fails or the peer sends something that is not a list of shares.
pub fn open(
    session: &mut Session,
    shares: &[Share],
    reveal: Reveal,
) -> Result<Option<Vec<BigUint>>, Error> {
    let mut values = Vec::new();
    let mut rest = shares;
    while !rest.is_empty() {
        let chunk = chunk_length(rest);
        let (now, later) = rest.split_at(chunk);
        let body: Vec<u8> = now.iter().flat_map(Share::bytes).copied().collect();
        if let Some(theirs) = exchange(session, &body, reveal)? {
            let mut theirs = theirs.as_slice();
            for share in now {
                let (bytes, others) = theirs.split_at(share.bytes().len());
                let peer = Share::from_bytes(share.ring(), bytes)?;
                values.push(reconstruct(share, &peer)?);
                theirs = others;
            }
        }
        rest = later;
    }
    Ok(reveal.to(session.role).then_some(values))
}

/// How many of the shares fit one message; at least one.
fn chunk_length(shares: &[Share]) -> usize {
    let mut bytes = 0;
    let fits = |share: &&Share| {
        bytes += share.bytes().len();
        bytes <= CHUNK_BYTES
    };
    shares.iter().take_while(fits).count().max(1)
}

/// Sends and receives as `reveal` says; a received list has the length of the own one.
fn exchange(session: &mut Session, body: &[u8], reveal: Reveal) -> Result<Option<Vec<u8>>, Error> {
    if reveal.to(session.role.peer()) {
        session.channel.send_bytes(OPENED, body)?;
    }
    if !reveal.to(session.role) {
        return Ok(None);
    }
    Ok(Some(session.channel.receive_bytes(OPENED, body.len())?))
}

/// Shares of two rings, or of two lengths, cannot be combined.
fn mismatch() -> Error {
    Error::internal("the shares are of different rings or numbers; both parties must share alike")
}

/// The peer's share is not an element of the ring.
fn out_of_ring() -> Error {
    Error::peer("the peer opened a number that is not in the ring; the run was aborted")
}
