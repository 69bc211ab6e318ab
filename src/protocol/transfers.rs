//! Correlated transfers, wherever they come from.
//!
//! *Inputs*: the sender's Δ, which is odd and the same for a whole direction. *Output*: to the sender
//! Q of every transfer, its lowest bit clear; to the receiver T = Q ⊕ r·Δ, whose lowest bit is
//! therefore r, a bit that is random and that the sender does not know. *Learned*: nothing else.
//! *Choices*: the receiver sends d = x ⊕ r and keeps T, the sender goes on with Q' = Q ⊕ d·Δ; then
//! T = Q' ⊕ x·Δ. *Cost*: one bit per choice, and what the source takes.
//!
//! A source implements [`Sending`] and [`Receiving`]; today there is one, [`ot`] (16 bytes per
//! transfer). Which one is used must follow from public numbers, the same at both parties.
//!
//! *One Δ for many uses.* Labels of garbled circuits, transfers and trees may hang on one Δ if each
//! use hashes from a starting point of its own ([`Purpose`]), if no key and tweak are used twice, and
//! if a transfer serves once. [`Numbers`] counts what has been used in one direction: the counters
//! only grow, and both parties take from them alike.
//!
//! # Example
//!
//! ```
//! use diptych::crypto::garble::Delta;
//! use diptych::protocol::ot;
//! use diptych::protocol::pair::{Setup, run_pair};
//! use diptych::protocol::transfers::{Receiving, Sending};
//!
//! let choices = [true, false, true];
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| {
//!         let delta = Delta::random(&mut session.rng);
//!         let mut source = ot::Sender::setup(session, delta)?;
//!         Ok::<_, ot::Error>((source.corrected(session, 3)?, source.delta().expose()))
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

use crate::crypto::garble::{Delta, starting_point};
use crate::net::{SessionId, Tag};
use crate::protocol::forecast::Forecast;
use crate::protocol::{Session, ot};
use crate::role::Role;

/// d of many transfers.
const CORRECTIONS: Tag = Tag::new(*b"trbt");

/// What hashes are used for. Each use has a starting point of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// To break the correlation of transfers; numbered by [`Numbers::take_transfers`].
    Transfers,
    /// Inner nodes of trees; numbered by [`Numbers::take_records`].
    Trees,
    /// What leaves of trees stretch to; numbered with the trees.
    Sums,
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
    ) -> Result<(), ot::Error>;

    /// Q' of `count` fresh transfers, for which the receiver has chosen.
    ///
    /// # Errors
    /// As for [`Sending::extend`].
    fn corrected(
        &mut self,
        session: &mut Session,
        count: usize,
    ) -> Result<Zeroizing<Vec<u128>>, ot::Error> {
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
    ) -> Result<(), ot::Error>;

    /// T of fresh transfers, one for each choice.
    ///
    /// # Errors
    /// As for [`Receiving::extend`].
    fn chosen_rows(
        &mut self,
        session: &mut Session,
        choices: &[bool],
    ) -> Result<Zeroizing<Vec<u128>>, ot::Error> {
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
}

/// The messages of `count` transfers with choices, after the set-up.
pub fn forecast(f: &mut Forecast, sender: Role, count: usize) {
    ot::forecast_correlated(f, sender, count);
    if count > 0 {
        f.message(sender.peer(), CORRECTIONS, count.div_ceil(8));
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
    fn no_starting_point_serves_two_purposes_directions_or_set_ups() {
        let outcome = run_pair(
            Setup::default(),
            |session| {
                let mut starts = Vec::new();
                for sender in Role::BOTH {
                    for setup in [1, 2] {
                        let numbers = Numbers::new(session, sender, setup);
                        let purposes = [Purpose::Transfers, Purpose::Trees, Purpose::Sums];
                        starts.extend(purposes.map(|purpose| numbers.start(purpose)));
                    }
                }
                starts
            },
            |_| (),
        );
        let mut starts = outcome.p1;
        starts.sort_unstable();
        starts.dedup();
        assert_eq!(starts.len(), 12);
    }
}
