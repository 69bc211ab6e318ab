#![doc = include_str!("../README.md")]

#[cfg(feature = "audit")]
pub mod audit;
pub mod crypto;
pub mod math;
pub mod simd;
