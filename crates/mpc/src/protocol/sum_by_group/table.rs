//! The joint count table by sums by group.

use serde::{Deserialize, Serialize};

use super::{
    Addends, Progress, SumShape, check_length, forecast, impossible, receive, receive_adding, send,
};
use crate::Error;
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::WordShares;
use crate::protocol::transfers;
use crate::protocol::yao::Side;
use crate::role::Role;

const PHASE: &str = "count table";

/// The public numbers of a table of counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CountShape {
    /// Common records.
    pub records: usize,
    /// Cells of P1 and of P2.
    pub cells: [usize; 2],
    /// k: counts are shared over Z_{2^k}.
    pub bits: u32,
}

impl CountShape {
    /// The party whose cells are the groups: the one with which fewer bytes are sent; P1 if they
    /// are equal. Without records it is the same as with one.
    pub fn receiving_role(&self) -> Role {
        let some = Self { records: self.records.max(1), ..*self };
        let bytes = |receiver: Role| some.sums(receiver).bytes();
        if bytes(Role::P1) <= bytes(Role::P2) { Role::P1 } else { Role::P2 }
    }

    /// Hashes of each side, which determine the time of a run.
    pub fn hashes(&self) -> u64 {
        self.sums(self.receiving_role()).hashes()
    }

    /// # Errors
    /// For a table that no run can have.
    pub fn check(&self) -> Result<(), Error> {
        self.sums(self.receiving_role()).check()?;
        if usize::BITS - self.records.leading_zeros() > self.bits {
            return Err(impossible("a count may not fit the output ring; raise its bits"));
        }
        Ok(())
    }

    fn sums(&self, receiver: Role) -> SumShape {
        let (groups, words) = (self.cells[receiver as usize], self.cells[receiver.peer() as usize]);
        SumShape { records: self.records, groups, words, bits: self.bits }
    }
}

/// What is computed: all counts, entry `cell1 · m2 + cell2`.
///
/// # Panics
/// If a cell is not one of the shape's.
pub fn ideal_table(shape: &CountShape, first: &[u32], second: &[u32]) -> Vec<u64> {
    super::ideal(&shape.sums(Role::P1), first, Addends::Units(second))
}

/// The messages of [`count_table`], with those of the set-up of transfers that are not there yet.
///
/// # Errors
/// As [`count_table`] for an impossible shape.
pub fn forecast_table(f: &mut Forecast, shape: &CountShape) -> Result<(), Error> {
    shape.check()?;
    f.begin_phase(PHASE);
    forecast_cells(f, shape)
}

/// The messages of [`count_cells`].
///
/// # Errors
/// As [`count_cells`] for an impossible shape.
pub fn forecast_cells(f: &mut Forecast, shape: &CountShape) -> Result<(), Error> {
    shape.check()?;
    let receiver = shape.receiving_role();
    forecast_units(f, receiver.peer(), &shape.sums(receiver))
}

/// The messages of [`sum_units`], with those of the set-up of transfers that are not there yet.
///
/// # Errors
/// As [`sum_units`] for an impossible shape.
pub fn forecast_units(f: &mut Forecast, sender: Role, shape: &SumShape) -> Result<(), Error> {
    if f.sets_up(sender) {
        transfers::forecast_setup(f, sender);
    }
    forecast(f, sender, shape)
}

/// Sums unit vectors by group with the transfers of the session's garbled circuits: how many records
/// of every group of the receiver have each place of the sender. `places` are this party's, one per
/// record: groups at the receiver, places of the 1 at the sender. `progress` hears of records.
///
/// # Errors
/// See [`Error`].
pub fn sum_units(
    session: &mut Session,
    sender: Role,
    shape: &SumShape,
    places: &[u32],
    progress: Progress<'_>,
) -> Result<WordShares, Error> {
    sum_several(session, sender, shape, places, 1, progress)
}

