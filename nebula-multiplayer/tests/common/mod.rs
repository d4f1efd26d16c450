//! A server, a client and the bytes between them, for tests of sessions.

#![allow(dead_code, reason = "each test file uses a part of it")]

use core::time::Duration;

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::{
    Channel, Client, ClientId, ClientSettings, Disconnect, Identity, Protocol, Server,
    ServerSettings,
};
use serde::{Deserialize, Serialize};

pub(crate) const MAX: usize = 1_150;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Chat(pub(crate) String);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hit(pub(crate) u32);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Steer(pub(crate) u32);

#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
#[component(summary_tick)]
pub(crate) struct Health(pub(crate) u16);

pub(crate) fn protocol() -> Protocol {
    Protocol::new("test", 1)
        .replicate::<Health>("health", 1)
        .message::<Chat>("chat", 1, Channel::Ordered)
        .message::<Hit>("hit", 1, Channel::Unordered)
        .message::<Steer>("steer", 1, Channel::Latest)
}

/// One server and one client. Time moves 50 ms a step.
pub(crate) struct Pair {
    pub(crate) server: Server,
    pub(crate) client: Client,
    pub(crate) id: ClientId,
    pub(crate) world: World,
    pub(crate) mirror: World,
    pub(crate) now: Duration,
}

impl Pair {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        let settings = ServerSettings {
            limits: limits.clone(),
            secret: [7; 16],
            ..ServerSettings::default()
        };
        let mut server = Server::new(protocol(), settings).unwrap();
        let client_settings = ClientSettings {
            limits,
            ..ClientSettings::default()
        };
        let client = Client::new(protocol(), client_settings).unwrap();
        let now = Duration::from_secs(100);
        let id = server.connect(Identity::Account(7), now).unwrap();
        Self {
            server,
            client,
            id,
            world: World::new(),
            mirror: World::new(),
            now,
        }
    }

    pub(crate) fn connected() -> Self {
        let mut pair = Self::new();
        pair.join();
        pair
    }

    pub(crate) fn join(&mut self) {
        self.client.connect(self.now);
        self.steps(3);
        assert!(self.client.is_connected() && self.server.is_connected(self.id));
    }

    /// Spawns the client's player and sets it.
    pub(crate) fn spawn_player(&mut self) -> Entity {
        let at = WorldPosition::new(-1, 0, i128::MAX);
        let player = self.world.spawn((Replicate, at, Health(100))).id();
        assert!(self.server.set_player(self.id, Some(player)));
        player
    }

    /// One tick; nothing is lost.
    pub(crate) fn step(&mut self) {
        self.step_with(|_| true, |_| true);
    }

    pub(crate) fn steps(&mut self, count: usize) {
        for _ in 0..count {
            self.step();
        }
    }

    /// One tick; datagrams to the client and to the server pass if the filters say so.
    pub(crate) fn step_with(
        &mut self,
        mut down: impl FnMut(&[u8]) -> bool,
        mut up: impl FnMut(&[u8]) -> bool,
    ) {
        self.now += Duration::from_millis(50);
        let mut bytes = Vec::new();
        while self.client.transmit_stream(1_000, &mut bytes) {
            self.server
                .receive_stream(self.id, &bytes, self.now)
                .unwrap();
            bytes.clear();
        }
        while self.client.transmit(MAX, &mut bytes) {
            if up(&bytes) {
                self.server.receive(self.id, &bytes, self.now).unwrap();
            }
            bytes.clear();
        }
        self.server.tick(&mut self.world, self.now);
        while self.server.transmit_stream(self.id, 1_000, &mut bytes) {
            let _ = self.client.receive_stream(&bytes, self.now);
            bytes.clear();
        }
        while self.server.transmit(self.id, MAX, &mut bytes) {
            if down(&bytes) {
                self.client.receive(&bytes, self.now).unwrap();
            }
            bytes.clear();
        }
        self.client.tick(&mut self.mirror, self.now);
    }

    /// The server takes a datagram as if the client had sent it.
    pub(crate) fn datagram(&mut self, bytes: &[u8]) -> Result<(), Disconnect> {
        self.server.receive(self.id, bytes, self.now)
    }

    /// The server takes stream bytes as if the client had sent them.
    pub(crate) fn stream(&mut self, bytes: &[u8]) -> Result<(), Disconnect> {
        self.server.receive_stream(self.id, bytes, self.now)
    }

    /// Returns the hello of a client of this protocol.
    pub(crate) fn hello() -> Vec<u8> {
        let mut client = Client::new(protocol(), ClientSettings::default()).unwrap();
        client.connect(Duration::ZERO);
        let mut bytes = Vec::new();
        client.transmit_stream(usize::MAX, &mut bytes);
        bytes
    }
}
