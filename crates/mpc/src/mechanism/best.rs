//! The best candidate, and the best split of an interval, of a table whose records two parties hold
//! apart: by largest class counts, and nothing else is opened.
//!
//! *Inputs*: each party's own class counts, of every child of every candidate ([`candidate`]), or
//! left and right of every possible split ([`split`]). The counts of the two parties are added; the
//! sum of all counts of one party in one candidate or split is below 2^b. *Output*, to both: the
//! number of the best, or that there is none. *Learned*: that.
//!
//! The score of a candidate is the sum of its children's largest class counts; it is eligible if it
//! has records, or records of several classes where that is required. The first of equal ones wins.
//! The score of a split is the same for its two sides; of equal ones the one that divides the
//! records most evenly wins, and of those the last. Without records on both sides there is no
//! split.
//!
//! *Cost* in ANDs, for C classes, counts of b bits: some 3·C·b per child, 8·C·b per split.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::mechanism::best::{CandidateShape, candidate};
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//!
//! // Two candidates with two children of two classes each.
//! let shape =
//!     CandidateShape { classes: 2, count_bits: 8, children: vec![2, 2], several: true };
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| candidate(session, &shape, &[3, 1, 2, 2, 4, 0, 1, 3]),
//!     |session| candidate(session, &shape, &[1, 1, 0, 0, 1, 0, 0, 1]),
//! );
//! // 4 + 2 against 5 + 4.
//! assert_eq!((outcome.p1?, outcome.p2?), (Some(1), Some(1)));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use zeroize::Zeroizing;

use super::{bits_to_count, no_such_candidate, other_counts, push_word, too_many, word};
use crate::Error;
use crate::circuit::integer::{
    add, add_carry, at_least, mask, maximum, maximum_with_index, resize, select,
};
use crate::circuit::stream::Generated;
use crate::circuit::{Bit, Gates, Source};
use crate::protocol::Session;
use crate::protocol::forecast::Forecast;
use crate::protocol::yao::{self, Reveal};
use crate::role::Role;

/// Gates sorted together.
const WINDOW: usize = 1 << 14;

/// What is public about some candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CandidateShape {
    /// Counts per child.
    pub classes: usize,
    /// Bits of one party's count.
    pub count_bits: usize,
    /// How many children each candidate has.
    pub children: Vec<usize>,
    /// Whether candidates whose records are all of one class are not eligible.
    pub several: bool,
}

/// What is public about the possible splits of an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SplitShape {
    /// Counts per side.
    pub classes: usize,
    /// Bits of one party's count.
    pub count_bits: usize,
    /// How many splits there are.
    pub splits: usize,
}

impl CandidateShape {
    fn counts(&self) -> usize {
        self.children.iter().sum::<usize>() * self.classes
    }

    /// The circuit. The outputs are whether any candidate is eligible, and the number of the best.
    pub fn source(&self) -> impl Source + '_ {
        let bits = self.counts() * self.count_bits;
        let index = bits_to_count(self.children.len());
        let ports = [(Role::P1, "p1", bits), (Role::P2, "p2", bits)];
        Generated::new(&ports, &[("any", 1), ("best", index)], move |g, inputs| {
            let width = self.count_bits;
            let mut pairs = inputs[0].chunks(width).zip(inputs[1].chunks(width));
            let keys: Vec<Vec<Bit>> = self
                .children
                .iter()
                .map(|children| {
                    let counts: Vec<_> = pairs.by_ref().take(children * self.classes).collect();
                    g.scope(|g| self.key(g, &counts))
                })
                .collect();
            let (best, index) = maximum_with_index(g, &keys);
            let any = best.last().copied().unwrap_or(Bit::FALSE);
            let index = mask(g, any, &index);
            vec![vec![any], index]
        })
        .window(WINDOW)
    }

    /// The score of a candidate; the highest bit says whether it is eligible.
    fn key<G: Gates>(&self, g: &mut G, counts: &[(&[Bit], &[Bit])]) -> Vec<Bit> {
        let width = self.count_bits + 1;
        let mut score = vec![Bit::FALSE; width];
        let mut present = vec![Bit::FALSE; self.classes];
        for child in counts.chunks(self.classes) {
            let sums: Vec<Vec<Bit>> = child.iter().map(|(a, b)| add_carry(g, a, b)).collect();
            for (present, sum) in present.iter_mut().zip(&sums) {
                *present = sum.iter().fold(*present, |any, bit| g.or(any, *bit));
            }
            let largest = resize(&maximum(g, &sums), width);
            score = resize(&add(g, &score, &largest), width);
        }
        let (mut one, mut two) = (Bit::FALSE, Bit::FALSE);
        for class in present {
            let both = g.and(one, class);
            two = g.or(two, both);
            one = g.or(one, class);
        }
        score.push(if self.several { two } else { one });
        score
    }
}

impl SplitShape {
    /// The circuit: counts left and right of the last split come first, so that it wins where others
    /// are equal. The outputs are whether there is a split, and its place from the end.
    pub fn source(&self) -> impl Source + use<> {
        let shape = *self;
        let bits = 2 * shape.classes * shape.count_bits * shape.splits;
        let index = bits_to_count(shape.splits);
        let ports = [(Role::P1, "p1", bits), (Role::P2, "p2", bits)];
        Generated::new(&ports, &[("any", 1), ("best", index)], move |g, inputs| {
            let each = 2 * shape.classes * shape.count_bits;
            let pairs = inputs[0].chunks(each).zip(inputs[1].chunks(each));
            let keys: Vec<Vec<Bit>> = pairs.map(|(a, b)| g.scope(|g| shape.key(g, a, b))).collect();
            let (best, index) = maximum_with_index(g, &keys);
            let balance = best.iter().take(shape.count_bits + 1);
            let any = balance.fold(Bit::FALSE, |any, bit| g.or(any, *bit));
            let index = mask(g, any, &index);
            vec![vec![any], index]
        })
        .window(WINDOW)
    }

