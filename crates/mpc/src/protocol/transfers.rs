//! Correlated transfers from any source.
//!
//! *Inputs*: the sender's Δ, which is odd and the same for a whole direction. *Output*: to the sender
//! Q of every transfer, its lowest bit clear; to the receiver T = Q ⊕ r·Δ, whose lowest bit is
//! therefore r, a bit that is random and that the sender does not know. *Learned*: nothing else.
//! *Choices*: the receiver sends d = x ⊕ r and keeps T, the sender goes on with Q' = Q ⊕ d·Δ; then
//! T = Q' ⊕ x·Δ. *Cost*: one bit per choice, and what the source takes.
//!
//! A source implements [`Sending`] and [`Receiving`]; [`Source`] names those that there are. Which one
//! is used must follow from public numbers, the same at both parties
//! ([`Session::use_transfers`]).
//!
//! *One Δ for many uses.* Labels of garbled circuits, transfers and trees may use one Δ if each use
//! hashes from a starting point of its own ([`Purpose`]), if no key and tweak are used twice, and
//! if a transfer is used once. [`Numbers`] counts what has been used in one direction: the counters
//! only grow, and both parties use them alike.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::crypto::garble::Delta;
//! use diptych_mpc::protocol::ot;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::transfers::{Receiving, Sending};
//!
//! let choices = [true, false, true];
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| {
//!         let delta = Delta::random(&mut session.rng);
//!         let mut source = ot::Sender::setup(session, delta)?;
//!         Ok::<_, diptych_mpc::Error>((source.corrected(session, 3)?, source.delta().expose()))
//!     },
//!     |session| ot::Receiver::setup(session)?.chosen_rows(session, &choices),
//! );
//! let ((zeros, delta), rows) = (outcome.p1?, outcome.p2?);
//! for ((zero, row), choice) in zeros.iter().zip(rows.iter()).zip(choices) {
//!     assert_eq!(zero ^ row, if choice { delta } else { 0 });
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use zeroize::Zeroizing;

use crate::Error;
use crate::crypto::garble::{Delta, starting_point};
use crate::crypto::soft_spoken::Columns;
use crate::net::{SessionId, Tag};
use crate::protocol::forecast::Forecast;
use crate::protocol::{Session, ot, silent, soft_spoken};
use crate::role::Role;

/// d of many transfers.
pub(super) const CORRECTIONS: Tag = Tag::new(*b"trbt");

/// Transfers that are chosen before the next are made: each such part takes a round, and 4 MB.
const CHOSEN_TOGETHER: usize = 1 << 18;

/// Where transfers come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Source {
    /// [`ot`]: 16 bytes per transfer.
    #[default]
    Iknp,
    /// [`soft_spoken`]: 4 bytes per transfer, and more work; with eight columns 2, and much more.
    SoftSpoken(Columns),
    /// [`silent`]: almost no bytes per transfer, and still more work. Assumes LPN.
    Silent(silent::Parameters),
}

/// From how many transfers on silent ones pay: SoftSpoken sends 2 MB for so many, silent ones a third
/// of it, nearly all for their set-up. What they save takes longer on a line of 100 Mbit/s than their
/// further work.
pub const SILENT_PAYS_FROM: usize = 1 << 19;

/// What the security of transfers may assume, beside what all of them need.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Assumptions {
    /// Learning parity with noise is assumed to be hard.
    Lpn,
    /// Nothing else.
    NoLpn,
}

