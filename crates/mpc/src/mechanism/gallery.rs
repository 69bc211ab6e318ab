//! The circuits of these mechanisms that are exported for review in `circuits/`: at sizes that a
//! person can read, built by the same code as those that run.

use super::noise::joint;
use super::noisy_max::{self, Sharing};
use crate::circuit::Circuit;
use crate::math::Rational;
use crate::privacy::Error;
use crate::privacy::digits::DigitSampler;
use crate::protocol::Bulk;

/// Name of the file and the circuit, for every exported circuit.
///
/// # Errors
/// None in practice: the sizes are fixed.
pub fn exported() -> Result<Vec<(&'static str, Circuit)>, Error> {
    Ok(vec![
        ("joint_noise_k24.txt", joint_noise()?.circuit()),
        ("noisy_maximum_4.txt", noisy_maximum()?.circuit(4)),
    ])
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
