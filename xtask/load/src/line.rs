//! What the processes say to each other: one line of JSON each.

use core::net::SocketAddr;
use std::io::{BufRead as _, Write as _};
use std::sync::mpsc;

use anyhow::{Context as _, Result};
use serde::{Deserialize, Serialize};

/// A line from a server, a swarm or hostile clients.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Line {
    /// The server listens.
    Ready {
        address: SocketAddr,
        fingerprint: String,
        /// Its live heap, with the whole world and no client.
        heap: u64,
    },
    /// How the server's last second was.
    Served(Served),
    /// How the swarm stands.
    Swarm(Swarm),
    /// What the server saw in a window that was asked for.
    Window(Window),
    /// How long probes took to appear in that window, in milliseconds, in no order.
    PopIn { ms: Vec<f64> },
    /// What was asked for is done.
    Done,
    /// What hostile clients did: a name and how often.
    Hostile { deeds: Vec<(String, u64)> },
}

/// One second of a server.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Served {
    pub(crate) clients: usize,
    /// Clients in any state, and connections in any state.
    pub(crate) held: usize,
    pub(crate) connections: u32,
    pub(crate) longest_tick_ms: f64,
    pub(crate) heap: u64,
    /// Probes spawned since the start.
    pub(crate) probes: u64,
}

/// A swarm, once a second.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Swarm {
    /// Clients whose own entity has arrived.
    pub(crate) joined: usize,
    /// Connections that ended though nobody left.
    pub(crate) lost: u64,
    /// Entities that all clients mirror together.
    pub(crate) mirrored: usize,
    /// Probes that appeared since the start.
    pub(crate) probes: u64,
}

/// What a server saw while it was measured.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Window {
    pub(crate) seconds: f64,
    /// CPU time of every tick, of what Nebula does in it.
    pub(crate) ticks_us: Vec<u32>,
    /// Ticks that were not over when the next one was due.
    pub(crate) overruns: u64,
    /// CPU time of the whole process, sockets and game included.
    pub(crate) process_seconds: f64,
    /// Healthy clients at the end.
    pub(crate) clients: usize,
    /// Bytes sent to them, overhead included, and those of replicated state alone.
    pub(crate) wire_bytes: u64,
    pub(crate) state_bytes: u64,
    pub(crate) heap: u64,
}

/// Writes a line to whoever started this process.
pub(crate) fn say(line: &Line) -> Result<()> {
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, line)?;
    writeln!(out)?;
    Ok(out.flush()?)
}

/// Writes what was asked for to a file, and says so.
pub(crate) fn write(file: &str, text: &str) -> Result<()> {
    std::fs::write(file, text).with_context(|| format!("could not write {file}"))?;
    say(&Line::Done)
}

/// What a process is told to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// Begin to measure.
    Measure,
    /// Say what was measured.
    Report,
    /// Let nothing move any more.
    Freeze,
    /// Write what you know to this file.
    Dump(String),
    /// Leave, or end.
    Quit,
}

/// Returns the orders that come in on the standard input; it ends with an order to quit, so that no
/// process outlives the one that started it.
pub(crate) fn orders() -> mpsc::Receiver<Order> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines().map_while(Result::ok) {
            let Ok(order) = serde_json::from_str(&line) else {
                continue;
            };
            if sender.send(order).is_err() {
                return;
            }
        }
        let _ = sender.send(Order::Quit);
    });
    receiver
}
