//! Commutative encryption in ristretto255.
//!
//! Encoding a point costs an inverse square root, a tenth of the whole. A batch
//! shares one inversion instead: the encodings of *doubled* points need no
//! square root, so a key keeps k/2 and every result is encoded as
//! `2 · ((k/2) · P)`.

use std::fmt;

use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use zeroize::{Zeroize, ZeroizeOnDrop};

use super::expand::Expander;
use super::{Domain, ElementFault, Error, Group, check_whole, check_width};
use crate::math::Randomness;

const WIDTH: usize = 32;

/// ristretto255 with the hash `ristretto255_XMD:SHA-512_R255MAP_RO_`.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ristretto;

/// A scalar k, kept halved. Wiped on drop.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct RistrettoKey {
    half: Scalar,
}

impl Group for Ristretto {
    type Key = RistrettoKey;

    fn suite(&self) -> String {
        "ristretto255_XMD:SHA-512_R255MAP_RO_".to_owned()
    }

    fn element_bytes(&self) -> usize {
        WIDTH
    }

    fn generate_key(&self, rng: &mut Randomness) -> RistrettoKey {
        loop {
            let half = Scalar::from_bytes_mod_order_wide(&rng.array());
            if half != Scalar::ZERO {
                return RistrettoKey { half };
            }
        }
    }

    fn key_from_bytes(&self, bytes: &[u8]) -> Result<RistrettoKey, Error> {
        let bytes: [u8; WIDTH] = bytes.try_into().map_err(|_| Error::Key)?;
        let scalar: Option<Scalar> = Scalar::from_canonical_bytes(bytes).into();
        match scalar {
            Some(k) if k != Scalar::ZERO => Ok(RistrettoKey { half: k.div_by_2() }),
            _ => Err(Error::Key),
        }
    }

    fn inverse(&self, key: &RistrettoKey) -> RistrettoKey {
        // half = k/2, so (4·half)^-1 = (k^-1)/2.
        let twice = key.half + key.half;
        RistrettoKey { half: (twice + twice).invert() }
    }

    fn hash_batch(
        &self,
        domain: &Domain,
        identifiers: &[&[u8]],
        out: &mut [u8],
    ) -> Result<(), Error> {
        let identity_key = RistrettoKey { half: Scalar::ONE.div_by_2() };
        self.encrypt_batch(&identity_key, domain, identifiers, out)
    }

    fn encrypt_batch(
        &self,
        key: &RistrettoKey,
        domain: &Domain,
        identifiers: &[&[u8]],
        out: &mut [u8],
    ) -> Result<(), Error> {
        check_width(out.len(), identifiers.len() * WIDTH)?;
        let expander = self.expander(domain)?;
        let mut uniform = [0; 64];
        let mut halves = Vec::with_capacity(identifiers.len());
        for identifier in identifiers {
            expander
                .expand(identifier, &mut uniform)
                .map_err(|_| Error::Width { expected: 64, got: uniform.len() })?;
            halves.push(RistrettoPoint::from_uniform_bytes(&uniform) * key.half);
        }
        encode_doubled(&halves, out);
        Ok(())
    }

    fn reencrypt_batch(&self, key: &RistrettoKey, elements: &mut [u8]) -> Result<(), Error> {
        check_whole(elements.len(), WIDTH)?;
        let halves = elements
            .as_chunks()
            .0
            .iter()
            .enumerate()
            .map(|(position, bytes)| Ok(decode(position, bytes)? * key.half))
            .collect::<Result<Vec<_>, Error>>()?;
        encode_doubled(&halves, elements);
        Ok(())
    }

    fn check_batch(&self, elements: &[u8]) -> Result<(), Error> {
        check_whole(elements.len(), WIDTH)?;
        for (position, bytes) in elements.as_chunks().0.iter().enumerate() {
            decode(position, bytes)?;
        }
        Ok(())
    }
}

fn decode(position: usize, bytes: &[u8; WIDTH]) -> Result<RistrettoPoint, Error> {
    let fault = |fault| Error::Element { position, fault };
    let point = CompressedRistretto(*bytes).decompress();
    let point = point.ok_or(fault(ElementFault::NotInGroup))?;
    if point.is_identity() { Err(fault(ElementFault::Identity)) } else { Ok(point) }
}

impl Ristretto {
    fn expander(&self, domain: &Domain) -> Result<Expander, Error> {
        let separation = domain.separation(&self.suite());
        Expander::new(&separation)
            .map_err(|_| Error::Width { expected: 255, got: separation.len() })
    }
}

/// None of the points may be the identity: one zero would spoil the shared
/// inversion. Keys are not zero, received identities are refused, and a hash is
/// the identity with probability 2^-252.
fn encode_doubled(halves: &[RistrettoPoint], out: &mut [u8]) {
    let encoded = RistrettoPoint::double_and_compress_batch(halves);
    for (bytes, place) in encoded.iter().zip(out.as_chunks_mut::<WIDTH>().0) {
        *place = bytes.to_bytes();
    }
}

impl fmt::Debug for RistrettoKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("RistrettoKey(..)")
    }
}
