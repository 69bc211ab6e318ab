//! The exponential mechanism by two parties.
//!
//! [`vertical`]: each party knows the scores of its own candidates and turns them into whole
//! weights ([`crate::privacy::exponential`]); one circuit finds the winner, or one
//! comparison per candidate does ([`stepwise`]). [`horizontal`]: scores are sums over both parties' records; weights are a
//! polynomial of them, evaluated obliviously ([`crate::privacy::taylor`]).

pub mod horizontal;
pub mod stepwise;
pub mod vertical;

pub use horizontal::HorizontalExponential;
pub use vertical::VerticalExponential;
