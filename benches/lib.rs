//! A package for benchmarks alone, so that tests build neither criterion nor the crates compared with.
