//! Nebula over QUIC, with interest by distance.

use anyhow::Result;
use nebula_ecs::entity::Entity;
use nebula_ecs::world::World;
use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::limits::TransportLimits;
use nebula_multiplayer::transport::quic::{
    self, QuicClient, QuicClientSettings, QuicServer, QuicSettings, Trust,
};
use nebula_multiplayer::{Client, ClientSettings, Protocol, Server, ServerEvent, ServerSettings};
use nebula_peers::scene::nebula::{seen, spawn, walk};
use nebula_peers::scene::{Motion, SEEN};
use tokio::runtime::Runtime;

use super::relay::{Doors, Relay};
use super::{CLIENTS, ENTITIES, Game};

struct Player {
    client: Client,
    link: QuicClient,
    world: World,
}

pub(crate) struct Nebula {
    server: Server,
    net: QuicServer,
    world: World,
    entities: Vec<Entity>,
    players: Vec<Player>,
    relay: Relay,
    /// Carries the clients' links; ends after them.
    _runtime: Runtime,
    walked: u64,
}

impl Nebula {
    pub(crate) fn new() -> Result<Self> {
        let protocol = Protocol::new("bench", 1);
        let server = Server::new(protocol.clone(), ServerSettings::default())?;
        let settings = QuicSettings {
            listen: "127.0.0.1:0".parse()?,
            limits: TransportLimits {
                per_address: 1_000,
                connects_per_second: 1_000,
                ..TransportLimits::default()
            },
            ..QuicSettings::default()
        };
        let net = quic::serve(&server, &settings, OpenLogin)?;
        let doors = Doors::new(CLIENTS)?;
        let addresses = doors.addresses()?;
        let relay = doors.open(net.local_addr())?;
        let mut world = World::new();
        let entities = spawn(&mut world, ENTITIES);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()?;
        let mut players = Vec::new();
        for (address, account) in addresses.into_iter().zip(0..) {
            let settings = QuicClientSettings {
                credentials: OpenLogin::account(account),
                ..QuicClientSettings::new(address, Trust::Pinned(net.fingerprint()))
            };
            players.push(Player {
                client: Client::new(protocol.clone(), ClientSettings::default())?,
                link: QuicClient::connect_on(runtime.handle(), &protocol, &settings)?,
                world: World::new(),
            });
        }
        Ok(Self {
            server,
            net,
            world,
            entities,
            players,
            relay,
            _runtime: runtime,
            walked: 0,
        })
    }
}

impl Game for Nebula {
    fn tick(&mut self, motion: Motion) -> Result<()> {
        // Only ticks with motion count, so that all walk the same way.
        if motion != Motion::Still {
            self.walked += 1;
            walk(&mut self.world, &self.entities, motion, self.walked);
        }
        let now = self.net.now();
        self.net.pump(&mut self.server, now);
        for event in self.server.events() {
            if let ServerEvent::Connected { client, .. } = event {
                let first = usize::try_from(client.get())? * SEEN;
                self.server
                    .set_player(client, self.entities.get(first).copied());
            }
        }
        self.server.tick(&mut self.world, now);
        self.net.flush(&mut self.server);
        for player in &mut self.players {
            let now = player.link.now();
            player.link.pump(&mut player.client, now);
            player.client.tick(&mut player.world, now);
            player.link.flush(&mut player.client);
        }
        Ok(())
    }

    fn seen(&mut self, number: usize) -> Vec<[i64; 3]> {
        seen(&mut self.players[number].world)
    }

    fn relay(&self) -> &Relay {
        &self.relay
    }
}
