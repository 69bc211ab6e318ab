//! Big-number helpers and the random generator. It knows nothing of networks or parties.

pub mod random;

pub use random::Randomness;
