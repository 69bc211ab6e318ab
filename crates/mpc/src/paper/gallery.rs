//! The circuits of the papers' protocols that are exported for review in `circuits/`: at sizes that a
//! person can read, built by the same code as those that run.

use super::division::DivisionShape;
use super::exponential::{horizontal, vertical};
use crate::circuit::Circuit;
use crate::role::Role;

/// Name of the file and the circuit, for every exported circuit.
pub fn exported() -> [(&'static str, Circuit); 4] {
    [
        ("division_8.txt", division().circuit()),
        ("horizontal_choice_4.txt", horizontal_choice().circuit()),
        ("horizontal_max_2.txt", horizontal_max().circuit()),
        ("vertical_choice_2x2.txt", vertical_choice().circuit()),
    ]
}

/// Eight users, k = 2, δ = 3/4.
pub fn division() -> DivisionShape {
    DivisionShape { users: 8, k: 2, delta: (3, 4), divider: Role::P1 }
}

/// Two candidates of each party, sums of 24 bits, T = 8.
pub fn vertical_choice() -> vertical::ChoiceShape {
    vertical::ChoiceShape::new([2, 2], 24, 8)
}

/// Four candidates with shared weights of 22 bits, sums of 24, T = 8.
pub fn horizontal_choice() -> horizontal::PickShape {
    horizontal::PickShape::new(4, 22, 8)
}

/// Two candidates with two and three children, two classes, counts of 8 bits; masks 16 bits wider
/// than scores.
pub fn horizontal_max() -> horizontal::MaxShape {
    horizontal::MaxShape {
        classes: 2,
        children: vec![2, 3],
        count_bits: 8,
        score_bits: 9,
        sigma: 16,
    }
}
