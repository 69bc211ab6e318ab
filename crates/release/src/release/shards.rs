//! People in shards: everything that grows with records is done shard by shard, and added up.
//!
//! *Why that is the same release.* Every sum over records is the sum of those over disjoint sets of
//! people, and shares of a sum are sums of shares. Choices, noise and signing see the sums alone, at the
//! lead.
//!
//! *Who is in which shard* ([`Dealing`]): a hash of the normalised identifier under a key that the
//! run makes of both parties' nonces (through the id of the lead's session). Both sides find common
//! people in the same shard. The key must be new in every run and be made by both: a party that
//! knew it before could put chosen people into one shard, and see by a run that ends there that
//! they are in the peer's table.
//!
//! *Where they are* ([`Host`]): in threads of this process or elsewhere; a lead sends all of them
//! the same few requests (`asks`).
//!
//! *Horizontally* (`counting`) a party's shards have no peers, and nothing below is needed.
//!
//! *What sizes of shards reveal*: nothing. Each party's shards are padded to [`bound`], which
//! follows from how many records it has (that is shown, or itself padded to `pad_to`): where people
//! are shown to be common with random identifiers that nobody has, in hidden joins as any padding.
//! Sums over common people are padded to the bound that follows from how many there are, which both
//! know: every padding record counts in the first cell, and their number, which both know, is
//! subtracted at the end. So the messages of all shards are alike, whoever is in which.
//!
//! *How likely a shard is too full.* A shard's size is binomial with mean μ = n/N and variance
//! v < μ, whoever the n people are, because they are dealt by a key that is independent of them. By
//! Bernstein's inequality it passes μ + t with probability at most e^(−t²/(2(v + t/3))), which is at most e⁻⁵⁰ for
//! t ≥ 10·√v + 34. (Eight deviations would be 2⁻⁴⁶, too much beside δ where a table is padded and its size a
//! secret.) A run with such a shard ends before anything of the data is sent; one in which common people
//! are too many, once they are found, before they are counted.

pub(in crate::release) mod asks;
mod counting;
mod host;
pub mod records;

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;
use sha2::{Digest, Sha256};

use super::Step;
use super::diffgen::hidden::joined::{self, Announced};
use super::diffgen::terms;
use super::diffgen::two_party::assumptions;
use super::matching::{self, no_identifiers};
use crate::Error;
use crate::agreement::{Agreement, Partition};
use crate::net::{self, Tag};
use crate::protocol::Workspace;
use crate::protocol::forecast::Forecast;
use crate::protocol::psi;
use crate::protocol::shards::Shard;
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::Progress;
use crate::protocol::transfers::Assumptions;
use crate::role::Role;
use crate::table::{Specialization, Table};
use asks::{Ask, Due, Sum, hear_names, hear_shares, malformed, request, request_sums};
pub use counting::{Counter, InShards};
pub use host::Host;
use records::Bytes;

/// The phase of the set intersection.
const MATCHING: &str = "set intersection";

/// Deviations above the mean, and people beyond them, for which a shard has capacity.
const DEVIATIONS: u128 = 10;
const ROOM: u128 = 34;

fn no_shards() -> Error {
    Error::input("people are in shards, and there are not as many of these as are agreed")
}

/// In how many shards the records of a party may be, if any.
pub fn number(agreement: &Agreement) -> Option<usize> {
    agreement.shards.map(|shards| shards as usize)
}

/// The same if each of them connects to the peer's of the same number: horizontally none does.
pub fn paired(agreement: &Agreement) -> Option<usize> {
    number(agreement).filter(|_| matches!(agreement.partition, Partition::Vertical { .. }))
}

/// The capacity of one of so many shards for so many people.
pub fn bound(people: usize, shards: usize) -> usize {
    let (n, shards) = (people as u128, shards.max(1) as u128);
    // √v = √(n·(N − 1))/N, rounded up.
    let square = DEVIATIONS * DEVIATIONS * n * (shards - 1);
    let root = square.isqrt();
    let spread = (root + u128::from(root * root < square)).div_ceil(shards);
    let most = n.div_ceil(shards) + spread + ROOM;
    usize::try_from(most).unwrap_or(usize::MAX).min(people)
}

/// How many records so many people are in all shards, padding included.
pub fn padded(agreement: &Agreement, people: usize) -> usize {
    number(agreement).map_or(people, |shards| bound(people, shards).saturating_mul(shards))
}

