//! What one party can do alone: Paillier, commutative encryption, garbling, the mathematics of oblivious transfer.
//!
//! It knows nothing of channels or peers.

pub mod commutative;
pub mod garble;
pub mod ot;
pub mod paillier;
