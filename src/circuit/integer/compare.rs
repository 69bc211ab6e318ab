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
