//! People in shards: everything that grows with records is done shard by shard, and added up.
//!
//! *Why that is the same release.* Every sum over records is the sum of those over disjoint sets of
//! people, and shares of a sum are sums of shares. Choices, noise and signing see the sums alone, at the
//! lead.
//!
//! *Who is in which shard* ([`Dealing`]): a hash of the normalised identifier under a key that the run
//! makes of both parties' nonces (through the id of the lead's session). Both sides find common people in
//! the same shard. The key must be new in every run and be made by both: whoever knew it before could put chosen
//! people into one shard, and see by a run that ends there that they are in the peer's table.
//!
//! *What sizes of shards tell*: nothing. Each party's shards are padded to [`bound`], which follows from how many
//! records it has (that is shown, or itself padded to `pad_to`): where people are shown to be common
//! with random identifiers that nobody has, in hidden joins as any padding. Sums over common people
//! are padded to the bound that follows from how many there are, which both know: every record that is not
//! there counts in the first cell, and their number, which both know, is taken away at the end. So the
//! messages of all shards are alike, whoever falls where.
//!
//! *How likely a shard is too full.* A shard's size is binomial with mean μ = n/N and variance
//! v < μ, whoever the n people are, because they are dealt by a key that is independent of them. By
//! Bernstein's inequality it passes μ + t with probability at most e^(−t²/(2(v + t/3))), which is at most e⁻⁵⁰ for
//! t ≥ 10·√v + 34. (Eight deviations would be 2⁻⁴⁶, too much beside δ where a table is padded and its size a
//! secret.) A run with such a shard ends before anything of the data is sent; one in which common people
//! are too many, once they are found, before they are counted.

use std::borrow::Cow;
use std::ops::Range;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::Step;
use super::diffgen::two_party::Error;
use super::matching::{self, NO_IDENTIFIERS};
use crate::agreement::Agreement;
use crate::net::{self, Tag};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::psi::{self, Intersection};
use crate::protocol::shares::WordShares;
use crate::protocol::transfers::Assumptions;
use crate::role::Role;
use crate::table::Table;

/// The phase of the set intersection.
const MATCHING: &str = "set intersection";

/// Deviations above the mean, and people beyond them, that a shard has room for.
const DEVIATIONS: u128 = 10;
const ROOM: u128 = 34;

const NO_SHARDS: Error =
    Error::WrongInput("people are in shards, and there are no sessions for them");

/// Into how many shards people are dealt, if they are.
pub fn number(agreement: &Agreement) -> Option<usize> {
    agreement.shards.map(|shards| shards as usize)
}

/// How many of so many people one of so many shards has room for.
pub fn bound(people: usize, shards: usize) -> usize {
    let (n, shards) = (people as u128, shards.max(1) as u128);
    // √v = √(n·(N − 1))/N, rounded up.
    let square = DEVIATIONS * DEVIATIONS * n * (shards - 1);
    let root = square.isqrt();
    let spread = (root + u128::from(root * root < square)).div_ceil(shards);
    let most = n.div_ceil(shards) + spread + ROOM;
    usize::try_from(most).unwrap_or(usize::MAX).min(people)
}

/// How many records so many people are in all shards, with those that stand for nobody.
pub fn padded(agreement: &Agreement, people: usize) -> usize {
    number(agreement).map_or(people, |shards| bound(people, shards).saturating_mul(shards))
}

/// Ways in which dealing may fail, in units of 2⁻⁶⁴: each party's people and the common ones may fill one
/// of the shards, each with probability e⁻⁵⁰.
pub fn failures(shards: u64) -> u64 {
    1 + shards / 64
}

/// Who is in which shard: see the page.
pub struct Dealing {
    start: Sha256,
    shards: usize,
}

impl Dealing {
    /// Of a run whose lead has this session.
    pub fn new(lead: &net::SessionId, shards: usize) -> Self {
        let start = Sha256::new().chain_update(b"diptych shards v1").chain_update(lead.as_bytes());
        Self { start, shards }
    }

    /// The shard of an identifier.
    pub fn shard(&self, identifier: &str) -> usize {
        let digest = self.start.clone().chain_update(identifier.as_bytes()).finalize();
        let mut first = [0; 8];
        first.copy_from_slice(&digest[..8]);
        ((u128::from(u64::from_le_bytes(first)) * self.shards as u128) >> 64) as usize
    }

