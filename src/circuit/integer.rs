//! Unsigned integers as lists of bits, least significant first, of any width.
//!
//! A shorter operand is extended with zeros. Costs are in AND gates for width
//! w; operands that are constant cost less, because constants are folded.

mod arithmetic;
mod compare;
mod modular;
mod multiply;
mod select;

#[cfg(test)]
mod tests;

pub use arithmetic::{add, add_carry, count_ones, subtract, subtract_borrow, sum};
pub use compare::{
    at_least, bernoulli, equal, is_zero, less_than, less_than_constant, less_than_or_equal,
};
pub use modular::{modular_add, modular_subtract};
pub use multiply::{multiply, multiply_constant};
pub use select::{
    bit_length, maximum, maximum_with_index, prefix_or, select, shift_left, shift_left_constant,
    shift_right, shift_right_constant,
};

use num_bigint::BigUint;

use super::bit::{Bit, Gates};

/// The constant `value` at `width` bits; higher bits of it are dropped.
pub fn constant(value: &BigUint, width: usize) -> Vec<Bit> {
    (0..width).map(|i| Bit::constant(value.bit(i as u64))).collect()
}

/// `value` cut or extended with zeros to `width` bits.
pub fn resize(value: &[Bit], width: usize) -> Vec<Bit> {
    (0..width).map(|i| bit_at(value, i)).collect()
}

/// Bitwise exclusive or: free.
pub fn xor<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit]) -> Vec<Bit> {
    (0..a.len().max(b.len())).map(|i| g.xor(bit_at(a, i), bit_at(b, i))).collect()
}

/// `value` if `condition`, else 0: w ANDs.
pub fn mask<G: Gates>(g: &mut G, condition: Bit, value: &[Bit]) -> Vec<Bit> {
    value.iter().map(|bit| g.and(condition, *bit)).collect()
}

fn bit_at(value: &[Bit], index: usize) -> Bit {
    value.get(index).copied().unwrap_or(Bit::FALSE)
}
