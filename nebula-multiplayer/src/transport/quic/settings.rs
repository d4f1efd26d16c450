//! What a QUIC server and a QUIC client are told at their start.

use core::fmt;
use core::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::Fingerprint;
use crate::fields::from_fields;
use crate::limits::TransportLimits;

/// What a QUIC server is told at its start. Reads from a settings file; any field may be left out.
///
/// ```
/// use nebula_multiplayer::transport::quic::{CertificateSource, QuicSettings};
///
/// let settings: QuicSettings = serde_json::from_str(
///     r#"{ "listen": "[::]:4433", "certificate": { "files": { "chain": "a.pem", "key": "b.pem" } },
///          "limits": { "per_address": 16 } }"#,
/// )
/// .unwrap();
/// assert_eq!(settings.listen.port(), 4433);
/// assert_eq!(settings.limits.per_address, 16);
/// let error = serde_json::from_str::<QuicSettings>(r#"{ "listen": "nowhere" }"#).unwrap_err();
/// assert!(error.to_string().starts_with("listen: "));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct QuicSettings {
    /// The address to listen at; port 0 lets the system choose one. 127.0.0.1:4433 unless set:
    /// nobody outside this machine reaches that.
    pub listen: SocketAddr,
    /// Where the certificate comes from.
    pub certificate: CertificateSource,
    /// Every cap of the transport.
    pub limits: TransportLimits,
    /// Threads for sockets and encryption: 1 to 64, one unless set.
    pub threads: u16,
}

from_fields!(QuicSettings {
    listen,
    certificate,
    limits,
    threads,
});

impl Default for QuicSettings {
    fn default() -> Self {
        Self {
            listen: (Ipv4Addr::LOCALHOST, 4_433).into(),
            certificate: CertificateSource::default(),
            limits: TransportLimits::default(),
            threads: 1,
        }
    }
}

/// Where a server's certificate comes from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum CertificateSource {
    /// From files in PEM form.
    Files {
        /// The certificate, and those that lead to a root.
        chain: PathBuf,
        /// Its private key.
        key: PathBuf,
    },
    /// Made at each start and signed by itself. Clients know it by its
    /// [fingerprint](super::QuicServer::fingerprint).
    Development {
        /// Names and addresses it is for.
        names: Vec<String>,
    },
}

impl Default for CertificateSource {
    fn default() -> Self {
        Self::Development {
            names: vec!["localhost".to_owned()],
        }
    }
}

/// How a client knows that its server is the right one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
#[non_exhaustive]
pub enum Trust {
    /// By a certificate that one of the roots in this PEM file leads to.
    Roots(PathBuf),
    /// By the fingerprint of its certificate.
    Pinned(Fingerprint),
    /// Not at all. Refused unless the server is on this very machine.
    Unverified,
}

/// What a QUIC client is told at its start.
///
/// ```
/// use nebula_multiplayer::transport::quic::{QuicClientSettings, Trust};
///
/// let settings = QuicClientSettings::new("127.0.0.1:4433".parse().unwrap(), Trust::Unverified);
/// assert_eq!(settings.name, "localhost");
/// ```
///
/// Reads from a settings file, where `server` and `trust` must be given. Errors name the field.
///
/// ```
/// use nebula_multiplayer::transport::quic::QuicClientSettings;
///
/// let read = |text| serde_json::from_str::<QuicClientSettings>(text);
/// let settings = read(r#"{ "server": "[::1]:4433", "trust": { "roots": "roots.pem" } }"#).unwrap();
/// assert_eq!(settings.name, "localhost");
/// let error = read(r#"{ "server": "nowhere" }"#).unwrap_err();
/// assert!(error.to_string().starts_with("server: "), "{error}");
/// let error = read(r#"{ "server": "[::1]:4433" }"#).unwrap_err();
/// assert!(error.to_string().starts_with("missing field `trust`"), "{error}");
/// ```
#[derive(Clone, PartialEq, Eq, Serialize)]
pub struct QuicClientSettings {
    /// The server's address.
    pub server: SocketAddr,
    /// The server's name, as its certificate has it.
    pub name: String,
    /// How to know that it is the right one.
    pub trust: Trust,
    /// What its login asks for: a connect token, say, which is good for one attempt. At most 1,024
    /// bytes.
    pub credentials: Vec<u8>,
    /// Every cap of the transport.
    pub limits: TransportLimits,
}

from_fields!(
    QuicClientSettings { server, name, trust, credentials, limits }
    [server, trust] QuicClientSettings::new((Ipv4Addr::UNSPECIFIED, 0).into(), Trust::Unverified)
);

impl fmt::Debug for QuicClientSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Credentials are not for logs: a token that is not used yet lets its reader in.
        f.debug_struct("QuicClientSettings")
            .field("server", &self.server)
            .field("name", &self.name)
            .field("trust", &self.trust)
            .field(
                "credentials",
                &format_args!("{} bytes", self.credentials.len()),
            )
            .field("limits", &self.limits)
            .finish()
    }
}

impl QuicClientSettings {
    /// Returns settings for a server named `localhost` that asks for no credentials.
    #[must_use]
    pub fn new(server: SocketAddr, trust: Trust) -> Self {
        Self {
            server,
            name: "localhost".to_owned(),
            trust,
            credentials: Vec::new(),
            limits: TransportLimits::default(),
        }
    }
}
