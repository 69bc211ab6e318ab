//! A join in shares: which of one party's people the other has, and the other's values for them.
//!
//! *Inputs*: each party's list of distinct identifiers; of the party that gives a hint, a payload
//! for each of its identifiers, up to 32 bits. *Output*: the owner of the bins learns in which bin
//! each of its own identifiers is, each in one ([`Bins::places`]); both get shares, bin by bin, of
//! whether the identifier there is in the peer's list, and of the peer's payload ([`Members`]).
//! **The payload is garbage where the bit is 0**: it is only used together with the bit. *Learned*:
//! nothing but what the [`JoinShape`] says: both numbers of identifiers, or numbers that both pad
//! to. *Assumptions*: those of [`crate::protocol::oprf`] and [`crate::protocol::bits`].
//!
//! *How.* The owner puts its identifiers into bins, three to choose from for each
//! ([`crate::crypto::cuckoo`]), and learns F ([`crate::protocol::oprf`]) of one key per bin: (i, x)
//! where identifier x is in the i-th of its bins, ("empty", bin) for an empty bin. For every bin
//! the giver of the hint draws a random target and a random mask, also where it has nobody. For
//! each of its identifiers y and i = 0, 1, 2 it has (target ‖ payload ⊕ mask) of the i-th bin of y,
//! and sends a store ([`crate::crypto::okvs`]) in which key (i, y) has this ⊕ F(i, y). In every bin
//! the owner reads the store at its key and XORs the result with F: where the peer has its
//! identifier that is target and masked payload, elsewhere it is random. Whether it is the target
//! is decided on shared bits ([`crate::protocol::bits::all`]), and what it read and the mask are
//! shares of the payload.
//!
//! *Why it hides.* The giver sees the messages of the function's receiver and of shared bits, which
//! can be simulated. To the owner all values of the store are uniform and independent: where it
//! does not know F, F masks them; where it does, which is at one key per bin, target and mask of
//! that bin do, and they are used in no other value that it can unmask. The store is filled up with
//! random blocks, so all of it is uniform, whoever the people are: a simulator sends random blocks.
//! Target and mask are the giver's shares, and are used nowhere else but in shared bits. The owner
//! asks for as many keys as there are bins, and the store has three keys for each of the giver's
//! identifiers. Lists are padded with random identifiers, at both sides, so that all work is that
//! of the padded length. Blocks of the store are truncated to the bits in use: beyond target and
//! payload there would be F alone, and after the XOR with F the owner would recognise members by
//! zeros.
//!
//! *Later payloads* ([`Hint::send_payload`]) are sent in a further store, under the next output
//! number of F and with fresh masks, without target. Under the same values of F the XOR of both
//! stores would be free of F: at the keys of all people in a bin it would be the XOR of what was
//! drawn for the bin in both, and so reveal them.
//!
//! *Failure probability.* Targets have ℓ = 64 + ⌈log2 bins⌉ bits, so that another identifier passes
//! for a member in some bin with probability 2⁻⁶⁴ at most; all ways to fail are counted by
//! [`failures`].
//!
//! *Messages*, whose number and lengths follow from the shape and the widths alone: those of the
//! function with as many keys as there are bins; of each hint a seed and the store's columns, 1.1 for
//! each of 3·n keys, the bits in use of each in whole bytes; with targets, ℓ − 1 conjunctions per
//! bin, for 2¹⁸ bins at a time.
//!
//! *Cost*, with a payload of 8 bits and silent transfers, for as many people on each side: 142 bytes per
//! person at 10^6 (24 for the function's store, 40 for the hint, 57 for the conjunctions, the rest for
//! transfers and set-up), 160 at 10^5, 202 at 30,162. Memory of both parties together: 696 MB at 10^6,
//! most of it while a store is filled.
//!
//! *A faulty peer.* A message of another length than expected aborts the run. A peer that lies
//! within these rules is outside the model; an owner can ask for other keys than its own, at most
//! 1.1 per bin.
//!
//! *Time.* Identifiers are digested before the first message. The time for bins and stores depends
//! on hashes under seeds of this run ([`crate::crypto::cuckoo`], [`crate::crypto::okvs`]); no time
//! depends on who is common.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::Role;
//! use diptych_mpc::Error;
//! use diptych_mpc::protocol::join::{Bins, Hint, JoinShape};
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::vole::Method;
//! use diptych_mpc::protocol::transfers::Assumptions;
//!
//! let (bank, clinic) = (["ada", "grace", "alan"], ["emmy", "alan"]);
//! let shape = JoinShape::new(Role::P1, bank.len(), clinic.len())?;
//! let method = Method::suited_to(Assumptions::Lpn);
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| {
//!         let mut bins = Bins::setup(session, method, shape, &bank)?;
//!         let members = bins.receive_members(session, 4)?;
//!         Ok::<_, Error>((bins.places().to_vec(), members))
//!     },
//!     |session| Hint::setup(session, method, shape, &clinic)?.send_members(session, 4, &[7, 9]),
//! );
//! let ((places, p1), p2) = (outcome.p1?, outcome.p2?);
//! let is_member = p1.bits.xor(&p2.bits);
//! let common: Vec<usize> = (0..shape.bins()).filter(|bin| is_member.get(*bin)).collect();
//! assert_eq!(common.len(), 1);
//! assert_eq!(places[common[0]], Some(2), "alan");
//! let payload = |bit: usize| p1.payload[bit].xor(&p2.payload[bit]).get(common[0]);
//! assert_eq!([0, 1, 2, 3].map(payload), [true, false, false, true], "9");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod hint;
#[cfg(test)]
mod tests;

use std::collections::HashMap;

use rayon::prelude::*;
use zeroize::Zeroizing;

pub use hint::{Fields, Query, empty_query, query};

use crate::Error;
use crate::crypto::cuckoo::{self, Choices};
use crate::crypto::okvs;
use crate::net::SessionId;
use crate::protocol::Session;
use crate::protocol::bits::{self, Bits};
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::oprf::{self, HashedKey, hash_keys, hash_start};
use crate::protocol::ot::chunks;
use crate::protocol::psi;
use crate::protocol::vole::Method;
use crate::role::Role;

/// The most bits of a payload.
pub const MOST_PAYLOAD_BITS: usize = 32;
/// The most identifiers of a list: three keys of each go into one store.
pub const MOST_IDENTIFIERS: usize = okvs::MOST_KEYS / 3;

/// Bins whose targets are compared together.
const COMPARED: usize = 1 << 18;

/// What is public about a join.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JoinShape {
    owner: Role,
    identifiers: usize,
    hinted: usize,
    least: usize,
}

