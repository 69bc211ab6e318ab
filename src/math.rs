//! Big-number helpers and the random generator. It knows nothing of networks or parties.

pub mod exponential;
pub mod random;
pub mod rational;

pub use random::Randomness;
pub use rational::Rational;
