//! A server and clients over real sockets, driven step by step from one thread.

#![allow(dead_code, reason = "each test file uses a part of it")]

use core::time::Duration;
use std::collections::BTreeMap;
use std::time::Instant;

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use nebula_multiplayer::auth::{Login, OpenLogin};
use nebula_multiplayer::input::{self, MoveReport, Mover};
use nebula_multiplayer::interest::within_interest;
use nebula_multiplayer::limits::{Limits, TransportLimits};
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::transport::quic::{
    self, LinkState, QuicClient, QuicClientSettings, QuicServer, QuicSettings, Trust,
};
use nebula_multiplayer::{
    Channel, Client, ClientEvent, ClientId, ClientSettings, Protocol, Server, ServerEvent,
    ServerSettings,
};
use serde::{Deserialize, Serialize};

/// How fast players may be.
pub(crate) const SPEED_MM_S: u32 = 10_000;

pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Health(pub(crate) u16);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chat(pub(crate) String);

pub(crate) fn protocol() -> Protocol {
    input::register(Protocol::new("test", 1))
        .replicate::<Health>("health", 1)
        .message::<Chat>("chat", 1, Channel::Ordered)
}

/// What a test chooses about its server.
pub(crate) struct Options {
    pub(crate) listen: &'static str,
    pub(crate) transport: TransportLimits,
    pub(crate) limits: Limits,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            listen: "127.0.0.1:0",
            transport: TransportLimits {
                // All clients of a test come from one address.
                per_address: 64,
                connects_per_second: 100,
                ..TransportLimits::default()
            },
            limits: Limits::default(),
        }
    }
}

/// A server. Each client gets a player where `starts` says, or at (-1, 0, 0).
pub(crate) struct Host {
    pub(crate) server: Server,
    pub(crate) net: QuicServer,
    pub(crate) world: World,
    pub(crate) starts: BTreeMap<u64, WorldPosition>,
    pub(crate) players: BTreeMap<ClientId, Entity>,
    pub(crate) events: Vec<ServerEvent>,
    pub(crate) mover: Mover,
    /// What became of all wishes to move.
    pub(crate) moves: MoveReport,
    /// The longest step so far.
    pub(crate) longest: Duration,
}

impl Host {
    pub(crate) fn new() -> Self {
        Self::with(Options::default(), OpenLogin)
    }

    pub(crate) fn with(options: Options, login: impl Login) -> Self {
        Self::made(options, |server, settings| {
            quic::serve(server, settings, login)
        })
    }

    /// On a runtime of the test's own, whose tasks it can count.
    #[cfg(feature = "testing")]
    pub(crate) fn on(handle: &tokio::runtime::Handle, options: Options) -> Self {
        let listen = options.listen;
        let make = |config| {
            let socket = std::net::UdpSocket::bind(listen)?;
            let runtime = std::sync::Arc::new(quinn::TokioRuntime);
            quinn::Endpoint::new(
                quinn::EndpointConfig::default(),
                Some(config),
                socket,
                runtime,
            )
        };
        Self::made(options, |server, settings| {
            quic::serve_over(handle, server, settings, OpenLogin, make)
        })
    }

    fn made(
        options: Options,
        serve: impl FnOnce(&Server, &QuicSettings) -> Result<QuicServer, quic::ServeError>,
    ) -> Self {
        let settings = ServerSettings {
            limits: options.limits,
            ..ServerSettings::default()
        };
        let server = Server::new(protocol(), settings).unwrap();
        let settings = QuicSettings {
            listen: options.listen.parse().unwrap(),
            limits: options.transport,
            ..QuicSettings::default()
        };
        let net = serve(&server, &settings).unwrap();
        Self {
            server,
            net,
            world: World::new(),
            starts: BTreeMap::new(),
            players: BTreeMap::new(),
            events: Vec::new(),
            mover: Mover::default(),
            moves: MoveReport::default(),
            longest: Duration::ZERO,
        }
    }

    pub(crate) fn spawn(&mut self, x: i128, health: u16) -> Entity {
        let at = WorldPosition::new(x, 0, 0);
        self.world.spawn((Replicate, at, Health(health))).id()
    }

    pub(crate) fn step(&mut self) {
        let start = Instant::now();
        let now = self.net.now();
        self.net.pump(&mut self.server, now);
        for event in self.server.events() {
            match &event {
                ServerEvent::Connected { client, .. } => {
                    let at = self.starts.get(&client.get()).copied();
                    let at = at.unwrap_or(WorldPosition::new(-1, 0, 0));
                    let player = self
                        .players
                        .entry(*client)
                        .or_insert_with(|| self.world.spawn((Replicate, at, Health(100))).id());
                    self.server.set_player(*client, Some(*player));
                }
                ServerEvent::Disconnected { client, .. } => {
                    if let Some(player) = self.players.remove(client) {
                        self.world.despawn(player);
                    }
                }
                _ => {}
            }
            self.events.push(event);
        }
        let (server, world) = (&mut self.server, &mut self.world);
        let moves = self.mover.run(server, world, now, |_, _| SPEED_MM_S);
        self.moves.moved += moves.moved;
        self.moves.limited += moves.limited;
        self.moves.refused += moves.refused;
        self.server.tick(&mut self.world, now);
        self.net.flush(&mut self.server);
        self.longest = self.longest.max(start.elapsed());
    }

