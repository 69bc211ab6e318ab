//! Big-number helpers and the random generator. Nothing here uses networks or parties.
//!
//! Numbers are [`num_bigint`] at the boundary and little-endian 64-bit limbs inside. What works
//! on limbs is constant-time in their values unless its name ends in `_vartime`; the lengths of
//! numbers and moduli and the widths of windows are public. Conversions from and to [`num_bigint`]
//! take a time that depends on a number's length, and [`exponential`] and [`rational`] are
//! variable-time throughout.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::math::{Randomness, Rational, modular};
//! use num_bigint::BigUint;
//!
//! // A number that has an inverse: of 12 only 1, 5, 7 and 11 do.
//! let number = modular::random_coprime(&BigUint::from(12u32), &mut Randomness::from_os()?)?;
//! assert!([1u32, 5, 7, 11].map(BigUint::from).contains(&number));
//!
//! // A tenth is exact: three of them are 3/10, which no float can represent.
//! let tenth: Rational = "1/10".parse()?;
//! let sum = &(&tenth + &tenth) + &tenth;
//! assert_eq!(sum.to_string(), "3/10");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use std::fmt;

pub mod exponential;
pub mod fixed_base;
pub mod hex;
pub mod limbs;
pub mod modular;
pub mod montgomery;
pub mod power;
pub mod prime;
pub mod random;
pub mod rational;
pub mod square;
pub mod wiped;

pub use fixed_base::FixedBase;
pub use montgomery::Modulus;
pub use power::Backend;
pub use random::Randomness;
pub use rational::Rational;
pub use square::{Residue, SquareModulus};

/// The range in which a number was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// Smallest number allowed.
    pub at_least: u64,
    /// The length, in bits, of the bound below which the number must lie.
    pub bound_bits: u64,
}

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "at least {} and below a bound of {} bits", self.at_least, self.bound_bits)
    }
}