impl JoinShape {
    /// The bins belong to `owner`, for so many identifiers: its number, or what both pad to. `hinted` is the
    /// same of its peer, which gives the hint. A list that is shorter is padded.
    ///
    /// # Errors
    /// Beyond [`MOST_IDENTIFIERS`].
    pub fn new(owner: Role, identifiers: usize, hinted: usize) -> Result<Self, Error> {
        check_size(identifiers.max(hinted), MOST_IDENTIFIERS)?;
        Ok(Self { owner, identifiers, hinted, least: cuckoo::LEAST })
    }

    /// The same with few bins where there are few identifiers: it fails now and then.
    #[cfg(any(test, feature = "testing"))]
    #[must_use]
    pub fn small(self) -> Self {
        Self { least: 20, ..self }
    }

    /// The owner of the bins.
    pub fn owner(&self) -> Role {
        self.owner
    }

    /// How many there are: ⌈27·max(identifiers, 8,192)/20⌉.
    pub fn bins(&self) -> usize {
        cuckoo::bins_for_at_least(self.identifiers, self.least)
    }

    /// Keys of a hint.
    fn keys(&self) -> usize {
        3 * self.hinted
    }

    /// Bits of a target: σ + ⌈log2 bins⌉.
    fn target_bits(&self) -> usize {
        64 + (usize::BITS - (self.bins() - 1).leading_zeros()) as usize
    }
}

