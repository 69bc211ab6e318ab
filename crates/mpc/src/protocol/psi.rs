//! Private set intersection by commutative encryption (thesis, section 5.6); [`oblivious`] is another
//! form of [`intersect`], for large lists.
//!
//! *Inputs.* Each party a list of distinct identifiers, already normalised.
//! *Output.* [`intersect`], to both: which of its own rows are common, in one
//! order on which both agree, so that entry i is the same individual at both.
//! [`cardinality`], to both: how many are common. [`threshold::at_least`], to both: whether so many
//! are common, through a circuit (its page says how).
//! *Learned.* The peer's number of identifiers and the output. Nothing else:
//! each side sends `E_k(x)` in random order under a key of this run, and what
//! returns is the same list once more encrypted; for the cardinality the whole
//! returned list is shuffled again, so that no match can be traced to a row.
//! *Cost.* Per identifier of either party two group operations, one at each side, and two elements
//! on the wire, one there and one back. The number of messages grows with the chunks; waiting does
//! not: each chunk is sent while the next is computed.
//!
//! *Common order.* Ascending double encryption; where elements are wider than
//! 32 bytes, ascending SHA-256 of it, so that memory stays small in every group.
//!
//! *What a peer can count or time.* Messages depend on the two set sizes alone. Identifiers are
//! digested to one width before the first message, a chunk is sent when all of it is done, and
//! comparing is local and last.
//!
//! *A faulty peer.* A list longer than the bound, a chunk of another length than expected, an
//! element that is not canonical, not in the group or the identity, the same element twice (in its
//! own list, or in what it returns): each aborts the run with an error. A peer that lies *within*
//! these rules (adds guesses to its list, returns other elements) is outside the model: it can test
//! guesses, at most as many as the size that it announced ([`oblivious`]: somewhat more).
//!
//! # Example
//!
//! ```
//! use diptych_mpc::crypto::commutative::Ristretto;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::psi::{self, Options};
//!
//! let bank = ["ada", "grace", "alan"];
//! let shop = ["emmy", "alan", "kurt", "ada"];
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| psi::intersect(session, &Ristretto::new(), &bank, Options::default()),
//!     |session| psi::intersect(session, &Ristretto::new(), &shop, Options::default()),
//! );
//! let (at_bank, at_shop) = (outcome.p1?, outcome.p2?);
//! let mut common: Vec<&str> = at_bank.rows.iter().map(|row| bank[*row]).collect();
//! let theirs: Vec<&str> = at_shop.rows.iter().map(|row| shop[*row]).collect();
//! assert_eq!(common, theirs, "both have the common individuals in one order");
//! common.sort();
//! assert_eq!(common, ["ada", "alan"]);
//! assert_eq!((at_bank.peer_size, at_shop.peer_size), (4, 3));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod exchange;
mod matching;
pub mod oblivious;
pub mod threshold;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::Error;
use crate::crypto::commutative::{Domain, Group};
use crate::crypto::okvs;
use crate::net::{Message, Tag};
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};

pub use crate::crypto::commutative::Progress;
pub(super) use matching::{duplicate, same_rows};

/// Limits and progress callbacks of a run of set intersection.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// The longest list accepted, one's own or the peer's; at most 2^31.
    /// Memory is about 100 bytes per element of both lists that has arrived;
    /// [`cardinality`] holds the peer's elements whole on top of that.
    pub largest_set: usize,
    /// Called once with the number of steps that this side has to do: group operations, or
    /// identifiers that are looked up.
    pub starts: Progress<'a>,
    /// Called with the number of steps just done.
    pub progress: Progress<'a>,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { largest_set: 1 << 24, starts: &|_| {}, progress: &|_| {} }
    }
}

/// One party's view of the intersection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Intersection {
    /// Positions in one's own list, in the common order.
    pub rows: Vec<usize>,
    /// How many identifiers the peer has.
    pub peer_size: usize,
}

/// How many identifiers are common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cardinality {
    /// In both lists.
    pub common: usize,
    /// How many identifiers the peer has.
    pub peer_size: usize,
}

/// Finds the common identifiers; both parties learn which they are.
///
/// # Errors
/// See [`Error`].
pub fn intersect<G: Group, S: AsRef<[u8]> + Sync>(
    session: &mut Session,
    group: &G,
    identifiers: &[S],
    options: Options<'_>,
) -> Result<Intersection, Error> {
    let run = Exchange::begin(session, group, identifiers, options)?;
    let peer_size = run.peer_size;
    let (own, peer) = exchange::in_order(session, &run)?;
    Ok(Intersection { rows: matching::common_rows(own, peer)?, peer_size })
}

/// Counts the common identifiers; neither party learns which they are.
///
/// # Errors
/// See [`Error`].
pub fn cardinality<G: Group, S: AsRef<[u8]> + Sync>(
    session: &mut Session,
    group: &G,
    identifiers: &[S],
    options: Options<'_>,
) -> Result<Cardinality, Error> {
    let run = Exchange::begin(session, group, identifiers, options)?;
    let peer_size = run.peer_size;
    let (own, peer) = exchange::shuffled(session, &run)?;
    Ok(Cardinality { common: matching::common_count(own, peer)?, peer_size })
}

