//! QUIC: a server and its clients on a real network (feature `quic`).
//!
//! Sockets, encryption and waiting live on tokio's threads; your game and its
//! [`Server`](crate::Server) stay on yours. Between the two are bounded queues, and the game only
//! ever looks into them:
//!
//! ```text
//! network -> queue per client -> QuicServer::pump  -> Server::receive
//!            Server::tick                              (your game)
//! network <- quinn's buffers  <- QuicServer::flush <- Server::transmit
//! ```
//!
//! [`serve`] and [`connect`] begin; [`run`] is a ready-made loop around a server. State travels in
//! datagrams, built only while the network takes them, so that a slow reader costs nothing but its
//! own time; ordered things share one stream. TLS 1.3 seals everything, and the two sides agree on
//! protocol and version (ALPN) before they say a word. Every cap is in
//! [`TransportLimits`](crate::limits::TransportLimits).
//!
//! ```
//! use core::time::Duration;
//!
//! use bevy_ecs::prelude::*;
//! use nebula_math::WorldPosition;
//! use nebula_multiplayer::auth::OpenLogin;
//! use nebula_multiplayer::replication::Replicate;
//! use nebula_multiplayer::transport::quic::{self, QuicClientSettings, QuicSettings, Trust};
//! use nebula_multiplayer::{Client, ClientSettings, Protocol, Server, ServerEvent, ServerSettings};
//!
//! let protocol = Protocol::new("my game", 1);
//! let mut server = Server::new(protocol.clone(), ServerSettings::default())?;
//! let listen = QuicSettings { listen: "127.0.0.1:0".parse()?, ..QuicSettings::default() };
//! let mut net = quic::serve(&server, &listen, OpenLogin)?;
//!
//! // Another process, in truth; it knows the fingerprint of the server's own certificate.
//! let mut client = Client::new(protocol.clone(), ClientSettings::default())?;
//! let trust = Trust::Pinned(net.fingerprint());
//! let settings = QuicClientSettings::new(net.local_addr(), trust);
//! let mut link = quic::connect(&protocol, &settings)?;
//!
//! let (mut world, mut mirror) = (World::new(), World::new());
//! let player = world.spawn((Replicate, WorldPosition::new(-1, 0, 0))).id();
//! while client.own_entity().is_none() {
//!     net.pump(&mut server, net.now());
//!     for event in server.events() {
//!         if let ServerEvent::Connected { client, .. } = event {
//!             server.set_player(client, Some(player));
//!         }
//!     }
//!     server.tick(&mut world, net.now());
//!     net.flush(&mut server);
//!
//!     link.pump(&mut client, link.now());
//!     client.tick(&mut mirror, link.now());
//!     link.flush(&mut client);
//!     std::thread::sleep(Duration::from_millis(5));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(
    clippy::indexing_slicing,
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::as_conversions
)]

mod certificate;
mod client;
mod config;
mod counters;
mod gate;
mod link;
#[cfg(feature = "testing")]
mod over;
mod pace;
mod run;
mod server;
mod settings;
mod threads;
mod welcome;

pub use certificate::{Fingerprint, FingerprintError};
pub use client::{LinkError, LinkState, QuicClient, connect};
pub use config::CertificateError;
pub use counters::TransportStats;
pub use gate::{Gate, Pass, Verdict};
#[cfg(feature = "testing")]
pub use over::{client_config, client_tls, connect_over, serve_over};
pub use pace::Pace;
pub use run::{RunReport, Stop, Turn, run};
pub use server::{QuicServer, ServeError, serve};
pub use settings::{CertificateSource, QuicClientSettings, QuicSettings, Trust};

/// Numbers with which a link is closed, beside those of
/// [`Disconnect::code`](crate::Disconnect::code).
pub mod close_code {
    /// The server ends.
    pub const SHUTDOWN: u32 = 32;
    /// The same account came over a newer link.
    pub const REPLACED: u32 = 33;
    /// The login said no.
    pub const LOGIN: u32 = 34;
    /// The server is full.
    pub const FULL: u32 = 35;
    /// Too many connections from this address, or too fast.
    pub const ADDRESS: u32 = 36;
    /// The handshake took too long.
    pub const HANDSHAKE: u32 = 37;
    /// The peer takes nothing.
    pub const SLOW: u32 = 38;
    /// Far too much was sent.
    pub const FLOOD: u32 = 3;
    /// Our own fault.
    pub const INTERNAL: u32 = 39;
}

/// The examples of the server guide, run as doctests.
#[cfg(doctest)]
#[doc = include_str!("../../../docs/server-guide.md")]
mod guide {}