    pub(crate) fn player(&self, account: u64) -> Entity {
        self.players[&ClientId::new(account)]
    }

    /// Returns what a client must show, in order: that which is within 500 m of its player.
    pub(crate) fn healths_near(&mut self, client: ClientId) -> Vec<u16> {
        let center = *self.world.get(self.players[&client]).unwrap();
        let mut query = self.world.query::<(&WorldPosition, &Health)>();
        let near = |at: &WorldPosition| within_interest(at, &center, 500.0);
        let all = query.iter(&self.world).filter(|(at, _)| near(at));
        let mut all: Vec<u16> = all.map(|(_, health)| health.0).collect();
        all.sort_unstable();
        all
    }

    /// Returns what has been sent to an account of replicated state.
    pub(crate) fn state_bytes(&self, account: u64) -> u64 {
        let stats = self.server.stats(ClientId::new(account)).unwrap();
        stats.state_bytes_sent
    }

    /// Whether an account's last connection resumed its session.
    pub(crate) fn last_connected(&self, account: u64) -> Option<bool> {
        self.events.iter().rev().find_map(|event| match event {
            ServerEvent::Connected { client, resumed } if client.get() == account => Some(*resumed),
            _ => None,
        })
    }
}

/// A client.
pub(crate) struct Guest {
    pub(crate) client: Client,
    pub(crate) link: QuicClient,
    pub(crate) mirror: World,
    pub(crate) events: Vec<ClientEvent>,
}

impl Guest {
    pub(crate) fn new(host: &Host, account: u64) -> Self {
        Self::shown(host, OpenLogin::account(account))
    }

    /// Is never silent for longer than the server's settings say.
    pub(crate) fn shown(host: &Host, credentials: Vec<u8>) -> Self {
        let mut guest = Self::with(settings(host, credentials));
        let limits = Limits {
            keep_alive: host.server.settings().limits.keep_alive,
            ..Limits::default()
        };
        guest.client = client(limits);
        guest
    }

    pub(crate) fn with(settings: QuicClientSettings) -> Self {
        Self::over(quic::connect(&protocol(), &settings).unwrap())
    }

    pub(crate) fn over(link: QuicClient) -> Self {
        Self {
            client: client(Limits::default()),
            link,
            mirror: World::new(),
            events: Vec::new(),
        }
    }

    pub(crate) fn step(&mut self) {
        let now = self.link.now();
        self.link.pump(&mut self.client, now);
        self.client.tick(&mut self.mirror, now);
        self.link.flush(&mut self.client);
        self.events.extend(self.client.events());
    }

    pub(crate) fn healths(&mut self) -> Vec<u16> {
        let mut query = self.mirror.query::<&Health>();
        let mut all: Vec<u16> = query.iter(&self.mirror).map(|h| h.0).collect();
        all.sort_unstable();
        all
    }

    pub(crate) fn is_down(&self) -> bool {
        matches!(self.link.state(), LinkState::Down(_))
    }

    pub(crate) fn error(&self) -> String {
        match self.link.state() {
            LinkState::Down(error) => error.to_string(),
            state => format!("{state:?}"),
        }
    }
}

fn client(limits: Limits) -> Client {
    let settings = ClientSettings {
        limits,
        ..ClientSettings::default()
    };
    Client::new(protocol(), settings).unwrap()
}

pub(crate) fn settings(host: &Host, credentials: Vec<u8>) -> QuicClientSettings {
    let trust = Trust::Pinned(host.net.fingerprint());
    QuicClientSettings {
        credentials,
        ..QuicClientSettings::new(host.net.local_addr(), trust)
    }
}

/// Steps all until `done`; panics when that takes too long.
#[track_caller]
pub(crate) fn until(
    host: &mut Host,
    guests: &mut [&mut Guest],
    what: &str,
    mut done: impl FnMut(&mut Host, &mut [&mut Guest]) -> bool,
) {
    let start = Instant::now();
    while !done(host, guests) {
        if start.elapsed() > PATIENCE {
            let states: Vec<String> = guests.iter().map(|guest| guest.error()).collect();
            let events = &host.events;
            panic!("waited in vain until {what}; links: {states:?}; events: {events:?}");
        }
        step(host, guests);
    }
}

pub(crate) fn step(host: &mut Host, guests: &mut [&mut Guest]) {
    host.step();
    for guest in guests {
        guest.step();
    }
    std::thread::sleep(Duration::from_millis(5));
}

/// Steps all for a while.
pub(crate) fn pass(host: &mut Host, guests: &mut [&mut Guest], time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        step(host, guests);
    }
}

/// Steps until each guest has its own entity.
#[track_caller]
pub(crate) fn join(host: &mut Host, guests: &mut [&mut Guest]) {
    until(host, guests, "all are in", |_, guests| {
        guests
            .iter()
            .all(|guest| guest.client.own_entity().is_some())
    });
}
