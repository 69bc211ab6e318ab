//! Messages between two parties.
