//! A uniform number below a secret bound, inside a circuit: the core of the random value protocol.
//!
//! *In*: the bits of Q ≥ 1, and random bits that neither party knows (each the
//! XOR of a bit of both). *Out*: R and a bit that says whether the attempt
//! failed. **Given that it did not, R is exactly uniform on {0, …, Q−1}.**
//!
//! Drawing whole numbers until one is below Q would compare and select T numbers
//! of w bits. Whether a number is too large is nearly always decided by its first
//! bits, so only those are drawn T times. Let q = Q − 1 have ℓ bits (found by a
//! prefix OR), and let A be its top k bits, padded with ones if ℓ < k.
//!
//! 1. H is the first of T uniform k-bit numbers with H ≤ A. None: failed.
//! 2. R has H as its top bits and, if ℓ > k, ℓ − k further uniform bits below.
//! 3. R > q: failed. That needs H = A, which has a chance below 2^(1−k).
//!
//! *Why R is uniform.* The lower bits are used only when H = A. So every (H, lower bits) that makes
//! R ≤ q is the outcome of try t with the same probability, 2^−ℓ times that of t − 1 tries above A;
//! one that makes R > q ends in failure and is never replaced by another. For ℓ ≤ k exactly 2^(k−ℓ)
//! values of H give each R, and step 3 never fails.
//! *Failure.* A starts with a one, so each try succeeds with a chance above 1/2:
//! in all less than 2^−T + 2^(1−k), which is 2^−σ for T = σ + 1 and k = σ + 2.
//!
//! *Cost*: about 10·w + 2·k·(T + log w) ANDs for w-bit Q, and k·T + w − k random
//! bits of each party: for w = 900, 16 thousand ANDs in place of 175 thousand.

use num_bigint::BigUint;
use num_traits::{One, Zero};

use super::bit::{Bit, Gates};
use super::integer::{less_than_or_equal, prefix_or, subtract, xor};

/// The dimensions of the gadget: both parties take them from public values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformBelow {
    width: usize,
    window: usize,
    tries: usize,
}

impl UniformBelow {
    /// For bounds of `width` bits; fails with a chance below 2^−`sigma`.
    pub fn new(width: usize, sigma: usize) -> Self {
        Self::with(width, sigma + 2, sigma + 1)
    }

    /// With a window of k bits and a number of tries of the caller's choice: for vectors and for
    /// tests in which it is to fail.
    pub fn with(width: usize, window: usize, tries: usize) -> Self {
        Self { width, window: window.min(width), tries }
    }

    /// Bits of the bound and of the result.
    pub fn width(&self) -> usize {
        self.width
    }

    /// How many random bits that neither party knows the gadget takes.
    pub fn random_bits(&self) -> usize {
        self.window * self.tries + self.low_bits()
    }

    /// Bits of one try.
    pub fn window(&self) -> usize {
        self.window
    }

    fn low_bits(&self) -> usize {
        self.width - self.window
    }

    /// R, and whether the attempt failed (R then means nothing). `bound` is Q ≥ 1
    /// at `width` bits; `random` are [`Self::random_bits`] bits: the tries, each
    /// lowest bit first, and then the lower part.
    ///
    /// # Panics
    /// If there is another number of bits.
    pub fn build<G: Gates>(&self, g: &mut G, bound: &[Bit], random: &[Bit]) -> (Vec<Bit>, Bit) {
        assert_eq!(bound.len(), self.width, "a bound of the declared width");
        assert_eq!(random.len(), self.random_bits(), "as many random bits as are needed");
        let (tries, low) = random.split_at(self.window * self.tries);
        g.scope(|g| {
            let largest = subtract(g, bound, &[Bit::TRUE]);
            let filled = prefix_or(g, &largest);
            let length = length_of(g, &filled);
            let top = self.top_of(g, &largest, &length);
            let (high, found) = self.first_at_most(g, &top, tries);
            let value = self.join(g, &high, &length, low, &filled);
            let fits = if self.low_bits() == 0 {
                Bit::TRUE
            } else {
                less_than_or_equal(g, &value, &largest)
            };
            let succeeded = g.and(found, fits);
            (value, !succeeded)
        })
    }

    /// A: bits ℓ to ℓ + k − 1 of the number with k ones below it. Every shift computes only the
    /// bits that a later one can still bring into the window.
    fn top_of<G: Gates>(&self, g: &mut G, largest: &[Bit], length: &[Bit]) -> Vec<Bit> {
        g.scope(|g| {
            let mut value = vec![Bit::TRUE; self.window];
            value.extend_from_slice(largest);
            for (position, shift) in length.iter().enumerate().rev() {
                let distance = 1 << position;
                let at = |i: usize| value.get(i).copied().unwrap_or(Bit::FALSE);
                let wanted = value.len().min(self.window + distance - 1);
                value = (0..wanted).map(|i| g.mux(*shift, at(i + distance), at(i))).collect();
            }
            value
        })
    }

