//! Sums by group: one party knows the group of every record, the other a vector of words.
//!
//! *Inputs.* Per record i the receiver has a group g_i < m, the sender a vector w_i of c words over
//! Z_{2^k}. *Output.* Shares over Z_{2^k} of Σ w_i over the records of each group: entry
//! `group · c + word`. *Learned.* Nothing but public numbers: records, m, c and k.
//! **[`count_table`]** is its use for the joint count table: one party's cell is the group, the
//! other's the place of the 1 in its vector.
//!
//! *How.* Per record the sender grows a tree of seeds with m leaves ([`half_tree`]); by one transfer per
//! level, with the complement of the path's bits as choices, the receiver gets all leaves but that of
//! its group. With P_ℓ what leaf ℓ stretches to, the sender sends C = w + Σ P_ℓ and takes −P_ℓ as
//! its share of row ℓ; the receiver takes P_ℓ for every other row and C − Σ_{ℓ≠g} P_ℓ = w + P_g for
//! row g. Shares add up over the records, and are exact.
//!
//! *Why it hides.* The receiver's choices are masked by the random bits of transfers. Of leaf g the
//! receiver knows what is left when the unknown Δ is taken out of it ([`half_tree`]), no more; no leaf is
//! ever used but in hashes. So P_g, a hash of something known ⊕ Δ under a key of its own, is pseudorandom
//! to it, hence C and the sender's share, while all that it has follows from its own leaves and C: a
//! simulator draws leaves and C. Whoever tests values of Δ against the b blocks that leaf g stretches to,
//! of which each evaluation of AES meets one record's alone, has 126 − log2 b bits to go through: 123 for
//! 32 words of 32 bits, 110 for the 2^16 blocks of the widest message. Where there is one group, its leaf
//! is a random number of the sender's. Keys are bound to session, direction, purpose and record number,
//! which never repeats ([`crate::protocol::transfers::Numbers`]). The receiver works on all rows alike
//! and in the same time whatever its groups are, as the sender does for its words.
//!
//! *Cost* per record, h = ⌈log2 m⌉: h transfers with choices; 16·(h − 1) + ⌈c·k/8⌉ bytes from the sender;
//! about m + m·⌈c/4⌉ hashes at each side (⌈c/2⌉ if k > 32). One round per [`WINDOW`] transfers.
//! Records go in chunks and are shared out to all cores; memory is that of some tables.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::crypto::garble::Delta;
//! use diptych_mpc::protocol::Session;
//! use diptych_mpc::protocol::ot;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//! use diptych_mpc::Error;
//! use diptych_mpc::protocol::sum_by_group::{Addends, SumShape, receive, send};
//! use diptych_mpc::protocol::yao::Reveal;
//!
//! // P2 knows in which of three towns four people live, P1 what each of them earns and spends.
//! let shape = SumShape { records: 4, groups: 3, words: 2, bits: 32 };
//! let (towns, money) = ([2, 0, 2, 1], [50, 40, 30, 35, 20, 5, 10, 10]);
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| {
//!         let delta = Delta::random(&mut session.rng);
//!         let mut source = ot::Sender::setup(session, delta)?;
//!         let sums = send(session, &mut source, &shape, Addends::Words(&money), &|_| ())?;
//!         Ok::<_, Error>(sums.open(session, Reveal::P1)?)
//!     },
//!     |session| {
//!         let mut source = ot::Receiver::setup(session)?;
//!         let sums = receive(session, &mut source, &shape, &towns, &|_| ())?;
//!         Ok::<_, Error>(sums.open(session, Reveal::P1)?)
//!     },
//! );
//! assert_eq!(outcome.p1?, Some(vec![30, 35, 10, 10, 70, 45]));
//! assert_eq!(outcome.p2?, None);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! [`half_tree`]: crate::crypto::half_tree

mod local;
mod table;
#[cfg(test)]
mod tests;

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

pub use local::exercise;
pub(crate) use local::{ReceiverPart, SenderPart, Starts, pack, unpack};
pub use table::{
    CountShape, count_cells, count_table, forecast_cells, forecast_table, forecast_units,
    ideal_table, sum_several, sum_shared, sum_units,
};

use crate::Error;
use crate::crypto::tree::{TreeShape, blocks};
use crate::net::Tag;
use crate::protocol::Session;
use crate::protocol::forecast::{Forecast, Work};
use crate::protocol::shares::{WordShares, word_bits};
use crate::protocol::transfers::{self, Receiving, Sending};
use crate::role::Role;
use crate::simd::lanes::Lane;

pub(crate) fn input_length(found: usize, expected: usize) -> Error {
    Error::input(format!("{found} inputs where the shape says {expected}"))
}

pub(crate) fn input_out_of_range(place: usize) -> Error {
    Error::input(format!("input {place} is outside the bounds of the shape"))
}

/// Transfers before the sender answers: some megabytes, far below what may be in flight.
pub const WINDOW: usize = 1 << 18;

/// Bytes of a transfer, as releases have them here: [`crate::protocol::soft_spoken`].
const TRANSFER_BYTES: u64 = 4;

/// Bytes of answers per message.
const CHUNK_BYTES: usize = 256 << 10;
/// Hashes behind one message: even a slow peer computes them well within its time limit.
const CHUNK_HASHES: usize = 1 << 26;
/// Blocks of all threads' tables together, 512 MiB, unless one table is larger.
const MOST_BLOCKS: usize = 1 << 25;
/// The largest number of sums.
pub const MOST_SUMS: usize = 1 << 24;
/// The largest number of records.
pub const MOST_RECORDS: usize = u32::MAX as usize;
/// The longest answer to one record.
const MOST_RECORD_BYTES: usize = 1 << 20;

/// Sums of the levels from 2 on and C, record by record.
const ANSWERS: Tag = Tag::new(*b"sums");

/// Called with the number of records done.
pub type Progress<'a> = &'a (dyn Fn(usize) + Sync);

/// The public numbers of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SumShape {
    /// Records of both.
    pub records: usize,
    /// m, the receiver's groups.
    pub groups: usize,
    /// c, the length of the sender's vectors.
    pub words: usize,
    /// k: sums are over Z_{2^k}.
    pub bits: u32,
}

