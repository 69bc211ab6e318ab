#![doc = include_str!("../README.md")]

pub mod circuit;
pub mod mechanism;
pub mod net;
pub mod protocol;
#[doc(hidden)]
pub mod role;

#[doc(no_inline)]
pub use diptych_primitives::{crypto, math, simd};
#[doc(no_inline)]
pub use diptych_privacy as privacy;
pub use role::Role;
