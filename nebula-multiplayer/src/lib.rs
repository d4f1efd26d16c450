//! Who must be told? Per-client interest sets and replication for large worlds.
//!
//! ```text
//! ECS world -> interest (who is near each client) -> replication (what changed, for whom)
//!           -> session (packets, acks, budgets)   -> transport -> client -> its own ECS world
//! ```
//!
//! The core touches neither a socket nor a clock: bytes and time come in, bytes and events go out.
//! With the feature `quic`, on by default, `transport::quic` carries them over a real network, and
//! `auth` says who a client is.
//!
//! A server and a client, in one process:
//!
//! ```
//! use core::time::Duration;
//!
//! use bevy_ecs::prelude::*;
//! use nebula_math::WorldPosition;
//! use nebula_multiplayer::replication::Replicate;
//! use nebula_multiplayer::{Client, ClientSettings, Identity, Protocol, Server, ServerSettings};
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Component, Serialize, Deserialize, PartialEq, Debug)]
//! #[component(summary_tick)]
//! struct Health(u16);
//!
//! // Both sides register the same things.
//! let protocol = Protocol::new("my game", 1).replicate::<Health>("health", 1);
//! let mut server = Server::new(protocol.clone(), ServerSettings::default())?;
//! let mut client = Client::new(protocol, ClientSettings::default())?;
//! let (mut world, mut mirror) = (World::new(), World::new());
//!
//! // Two entities near the player, one on the far side of a planet.
//! let player = world.spawn((Replicate, WorldPosition::new(-1, 0, 0), Health(100))).id();
//! world.spawn((Replicate, WorldPosition::new(-400_000, 0, 0), Health(7)));
//! world.spawn((Replicate, WorldPosition::new(12_742_000_000, 0, 0), Health(1)));
//!
//! let id = server.connect(Identity::Account(7), Duration::ZERO)?;
//! server.set_player(id, Some(player));
//! client.connect(Duration::ZERO);
//!
//! // Half a second of twenty ticks a second; your transport carries the bytes.
//! for tick in 1..=10 {
//!     let now = Duration::from_millis(50 * tick);
//!     let mut bytes = Vec::new();
//!     if client.transmit_stream(4_096, &mut bytes) {
//!         server.receive_stream(id, &bytes, now)?;
//!     }
//!     bytes.clear();
//!     while client.transmit(1_150, &mut bytes) {
//!         server.receive(id, &bytes, now)?;
//!         bytes.clear();
//!     }
//!     server.tick(&mut world, now);
//!     while server.transmit(id, 1_150, &mut bytes) {
//!         client.receive(&bytes, now)?;
//!         bytes.clear();
//!     }
//!     if server.transmit_stream(id, 4_096, &mut bytes) {
//!         client.receive_stream(&bytes, now)?;
//!     }
//!     client.tick(&mut mirror, now);
//! }
//! let mut seen: Vec<u16> = mirror.query::<&Health>().iter(&mirror).map(|h| h.0).collect();
//! seen.sort_unstable();
//! assert_eq!(seen, [7, 100], "near things, exactly, and nothing else");
//! assert!(client.own_entity().is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(feature = "auth")]
pub mod auth;
pub mod client;
pub mod ecs;
mod fields;
pub mod id;
pub mod input;
pub mod interest;
pub mod limits;
pub mod message;
pub mod mirror;
pub mod protocol;
pub mod replication;
pub mod server;
pub mod session;
pub mod stats;
#[cfg(feature = "testing")]
pub mod testing;
pub mod transport;
pub mod wire;

pub use client::{Client, ClientEvent, ClientSettings};
pub use id::{ClientId, NetworkId, Tick};
pub use protocol::{Channel, Protocol};
pub use server::{Disconnect, Identity, Server, ServerEvent, ServerSettings};
