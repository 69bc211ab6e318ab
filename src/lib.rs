//! Two organisations publish one differentially private table over data that
//! neither shows the other.
//!
//! The rooms of the house, from the ground up. A room uses only rooms above it
//! in this list; `tests/floor_plan.rs` holds every file to that.
//!
//! | room | what lives there |
//! | --- | --- |
//! | [`simd`] | vector kernels behind run-time detection: the only unsafe code |
//! | [`math`] | big numbers, primes, the random generator |
//! | [`crypto`] | what one party can do alone: encryption, garbling |
//! | [`circuit`] | boolean circuits: type, builder, reader, writer, plain evaluator |
//! | [`net`] | framed, typed messages between two parties; TLS; metering |
//! | [`protocol`] | two-party primitives over a session |
//! | [`privacy`] | exact samplers, mechanisms for one party, budget, ledger |
//! | [`mechanism`] | the same mechanisms run by two parties |
//! | [`table`] | schema, taxonomies, columns, CSV |
//! | [`agreement`] | what two organisations sign before a release |
//! | [`release`] | DiffGen: from tables to a release |
//! | [`app`] | the command `diptych` |

pub mod agreement;
pub mod app;
pub mod circuit;
pub mod crypto;
pub mod math;
pub mod mechanism;
pub mod net;
pub mod privacy;
pub mod protocol;
pub mod release;
pub mod simd;
pub mod table;
