//! From tables to a release, and one party's side of it.
//!
//! Use it through `diptych`, which shows these rooms as its own.

pub mod publish;
pub mod release;

use diptych_engine::role;
pub use diptych_terms::{
    Role, agreement, circuit, crypto, math, mechanism, net, privacy, protocol, simd, table,
};
