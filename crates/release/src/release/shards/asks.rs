//! All requests of a lead to its shards, and their answers.
//!
//! Both stay inside one organisation. A request is a head in the codec and, behind it, records or
//! numbers as they are; both sides refuse whatever does not read as what is due.

use serde::{Deserialize, Serialize};

use super::records::Bytes;
use crate::net::{self, codec};
use crate::protocol::Session;
use crate::protocol::shards::Answer;
use crate::protocol::shares::WordShares;
use crate::protocol::sum_by_group::{CountShape, Progress, SumShape, count_cells, sum_units};
use crate::release::diffgen::hidden::joined::Announced;
use crate::release::diffgen::shared_scores::Pending;
use crate::release::diffgen::two_party::{Error, STRUCTURE};
use crate::role::Role;
use crate::table::{Candidate, Specialization};

/// Phases in which shards sum up.
pub const HISTOGRAMS: &str = "histograms";
pub const COUNTS: &str = "count table";
const PHASES: [&str; 3] = [HISTOGRAMS, STRUCTURE, COUNTS];

/// What a lead asks of a shard.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Ask {
    /// To set up transfers, before anything depends on data. It answers how many records it has.
    SetUp,
    /// To find its common people, in lists as long as is due of this party and of the peer. Its records follow, unless it has them.
    /// It answers their columns, in the common order and without identifiers.
    Match {
        /// Records that each party's shard seems to have.
        due: [usize; 2],
    },
    /// For class and identifier of its common people, where the agreement lets both count for how many
    /// the class differs.
    Labelled,
    /// To sum over its common people. One number per record and sum follows. It answers the shares.
    Sums {
        /// The place of the phase among all of them.
        phase: u8,
        /// What is summed.
        sums: Vec<Summed>,
    },
    /// To join with the peer's shard where nobody learns who is common, and to share histograms. Its
    /// records follow, unless it has them. It answers its share of how many are common, then
    /// those of the histograms.
    Join {
        /// Records that each party's shard seems to have.
        announced: Announced,
    },
    /// To count after [`Ask::Join`], by the leaves that these make. It answers the shares.
    Count {
        /// All specializations, in order.
        made: Vec<Specialization>,
    },
    /// Horizontally, to count its records. It answers the class counts.
    Tally(Tally),
    /// Horizontally, to move the records of a value into its children. It answers nothing.
    Specialize(Specialization),
}

/// Which class counts a horizontal release wants: see [`OwnRecords`](crate::release::diffgen::own_records::OwnRecords).
#[derive(Debug, PartialEq, Serialize, Deserialize)]
pub enum Tally {
    /// Of all records.
    All,
    /// Of the children of these, each in one leaf or in all.
    Children(Vec<Pending>),
    /// At every point of these intervals.
    Points(Vec<Candidate>),
    /// Of every leaf.
    Leaves,
}

/// One sum over records, each of which counts in one place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub enum Sum {
    /// How many records are in every pair of the two parties' cells.
    Cells(CountShape),
    /// How many records of every group have each place of the sender.
    Units(Role, SumShape),
}

/// A sum, and this party's number of each record.
pub type Placed = (Sum, Vec<u32>);

/// A sum and how the numbers of its records are written.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Summed {
    sum: Sum,
    records: usize,
    /// Bytes of each number: 1, 2 or 4.
    width: u8,
}

impl Sum {
    /// Records of the sum.
    fn records(&self) -> usize {
        match self {
            Self::Cells(shape) => shape.records,
            Self::Units(_, shape) => shape.records,
        }
    }

    /// The shape of its shares.
    pub fn due(&self) -> Due {
        let (bits, [groups, words]) = match self {
            Self::Cells(shape) => (shape.bits, shape.cells),
            Self::Units(_, shape) => (shape.bits, [shape.groups, shape.words]),
        };
        Due { bits, words: groups.saturating_mul(words) }
    }

    /// Sums with the peer. `places` has this party's number of each record; a record beyond them
    /// stands for nobody, and counts in the first place.
    ///
    /// # Errors
    /// Those of [`sum_by_group`](crate::protocol::sum_by_group).
    pub fn run(
        &self,
        session: &mut Session,
        mut places: Vec<u32>,
        progress: Progress<'_>,
    ) -> Result<WordShares, Error> {
        places.resize(self.records().max(places.len()), 0);
        Ok(match self {
            Self::Cells(shape) => count_cells(session, shape, &places, progress)?,
            Self::Units(sender, shape) => sum_units(session, *sender, shape, &places, progress)?,
        })
    }
}

/// What is wrong with something that a shard was asked, or answered.
pub fn malformed(problem: &'static str) -> Error {
    let words = "a lead and its shard do not understand each other: are both of the same version?";
    net::Error::internal(format!("{words} ({problem})")).into()
}

/// A request with what follows its head.
pub fn request(ask: &Ask, follows: &[u8]) -> Result<Vec<u8>, Error> {
    let head = codec::encode(ask).map_err(malformed)?;
    let mut bytes = Vec::with_capacity(8 + head.len() + follows.len());
    bytes.extend((head.len() as u64).to_le_bytes());
    bytes.extend(head);
    bytes.extend(follows);
    Ok(bytes)
}

