//! From tables to a release: DiffGen for one party and for two, over vertically or horizontally split data.
//!
//! Still empty. It knows nothing of the command line.
