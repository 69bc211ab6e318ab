//! Exact samplers, the traits for choosing and noising with their single-party forms, budget accounting, the ledger.
//!
//! Still empty. It knows nothing of networks.