/// Ways in which one join with so many later payloads may fail, in units of 2⁻⁶⁴: another
/// identifier passes for a member in some bin (1); no placement exists for the owner's identifiers,
/// or the function's store or that of a hint needs another seed (½ each).
pub const fn failures(later_payloads: u64) -> u64 {
    1 + (3 + later_payloads).div_ceil(2)
}

/// One party's shares, bin by bin.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Members {
    /// Whether the peer of the bins' owner has the identifier there.
    pub bits: Bits,
    /// Vector j has bit j of every bin's payload, garbage where the bit above is 0.
    pub payload: Vec<Bits>,
}

/// The ideal function: for each bin the peer's payload if it has the identifier there.
///
/// # Panics
/// If there is not one payload for each identifier of the peer, or a place names no identifier.
pub fn ideal<S: AsRef<[u8]>>(
    places: &[Option<u32>],
    own: &[S],
    peer: &[S],
    payloads: &[u32],
) -> Vec<Option<u32>> {
    assert_eq!(peer.len(), payloads.len(), "one payload for each");
    let known: HashMap<&[u8], u32> =
        peer.iter().map(AsRef::as_ref).zip(payloads.iter().copied()).collect();
    let payload = |row: u32| known.get(own[row as usize].as_ref()).copied();
    places.iter().map(|place| place.and_then(payload)).collect()
}

/// The messages of [`Bins::setup`] and [`Hint::setup`].
pub fn forecast_setup(f: &mut Forecast, method: Method, shape: &JoinShape) {
    oprf::forecast(f, shape.owner.peer(), method, shape.bins());
    if f.role() == shape.owner {
        f.work(Work::Lookup, shape.identifiers);
    }
}

/// The messages of [`Bins::receive_members`] and [`Hint::send_members`].
pub fn forecast_members(f: &mut Forecast, shape: &JoinShape, payload_bits: usize) {
    hint::forecast(f, shape, Fields { target: shape.target_bits(), payload: payload_bits });
    for bins in chunks(shape.bins(), COMPARED) {
        bits::forecast_all(f, shape.target_bits(), bins);
    }
}

/// The messages of [`Bins::receive_payload`] and [`Hint::send_payload`].
pub fn forecast_payload(f: &mut Forecast, shape: &JoinShape, payload_bits: usize) {
    if payload_bits > 0 {
        hint::forecast(f, shape, Fields { target: 0, payload: payload_bits });
    }
}

/// The owner's side: its identifiers in their bins, and F of each.
pub struct Bins {
    shape: JoinShape,
    places: Zeroizing<Vec<Option<u32>>>,
    /// The key that each bin asks for.
    keys: Zeroizing<Vec<HashedKey>>,
    function: oprf::Receiver,
    /// Hints so far: each has an output number of F of its own.
    hints: u64,
}

impl Bins {
    /// Places the identifiers and learns F; the peer calls [`Hint::setup`] with the same shape.
    ///
    /// # Errors
    /// If the list is too long or has an identifier twice, there is no placement, the connection fails
    /// or the peer's messages are not acceptable.
    pub fn setup<S: AsRef<[u8]> + Sync>(
        session: &mut Session,
        method: Method,
        shape: JoinShape,
        identifiers: &[S],
    ) -> Result<Self, Error> {
        if session.role != shape.owner {
            return Err(other_side(shape.owner));
        }
        let digests = digests(session, identifiers, shape.identifiers)?;
        Self::of_digests(session, method, shape, digests, identifiers.len())
    }

    /// The first `own` digests are of identifiers, the others are padding.
    fn of_digests(
        session: &mut Session,
        method: Method,
        shape: JoinShape,
        digests: Zeroizing<Vec<[u8; 32]>>,
        own: usize,
    ) -> Result<Self, Error> {
        let choices = choices(session.id, shape.owner, shape.bins()).of_all(&digests);
        let mut places = cuckoo::place(&choices, shape.bins())?;
        let ask = |(bin, place): (usize, &Option<u32>)| match *place {
            None => empty_query(bin),
            Some(row) => {
                let (bin, three) = (bin as u32, &choices[row as usize]);
                let number = u8::from(three[1] == bin) + 2 * u8::from(three[2] == bin);
                query(number, &digests[row as usize])
            }
        };
        let queries: Zeroizing<Vec<Query>> =
            Zeroizing::new(places.par_iter().enumerate().map(ask).collect());
        let keys = hash_keys(session, shape.owner.peer(), &queries);
        drop((queries, choices, digests));
        // Padding is treated as an empty bin.
        places.iter_mut().for_each(|place| *place = place.filter(|row| (*row as usize) < own));
        let function = oprf::Receiver::setup(session, method, &keys)?;
        Ok(Self { shape, places, keys, function, hints: 0 })
    }

