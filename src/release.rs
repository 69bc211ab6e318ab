//! From tables to a release: DiffGen, and later other release models beside it.

pub mod diffgen;
