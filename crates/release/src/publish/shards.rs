//! A run whose shards are in other processes, on any number of machines.
//!
//! The *lead* runs where ledger, identity and output are, and has no records ([`Workers`]). Records
//! are read part by part wherever they are ([`read_partition`]). Once the leads are connected,
//! every part is distributed over the shards ([`deal`]), and each shard takes its records
//! ([`Taken`]), connects to the peer's shard of the same number and answers its lead ([`Worker`]).
//! The caller transports the bytes between them and places the processes: the package for Python
//! does it with Ray.
//!
//! In a horizontal release shards do not connect to the peer's ([`meet_peers`]): parts are
//! distributed by position before the leads connect, a shard counts as soon as it has its records
//! ([`Taken::alone`]), and needs neither port nor identity.
//!
//! What goes between a lead and its shards is private: records, and shares. It must stay inside the organisation.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Watcher;
use super::data::Source;
use super::run::Side;
use crate::Error;
use crate::agreement::Agreement;
use crate::net::handshake::PROTOCOL_VERSION;
use crate::net::{SessionId, Stop, codec};
use crate::protocol::shards::remote::{Line, Server};
use crate::protocol::shards::{Answer, Failed, terms};
use crate::publish::local;
use crate::release::shards::{Counter, Dealing, Host, number, paired, records};
use crate::role::Role;
use crate::table::Table;

/// Shards of a party in other processes, as its lead reaches them.
pub trait Workers: Sync {
    /// How many records there are in all, as [`read_partition`] counted them.
    fn records(&self) -> usize;

    /// Lets all shards take their records ([`Taken`]), then connects all of them to the peer's if
    /// they have peers ([`meet_peers`]), and returns a line to each, by number. When the flag is
    /// set, because the peer has aborted the run or the user stops it here, it must stop waiting.
    ///
    /// # Errors
    /// If one of them cannot.
    fn open(&self, opening: &Opening, stop: &Stop) -> Result<Vec<Box<dyn Line>>, Error>;
}

/// What shards must know of the run: once the leads are connected, the session by which people are
/// distributed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Opening {
    lead: [u8; 32],
    shards: usize,
    agreement: [u8; 32],
    version: u16,
}

impl Opening {
    pub(super) fn new(agreement: &Agreement, lead: &SessionId, shards: usize) -> Self {
        let (agreement, version) = (agreement.hash().0, PROTOCOL_VERSION);
        Self { lead: *lead.as_bytes(), shards, agreement, version }
    }

    /// For shards without peers, which do not wait for the leads.
    pub(super) fn alone(agreement: &Agreement, shards: usize) -> Self {
        Self::new(agreement, &SessionId::from_bytes([0; 32]), shards)
    }

    /// How many shards there are.
    pub fn shards(&self) -> usize {
        self.shards
    }

    /// As bytes, for another process.
    ///
    /// # Errors
    /// None that can happen.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        codec::encode(self).map_err(Error::internal)
    }

    /// From the bytes of [`Opening::to_bytes`].
    ///
    /// # Errors
    /// If they are not.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, Error> {
        codec::decode(bytes).map_err(|problem| {
            Error::input(format!("what a lead says to its shards does not read: {problem}"))
        })
    }

    /// Rejects an opening of another agreement's run, or of another version.
    fn check(&self, agreement: &Agreement) -> Result<(), Error> {
        if agreed(agreement)? != self.shards || agreement.hash().0 != self.agreement {
            return Err(Error::input("lead and shards have different agreements")
                .advise("give all of them the same one"));
        }
        match self.version == PROTOCOL_VERSION {
            true => Ok(()),
            false => Err(Error::input("lead and shards are of different versions")
                .advise("install the same one on all machines")),
        }
    }

    fn lead(&self) -> SessionId {
        SessionId::from_bytes(self.lead)
    }

    /// The terms of the handshake of one shard.
    pub(super) fn terms(&self, shard: usize) -> Vec<u8> {
        terms(&self.lead(), shard, self.shards)
    }
}

/// How many shards are agreed.
fn agreed(agreement: &Agreement) -> Result<usize, Error> {
    number(agreement).ok_or_else(|| {
        Error::input("the agreement has no shards").advise("agree on them: `shards = N` in [scale]")
    })
}

/// Whether each shard connects to the peer's of the same number. Horizontally none does.
pub fn meet_peers(agreement: &Agreement) -> bool {
    paired(agreement).is_some()
}

