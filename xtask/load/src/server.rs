//! The server process: a world in motion, measured tick by tick.

use core::time::Duration;
use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::sync::mpsc::Receiver;
use std::time::Instant;

use anyhow::{Context as _, Result};
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::query::QueryState;
use bevy_ecs::world::World;
use cpu_time::{ProcessTime, ThreadTime};
use nebula_math::{IVec3_128, WorldPosition};
use nebula_multiplayer::auth::TokenLogin;
use nebula_multiplayer::input::Mover;
use nebula_multiplayer::interest::{InterestArea, InterestConfig};
use nebula_multiplayer::limits::TransportLimits;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::transport::quic::{self, Pace, QuicServer, QuicSettings};
use nebula_multiplayer::{ClientId, Server, ServerEvent, ServerSettings};

use crate::game::{
    FIRST_HOSTILE, FIRST_PLAYER, FIRST_PROBE, Health, MARGIN_PERCENT, Probe, RADIUS_MM, Random,
    SPEED_MM_S, TICK_RATE, TOKEN_PROTOCOL, Tag, half_side_mm, protocol, token_key, unix_us,
};
use crate::line::{Line, Order, Served, Window, orders, say, write};

/// How long a probe stays: longer than any that is not lost takes to appear.
const PROBE_LIFE: Duration = Duration::from_secs(2);

/// Ticks before the heap without clients is read, so that tables have their size.
const WARM_UP: u32 = 40;

/// The velocity of what walks about by itself, in millimetres a second.
#[derive(Component, Clone, Copy)]
struct Walk([i32; 2]);

struct Host {
    server: Server,
    net: QuicServer,
    world: World,
    walkers: QueryState<(
        &'static mut WorldPosition,
        &'static mut Walk,
        &'static mut Health,
    )>,
    mover: Mover,
    players: BTreeMap<ClientId, Entity>,
    probes: VecDeque<(Duration, Entity)>,
    probes_made: u64,
    half_side: i128,
    random: Random,
    frozen: bool,
    /// Bytes of clients at the time when measuring began: on the wire, and of state.
    began: Option<Began>,
    window: Window,
}

struct Began {
    at: Instant,
    process: ProcessTime,
    bytes: BTreeMap<ClientId, (u64, u64)>,
}

/// Serves `connections` clients and as many entities until told to quit.
pub(crate) fn serve(entities: usize, connections: u32, heap: fn() -> u64) -> Result<()> {
    let orders = orders();
    let mut host = Host::new(entities, connections)?;
    for _ in 0..WARM_UP {
        host.tick();
        std::thread::sleep(Duration::from_millis(5));
    }
    say(&Line::Ready {
        address: host.net.local_addr(),
        fingerprint: host.net.fingerprint().to_string(),
        heap: heap(),
    })?;
    host.run(&orders, heap)
}

impl Host {
    fn new(entities: usize, connections: u32) -> Result<Self> {
        let settings = ServerSettings {
            tick_rate: TICK_RATE,
            interest: InterestConfig {
                area: InterestArea::new(f64::from(i32::try_from(RADIUS_MM)?) / 1_000.0)?,
                ..InterestConfig::with_margin_percent(MARGIN_PERCENT)
            },
            ..ServerSettings::default()
        };
        let server = Server::new(protocol(), settings)?;
        // A port that is free now, since tokens name the address before the server listens.
        let probe = std::net::UdpSocket::bind("127.0.0.1:0").context("no UDP port")?;
        let listen = probe.local_addr()?;
        drop(probe);
        let quic = QuicSettings {
            listen,
            limits: TransportLimits {
                connections,
                // All come from one machine.
                per_address: connections,
                connects_per_second: connections,
                ..TransportLimits::default()
            },
            ..QuicSettings::default()
        };
        let login = TokenLogin::new(token_key(), TOKEN_PROTOCOL, vec![listen]);
        let net = quic::serve(&server, &quic, login)?;
        let mut world = World::new();
        let (half_side, mut random) = (half_side_mm(entities), Random(1));
        for tag in 0..u32::try_from(entities)? {
            let at = place(&mut random, half_side);
            let walk = Walk(random.velocity());
            world.spawn((Replicate, at, Tag(tag), Health(0), walk));
        }
        let walkers = world.query();
        Ok(Self {
            server,
            net,
            world,
            walkers,
            mover: Mover::default(),
            players: BTreeMap::new(),
            probes: VecDeque::new(),
            probes_made: 0,
            half_side,
            random,
            frozen: false,
            began: None,
            window: Window::default(),
        })
    }

    fn run(&mut self, orders: &Receiver<Order>, heap: fn() -> u64) -> Result<()> {
        let mut pace = Pace::new(TICK_RATE, self.net.now());
        let mut second = Instant::now();
        let mut longest = Duration::ZERO;
        loop {
            while let Ok(order) = orders.try_recv() {
                match order {
                    Order::Measure => self.measure(),
                    Order::Report => say(&Line::Window(self.measured(heap())))?,
                    Order::Freeze => self.frozen = true,
                    Order::Dump(file) => write(&file, &self.dump())?,
                    Order::Quit => return Ok(()),
                }
            }
            let start = Instant::now();
            let cpu = self.tick();
            longest = longest.max(start.elapsed());
            if self.began.is_some() {
                let micros = u32::try_from(cpu.as_micros()).unwrap_or(u32::MAX);
                self.window.ticks_us.push(micros);
            }
            if second.elapsed() >= Duration::from_secs(1) {
                second = Instant::now();
                say(&Line::Served(
                    self.served(core::mem::take(&mut longest), heap()),
                ))?;
            }
            let late = pace.late();
            let wait = pace.next(self.net.now());
            self.window.overruns += pace.late() - late;
            std::thread::sleep(wait);
        }
    }

