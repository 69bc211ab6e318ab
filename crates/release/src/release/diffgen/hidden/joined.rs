//! The two joins of a release in which nobody learns who is common.
//!
//! *Inputs*: each party's identifiers, and from the class's owner the class of each. *Output*: shares, in
//! the order of each party's own bins, of whether the person there is common; in the bins of the party
//! without the class, shares of that person's class too. *Learned*: how many records the peer has, or
//! nothing where both are padded. See [`join`].

use serde::{Deserialize, Serialize};

use crate::Error;
use crate::agreement::{Agreement, Utility};
use crate::protocol::Session;
use crate::protocol::bits::Bits;
use crate::protocol::forecast::Forecast;
use crate::protocol::join::{self, Bins, Hint, JoinShape, Members};
use crate::protocol::vole::Method;
use crate::release::diffgen::{terms, two_party};
use crate::release::shards::bound;
use crate::release::{Step, matching};
use crate::role::Role;
use crate::table::Table;

/// The phase in which they are made.
pub(in crate::release) const PHASE: &str = "hidden join";

/// How many records each party has, or seems to have where both are padded: public.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Announced {
    /// Of P1 and of P2.
    records: [usize; 2],
    /// Whether few records have few bins, as in quick tests.
    small: bool,
}

impl Announced {
    /// What is announced if this party has `own` records and its peer `peer`.
    pub fn new(agreement: &Agreement, role: Role, own: usize, peer: usize, small: bool) -> Self {
        let records = match (pad(agreement), role) {
            (Some(pad), _) => [pad, pad],
            (None, Role::P1) => [own, peer],
            (None, Role::P2) => [peer, own],
        };
        Self { records, small }
    }

    /// Exchanges the numbers of records with the peer; padded tables need no message.
    ///
    /// # Errors
    /// If there are more than may be, or the connection fails.
    pub fn exchange(
        session: &mut Session,
        agreement: &Agreement,
        own: usize,
        small: bool,
    ) -> Result<Self, Error> {
        session.channel.begin_phase(PHASE);
        check_size(agreement, own)?;
        if pad(agreement).is_some() {
            return Ok(Self::new(agreement, session.role, own, 0, small));
        }
        let peer = matching::exchange_records(session, agreement, own)?;
        Ok(Self::new(agreement, session.role, own, peer, small))
    }

    /// The message of [`Announced::exchange`].
    ///
    /// # Errors
    /// None that can happen.
    pub fn forecast(agreement: &Agreement, f: &mut Forecast) -> Result<(), Error> {
        f.begin_phase(PHASE);
        match pad(agreement) {
            None => matching::forecast_records(f),
            Some(_) => Ok(()),
        }
    }

    /// What each of so many shards seems to have.
    #[must_use]
    pub fn in_shards(&self, shards: Option<usize>) -> Self {
        let of_one = |records| shards.map_or(records, |shards| bound(records, shards));
        Self { records: self.records.map(of_one), ..*self }
    }

    /// How many records this party has, or seems to have.
    pub fn of(&self, role: Role) -> usize {
        self.records[role as usize]
    }

    /// The join whose bins belong to `owner`.
    ///
    /// # Errors
    /// If it has too many.
    pub fn join(&self, owner: Role) -> Result<JoinShape, Error> {
        let [own, peer] = [owner, owner.peer()].map(|role| self.records[role as usize]);
        let shape = JoinShape::new(owner, own, peer)?;
        #[cfg(any(test, feature = "testing"))]
        if self.small {
            return Ok(shape.small());
        }
        Ok(shape)
    }

    /// The peer's number, where it was sent.
    pub fn of_peer(&self, agreement: &Agreement, role: Role) -> Option<usize> {
        pad(agreement).is_none().then_some(self.records[role.peer() as usize])
    }
}

fn pad(agreement: &Agreement) -> Option<usize> {
    agreement.pad_to().map(|records| usize::try_from(records).unwrap_or(usize::MAX))
}

/// Rejects a table that is larger than what both are padded to.
///
/// # Errors
/// If it has more.
pub fn check_size(agreement: &Agreement, records: usize) -> Result<(), Error> {
    match pad(agreement) {
        Some(pad_to) if records > pad_to => Err(Error::input(format!(
            "the table has {records} records, and `pad_to` in [id] is {pad_to}: agree on a larger one, up \
             to `max_records`"
        ))),
        _ => Ok(()),
    }
}

/// This party's end of a join.
enum End {
    /// The bins are its own.
    Bins(Bins),
    /// The bins are the peer's.
    Hint(Hint),
}

