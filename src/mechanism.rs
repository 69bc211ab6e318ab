//! The traits of `privacy` run by two parties: exponential mechanism, noisy maximum, noise on counts.
//!
//! Still empty. It knows nothing of tables.