/// Reads a part of a party's records: how many there are, and the bytes that [`deal`] takes.
///
/// # Errors
/// If the part is not what the agreement says.
pub fn read_partition(
    agreement: &Agreement,
    role: Role,
    source: &Source,
    watcher: &dyn Watcher,
) -> Result<(usize, Vec<u8>), Error> {
    agreed(agreement)?;
    let owner = meet_peers(agreement).then_some(role);
    let table = local::read(agreement, source, owner, agreement.identifier(), watcher)?;
    Ok((table.len(), write_records(agreement, role, &table)?))
}

/// Distributes a part of the records: what each shard gets of it, by number. Where shards have no
/// peers, each gets as many as any other.
///
/// # Errors
/// If the part does not come from [`read_partition`].
pub fn deal(
    agreement: &Agreement,
    role: Role,
    partition: &[u8],
    opening: &Opening,
) -> Result<Vec<Vec<u8>>, Error> {
    opening.check(agreement)?;
    let table = read_records(agreement, role, partition)?;
    let rows = match meet_peers(agreement) {
        true => {
            let names = table.identifiers().unwrap_or_default();
            Dealing::new(&opening.lead(), opening.shards).rows(names, usize::MAX)?
        }
        false => by_position(table.len(), opening.shards),
    };
    rows.iter().map(|rows| write_records(agreement, role, &table.select(rows))).collect()
}

/// As many records of this part for one shard as for any other, up to one.
fn by_position(records: usize, shards: usize) -> Vec<Vec<usize>> {
    let end = |shard| records * shard / shards.max(1);
    (0..shards).map(|shard| (end(shard)..end(shard + 1)).collect()).collect()
}

/// With identifiers, if the agreement has them.
fn write_records(agreement: &Agreement, role: Role, table: &Table) -> Result<Vec<u8>, Error> {
    records::write(agreement, role, table, agreement.identifier().is_some())
}

fn read_records(agreement: &Agreement, role: Role, bytes: &[u8]) -> Result<Table, Error> {
    records::read(agreement, role, bytes, agreement.identifier().is_some()).map_err(|problem| {
        Error::input(format!("records on the way to a shard do not read: {problem}"))
    })
}

/// The records of one shard, once they are checked. All shards of a party take theirs before any of
/// them connects to the peer's: one that failed alone would reveal to the peer in which shard a
/// person occurs twice.
pub struct Taken(Table);

impl Taken {
    /// Takes what all parts of the records have for a shard.
    ///
    /// # Errors
    /// If a person is in the records twice.
    pub fn new(
        agreement: &Agreement,
        role: Role,
        opening: &Opening,
        dealt: &[impl AsRef<[u8]>],
    ) -> Result<Self, Error> {
        opening.check(agreement)?;
        let mut table = read_records(agreement, role, &0u64.to_le_bytes())?;
        for part in dealt {
            table.append(read_records(agreement, role, part.as_ref())?, 0);
        }
        if let (Some(identifier), Some(names)) = (agreement.identifier(), table.identifiers()) {
            // The position of the repetition in the records is not known here.
            identifier.normalize.check(names).map_err(|_| {
                let column = &identifier.column;
                Error::input(format!("column `{column}`: somebody is in the records twice"))
                    .advise("give each person one record over all partitions")
            })?;
        }
        Ok(Self(table))
    }

    /// Connects to the peer's shard of the same number, if shards have peers. The side is that of
    /// the lead, with the same party file and identity; the port follows from its address: the
    /// shard with number n listens, or connects, n + 1 ports above.
    ///
    /// # Errors
    /// If the peer's shard does not connect.
    pub fn meet(
        self,
        side: &Side<'_>,
        opening: &Opening,
        shard: usize,
        watcher: &dyn Watcher,
    ) -> Result<Worker, Error> {
        if !meet_peers(side.agreement) {
            return self.alone(side.agreement, opening);
        }
        opening.check(side.agreement)?;
        let session = side.meet_shard(opening, shard, watcher)?;
        let host = Host::new(session, Arc::new(side.agreement.clone()), Some(self.0));
        Ok(Worker(Server::new(Box::new(host))))
    }

    /// Counts without a peer, where shards have none.
    ///
    /// # Errors
    /// If shards have peers.
    pub fn alone(self, agreement: &Agreement, opening: &Opening) -> Result<Worker, Error> {
        opening.check(agreement)?;
        if meet_peers(agreement) {
            return Err(Error::internal("the shards of a vertical release meet the peer's"));
        }
        Ok(Worker(Server::new(Box::new(Counter::new(agreement, self.0)?))))
    }
}

/// One shard, connected to the peer's of the same number if shards meet.
pub struct Worker(Server);

impl Worker {
    /// Handles a call of the lead, and replies: the bytes that a [`Line`] carries.
    ///
    /// # Errors
    /// If the reply is too large.
    pub fn serve(&mut self, call: &[u8]) -> Result<Answer, Failed> {
        self.0.serve(call)
    }
}