    /// The row of one's own list that is in each bin: every row is in one of them.
    pub fn places(&self) -> &[Option<u32>] {
        &self.places
    }

    /// Whose identifiers the peer has, with its payloads; the peer calls [`Hint::send_members`].
    ///
    /// # Errors
    /// If the payload has too many bits, the connection fails or the peer's messages are not acceptable.
    pub fn receive_members(
        &mut self,
        session: &mut Session,
        payload_bits: usize,
    ) -> Result<Members, Error> {
        let fields = Fields::new(self.shape.target_bits(), payload_bits)?;
        let read = self.read(session, fields)?;
        members(session, &read, fields)
    }

    /// A later payload of the same people; the peer calls [`Hint::send_payload`].
    ///
    /// # Errors
    /// As for [`Bins::receive_members`].
    pub fn receive_payload(
        &mut self,
        session: &mut Session,
        payload_bits: usize,
    ) -> Result<Vec<Bits>, Error> {
        let fields = Fields::new(0, payload_bits)?;
        if payload_bits == 0 {
            return Ok(Vec::new());
        }
        Ok(fields.payload_of(&self.read(session, fields)?))
    }

    /// The contents of the next hint for every bin.
    fn read(&mut self, session: &mut Session, fields: Fields) -> Result<Blocks, Error> {
        let number = self.hints;
        self.hints += 1;
        let (store, table) = hint::receive(session, &self.shape, fields)?;
        let mut read = store.decode(&table, &self.keys, HashedKey::store);
        let values = self.function.outputs(number, &self.keys);
        for (read, value) in read.iter_mut().zip(values.iter()) {
            *read = fields.read(*read, *value);
        }
        Ok(read)
    }
}

/// The giver's side: its identifiers, and F.
pub struct Hint {
    shape: JoinShape,
    /// Digests of its identifiers and of the padding.
    digests: Zeroizing<Vec<[u8; 32]>>,
    /// How many are its own.
    own: usize,
    function: oprf::Sender,
    hints: u64,
}

impl Hint {
    /// Sets up the evaluation of F; the peer calls [`Bins::setup`] with the same shape.
    ///
    /// # Errors
    /// If the list is too long or has an identifier twice, the connection fails or the peer's messages
    /// are not acceptable.
    pub fn setup<S: AsRef<[u8]> + Sync>(
        session: &mut Session,
        method: Method,
        shape: JoinShape,
        identifiers: &[S],
    ) -> Result<Self, Error> {
        if session.role == shape.owner {
            return Err(other_side(shape.owner));
        }
        let digests = digests(session, identifiers, shape.hinted)?;
        let function = oprf::Sender::setup(session, method, shape.bins())?;
        Ok(Self { shape, digests, own: identifiers.len(), function, hints: 0 })
    }

    /// Sends membership, with a payload for each of one's own identifiers (or none at all where it
    /// has no bits).
    ///
    /// # Errors
    /// If the payloads are invalid, the connection fails or the peer's messages are not acceptable.
    pub fn send_members(
        &mut self,
        session: &mut Session,
        payload_bits: usize,
        payloads: &[u32],
    ) -> Result<Members, Error> {
        let fields = Fields::new(self.shape.target_bits(), payload_bits)?;
        let drawn = self.give(session, fields, payloads)?;
        members(session, &drawn, fields)
    }

