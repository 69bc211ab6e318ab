//! Selection, maximum and the leading one.

use super::super::bit::{Bit, Gates};
use super::compare::at_least;
use super::{bit_at, resize};

/// `a` if `choice`, else `b`: w ANDs.
pub fn select<G: Gates>(g: &mut G, choice: Bit, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    (0..a.len().max(b.len())).map(|i| g.mux(choice, bit_at(a, i), bit_at(b, i))).collect()
}

/// The largest of `values` (0 if there is none): 2w ANDs per value after the first.
pub fn maximum<G: Gates>(g: &mut G, values: &[Vec<Bit>]) -> Vec<Bit> {
    tournament(g, values, 0).0
}

/// The largest of `values` and the index of the first that has it.
pub fn maximum_with_index<G: Gates>(g: &mut G, values: &[Vec<Bit>]) -> (Vec<Bit>, Vec<Bit>) {
    let last = values.len().saturating_sub(1);
    tournament(g, values, (usize::BITS - last.leading_zeros()) as usize)
}

/// A tournament: ties go to the lower index, which is always on the left.
fn tournament<G: Gates>(g: &mut G, values: &[Vec<Bit>], index_bits: usize) -> (Vec<Bit>, Vec<Bit>) {
    let width = values.iter().map(Vec::len).max().unwrap_or(0);
    // An index starts as a constant, so selecting among indices costs little.
    let index = |i: usize| (0..index_bits).map(|bit| Bit::constant(i >> bit & 1 == 1)).collect();
    let mut round: Vec<(Vec<Bit>, Vec<Bit>)> =
        values.iter().enumerate().map(|(i, v)| (resize(v, width), index(i))).collect();
    while round.len() > 1 {
        round = round
            .chunks(2)
            .map(|pair| match pair {
                [left, right] => g.scope(|g| {
                    let left_wins = at_least(g, &left.0, &right.0);
                    let value = select(g, left_wins, &left.0, &right.0);
                    (value, select(g, left_wins, &left.1, &right.1))
                }),
                odd => odd[0].clone(),
            })
            .collect();
    }
    round.pop().unwrap_or_else(|| (Vec::new(), index(0)))
}

/// Bit i of the result is set if any bit of `a` from i upwards is: w − 1 ANDs.
pub fn prefix_or<G: Gates>(g: &mut G, a: &[Bit]) -> Vec<Bit> {
    let mut result = a.to_vec();
    for i in (0..a.len().saturating_sub(1)).rev() {
        result[i] = g.or(a[i], result[i + 1]);
    }
    result
}
