//! Correlated transfers with almost no bytes: a source behind [`crate::protocol::transfers`].
//!
//! *Inputs*, *output*, *learned*: those of [`crate::protocol::transfers`]; the receiver's choices are
//! random bits that come out. *Cost*: see below, about 0.08 bytes per transfer. *Assumption*: beside
//! those of the other sources, that learning parity with regular noise (primal LPN, a code with ten
//! entries per row) is hard for the [`Parameters`] in use. Semi-honest (Ferret: Yang, Weng, Lan, Zhang,
//! Wang, CCS 2020).
//!
//! *How.* From k transfers (v at the sender, w = v ⊕ u·Δ at the receiver) and t trees of 2^h leaves
//! ([`half_tree`]) come n = t·2^h transfers: row i is A_i·v ⊕ s_i at the sender and A_i·w ⊕ r_i at the
//! receiver, A the public matrix of [`local_code`], s_i and r_i the leaves. They differ by
//! (A_i·u ⊕ e_i)·Δ, where e has exactly one 1 in each block of 2^h, at a place that the receiver drew.
//! A tree takes h transfers. Of the n, the last k + t·h are kept for the next iteration and never
//! handed out. The first iteration takes its own from [`soft_spoken`].
//!
//! *Why it hides.* The sender sees the receiver's corrections alone, masked by random bits of
//! transfers that serve once. The receiver learns leaves that it is due ([`half_tree`]). To the sender
//! the choices A·u ⊕ e are pseudorandom because u is uniform, by LPN. What attacks cost is computed by
//! `vectors/generate/lpn_costs.py`: 2^138 or more. The secret is longer than usual, because rows with few
//! entries let an attacker solve for a part of the columns. Random ones are 0.73·k of them; dropping the
//! column of least degree again and again ("peeling") leaves 0.62·k, with which information set decoding
//! takes 2^142, and the guesses alone, read once each, 2^138. If the smallest subsystem that can exist
//! were known for nothing, it would be 2^128.7. The matrix is fixed by the session's id, hence by both
//! parties' nonces, and no row of it serves twice.
//!
//! *Costs.* The set in use is
//!
//! | n | k | t | block | takes | nets | sends, sender | sends, receiver |
//! | --- | --- | --- | --- | --- | --- | --- | --- |
//! | 4,194,304 | 262,144 | 2,048 | 2,048 | 284,672 | 3,909,632 | 328 KB | 2.8 KB |
//!
//! What attacks cost follows from k over the length of a block, so short blocks allow a short secret:
//! this one has 4.2 MB and stays near the processor while every output gathers ten blocks of it. With
//! four times longer blocks an output takes half the bytes and twice the time.
//! The receiver's corrections come first, then the
//! sender's messages, a few blocks at a time and only as many as are asked for: whoever stops early
//! has sent no more. Memory: k + t·h rows of 16 bytes (4.6 MB), twice that between two iterations, and a few
//! blocks. At each side and per transfer: one AES for the trees, 2.5 for the places of the
//! matrix, and ten blocks from the secret.
//!
//! *Time.* The receiver's places are secret: trees are corrected and blocks selected in the same
//! time whatever they are ([`crate::simd::lanes`]). The only addresses that depend on data are
//! those of the public matrix.
//!
//! # Example
//!
//! ```no_run
//! use diptych_mpc::crypto::garble::Delta;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::protocol::transfers::{Receiving, Sending};
//! use diptych_mpc::protocol::{ot, silent};
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| {
//!         let (delta, mut rows) = (Delta::random(&mut session.rng), Vec::new());
//!         let mut source = silent::Sender::setup(session, silent::Parameters::STANDARD, delta)?;
//!         source.extend(session, 1_000_000, &mut rows)?;
//!         Ok::<_, diptych_mpc::Error>((rows, source.delta().expose()))
//!     },
//!     |session| {
//!         let mut rows = Vec::new();
//!         silent::Receiver::setup(session, silent::Parameters::STANDARD)?
//!             .extend(session, 1_000_000, &mut rows)?;
//!         Ok::<_, diptych_mpc::Error>(rows)
//!     },
//! );
//! let ((zeros, delta), rows) = (outcome.p1?, outcome.p2?);
//! assert!(zeros.iter().zip(&rows).all(|(q, t)| q ^ t == delta * (t & 1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`half_tree`]: crate::crypto::half_tree
//! [`local_code`]: crate::crypto::local_code
//! [`soft_spoken`]: crate::protocol::soft_spoken

mod ends;
mod schedule;
#[cfg(test)]
mod tests;

pub use schedule::Schedule;

use crate::Error;
use crate::crypto::garble::Delta;
use crate::crypto::soft_spoken::Columns;
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::soft_spoken;
use crate::protocol::transfers::{Numbers, Receiving, Sending};
use crate::role::Role;

use ends::{ReceiverEnd, SenderEnd};
use schedule::{CHUNK_BLOCKS, Iterations, Step};

/// How the transfers for the first iteration are made: there are few of them, so that fewer bytes
/// are worth the work.
const BASE: Columns = Columns::Eight;

/// The receiver's corrections of the transfers of all trees of an iteration.
const CORRECTIONS: Tag = Tag::new(*b"slbt");
/// The sender's sums of the trees of some blocks.
const SUMS: Tag = Tag::new(*b"sltr");

/// The numbers of a source: the same in every iteration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    /// k, the length of the secret.
    secret: usize,
    /// t, the number of blocks: each has one 1 of noise.
    blocks: usize,
    /// h, at least 2: a block has 2^h places.
    levels: usize,
}

