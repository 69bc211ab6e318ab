//! What one party can do alone: encryption, garbling, transfer arithmetic.

pub mod commutative;