/// Who is in which shard: see the module page.
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

    /// The records of each shard, ascending. `people` determines the bound: how many there are, or
    /// appear to be.
    ///
    /// # Errors
    /// If a shard has more people than its capacity.
    pub fn rows(&self, identifiers: &[String], people: usize) -> Result<Vec<Vec<usize>>, Error> {
        let of_each: Vec<usize> =
            identifiers.par_iter().map(|identifier| self.shard(identifier)).collect();
        let mut rows = vec![Vec::new(); self.shards];
        of_each.iter().enumerate().for_each(|(row, shard)| rows[*shard].push(row));
        check(rows.iter().map(Vec::len), bound(people, self.shards))?;
        Ok(rows)
    }
}

/// An error for a shard that has more people than its capacity.
fn too_full() -> Error {
    Error::internal(
        "more people fall into one shard than it has room for, which hardly ever happens: start again; \
         people are dealt anew in every run",
    )
}

fn check(mut sizes: impl Iterator<Item = usize>, bound: usize) -> Result<(), Error> {
    if sizes.any(|size| size > bound) { Err(too_full()) } else { Ok(()) }
}

/// Turns the connections into shards that answer, if there are none yet.
fn host(session: &mut Workspace, agreement: &Agreement) -> Result<(), Error> {
    let connected = std::mem::take(&mut session.shards.sessions);
    if !connected.is_empty() {
        let agreement = Arc::new(agreement.clone());
        let hosts = connected.into_iter().map(|shard| Host::new(shard, agreement.clone(), None));
        session.shards.asked = hosts.map(|host| Box::new(host) as Box<dyn Shard>).collect();
    }
    match number(agreement) == Some(session.shards.asked.len()) {
        true => Ok(()),
        false => Err(no_shards()),
    }
}

/// Sets up the transfers of every shard that has a peer, and checks that all records are there: no
/// message depends on data. Horizontally a lead that has its records counts them itself, without
/// shards.
///
/// # Errors
/// That of the first shard that failed, and shards that have their own records and do not have as many as
/// was said, or one of which is too full.
pub fn set_up(session: &mut Workspace, agreement: &Agreement) -> Result<(), Error> {
    if paired(agreement).is_none() && session.shards.records.is_none() {
        return Ok(());
    }
    host(session, agreement)?;
    let records = session.shards.each(
        |_| request(&Ask::SetUp, &[]),
        |_, answer| {
            let mut answer = Bytes(answer);
            answer.length().and_then(|records| answer.end().map(|()| records)).map_err(malformed)
        },
    )?;
    let Some(said) = session.shards.records else { return Ok(()) };
    let held = records.iter().fold(0, |sum: usize, records| sum.saturating_add(*records));
    if said != held {
        return Err(Error::input(
            "the shards do not have as many records as their partitions: each record goes to one shard",
        ));
    }
    if paired(agreement).is_none() {
        return Ok(());
    }
    // The announced number is at least the real one: a shard that is too full ends the run before
    // any other has sent anything that depends on its data.
    let people = agreement.pad_to().map_or(held, |pad| usize::try_from(pad).unwrap_or(usize::MAX));
    check(records.into_iter(), bound(people, session.shards.asked.len()))
}

/// Where the records of the shards come from: they have them, or the lead distributes its table.
/// Each shard gets its part when its turn comes, so that there are no more copies than shards being
/// processed.
struct Dealt<'t> {
    table: &'t Table,
    rows: Option<Vec<Vec<usize>>>,
}

impl<'t> Dealt<'t> {
    /// `people` is what the bound follows from, as in [`Dealing::rows`].
    fn new(
        session: &Workspace,
        agreement: &Agreement,
        table: &'t Table,
        people: usize,
    ) -> Result<Self, Error> {
        let shards = number(agreement).ok_or_else(no_shards)?;
        if session.shards.records.is_some() {
            return Ok(Self { table, rows: None });
        }
        let identifiers = table.identifiers().ok_or_else(no_identifiers)?;
        let rows = Dealing::new(&session.id, shards).rows(identifiers, people)?;
        Ok(Self { table, rows: Some(rows) })
    }

    /// The request to one shard, with its records if the lead has them.
    fn request(
        &self,
        ask: &Ask,
        agreement: &Agreement,
        role: Role,
        shard: usize,
    ) -> Result<Vec<u8>, Error> {
        let Some(rows) = &self.rows else { return request(ask, &[]) };
        let part = self.table.select(rows.get(shard).map_or(&[], Vec::as_slice));
        request(ask, &records::write(agreement, role, &part, true)?)
    }
}

