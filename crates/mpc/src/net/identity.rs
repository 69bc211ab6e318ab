//! A party's identity: an Ed25519 key in a self-signed certificate, known by its fingerprint.
//!
//! As with SSH, trust comes from comparing fingerprints once, not from a chain of authorities;
//! names and validity dates in the certificate mean nothing. The key may be encrypted under a
//! passphrase ([`Identity::from_protected_pem`]).

#[cfg(feature = "keygen")]
mod protected;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

#[cfg(feature = "keygen")]
use pkcs8::LineEnding;
use rustls::SignatureScheme;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};
use rustls::sign::CertifiedKey;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
#[cfg(feature = "keygen")]
use zeroize::Zeroizing;

use crate::math::hex;
use crate::net::Error;

/// The prefix of the 32 bytes of an Ed25519 key in its SPKI (RFC 8410).
const SPKI_PREFIX: [u8; 12] =
    [0x30, 0x2a, 0x30, 0x05, 0x06, 0x03, 0x2b, 0x65, 0x70, 0x03, 0x21, 0x00];

/// SHA-256 of a public key (its SPKI in DER), written `sha256:` and 64 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    pub(crate) fn of_certificate(certificate: &CertificateDer<'_>) -> Result<Self, Error> {
        let parsed = webpki::EndEntityCert::try_from(certificate)
            .map_err(|_| Error::Identity("the certificate does not parse"))?;
        Ok(Self(Sha256::digest(parsed.subject_public_key_info()).into()))
    }

    /// The hash itself.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    fn of_key(public_key: &[u8; 32]) -> Self {
        Self(Sha256::new().chain_update(SPKI_PREFIX).chain_update(public_key).finalize().into())
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(self.0))
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.to_string()
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = BadFingerprint;

    fn try_from(text: String) -> Result<Self, BadFingerprint> {
        text.parse()
    }
}

/// A text that is not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a fingerprint is `sha256:` and 64 hex digits, as `diptych keygen` prints it")]
pub struct BadFingerprint;

impl FromStr for Fingerprint {
    type Err = BadFingerprint;

    fn from_str(text: &str) -> Result<Self, BadFingerprint> {
        let digits = text.strip_prefix("sha256:").ok_or(BadFingerprint)?.to_ascii_lowercase();
        hex::decode_array(&digits).map(Self).ok_or(BadFingerprint)
    }
}

/// A signature by an identity, with the key to check it, which must match the fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signature {
    /// The signer's Ed25519 key.
    pub public_key: [u8; 32],
    /// The signature itself.
    pub bytes: [u8; 64],
}

impl Signature {
    /// Whether `signer` signed `message`.
    pub fn is_by(&self, signer: Fingerprint, message: &[u8]) -> bool {
        Fingerprint::of_key(&self.public_key) == signer
            && webpki::ring::ED25519
                .verify_signature(&self.public_key, message, &self.bytes)
                .is_ok()
    }
}

/// PEM text, allocated at its full length: reallocation would leave parts of a key behind.
#[cfg(feature = "keygen")]
fn pem(label: &str, der: &[u8]) -> Result<String, Error> {
    pkcs8::der::pem::encode_string(label, LineEnding::LF, der)
        .map_err(|_| Error::Identity("the key could not be written"))
}

/// A party's own key and certificate.
#[derive(Clone)]
pub struct Identity {
    certified_key: Arc<CertifiedKey>,
    public_key: [u8; 32],
    fingerprint: Fingerprint,
}

impl Identity {
    /// Longest PEM text that is read as an identity.
    pub const LONGEST_PEM: usize = 64 * 1024;

    /// Makes a new identity and returns it as PEM: private key, then certificate.
    ///
    /// # Errors
    /// [`Error::Identity`] if the key cannot be made or `name` cannot be in a certificate.
    #[cfg(feature = "keygen")]
    pub fn generate_pem(name: &str) -> Result<Zeroizing<String>, Error> {
        let failed = |_| Error::Identity("the key could not be made");
        let key = rcgen::KeyPair::generate_for(&rcgen::PKCS_ED25519).map_err(failed)?;
        let mut parameters = rcgen::CertificateParams::new(Vec::new()).map_err(failed)?;
        parameters.distinguished_name = rcgen::DistinguishedName::new();
        parameters.distinguished_name.push(rcgen::DnType::CommonName, name);
        let certificate = parameters.self_signed(&key).map_err(failed)?;
        let private = Zeroizing::new(key.serialize_der());
        let private = Zeroizing::new(pem("PRIVATE KEY", &private)?);
        let certificate = pem("CERTIFICATE", certificate.der())?;
        // Allocated at its full length: reallocation would leave the key behind.
        let mut both = Zeroizing::new(String::with_capacity(private.len() + certificate.len()));
        both.push_str(&private);
        both.push_str(&certificate);
        Ok(both)
    }

