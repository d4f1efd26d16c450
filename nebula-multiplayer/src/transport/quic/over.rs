//! Servers and clients over sockets that are given to them, and parts of them, for tests (feature
//! `testing`): a simulated network, or peers that speak QUIC on their own.

use std::io;
use std::sync::Arc;

use quinn::Endpoint;
use quinn::crypto::rustls::QuicClientConfig;
use tokio::runtime::Handle;

use super::{
    CertificateError, LinkError, QuicClient, QuicClientSettings, QuicServer, QuicSettings,
    ServeError, config,
};
use crate::auth::Login;
use crate::{Protocol, Server};

/// Does as [`serve`](super::serve) does, on a runtime of yours and over an endpoint that `make`
/// makes with what quinn is told. The address and the threads of the settings play no part.
///
/// # Errors
/// [`ServeError`] as [`serve`](super::serve) gives it.
pub fn serve_over(
    handle: &Handle,
    server: &Server,
    settings: &QuicSettings,
    login: impl Login,
    make: impl FnOnce(quinn::ServerConfig) -> io::Result<Endpoint>,
) -> Result<QuicServer, ServeError> {
    let make = |config| {
        make(config).map_err(|error| ServeError::Bind {
            address: settings.listen,
            error,
        })
    };
    QuicServer::start(server, settings, Arc::new(login), handle.clone(), make)
}

/// Does as [`QuicClient::connect_on`] does, over an endpoint that `make` makes.
///
/// # Errors
/// [`LinkError`] as [`connect`](super::connect) gives it.
pub fn connect_over(
    handle: &Handle,
    protocol: &Protocol,
    settings: &QuicClientSettings,
    make: impl FnOnce() -> io::Result<Endpoint>,
) -> Result<QuicClient, LinkError> {
    QuicClient::start(handle, protocol, settings, make)
}

/// Returns what quinn is told for a client.
///
/// # Errors
/// [`CertificateError`] as [`connect`](super::connect) gives it.
pub fn client_config(
    protocol: &Protocol,
    settings: &QuicClientSettings,
) -> Result<quinn::ClientConfig, CertificateError> {
    config::client(protocol, settings.server, &settings.trust, &settings.limits)
}

/// Returns a client's TLS, for tests that put something of their own around it.
///
/// # Errors
/// [`CertificateError`] as [`connect`](super::connect) gives it.
pub fn client_tls(
    protocol: &Protocol,
    settings: &QuicClientSettings,
) -> Result<QuicClientConfig, CertificateError> {
    config::client_tls(protocol, settings.server, &settings.trust)
}