impl SumShape {
    /// Hashes of each side, which determine the time of a run.
    pub fn hashes(&self) -> u64 {
        (self.hashes_per_record() as u64).saturating_mul(self.records as u64)
    }

    /// Bytes on the wire, without set-up and headers.
    pub fn bytes(&self) -> u64 {
        let transfers = self.transfers() as u64;
        let answers = (self.records as u64).saturating_mul(self.record_bytes() as u64);
        let rows = transfers.saturating_mul(TRANSFER_BYTES);
        rows.saturating_add(transfers.div_ceil(8)).saturating_add(answers)
    }

    /// # Errors
    /// For numbers that no run can have.
    pub fn check(&self) -> Result<(), Error> {
        if self.groups == 0 || self.words == 0 {
            return Err(impossible("there is at least one group and one word"));
        }
        if self.groups.checked_mul(self.words).is_none_or(|sums| sums > MOST_SUMS) {
            return Err(impossible("there are more than 2^24 sums"));
        }
        if !(1..=64).contains(&self.bits) {
            return Err(Error::input(word_bits(self.bits)));
        }
        if self.record_bytes() > MOST_RECORD_BYTES {
            return Err(impossible("a record's words take more than 1 MiB"));
        }
        if self.records > MOST_RECORDS {
            return Err(impossible("there are more than 2^32 − 1 records"));
        }
        Ok(())
    }

    fn tree(&self) -> TreeShape {
        TreeShape::new(u32::try_from(self.groups).unwrap_or(u32::MAX))
    }

    fn lane(&self) -> Lane {
        Lane::for_bits(self.bits)
    }

    fn hashes_per_record(&self) -> usize {
        let stretched = self.groups.saturating_mul(blocks(self.words, self.lane()));
        self.groups.saturating_add(stretched)
    }

    /// Bytes of the tree sums of a record.
    fn tree_bytes(&self) -> usize {
        16 * self.tree().levels().saturating_sub(1)
    }

    /// Bytes of C.
    fn sum_bytes(&self) -> usize {
        self.words.saturating_mul(self.bits as usize).div_ceil(8)
    }

    /// Transfers of a whole run.
    pub fn transfers(&self) -> usize {
        self.records.saturating_mul(self.tree().levels())
    }

    /// Bytes that answer one record.
    pub(crate) fn record_bytes(&self) -> usize {
        self.tree_bytes() + self.sum_bytes()
    }

    /// Records that are asked for before the first is answered.
    fn windows(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        parts(0..self.records, WINDOW / self.tree().levels().max(1))
    }

    /// Records that are answered together.
    fn chunks(&self, window: Range<usize>) -> impl Iterator<Item = Range<usize>> + use<> {
        let by_bytes = CHUNK_BYTES / self.record_bytes();
        let by_hashes = CHUNK_HASHES / self.hashes_per_record();
        parts(window, by_bytes.min(by_hashes))
    }
}

fn parts(whole: Range<usize>, length: usize) -> impl Iterator<Item = Range<usize>> {
    let (end, length) = (whole.end, length.max(1));
    whole.step_by(length).map(move |first| first..end.min(first + length))
}