    /// Reads an identity from PEM text.
    ///
    /// # Errors
    /// [`Error::Identity`] if key or certificate is missing, malformed, of
    /// another kind than Ed25519, or if they do not belong together.
    pub fn from_pem(pem: &str) -> Result<Self, Error> {
        if pem.len() > Self::LONGEST_PEM {
            return Err(Error::Identity("the file is far too long for a key and a certificate"));
        }
        let key = PrivatePkcs8KeyDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| Error::Identity("no private key (PKCS#8, PEM) in it"))?;
        Self::from_parts(&key, pem)
    }

    /// The key, and its certificate in a PEM text.
    fn from_parts(key: &PrivatePkcs8KeyDer<'_>, pem: &str) -> Result<Self, Error> {
        let certificate = CertificateDer::from_pem_slice(pem.as_bytes())
            .map_err(|_| Error::Identity("no certificate (PEM) in it"))?;
        let key = rustls::crypto::ring::sign::any_eddsa_type(key)
            .map_err(|_| Error::Identity("the private key is not an Ed25519 key"))?;
        let fingerprint = Fingerprint::of_certificate(&certificate)?;
        let certified_key = CertifiedKey::new(vec![certificate], key);
        certified_key
            .keys_match()
            .map_err(|_| Error::Identity("key and certificate do not belong together"))?;
        let no_key = Error::Identity("the certificate is not for an Ed25519 key");
        let spki = certified_key.key.public_key().ok_or(no_key)?;
        let public_key = *spki.last_chunk().ok_or(Error::Identity("the key has no public half"))?;
        if Fingerprint::of_key(&public_key) != fingerprint {
            return Err(Error::Identity("the certificate is not for an Ed25519 key"));
        }
        Ok(Self { certified_key: Arc::new(certified_key), public_key, fingerprint })
    }

    /// The fingerprint, which the peer must be given.
    pub fn fingerprint(&self) -> Fingerprint {
        self.fingerprint
    }

    /// Signs a message. Every message must begin with a string that is unique to its purpose.
    ///
    /// # Errors
    /// None in practice: an identity always holds an Ed25519 key.
    pub fn sign(&self, message: &[u8]) -> Result<Signature, Error> {
        let no_key = Error::Identity("the key cannot sign");
        let signer = self.certified_key.key.choose_scheme(&[SignatureScheme::ED25519]);
        let signed = signer.map(|signer| signer.sign(message));
        let Some(Ok(signed)) = signed else { return Err(no_key) };
        let Ok(bytes) = signed.try_into() else { return Err(no_key) };
        Ok(Signature { public_key: self.public_key, bytes })
    }

    pub(crate) fn certified_key(&self) -> CertifiedKey {
        self.certified_key.as_ref().clone()
    }
}

impl fmt::Debug for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Identity({})", self.fingerprint)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_generated_identity_reads_back_and_shows_only_its_fingerprint() {
        let pem = Identity::generate_pem("Bank").unwrap();
        let identity = Identity::from_pem(&pem).unwrap();
        let shown = format!("{identity:?}");
        assert_eq!(shown, format!("Identity({})", identity.fingerprint()));
        let text = identity.fingerprint().to_string();
        assert_eq!(text.parse::<Fingerprint>().unwrap(), identity.fingerprint());
    }

    #[test]
    fn a_signature_is_by_its_signer_over_its_message_and_nothing_else() {
        let new = || Identity::from_pem(&Identity::generate_pem("x").unwrap()).unwrap();
        let (one, other) = (new(), new());
        let signed = one.sign(b"message").unwrap();
        assert!(signed.is_by(one.fingerprint(), b"message"));
        assert!(!signed.is_by(one.fingerprint(), b"massage"));
        assert!(!signed.is_by(other.fingerprint(), b"message"));
        let forged = Signature { bytes: other.sign(b"message").unwrap().bytes, ..signed };
        assert!(!forged.is_by(one.fingerprint(), b"message"));
        let swapped = Signature { public_key: other.public_key, ..signed };
        assert!(!swapped.is_by(one.fingerprint(), b"message"));
    }

    #[test]
    fn a_key_with_another_certificate_is_refused() {
        let (a, b) = (Identity::generate_pem("a").unwrap(), Identity::generate_pem("b").unwrap());
        let split = |pem: &str| {
            let at = pem.find("-----BEGIN CERTIFICATE").unwrap();
            (pem[..at].to_owned(), pem[at..].to_owned())
        };
        let mixed = split(&a).0 + &split(&b).1;
        let error = Identity::from_pem(&mixed).unwrap_err();
        assert!(error.to_string().contains("do not belong together"), "{error}");
    }

    proptest! {
        #[test]
        fn garbage_is_no_identity_and_no_fingerprint(text in "\\PC{0,200}") {
            prop_assert!(Identity::from_pem(&text).is_err());
            prop_assert!(text.parse::<Fingerprint>().is_err());
        }

        #[test]
        fn a_damaged_identity_never_panics(position in 0usize..600, byte in 0u8..128) {
            let mut pem = Identity::generate_pem("x").unwrap().as_bytes().to_vec();
            let position = position % pem.len();
            pem[position] = byte;
            let _ = Identity::from_pem(str::from_utf8(&pem).unwrap());
        }
    }
}
