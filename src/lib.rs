//! Two organisations publish one differentially private table over data that
//! neither shows the other.
//!
//! | module | package | what it holds |
//! | --- | --- | --- |
//! | [`Role`] | `diptych-mpc` | which of the two parties one is |
//! | [`simd`] | `diptych-primitives` | vector kernels behind run-time detection: the only unsafe code |
//! | [`math`] | | big numbers, primes, the random generator |
//! | [`crypto`] | | what one party can do alone: encryption, garbling |
//! | [`privacy`] | `diptych-privacy` | exact samplers, mechanisms for one party, budget, ledger |
//! | [`circuit`] | `diptych-mpc` | boolean circuits: type, builder, reader, writer, plain evaluator |
//! | [`net`] | | framed, typed messages between two parties; TLS; metering |
//! | [`protocol`] | | two-party primitives over a session |
//! | [`mechanism`] | | the mechanisms of `privacy` run by two parties |
//! | [`paper`] | | the papers' protocols and mechanisms that no default uses |
//! | [`table`] | `diptych-release` | schema, taxonomies, columns, CSV |
//! | [`agreement`] | | what two organisations sign before a release |
//! | [`release`] | | models: from tables to a release |
//! | [`publish`] | | one party's side of a release, from its files to what it publishes |
//!
//! This package shows all of them under one name and has the command `diptych` (feature `cli`). Whoever
//! needs one package alone depends on that one.
//!
//! # Example
//!
//! Two clinics publish how many of their patients together had an illness, and how many had not.
//! Neither sees the other's numbers, and the noise hides every single patient.
//!
//! ```
//! use diptych::mechanism::noise::TwoPartyNoise;
//! use diptych::net::Error;
//! use diptych::privacy::{AddNoise, Budget, Epsilon};
//! use diptych::protocol::Workspace;
//! use diptych::protocol::pair::{Setup, run_workspaces};
//! use diptych::protocol::shares::WordShares;
//!
//! let epsilon: Epsilon = "1".parse()?;
//! let publish = |session: &mut Workspace, own: &[u64]| -> Result<Vec<i64>, Error> {
//!     let spend = Budget::new(&epsilon).spend_rest("counts")?;
//!     let shares = WordShares::new(32, own.to_vec())?;
//!     TwoPartyNoise::new(session).add_noise(spend, &shares)
//! };
//! let outcome = run_workspaces(
//!     Setup::default(),
//!     |session| publish(session, &[310, 4_690]),
//!     |session| publish(session, &[240, 3_760]),
//! );
//! let (at_north, at_south) = (outcome.p1?, outcome.p2?);
//! assert_eq!(at_north, at_south);
//! // The sums are 550 and 8,450; a noise of 100 comes about once in e^95 runs.
//! assert!(at_north[0].abs_diff(550) < 100 && at_north[1].abs_diff(8_450) < 100);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A whole release, from agreement to table, is in [`release::diffgen::two_party`].

#[cfg(all(feature = "cli", feature = "testing"))]
pub mod app;
#[cfg(all(feature = "cli", not(feature = "testing")))]
mod app;

pub use diptych_mpc::Role;
#[cfg(feature = "cli")]
use diptych_mpc::role;
#[doc(inline)]
pub use diptych_mpc::{circuit, mechanism, net, paper, protocol};
#[doc(no_inline)]
pub use diptych_primitives as primitives;
#[doc(inline)]
pub use diptych_primitives::{crypto, math, simd};
#[doc(inline)]
pub use diptych_privacy as privacy;
#[doc(inline)]
pub use diptych_release::{Error, agreement, error, publish, release, table};

/// The command `diptych`: runs as the shell asked, and returns the exit status.
#[cfg(feature = "cli")]
pub fn main() -> std::process::ExitCode {
    app::main()
}
