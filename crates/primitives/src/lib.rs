//! What one party computes alone: vector kernels, big numbers, encryption, garbling.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`simd`] | vector kernels behind run-time detection: the only unsafe code |
//! | [`math`] | big numbers, primes, the random generator |
//! | [`crypto`] | Paillier, commutative encryption, garbling, codes and trees |
//! | `audit` | test vectors, with the feature `audit` |
//!
//! Nothing here knows of channels or parties. A module uses only modules above it in this table.

#[cfg(feature = "audit")]
pub mod audit;
pub mod crypto;
pub mod math;
pub mod simd;
