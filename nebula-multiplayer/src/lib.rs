//! Who must be told? Per-client interest sets and replication for large worlds.
//!
//! ```text
//! ECS world -> interest (who is near each client) -> replication (what changed, for whom)
//!           -> session (packets, acks, budgets)   -> transport -> client -> its own ECS world
//! ```
//!
//! Nothing in this crate touches a socket or a clock: bytes and time come in, bytes and events go
//! out. The crate is being built; what a module holds, it says itself.

pub mod client;
pub mod id;
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