    /// The records of each shard, ascending. `people` is what the bound follows from: how many there are,
    /// or seem to be.
    ///
    /// # Errors
    /// [`Error::ShardTooFull`].
    pub fn rows(&self, identifiers: &[String], people: usize) -> Result<Vec<Vec<usize>>, Error> {
        let of_each: Vec<usize> =
            identifiers.par_iter().map(|identifier| self.shard(identifier)).collect();
        let mut rows = vec![Vec::new(); self.shards];
        of_each.iter().enumerate().for_each(|(row, shard)| rows[*shard].push(row));
        check(rows.iter().map(Vec::len), bound(people, self.shards))?;
        Ok(rows)
    }
}

fn check(mut sizes: impl Iterator<Item = usize>, bound: usize) -> Result<(), Error> {
    if sizes.any(|size| size > bound) { Err(Error::ShardTooFull) } else { Ok(()) }
}

/// Does the same on every shard; `phase` is what the messages of the lead and of its shards count as.
///
/// # Errors
/// That of the first shard that failed.
pub fn each<P: Send, T: Send>(
    session: &mut Session,
    phase: &'static str,
    parts: Vec<P>,
    work: impl Fn(&mut Session, P) -> Result<T, Error> + Sync,
) -> Result<Vec<T>, Error> {
    session.channel.begin_phase(phase);
    let sessions = &mut session.shards.sessions;
    if sessions.len() != parts.len() {
        return Err(NO_SHARDS);
    }
    sessions.iter_mut().for_each(|shard| shard.channel.begin_phase(phase));
    session.shards.each(parts, work)
}

/// How the records of the common people lie one after the other.
#[derive(Clone, Debug)]
pub struct Parts {
    counts: Vec<usize>,
    /// Records of each part with those that stand for nobody.
    padded: usize,
    sharded: bool,
}

/// One part of the records.
pub struct Part {
    rows: Range<usize>,
    padded: usize,
}

impl Part {
    /// What belongs to the records of this part, then 0 for those that stand for nobody.
    pub fn of<'a>(&self, places: &'a [u32]) -> Cow<'a, [u32]> {
        let own = places.get(self.rows.clone()).unwrap_or_default();
        if own.len() == self.padded { Cow::Borrowed(own) } else { self.padded(own.to_vec()) }
    }

    /// The same from what belongs to the records of this part alone.
    pub fn padded<'a>(&self, mut own: Vec<u32>) -> Cow<'a, [u32]> {
        own.resize(self.padded, 0);
        Cow::Owned(own)
    }

    /// The places of its records among all of them.
    pub fn rows(&self) -> Range<usize> {
        self.rows.clone()
    }
}

impl Parts {
    /// All of so many records, which the lead has.
    pub fn whole(records: usize) -> Self {
        Self { counts: vec![records], padded: records, sharded: false }
    }

    /// Shards with so many common people each.
    ///
    /// # Errors
    /// [`Error::ShardTooFull`].
    fn in_shards(counts: Vec<usize>) -> Result<Self, Error> {
        let padded = bound(counts.iter().sum(), counts.len());
        check(counts.iter().copied(), padded)?;
        Ok(Self { counts, padded, sharded: true })
    }

    /// Records of each part with those that stand for nobody: what its sums run over.
    pub fn padded(&self) -> usize {
        self.padded
    }

    /// Sums over all common people: those of every part, added up. In each of them a record that stands
    /// for nobody has counted as 1 in the first entry.
    ///
    /// # Errors
    /// Those of `sums`.
    pub fn add_up(
        &self,
        session: &mut Session,
        phase: &'static str,
        sums: impl Fn(&mut Session, &Part) -> Result<Vec<WordShares>, Error> + Sync,
    ) -> Result<Vec<WordShares>, Error> {
        let mut first = 0;
        let parts = self.counts.iter().map(|count| {
            let rows = first..first + count;
            first = rows.end;
            Part { rows, padded: self.padded }
        });
        let parts: Vec<Part> = parts.collect();
        if let (false, [whole]) = (self.sharded, &parts[..]) {
            return sums(session, whole);
        }
        let nobody: usize = self.counts.iter().map(|count| self.padded - count).sum();
        let made = each(session, phase, parts, |shard, part| sums(shard, &part))?;
        let mut total = added(made)?;
        if session.role == Role::P1 {
            for sums in &mut total {
                let mut taken = vec![0; sums.len()];
                taken.iter_mut().take(1).for_each(|first| *first = -(nobody as i64));
                *sums = sums.plus_own(&taken)?;
            }
        }
        Ok(total)
    }
}

