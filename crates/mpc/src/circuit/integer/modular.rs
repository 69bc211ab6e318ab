//! Sums and differences modulo a public number.

use num_bigint::BigUint;

use super::super::bit::{Bit, Gates};
use super::arithmetic::{add, add_carry, subtract_borrow};
use super::{constant, resize};

/// a + b modulo `modulus`, at its width w. Both must be below it: at most 3w − 1 ANDs.
pub fn modular_add<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit], modulus: &BigUint) -> Vec<Bit> {
    let width = modulus.bits() as usize;
    g.scope(|g| {
        let total = add_carry(g, &resize(a, width), &resize(b, width));
        let (reduced, below) = subtract_borrow(g, &total, &constant(modulus, width + 1));
        add_masked_constant(g, &resize(&reduced, width), below, modulus)
    })
}

/// a − b modulo `modulus`, at its width w. Both must be below it: 2w − 1 ANDs.
pub fn modular_subtract<G: Gates>(g: &mut G, a: &[Bit], b: &[Bit], modulus: &BigUint) -> Vec<Bit> {
    let width = modulus.bits() as usize;
    g.scope(|g| {
        let (difference, below) = subtract_borrow(g, &resize(a, width), &resize(b, width));
        add_masked_constant(g, &difference, below, modulus)
    })
}

/// value + `modulus` if `condition`: the mask of a constant is free.
fn add_masked_constant<G: Gates>(
    g: &mut G,
    value: &[Bit],
    condition: Bit,
    modulus: &BigUint,
) -> Vec<Bit> {
    let masked: Vec<Bit> =
        constant(modulus, value.len()).iter().map(|bit| g.and(condition, *bit)).collect();
    add(g, value, &masked)
}
