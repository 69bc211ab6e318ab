//! The papers' protocols that no default uses: complete and tested, but a reader of what runs by default
//! needs none of them. Sections are those of the thesis that collects the papers.
//!
//! | module | what it computes | from | a release uses it with |
//! | --- | --- | --- | --- |
//! | [`scalar_product`] | inner products and the joint count table, by Paillier | 7.4.1 | `count_table = "paillier"` |
//! | [`random_value`] | a uniform number below a shared bound | 7.2.3 | vertical, `profile = "paper"` |
//! | [`exponential::vertical`] | the exponential mechanism, each party scoring its own candidates | 7.2, 7.3 | vertical, `selection = "exponential"` |
//! | [`exponential::stepwise`] | the same, with one comparison per candidate | 7.2, 7.3 | vertical, `profile = "paper"` |
//! | [`exponential::horizontal`] | the exponential mechanism over sums of counts, by Taylor series | 7.5 | horizontal, `selection = "exponential"` |
//! | [`polynomial`] | one party's polynomial at the other's argument | 7.5.2 | horizontal, `selection = "exponential"` |
//! | [`secure_sum`] | sums over three parties or more, around a ring | 5.4 | never: for programs of one's own |
//! | [`division`] | whether a group of a public population may be divided, as one bit | the site-presence paper | never: for programs of one's own |
//!
//! `profile = "paper"` sets all of these keys to the papers' choice. By default two parties choose by
//! [`noisy_max`](crate::mechanism::noisy_max) and count by [`sum_by_group`](crate::protocol::sum_by_group).
//! The papers' group for commutative encryption is in
//! [`commutative`](crate::crypto::commutative) beside the default one (`matching = "ffdhe3072"`), and
//! the law of the Taylor series for one party in [`taylor`](crate::privacy::taylor).
//!
//! Every module has the structure that [`protocol`](crate::protocol) states, and [`gallery`] has the
//! circuits that are exported for review.

pub mod division;
pub mod exponential;
pub mod gallery;
pub mod polynomial;
pub mod random_value;
pub mod scalar_product;
pub mod secure_sum;

#[cfg(test)]
mod tests;
