//! What two organisations sign before a release.
//!
//! Use it through `diptych`, which shows this room as its own.

pub mod agreement;

use diptych_engine::role;
pub use diptych_engine::{
    Role, circuit, crypto, math, mechanism, net, privacy, protocol, simd, table,
};
