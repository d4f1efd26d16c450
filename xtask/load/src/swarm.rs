//! The swarm process: healthy clients, each with a world of its own.

use core::net::SocketAddr;
use core::time::Duration;
use std::fmt::Write as _;
use std::time::Instant;

use anyhow::{Context as _, Result};
use bevy_ecs::world::World;
use nebula_math::WorldPosition;
use nebula_multiplayer::input::MoveIntent;
use nebula_multiplayer::transport::quic::{
    Fingerprint, LinkState, QuicClient, QuicClientSettings, Trust,
};
use nebula_multiplayer::{Client, ClientEvent, ClientSettings};
use tokio::runtime::Runtime;

use crate::game::{Health, Probe, Random, TICK_RATE, Tag, half_side_mm, protocol, token, unix_us};
use crate::line::{Line, Order, Swarm, orders, say, write};

/// New clients a second: a handshake costs each side a signature and more.
const JOINS_PER_SECOND: u32 = 40;

/// Ticks between two changes of direction.
const STEADY: u32 = 40;

/// How to reach a server.
#[derive(Clone, Debug)]
pub(crate) struct Way {
    pub(crate) server: SocketAddr,
    pub(crate) fingerprint: Fingerprint,
}

impl Way {
    pub(crate) fn settings(&self, credentials: Vec<u8>) -> QuicClientSettings {
        QuicClientSettings {
            credentials,
            ..QuicClientSettings::new(self.server, Trust::Pinned(self.fingerprint))
        }
    }
}

struct Guest {
    account: u64,
    client: Client,
    link: QuicClient,
    mirror: World,
    random: Random,
    intent: MoveIntent,
    /// Whether the own entity has been here.
    joined: bool,
    /// Whether the loss of its link was counted.
    down: bool,
}

struct Hive {
    way: Way,
    runtime: Runtime,
    guests: Vec<Guest>,
    half_side: i128,
    frozen: bool,
    lost: u64,
    probes: u64,
    delays: Vec<f64>,
}

/// Makes a runtime that keeps to one thread, so that a process fits on its core.
pub(crate) fn one_thread() -> Result<Runtime> {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .context("no threads")
}

/// Runs `clients` until told to leave.
pub(crate) fn swarm(way: Way, clients: usize, entities: usize) -> Result<()> {
    let orders = orders();
    let runtime = one_thread()?;
    let mut hive = Hive {
        way,
        runtime,
        guests: Vec::new(),
        half_side: half_side_mm(entities),
        frozen: false,
        lost: 0,
        probes: 0,
        delays: Vec::new(),
    };
    let period = Duration::from_secs(1) / u32::from(TICK_RATE);
    let (start, mut second) = (Instant::now(), Instant::now());
    let mut due = start;
    loop {
        while let Ok(order) = orders.try_recv() {
            if !hive.obey(order)? {
                return Ok(());
            }
        }
        let allowed = start.elapsed().as_secs_f64() * f64::from(JOINS_PER_SECOND);
        while hive.guests.len() < clients && (hive.guests.len() as f64) < allowed {
            hive.join()?;
        }
        hive.step(due, period);
        if second.elapsed() >= Duration::from_secs(1) {
            second = Instant::now();
            say(&Line::Swarm(hive.stands()))?;
        }
        due = (due + period).max(Instant::now());
    }
}

