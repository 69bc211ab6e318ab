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

/// The same in ⌈log2 w⌉ layers of ANDs: at most 3w/2 of them, fewer where the bound begins or ends
/// with zeros.
///
/// *How*: a block of bits is below, equal to or above its part of the bound. A block is below where
/// its high half is, or where that is equal and its low half is below; equal where both are. The two
/// lowest bits of a block need one AND for both answers, since one bit is not below 0, and below 1
/// where it is not equal to it.
pub fn less_than_constant_shallow<G: Gates>(g: &mut G, a: &[Bit], bound: &BigUint) -> Bit {
    if bound.bits() > a.len() as u64 {
        return Bit::TRUE;
    }
    // Whatever stands below the lowest one of the bound does not matter.
    match bound.trailing_zeros() {
        Some(zeros) => {
            let constant: Vec<bool> = (zeros..a.len() as u64).map(|i| bound.bit(i)).collect();
            below_or_equal(g, &a[zeros as usize..], &constant, false).0
        }
        None => Bit::FALSE,
    }
}

/// Whether a is below a constant of as many bits, and, if that is asked, whether it is equal.
fn below_or_equal<G: Gates>(g: &mut G, a: &[Bit], constant: &[bool], equal: bool) -> (Bit, Bit) {
    match (a, constant) {
        ([], _) | (_, []) => (Bit::FALSE, Bit::TRUE),
        ([bit], [one, ..]) => (bit_below(*bit, *one), bit.negate_if(!one)),
        ([low, high], [low_one, high_one]) => {
            let (below, same) = (bit_below(*high, *high_one), high.negate_if(!high_one));
            if !low_one && !equal {
                return (below, Bit::FALSE);
            }
            let both = g.and(same, low.negate_if(!low_one));
            let below = if *low_one {
                let low_below = g.xor(same, both);
                g.xor(below, low_below)
            } else {
                below
            };
            (below, both)
        }
        _ => {
            let half = (a.len() / 2).next_power_of_two().min(a.len() - 1);
            let (low, low_same) = below_or_equal(g, &a[..half], &constant[..half], equal);
            let (high, high_same) = below_or_equal(g, &a[half..], &constant[half..], true);
            let lower = g.and(high_same, low);
            let same = if equal { g.and(high_same, low_same) } else { Bit::FALSE };
            (g.xor(high, lower), same)
        }
    }
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