impl Source {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Iknp,
        Self::SoftSpoken(Columns::Four),
        Self::SoftSpoken(Columns::Eight),
        Self::Silent(silent::Parameters::STANDARD),
    ];

    /// All of them, with parameters that are fast and hide nothing.
    #[cfg(test)]
    pub(crate) const SMALL: [Self; 3] =
        [Self::Iknp, Self::SoftSpoken(Columns::Four), Self::Silent(silent::Parameters::TINY)];

    /// The one that is suited to about `count` transfers, among those that the assumptions allow: the
    /// same at both parties, who know the number. SoftSpoken takes 4 bytes each and little work; silent
    /// transfers take more work and next to no bytes once they are set up, which is worth it from
    /// [`SILENT_PAYS_FROM`] on. Where they are not allowed, SoftSpoken halves its bytes instead.
    pub fn suited_to(assumptions: Assumptions, count: usize) -> Self {
        match assumptions {
            _ if count < SILENT_PAYS_FROM => Self::SoftSpoken(Columns::Four),
            Assumptions::Lpn => Self::Silent(silent::Parameters::STANDARD),
            Assumptions::NoLpn => Self::SoftSpoken(Columns::Eight),
        }
    }

    /// Its name in the literature.
    pub fn name(self) -> &'static str {
        match self {
            Self::Iknp => "IKNP",
            Self::SoftSpoken(Columns::Four) => "SoftSpoken",
            Self::SoftSpoken(Columns::Eight) => "SoftSpoken, k = 8,",
            Self::Silent(_) => "silent",
        }
    }
}

/// What hashes are used for. Each use has a starting point of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Purpose {
    /// To break the correlation of transfers; numbered by [`Numbers::take_transfers`].
    Transfers,
    /// Inner nodes of trees; numbered by [`Numbers::take_records`].
    Trees,
    /// What leaves of trees stretch to; numbered with the trees.
    Sums,
    /// Trees of the set-up of [`soft_spoken`]; numbered by group, once per set-up.
    SoftTrees,
    /// Trees of [`silent`]; numbered by block, in all iterations.
    SilentTrees,
    /// The matrix of [`silent`]; numbered by row, in all iterations.
    SilentCode,
    /// Triples of [`crate::protocol::bits`]; numbered by [`Numbers::take_transfers`].
    Triples,
    /// Conversions of [`crate::protocol::bits`]; numbered by [`Numbers::take_transfers`].
    Conversions,
    /// Digits that are compared in [`crate::protocol::bits`]; numbered by [`Numbers::take_transfers`].
    Comparisons,
    /// Trees of [`crate::protocol::vole`]; numbered by block, in all levels.
    VoleTrees,
    /// Their leaves, hashed once more; numbered with the trees.
    VoleLeaves,
    /// The matrix of [`crate::protocol::vole`]; numbered by row, in all levels.
    VoleCode,
}

#[cfg(test)]
impl Purpose {
    const ALL: [Self; 12] = [
        Self::Transfers,
        Self::Trees,
        Self::Sums,
        Self::SoftTrees,
        Self::SilentTrees,
        Self::SilentCode,
        Self::Triples,
        Self::Conversions,
        Self::Comparisons,
        Self::VoleTrees,
        Self::VoleLeaves,
        Self::VoleCode,
    ];
}

/// What has been used under one Δ: of one direction and one set-up, counted alike at both ends.
#[derive(Debug)]
#[cfg_attr(test, derive(Clone))]
pub struct Numbers {
    session: SessionId,
    sender: Role,
    setup: u64,
    transfers: u64,
    records: u64,
}

impl Numbers {
    /// Nothing used yet, after set-up number `setup` of the direction.
    pub(super) fn new(session: &Session, sender: Role, setup: u64) -> Self {
        Self { session: session.id, sender, setup, transfers: 0, records: 0 }
    }

    /// Which set-up of this direction it is, from 1.
    pub fn setup(&self) -> u64 {
        self.setup
    }

    /// The public starting point of the hashes for a purpose.
    pub fn start(&self, purpose: Purpose) -> u128 {
        let purpose = match purpose {
            Purpose::Transfers => "ot from",
            Purpose::Trees => "trees of",
            Purpose::Sums => "sums of",
            Purpose::SoftTrees => "soft trees of",
            Purpose::SilentTrees => "silent trees of",
            Purpose::SilentCode => "silent code of",
            Purpose::Triples => "triples of",
            Purpose::Conversions => "conversions of",
            Purpose::Comparisons => "comparisons of",
            Purpose::VoleTrees => "vole trees of",
            Purpose::VoleLeaves => "vole leaves of",
            Purpose::VoleCode => "vole code of",
        };
        let Self { session, sender, setup, .. } = self;
        starting_point(session.as_bytes(), &format!("{purpose} {sender} {setup}"))
    }

