//! TLS configurations that accept one peer: the one whose fingerprint is pinned.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::client::Resumption;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::danger::{ClientCertVerified, ClientCertVerifier};
use rustls::sign::SingleCertAndKey;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, DistinguishedName, Error as TlsError,
    PeerIncompatible, ServerConfig, SignatureScheme,
};

use crate::net::{Error, Fingerprint, Identity};

pub(super) const APPLICATION_PROTOCOL: &[u8] = b"diptych/1";

/// Configuration of the side that listens.
pub(super) fn server_config(
    us: &Identity,
    peer: Fingerprint,
) -> Result<(Arc<ServerConfig>, Arc<Pin>), Error> {
    let pin = Arc::new(Pin::new(peer));
    let mut config = ServerConfig::builder_with_provider(pin.provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .with_client_cert_verifier(pin.clone())
        .with_cert_resolver(Arc::new(SingleCertAndKey::from(us.certified_key())));
    config.send_tls13_tickets = 0;
    config.session_storage = Arc::new(rustls::server::NoServerSessionStorage {});
    config.alpn_protocols = vec![APPLICATION_PROTOCOL.to_vec()];
    Ok((Arc::new(config), pin))
}

/// Configuration of the side that connects.
pub(super) fn client_config(
    us: &Identity,
    peer: Fingerprint,
) -> Result<(Arc<ClientConfig>, Arc<Pin>), Error> {
    let pin = Arc::new(Pin::new(peer));
    let mut config = ClientConfig::builder_with_provider(pin.provider.clone())
        .with_protocol_versions(&[&rustls::version::TLS13])?
        .dangerous()
        .with_custom_certificate_verifier(pin.clone())
        .with_client_cert_resolver(Arc::new(SingleCertAndKey::from(us.certified_key())));
    config.resumption = Resumption::disabled();
    config.enable_sni = false;
    config.alpn_protocols = vec![APPLICATION_PROTOCOL.to_vec()];
    Ok((Arc::new(config), pin))
}

/// Accepts the one pinned certificate, and remembers which other one it rejected.
#[derive(Debug)]
pub(super) struct Pin {
    expected: Fingerprint,
    refused: Mutex<Option<Fingerprint>>,
    judged: AtomicBool,
    provider: Arc<CryptoProvider>,
}

impl Pin {
    fn new(expected: Fingerprint) -> Self {
        // 128-bit keys first: they match the security level of everything else and are the fastest.
        let cipher_suites = vec![
            ring::cipher_suite::TLS13_AES_128_GCM_SHA256,
            ring::cipher_suite::TLS13_AES_256_GCM_SHA384,
            ring::cipher_suite::TLS13_CHACHA20_POLY1305_SHA256,
        ];
        let provider = CryptoProvider { cipher_suites, ..ring::default_provider() };
        let (refused, judged) = (Mutex::new(None), AtomicBool::new(false));
        Self { expected, refused, judged, provider: Arc::new(provider) }
    }

    /// Names the fingerprint of the stranger where TLS only says 'bad certificate'.
    pub(super) fn explain(&self, error: Error) -> Error {
        let refused = *self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        match (error, refused) {
            (Error::Tls(TlsError::InvalidCertificate(_)), Some(got)) => {
                Error::WrongPeer { expected: self.expected, got }
            }
            (error, _) => error,
        }
    }

    /// Whether the other end has presented a certificate, valid or not.
    pub(super) fn has_judged(&self) -> bool {
        self.judged.load(Ordering::SeqCst)
    }

    fn check(&self, certificate: &CertificateDer<'_>) -> Result<(), TlsError> {
        self.judged.store(true, Ordering::SeqCst);
        let got = Fingerprint::of_certificate(certificate)
            .map_err(|_| TlsError::InvalidCertificate(CertificateError::BadEncoding))?;
        if got == self.expected {
            return Ok(());
        }
        *self.refused.lock().unwrap_or_else(PoisonError::into_inner) = Some(got);
        Err(TlsError::InvalidCertificate(CertificateError::ApplicationVerificationFailure))
    }

    /// The fingerprint names a key; this is the proof that the peer holds it.
    fn check_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }
}

fn only_tls13() -> TlsError {
    TlsError::PeerIncompatible(PeerIncompatible::Tls12NotOffered)
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, TlsError> {
        self.check(certificate).map(|()| ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Err(only_tls13())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.check_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}

impl ClientCertVerifier for Pin {
    fn root_hint_subjects(&self) -> &[DistinguishedName] {
        &[]
    }

    fn verify_client_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _now: UnixTime,
    ) -> Result<ClientCertVerified, TlsError> {
        self.check(certificate).map(|()| ClientCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _message: &[u8],
        _certificate: &CertificateDer<'_>,
        _signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        Err(only_tls13())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, TlsError> {
        self.check_signature(message, certificate, signature)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        vec![SignatureScheme::ED25519]
    }
}