/// Sums of what each of some parts has.
///
/// # Errors
/// If they do not fit.
pub fn added(parts: Vec<Vec<WordShares>>) -> Result<Vec<WordShares>, Error> {
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_default();
    for part in parts {
        for (sum, more) in total.iter_mut().zip(&part) {
            *sum = sum.plus(more)?;
        }
    }
    Ok(total)
}

/// The messages of sums over so many common people, in shards or not: `tell` has those over some records.
///
/// # Errors
/// Those of `tell`.
pub fn forecast(
    f: &mut Forecast,
    agreement: &Agreement,
    common: usize,
    tell: impl FnOnce(&mut Forecast, usize) -> Result<(), Error>,
) -> Result<(), Error> {
    match number(agreement) {
        None => tell(f, common),
        Some(shards) => f.in_shards(shards, |f| tell(f, bound(common, shards))),
    }
}

/// This party's rows of the common people, shard after shard in the common order of each, and how they
/// lie in shards.
///
/// # Errors
/// See [`Error`].
pub fn match_people(
    session: &mut Session,
    agreement: &Agreement,
    assumptions: Assumptions,
    table: &Table,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<(Intersection, Parts), Error> {
    let Some(shards) = number(agreement) else {
        let found = matching::common_rows(session, agreement, assumptions, table, progress)?;
        let parts = Parts::whole(found.rows.len());
        return Ok((found, parts));
    };
    let identifiers = table.identifiers().ok_or(NO_IDENTIFIERS)?;
    let (own, dealing) = (identifiers.len(), Dealing::new(&session.id, shards));
    let rows = dealing.rows(identifiers, own)?;
    session.channel.begin_phase(MATCHING);
    let peer = matching::exchange_records(session, agreement, own)?;
    let due = [own, peer].map(|records| bound(records, shards));
    progress(Step::Began { phase: MATCHING, total: shards });
    let made = each(session, MATCHING, rows, |shard, rows| {
        let found = match_shard(shard, agreement, assumptions, identifiers, &rows, due)?;
        progress(Step::Advanced(1));
        Ok(found)
    })?;
    let parts = Parts::in_shards(made.iter().map(Vec::len).collect())?;
    Ok((Intersection { rows: made.concat(), peer_size: peer }, parts))
}

/// A random identifier that nobody has: the first byte is in no text.
type Nobody = [u8; 33];

/// The rows of one shard whose people are common, in their common order. Both lists are as long as is due.
fn match_shard(
    session: &mut Session,
    agreement: &Agreement,
    assumptions: Assumptions,
    identifiers: &[String],
    rows: &[usize],
    [own, peer]: [usize; 2],
) -> Result<Vec<usize>, Error> {
    let nobody = |_| {
        let mut name: Nobody = [0xff; 33];
        name[1..].copy_from_slice(&session.rng.array::<32>());
        name
    };
    let padding: Vec<Nobody> = (rows.len()..own).map(nobody).collect();
    let people = rows.iter().map(|row| identifiers[*row].as_bytes());
    let list: Vec<&[u8]> = people.chain(padding.iter().map(|name| &name[..])).collect();
    let options = psi::Options { largest_set: own.max(peer), ..psi::Options::default() };
    let found = matching::intersect_by(session, agreement, assumptions, &list, options)?;
    if found.peer_size != peer {
        let problem = "its shard is not as long as its number of records says";
        return Err(net::Error::Malformed { tag: Tag::new(*b"psi0"), problem }.into());
    }
    let common: Option<Vec<usize>> = found.rows.iter().map(|row| rows.get(*row).copied()).collect();
    Ok(common.ok_or(psi::Error::BadAnswer)?)
}

/// The messages of [`match_people`].
///
/// # Errors
/// Those of matching without shards.
pub fn forecast_matching(
    f: &mut Forecast,
    agreement: &Agreement,
    assumptions: Assumptions,
    own: usize,
    peer: usize,
) -> Result<(), Error> {
    let Some(shards) = number(agreement) else {
        return matching::forecast_intersection(f, agreement, assumptions, own, peer);
    };
    f.begin_phase(MATCHING);
    matching::forecast_records(f)?;
    let [own, peer] = [own, peer].map(|records| bound(records, shards));
    f.in_shards(shards, |f| {
        f.begin_phase(MATCHING);
        matching::forecast_intersection(f, agreement, assumptions, own, peer)
    })
}

#[cfg(test)]
mod tests;
