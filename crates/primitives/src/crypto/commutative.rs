//! Commutative encryption: `E_k(x) = H(x)^k` in a group of prime order.
//!
//! Deterministic under one key, and `E_a(E_b(x)) = E_b(E_a(x))`: two parties
//! who each encrypt both lists can compare them without seeing a value in the
//! clear. Two groups behind one trait:
//!
//! - [`Ristretto`]: ristretto255 (RFC 9496), hash to group by the suite
//!   `ristretto255_XMD:SHA-512_R255MAP_RO_` (RFC 9380). The default.
//! - [`Residues`]: the quadratic residues modulo a safe prime, `ffdhe3072` or
//!   any other safe prime that passes the check. The group of the papers, which no default uses:
//!   more than a hundred times slower.
//!
//! Security: under the decisional Diffie–Hellman assumption in the group, with
//! `H` a random oracle, the encryptions of distinct values under one key look
//! like random elements. They are *deterministic*: a key must live for one run
//! only, and whoever can ask for encryptions of guesses can test guesses.
//!
//! Elements cross this interface as bytes of fixed width, many at once, so that an implementation
//! can share work inside a batch. Every received element is checked against three rules before it
//! is combined with a key: canonical encoding, in the group, not the identity.
//!
//! # Example
//!
//! ```
//! use diptych_primitives::crypto::commutative::{Domain, Group, Ristretto};
//! use diptych_primitives::math::Randomness;
//!
//! let mut rng = Randomness::from_os()?;
//! let (group, domain) = (Ristretto::new(), Domain::new(rng.array()));
//! let (own, peer) = (group.generate_key(&mut rng), group.generate_key(&mut rng));
//! let width = group.element_bytes();
//!
//! // Each side encrypts its list, the other side encrypts it once more.
//! let mut bakery = vec![0; 2 * width];
//! group.encrypt_batch(&own, &domain, &[b"ada", b"grace"], &mut bakery)?;
//! group.reencrypt_batch(&peer, &mut bakery)?;
//! let mut bookshop = vec![0; 2 * width];
//! group.encrypt_batch(&peer, &domain, &[b"emmy", b"ada"], &mut bookshop)?;
//! group.reencrypt_batch(&own, &mut bookshop)?;
//!
//! assert_eq!(bakery[..width], bookshop[width..], "ada is in both lists");
//! assert_ne!(bakery[width..], bookshop[..width], "grace is not emmy");
//!
//! // Bytes that do not encode an element of the group are rejected before the key is used.
//! assert!(group.reencrypt(&own, &[0xff; 32]).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod expand;
mod residues;
mod ristretto;

use rayon::prelude::*;

use crate::Error;
use crate::math::Randomness;

pub use expand::expand_message_xmd;
pub use residues::{FFDHE3072, ResidueKey, Residues};
pub use ristretto::{Ristretto, RistrettoKey};

/// A group of prime order with a hash onto it and commutative encryption in it.
pub trait Group: Sync {
    /// The secret exponent: wiped on drop, never printed.
    type Key: Send + Sync;

    /// Names the group and the hash to it, its public parameters included.
    /// Goes into whatever both parties compare before they begin.
    fn suite(&self) -> String;

    /// The width of one encoded element.
    fn element_bytes(&self) -> usize;

    /// A fresh key, uniform over the non-zero exponents. One key serves one run.
    fn generate_key(&self, rng: &mut Randomness) -> Self::Key;

    /// A key with known bytes, for vectors. Little-endian for ristretto255,
    /// as its RFC writes scalars, big-endian for residues.
    ///
    /// # Errors
    /// [`Error::NotAnExponent`] unless it is canonical and not zero.
    fn key_from_bytes(&self, bytes: &[u8]) -> Result<Self::Key, Error>;

    /// The key that undoes `key`: re-encrypting with it decrypts.
    fn inverse(&self, key: &Self::Key) -> Self::Key;

    /// `H(x)` for every identifier, written one after the other into `out`,
    /// which must be `identifiers.len() * element_bytes()` long.
    ///
    /// # Errors
    /// [`Error::Width`] if `out` has another length.
    fn hash_batch(
        &self,
        domain: &Domain,
        identifiers: &[&[u8]],
        out: &mut [u8],
    ) -> Result<(), Error>;

    /// `H(x)^key` for every identifier, as [`Group::hash_batch`] writes it.
    ///
    /// # Errors
    /// [`Error::Width`] if `out` has another length.
    fn encrypt_batch(
        &self,
        key: &Self::Key,
        domain: &Domain,
        identifiers: &[&[u8]],
        out: &mut [u8],
    ) -> Result<(), Error>;

    /// Checks received elements and raises each to `key`, in place.
    ///
    /// # Errors
    /// [`Error::NotInGroup`] or [`Error::Identity`] for the first that is not canonical, not in the
    /// group or the identity; the contents of the buffer must then be discarded.
    fn reencrypt_batch(&self, key: &Self::Key, elements: &mut [u8]) -> Result<(), Error>;

