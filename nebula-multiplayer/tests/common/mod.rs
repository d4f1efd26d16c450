//! A server, a client and the bytes between them, for tests of sessions.

#![allow(dead_code, reason = "each test file uses a part of it")]

pub(crate) mod bytes;
pub(crate) mod raw;
mod witness;

use core::time::Duration;

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::message::ClientFrame;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::wire::DecodeError;
use nebula_multiplayer::{
    Channel, Client, ClientId, ClientSettings, Disconnect, Identity, Protocol, Server,
    ServerSettings,
};
use serde::{Deserialize, Serialize};

use witness::{Walk, Witness};

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

/// Returns the same protocol with what the witness sends. The numbers of the others stay.
pub(crate) fn watched_protocol() -> Protocol {
    protocol().message::<Walk>("walk", 1, Channel::Latest)
}

/// One server and one client, and perhaps a witness beside it. Time moves 50 ms a step.
pub(crate) struct Pair {
    pub(crate) server: Server,
    pub(crate) client: Client,
    pub(crate) id: ClientId,
    pub(crate) world: World,
    pub(crate) mirror: World,
    pub(crate) now: Duration,
    /// The last time that the server was told of.
    pub(crate) heard: Duration,
    account: u64,
    settings: ServerSettings,
    witness: Option<Witness>,
}

impl Pair {
    pub(crate) fn new() -> Self {
        Self::with(Limits::default())
    }

    pub(crate) fn with(limits: Limits) -> Self {
        Self::over(protocol(), settings(limits), false)
    }

    /// With a healthy client that is in already, beside the one that is not.
    pub(crate) fn watched() -> Self {
        Self::watched_with(Limits::default())
    }

    pub(crate) fn watched_with(limits: Limits) -> Self {
        Self::watched_over(watched_protocol(), settings(limits))
    }

    /// The protocol must have what the witness sends.
    pub(crate) fn watched_over(protocol: Protocol, settings: ServerSettings) -> Self {
        Self::over(protocol, settings, true)
    }

    fn over(protocol: Protocol, settings: ServerSettings, watched: bool) -> Self {
        let client = fresh_client(&protocol, &settings);
        let mut server = Server::new(protocol, settings.clone()).unwrap();
        let mut world = World::new();
        let mut now = Duration::from_secs(100);
        let witness = watched.then(|| {
            let mut witness = Witness::new(&mut server, &mut world, now);
            for _ in 0..10 {
                let before = now;
                now += Duration::from_millis(50);
                witness.tick(&mut server, &mut world, before, now);
            }
            server.events().count();
            witness
        });
        let account = 7;
        let id = server.connect(Identity::Account(account), now).unwrap();
        Self {
            server,
            client,
            id,
            world,
            mirror: World::new(),
            now,
            heard: now,
            account,
            settings,
            witness,
        }
    }

    /// Another client takes the place of the one before, on the same server.
    pub(crate) fn another(&mut self) {
        let goodbye = bytes::frame(&ClientFrame::Goodbye);
        let _ = self.stream(&goodbye);
        self.server.disconnect(self.id, self.now);
        self.account += 1;
        let who = Identity::Account(self.account);
        self.id = self.server.connect(who, self.now).unwrap();
        self.client = fresh_client(self.server.protocol(), &self.settings);
        self.mirror = World::new();
    }

    /// Another client takes the place of the one before and joins.
    pub(crate) fn another_live(&mut self) {
        self.another();
        self.join();
    }

    /// Lets the client join.
    pub(crate) fn live(mut self) -> Self {
        self.join();
        self
    }

    /// Returns how many clients the server holds besides the witness.
    pub(crate) fn held(&self) -> usize {
        self.server.held() - usize::from(self.witness.is_some())
    }

    /// One tick of the server, at the present time, and of the witness.
    #[track_caller]
    pub(crate) fn tick(&mut self) {
        match &mut self.witness {
            Some(witness) => {
                witness.tick(&mut self.server, &mut self.world, self.heard, self.now);
            }
            None => self.server.tick(&mut self.world, self.now),
        }
        self.heard = self.now;
    }

    /// Ticks, at the usual rate, for so long.
    #[track_caller]
    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        while self.now < end {
            self.now += Duration::from_millis(50);
            self.tick();
        }
    }

    /// The witness goes on for a while; then all that it was sent, from its first tick on, must be
    /// what it is sent by a server that has nobody else.
    #[track_caller]
    pub(crate) fn witness_notices_nothing(&mut self) {
        self.pass(Duration::from_millis(250));
        let witness = self.witness.as_ref().expect("a pair with a witness");
        let protocol = self.server.protocol().clone();
        witness.noticed_nothing(&self.server, protocol, self.settings.clone());
    }

    /// The connection is dropped for bad bytes, and nothing stays of it.
    #[track_caller]
    pub(crate) fn assert_dropped(&mut self, result: Result<(), Disconnect>) -> DecodeError {
        let Err(Disconnect::Bad(error)) = result else {
            panic!("{result:?}");
        };
        assert_eq!(self.held(), 0, "nothing is kept");
        assert_eq!(self.datagram(&[0, 0, 0]), Err(Disconnect::Unknown));
        error
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
            self.stream(&bytes).unwrap();
            bytes.clear();
        }
        while self.client.transmit(MAX, &mut bytes) {
            if up(&bytes) {
                self.datagram(&bytes).unwrap();
            }
            bytes.clear();
        }
        self.tick();
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
        self.heard = self.now;
        self.server.receive(self.id, bytes, self.now)
    }

    /// The server takes stream bytes as if the client had sent them.
    pub(crate) fn stream(&mut self, bytes: &[u8]) -> Result<(), Disconnect> {
        self.heard = self.now;
        self.server.receive_stream(self.id, bytes, self.now)
    }

    /// Returns the hello of a client of the usual protocol.
    pub(crate) fn hello() -> Vec<u8> {
        hello(&protocol())
    }

    /// Returns the hello of a client of this server's protocol.
    pub(crate) fn hello_bytes(&self) -> Vec<u8> {
        hello(self.server.protocol())
    }
}

/// Returns settings with which runs repeat.
pub(crate) fn settings(limits: Limits) -> ServerSettings {
    ServerSettings {
        limits,
        secret: [7; 16],
        ..ServerSettings::default()
    }
}

fn fresh_client(protocol: &Protocol, settings: &ServerSettings) -> Client {
    let settings = ClientSettings {
        limits: settings.limits.clone(),
        ..ClientSettings::default()
    };
    Client::new(protocol.clone(), settings).unwrap()
}

fn hello(protocol: &Protocol) -> Vec<u8> {
    let mut client = Client::new(protocol.clone(), ClientSettings::default()).unwrap();
    client.connect(Duration::ZERO);
    let mut bytes = Vec::new();
    client.transmit_stream(usize::MAX, &mut bytes);
    bytes
}
