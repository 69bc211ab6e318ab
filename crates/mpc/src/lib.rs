#![doc = include_str!("../README.md")]

#[cfg(feature = "audit")]
pub mod audit;
pub mod circuit;
mod error;
pub mod mechanism;
pub mod net;
pub mod paper;
pub mod protocol;
pub mod role;

#[doc(no_inline)]
pub use diptych_primitives::{self as primitives, crypto, math, simd};
#[doc(no_inline)]
pub use diptych_privacy as privacy;
pub use error::{Detail, Error};
pub use role::Role;