impl Hive {
    /// Returns whether to go on.
    fn obey(&mut self, order: Order) -> Result<bool> {
        match order {
            Order::Measure => self.delays.clear(),
            Order::Report => say(&Line::PopIn {
                ms: core::mem::take(&mut self.delays),
            })?,
            Order::Freeze => self.frozen = true,
            Order::Dump(file) => write(&file, &self.dump())?,
            Order::Quit => {
                for guest in &mut self.guests {
                    guest.link.leave(&mut guest.client);
                }
                // Long enough for the goodbyes to get out.
                std::thread::sleep(Duration::from_millis(500));
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn join(&mut self) -> Result<()> {
        let account = u64::try_from(self.guests.len())? + 1;
        let settings = self.way.settings(token(account, self.way.server)?);
        let link = QuicClient::connect_on(self.runtime.handle(), &protocol(), &settings)?;
        self.guests.push(Guest {
            account,
            client: Client::new(protocol(), ClientSettings::default())?,
            link,
            mirror: World::new(),
            random: Random(account),
            intent: MoveIntent::default(),
            joined: false,
            down: false,
        });
        Ok(())
    }

    /// Steps every client once, spread over the period: so come the packets of real ones.
    fn step(&mut self, due: Instant, period: Duration) {
        let count = u32::try_from(self.guests.len()).unwrap_or(u32::MAX).max(1);
        for (guest, index) in self.guests.iter_mut().zip(0..) {
            let at = due + period * index / count;
            // Not for each alone: waking costs more than a step.
            if let Some(wait) = at.checked_duration_since(Instant::now())
                && wait > period / 10
            {
                std::thread::sleep(wait);
            }
            guest.step(self.frozen, self.half_side);
            for event in guest.client.events() {
                match event {
                    ClientEvent::Spawned(entity) => {
                        let probe = guest.mirror.get::<Probe>(entity);
                        if let Some(probe) = probe.filter(|p| p.account == guest.account) {
                            self.probes += 1;
                            let micros = unix_us().saturating_sub(probe.at_us);
                            self.delays.push(micros as f64 / 1e3);
                        }
                    }
                    ClientEvent::Disconnected { reason } => {
                        eprintln!("client {}: {reason}", guest.account);
                        self.lost += 1;
                    }
                    _ => {}
                }
            }
            if let LinkState::Down(error) = guest.link.state()
                && !guest.down
            {
                eprintln!("client {}: {error}", guest.account);
                guest.down = true;
                self.lost += 1;
            }
        }
        if let Some(wait) = (due + period).checked_duration_since(Instant::now()) {
            std::thread::sleep(wait);
        }
    }

    fn stands(&self) -> Swarm {
        Swarm {
            joined: self.guests.iter().filter(|guest| guest.joined).count(),
            lost: self.lost,
            mirrored: self.guests.iter().map(|g| g.client.mirrored()).sum(),
            probes: self.probes,
        }
    }

    /// What every client has: a line with its account, then one entity a line.
    fn dump(&mut self) -> String {
        let mut text = String::new();
        for guest in &mut self.guests {
            let _ = writeln!(text, "client {}", guest.account);
            let mut query = guest.mirror.query::<(&Tag, &WorldPosition, &Health)>();
            for (tag, at, health) in query.iter(&guest.mirror) {
                let _ = writeln!(text, "{} {} {} {} {}", tag.0, at.x, at.y, at.z, health.0);
            }
        }
        text
    }
}

impl Guest {
    fn step(&mut self, frozen: bool, half_side: i128) {
        let now = self.link.now();
        self.link.pump(&mut self.client, now);
        self.client.tick(&mut self.mirror, now);
        self.mirror.clear_trackers();
        if let Some(own) = self.client.own_entity() {
            self.joined = true;
            if !frozen && let Some(&at) = self.mirror.get::<WorldPosition>(own) {
                self.steer(at, half_side);
                // Refused only when the server is slow to confirm, and the next one makes up for it.
                let _ = self.client.send(&self.intent);
            }
        }
        self.link.flush(&mut self.client);
    }

    /// Goes straight on for a while, then elsewhere; away from the edge of the world.
    fn steer(&mut self, at: WorldPosition, half_side: i128) {
        self.intent.number = self.intent.number.wrapping_add(1);
        self.intent.millis = 1_000 / TICK_RATE;
        if self.intent.number % STEADY == 1 {
            let [x, y] = self.random.velocity();
            self.intent.velocity_mm_s = [x, y, 0];
        }
        let [x, y, _] = &mut self.intent.velocity_mm_s;
        for (velocity, at) in [(x, at.x), (y, at.y)] {
            if at.abs() > half_side && (at > 0) == (*velocity > 0) {
                *velocity = -*velocity;
            }
        }
    }
}
