//! MAX (thesis 7.5.1): the largest class count of groups of records that two parties hold apart.
//!
//! *Inputs*: each party's own counts by class of every group (of all classes of one group together
//! the parties' counts add up), or shares of the counts over Z_{2^b} ([`GroupShape::of_shares`]). *Output*: shares over Z_{2^k} of max_c (n1_c + n2_c) for every group.
//! Sums of them, which are scores of Max and leaf-max, are sums of shares. *Learned*: nothing.
//!
//! *Cost* for C classes and counts of b bits, garbled: C·b + 2·(C − 1)·(b + 1) + k ANDs per group, C·b
//! transfers. One round per batch, which has as many groups as their labels fit 64 MiB.
//!
//! *On shared bits* ([`Bulk::SharedBits`]), for [`MANY`] groups and more: of two sums a and b the
//! larger is a + [b ≥ a]·(b − a), where b − a is a difference of shares, its sign comes from
//! [`bits::negative`], and the product from [`bits::select_words`]. Classes are compared in pairs: some
//! k/3 ANDs and 2·k transfers per pair, ⌈log2 k/5⌉ + 2 rounds per halving of the classes and batch of
//! groups.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::mechanism::largest::{GroupShape, largest_counts};
//! use diptych_mpc::Error;
//! use diptych_mpc::protocol::Workspace;
//! use diptych_mpc::protocol::pair::{Setup, run_workspaces};
//! use diptych_mpc::protocol::yao::Reveal;
//!
//! let shape = GroupShape { classes: 2, count_bits: 8, share_bits: 16, of_shares: false };
//! let largest = |session: &mut Workspace, own: &[u64]| -> Result<_, Error> {
//!     let shares = largest_counts(session, &shape, own)?;
//!     Ok(shares.open(session, Reveal::Both)?)
//! };
//! // Two groups of two classes each: max(3 + 0, 1 + 9) and max(0 + 4, 2 + 4).
//! let outcome = run_workspaces(
//!     Setup::default(),
//!     |session| largest(session, &[3, 1, 0, 2]),
//!     |session| largest(session, &[0, 9, 4, 4]),
//! );
//! assert_eq!(outcome.p1?, Some(vec![10, 6]));
//! assert_eq!(outcome.p2?, Some(vec![10, 6]));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use rand::Rng;
use zeroize::Zeroizing;

use super::{push_word, too_many, word};
use crate::Error;
use crate::circuit::integer::{add, add_carry, maximum, resize, subtract};
use crate::circuit::{Bit, Builder, Circuit, Program, Repeat};
use crate::math::wiped;
use crate::protocol::forecast::Forecast;
use crate::protocol::shares::WordShares;
use crate::protocol::yao::{self, Reveal, bits_of};
use crate::protocol::{Bulk, Workspace, bits};
use crate::role::Role;

/// Input labels of one batch, both parties': memory must not grow with the number of classes.
const BATCH_LABELS: usize = 1 << 22;

/// Products of bits in one batch on shared bits, each of which takes a word for some time: 128 MB,
/// or somewhat more with very many classes.
const BATCH_PRODUCTS: usize = 1 << 24;

/// From this many groups on, shared bits are worth their rounds: sending the garbled tables of
/// about so many takes as long as those rounds on a line of 100 Mbit/s and 40 ms.
pub const MANY: usize = 1 << 9;

/// What is public about the groups, apart from how many there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GroupShape {
    /// Counts per group.
    pub classes: usize,
    /// Bits of one party's count.
    pub count_bits: usize,
    /// k: bits of a share.
    pub share_bits: u32,
    /// Whether the parties' inputs are shares over Z_{2^count_bits} of the counts, which wrap, in
    /// place of counts of their own. The counts themselves are below half of that.
    pub of_shares: bool,
}

impl GroupShape {
    /// Groups of one circuit.
    pub fn batch(&self) -> usize {
        let inputs = 2 * self.classes * self.count_bits + self.share_bits as usize;
        (BATCH_LABELS / inputs.max(1)).max(1)
    }

    /// The circuit for one group. P1's input is its counts and a mask, P2's its counts; the output
    /// is the largest sum less the mask.
    pub fn circuit(&self) -> Circuit {
        let mut g = Builder::new();
        let counts = self.classes * self.count_bits;
        let first = g.input(Role::P1, "p1", counts + self.share_bits as usize);
        let second = g.input(Role::P2, "p2", counts);
        let (first, mask) = first.split_at(counts);
        let sums: Vec<Vec<Bit>> = first
            .chunks(self.count_bits)
            .zip(second.chunks(self.count_bits))
            .map(|(first, second)| match self.of_shares {
                true => add(&mut g, first, second),
                false => add_carry(&mut g, first, second),
            })
            .collect();
        let largest = resize(&maximum(&mut g, &sums), self.share_bits as usize);
        let share = subtract(&mut g, &largest, mask);
        g.output("share", &resize(&share, self.share_bits as usize));
        g.finish()
    }
}

impl GroupShape {
    /// Bits of the ring in which differences of sums have a sign. Counts that are shared leave room
    /// for it.
    fn signed_bits(&self) -> u32 {
        self.count_bits as u32 + if self.of_shares { 0 } else { 2 }
    }

    /// Groups that are compared together on shared bits.
    fn shared_batch(&self) -> usize {
        let products = 2 * self.signed_bits() as usize * self.classes.div_ceil(2);
        (BATCH_PRODUCTS / products.max(1)).max(MANY)
    }

    fn on_shared_bits(&self, bulk: Bulk, groups: usize) -> bool {
        bulk == Bulk::SharedBits
            && groups >= MANY
            && (self.share_bits..=u64::BITS).contains(&self.signed_bits())
    }
}

