//! Fingerprints of certificates, and verifiers that know one or ask for none.

use core::fmt;
use core::str::FromStr;
use std::sync::Arc;

use ring::digest;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{DigitallySignedStruct, SignatureScheme};
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The SHA-256 of a certificate: by it a client knows a server whose certificate nobody signed.
///
/// ```
/// use nebula_multiplayer::transport::quic::Fingerprint;
///
/// let text = "00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff:\
///             00:11:22:33:44:55:66:77:88:99:aa:bb:cc:dd:ee:ff";
/// let fingerprint: Fingerprint = text.parse().unwrap();
/// assert_eq!(fingerprint.to_string(), text);
/// assert_eq!(text.replace(':', "").parse(), Ok(fingerprint), "the colons are for people");
/// assert!("00:11".parse::<Fingerprint>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Fingerprint([u8; 32]);

impl Fingerprint {
    /// Returns the fingerprint of a certificate in its binary form (DER).
    ///
    /// ```
    /// use nebula_multiplayer::transport::quic::Fingerprint;
    ///
    /// let nothing = Fingerprint::of(&[]).to_string();
    /// assert!(nothing.starts_with("e3:b0:c4:42"), "the SHA-256 of nothing");
    /// ```
    #[must_use]
    pub fn of(certificate: &[u8]) -> Self {
        let digest = digest::digest(&digest::SHA256, certificate);
        let mut bytes = [0; 32];
        for (to, from) in bytes.iter_mut().zip(digest.as_ref()) {
            *to = *from;
        }
        Self(bytes)
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, byte) in self.0.iter().enumerate() {
            let colon = if i == 0 { "" } else { ":" };
            write!(f, "{colon}{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Fingerprint({self})")
    }
}

impl FromStr for Fingerprint {
    type Err = FingerprintError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let digits: Vec<u8> = text
            .chars()
            .filter(|c| *c != ':')
            .map(|c| c.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
            .collect::<Option<_>>()
            .ok_or(FingerprintError)?;
        let bytes: Vec<u8> = digits
            .chunks(2)
            .map(|pair| match pair {
                [high, low] => high << 4 | low,
                _ => 0,
            })
            .collect();
        if digits.len() != 64 {
            return Err(FingerprintError);
        }
        <[u8; 32]>::try_from(bytes)
            .map(Self)
            .map_err(|_| FingerprintError)
    }
}

impl TryFrom<String> for Fingerprint {
    type Error = FingerprintError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Fingerprint> for String {
    fn from(fingerprint: Fingerprint) -> Self {
        fingerprint.to_string()
    }
}

/// A text that is not a fingerprint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("a fingerprint is 64 hexadecimal digits, with or without colons")]
pub struct FingerprintError;

/// The server's certificate is another one.
#[derive(Error)]
#[error("its fingerprint is {shown}, and {expected} was expected")]
struct PinMismatch {
    shown: Fingerprint,
    expected: Fingerprint,
}

// TLS shows errors of ours by `Debug` only.
impl fmt::Debug for PinMismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Takes the certificate with one fingerprint, or any. The server must own its key either way.
#[derive(Debug)]
pub(super) struct Pin {
    expected: Option<Fingerprint>,
    provider: Arc<CryptoProvider>,
}

impl Pin {
    pub(super) const fn new(expected: Option<Fingerprint>, provider: Arc<CryptoProvider>) -> Self {
        Self { expected, provider }
    }
}

impl ServerCertVerifier for Pin {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        _intermediates: &[CertificateDer<'_>],
        _name: &ServerName<'_>,
        _ocsp: &[u8],
        _now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let shown = Fingerprint::of(certificate);
        match self.expected {
            Some(expected) if expected != shown => Err(rustls::Error::InvalidCertificate(
                rustls::CertificateError::Other(rustls::OtherError(Arc::new(PinMismatch {
                    shown,
                    expected,
                }))),
            )),
            _ => Ok(ServerCertVerified::assertion()),
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signed, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signed, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider
            .signature_verification_algorithms
            .supported_schemes()
    }
}
