//! Sums and differences.

use std::collections::VecDeque;

use super::super::bit::{Bit, Gates};
use super::bit_at;

/// a + b modulo 2^w, w the larger width: w − 1 ANDs.
pub fn add<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    ripple(g, a, b, Bit::FALSE, false).0
}

/// a + b with one bit more than the larger width: w ANDs.
pub fn add_carry<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    let (mut total, carry) = ripple(g, a, b, Bit::FALSE, true);
    total.push(carry);
    total
}

/// a − b modulo 2^w, w the larger width: w − 1 ANDs.
pub fn subtract<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    let negated = negate_bits(b, a.len().max(b.len()));
    ripple(g, a, &negated, Bit::TRUE, false).0
}

/// a − b modulo 2^w, and whether a < b: w ANDs.
pub fn subtract_borrow<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> (Vec<Bit>, Bit) {
    let negated = negate_bits(b, a.len().max(b.len()));
    let (difference, carry) = ripple(g, a, &negated, Bit::TRUE, true);
    (difference, !carry)
}

/// The sum of all terms, wide enough for any of their values: one AND per bit
/// that disappears.
pub fn sum<G: Gates>(g: &mut G, terms: &[Vec<Bit>]) -> Vec<Bit> {
    let width = terms.iter().map(Vec::len).max().unwrap_or(0);
    let bits_of_count = (usize::BITS - terms.len().leading_zeros()) as usize;
    let mut columns = vec![VecDeque::new(); width + bits_of_count];
    for term in terms {
        term.iter().zip(&mut columns).for_each(|(bit, column)| column.push_back(*bit));
    }
    g.scope(|g| add_columns(g, columns))
}

/// How many of `bits` are set: fewer than one AND per bit.
pub fn count_ones<G: Gates>(g: &mut G, bits: &[Bit]) -> Vec<Bit> {
    let width = (usize::BITS - bits.len().leading_zeros()) as usize;
    let mut columns = vec![VecDeque::new(); width];
    if let Some(column) = columns.first_mut() {
        column.extend(bits);
    }
    g.scope(|g| add_columns(g, columns))
}

/// Adds up the bits of each column (of weight 2^i) by full adders, modulo 2^columns.
pub(super) fn add_columns<G: Gates>(g: &mut G, mut columns: Vec<VecDeque<Bit>>) -> Vec<Bit> {
    let mut total = Vec::with_capacity(columns.len());
    for index in 0..columns.len() {
        let last = index + 1 == columns.len();
        // Oldest first, so that the tree stays flat; zeros are dropped at no cost.
        columns[index].retain(|bit| *bit != Bit::FALSE);
        while columns[index].len() > 1 {
            let mut next = || columns[index].pop_front().unwrap_or(Bit::FALSE);
            let (a, b, c) = (next(), next(), next());
            let ab = g.xor(a, b);
            let digit = g.xor(ab, c);
            columns[index].push_back(digit);
            if !last {
                let carry = g.majority(a, b, c);
                if carry != Bit::FALSE {
                    columns[index + 1].push_back(carry);
                }
            }
        }
        total.push(columns[index].pop_front().unwrap_or(Bit::FALSE));
    }
    total
}

pub(super) fn negate_bits(value: &[Bit], width: usize) -> Vec<Bit> {
    (0..width).map(|i| !bit_at(value, i)).collect()
}

/// The carry out of a + b + carry.
pub(super) fn carry_out<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit], carry: Bit) -> Bit {
    g.scope(|g| {
        (0..a.len().max(b.len()))
            .fold(carry, |carry, i| g.majority(bit_at(a, i), bit_at(b, i), carry))
    })
}

fn ripple<G: Gates>(
    g: &mut G,
    a: &[Bit],
    b: &[Bit],
    mut carry: Bit,
    last_carry: bool,
) -> (Vec<Bit>, Bit) {
    let width = a.len().max(b.len());
    g.scope(|g| {
        let mut total = Vec::with_capacity(width);
        for i in 0..width {
            let (x, y) = (bit_at(a, i), bit_at(b, i));
            let xy = g.xor(x, y);
            total.push(g.xor(xy, carry));
            if i + 1 < width || last_carry {
                carry = g.majority(x, y, carry);
            }
        }
        (total, carry)
    })
}
