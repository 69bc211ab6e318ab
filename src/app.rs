//! The command.

pub mod audit;
