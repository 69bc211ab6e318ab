//! Schema, taxonomies, cuts, columns, and CSV reading with errors that help.
//!
//! It knows nothing of cryptography.

pub mod identifiers;
