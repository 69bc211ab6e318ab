#![doc = include_str!("../README.md")]

#[cfg(feature = "audit")]
pub mod audit;
pub mod crypto;
mod error;
pub mod math;
pub mod simd;

pub use error::Error;
