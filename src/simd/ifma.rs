//! Montgomery arithmetic on eight numbers at once with the AVX-512 IFMA instructions.

#[cfg(target_arch = "x86_64")]
mod fixed;
#[cfg(target_arch = "x86_64")]
mod kernel;
#[cfg(target_arch = "x86_64")]
mod lanes;
#[cfg(target_arch = "x86_64")]
mod modulus;
#[cfg(test)]
#[cfg(target_arch = "x86_64")]
mod tests;

#[cfg(target_arch = "x86_64")]
pub use fixed::FixedBase8;
#[cfg(target_arch = "x86_64")]
pub use lanes::Lanes;
#[cfg(target_arch = "x86_64")]
pub use modulus::{MAX_BITS, Modulus8, available};

#[cfg(not(target_arch = "x86_64"))]
mod absent;
#[cfg(not(target_arch = "x86_64"))]
pub use absent::{FixedBase8, Lanes, MAX_BITS, Modulus8, available};
