#![doc = include_str!("../README.md")]

pub mod agreement;
#[cfg(feature = "audit")]
pub mod audit;
pub mod error;
pub mod publish;
pub mod release;
pub mod table;

use diptych_mpc::role;
#[doc(no_inline)]
pub use diptych_mpc::{
    Role, circuit, crypto, math, mechanism, net, paper, primitives, privacy, protocol, simd,
};
pub use error::Error;
