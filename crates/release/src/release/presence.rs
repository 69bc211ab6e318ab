//! δ-max-site-presence (the site-presence paper): how surely a partner may conclude from a joined
//! table that somebody is in the other's data. *Not differential privacy*: exact counts, one release,
//! no prior knowledge.
//!
//! A holds some columns and B others, of different people out of a public population U; what is
//! published is a generalized join of those whom both have. For each site n and every combination v of
//! values of n's columns in it: **common(v) ≤ δ · holders_n(v)**, where common are the people of v in
//! the join and holders all people of v at site n. Otherwise somebody who knows that a person is at n
//! and has v knows with more than δ that the other site has that person too. *Theorem.* Full
//! combinations suffice: those of fewer values are unions, and (Σc)/(Σh) ≤ max c/h (mediants). The
//! bound is from above only: **absence may be shown**.
//!
//! [`check`] tests it of any table with exact counts, at home, by one site. [`simulate`] is the papers'
//! way to such a table, Mondrian over the population with dummies in place of people whom a site does
//! not have, played in one process: for measuring what it is worth, not for running it. What it would
//! tell a partner is on its page; `crate::paper::division` is the one test in it that two parties
//! can run with nothing told but its outcome.

pub mod check;
pub mod simulate;

/// A part δ, from above 0 to 1, as a fraction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delta {
    /// Above the line.
    pub above: u64,
    /// Below the line: not 0.
    pub below: u64,
}

impl Delta {
    /// Whether so many common people among so many holders are not too many.
    pub fn allows(self, common: u64, holders: u64) -> bool {
        u128::from(common) * u128::from(self.below) <= u128::from(holders) * u128::from(self.above)
    }
}