impl Parameters {
    /// The set whose attack costs are computed by `vectors/generate/lpn_costs.py`.
    pub const STANDARD: Self = Self { secret: 262_144, blocks: 2_048, levels: 11 };

    /// A set for tests: it hides nothing.
    #[cfg(test)]
    pub(crate) const TINY: Self = Self { secret: 80, blocks: 19, levels: 5 };

    /// n, what comes out.
    pub const fn outputs(self) -> usize {
        self.blocks << self.levels
    }

    /// k + t·h, what goes in.
    pub const fn inputs(self) -> usize {
        self.secret + self.blocks * self.levels
    }

    /// Transfers that an iteration hands out: the others are kept for the next.
    pub const fn handed_out(self) -> usize {
        self.outputs() - self.inputs()
    }

    const fn block(self) -> usize {
        1 << self.levels
    }

    const fn correction_bytes(self) -> usize {
        (self.blocks * self.levels).div_ceil(8)
    }

    const fn sum_bytes(self) -> usize {
        16 * (self.levels - 1)
    }

    /// How many blocks each of the sender's messages covers, from block `first` on.
    fn chunks(self, first: usize) -> impl Iterator<Item = usize> {
        let blocks = self.blocks;
        (first..blocks).step_by(CHUNK_BLOCKS).map(move |at| CHUNK_BLOCKS.min(blocks - at))
    }
}

/// The messages of a set-up. The first iteration comes with the first transfers.
pub fn forecast_setup(f: &mut Forecast, sender: Role) {
    soft_spoken::forecast_setup(f, sender);
}

/// The messages of `count` transfers, given what the direction has done so far.
pub fn forecast(f: &mut Forecast, sender: Role, schedule: &mut Schedule, count: usize) {
    let receiver = sender.peer();
    let mut due = count - schedule.take(count);
    let parameters = schedule.parameters();
    let sums = |f: &mut Forecast, blocks: usize| {
        f.message(sender, SUMS, blocks * parameters.sum_bytes());
        f.work(Work::Transfer, blocks * parameters.block());
    };
    while due > 0 {
        match schedule.step() {
            Step::Begin => {
                soft_spoken::forecast(f, sender, BASE, parameters.inputs());
                f.message(receiver, CORRECTIONS, parameters.correction_bytes());
            }
            Step::Blocks(blocks) => sums(f, blocks),
            Step::Renew { from } => {
                parameters.chunks(from).for_each(|blocks| sums(f, blocks));
                f.message(receiver, CORRECTIONS, parameters.correction_bytes());
            }
        }
        due -= schedule.take(due);
    }
}

/// The sending side.
pub struct Sender(Iterations<SenderEnd>);

impl Sender {
    /// Sets up the source that the first iteration takes from; the peer calls [`Receiver::setup`].
    ///
    /// # Errors
    /// If the connection fails or the peer's messages are not acceptable.
    pub fn setup(
        session: &mut Session,
        parameters: Parameters,
        delta: Delta,
    ) -> Result<Self, Error> {
        let mut base = soft_spoken::Sender::setup(session, BASE, delta)?;
        let starts = ends::Starts::of(base.numbers());
        Ok(Self(Iterations::new(parameters, SenderEnd::new(base, starts))))
    }
}

impl Sending for Sender {
    fn delta(&self) -> &Delta {
        self.0.end().base().delta()
    }

    fn numbers(&mut self) -> &mut Numbers {
        self.0.end_mut().base_mut().numbers()
    }

    fn extend(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error> {
        self.0.extend(session, count, rows)
    }
}

/// The receiving side.
pub struct Receiver(Iterations<ReceiverEnd>);

impl Receiver {
    /// Sets up the source that the first iteration takes from; the peer calls [`Sender::setup`].
    ///
    /// # Errors
    /// If the connection fails or the peer's message is not acceptable.
    pub fn setup(session: &mut Session, parameters: Parameters) -> Result<Self, Error> {
        let mut base = soft_spoken::Receiver::setup(session, BASE)?;
        let starts = ends::Starts::of(base.numbers());
        Ok(Self(Iterations::new(parameters, ReceiverEnd::new(base, starts))))
    }
}

impl Receiving for Receiver {
    fn numbers(&mut self) -> &mut Numbers {
        self.0.end_mut().base_mut().numbers()
    }

    fn extend(
        &mut self,
        session: &mut Session,
        count: usize,
        rows: &mut Vec<u128>,
    ) -> Result<(), Error> {
        self.0.extend(session, count, rows)
    }
}
