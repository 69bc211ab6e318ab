//! From tables to a release.
//!
//! Use it through `diptych`, which shows this room as its own.

pub mod release;

use diptych_engine::role;
pub use diptych_terms::{
    Role, agreement, circuit, crypto, math, mechanism, net, privacy, protocol, simd, table,
};
