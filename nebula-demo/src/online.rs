//! Two terminals: a server with a world, and clients that print who enters and who leaves.

mod client;
mod server;

use bevy_ecs::component::Component;
use nebula_multiplayer::Protocol;
use serde::{Deserialize, Serialize};

pub use client::visit;
pub use server::serve;

/// What a client knows a thing by.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(summary_tick)]
pub enum Kind {
    /// A creature that walks about.
    Creature(u32),
    /// A player.
    Player(u64),
}

impl core::fmt::Display for Kind {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Creature(number) => write!(f, "creature {number}"),
            Self::Player(number) => write!(f, "player {number}"),
        }
    }
}

/// Returns what the demo's server and clients speak.
///
/// ```
/// assert!(nebula_demo::online::protocol().check().is_ok());
/// ```
#[must_use]
pub fn protocol() -> Protocol {
    Protocol::new("nebula-demo", 1).replicate::<Kind>("kind", 1)
}