    /// The score of a split: the smaller side's records, and above them the class counts.
    fn key<G: Gates>(&self, g: &mut G, first: &[Bit], second: &[Bit]) -> Vec<Bit> {
        let width = self.count_bits + 1;
        let pairs = first.chunks(self.count_bits).zip(second.chunks(self.count_bits));
        let sums: Vec<Vec<Bit>> = pairs.map(|(a, b)| add_carry(g, a, b)).collect();
        let (left, right) = sums.split_at(self.classes);
        let [(left_size, left_most), (right_size, right_most)] = [left, right].map(|side| {
            let size = side
                .iter()
                .skip(1)
                .fold(resize(&side[0], width), |size, count| resize(&add(g, &size, count), width));
            (size, resize(&maximum(g, side), width))
        });
        let score = resize(&add(g, &left_most, &right_most), width);
        let left_larger = at_least(g, &left_size, &right_size);
        let balance = select(g, left_larger, &right_size, &left_size);
        [balance, score].concat()
    }
}

/// What [`candidate`] computes.
pub fn ideal_candidate(shape: &CandidateShape, first: &[u64], second: &[u64]) -> Option<usize> {
    let sums: Vec<u64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
    let (mut best, mut start) = (None, 0);
    for (number, children) in shape.children.iter().enumerate() {
        let counts = &sums[start..][..children * shape.classes];
        start += counts.len();
        let has = |class: usize| counts.iter().skip(class).step_by(shape.classes).any(|n| *n > 0);
        let present = (0..shape.classes).filter(|class| has(*class)).count();
        let most = |child: &[u64]| child.iter().copied().max().unwrap_or(0);
        let score: u64 = counts.chunks(shape.classes).map(most).sum();
        let counts_at_all = present > usize::from(shape.several);
        if counts_at_all && best.is_none_or(|(_, known)| score > known) {
            best = Some((number, score));
        }
    }
    best.map(|(number, _)| number)
}

/// What [`split`] computes.
pub fn ideal_split(shape: &SplitShape, first: &[u64], second: &[u64]) -> Option<usize> {
    let sums: Vec<u64> = first.iter().zip(second).map(|(a, b)| a + b).collect();
    let mut best = None;
    for (number, counts) in sums.chunks(2 * shape.classes).enumerate() {
        let sides = counts.chunks(shape.classes);
        let score: u64 = sides.clone().map(|side| side.iter().copied().max().unwrap_or(0)).sum();
        let balance = sides.map(|side| side.iter().sum::<u64>()).min().unwrap_or(0);
        if best.is_none_or(|(_, known)| (score, balance) >= known) {
            best = Some((number, (score, balance)));
        }
    }
    best.filter(|(_, (_, balance))| *balance > 0).map(|(number, _)| number)
}

/// The messages of [`candidate`].
pub fn forecast_candidate(f: &mut Forecast, shape: &CandidateShape) {
    yao::forecast(f, Role::P1, &shape.source(), Reveal::Both);
}

/// The messages of [`split`].
pub fn forecast_split(f: &mut Forecast, shape: &SplitShape) {
    yao::forecast(f, Role::P1, &shape.source(), Reveal::Both);
}

/// The best of some candidates, if any is eligible. `counts` are this party's: classes fastest,
/// then children, then candidates.
///
/// # Errors
/// If there is another number of counts than the shape says, a count is too long, or the run fails.
pub fn candidate(
    session: &mut Session,
    shape: &CandidateShape,
    counts: &[u64],
) -> Result<Option<usize>, Error> {
    let bits = inputs(counts, shape.counts(), shape.count_bits)?;
    let found = yao::run(session, Role::P1, &shape.source(), &bits, Reveal::Both)?;
    opened(found, shape.children.len())
}

/// The best split, if there is any. `counts` are this party's: classes fastest, left and right, then
/// splits in ascending order.
///
/// # Errors
/// As [`candidate`].
pub fn split(
    session: &mut Session,
    shape: &SplitShape,
    counts: &[u64],
) -> Result<Option<usize>, Error> {
    let each = 2 * shape.classes;
    let last_first: Zeroizing<Vec<u64>> =
        Zeroizing::new(counts.chunks(each.max(1)).rev().flatten().copied().collect());
    let bits = inputs(&last_first, each * shape.splits, shape.count_bits)?;
    let found = yao::run(session, Role::P1, &shape.source(), &bits, Reveal::Both)?;
    Ok(opened(found, shape.splits)?.map(|from_end| shape.splits - 1 - from_end))
}

fn inputs(counts: &[u64], due: usize, count_bits: usize) -> Result<Zeroizing<Vec<bool>>, Error> {
    if counts.len() != due {
        return Err(other_counts());
    }
    let most = u64::MAX >> (64 - count_bits.clamp(1, 64));
    if let Some(count) = counts.iter().find(|count| **count > most) {
        let [given, most] = [*count, most].map(|count| count as usize);
        return Err(too_many("records in one group", given, most));
    }
    let mut bits = Zeroizing::new(Vec::with_capacity(due * count_bits));
    counts.iter().for_each(|count| push_word(*count, count_bits, &mut bits));
    Ok(bits)
}

fn opened(found: Option<Vec<bool>>, count: usize) -> Result<Option<usize>, Error> {
    match found.as_deref() {
        Some([true, index @ ..]) => {
            let index = word(index) as usize;
            if index < count { Ok(Some(index)) } else { Err(no_such_candidate(index, count)) }
        }
        _ => Ok(None),
    }
}
