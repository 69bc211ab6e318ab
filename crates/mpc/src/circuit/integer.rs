//! Unsigned integers as lists of bits, least significant first, of any width.
//!
//! A shorter operand is extended with zeros. Costs are in AND gates for width
//! w; operands that are constant cost less, because constants are folded.
//!
//! # Example
//!
//! ```
//! use diptych_mpc::circuit::integer::{add, constant, less_than};
//! use diptych_mpc::circuit::Builder;
//! use diptych_mpc::Role;
//!
//! let mut g = Builder::new();
//! let a = g.input(Role::P1, "a", 8);
//! let b = g.input(Role::P2, "b", 8);
//! let sum = add(&mut g, &a, &b);
//! let small = less_than(&mut g, &sum, &constant(&10u32.into(), 8));
//! g.output("sum", &sum);
//! g.output("small", &[small]);
//! let circuit = g.finish();
//!
//! let bits = |number: u8| (0..8).map(|i| number >> i & 1 == 1).collect::<Vec<bool>>();
//! assert_eq!(circuit.evaluate(&[bits(4), bits(5)].concat())?, [bits(9), vec![true]].concat());
//! assert_eq!(circuit.evaluate(&[bits(4), bits(6)].concat())?, [bits(10), vec![false]].concat());
//! assert!(circuit.counts().and <= 7 + 8, "w − 1 for the sum, at most w to compare");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod arithmetic;
mod compare;
mod modular;
mod select;

#[cfg(test)]
mod tests;

pub use arithmetic::{add, add_carry, count_ones, subtract, subtract_borrow, sum};
pub use compare::{
    at_least, bernoulli, bits_that_matter, compare_with_constant_of_products, equal, less_than,
    less_than_constant, less_than_constant_of_products, less_than_or_equal,
};
pub use modular::{modular_add, modular_subtract};
pub use select::{maximum, maximum_with_index, prefix_or, select};

use num_bigint::BigUint;

use super::bit::{Bit, Gates};

/// The constant `value` at `width` bits; its higher bits are dropped.
pub fn constant(value: &BigUint, width: usize) -> Vec<Bit> {
    (0..width).map(|i| Bit::constant(value.bit(i as u64))).collect()
}

/// `value` truncated or extended with zeros to `width` bits.
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
