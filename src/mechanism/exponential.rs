//! The exponential mechanism by two parties.
//!
//! [`vertical`]: each party knows the scores of its own candidates and turns them into whole
//! weights ([`crate::privacy::exponential`]); one circuit finds the winner, or the papers' way
//! ([`paper`]) does.

pub mod paper;
pub mod vertical;

pub use vertical::VerticalExponential;
