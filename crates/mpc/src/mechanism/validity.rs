//! Whether every cell of a table that two parties hold in shares meets its requirement: one bit.
//!
//! *Inputs*: per cell, shares of a count n over Z_{2^c}, where n and the minimum that is required
//! of it are at most 2^c − 1; shares of margins over Z_{2^m}, as signed numbers; and a bit in XOR
//! shares, the result of checks outside the cells. *Output*, to both: whether the bit is set, every
//! n is 0 or as large as required, and no margin is negative. *Learned*: that bit.
//!
//! *How.* n = 0 or n ≥ k is one comparison: n − 1 ≥ k − 1 over Z_{2^c}, where 0 − 1 is the largest
//! number there is. Shares of a margin such as a·n − b·n_s are computed locally, and its sign is
//! one addition. Cells are processed in batches whose labels fit 16 MiB; the result of a batch is
//! passed to the next in XOR shares, and only the last is opened.
//!
//! *Cost* per cell: 2c + margins·m ANDs, c + margins·m transfers. One round per batch.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::Error;
//! use diptych_mpc::mechanism::validity::{Cells, CellShape, all_valid};
//! use diptych_mpc::protocol::Session;
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//!
//! // Two groups, of 0 and 3 + 4 people; each must be empty or have at least 5.
//! let shape = CellShape { count_bits: 8, margin_bits: 8, margins: 0 };
//! let test = |session: &mut Session, counts: &[u64]| -> Result<bool, Error> {
//!     all_valid(session, &shape, &Cells { least: &[5, 5], counts, margins: &[] }, false)
//! };
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| all_valid(session, &shape, &Cells { least: &[5, 5], counts: &[1, 3], margins: &[] }, true),
//!     |session| test(session, &[255, 4]),
//! );
//! assert!(outcome.p1? && outcome.p2?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rand::Rng;
use zeroize::Zeroizing;

use super::{other_counts, push_word};
use crate::Error;
use crate::circuit::integer::{add, at_least};
use crate::circuit::stream::Generated;
use crate::circuit::{Bit, Gates, Source};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::yao::{self, Reveal, bits_of};
use crate::role::Role;

/// Input labels of one batch, both parties'; few in tests, so that these have batches.
const BATCH_LABELS: usize = if cfg!(test) { 1 << 12 } else { 1 << 20 };

/// Gates sorted together: enough to hash many cells at once.
const WINDOW: usize = 1 << 14;

/// What is public about the cells, apart from how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CellShape {
    /// c: bits of the ring of counts.
    pub count_bits: u32,
    /// m: bits of the ring of margins.
    pub margin_bits: u32,
    /// Margins per cell.
    pub margins: usize,
}

/// This party's part of some cells.
#[derive(Clone, Copy, Debug)]
pub struct Cells<'a> {
    /// How large each count must be unless it is 0, at least 1; public.
    pub least: &'a [u64],
    /// A share of each count.
    pub counts: &'a [u64],
    /// Shares of each cell's margins, one cell after the other.
    pub margins: &'a [u64],
}

impl<'a> Cells<'a> {
    fn part(&self, shape: &CellShape, first: usize, count: usize) -> Self {
        Self {
            least: &self.least[first..first + count],
            counts: &self.counts[first..first + count],
            margins: &self.margins[first * shape.margins..(first + count) * shape.margins],
        }
    }

    /// # Errors
    /// If there is not one of each for every cell.
    fn check(&self, shape: &CellShape) -> Result<(), Error> {
        let fits = self.counts.len() == self.least.len()
            && self.margins.len() == self.least.len().saturating_mul(shape.margins);
        let least =
            self.least.iter().all(|least| *least > 0 && *least - 1 <= mask(shape.count_bits));
        if fits && least { Ok(()) } else { Err(other_counts()) }
    }
}

impl CellShape {
    /// Bits of a cell: P1's and P2's.
    fn bits(&self) -> [usize; 2] {
        let shares = self.count_bits as usize + self.margins * self.margin_bits as usize;
        [shares + self.count_bits as usize, shares]
    }

    /// Cells of one circuit.
    fn batch(&self) -> usize {
        (BATCH_LABELS / self.bits().iter().sum::<usize>().max(1)).max(1)
    }

    /// Cells of each circuit, for so many in all. There is always at least one circuit.
    fn batches(&self, cells: usize) -> impl Iterator<Item = (usize, usize)> + use<> {
        let batch = self.batch();
        (0..cells.max(1))
            .step_by(batch)
            .map(move |first| (first, batch.min(cells - first.min(cells))))
    }

