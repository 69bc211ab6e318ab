//! What one party can do alone: Paillier, commutative encryption, garbling, trees of seeds, key-value
//! stores, bins, the mathematics of oblivious transfer and vector OLE.
//!
//! Nothing here uses channels or peers.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::crypto::commutative::{Domain, Group, Ristretto};
//! use diptych_primitives::math::Randomness;
//!
//! let mut rng = Randomness::from_os()?;
//! let (group, domain) = (Ristretto::new(), Domain::new(rng.array()));
//! let (bank, shop) = (group.generate_key(&mut rng), group.generate_key(&mut rng));
//!
//! let bank_first = group.encrypt(&bank, &domain, b"ada@example.org")?;
//! let shop_first = group.encrypt(&shop, &domain, b"ada@example.org")?;
//! assert_ne!(bank_first, shop_first);
//! assert_eq!(group.reencrypt(&shop, &bank_first)?, group.reencrypt(&bank, &shop_first)?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "mpc")]
pub mod commutative;
#[cfg(feature = "mpc")]
pub mod cuckoo;
#[cfg(feature = "mpc")]
pub mod field_code;
#[cfg(feature = "mpc")]
pub mod garble;
#[cfg(feature = "mpc")]
pub mod half_tree;
#[cfg(feature = "mpc")]
pub mod local_code;
#[cfg(feature = "mpc")]
pub mod okvs;
#[cfg(feature = "mpc")]
pub mod ot;
pub mod paillier;
#[cfg(feature = "mpc")]
pub mod soft_spoken;
#[cfg(feature = "mpc")]
pub mod tree;
