//! Two-party primitives over a [`Session`]. Nothing here uses privacy budgets or tables.
//!
//! Every primitive has the same structure: a page that states inputs, output, what each party
//! learns and what it costs; the ideal function; one function per role, or one for both; and tests
//! that the real run equals the ideal function, that the shape of the transcript does not depend on
//! inputs, and that invalid messages are errors.
//!
//! All of them take a [`Session`], and [`prepared`], which keeps what it draws, a [`Workspace`]; [`pair`] runs two parties in one process.
//! Values that neither party knows are held as [`shares`]; [`coins`] are a party's part of random
//! bits that neither knows; [`forecast`] counts what a run costs.
//!
//! | module | what it computes |
//! | --- | --- |
//! | [`ot`] | oblivious transfers |
//! | [`transfers`] | correlated transfers from any source |
//! | [`soft_spoken`] | correlated transfers with four bytes each |
//! | [`silent`] | correlated transfers with almost no bytes, by LPN |
//! | [`vole`] | vector OLE, from transfers and LPN |
//! | [`oprf`] | a keyed function: one party has the key, the other learns values |
//! | [`yao`] | any circuit, garbled |
//! | [`bits`] | any circuit on bits in shares, with few bytes |
//! | [`prepared`] | digits of noise that nobody knows, drawn ahead |
//! | [`psi`] | which identifiers two lists share, how many, or whether at least so many |
//! | [`join`] | which of one's people the peer has, and the peer's values for them, in shares |
//! | [`sum_by_group`] | sums by the peer's groups, and the joint count table |
//!
//! What the papers need and no default uses is in [`paper`](crate::paper).
//!
//! # Example
//!
//! ```
//! use diptych_mpc::net::{Message, Tag};
//! use diptych_mpc::protocol::pair::{Setup, run_pair};
//!
//! #[derive(serde::Serialize, serde::Deserialize)]
//! struct Number(u64);
//! impl Message for Number {
//!     const TAG: Tag = Tag::new(*b"numb");
//! }
//!
//! let outcome = run_pair(
//!     Setup::default(),
//!     |session| session.channel.send(&Number(42)),
//!     |session| session.channel.receive::<Number>().map(|number| number.0),
//! );
//! assert!(outcome.p1.is_ok());
//! assert_eq!(outcome.p2.ok(), Some(42));
//! assert_eq!(outcome.costs.p1.total().messages_sent, outcome.costs.p2.total().messages_received);
//! ```

pub mod bits;
pub mod coins;
pub mod forecast;
pub mod join;
pub mod oprf;
pub mod ot;
pub mod pair;
pub mod prepared;
pub mod psi;
pub mod shards;
pub mod shares;
pub mod silent;
pub mod soft_spoken;
pub mod sum_by_group;
pub mod transfers;
pub mod vole;
pub mod yao;

mod session;
mod workspace;

#[cfg(test)]
mod tests;

#[cfg(test)]
pub(crate) use tests::announced;

pub use coins::Coins;
pub use session::Session;
pub use workspace::{Bulk, Workspace};
