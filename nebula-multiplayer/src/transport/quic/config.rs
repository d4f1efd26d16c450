//! From settings to what quinn and rustls are told.

use core::net::SocketAddr;
use core::time::Duration;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use quinn::crypto::rustls::{QuicClientConfig, QuicServerConfig};
use quinn::{ClientConfig, IdleTimeout, ServerConfig, TransportConfig, VarInt};
use quinn_proto::ValidationTokenConfig;
use rustls::RootCertStore;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use thiserror::Error;

use super::certificate::Pin;
use super::{CertificateSource, Fingerprint, Trust};
use crate::limits::{TransportLimits, WIRE_VERSION};
use crate::protocol::Protocol;

/// Why a certificate, its key or the roots cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// A file cannot be read, or holds no PEM of the right kind.
    #[error("cannot read {what} from {path:?}: {why}")]
    File {
        /// What should have been in it.
        what: &'static str,
        /// The file.
        path: PathBuf,
        /// What went wrong.
        why: String,
    },
    /// The certificate could not be made or does not fit its key.
    #[error("the certificate cannot be used: {0}")]
    Unusable(String),
    /// A client without verification asked for a server that is not on this machine.
    #[error(
        "{0} is not on this machine, so its certificate must be verified: give its fingerprint or \
         a file of roots"
    )]
    Unverified(SocketAddr),
}

/// How long a proof of address is good for. It counts whole seconds of the wall clock, so that a
/// short one would be over at once in the last part of a second.
const PROOF: Duration = Duration::from_secs(6);

/// Returns the name of protocol and version that both sides must agree on before anything else.
pub(super) fn alpn(protocol: &Protocol) -> Vec<u8> {
    let (name, version) = (protocol.name(), protocol.version());
    format!("nebula/{WIRE_VERSION}/{name}/{version}").into_bytes()
}

pub(super) const fn millis(value: u32) -> Duration {
    Duration::from_millis(widen(value))
}

const fn widen(value: u32) -> u64 {
    // `From` is not callable in a const fn.
    #[expect(clippy::as_conversions, reason = "u32 to u64 loses nothing")]
    let wide = value as u64;
    wide
}

fn size(value: u32) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

