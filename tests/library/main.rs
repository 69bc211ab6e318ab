//! The library as a whole, and what this repository keeps beside it: layers, documents, vectors, circuits.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "helpers of a test"
)]

mod adult;
mod agreement_keys;
mod circuits;
mod layers;
mod model;
mod privacy_statistics;
mod regenerate;
mod tampering;
