//! The mathematics of oblivious transfer.