    /// The first try that is at most `top`, and whether there is one.
    fn first_at_most<G: Gates>(&self, g: &mut G, top: &[Bit], tries: &[Bit]) -> (Vec<Bit>, Bit) {
        let mut chosen = vec![Bit::FALSE; self.window];
        let mut found = Bit::constant(self.window == 0 && self.tries > 0);
        for candidate in tries.chunks(self.window.max(1)) {
            (chosen, found) = g.scope(|g| {
                let fits = less_than_or_equal(g, candidate, top);
                let take = g.and(fits, !found);
                let add = |(old, new): (&Bit, &Bit)| {
                    let new = g.and(take, *new);
                    g.xor(*old, new)
                };
                let chosen = chosen.iter().zip(candidate).map(add).collect::<Vec<Bit>>();
                (chosen, g.xor(found, take))
            });
        }
        (chosen, found)
    }

    /// R: `high` from bit ℓ − k on (what falls below bit 0 is dropped), and below
    /// it as many bits of `low` as there is room for.
    fn join<G: Gates>(
        &self,
        g: &mut G,
        high: &[Bit],
        length: &[Bit],
        low: &[Bit],
        filled: &[Bit],
    ) -> Vec<Bit> {
        g.scope(|g| {
            let mut value = high.to_vec();
            for (position, shift) in length.iter().enumerate() {
                let distance = 1 << position;
                let at = |i: Option<usize>| i.and_then(|i| value.get(i)).copied();
                let at = |i: Option<usize>| at(i).unwrap_or(Bit::FALSE);
                let wanted = (value.len() + distance).min(self.width + self.window);
                value = (0..wanted)
                    .map(|i| g.mux(*shift, at(i.checked_sub(distance)), at(Some(i))))
                    .collect();
            }
            value.resize(self.width + self.window, Bit::FALSE);
            let inside = filled[self.window..].iter().zip(low);
            let low: Vec<Bit> = inside.map(|(inside, bit)| g.and(*inside, *bit)).collect();
            xor(g, &value[self.window..], &low)
        })
    }

    /// What [`Self::build`] computes: R for the bound Q ≥ 1 and these random bits, or `None` if the
    /// attempt fails.
    pub fn ideal(&self, bound: &BigUint, random: &[bool]) -> Option<BigUint> {
        let largest = bound - 1u8;
        let length = largest.bits() as usize;
        let (tries, low) = random.split_at(self.window * self.tries);
        let ones = (BigUint::one() << self.window) - 1u8;
        let top = (((&largest << self.window) | &ones) >> length) & ones;
        let high = if self.window == 0 {
            (self.tries > 0).then(BigUint::zero)
        } else {
            tries.chunks(self.window).map(number).find(|high| *high <= top)
        }?;
        let room = length.saturating_sub(self.window);
        let value = ((high << length) >> self.window) + number(&low[..room]);
        (value <= largest).then_some(value)
    }
}

/// ℓ as a number, from the prefix OR: free, because the place of the top bit is
/// marked by an XOR of neighbours and numbered by XORs.
fn length_of<G: Gates>(g: &mut G, filled: &[Bit]) -> Vec<Bit> {
    let width = (usize::BITS - filled.len().leading_zeros()) as usize;
    let mut length = vec![Bit::FALSE; width];
    for i in 0..filled.len() {
        let above = filled.get(i + 1).copied().unwrap_or(Bit::FALSE);
        let is_top = g.xor(filled[i], above);
        for (position, bit) in length.iter_mut().enumerate() {
            if (i + 1) >> position & 1 == 1 {
                *bit = g.xor(*bit, is_top);
            }
        }
    }
    length
}