/// The messages of [`intersect`], for lists of `own` and `peer` elements.
pub fn forecast_intersect<G: Group>(f: &mut Forecast, group: &G, own: usize, peer: usize) {
    forecast_beginning(f);
    f.work(Work::GroupOperation, own + peer);
    exchange::forecast_in_order(f, group, own, peer);
}

/// The messages of [`cardinality`], for lists of `own` and `peer` elements.
pub fn forecast_cardinality<G: Group>(f: &mut Forecast, group: &G, own: usize, peer: usize) {
    forecast_beginning(f);
    f.work(Work::GroupOperation, own + peer);
    exchange::forecast_shuffled(f, group, own, peer);
}

fn forecast_beginning(f: &mut Forecast) {
    f.begin_phase(PHASE);
    f.exchange(Announcement::TAG, size_of::<u64>());
}

/// The ideal function of [`intersect`], but for the order: rows of `own` that are in `peer`, ascending.
pub fn ideal_intersection<S: AsRef<[u8]>>(own: &[S], peer: &[S]) -> Vec<usize> {
    let peer: std::collections::HashSet<&[u8]> = peer.iter().map(AsRef::as_ref).collect();
    (0..own.len()).filter(|row| peer.contains(own[*row].as_ref())).collect()
}

const PHASE: &str = "set intersection";

/// Rows are numbered with 32 bits, and a store holds half as many.
const MOST_ELEMENTS: usize = okvs::MOST_KEYS;

#[derive(Serialize, Deserialize)]
struct Announcement {
    size: u64,
}

impl Message for Announcement {
    const TAG: Tag = Tag::new(*b"psi0");
    const MOST_BYTES: usize = 8;
}

/// Both lists, as far as one party knows them: its own digests, and how many the peer has.
struct Lists {
    /// One digest per own identifier: one width, so that their lengths cannot be timed.
    digests: Vec<[u8; 32]>,
    peer_size: usize,
}

/// Digests one's own identifiers and exchanges sizes.
fn lists<S: AsRef<[u8]> + Sync>(
    session: &mut Session,
    identifiers: &[S],
    options: Options<'_>,
) -> Result<Lists, Error> {
    lists_of(session, identifiers.len(), &|row| identifiers[row].as_ref(), options)
}

/// An identifier by its row. Loops over identifiers use this trait object, whatever their type: a
/// generic function is compiled with its callers, which need not be optimized.
type ByRow<'a> = &'a (dyn Fn(usize) -> &'a [u8] + Sync);

fn lists_of(
    session: &mut Session,
    count: usize,
    identifier: ByRow<'_>,
    options: Options<'_>,
) -> Result<Lists, Error> {
    let limit = options.largest_set.min(MOST_ELEMENTS);
    check_own_size(count, limit)?;
    let mut digests = vec![[0; 32]; count];
    digest_all(&mut digests, identifier);
    matching::check_distinct(&digests)?;

    session.channel.begin_phase(PHASE);
    session.channel.send(&Announcement { size: digests.len() as u64 })?;
    let Announcement { size } = session.channel.receive()?;
    Ok(Lists { digests, peer_size: check_peer_size(size, limit)? })
}

/// A run whose sizes both parties know.
struct Exchange<'a, G: Group> {
    group: &'a G,
    key: G::Key,
    domain: Domain,
    digests: Vec<[u8; 32]>,
    peer_size: usize,
    progress: Progress<'a>,
}

impl<'a, G: Group> Exchange<'a, G> {
    fn begin<S: AsRef<[u8]> + Sync>(
        session: &mut Session,
        group: &'a G,
        identifiers: &[S],
        options: Options<'a>,
    ) -> Result<Self, Error> {
        let Lists { digests, peer_size } = lists(session, identifiers, options)?;
        (options.starts)(digests.len() + peer_size);
        Ok(Self {
            group,
            key: group.generate_key(&mut session.rng),
            domain: Domain::new(*session.id.as_bytes()),
            digests,
            peer_size,
            progress: options.progress,
        })
    }
}

/// Digests as many identifiers as there are places.
pub(super) fn digest_all(digests: &mut [[u8; 32]], identifier: ByRow<'_>) {
    digests.par_iter_mut().enumerate().for_each(|(row, digest)| {
        *digest = Sha256::digest(identifier(row)).into();
    });
}

fn check_own_size(size: usize, limit: usize) -> Result<(), Error> {
    if size <= limit {
        return Ok(());
    }
    Err(Error::input(format!(
        "this side's list has {size} identifiers, the limit is {limit}; raise it on both sides"
    )))
}

fn check_peer_size(size: u64, limit: usize) -> Result<usize, Error> {
    match usize::try_from(size) {
        Ok(fits) if fits <= limit => Ok(fits),
        _ => Err(Error::peer(format!(
            "the peer's list has {size} identifiers, the limit is {limit}; raise it on both sides"
        ))),
    }
}

/// The peer's answer does not match the lists.
pub fn bad_answer() -> Error {
    Error::peer("the peer names more common identifiers than there can be; its program is faulty")
}

#[cfg(test)]
mod tests;
