//! What two parties compute together over one connection.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`Role`] | which of the two parties one is |
//! | [`circuit`] | boolean circuits: type, builder, reader, writer, plain evaluator |
//! | [`net`] | framed, typed messages between two parties; TLS; metering |
//! | [`protocol`] | two-party primitives over a session |
//! | [`mechanism`] | the mechanisms of [`diptych_privacy`] run by two parties |
//! | `audit` | test vectors, with the feature `audit` |
//!
//! A module uses only modules above it in this table. What its functions take and return from the
//! packages below is shown here under the same names, so that one dependency is enough.

#[cfg(feature = "audit")]
pub mod audit;
pub mod circuit;
pub mod mechanism;
pub mod net;
pub mod protocol;
pub mod role;

#[doc(no_inline)]
pub use diptych_primitives::{crypto, math, simd};
#[doc(no_inline)]
pub use diptych_privacy as privacy;
pub use role::Role;
