//! The exponential mechanism by two parties.
//!
//! [`vertical`]: each party knows the scores of its own candidates and turns them into whole
//! weights ([`crate::privacy::exponential`]); one circuit, or the papers' way, finds the winner.

pub mod vertical;

pub use vertical::VerticalExponential;