/// One party's side of both joins.
pub struct Joined {
    /// By owner of the bins.
    ends: [End; 2],
    /// Shares of whether the person in a bin is common, by owner of the bins.
    pub members: [Bits; 2],
    /// Shares of the class, in the bins of the party without it; bit j of all bins is vector j.
    pub class: Vec<Bits>,
}

/// Bits that number so many places.
pub fn index_bits(places: usize) -> usize {
    (usize::BITS - places.saturating_sub(1).leading_zeros()) as usize
}

impl Joined {
    /// Joins with the peer, for as many records as are announced.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn make(
        session: &mut Session,
        agreement: &Agreement,
        class_owner: Role,
        table: &Table,
        announced: &Announced,
        progress: &(dyn Fn(Step) + Sync),
    ) -> Result<Self, Error> {
        session.channel.begin_phase(PHASE);
        let identifiers = table.identifiers().ok_or_else(matching::no_identifiers)?;
        let shapes = [announced.join(Role::P1)?, announced.join(Role::P2)?];
        let bins = shapes.iter().map(JoinShape::bins).sum();
        progress(Step::Began { phase: PHASE, total: bins });
        let method = method(agreement)?;
        let classes: Vec<u32> = table.classes().iter().map(|class| u32::from(*class)).collect();
        let of_class = class_bits(agreement)?;
        let mut join = |shape: JoinShape| -> Result<(End, Members), Error> {
            let bits = if shape.owner() == class_owner { 0 } else { of_class };
            let joined = if shape.owner() == session.role {
                let mut bins = Bins::setup(session, method, shape, identifiers)?;
                let members = bins.receive_members(session, bits)?;
                (End::Bins(bins), members)
            } else {
                let mut hint = Hint::setup(session, method, shape, identifiers)?;
                let payloads = if bits == 0 { &[] } else { &classes[..] };
                let members = hint.send_members(session, bits, payloads)?;
                (End::Hint(hint), members)
            };
            progress(Step::Advanced(shape.bins()));
            Ok(joined)
        };
        let ((first, of_first), (second, of_second)) = (join(shapes[0])?, join(shapes[1])?);
        let class = [&of_first, &of_second][class_owner.peer() as usize].payload.clone();
        let members = [of_first.bits, of_second.bits];
        Ok(Self { ends: [first, second], members, class })
    }

    /// The messages of [`Joined::make`].
    ///
    /// # Errors
    /// If there are too many records.
    pub fn forecast(
        f: &mut Forecast,
        agreement: &Agreement,
        class_owner: Role,
        announced: &Announced,
    ) -> Result<(), Error> {
        f.begin_phase(PHASE);
        for owner in Role::BOTH {
            let shape = announced.join(owner)?;
            let of_class = class_bits(agreement)?;
            let bits = if owner == class_owner { 0 } else { of_class };
            join::forecast_setup(f, method(agreement)?, &shape);
            join::forecast_members(f, &shape, bits);
        }
        Ok(())
    }

    /// This party's record in each of its own bins.
    pub fn places(&self) -> &[Option<u32>] {
        let own = self.ends.iter().find_map(|end| match end {
            End::Bins(bins) => Some(bins.places()),
            End::Hint(_) => None,
        });
        own.unwrap_or_default()
    }

    /// What belongs to the records in this party's own bins; 0 in empty ones.
    pub fn in_bins(&self, of_records: &[u32]) -> Vec<u32> {
        let of = |record: &Option<u32>| record.and_then(|record| of_records.get(record as usize));
        self.places().iter().map(|record| of(record).copied().unwrap_or(0)).collect()
    }

    /// Shares of a number of `bits` bits that the peer of the bins' owner has of each of its people, in
    /// the owner's bins; garbage where nobody is common. `of_records` are that party's.
    ///
    /// # Errors
    /// See [`Error`].
    pub fn later_payload(
        &mut self,
        session: &mut Session,
        owner: Role,
        bits: usize,
        of_records: &[u32],
    ) -> Result<Vec<Bits>, Error> {
        Ok(match &mut self.ends[owner as usize] {
            End::Bins(bins) => bins.receive_payload(session, bits)?,
            End::Hint(hint) => hint.send_payload(session, bits, of_records)?,
        })
    }
}

/// Bits of a shared class: none where nobody scores.
fn class_bits(agreement: &Agreement) -> Result<usize, Error> {
    Ok(match terms(agreement)?.utility {
        Utility::Range => 0,
        _ => index_bits(agreement.schema.class.values.len()),
    })
}

fn method(agreement: &Agreement) -> Result<Method, Error> {
    Ok(Method::suited_to(two_party::assumptions(terms(agreement)?)))
}