    /// Numbers for the hashes of `count` transfers; returns the first.
    pub fn take_transfers(&mut self, count: usize) -> u64 {
        let first = self.transfers;
        self.transfers += count as u64;
        first
    }

    /// Numbers for `count` records with a tree each; returns the first.
    pub fn take_records(&mut self, count: usize) -> u64 {
        let first = self.records;
        self.records += count as u64;
        first
    }
}

/// The sender's end of a source of correlated transfers.
pub trait Sending {
    /// The offset Δ between the two messages of every transfer.
    fn delta(&self) -> &Delta;

    /// What has been used.
    fn numbers(&mut self) -> &mut Numbers;

    /// Appends Q of `count` fresh transfers.
    ///
    /// # Errors
    /// If the connection fails or the peer's messages are not acceptable.
    fn extend(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error>;

    /// Q' of `count` fresh transfers, for which the receiver has chosen.
    ///
    /// # Errors
    /// As for [`Sending::extend`].
    fn corrected(
        &mut self,
        session: &mut Session,
        count: usize,
    ) -> Result<Zeroizing<Vec<u128>>, Error> {
        let mut rows = Zeroizing::new(Vec::with_capacity(count));
        self.extend(session, count, &mut rows)?;
        if count == 0 {
            return Ok(rows);
        }
        let bits = session.channel.receive_bytes(CORRECTIONS, count.div_ceil(8))?;
        let delta = self.delta().expose();
        for (number, row) in rows.iter_mut().enumerate() {
            let bit = bits[number / 8] >> (number % 8) & 1;
            *row ^= delta & u128::from(bit).wrapping_neg();
        }
        Ok(rows)
    }

    /// Zero labels of fresh transfers for which the receiver has chosen: passes Q' of each to
    /// `take`, some at a time. The lowest bit of Q' may be anything.
    ///
    /// # Errors
    /// As for [`Sending::extend`].
    fn corrected_chunks(
        &mut self,
        session: &mut Session,
        count: usize,
        take: &mut dyn FnMut(&[u128]),
    ) -> Result<(), Error> {
        for chunk in ot::chunks(count, CHOSEN_TOGETHER) {
            take(&self.corrected(session, chunk)?);
        }
        Ok(())
    }
}

/// The receiver's end of a source of correlated transfers.
pub trait Receiving {
    /// What has been used.
    fn numbers(&mut self) -> &mut Numbers;

