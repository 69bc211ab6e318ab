//! How useful a release is for learning: the classifier of the papers, and distances.
//!
//! Of the release and of raw records the values are numbered alike ([`generalize`]); a decision tree
//! learnt from either tells the class of other records ([`tree`]), and frequencies are compared: at the
//! granularity of the release ([`distance`]) and at that of the data ([`fine`]). Nothing of it is differentially private where raw records take part.

pub mod distance;
pub mod fine;
pub mod generalize;
#[cfg(test)]
mod tests;
pub mod tree;