fn number(bits: &[bool]) -> BigUint {
    bits.iter().rev().fold(BigUint::zero(), |number, bit| (number << 1u8) + u8::from(*bit))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::circuit::evaluate::evaluate_source;
    use crate::circuit::stream::Generated;
    use crate::circuit::{Builder, Circuit};
    use crate::math::Randomness;
    use crate::role::Role;
    use rand::Rng;

    fn circuit(shape: UniformBelow) -> Circuit {
        let mut g = Builder::new();
        let bound = g.input(Role::P1, "bound", shape.width());
        let random = g.input(Role::P2, "random", shape.random_bits());
        let (value, failed) = shape.build(&mut g, &bound, &random);
        g.output("value", &value);
        g.output("failed", &[failed]);
        g.finish()
    }

    fn bits(value: &BigUint, width: usize) -> Vec<bool> {
        (0..width as u64).map(|i| value.bit(i)).collect()
    }

    fn outcome(output: &[bool]) -> Option<BigUint> {
        let (failed, value) = output.split_last()?;
        (!failed).then(|| number(value))
    }

    /// Every shape small enough to try all of its random bits.
    fn small_shapes() -> Vec<UniformBelow> {
        let mut shapes = Vec::new();
        for width in 1..=5 {
            for window in 0..=width {
                for tries in 1..=3 {
                    let shape = UniformBelow::with(width, window, tries);
                    if shape.random_bits() <= 9 {
                        shapes.push(shape);
                    }
                }
            }
        }
        shapes
    }

    #[test]
    fn the_circuit_is_the_ideal_function_for_every_small_input() {
        for shape in small_shapes() {
            let circuit = circuit(shape);
            for bound in 1..1u32 << shape.width() {
                let bound = BigUint::from(bound);
                for random in 0..1u32 << shape.random_bits() {
                    let random = bits(&random.into(), shape.random_bits());
                    let inputs = [bits(&bound, shape.width()), random.clone()].concat();
                    let output = circuit.evaluate(&inputs).unwrap();
                    let expected = shape.ideal(&bound, &random);
                    assert_eq!(outcome(&output), expected, "{shape:?}, Q = {bound}, {random:?}");
                }
            }
        }
    }

    #[test]
    fn every_value_below_the_bound_comes_equally_often_and_no_other() {
        for shape in small_shapes() {
            for bound in 1..1u32 << shape.width() {
                let mut counts = BTreeMap::new();
                let all = 1u32 << shape.random_bits();
                for random in 0..all {
                    let random = bits(&random.into(), shape.random_bits());
                    *counts.entry(shape.ideal(&bound.into(), &random)).or_insert(0u32) += 1;
                }
                let failures = f64::from(counts.remove(&None).unwrap_or(0)) / f64::from(all);
                let bits_left = 0.5f64.powi(shape.tries as i32);
                let ties = if shape.window < shape.width { 2.0 } else { 0.0 };
                assert!(failures < bits_left + ties * 0.5f64.powi(shape.window as i32));
                let drawn: Vec<_> = counts.keys().flatten().cloned().collect();
                assert_eq!(drawn, (0..bound).map(BigUint::from).collect::<Vec<_>>(), "{shape:?}");
                let first = counts.values().next();
                assert!(counts.values().all(|count| Some(count) == first), "{shape:?} {bound}");
            }
        }
    }

    #[test]
    fn wide_bounds_of_every_kind_agree_with_the_ideal_function_in_a_stream() {
        let mut rng = Randomness::seeded(4);
        for width in [1usize, 63, 66, 67, 130, 900] {
            let shape = UniformBelow::new(width, 64);
            let source = Generated::new(
                &[(Role::P1, "bound", width), (Role::P2, "random", shape.random_bits())],
                &[("value", width), ("failed", 1)],
                |g, inputs| {
                    let (value, failed) = shape.build(g, &inputs[0], &inputs[1]);
                    vec![value, vec![failed]]
                },
            );
            let top = BigUint::one() << (width - 1);
            let half = BigUint::one() << (width / 2);
            let bounds = [
                BigUint::one(),
                BigUint::from(2u8) % (&top + &top),
                half.clone(),
                half + 1u8,
                top.clone(),
                &top + &top - 1u8,
            ];
            for bound in bounds.into_iter().filter(|bound| !bound.is_zero()) {
                let random: Vec<bool> =
                    (0..shape.random_bits()).map(|_| rng.next_u32() & 1 == 1).collect();
                let inputs = [bits(&bound, width), random.clone()].concat();
                let output = evaluate_source(&source, &inputs).unwrap();
                let value = outcome(&output);
                assert_eq!(value, shape.ideal(&bound, &random), "width {width}, Q = {bound:x}");
                assert!(value.is_some_and(|value| value < bound));
            }
        }
    }

    #[test]
    fn it_costs_what_its_page_says() {
        let and = |width| circuit(UniformBelow::new(width, 64)).counts().and;
        let bound = |width: usize| 10 * width + 2 * 66 * (65 + width.ilog2() as usize + 1);
        for width in [64, 900, 5_000] {
            assert!(and(width) <= bound(width), "{width}: {} of {}", and(width), bound(width));
        }
        assert!(and(900) < 17_000, "{}", and(900));
    }
}
