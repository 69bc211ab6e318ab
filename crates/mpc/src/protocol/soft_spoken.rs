//! Correlated transfers with four bytes each, or two: a source behind [`crate::protocol::transfers`].
//!
//! *Inputs*, *output*, *learned*: those of [`crate::protocol::transfers`]; the receiver's choices are
//! random bits that come out. *Cost*: the 128 base transfers of [`ot`] and 4 KiB from the receiver,
//! once per direction; then 31·16 bytes from the receiver per block of 128 transfers (3.9 each), and 4
//! AES blocks at each side; with [`Columns::Eight`] 1.9 bytes and 32 AES blocks. No assumption beyond those of [`ot`]. Semi-honest; the
//! mathematics and why it hides are on the page of [`crate::crypto::soft_spoken`].
//!
//! # Example
//!
//! ```
//! use diptych_mpc::crypto::garble::Delta;
//! use diptych_mpc::crypto::soft_spoken::Columns;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::transfers::{Receiving, Sending};
//! use diptych_mpc::protocol::{ot, soft_spoken};
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| {
//!         let delta = Delta::random(&mut session.rng);
//!         let mut source = soft_spoken::Sender::setup(session, Columns::Four, delta)?;
//!         Ok::<_, diptych_mpc::Error>((source.corrected(session, 2)?, source.delta().expose()))
//!     },
//!     |session| {
//!         let mut source = soft_spoken::Receiver::setup(session, Columns::Four)?;
//!         source.chosen_rows(session, &[true, false])
//!     },
//! );
//! let ((zeros, delta), rows) = (outcome.p1?, outcome.p2?);
//! assert_eq!([zeros[0] ^ rows[0], zeros[1] ^ rows[1]], [delta, 0]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use zeroize::Zeroizing;

use crate::Error;
use crate::crypto::garble::Delta;
use crate::crypto::ot::ROWS;
use crate::crypto::soft_spoken::{self, Columns, SETUP_BYTES};
use crate::math::wiped;
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::ot::{self, CHUNK};
use crate::protocol::transfers::{Numbers, Purpose, Receiving, Sending};
use crate::role::Role;

/// Masked sums of the trees, once.
const TREES: Tag = Tag::new(*b"sstr");
/// d of every group but the first.
const MASKED: Tag = Tag::new(*b"ssex");

/// The messages of a set-up.
pub fn forecast_setup(f: &mut Forecast, sender: Role) {
    ot::forecast_setup(f, sender);
    f.message(sender.peer(), TREES, SETUP_BYTES);
}

/// The messages of `count` transfers.
pub fn forecast(f: &mut Forecast, sender: Role, columns: Columns, count: usize) {
    for chunk in ot::chunks(count, CHUNK) {
        f.message(sender.peer(), MASKED, chunk.div_ceil(ROWS) * columns.block_bytes());
    }
    f.work(Work::Transfer, count);
}

/// The sending side, set up once per direction.
pub struct Sender {
    columns: Columns,
    extension: soft_spoken::Sender,
    numbers: Numbers,
    message: Vec<u8>,
}

impl Sender {
    /// Runs the base transfers and takes the peer's trees; the peer calls [`Receiver::setup`].
    ///
    /// # Errors
    /// If the connection fails or the peer's messages are not acceptable.
    pub fn setup(session: &mut Session, columns: Columns, delta: Delta) -> Result<Self, Error> {
        let (seeds, numbers) = ot::base_chosen(session, &delta)?;
        let message = session.channel.receive_bytes(TREES, SETUP_BYTES)?;
        let start = numbers.start(Purpose::SoftTrees);
        let extension = soft_spoken::Sender::new(columns, start, delta, &seeds, &message);
        Ok(Self { columns, extension, numbers, message: Vec::new() })
    }
}

impl Sending for Sender {
    fn delta(&self) -> &Delta {
        self.extension.delta()
    }

    fn numbers(&mut self) -> &mut Numbers {
        &mut self.numbers
    }

    fn extend(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error> {
        let end = rows.len() + count;
        wiped::make_room(rows, count.next_multiple_of(ROWS));
        for chunk in ot::chunks(count, CHUNK) {
            let blocks = chunk.div_ceil(ROWS);
            let due = self.columns.block_bytes() * blocks;
            session.channel.receive_bytes_into(MASKED, due, &mut self.message)?;
            self.extension.extend(blocks, &self.message, rows);
        }
        rows.truncate(end);
        Ok(())
    }
}

/// The receiving side, set up once per direction.
pub struct Receiver {
    extension: soft_spoken::Receiver,
    numbers: Numbers,
    message: Vec<u8>,
}

impl Receiver {
    /// Runs the base transfers and sends the trees; the peer calls [`Sender::setup`].
    ///
    /// # Errors
    /// If the connection fails or the peer's message is not acceptable.
    pub fn setup(session: &mut Session, columns: Columns) -> Result<Self, Error> {
        let (pairs, numbers) = ot::base_pairs(session)?;
        let mut roots = Zeroizing::new(vec![0; columns.groups()]);
        roots.fill_with(|| u128::from_le_bytes(session.rng.array()));
        let start = numbers.start(Purpose::SoftTrees);
        let (extension, message) = soft_spoken::Receiver::new(columns, start, &pairs, &roots);
        session.channel.send_bytes(TREES, &message)?;
        Ok(Self { extension, numbers, message: Vec::new() })
    }
}

impl Receiving for Receiver {
    fn numbers(&mut self) -> &mut Numbers {
        &mut self.numbers
    }

    fn extend(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error> {
        let end = rows.len() + count;
        wiped::make_room(rows, count.next_multiple_of(ROWS));
        for chunk in ot::chunks(count, CHUNK) {
            self.message.clear();
            self.extension.extend(chunk.div_ceil(ROWS), &mut self.message, rows);
            session.channel.send_bytes(MASKED, &self.message)?;
        }
        rows.truncate(end);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::pair::{Outcome, Setup, assert_forecast, assert_wrong_length, run_pair};

    fn extended(columns: Columns, counts: &[usize]) -> Outcome<(Vec<u128>, u128), Vec<u128>> {
        run_pair(
            Setup::default().seed(4),
            |session| {
                let delta = Delta::random(&mut session.rng);
                let mut source = Sender::setup(session, columns, delta).unwrap();
                let mut rows = Vec::new();
                for count in counts {
                    source.extend(session, *count, &mut rows).unwrap();
                }
                (rows, source.delta().expose())
            },
            |session| {
                let mut source = Receiver::setup(session, columns).unwrap();
                let mut rows = Vec::new();
                for count in counts {
                    source.extend(session, *count, &mut rows).unwrap();
                }
                rows
            },
        )
    }

    #[test]
    fn rows_are_the_ideal_correlation_and_messages_those_forecast() {
        for (columns, last) in [(Columns::Four, CHUNK + 5), (Columns::Eight, 300)] {
            let counts = [0, 1, 127, 129, last];
            let outcome = extended(columns, &counts);
            let ((zeros, delta), rows) = (outcome.p1, outcome.p2);
            assert_eq!((zeros.len(), rows.len()), (counts.iter().sum(), counts.iter().sum()));
            assert!(zeros.iter().all(|q| q & 1 == 0));
            assert!(zeros.iter().zip(&rows).all(|(q, t)| q ^ t == delta * (t & 1)));
            let ones = rows.iter().filter(|t| *t & 1 == 1).count();
            assert!((rows.len() * 2 / 5..rows.len() * 3 / 5).contains(&ones), "{ones}");
            assert_forecast(&outcome.transcripts, &outcome.costs, |f| {
                forecast_setup(f, Role::P1);
                counts.iter().for_each(|count| forecast(f, Role::P1, columns, *count));
            });
        }
    }

    #[test]
    fn messages_of_the_wrong_length_are_typed_errors() {
        let outcome = run_pair(
            Setup::default(),
            |session| Sender::setup(session, Columns::Four, Delta::new(0)).err().unwrap(),
            |session| {
                ot::base_pairs(session).unwrap();
                session.channel.send_bytes(TREES, &[0; 100]).unwrap();
            },
        );
        assert_wrong_length(&outcome.p1, SETUP_BYTES, 100);
        let outcome = run_pair(
            Setup::default(),
            |session| {
                let mut source = Sender::setup(session, Columns::Four, Delta::new(0)).unwrap();
                source.extend(session, 129, &mut Vec::new()).unwrap_err()
            },
            |session| {
                Receiver::setup(session, Columns::Four).unwrap();
                session.channel.send_bytes(MASKED, &[0; Columns::Four.block_bytes()]).unwrap();
            },
        );
        assert_wrong_length(&outcome.p1, 992, 496);
    }

    #[test]
    fn a_peer_that_stops_is_a_typed_error() {
        let outcome = run_pair(
            Setup::default(),
            |session| {
                let mut source = Sender::setup(session, Columns::Four, Delta::new(0)).unwrap();
                source.extend(session, 1, &mut Vec::new()).unwrap_err()
            },
            |session| drop(Receiver::setup(session, Columns::Four).unwrap()),
        );
        assert!(matches!(outcome.p1.blame(), crate::net::Blame::Connection(_)), "{:?}", outcome.p1);
    }
}