    /// Appends T of `count` fresh transfers.
    ///
    /// # Errors
    /// If the connection fails or the peer's messages are not acceptable.
    fn extend(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error>;

    /// T of fresh transfers, one for each choice.
    ///
    /// # Errors
    /// As for [`Receiving::extend`].
    fn chosen_rows(
        &mut self,
        session: &mut Session,
        choices: &[bool],
    ) -> Result<Zeroizing<Vec<u128>>, Error> {
        let mut rows = Zeroizing::new(Vec::with_capacity(choices.len()));
        self.extend(session, choices.len(), &mut rows)?;
        if choices.is_empty() {
            return Ok(rows);
        }
        let mut bits = vec![0; choices.len().div_ceil(8)];
        for (number, (row, choice)) in rows.iter().zip(choices).enumerate() {
            bits[number / 8] |= (u8::from(*choice) ^ (*row as u8 & 1)) << (number % 8);
        }
        session.channel.send_bytes(CORRECTIONS, &bits)?;
        Ok(rows)
    }

    /// Labels of fresh transfers, one for each choice: passes Q' ⊕ choice·Δ of each to `take`, some
    /// at a time.
    ///
    /// # Errors
    /// As for [`Receiving::extend`].
    fn chosen_chunks(
        &mut self,
        session: &mut Session,
        choices: &[bool],
        take: &mut dyn FnMut(&[u128]),
    ) -> Result<(), Error> {
        for chunk in choices.chunks(CHOSEN_TOGETHER) {
            take(&self.chosen_rows(session, chunk)?);
        }
        Ok(())
    }
}

/// Sets up the sender's end of this source; the peer calls [`set_up_receiver`].
///
/// # Errors
/// If the connection fails or the peer's messages are not acceptable.
pub fn set_up_sender(
    session: &mut Session,
    source: Source,
    delta: Delta,
) -> Result<Box<dyn Sending + Send>, Error> {
    Ok(match source {
        Source::Iknp => Box::new(ot::Sender::setup(session, delta)?),
        Source::SoftSpoken(columns) => {
            Box::new(soft_spoken::Sender::setup(session, columns, delta)?)
        }
        Source::Silent(parameters) => Box::new(silent::Sender::setup(session, parameters, delta)?),
    })
}

/// Sets up the receiver's end of this source.
///
/// # Errors
/// As for [`set_up_sender`].
pub fn set_up_receiver(
    session: &mut Session,
    source: Source,
) -> Result<Box<dyn Receiving + Send>, Error> {
    Ok(match source {
        Source::Iknp => Box::new(ot::Receiver::setup(session)?),
        Source::SoftSpoken(columns) => Box::new(soft_spoken::Receiver::setup(session, columns)?),
        Source::Silent(parameters) => Box::new(silent::Receiver::setup(session, parameters)?),
    })
}

/// The messages of a set-up of the source that the conversation uses.
pub fn forecast_setup(f: &mut Forecast, sender: Role) {
    match f.transfers_from(sender) {
        Source::Iknp => ot::forecast_setup(f, sender),
        Source::SoftSpoken(_) => soft_spoken::forecast_setup(f, sender),
        Source::Silent(_) => silent::forecast_setup(f, sender),
    }
}

/// The messages of `count` transfers with random choices, after the set-up.
pub fn forecast_random(f: &mut Forecast, sender: Role, count: usize) {
    match f.transfers_from(sender) {
        Source::Iknp => ot::forecast_correlated(f, sender, count),
        Source::SoftSpoken(columns) => soft_spoken::forecast(f, sender, columns, count),
        Source::Silent(parameters) => {
            let mut schedule = f.schedule(sender).unwrap_or(silent::Schedule::new(parameters));
            silent::forecast(f, sender, &mut schedule, count);
            f.keep_schedule(sender, schedule);
        }
    }
}

/// The messages of `count` transfers with choices, after the set-up.
pub fn forecast(f: &mut Forecast, sender: Role, count: usize) {
    forecast_random(f, sender, count);
    if count > 0 {
        f.message(sender.peer(), CORRECTIONS, count.div_ceil(8));
    }
}

/// The messages of [`Sending::corrected_chunks`], after the set-up.
pub fn forecast_chunks(f: &mut Forecast, sender: Role, count: usize) {
    match f.transfers_from(sender) {
        Source::Iknp => ot::forecast_correlated(f, sender, count),
        Source::SoftSpoken(_) | Source::Silent(_) => {
            ot::chunks(count, CHOSEN_TOGETHER).for_each(|chunk| forecast(f, sender, chunk));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::pair::{
        Outcome, Setup, assert_forecast, assert_same_shape, assert_wrong_length, run_pair,
    };

    fn choices(seed: u64, count: usize) -> Vec<bool> {
        (0..count as u64).map(|i| (i ^ seed).wrapping_mul(0x9e37_79b9) >> 7 & 1 == 1).collect()
    }

    fn chosen(choices: &[bool]) -> Outcome<(Vec<u128>, u128), Vec<u128>> {
        run_pair(
            Setup::default().seed(1),
            |session| {
                let delta = Delta::random(&mut session.rng);
                let mut source = ot::Sender::setup(session, delta).unwrap();
                let rows = source.corrected(session, choices.len()).unwrap().to_vec();
                (rows, source.delta().expose())
            },
            |session| {
                let mut source = ot::Receiver::setup(session).unwrap();
                source.chosen_rows(session, choices).unwrap().to_vec()
            },
        )
    }

    #[test]
    fn corrected_rows_differ_by_delta_where_the_choice_is_one() {
        for count in [0, 1, 8, 129, ot::CHUNK + 3] {
            let choices = choices(3, count);
            let outcome = chosen(&choices);
            let (zeros, delta) = outcome.p1;
            assert_eq!((zeros.len(), outcome.p2.len()), (count, count));
            for ((zero, row), choice) in zeros.iter().zip(&outcome.p2).zip(&choices) {
                assert_eq!(zero ^ row, delta * u128::from(*choice));
            }
            assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
                ot::forecast_setup(f, Role::P1);
                forecast(f, Role::P1, count);
            });
        }
    }

    #[test]
    fn lowest_bits_are_clear_at_the_sender_and_random_bits_at_the_receiver() {
        let outcome = run_pair(
            Setup::default().seed(2),
            |session| {
                let mut rows = Vec::new();
                let mut source = ot::Sender::setup(session, Delta::new(0)).unwrap();
                source.extend(session, 1000, &mut rows).unwrap();
                (rows, source.delta().expose())
            },
            |session| {
                let mut rows = Vec::new();
                ot::Receiver::setup(session).unwrap().extend(session, 1000, &mut rows).unwrap();
                rows
            },
        );
        let (zeros, delta) = outcome.p1;
        assert!(zeros.iter().all(|row| row & 1 == 0));
        assert!(zeros.iter().zip(&outcome.p2).all(|(q, t)| q ^ t == delta * (t & 1)));
        let ones = outcome.p2.iter().filter(|t| *t & 1 == 1).count();
        assert!((400..600).contains(&ones), "{ones}");
    }

    #[test]
    fn the_transcript_has_the_same_shape_for_all_choices() {
        assert_same_shape(&[1, 2, 3], |seed| chosen(&choices(*seed, 300)));
    }

    #[test]
    fn corrections_of_another_length_are_a_typed_error() {
        let outcome = run_pair(
            Setup::default(),
            |session| {
                let mut source = ot::Sender::setup(session, Delta::new(0)).unwrap();
                source.corrected(session, 9).unwrap_err()
            },
            |session| {
                let mut source = ot::Receiver::setup(session).unwrap();
                source.extend(session, 9, &mut Vec::new()).unwrap();
                session.channel.send_bytes(CORRECTIONS, &[0; 3]).unwrap();
            },
        );
        assert_wrong_length(&outcome.p1, 2, 3);
    }

    #[test]
    fn the_source_follows_from_the_number_of_transfers_and_what_they_may_rest_on() {
        let source = |count| Source::suited_to(Assumptions::Lpn, count);
        let four = Source::SoftSpoken(Columns::Four);
        assert_eq!([source(0), source(SILENT_PAYS_FROM - 1)], [four; 2]);
        let silent = Source::Silent(silent::Parameters::STANDARD);
        assert_eq!([source(SILENT_PAYS_FROM), source(usize::MAX)], [silent; 2]);
        let without = |count| Source::suited_to(Assumptions::NoLpn, count);
        let eight = Source::SoftSpoken(Columns::Eight);
        assert_eq!([without(0), without(usize::MAX)], [four, eight]);
    }

    #[test]
    fn no_starting_point_serves_two_purposes_directions_or_set_ups() {
        let outcome = run_pair(
            Setup::default(),
            |session| {
                let mut starts = Vec::new();
                for sender in Role::BOTH {
                    for setup in [1, 2] {
                        let numbers = Numbers::new(session, sender, setup);
                        starts.extend(Purpose::ALL.map(|purpose| numbers.start(purpose)));
                    }
                }
                starts
            },
            |_| (),
        );
        let mut starts = outcome.p1;
        starts.sort_unstable();
        starts.dedup();
        assert_eq!(starts.len(), 4 * Purpose::ALL.len());
    }
}
