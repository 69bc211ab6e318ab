//! Schema, taxonomies, cuts, columns, and CSV reading with errors that help.
//!
//! Still empty. It knows nothing of cryptography.
