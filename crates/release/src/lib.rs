//! From two tables to one release: what is agreed on, how each model runs, and what is published.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`table`] | schema, taxonomies, columns, CSV |
//! | [`agreement`] | what two organisations sign before a release |
//! | [`release`] | models: from tables to a release |
//! | [`publish`] | one party's side of a release, from its files to what it publishes |
//! | `audit` | test vectors, with the feature `audit` |
//!
//! A module uses only modules above it in this table. What its functions take and return from the
//! packages below is shown here under the same names, so that one dependency is enough.

pub mod agreement;
#[cfg(feature = "audit")]
pub mod audit;
pub mod publish;
pub mod release;
pub mod table;

use diptych_mpc::role;
#[doc(no_inline)]
pub use diptych_mpc::{Role, circuit, crypto, math, mechanism, net, privacy, protocol, simd};