    /// Checks received elements that are not combined with a key, by the same rules.
    ///
    /// # Errors
    /// [`Error::NotInGroup`] or [`Error::Identity`] for the first that breaks one.
    fn check_batch(&self, elements: &[u8]) -> Result<(), Error>;

    /// `E_key(x)` for one identifier.
    ///
    /// # Errors
    /// None that a caller can cause.
    fn encrypt(
        &self,
        key: &Self::Key,
        domain: &Domain,
        identifier: &[u8],
    ) -> Result<Vec<u8>, Error> {
        let mut out = vec![0; self.element_bytes()];
        self.encrypt_batch(key, domain, &[identifier], &mut out)?;
        Ok(out)
    }

    /// Encrypts one received element once more.
    ///
    /// # Errors
    /// [`Error::NotInGroup`] or [`Error::Identity`] if the element breaks one of the three rules,
    /// [`Error::Width`] if it is not one element.
    fn reencrypt(&self, key: &Self::Key, element: &[u8]) -> Result<Vec<u8>, Error> {
        check_width(element.len(), self.element_bytes())?;
        let mut out = element.to_vec();
        self.reencrypt_batch(key, &mut out)?;
        Ok(out)
    }

    /// Removes one layer of encryption: `E_key^-1`. The last layer leaves `H(x)`, not x.
    ///
    /// # Errors
    /// As [`Group::reencrypt`].
    fn decrypt(&self, key: &Self::Key, element: &[u8]) -> Result<Vec<u8>, Error> {
        self.reencrypt(&self.inverse(key), element)
    }

    /// [`Group::encrypt_batch`] on all cores. `progress` is called with the number of items just
    /// done.
    ///
    /// # Errors
    /// As [`Group::encrypt_batch`].
    fn encrypt_many(
        &self,
        key: &Self::Key,
        domain: &Domain,
        identifiers: &[&[u8]],
        out: &mut [u8],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        check_width(out.len(), identifiers.len() * self.element_bytes())?;
        identifiers
            .par_chunks(BATCH)
            .zip(out.par_chunks_mut(BATCH * self.element_bytes()))
            .try_for_each(|(identifiers, out)| {
                self.encrypt_batch(key, domain, identifiers, out)?;
                progress(identifiers.len());
                Ok(())
            })
    }

    /// [`Group::reencrypt_batch`] on all cores. `progress` is called with the number of items just
    /// done.
    ///
    /// # Errors
    /// As [`Group::reencrypt_batch`]; the position counts from the beginning of `elements`.
    fn reencrypt_many(
        &self,
        key: &Self::Key,
        elements: &mut [u8],
        progress: Progress<'_>,
    ) -> Result<(), Error> {
        let width = self.element_bytes();
        check_whole(elements.len(), width)?;
        elements.par_chunks_mut(BATCH * width).enumerate().try_for_each(|(number, batch)| {
            self.reencrypt_batch(key, batch).map_err(|error| error.shifted(number * BATCH))?;
            progress(batch.len() / width);
            Ok(())
        })
    }

    /// [`Group::check_batch`] on all cores.
    ///
    /// # Errors
    /// As [`Group::check_batch`]; the position counts from the beginning of `elements`.
    fn check_many(&self, elements: &[u8]) -> Result<(), Error> {
        let width = self.element_bytes();
        check_whole(elements.len(), width)?;
        elements.par_chunks(BATCH * width).enumerate().try_for_each(|(number, batch)| {
            self.check_batch(batch).map_err(|error| error.shifted(number * BATCH))
        })
    }
}

/// Called with the number of items just done, from any thread.
pub type Progress<'a> = &'a (dyn Fn(usize) + Sync);

/// Elements that share one inversion and are processed by one core at a time: enough that the cost
/// of the inversion is negligible, few enough that every core has work.
pub const BATCH: usize = 256;

/// Separates the hashes of one run from those of every other: equal identifiers in two sessions
/// have unrelated hashes, so a transcript of one session does not help against another.
#[derive(Clone, Debug)]
pub struct Domain {
    session: [u8; 32],
}

impl Domain {
    /// The domain of one session.
    pub fn new(session: [u8; 32]) -> Self {
        Self { session }
    }

    /// The domain-separation string of one suite in this session. Its version
    /// changes whenever equal identifiers would no longer hash alike.
    pub fn separation(&self, suite: &str) -> Vec<u8> {
        let mut tag = Vec::with_capacity(128);
        tag.extend_from_slice(b"DIPTYCH-V01-COMMUTATIVE-with-");
        tag.extend_from_slice(suite.as_bytes());
        tag.push(b'-');
        tag.extend_from_slice(&self.session);
        tag
    }
}

fn check_width(got: usize, expected: usize) -> Result<(), Error> {
    if got == expected { Ok(()) } else { Err(Error::Width { expected, got }) }
}

fn check_whole(got: usize, width: usize) -> Result<(), Error> {
    check_width(got, got / width * width)
}

#[cfg(test)]
mod tests;