fn transport(limits: &TransportLimits, keep_alive: bool) -> TransportConfig {
    let mut config = TransportConfig::default();
    config
        .max_concurrent_bidi_streams(VarInt::from_u32(limits.streams))
        .max_concurrent_uni_streams(VarInt::from_u32(0))
        .receive_window(VarInt::from_u32(limits.receive_window))
        .stream_receive_window(VarInt::from_u32(limits.stream_window))
        .send_window(limits.send_window.into())
        .datagram_receive_buffer_size(Some(size(limits.datagram_buffer)))
        .datagram_send_buffer_size(size(limits.datagram_buffer))
        .crypto_buffer_size(size(limits.crypto_buffer))
        // Packets fit the smallest path anyway; probes for a wider one would be in vain.
        .mtu_discovery_config(None)
        // A bit that observers could follow.
        .allow_spin(false)
        .max_idle_timeout(IdleTimeout::try_from(millis(limits.idle_ms)).ok())
        .keep_alive_interval(keep_alive.then(|| millis(limits.keep_alive_ms)));
    config
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

fn unusable(error: impl ToString) -> CertificateError {
    CertificateError::Unusable(error.to_string())
}

/// Returns what quinn is told for a server, and the fingerprint of its certificate.
pub(super) fn server(
    protocol: &Protocol,
    source: &CertificateSource,
    limits: &TransportLimits,
) -> Result<(ServerConfig, Fingerprint), CertificateError> {
    let (chain, key) = match source {
        CertificateSource::Files { chain, key } => load(chain, key)?,
        CertificateSource::Development { names } => development(names)?,
    };
    let fingerprint = Fingerprint::of(chain.first().map(AsRef::as_ref).unwrap_or_default());
    let mut tls = rustls::ServerConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(unusable)?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(unusable)?;
    tls.alpn_protocols = vec![alpn(protocol)];
    // No early data and no tickets: early data can be replayed, and our own resume is better.
    tls.max_early_data_size = 0;
    tls.send_tls13_tickets = 0;
    let tls = QuicServerConfig::try_from(tls).map_err(unusable)?;
    let mut config = ServerConfig::with_crypto(Arc::new(tls));
    let mut tokens = ValidationTokenConfig::default();
    tokens.sent(0);
    config
        .transport_config(Arc::new(transport(limits, false)))
        // A client whose address changes comes over a new link and resumes its session: cheaper
        // than to probe addresses on the word of whoever sends.
        .migration(false)
        .max_incoming(size(limits.incoming))
        .incoming_buffer_size_total(limits.incoming_bytes.into())
        .validation_token_config(tokens)
        .retry_token_lifetime(PROOF);
    Ok((config, fingerprint))
}

/// Returns what quinn is told for a client.
pub(super) fn client(
    protocol: &Protocol,
    server: SocketAddr,
    trust: &Trust,
    limits: &TransportLimits,
) -> Result<ClientConfig, CertificateError> {
    let tls = client_tls(protocol, server, trust)?;
    let mut config = ClientConfig::new(Arc::new(tls));
    config.transport_config(Arc::new(transport(limits, true)));
    Ok(config)
}

/// Returns a client's TLS.
pub(super) fn client_tls(
    protocol: &Protocol,
    server: SocketAddr,
    trust: &Trust,
) -> Result<QuicClientConfig, CertificateError> {
    let builder = rustls::ClientConfig::builder_with_provider(provider())
        .with_protocol_versions(&[&rustls::version::TLS13])
        .map_err(unusable)?;
    let pinned = |expected| Arc::new(Pin::new(expected, provider()));
    let mut tls = match trust {
        Trust::Roots(path) => builder
            .with_root_certificates(roots(path)?)
            .with_no_client_auth(),
        Trust::Pinned(expected) => builder
            .dangerous()
            .with_custom_certificate_verifier(pinned(Some(*expected)))
            .with_no_client_auth(),
        Trust::Unverified if server.ip().to_canonical().is_loopback() => {
            tracing::warn!(%server, "connecting to this machine without verifying the server");
            builder
                .dangerous()
                .with_custom_certificate_verifier(pinned(None))
                .with_no_client_auth()
        }
        Trust::Unverified => return Err(CertificateError::Unverified(server)),
    };
    tls.alpn_protocols = vec![alpn(protocol)];
    tls.resumption = rustls::client::Resumption::disabled();
    QuicClientConfig::try_from(tls).map_err(unusable)
}

type Chain = (Vec<CertificateDer<'static>>, PrivateKeyDer<'static>);

fn load(chain: &Path, key: &Path) -> Result<Chain, CertificateError> {
    let certificates = read_certificates("a certificate", chain)?;
    let key = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| file_error("a private key", key, error))?;
    Ok((certificates, key))
}

fn read_certificates(
    what: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let certificates: Vec<_> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|error| file_error(what, path, error))?;
    if certificates.is_empty() {
        return Err(file_error(what, path, "it holds none in PEM form"));
    }
    Ok(certificates)
}

fn file_error(what: &'static str, path: &Path, why: impl ToString) -> CertificateError {
    CertificateError::File {
        what,
        path: path.to_owned(),
        why: why.to_string(),
    }
}

fn roots(path: &Path) -> Result<RootCertStore, CertificateError> {
    let mut store = RootCertStore::empty();
    for certificate in read_certificates("root certificates", path)? {
        store.add(certificate).map_err(unusable)?;
    }
    Ok(store)
}

fn development(names: &[String]) -> Result<Chain, CertificateError> {
    let made = rcgen::generate_simple_self_signed(names).map_err(unusable)?;
    let key = PrivatePkcs8KeyDer::from(made.signing_key.serialize_der());
    Ok((vec![made.cert.der().clone()], key.into()))
}
