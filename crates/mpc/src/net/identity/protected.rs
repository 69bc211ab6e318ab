//! Identities under a passphrase: `ENCRYPTED PRIVATE KEY` (PKCS#8, RFC 5958) with PBES2 (RFC 8018),
//! scrypt (RFC 7914) and AES-256-CBC, as other tools read it, in place of `PRIVATE KEY`.
//!
//! CBC does not detect changes. The decrypted key is accepted only if it matches the certificate in
//! the same file, which the peer and the agreement know by its fingerprint.

use pkcs8::der::pem::PemLabel;
use pkcs8::der::{Decode, EncodePem, asn1::OctetStringRef};
use pkcs8::pkcs5::EncryptionScheme;
use pkcs8::pkcs5::pbes2::{self, Kdf};
use pkcs8::pkcs5::scrypt;
use pkcs8::{EncryptedPrivateKeyInfoRef, LineEnding, SecretDocument};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject;
use zeroize::Zeroizing;

use super::Identity;
use crate::math::Randomness;
use crate::net::Error;

/// N = 2^14, r = 8, p = 5: 16 MiB, which other tools allow, and as much work as with 128 MiB and p = 1.
const LOG_N: u8 = 14;
const R: u32 = 8;
const P: u32 = 5;
/// Most memory and most work (bytes written and read) that a file may ask for.
const MOST_BYTES: u64 = 1 << 28;
const MOST_WORK: u64 = 1 << 30;

const NOT_MADE: Error = Error::Identity("the key could not be put under a passphrase");

impl Identity {
    /// Longest passphrase, in bytes.
    pub const LONGEST_PASSPHRASE: usize = 1024;

    /// Whether the key in a PEM text is encrypted under a passphrase.
    pub fn is_protected(pem: &str) -> bool {
        key_block(pem).is_some()
    }

    /// Encrypts the key of a PEM text under a passphrase; the certificate is unchanged.
    ///
    /// # Errors
    /// [`Error::Identity`] if there is no key in it, [`Error::Randomness`] without randomness.
    pub fn protect_pem(pem: &str, passphrase: &[u8]) -> Result<String, Error> {
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| Error::Identity("no private key (PKCS#8, PEM) in it"))?;
        let certificate = pem.find("-----BEGIN CERTIFICATE-----").map(|at| &pem[at..]);
        let certificate = certificate.ok_or(Error::Identity("no certificate (PEM) in it"))?;
        let mut random = Randomness::from_os()?;
        let (salt, iv): ([u8; 16], [u8; 16]) = (random.array(), random.array());
        let work = scrypt::Params::new(LOG_N, R, P).map_err(|_| NOT_MADE)?;
        let method =
            pbes2::Parameters::generate_scrypt_aes256cbc(work, &salt, iv).map_err(|_| NOT_MADE)?;
        let key = first_version(key.secret_pkcs8_der()).ok_or(NOT_MADE)?;
        let hidden = method.encrypt(passphrase, &*key).map_err(|_| NOT_MADE)?;
        let info = EncryptedPrivateKeyInfoRef {
            encryption_algorithm: method.into(),
            encrypted_data: OctetStringRef::new(&hidden).map_err(|_| NOT_MADE)?,
        };
        Ok(info.to_pem(LineEnding::LF).map_err(|_| NOT_MADE)? + certificate)
    }

    /// Reads an identity whose key is encrypted under a passphrase.
    ///
    /// # Errors
    /// [`Error::Passphrase`] if the passphrase is wrong, and those of [`Identity::from_pem`].
    pub fn from_protected_pem(pem: &str, passphrase: &[u8]) -> Result<Self, Error> {
        let wrong = Error::Identity("the private key under a passphrase is malformed");
        if pem.len() > Self::LONGEST_PEM {
            return Err(Error::Identity("the file is far too long for a key and a certificate"));
        }
        let Some(block) = key_block(pem) else { return Err(wrong) };
        let Ok((_, document)) = SecretDocument::from_pem(block) else { return Err(wrong) };
        let Ok(info) = EncryptedPrivateKeyInfoRef::from_der(document.as_bytes()) else {
            return Err(wrong);
        };
        check_method(&info.encryption_algorithm)?;
        let mut bytes = Zeroizing::new(info.encrypted_data.as_bytes().to_vec());
        let key = info
            .encryption_algorithm
            .decrypt_in_place(passphrase, &mut bytes)
            .map_err(|_| Error::Passphrase("it does not open the key"))?;
        Self::from_parts(&PrivatePkcs8KeyDer::from(key), pem)
            // One wrong passphrase in 256 gives valid padding.
            .map_err(|_| Error::Passphrase("what it opens is not the key of the certificate"))
    }
}

/// The prefix of the 32 bytes of an Ed25519 key in PKCS#8 version 1 (RFC 8410).
const KEY_PREFIX: [u8; 16] = [
    0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20,
];