/// How many records this party has in all.
pub fn records(session: &Workspace, table: &Table) -> usize {
    session.shards.records.unwrap_or(table.len())
}

/// The order of the records of the common people.
#[derive(Clone, Debug)]
pub struct Parts {
    counts: Vec<usize>,
    /// Records of each part, padding included.
    padded: usize,
    sharded: bool,
}

impl Parts {
    /// All of so many records, which the lead has.
    pub fn whole(records: usize) -> Self {
        Self { counts: vec![records], padded: records, sharded: false }
    }

    /// Shards with so many common people each.
    ///
    /// # Errors
    /// If a shard has more people than its capacity.
    fn in_shards(counts: Vec<usize>) -> Result<Self, Error> {
        let padded = bound(counts.iter().sum(), counts.len());
        check(counts.iter().copied(), padded)?;
        Ok(Self { counts, padded, sharded: true })
    }

    /// Records of each part, padding included: what its sums run over.
    pub fn padded(&self) -> usize {
        self.padded
    }

    /// Sums over all common people: those of every part, added up. `places` has the numbers of some
    /// of this party's records in one of the sums. In each of these a padding record has counted as
    /// 1 in the first entry.
    ///
    /// # Errors
    /// Those of `places` and of the sums.
    pub fn add_up(
        &self,
        session: &mut Workspace,
        phase: &'static str,
        sums: &[Sum],
        places: impl Fn(usize, Range<usize>) -> Result<Vec<u32>, Error> + Sync,
        progress: Progress<'_>,
    ) -> Result<Vec<WordShares>, Error> {
        session.channel.begin_phase(phase);
        if !self.sharded {
            let all = 0..self.padded;
            let whole = |(number, sum): (usize, &Sum)| {
                sum.run(session, places(number, all.clone())?, progress)
            };
            return sums.iter().enumerate().map(whole).collect();
        }
        let ends = self.counts.iter().scan(0, |end, count| {
            *end += count;
            Some(*end)
        });
        let ends: Vec<usize> = ends.collect();
        let ask = |shard: usize| {
            let rows = ends[shard] - self.counts[shard]..ends[shard];
            let of_sum = |(number, sum): (usize, &Sum)| Ok((*sum, places(number, rows.clone())?));
            let sums: Result<Vec<_>, Error> = sums.iter().enumerate().map(of_sum).collect();
            request_sums(phase, &sums?)
        };
        let due: Vec<Due> = sums.iter().map(Sum::due).collect();
        let made = session.shards.each(ask, |shard, answer| {
            progress(sums.len() * self.counts[shard]);
            hear_shares(answer, &due).map_err(malformed)
        })?;
        let nobody: usize = self.counts.iter().map(|count| self.padded - count).sum();
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
/// If they cannot be added.
fn added(parts: Vec<Vec<WordShares>>) -> Result<Vec<WordShares>, Error> {
    let mut parts = parts.into_iter();
    let mut total = parts.next().unwrap_or_default();
    for part in parts {
        for (sum, more) in total.iter_mut().zip(&part) {
            *sum = sum.plus(more)?;
        }
    }
    Ok(total)
}

/// The messages of sums over so many common people, in shards or not: `tell` adds those over some
/// records.
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

/// The common people.
pub struct Common {
    /// This party's columns of them, in their common order: shard after shard, in the order of each.
    pub table: Table,
    /// How they are distributed over shards.
    pub parts: Parts,
    /// Records of the peer.
    pub peer_records: usize,
}

/// Finds the common people. Shards send their lead the columns, which are coded, and no identifier:
/// all choices use them, some of them each record in every round, so the lead must have them.
///
/// # Errors
/// See [`Error`].
pub fn match_people(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Common, Error> {
    let Some(shards) = number(agreement) else {
        let assumptions = assumptions(terms(agreement)?);
        let found = matching::common_rows(session, agreement, assumptions, table, progress)?;
        let parts = Parts::whole(found.rows.len());
        return Ok(Common {
            table: table.select(&found.rows),
            parts,
            peer_records: found.peer_size,
        });
    };
    let own = records(session, table);
    let dealt = Dealt::new(session, agreement, table, own)?;
    session.channel.begin_phase(MATCHING);
    let peer_records = matching::exchange_records(session, agreement, own)?;
    let due = [own, peer_records].map(|records| bound(records, shards));
    progress(Step::Began { phase: MATCHING, total: shards });
    let role = session.role;
    let found = session.shards.each(
        |shard| dealt.request(&Ask::Match { due }, agreement, role, shard),
        |_, answer| {
            progress(Step::Advanced(1));
            records::read(agreement, role, answer, false).map_err(malformed)
        },
    )?;
    let parts = Parts::in_shards(found.iter().map(Table::len).collect())?;
    let mut table = Table::default();
    found.into_iter().for_each(|part| table.append(part, 0));
    Ok(Common { table, parts, peer_records })
}

/// Classes and identifiers of all common people, as shards have them: for counting where the class
/// differs.
///
/// # Errors
/// That of the first shard that failed.
pub fn labelled(session: &mut Workspace) -> Result<Vec<Vec<u8>>, Error> {
    let hear = |_, answer: &[u8]| hear_names(answer).map_err(malformed);
    Ok(session.shards.each(|_| request(&Ask::Labelled, &[]), hear)?.concat())
}

/// Joins every shard where neither party learns who is common: returns each one's shares of the
/// expected sums. `announced` is what all shards appear to have together.
///
/// # Errors
/// That of the first shard that failed.
pub fn join(
    session: &mut Workspace,
    agreement: &Agreement,
    table: &Table,
    announced: &Announced,
    due: &[Due],
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<WordShares>, Error> {
    let role = session.role;
    let dealt = Dealt::new(session, agreement, table, announced.of(role))?;
    let announced = announced.in_shards(number(agreement));
    each_hidden(session, joined::PHASE, due, progress, |shard| {
        dealt.request(&Ask::Join { announced }, agreement, role, shard)
    })
}

/// Counts in every shard after [`join`], by the leaves that these make: the expected counts.
///
/// # Errors
/// That of the first shard that failed.
pub fn count_joined(
    session: &mut Workspace,
    made: &[Specialization],
    due: Due,
    progress: &(dyn Fn(Step) + Sync),
) -> Result<Vec<WordShares>, Error> {
    let ask = Ask::Count { made: made.to_vec() };
    each_hidden(session, asks::COUNTS, &[due], progress, |_| request(&ask, &[]))
}

/// Asks every shard for shares of sums, and adds them up.
fn each_hidden(
    session: &mut Workspace,
    phase: &'static str,
    due: &[Due],
    progress: &(dyn Fn(Step) + Sync),
    ask: impl Fn(usize) -> Result<Vec<u8>, Error> + Sync,
) -> Result<Vec<WordShares>, Error> {
    session.channel.begin_phase(phase);
    progress(Step::Began { phase, total: session.shards.asked.len() });
    added(session.shards.each(ask, |_, answer| {
        progress(Step::Advanced(1));
        hear_shares(answer, due).map_err(malformed)
    })?)
}

/// A random identifier that nobody has: the first byte is in no text.
type Nobody = [u8; 33];

/// The rows of one shard whose people are common, in their common order. Both lists have the
/// expected length.
fn match_shard(
    session: &mut Workspace,
    agreement: &Agreement,
    identifiers: &[String],
    [own, peer]: [usize; 2],
) -> Result<Vec<usize>, Error> {
    let most = usize::try_from(agreement.max_records).unwrap_or(usize::MAX);
    if own.max(peer) > most {
        return Err(malformed("more people than are agreed"));
    }
    check([identifiers.len()].into_iter(), own)?;
    let nobody = |_| {
        let mut name: Nobody = [0xff; 33];
        name[1..].copy_from_slice(&session.rng.array::<32>());
        name
    };
    let padding: Vec<Nobody> = (identifiers.len()..own).map(nobody).collect();
    let people = identifiers.iter().map(String::as_bytes);
    let list: Vec<&[u8]> = people.chain(padding.iter().map(|name| &name[..])).collect();
    let options = psi::Options { largest_set: own.max(peer), ..psi::Options::default() };
    let assumptions = assumptions(terms(agreement)?);
    let found = matching::intersect_by(session, agreement, assumptions, &list, options)?;
    if found.peer_size != peer {
        let problem = "its shard is not as long as its number of records says";
        return Err(net::Error::Malformed { tag: Tag::new(*b"psi0"), problem }.into());
    }
    match found.rows.iter().all(|row| *row < identifiers.len()) {
        true => Ok(found.rows),
        false => Err(psi::bad_answer().into()),
    }
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