    /// A later payload of the same people. Without bits nothing is sent.
    ///
    /// # Errors
    /// As for [`Hint::send_members`].
    pub fn send_payload(
        &mut self,
        session: &mut Session,
        payload_bits: usize,
        payloads: &[u32],
    ) -> Result<Vec<Bits>, Error> {
        let fields = Fields::new(0, payload_bits)?;
        if payload_bits == 0 {
            return Ok(Vec::new());
        }
        Ok(fields.payload_of(&self.give(session, fields, payloads)?))
    }

    /// Sends the next hint; returns what was drawn for every bin.
    fn give(
        &mut self,
        session: &mut Session,
        fields: Fields,
        payloads: &[u32],
    ) -> Result<Blocks, Error> {
        fields.check_payloads(payloads, self.own)?;
        let number = self.hints;
        self.hints += 1;
        let drawn = fields.draw(self.shape.bins(), &mut session.rng);
        let choices = choices(session.id, self.shape.owner, self.shape.bins());
        let sender = session.role;
        let mut entries = hint::Entries::with_capacity(self.shape.keys());
        // In parts: otherwise keys and values would be in memory several times.
        for (part, digests) in self.digests.chunks(hint::PART).enumerate() {
            let rows = part * hint::PART..;
            let queries: Zeroizing<Vec<Query>> = Zeroizing::new(
                digests.iter().flat_map(|d| [0, 1, 2].map(|i| query(i, d))).collect(),
            );
            let keys = hash_keys(session, sender, &queries);
            let values = self.function.evaluate(number, &keys);
            let bins = choices.of_all(digests);
            let bins = bins.iter().zip(rows).flat_map(|(three, row)| three.map(|bin| (bin, row)));
            for ((key, value), (bin, row)) in keys.iter().zip(values.iter()).zip(bins) {
                let payload = payloads.get(row).copied().unwrap_or_default();
                let value = fields.programmed(drawn[bin as usize], payload, *value);
                entries.push(key.store(), value);
            }
        }
        hint::send(session, &self.shape, fields, &entries)?;
        Ok(drawn)
    }
}

/// A number of 128 bits for every bin.
type Blocks = Zeroizing<Vec<u128>>;

/// Both sides' last step of a hint with targets: compares what was read with what was drawn.
fn members(session: &mut Session, blocks: &[u128], fields: Fields) -> Result<Members, Error> {
    let role = session.role;
    let mut is_member = Bits::default();
    for part in blocks.chunks(COMPARED) {
        let difference = Bits::slices(part, 0..fields.target);
        let same = difference.iter().map(|bits| bits::not(role, bits)).collect();
        drop(difference);
        is_member.append(&bits::all(session, same, part.len())?);
    }
    Ok(Members { bits: is_member, payload: fields.payload_of(blocks) })
}

/// The bins that identifiers have, by their digests.
///
/// # Panics
/// If there are fewer than three bins, or 2³² or more.
pub fn choices(session: SessionId, owner: Role, bins: usize) -> Choices {
    Choices::new(hash_start("diptych/v1/join-bins", session, owner), bins)
}

/// One digest per identifier, padded with random ones to the given length.
fn digests<S: AsRef<[u8]> + Sync>(
    session: &mut Session,
    identifiers: &[S],
    padded: usize,
) -> Result<Zeroizing<Vec<[u8; 32]>>, Error> {
    check_size(identifiers.len(), padded)?;
    let mut digests = Zeroizing::new(vec![[0; 32]; padded]);
    let (own, rest) = digests.split_at_mut(identifiers.len());
    psi::digest_all(own, &|row| identifiers[row].as_ref());
    rest.iter_mut().for_each(|digest| *digest = session.rng.array());
    match psi::duplicate(&digests) {
        None => Ok(digests),
        Some([first, second]) => Err(Error::internal(psi::same_rows(first, second))),
    }
}

fn check_size(size: usize, limit: usize) -> Result<(), Error> {
    if size <= limit {
        return Ok(());
    }
    Err(Error::internal(format!("{size} identifiers where there may be {limit}")))
}

/// A function for the other party's side of the join was called.
fn other_side(owner: Role) -> Error {
    Error::internal(format!("the bins of this join belong to {owner}; its peer gives the hint"))
}