    /// The circuit for so many cells. P1's input is its share of the result so far, a mask and its
    /// cells; P2's its share and its cells. The output is the new result, XOR the mask.
    pub fn source(&self, cells: usize) -> impl Source + use<> {
        let (shape, [first, second]) = (*self, self.bits().map(|bits| bits * cells));
        let ports = [(Role::P1, "p1", 2 + first), (Role::P2, "p2", 1 + second)];
        Generated::new(&ports, &[("valid", 1)], move |g, inputs| {
            let (head, first) = inputs[0].split_at(2);
            let (so_far, second) = inputs[1].split_at(1);
            let [width1, width2] = shape.bits();
            let pairs = first.chunks(width1).zip(second.chunks(width2));
            let mut good: Vec<Bit> = vec![g.xor(head[0], so_far[0])];
            good.extend(pairs.map(|(first, second)| g.scope(|g| shape.cell(g, first, second))));
            while good.len() > 1 {
                let pair = |pair: &[Bit]| match pair {
                    [a, b] => g.and(*a, *b),
                    odd => odd[0],
                };
                good = good.chunks(2).map(pair).collect();
            }
            vec![vec![g.xor(good[0], head[1])]]
        })
        .window(WINDOW)
    }

    /// Whether one cell meets its requirement.
    fn cell<G: Gates>(&self, g: &mut G, first: &[Bit], second: &[Bit]) -> Bit {
        let (count1, rest) = first.split_at(self.count_bits as usize);
        let (least, margins1) = rest.split_at(self.count_bits as usize);
        let (count2, margins2) = second.split_at(self.count_bits as usize);
        let less_one = add(g, count1, count2);
        let mut good = at_least(g, &less_one, least);
        let width = self.margin_bits as usize;
        for (first, second) in margins1.chunks(width).zip(margins2.chunks(width)) {
            let margin = add(g, first, second);
            let negative = margin.last().copied().unwrap_or(Bit::FALSE);
            good = g.and(good, !negative);
        }
        good
    }

    /// This party's input for some cells.
    fn inputs(&self, role: Role, head: &[bool], cells: &Cells<'_>) -> Zeroizing<Vec<bool>> {
        let width = self.bits()[role as usize];
        let mut bits = Zeroizing::new(Vec::with_capacity(head.len() + cells.least.len() * width));
        bits.extend_from_slice(head);
        for (cell, (count, least)) in cells.counts.iter().zip(cells.least).enumerate() {
            let count_bits = self.count_bits as usize;
            match role {
                Role::P1 => {
                    push_word(count.wrapping_sub(1), count_bits, &mut bits);
                    push_word(least - 1, count_bits, &mut bits);
                }
                Role::P2 => push_word(*count, count_bits, &mut bits),
            }
            for margin in &cells.margins[cell * self.margins..][..self.margins] {
                push_word(*margin, self.margin_bits as usize, &mut bits);
            }
        }
        bits
    }
}

fn mask(bits: u32) -> u64 {
    u64::MAX >> (64 - bits.clamp(1, 64))
}

/// What [`all_valid`] computes from both parties' cells and their shares of the bit.
pub fn ideal(shape: &CellShape, cells: [Cells<'_>; 2], known: [bool; 2]) -> bool {
    let [first, second] = cells;
    let sum = |a: &u64, b: &u64, bits| a.wrapping_add(*b) & mask(bits);
    let counts = first.counts.iter().zip(second.counts).zip(first.least);
    let large = |((a, b), least): ((&u64, &u64), &u64)| {
        let count = sum(a, b, shape.count_bits);
        count == 0 || count >= *least
    };
    let mut margins = first.margins.iter().zip(second.margins);
    let positive = |(a, b)| sum(a, b, shape.margin_bits) >> (shape.margin_bits - 1) == 0;
    (known[0] ^ known[1]) && counts.into_iter().all(large) && margins.all(positive)
}

/// The messages of [`all_valid`] for so many cells.
pub fn forecast(f: &mut Forecast, shape: &CellShape, cells: usize) {
    for (first, count) in shape.batches(cells) {
        let last = first + count >= cells;
        yao::forecast(
            f,
            Role::P1,
            &shape.source(count),
            if last { Reveal::Both } else { Reveal::P2 },
        );
    }
}

/// Whether the bit of which each party gives a share is set and all cells meet their requirements.
///
/// # Errors
/// If the number of cells is wrong, or the run fails.
pub fn all_valid(
    session: &mut Session,
    shape: &CellShape,
    cells: &Cells<'_>,
    known: bool,
) -> Result<bool, Error> {
    cells.check(shape)?;
    let mut so_far = known;
    for (first, count) in shape.batches(cells.least.len()) {
        let last = first + count >= cells.least.len();
        let mask = !last && session.rng.next_u32() & 1 == 1;
        let head = if session.role == Role::P1 { vec![so_far, mask] } else { vec![so_far] };
        let source = shape.source(count);
        let bits = shape.inputs(session.role, &head, &cells.part(shape, first, count));
        debug_assert_eq!(bits.len(), bits_of(&source, session.role));
        let reveal = if last { Reveal::Both } else { Reveal::P2 };
        let found = yao::run(session, Role::P1, &source, &bits, reveal)?;
        so_far = match found.as_deref() {
            Some([found]) => *found,
            _ => mask,
        };
    }
    Ok(so_far)
}
