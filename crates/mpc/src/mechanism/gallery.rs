//! The circuits of these mechanisms that are exported for review in `circuits/`: at sizes that a
//! person can read, built by the same code as those that run.

use super::division::DivisionShape;
use super::exponential::{horizontal, vertical};
use super::noise::joint;
use super::noisy_max::{self, Sharing};
use crate::circuit::Circuit;
use crate::math::Rational;
use crate::privacy::Error;
use crate::privacy::digits::DigitSampler;
use crate::protocol::Bulk;
use crate::role::Role;

/// Name of the file and the circuit, for every exported circuit.
///
/// # Errors
/// None in practice: the sizes are fixed.
pub fn exported() -> Result<Vec<(&'static str, Circuit)>, Error> {
    Ok(vec![
        ("division_8.txt", division().circuit()),
        ("horizontal_choice_4.txt", horizontal_choice().circuit()),
        ("horizontal_max_2.txt", horizontal_max().circuit()),
        ("joint_noise_k24.txt", joint_noise()?.circuit()),
        ("noisy_maximum_4.txt", noisy_maximum()?.circuit(4)),
        ("vertical_choice_2x2.txt", vertical_choice().circuit()),
    ])
}

/// Eight users, k = 2, δ = 3/4.
pub fn division() -> DivisionShape {
    DivisionShape { users: 8, k: 2, delta: (3, 4), divider: Role::P1 }
}

/// Counts of 24 bits, noise of rate 1/2 in 8 digits at τ = 16.
///
/// # Errors
/// None in practice.
pub fn joint_noise() -> Result<joint::JointNoiseShape, Error> {
    Ok(joint::JointNoiseShape {
        bits: 24,
        noise: DigitSampler::new(&Rational::power_of_two(-1), 8, 16)?,
    })
}

/// Whole scores of 8 bits known to one party each, on a grid of step 2^-10; noise of rate 2^-12 per
/// step in 16 digits at τ = 16.
///
/// # Errors
/// None in practice.
pub fn noisy_maximum() -> Result<noisy_max::NoisyMaxShape, Error> {
    let noise = DigitSampler::new(&Rational::power_of_two(-12), 16, 16)?;
    let (sharing, bulk) = (Sharing::Xor, Bulk::Garbled);
    Ok(noisy_max::NoisyMaxShape { sharing, score_bits: 8, shift: 10, noise, bulk })
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
