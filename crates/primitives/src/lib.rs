#![doc = include_str!("../README.md")]

pub mod crypto;
pub mod math;
pub mod simd;