/// What the sender adds up.
#[derive(Clone, Copy, Debug)]
pub enum Addends<'a> {
    /// One number per record: its vector has 1 in that place and 0 in all others.
    Units(&'a [u32]),
    /// So many numbers per record: its vector has 1 in all of these places, which differ.
    Several(&'a [u32], usize),
    /// The vectors one after the other.
    Words(&'a [u64]),
}

impl<'a> Addends<'a> {
    /// # Errors
    /// Unless it is as long as the shape says.
    fn check(self, shape: &SumShape) -> Result<(), Error> {
        match self {
            Self::Units(places) => check_inputs(places, shape.records, shape.words),
            Self::Several(places, each) => {
                check_inputs(places, shape.records.saturating_mul(each), shape.words)
            }
            Self::Words(words) => {
                let expected = shape.records * shape.words;
                check_length(words.len(), expected)
            }
        }
    }

    fn part(self, records: Range<usize>, words: usize) -> Self {
        match self {
            Self::Units(places) => Self::Units(&places[records]),
            Self::Several(places, each) => {
                Self::Several(&places[records.start * each..records.end * each], each)
            }
            Self::Words(all) => Self::Words(&all[records.start * words..records.end * words]),
        }
    }
}

/// What is computed: the sums themselves.
///
/// # Panics
/// If the inputs do not match the shape.
pub fn ideal(shape: &SumShape, groups: &[u32], addends: Addends<'_>) -> Vec<u64> {
    let mut sums = vec![0u64; shape.groups * shape.words];
    for (record, group) in groups.iter().enumerate() {
        let row = &mut sums[*group as usize * shape.words..][..shape.words];
        match addends {
            Addends::Units(places) => {
                let sum = &mut row[places[record] as usize];
                *sum = sum.wrapping_add(1);
            }
            Addends::Several(places, each) => {
                for place in &places[record * each..][..each] {
                    row[*place as usize] = row[*place as usize].wrapping_add(1);
                }
            }
            Addends::Words(all) => {
                let words = &all[record * shape.words..][..shape.words];
                row.iter_mut().zip(words).for_each(|(sum, word)| *sum = sum.wrapping_add(*word));
            }
        }
    }
    let mask = u64::MAX >> (64 - shape.bits.clamp(1, 64));
    sums.iter_mut().for_each(|sum| *sum &= mask);
    sums
}

/// The messages of [`send`] and [`receive`], after the set-up.
///
/// # Errors
/// As they have for an impossible shape.
pub fn forecast(f: &mut Forecast, sender: Role, shape: &SumShape) -> Result<(), Error> {
    shape.check()?;
    for window in shape.windows() {
        transfers::forecast(f, sender, window.len() * shape.tree().levels());
        for chunk in shape.chunks(window) {
            f.message(sender, ANSWERS, chunk.len() * shape.record_bytes());
        }
    }
    f.work(Work::Hash, usize::try_from(shape.hashes()).unwrap_or(usize::MAX));
    Ok(())
}

/// The sender's side.
///
/// # Errors
/// See [`Error`].
pub fn send<S: Sending + ?Sized>(
    session: &mut Session,
    source: &mut S,
    shape: &SumShape,
    addends: Addends<'_>,
    progress: Progress<'_>,
) -> Result<WordShares, Error> {
    shape.check()?;
    addends.check(shape)?;
    let levels = shape.tree().levels();
    let first = source.numbers().take_records(shape.records);
    let starts = Starts::of(source.numbers());
    let mut parts = Parts::new(shape, || SenderPart::new(*shape, starts));
    let mut message = Vec::new();
    for window in shape.windows() {
        let rows = match levels {
            0 => random_leaves(session, window.len()),
            _ => source.corrected(session, window.len() * levels)?,
        };
        let each = levels.max(1);
        for chunk in shape.chunks(window.clone()) {
            let rows = &rows[(chunk.start - window.start) * each..][..chunk.len() * each];
            message.resize(chunk.len() * shape.record_bytes(), 0);
            let delta = source.delta();
            let record_bytes = shape.record_bytes();
            parts.share_out(&mut message, record_bytes, |part, records, message| {
                let all = chunk.start + records.start..chunk.start + records.end;
                let addends = addends.part(all.clone(), shape.words);
                let rows = &rows[records.start * each..records.end * each];
                part.answer(first + all.start as u64, rows, delta, addends, message);
            });
            session.channel.send_bytes(ANSWERS, &message)?;
            progress(chunk.len());
        }
    }
    let words = parts.sum(|first, other| first.add(other), SenderPart::into_share);
    WordShares::new(shape.bits, words)
}

/// The only leaves of records that are all in one group.
fn random_leaves(session: &mut Session, count: usize) -> Zeroizing<Vec<u128>> {
    let mut leaves = Zeroizing::new(Vec::with_capacity(count));
    leaves.extend((0..count).map(|_| u128::from_le_bytes(session.rng.array())));
    leaves
}

/// The receiver's side: `groups` has one for every record.
///
/// # Errors
/// As for [`send`].
pub fn receive<R: Receiving + ?Sized>(
    session: &mut Session,
    source: &mut R,
    shape: &SumShape,
    groups: &[u32],
    progress: Progress<'_>,
) -> Result<WordShares, Error> {
    receive_adding(session, source, shape, groups, &[], progress)
}

/// The same where the receiver has words of its own for every record, or none at all: they are
/// added to the sender's, in a time that does not reveal the group.
fn receive_adding<R: Receiving + ?Sized>(
    session: &mut Session,
    source: &mut R,
    shape: &SumShape,
    groups: &[u32],
    own: &[u64],
    progress: Progress<'_>,
) -> Result<WordShares, Error> {
    shape.check()?;
    check_inputs(groups, shape.records, shape.groups)?;
    let levels = shape.tree().levels();
    let first = source.numbers().take_records(shape.records);
    let starts = Starts::of(source.numbers());
    let mut parts = Parts::new(shape, || ReceiverPart::new(*shape, starts));
    let mut message = Vec::new();
    for window in shape.windows() {
        let paths = groups[window.clone()].iter().flat_map(|group| shape.tree().path(*group));
        // Allocated at its full length: reallocation would leave a copy behind.
        let mut choices = Zeroizing::new(Vec::with_capacity(window.len() * levels));
        choices.extend(paths.map(|right| !right));
        let rows = source.chosen_rows(session, &choices)?;
        for chunk in shape.chunks(window.clone()) {
            let rows = &rows[(chunk.start - window.start) * levels..][..chunk.len() * levels];
            let due = chunk.len() * shape.record_bytes();
            session.channel.receive_bytes_into(ANSWERS, due, &mut message)?;
            parts.share_out(&mut message, shape.record_bytes(), |part, records, message| {
                let all = chunk.start + records.start..chunk.start + records.end;
                let rows = &rows[records.start * levels..records.end * levels];
                let own = own.get(all.start * shape.words..all.end * shape.words);
                let own = own.unwrap_or_default();
                part.take(first + all.start as u64, &groups[all], own, rows, message);
            });
            progress(chunk.len());
        }
    }
    let words = parts.sum(|first, other| first.add(other), ReceiverPart::into_share);
    WordShares::new(shape.bits, words)
}

/// One worker with its own table per thread; tables are added at the end.
struct Parts<P>(Vec<P>);

impl<P: Send> Parts<P> {
    fn new(shape: &SumShape, part: impl Fn() -> P) -> Self {
        let table = shape.groups * blocks(shape.words, shape.lane());
        let affordable = (MOST_BLOCKS / table).max(1);
        let threads = rayon::current_num_threads().min(affordable).min(shape.records.max(1));
        Self(std::iter::repeat_with(part).take(threads).collect())
    }

    /// Gives each worker some of a message's records, numbered from 0.
    fn share_out(
        &mut self,
        message: &mut [u8],
        record_bytes: usize,
        work: impl Fn(&mut P, Range<usize>, &mut [u8]) + Sync,
    ) {
        let records = message.len() / record_bytes;
        let each = records.div_ceil(self.0.len()).max(1);
        let shared = self.0.par_iter_mut().zip(message.par_chunks_mut(each * record_bytes));
        shared.enumerate().for_each(|(number, (part, message))| {
            let first = number * each;
            work(part, first..records.min(first + each), message);
        });
    }

    fn sum(self, add: impl Fn(&mut P, &P), share: impl Fn(P) -> Vec<u64>) -> Vec<u64> {
        let mut parts = self.0.into_iter();
        let Some(mut first) = parts.next() else { return Vec::new() };
        parts.for_each(|other| add(&mut first, &other));
        share(first)
    }
}

fn check_length(found: usize, expected: usize) -> Result<(), Error> {
    if found == expected { Ok(()) } else { Err(input_length(found, expected)) }
}

fn check_inputs(inputs: &[u32], records: usize, bound: usize) -> Result<(), Error> {
    check_length(inputs.len(), records)?;
    match inputs.iter().position(|input| *input as usize >= bound) {
        Some(place) => Err(input_out_of_range(place)),
        None => Ok(()),
    }
}

fn impossible(why: &str) -> Error {
    Error::input(format!("these sums by group are impossible: {why}"))
}
