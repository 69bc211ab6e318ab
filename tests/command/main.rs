//! The built command as a person or a script meets it, one module for each part of it.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stderr,
    clippy::print_stdout,
    clippy::unwrap_in_result,
    clippy::unwrap_used,
    reason = "helpers of a test"
)]

mod agreement_new;
mod at_hand;
mod bench;
mod cli;
mod data;
mod evaluate;
mod guide;
mod ledger;
mod loans;
mod local;
mod messages;
mod owners;
mod program;
mod psi;
mod report;
mod rows;
mod walk;
