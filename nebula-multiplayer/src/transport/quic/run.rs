//! A ready-made loop around a server.

use core::sync::atomic::{AtomicBool, Ordering};
use core::time::Duration;
use std::io;
use std::sync::Arc;
use std::time::Instant;

use bevy_ecs::world::World;
use tokio::runtime::Handle;

use super::{Pace, QuicClient, QuicServer, TransportStats};
use crate::Server;

/// Ends a running server, from anywhere.
///
/// ```
/// use nebula_multiplayer::transport::quic::Stop;
///
/// let stop = Stop::default();
/// let handle = stop.clone();
/// std::thread::spawn(move || handle.stop()).join().unwrap();
/// assert!(stop.is_stopped());
/// ```
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Ends the server after its current tick.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Returns whether the end was asked for.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// Lets the signals that ask a process to end (`SIGTERM`, and `SIGINT` of Ctrl-C) stop it.
    ///
    /// # Errors
    /// If the system does not let us listen for them.
    pub fn on_signals(&self, net: &QuicServer) -> io::Result<()> {
        self.listen(net.handle())
    }

    /// Does as [`on_signals`](Self::on_signals) for a client, whose loop asks
    /// [`is_stopped`](Self::is_stopped) and then leaves.
    ///
    /// # Errors
    /// If the system does not let us listen for them.
    pub fn on_client_signals(&self, link: &QuicClient) -> io::Result<()> {
        self.listen(link.handle())
    }

    fn listen(&self, handle: &Handle) -> io::Result<()> {
        let _entered = handle.enter();
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            for kind in [SignalKind::terminate(), SignalKind::interrupt()] {
                let (mut signal, stop) = (signal(kind)?, self.clone());
                handle.spawn(async move {
                    signal.recv().await;
                    stop.stop();
                });
            }
        }
        #[cfg(not(unix))]
        {
            let stop = self.clone();
            handle.spawn(async move {
                if tokio::signal::ctrl_c().await.is_ok() {
                    stop.stop();
                }
            });
        }
        Ok(())
    }
}

/// What a game sees in one tick.
#[derive(Debug)]
pub struct Turn<'a> {
    /// The server: events, messages, players.
    pub server: &'a mut Server,
    /// The world that is replicated.
    pub world: &'a mut World,
    /// The time of this tick.
    pub now: Duration,
    /// How many ticks were before.
    pub tick: u64,
    /// What the transport counted.
    pub stats: TransportStats,
}

/// What [`run`] saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RunReport {
    /// Ticks that were taken.
    pub ticks: u64,
    /// Ticks that were not over when the next one was due.
    pub late: u64,
    /// Ticks that were left out because the ones before took too long.
    pub overruns: u64,
    /// The longest tick.
    pub longest: Duration,
    /// What the transport counted.
    pub stats: TransportStats,
}

/// Runs a server at its tick rate until it is told to stop; then ends all connections cleanly.
///
/// Each tick: what arrived, your `game`, [`Server::tick`], what is due. A tick that takes too long
/// makes later ones late, never more frequent.
///
/// ```
/// use bevy_ecs::world::World;
/// use nebula_multiplayer::auth::OpenLogin;
/// use nebula_multiplayer::transport::quic::{self, QuicSettings, Stop};
/// use nebula_multiplayer::{Protocol, Server, ServerSettings};
///
/// let settings = ServerSettings { tick_rate: 200, ..ServerSettings::default() };
/// let server = Server::new(Protocol::new("my game", 1), settings)?;
/// let listen = QuicSettings { listen: "127.0.0.1:0".parse()?, ..QuicSettings::default() };
/// let net = quic::serve(&server, &listen, OpenLogin)?;
///
/// let stop = Stop::default();
/// stop.on_signals(&net)?;
/// let end = stop.clone();
/// let report = quic::run(net, server, World::new(), &stop, |turn| {
///     // Read turn.server's events and messages, move things in turn.world.
///     if turn.tick == 3 {
///         end.stop();
///     }
/// });
/// assert_eq!(report.ticks, 4);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn run(
    mut net: QuicServer,
    mut server: Server,
    mut world: World,
    stop: &Stop,
    mut game: impl FnMut(Turn<'_>),
) -> RunReport {
    let mut report = RunReport {
        ticks: 0,
        late: 0,
        overruns: 0,
        longest: Duration::ZERO,
        stats: net.stats(),
    };
    let mut pace = Pace::new(server.settings().tick_rate, net.now());
    while !stop.is_stopped() {
        let start = Instant::now();
        let now = net.now();
        let span = tracing::trace_span!("tick", tick = report.ticks);
        let entered = span.enter();
        net.pump(&mut server, now);
        game(Turn {
            server: &mut server,
            world: &mut world,
            now,
            tick: report.ticks,
            stats: net.stats(),
        });
        server.tick(&mut world, now);
        net.flush(&mut server);
        // As an app does at the end of a frame: bevy_ecs would remember every removal for good.
        world.clear_trackers();
        drop(entered);
        report.ticks = report.ticks.saturating_add(1);
        report.longest = report.longest.max(start.elapsed());
        std::thread::sleep(pace.next(net.now()));
    }
    (report.late, report.overruns) = (pace.late(), pace.left_out());
    report.stats = net.stats();
    tracing::info!(
        ticks = report.ticks,
        overruns = report.overruns,
        "the server ends"
    );
    net.shutdown(&mut server, "the server ends");
    report
}
