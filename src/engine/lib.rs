//! What two parties compute together, and what one of them needs for it: circuits, channels, mechanisms,
//! tables.
//!
//! Use it through `diptych`, which shows these rooms as its own.

pub mod circuit;
pub mod mechanism;
pub mod net;
pub mod privacy;
pub mod protocol;
#[doc(hidden)]
pub mod role;
pub mod table;

pub use diptych_ground::{crypto, math, simd};
pub use role::Role;