/// An Ed25519 key in PKCS#8 version 1. Keys are generated in version 2, which includes the public
/// key and which not all tools read.
fn first_version(der: &[u8]) -> Option<Zeroizing<[u8; 48]>> {
    let rest = der.get(5..)?.strip_prefix(&KEY_PREFIX[5..])?;
    let mut key = Zeroizing::new([0; 48]);
    key[..16].copy_from_slice(&KEY_PREFIX);
    key[16..].copy_from_slice(rest.get(..32)?);
    Some(key)
}

/// The lines of the key, if it is encrypted.
fn key_block(pem: &str) -> Option<&str> {
    let label = EncryptedPrivateKeyInfoRef::PEM_LABEL;
    let from = pem.find(&format!("-----BEGIN {label}-----"))?;
    let end = format!("-----END {label}-----");
    let to = from + pem[from..].find(&end)? + end.len();
    Some(&pem[from..to])
}

/// Rejects parameters that would take hours of work or all of the memory.
fn check_method(method: &EncryptionScheme) -> Result<(), Error> {
    let Some(pbes2) = method.pbes2() else {
        return Err(Error::Identity("the key is not protected by PBES2 with scrypt"));
    };
    let Kdf::Scrypt(scrypt) = &pbes2.kdf else {
        return Err(Error::Identity("the key is protected by another function than scrypt"));
    };
    let (n, r) = (scrypt.cost_parameter, u64::from(scrypt.block_size));
    let bytes = n.checked_mul(128 * r).filter(|bytes| *bytes <= MOST_BYTES);
    let work = bytes.and_then(|bytes| bytes.checked_mul(u64::from(scrypt.parallelization)));
    let bounded = n > 1 && n.is_power_of_two() && work.is_some_and(|work| work <= MOST_WORK);
    match bounded {
        true => Ok(()),
        false => Err(Error::Identity("its scrypt parameters ask for too much, or are none")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_opens_with_its_passphrase_and_with_no_other() {
        let plain = Identity::generate_pem("Bank").unwrap();
        let locked = Identity::protect_pem(&plain, "ein Wörtchen".as_bytes()).unwrap();
        assert!(Identity::is_protected(&locked) && !Identity::is_protected(&plain));
        assert!(!locked.contains("-----BEGIN PRIVATE KEY-----"));
        let open = |pem: &str, words: &str| Identity::from_protected_pem(pem, words.as_bytes());
        let identity = open(&locked, "ein Wörtchen").unwrap();
        assert_eq!(identity.fingerprint(), Identity::from_pem(&plain).unwrap().fingerprint());
        assert!(identity.sign(b"x").unwrap().is_by(identity.fingerprint(), b"x"));
        for other in ["", "ein Wortchen", "ein Wörtchen\n"] {
            assert!(matches!(open(&locked, other), Err(Error::Passphrase(_))), "{other:?}");
        }
        let error = Identity::from_pem(&locked).unwrap_err();
        assert!(error.to_string().contains("no private key"), "{error}");
        let again = Identity::protect_pem(&plain, "ein Wörtchen".as_bytes()).unwrap();
        assert_ne!(again, locked, "every file has a salt of its own");
    }

    #[test]
    fn a_file_that_asks_for_too_much_work_is_refused_before_it_is_done() {
        let method = |n: u64, r: u16, p: u16| {
            let kdf = pbes2::ScryptParams {
                salt: pbes2::Salt::new([0; 16]).unwrap(),
                cost_parameter: n,
                block_size: r,
                parallelization: p,
                key_length: None,
            };
            let encryption = pbes2::EncryptionScheme::Aes256Cbc { iv: [0; 16] };
            check_method(&pbes2::Parameters { kdf: kdf.into(), encryption }.into())
        };
        assert!(method(1 << LOG_N, 8, 5).is_ok() && method(1 << 17, 8, 1).is_ok());
        for (n, r, p) in
            [(0, 8, 1), (1, 8, 1), (3, 8, 1), (1 << 40, 8, 1), (1 << 16, 8, 999), (2, 0, 1)]
        {
            let refused = method(n, r, p).is_err();
            assert!(refused || (n, r, p) == (2, 0, 1), "{n} {r} {p}");
        }
    }

    #[test]
    fn a_damaged_key_is_refused_and_never_panics() {
        let plain = Identity::generate_pem("x").unwrap();
        let locked = Identity::protect_pem(&plain, b"word").unwrap();
        let header = locked.find('\n').unwrap() + 1;
        // Mostly among the parameters, which come first; another byte there may cost time.
        for place in (header..header + 120).step_by(7) {
            let mut damaged = locked.clone().into_bytes();
            damaged[place] = if damaged[place] == b'A' { b'B' } else { b'A' };
            let damaged = String::from_utf8(damaged).unwrap();
            assert!(Identity::from_protected_pem(&damaged, b"word").is_err(), "{place}");
        }
    }
}
