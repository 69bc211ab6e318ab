//! What one party computes alone, under everything else: vector kernels, big numbers, cryptography.
//!
//! A package of its own, because its inner loops want to be compiled as one unit, and all that is above
//! would take twice as long to build that way. Use it through `diptych`, which shows its rooms as its own.

pub mod crypto;
pub mod math;
pub mod simd;
