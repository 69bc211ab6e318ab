//! The circuits that are exported for review in `circuits/`.

use num_bigint::BigUint;
use num_traits::One;

use super::builder::Builder;
use super::integer::{less_than, maximum_with_index, modular_add};
use super::netlist::{Circuit, Owner};
use super::{aes128, sha256};

/// Name of the file and the circuit, for every exported circuit.
pub fn exported() -> Vec<(&'static str, Circuit)> {
    vec![
        ("less_than_64.txt", comparison(64)),
        ("maximum_8x32.txt", maximum(8, 32)),
        ("modular_add_p255.txt", modular_addition(&p255())),
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
    let a = g.input(Owner::P1, "a", width);
    let b = g.input(Owner::P2, "b", width);
    let less = less_than(&mut g, &a, &b);
    g.output("less", &[less]);
    g.finish()
}

/// The largest of P1's values and then P2's (half of them each), and its first index.
pub fn maximum(count: usize, width: usize) -> Circuit {
    let mut g = Builder::new();
    let half = count / 2;
    let a = g.input(Owner::P1, "a", half * width);
    let b = g.input(Owner::P2, "b", (count - half) * width);
    let values: Vec<_> = [a, b].concat().chunks(width).map(<[_]>::to_vec).collect();
    let (largest, index) = maximum_with_index(&mut g, &values);
    g.output("largest", &largest);
    g.output("index", &index);
    g.finish()
}

/// The sum of P1's and P2's numbers modulo a public modulus.
pub fn modular_addition(modulus: &BigUint) -> Circuit {
    let mut g = Builder::new();
    let a = g.input(Owner::P1, "a", modulus.bits() as usize);
    let b = g.input(Owner::P2, "b", modulus.bits() as usize);
    let sum = modular_add(&mut g, &a, &b, modulus);
    g.output("sum", &sum);
    g.finish()
}

/// 2²⁵⁵ − 19.
pub fn p255() -> BigUint {
    (BigUint::one() << 255) - 19u32
}
