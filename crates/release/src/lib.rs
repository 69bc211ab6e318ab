#![doc = include_str!("../README.md")]

pub mod agreement;
pub mod publish;
pub mod release;
pub mod table;

use diptych_mpc::role;
#[doc(no_inline)]
pub use diptych_mpc::{Role, circuit, crypto, math, mechanism, net, privacy, protocol, simd};
