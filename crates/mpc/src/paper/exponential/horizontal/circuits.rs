//! The two circuits of a choice over horizontal data: MAX, and the draw with its COMPARISON.

use super::super::vertical::passed;
use crate::circuit::integer::{add, add_carry, count_ones, mask, maximum, resize, sum, xor};
use crate::circuit::random_value::UniformBelow;
use crate::circuit::stream::Generated;
use crate::circuit::{Bit, Builder, Circuit, Gates, Source};
use crate::mechanism::bits_to_count;
use crate::protocol::shares::Ring;
use crate::role::Role;

/// What is public about MAX for all candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MaxShape {
    /// How many classes there are.
    pub classes: usize,
    /// Children of each candidate, in order.
    pub children: Vec<usize>,
    /// Bits of one party's count.
    pub count_bits: usize,
    /// Bits of a score.
    pub score_bits: usize,
    /// How much wider masks are.
    pub sigma: usize,
}

impl MaxShape {
    /// Bits of a share.
    pub fn share_bits(&self) -> usize {
        self.score_bits + self.sigma + 1
    }

    /// Counts, masks, counts: P1's two inputs and P2's.
    fn widths(&self) -> [usize; 3] {
        let rows: usize = self.children.iter().sum();
        let counts = rows * self.classes * self.count_bits;
        [counts, self.children.len() * self.share_bits(), counts]
    }

    /// P1 gives its counts and its masks, P2 its counts; the outputs are P2's shares.
    pub(super) fn source(&self) -> impl Source + '_ {
        let [first, masks, second] = self.widths();
        let inputs = [
            (Role::P1, "counts1", first),
            (Role::P1, "masks", masks),
            (Role::P2, "counts2", second),
        ];
        Generated::new(&inputs, &[("shares", masks)], |g, x| vec![self.build(g, x)])
    }

    /// The same, stored: for review. P1's input is its counts, followed by its masks.
    pub fn circuit(&self) -> Circuit {
        let mut g = Builder::new();
        let [first, masks, second] = self.widths();
        let p1 = g.input(Role::P1, "p1", first + masks);
        let p2 = g.input(Role::P2, "p2", second);
        let (counts, masks) = p1.split_at(first);
        let shares = self.build(&mut g, &[counts.to_vec(), masks.to_vec(), p2]);
        g.output("shares", &shares);
        g.finish()
    }

    fn build<G: Gates>(&self, g: &mut G, inputs: &[Vec<Bit>]) -> Vec<Bit> {
        let ring = Ring::PowerOfTwo(self.share_bits());
        let row = (self.classes * self.count_bits).max(1);
        let (mut first, mut second) = (inputs[0].chunks(row), inputs[2].chunks(row));
        let mut masks = inputs[1].chunks(self.share_bits());
        let mut shares = Vec::new();
        for children in &self.children {
            let rows: Vec<_> = first.by_ref().zip(second.by_ref()).take(*children).collect();
            let mask = masks.next().unwrap_or_default();
            shares.extend(g.scope(|g| {
                let score = self.score(g, &rows);
                ring.mask(g, &score, mask)
            }));
        }
        shares
    }

    /// Σ over the children of the largest of the classes' joint counts.
    fn score<G: Gates>(&self, g: &mut G, rows: &[(&[Bit], &[Bit])]) -> Vec<Bit> {
        let mut maxima = Vec::with_capacity(rows.len());
        for (first, second) in rows {
            maxima.push(g.scope(|g| {
                let width = self.count_bits.max(1);
                let pairs = first.chunks(width).zip(second.chunks(width));
                let counts: Vec<_> = pairs.map(|(a, b)| add_carry(g, a, b)).collect();
                maximum(g, &counts)
            }));
        }
        let total = sum(g, &maxima);
        resize(&total, self.score_bits)
    }
}

/// What is public about the choice of a winner among shared weights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PickShape {
    candidates: usize,
    width: usize,
    uniform: UniformBelow,
}

impl PickShape {
    /// A choice among candidates whose weights have up to `weight_bits` bits, that fails with a
    /// chance below 2^-`sigma`.
    pub fn new(candidates: usize, weight_bits: usize, sigma: usize) -> Self {
        let width = weight_bits + bits_to_count(candidates);
        Self { candidates, width, uniform: UniformBelow::new(width, sigma) }
    }

    /// Bits of a prefix sum.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How R is drawn.
    pub fn uniform(&self) -> &UniformBelow {
        &self.uniform
    }

    fn index_bits(&self) -> usize {
        bits_to_count(self.candidates)
    }

    /// Each party gives its shares of the prefix sums and its coins.
    pub(super) fn source(&self) -> impl Source + '_ {
        let (sums, coins) = (self.candidates * self.width, self.uniform.random_bits());
        let inputs = [
            (Role::P1, "sums1", sums),
            (Role::P1, "coins1", coins),
            (Role::P2, "sums2", sums),
            (Role::P2, "coins2", coins),
        ];
        Generated::new(&inputs, &[("failed", 1), ("index", self.index_bits())], |g, x| {
            let (failed, index) = self.build(g, x);
            vec![vec![failed], index]
        })
    }

    /// The same, stored: for review. Each party's input is its shares, followed by its coins.
    pub fn circuit(&self) -> Circuit {
        let mut g = Builder::new();
        let (sums, coins) = (self.candidates * self.width, self.uniform.random_bits());
        let parties = [(Role::P1, "p1"), (Role::P2, "p2")];
        let bits = parties.map(|(owner, name)| g.input(owner, name, sums + coins));
        let split = bits.each_ref().map(|bits| bits.split_at(sums));
        let inputs: Vec<Vec<Bit>> =
            split.iter().flat_map(|(sums, coins)| [sums.to_vec(), coins.to_vec()]).collect();
        let (failed, index) = self.build(&mut g, &inputs);
        g.output("failed", &[failed]);
        g.output("index", &index);
        g.finish()
    }

    /// Whether no R was found, and the index of the winner (0 if none was).
    fn build<G: Gates>(&self, g: &mut G, inputs: &[Vec<Bit>]) -> (Bit, Vec<Bit>) {
        let width = self.width.max(1);
        let mut sums = Vec::with_capacity(self.candidates);
        for (first, second) in inputs[0].chunks(width).zip(inputs[2].chunks(width)) {
            sums.push(add(g, first, second));
        }
        let coins = xor(g, &inputs[1], &inputs[3]);
        let (total, others) = sums.split_last().map_or((&[][..], &[][..]), |(t, o)| (t, o));
        let (r, failed) = self.uniform.build(g, total, &coins);
        // Candidate k is skipped if R ≥ L_k; the last one never is.
        let over = passed(g, &r, others);
        let index = count_ones(g, &over);
        (failed, mask(g, !failed, &resize(&index, self.index_bits())))
    }
}