/// What [`largest_counts`] computes: the largest sum of every group.
pub fn ideal(shape: &GroupShape, first: &[u64], second: &[u64]) -> Vec<u64> {
    let ring =
        if shape.of_shares { u64::MAX >> (64 - shape.count_bits.clamp(1, 64)) } else { u64::MAX };
    let sums: Vec<u64> = first.iter().zip(second).map(|(a, b)| a.wrapping_add(*b) & ring).collect();
    sums.chunks(shape.classes.max(1)).map(|g| g.iter().copied().max().unwrap_or(0)).collect()
}

/// The messages of [`largest_counts`] for so many groups.
///
/// # Errors
/// None for shapes that [`largest_counts`] takes.
pub fn forecast(f: &mut Forecast, shape: &GroupShape, groups: usize) -> Result<(), Error> {
    if shape.on_shared_bits(f.bulk(), groups) {
        for first in (0..groups).step_by(shape.shared_batch()) {
            let groups = shape.shared_batch().min(groups - first);
            let mut left = shape.classes;
            while left > 1 {
                let pairs = left / 2 * groups;
                bits::forecast_negative(f, pairs, shape.signed_bits());
                bits::forecast_select_words(f, pairs, shape.signed_bits())?;
                left = left.div_ceil(2);
            }
        }
        return Ok(());
    }
    let program = Program::new(&shape.circuit());
    for first in (0..groups).step_by(shape.batch()) {
        let source = Repeat::new(&program, shape.batch().min(groups - first));
        yao::forecast(f, Role::P1, &source, Reveal::P2);
    }
    Ok(())
}

/// Shares of the largest count of every group. `counts` are this party's own, classes fastest.
///
/// # Errors
/// If a count is longer than the shape says, or the run fails.
pub fn largest_counts(
    session: &mut Workspace,
    shape: &GroupShape,
    counts: &[u64],
) -> Result<WordShares, Error> {
    let most = u64::MAX >> (64 - shape.count_bits.clamp(1, 64));
    // A share is reduced modulo the ring first.
    if let Some(count) = counts.iter().find(|count| !shape.of_shares && **count > most) {
        let [given, most] = [*count, most].map(|count| count as usize);
        return Err(too_many("records in one group", given, most));
    }
    if shape.on_shared_bits(session.bulk, counts.len() / shape.classes.max(1)) {
        let mut shares = Zeroizing::new(Vec::with_capacity(counts.len() / shape.classes.max(1)));
        for batch in counts.chunks(shape.shared_batch() * shape.classes.max(1)) {
            shares.extend_from_slice(largest_on_shared_bits(session, shape, batch)?.words());
        }
        return WordShares::new(shape.share_bits, std::mem::take(&mut *shares));
    }
    let program = Program::new(&shape.circuit());
    let mut shares = Vec::with_capacity(counts.len() / shape.classes.max(1));
    for batch in counts.chunks(shape.batch() * shape.classes.max(1)) {
        let groups = batch.len() / shape.classes.max(1);
        let source = Repeat::new(&program, groups);
        let mut bits = Zeroizing::new(Vec::with_capacity(bits_of(&source, session.role)));
        for group in batch.chunks(shape.classes.max(1)) {
            group.iter().for_each(|count| push_word(*count, shape.count_bits, &mut bits));
            if session.role == Role::P1 {
                let mask = session.rng.next_u64();
                push_word(mask, shape.share_bits as usize, &mut bits);
                shares.push(mask);
            }
        }
        let revealed = yao::run(session, Role::P1, &source, &bits, Reveal::P2)?;
        if let Some(bits) = revealed.map(Zeroizing::new) {
            shares.extend(bits.chunks(shape.share_bits as usize).map(word));
        }
    }
    WordShares::new(shape.share_bits, shares)
}

fn largest_on_shared_bits(
    session: &mut Workspace,
    shape: &GroupShape,
    counts: &[u64],
) -> Result<WordShares, Error> {
    // By class: the counts of all groups.
    let by_class = |class: usize| counts.iter().skip(class).step_by(shape.classes).copied();
    let mut left: Vec<Zeroizing<Vec<u64>>> =
        (0..shape.classes).map(|class| Zeroizing::new(by_class(class).collect())).collect();
    let ring_bits = shape.signed_bits();
    while left.len() > 1 {
        let odd = if left.len() % 2 == 1 { left.pop() } else { None };
        let mut first = Zeroizing::new(Vec::new());
        let mut differences = Zeroizing::new(Vec::new());
        for pair in left.chunks(2) {
            let [a, b] = pair else { continue };
            wiped::make_room(&mut first, a.len());
            wiped::make_room(&mut differences, a.len());
            first.extend_from_slice(a);
            differences.extend(a.iter().zip(b.iter()).map(|(a, b)| b.wrapping_sub(*a)));
        }
        let differences = WordShares::new(ring_bits, std::mem::take(&mut *differences))?;
        let smaller = bits::negative(session, &differences)?;
        let not_smaller = bits::not(session.role, &smaller);
        let more = bits::select_words(session, &not_smaller, &differences)?;
        let larger = WordShares::new(ring_bits, std::mem::take(&mut *first))?.plus(&more)?;
        let groups = counts.len() / shape.classes;
        left = larger.words().chunks(groups).map(|c| Zeroizing::new(c.to_vec())).collect();
        left.extend(odd);
    }
    let mut largest = left.pop().unwrap_or_default();
    WordShares::new(shape.share_bits, std::mem::take(&mut *largest))
}