/// The request that the bytes stand for, and what follows its head.
///
/// # Errors
/// What is wrong with them.
pub fn read_request(bytes: &[u8]) -> Result<(Ask, &[u8]), &'static str> {
    let mut bytes = Bytes(bytes);
    let length = bytes.length()?;
    Ok((codec::decode(bytes.take(length)?)?, bytes.0))
}

/// A request for sums, each with the numbers of the shard's records.
pub fn request_sums(phase: &str, sums: &[Placed]) -> Result<Vec<u8>, Error> {
    let phase = PHASES.iter().position(|known| *known == phase);
    let phase = phase.ok_or_else(|| malformed("no such phase"))? as u8;
    let (mut head, mut follows) = (Vec::new(), Vec::new());
    for (sum, places) in sums {
        let width = match places.iter().max() {
            None | Some(0..=0xff) => 1u8,
            Some(0x100..=0xffff) => 2,
            Some(_) => 4,
        };
        head.push(Summed { sum: *sum, records: places.len(), width });
        let shortened = |place: &u32| place.to_le_bytes().into_iter().take(width.into());
        follows.extend(places.iter().flat_map(shortened));
    }
    request(&Ask::Sums { phase, sums: head }, &follows)
}

/// The phase and the sums of [`request_sums`]; none over more than `most` records.
///
/// # Errors
/// What is wrong with them.
pub fn read_sums(
    phase: u8,
    sums: &[Summed],
    follows: &[u8],
    most: usize,
) -> Result<(&'static str, Vec<Placed>), &'static str> {
    let phase = PHASES.get(usize::from(phase)).ok_or("no such phase")?;
    let mut bytes = Bytes(follows);
    let mut read = Vec::new();
    for Summed { sum, records, width } in sums {
        if *records > sum.records() || sum.records() > most {
            return Err("more records than there may be");
        }
        let places = match width {
            1 => bytes.several(*records)?.map(|[byte]| u32::from(byte)).collect(),
            2 => bytes.several(*records)?.map(u16::from_le_bytes).map(u32::from).collect(),
            4 => bytes.several(*records)?.map(u32::from_le_bytes).collect(),
            _ => return Err("no such width"),
        };
        read.push((*sum, places));
    }
    bytes.end()?;
    Ok((phase, read))
}

/// An answer of shares.
pub fn tell_shares(shares: &[WordShares]) -> Answer {
    let words: usize = shares.iter().map(|shares| 16 + 8 * shares.len()).sum();
    // Allocated at its full length: reallocation would leave shares behind.
    let mut bytes = Answer::new(Vec::with_capacity(8 + words));
    bytes.extend((shares.len() as u64).to_le_bytes());
    for shares in shares {
        bytes.extend(u64::from(shares.bits()).to_le_bytes());
        bytes.extend((shares.len() as u64).to_le_bytes());
        shares.words().iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    }
    bytes
}

/// The shape that shares of a sum must have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Due {
    /// k: they are over Z_{2^k}.
    pub bits: u32,
    /// How many.
    pub words: usize,
}

/// The shares of [`tell_shares`], in the shapes that are due.
///
/// # Errors
/// What is wrong with them.
pub fn hear_shares(answer: &[u8], due: &[Due]) -> Result<Vec<WordShares>, &'static str> {
    let mut bytes = Bytes(answer);
    if bytes.length()? != due.len() {
        return Err("another number of sums is due");
    }
    let mut all = Vec::new();
    for Due { bits, words } in due {
        if (bytes.number()?, bytes.length()?) != (u64::from(*bits), *words) {
            return Err("sums of another shape are due");
        }
        let words = bytes.several(*words)?.map(u64::from_le_bytes).collect();
        all.push(WordShares::new(*bits, words).map_err(|_| "words have 1 to 64 bits")?);
    }
    bytes.end()?;
    Ok(all)
}

/// An answer of counts.
pub fn tell_counts(counts: &[u64]) -> Answer {
    let mut bytes = Answer::new(Vec::with_capacity(8 * counts.len()));
    counts.iter().for_each(|count| bytes.extend(count.to_le_bytes()));
    bytes
}

/// Adds the counts of [`tell_counts`] to sums, as many as there are, none of which may pass `most`.
///
/// # Errors
/// What is wrong with them.
pub fn add_counts(answer: &[u8], sums: &mut [u64], most: u64) -> Result<(), &'static str> {
    let mut bytes = Bytes(answer);
    let counts = bytes.several(sums.len())?.map(u64::from_le_bytes);
    bytes.end()?;
    for (sum, count) in sums.iter_mut().zip(counts) {
        let added = sum.checked_add(count).filter(|added| *added <= most);
        *sum = added.ok_or("it counts more records than there are")?;
    }
    Ok(())
}

/// An answer of names.
pub fn tell_names(names: &[Vec<u8>]) -> Answer {
    let mut bytes = Answer::default();
    for name in names {
        bytes.extend((name.len() as u64).to_le_bytes());
        bytes.extend(name);
    }
    bytes
}

/// The names of [`tell_names`].
///
/// # Errors
/// What is wrong with them.
pub fn hear_names(answer: &[u8]) -> Result<Vec<Vec<u8>>, &'static str> {
    let (mut bytes, mut names) = (Bytes(answer), Vec::new());
    while bytes.end().is_err() {
        let length = bytes.length()?;
        names.push(bytes.take(length)?.to_vec());
    }
    Ok(names)
}
