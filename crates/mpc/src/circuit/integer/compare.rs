//! Comparisons.

use num_bigint::BigUint;

use super::super::bit::{Bit, Gates};
use super::arithmetic::{carry_out, negate_bits};
use super::{bit_at, constant};

/// a < b: w ANDs.
pub fn less_than<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Bit {
    !at_least(g, a, b)
}

/// a ≤ b: w ANDs.
pub fn less_than_or_equal<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Bit {
    at_least(g, b, a)
}

/// a ≥ b: w ANDs (the carry of a + ¬b + 1).
pub fn at_least<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Bit {
    let negated = negate_bits(b, a.len().max(b.len()));
    carry_out(g, a, &negated, Bit::TRUE)
}

/// a < `bound` for a public bound: at most w − 1 ANDs; none if every value is below it.
pub fn less_than_constant<G: Gates>(g: &mut G, a: &[Bit], bound: &BigUint) -> Bit {
    if bound.bits() > a.len() as u64 {
        return Bit::TRUE;
    }
    let bound = constant(bound, a.len());
    less_than(g, a, &bound)
}

/// How many of the highest bits of a number of w bits decide whether it is below a public bound:
/// bits below the lowest 1 of the bound do not matter.
pub fn bits_that_matter(width: usize, bound: &BigUint) -> usize {
    match bound.trailing_zeros() {
        Some(zeros) if bound.bits() <= width as u64 => width - zeros as usize,
        _ => 0,
    }
}

/// a < `bound` in ⌈log2 w⌉ − 1 layers of ANDs, from the [`bits_that_matter`] of a and the products of every
/// two of them, number 2i and number 2i + 1.
pub fn less_than_constant_of_products<G: Gates>(
    g: &mut G,
    a: &[Bit],
    products: &[Bit],
    bound: &BigUint,
) -> Bit {
    let first = match bound.trailing_zeros() {
        Some(zeros) if !a.is_empty() => zeros,
        // No number is below 0, and every number is below a bound with more bits.
        _ => return Bit::constant(bound.bits() > 0),
    };
    let ones: Vec<bool> = (first..first + a.len() as u64).map(|i| bound.bit(i)).collect();
    below_constant(g, a, products, &ones, false).0
}

/// Whether a is below `bound`, which has no more bits than a, and whether it is equal to it: from all bits
/// of a and the products of every two of them, in as many layers.
pub fn compare_with_constant_of_products<G: Gates>(
    g: &mut G,
    a: &[Bit],
    products: &[Bit],
    bound: &BigUint,
) -> (Bit, Bit) {
    let ones: Vec<bool> = (0..a.len() as u64).map(|i| bound.bit(i)).collect();
    below_constant(g, a, products, &ones, true)
}

/// Whether bits are below a constant and, if that matters, whether they are equal to it.
///
/// *How*: a block of bits is below, equal to or above its part of the constant. A block is below where
/// its high half is, or where that is equal and its low half is below; equal where both are. Two bits
/// need their product alone for both answers, since one bit is not below 0, and below 1 where it is not
/// equal to it.
fn below_constant<G: Gates>(
    g: &mut G,
    a: &[Bit],
    products: &[Bit],
    ones: &[bool],
    equality_matters: bool,
) -> (Bit, Bit) {
    let mut products = products.iter();
    let mut blocks: Vec<(Bit, Bit)> = a
        .chunks(2)
        .zip(ones.chunks(2))
        .map(|(bits, ones)| match (bits, ones, products.as_slice()) {
            ([low, high], [low_one, high_one], [product, ..]) => {
                products.next();
                below_or_equal(g, [*low, *high], [*low_one, *high_one], *product)
            }
            (bits, ones, _) => (bit_below(bits[0], ones[0]), bits[0].negate_if(!ones[0])),
        })
        .collect();
    while blocks.len() > 1 {
        let mut decides_nothing = !equality_matters;
        blocks = blocks
            .chunks(2)
            .map(|pair| match pair {
                [(low, low_same), (high, high_same)] => {
                    let lower = g.and(*high_same, *low);
                    // Whether the lowest block is equal matters for equality only.
                    let same =
                        if decides_nothing { Bit::FALSE } else { g.and(*high_same, *low_same) };
                    decides_nothing = false;
                    (g.xor(*high, lower), same)
                }
                odd => odd[0],
            })
            .collect();
    }
    blocks.first().copied().unwrap_or((Bit::FALSE, Bit::TRUE))
}

/// Whether two bits with this product are below a constant, and whether they are equal to it.
fn below_or_equal<G: Gates>(
    g: &mut G,
    [low, high]: [Bit; 2],
    [low_one, high_one]: [bool; 2],
    product: Bit,
) -> (Bit, Bit) {
    let same = high.negate_if(!high_one);
    // (high ⊕ not high_one)·(low ⊕ not low_one), from high·low.
    let mut both = product.negate_if(!high_one && !low_one);
    if !low_one {
        both = g.xor(both, high);
    }
    if !high_one {
        both = g.xor(both, low);
    }
    let mut below = bit_below(high, high_one);
    if low_one {
        let low_below = g.xor(same, both);
        below = g.xor(below, low_below);
    }
    (below, both)
}

fn bit_below(bit: Bit, one: bool) -> Bit {
    if one { !bit } else { Bit::FALSE }
}

/// 1 with probability `threshold` / 2^τ, from τ uniform bits that neither party
/// knows (each is the XOR of a bit of both): at most τ − 1 ANDs.
pub fn bernoulli<G: Gates>(g: &mut G, joint_bits: &[Bit], threshold: &BigUint) -> Bit {
    less_than_constant(g, joint_bits, threshold)
}

/// a = b: w − 1 ANDs at logarithmic depth.
pub fn equal<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Bit {
    g.scope(|g| {
        let same = (0..a.len().max(b.len())).map(|i| !g.xor(bit_at(a, i), bit_at(b, i)));
        let same: Vec<Bit> = same.collect();
        all(g, same)
    })
}

fn all<G: Gates>(g: &mut G, mut bits: Vec<Bit>) -> Bit {
    while bits.len() > 1 {
        bits =
            bits.chunks(2).map(|c| if c.len() == 2 { g.and(c[0], c[1]) } else { c[0] }).collect();
    }
    bits.first().copied().unwrap_or(Bit::TRUE)
}
