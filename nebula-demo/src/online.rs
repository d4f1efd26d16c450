//! Several terminals: a server with a world, and clients that look at a part of it, over QUIC.
//!
//! Each side is a loop ([`server`](serve), [`client`](visit)) that prints what happens. With a display
//! the loop runs on a thread of its own, and a window in front of it draws what it shows.

mod client;
mod client_window;
mod herd;
mod server;
mod server_window;
mod stage;
mod window;

use std::io::Write;

use anyhow::Result;
use bevy_ecs::component::Component;
use nebula_multiplayer::Protocol;
use nebula_multiplayer::protocol::Channel;
use serde::{Deserialize, Serialize};

use crate::args::{ClientOptions, ServerOptions};
use stage::Stage;

pub use herd::{MIDDLE, creatures};

/// How far a player sees, in millimetres.
pub const RADIUS_MM: i128 = 500_000;

/// What a client knows a thing by.
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
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
            Self::Player(number) => f.write_str(&player_name(*number)),
        }
    }
}

/// Returns "player 7", or "guest 3" for one without an account: those are numbered from 2^63 on.
fn player_name(number: u64) -> String {
    match number.checked_sub(1 << 63) {
        Some(guest) => format!("guest {guest}"),
        None => format!("player {number}"),
    }
}

/// Where a player wants to walk: the signs of east and north.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Walk(pub i8, pub i8);

/// Returns what the demo's server and clients speak.
///
/// ```
/// assert!(nebula_demo::online::protocol().check().is_ok());
/// ```
#[must_use]
pub fn protocol() -> Protocol {
    Protocol::new("nebula-demo", 2)
        .replicate::<Kind>("kind", 1)
        .message::<Walk>("walk", 1, Channel::Latest)
}

/// Serves a world until it is told to stop, in a window or in text.
///
/// # Errors
/// If the address is taken, or the output cannot be written.
pub fn serve(options: &ServerOptions, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let stage = Stage::default();
    let mut front = server_window::ServerWindow::new(&stage);
    let work = |out: &mut dyn Write| server::run(options, &stage, out);
    stage.run("server", options.headless, work, &mut front, out, err)
}

/// Looks at a served world, in a window or in text: who enters and who leaves.
///
/// # Errors
/// If the server cannot be reached or refuses us, or the output cannot be written.
pub fn visit(options: &ClientOptions, out: &mut dyn Write, err: &mut dyn Write) -> Result<()> {
    let stage = Stage::default();
    let mut front = client_window::ClientWindow::new(&stage);
    let work = |out: &mut dyn Write| client::run(options, &stage, out);
    stage.run("client", options.headless, work, &mut front, out, err)
}