    /// Takes one tick; returns the CPU time of what Nebula does in it.
    fn tick(&mut self) -> Duration {
        let now = self.net.now();
        let pump = ThreadTime::now();
        self.net.pump(&mut self.server, now);
        let pump = pump.elapsed();
        self.play(now);
        let rest = ThreadTime::now();
        let (server, world) = (&mut self.server, &mut self.world);
        let speed = SPEED_MM_S.unsigned_abs();
        self.mover.run(server, world, now, |_, _| speed);
        server.tick(world, now);
        self.net.flush(server);
        let cpu = pump + rest.elapsed();
        // As `quic::run` does at the end of a tick.
        self.world.clear_trackers();
        cpu
    }

    /// The game's own part of a tick.
    fn play(&mut self, now: Duration) {
        for event in self.server.events() {
            match event {
                ServerEvent::Connected { client, .. } => {
                    let at = place(&mut self.random, self.half_side);
                    let tag = Tag(FIRST_PLAYER + u32::try_from(client.get()).unwrap_or(0));
                    let player = self
                        .players
                        .entry(client)
                        .or_insert_with(|| self.world.spawn((Replicate, at, tag, Health(0))).id());
                    self.server.set_player(client, Some(*player));
                }
                ServerEvent::Disconnected { client, .. } => {
                    if let Some(player) = self.players.remove(&client) {
                        self.world.despawn(player);
                    }
                }
                _ => {}
            }
        }
        while let Some(&(until, probe)) = self.probes.front()
            && (now >= until)
        {
            self.world.despawn(probe);
            self.probes.pop_front();
        }
        if !self.frozen {
            self.walk();
            self.probe(now);
        }
    }

    fn walk(&mut self) {
        let (random, edge) = (&mut self.random, self.half_side);
        let rate = i32::from(TICK_RATE);
        for (mut at, mut walk, mut health) in self.walkers.iter_mut(&mut self.world) {
            // Now and then one turns elsewhere, or is hurt.
            match random.bits() % 200 {
                0 => walk.0 = random.velocity(),
                1 => health.0 = health.0.wrapping_add(1),
                _ => {}
            }
            let [x, y] = walk.0.map(|v| i128::from(v / rate));
            let to = *at + IVec3_128::new(x, y, 0);
            if to.x.abs() > edge || to.y.abs() > edge {
                walk.0 = walk.0.map(|v| -v);
            } else {
                *at = to;
            }
        }
    }

    /// Spawns a probe beside the next healthy player.
    fn probe(&mut self, now: Duration) {
        if self.began.is_none() {
            return;
        }
        let healthy = ..ClientId::new(FIRST_HOSTILE);
        let count = u64::try_from(self.players.range(healthy).count()).unwrap_or(0);
        let Some(index) = self.probes_made.checked_rem(count) else {
            return;
        };
        let index = usize::try_from(index).unwrap_or(0);
        let Some((&client, &player)) = self.players.range(healthy).nth(index) else {
            return;
        };
        let Some(&at) = self.world.get::<WorldPosition>(player) else {
            return;
        };
        let tag = Tag(FIRST_PROBE + u32::try_from(self.probes_made).unwrap_or(0));
        let probe = Probe {
            account: client.get(),
            at_us: unix_us(),
        };
        let at = at + IVec3_128::new(1_000, 0, 0);
        let probe = self
            .world
            .spawn((Replicate, at, tag, Health(0), probe))
            .id();
        self.probes.push_back((now + PROBE_LIFE, probe));
        self.probes_made += 1;
    }

    fn served(&self, longest: Duration, heap: u64) -> Served {
        Served {
            clients: self.server.clients().count(),
            held: self.server.held(),
            connections: self.net.connections().0,
            longest_tick_ms: longest.as_secs_f64() * 1e3,
            heap,
            probes: self.probes_made,
        }
    }

    fn measure(&mut self) {
        self.window = Window::default();
        self.began = Some(Began {
            at: Instant::now(),
            process: ProcessTime::now(),
            bytes: self.bytes().collect(),
        });
    }

    fn measured(&mut self, heap: u64) -> Window {
        let mut window = core::mem::take(&mut self.window);
        if let Some(began) = self.began.take() {
            window.seconds = began.at.elapsed().as_secs_f64();
            window.process_seconds = began.process.elapsed().as_secs_f64();
            for (client, (wire, state)) in self.bytes() {
                let (wire_then, state_then) = began.bytes.get(&client).copied().unwrap_or((0, 0));
                window.wire_bytes += wire - wire_then;
                window.state_bytes += state - state_then;
                window.clients += 1;
            }
        }
        window.heap = heap;
        window
    }

    /// Bytes sent to each healthy client: on the wire, and of state.
    fn bytes(&self) -> impl Iterator<Item = (ClientId, (u64, u64))> {
        let healthy = self.server.clients().filter(|id| id.get() < FIRST_HOSTILE);
        healthy.filter_map(|client| {
            let stats = self.server.stats(client)?;
            Some((client, (stats.wire_bytes_sent, stats.state_bytes_sent)))
        })
    }

    /// The whole truth: one entity a line.
    fn dump(&mut self) -> String {
        let mut text = String::new();
        let mut query = self.world.query::<(&Tag, &WorldPosition, &Health)>();
        for (tag, at, health) in query.iter(&self.world) {
            let _ = writeln!(text, "{} {} {} {} {}", tag.0, at.x, at.y, at.z, health.0);
        }
        text
    }
}

fn place(random: &mut Random, half_side: i128) -> WorldPosition {
    WorldPosition::new(random.around(half_side), random.around(half_side), 0)
}