/// The same where the sender has so many places per record, one in each of several parts of its
/// vector: several tables at once, for one group of the receiver. Its messages are those of
/// [`forecast_units`].
///
/// # Errors
/// See [`Error`].
pub fn sum_several(
    session: &mut Session,
    sender: Role,
    shape: &SumShape,
    places: &[u32],
    each: usize,
    progress: Progress<'_>,
) -> Result<WordShares, Error> {
    session.with_garbling(|yao, session| match yao.transfers(session, sender)? {
        Side::Sender(source) => {
            let addends =
                if each == 1 { Addends::Units(places) } else { Addends::Several(places, each) };
            send(session, source, shape, addends, progress)
        }
        Side::Receiver(source) => receive(session, source, shape, places, progress),
    })
}

/// Sums shared words by group with the transfers of the session's garbled circuits: every record has a
/// vector of words of which each party has a share, and the receiver knows its group. `words` are this
/// party's shares, the vectors one after the other; `groups` the receiver's, one per record, and empty
/// at the sender. Both shares of a record's words go to its group in the same way.
///
/// # Errors
/// See [`Error`].
pub fn sum_shared(
    session: &mut Session,
    receiver: Role,
    shape: &SumShape,
    groups: &[u32],
    words: &[u64],
    progress: Progress<'_>,
) -> Result<WordShares, Error> {
    check_length(words.len(), shape.records.saturating_mul(shape.words))?;
    session.with_garbling(|yao, session| match yao.transfers(session, receiver.peer())? {
        Side::Sender(source) => send(session, source, shape, Addends::Words(words), progress),
        Side::Receiver(source) => receive_adding(session, source, shape, groups, words, progress),
    })
}

/// Counts the common records in every pair of cells; each party gets a share of every count, entry
/// `cell1 · m2 + cell2`. `cells` are this party's, one per record in the common order. The
/// transfers are those of the session's garbled circuits; `progress` hears of records.
///
/// # Errors
/// See [`Error`].
///
/// # Example
///
/// ```
/// use diptych_mpc::protocol::Session;
/// use diptych_mpc::protocol::pair::{Setup, run_pair};
/// use diptych_mpc::Error;
/// use diptych_mpc::protocol::sum_by_group::{CountShape, count_table};
/// use diptych_mpc::protocol::yao::Reveal;
///
/// // Of three people P1 knows the job, 0 or 1, and P2 the town, 0, 1 or 2.
/// let shape = CountShape { records: 3, cells: [2, 3], bits: 16 };
/// let (jobs, towns) = ([0, 1, 1], [2, 0, 0]);
/// let table = |session: &mut Session, cells: &[u32]| -> Result<_, Error> {
///     let shares = count_table(session, &shape, cells, &|_| ())?;
///     Ok(shares.open(session, Reveal::Both)?)
/// };
/// let outcome = run_pair(
///     Setup::default(),
///     |session| table(session, &jobs),
///     |session| table(session, &towns),
/// );
/// // One person has job 0 in town 2, two have job 1 in town 0.
/// assert_eq!(outcome.p1?, Some(vec![0, 0, 1, 2, 0, 0]));
/// assert_eq!(outcome.p2?, Some(vec![0, 0, 1, 2, 0, 0]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn count_table(
    session: &mut Session,
    shape: &CountShape,
    cells: &[u32],
    progress: Progress<'_>,
) -> Result<WordShares, Error> {
    session.channel.begin_phase(PHASE);
    count_cells(session, shape, cells, progress)
}

/// The same within the current phase.
///
/// # Errors
/// As [`count_table`].
pub fn count_cells(
    session: &mut Session,
    shape: &CountShape,
    cells: &[u32],
    progress: Progress<'_>,
) -> Result<WordShares, Error> {
    shape.check()?;
    let receiver = shape.receiving_role();
    let shares = sum_units(session, receiver.peer(), &shape.sums(receiver), cells, progress)?;
    if receiver == Role::P1 {
        return Ok(shares);
    }
    let [first, second] = shape.cells;
    let words = shares.words();
    let turned = (0..first * second).map(|entry| words[entry % second * first + entry / second]);
    WordShares::new(shape.bits, turned.collect())
}
