//! The circuits that are exported for review in `circuits/`.

use num_bigint::BigUint;
use num_traits::One;

use super::builder::Builder;
use super::integer::{add, less_than, maximum_with_index, modular_add, subtract, xor};
use super::netlist::Circuit;
use super::random_value::UniformBelow;
use super::{aes128, sha256};
use crate::role::Role;

/// Name of the file and the circuit, for every exported circuit.
pub fn exported() -> Vec<(&'static str, Circuit)> {
    vec![
        ("less_than_64.txt", comparison(64)),
        ("maximum_8x32.txt", maximum(8, 32)),
        ("modular_add_p255.txt", modular_addition(&p255())),
        ("random_value_16.txt", random_value(16, 8)),
    ]
}

/// The circuit called `name`: an exported one (without `.txt`), `aes_128` or `sha_256`.
pub fn named(name: &str) -> Option<Circuit> {
    match name {
        "aes_128" => Some(aes128::circuit()),
        "sha_256" => Some(sha256::circuit()),
        _ => exported().into_iter().find(|e| e.0.strip_suffix(".txt") == Some(name)).map(|e| e.1),
    }
}

/// Whether P1's integer is smaller than P2's.
pub fn comparison(width: usize) -> Circuit {
    let mut g = Builder::new();
    let a = g.input(Role::P1, "a", width);
    let b = g.input(Role::P2, "b", width);
    let less = less_than(&mut g, &a, &b);
    g.output("less", &[less]);
    g.finish()
}

/// The largest of P1's values and then P2's (half of them each), and its first index.
pub fn maximum(count: usize, width: usize) -> Circuit {
    let mut g = Builder::new();
    let half = count / 2;
    let a = g.input(Role::P1, "a", half * width);
    let b = g.input(Role::P2, "b", (count - half) * width);
    let values: Vec<_> = [a, b].concat().chunks(width).map(<[_]>::to_vec).collect();
    let (largest, index) = maximum_with_index(&mut g, &values);
    g.output("largest", &largest);
    g.output("index", &index);
    g.finish()
}

/// The sum of P1's and P2's numbers modulo a public modulus.
pub fn modular_addition(modulus: &BigUint) -> Circuit {
    let mut g = Builder::new();
    let a = g.input(Role::P1, "a", modulus.bits() as usize);
    let b = g.input(Role::P2, "b", modulus.bits() as usize);
    let sum = modular_add(&mut g, &a, &b, modulus);
    g.output("sum", &sum);
    g.finish()
}

/// A uniform value below a bound that is shared over Z_{2^width}: P1's inputs are its share of the
/// bound, its random bits and its mask, P2's are its share and its random bits; P2's share of the
/// value comes out, and whether the drawing failed, which has a chance below 2^−`sigma`.
pub fn random_value(width: usize, sigma: usize) -> Circuit {
    let shape = UniformBelow::new(width, sigma);
    let mut g = Builder::new();
    let first = g.input(Role::P1, "p1", 2 * width + shape.random_bits());
    let second = g.input(Role::P2, "p2", width + shape.random_bits());
    let (bound1, rest) = first.split_at(width);
    let (random1, mask) = rest.split_at(shape.random_bits());
    let (bound2, random2) = second.split_at(width);
    let bound = add(&mut g, bound1, bound2);
    let random = xor(&mut g, random1, random2);
    let (value, failed) = shape.build(&mut g, &bound, &random);
    let share = subtract(&mut g, &value, mask);
    g.output("share", &share);
    g.output("failed", &[failed]);
    g.finish()
}

/// 2²⁵⁵ − 19.
pub fn p255() -> BigUint {
    (BigUint::one() << 255) - 19u32
}
