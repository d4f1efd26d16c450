//! Nebula: the server as it is, with interest by distance.

use std::time::Duration;

use anyhow::Result;
use nebula_ecs::entity::Entity;
use nebula_ecs::world::World;
use nebula_multiplayer::{
    Client, ClientId, ClientSettings, Identity, Protocol, Server, ServerSettings,
};
use nebula_peers::clock::cpu;

use nebula_peers::scene::nebula::{seen, spawn, walk};
use nebula_peers::scene::{Motion, SEEN, TICK};

use super::{CLIENTS, Cost, ENTITIES, Game};

/// Bytes of a datagram.
const MAX: usize = 1_150;

struct Player {
    id: ClientId,
    client: Client,
    world: World,
}

pub(crate) struct Nebula {
    server: Server,
    world: World,
    entities: Vec<Entity>,
    players: Vec<Player>,
    now: Duration,
    walked: u64,
}

/// Positions sent since the start.
#[derive(Clone, Copy, Default)]
pub(crate) struct Counts {
    bytes: u64,
    places: u64,
    steps: u64,
    cells: u64,
}

impl Counts {
    pub(crate) fn since(self, before: Self) -> Self {
        Self {
            bytes: self.bytes - before.bytes,
            places: self.places - before.places,
            steps: self.steps - before.steps,
            cells: self.cells - before.cells,
        }
    }

    pub(crate) fn each(self) -> f64 {
        self.bytes as f64 / (self.places + self.steps).max(1) as f64
    }

    pub(crate) fn describe(self) -> String {
        format!(
            "{} steps, {} absolute, and {} that had to name a new cell and are not in the average",
            self.steps, self.places, self.cells
        )
    }
}

impl Nebula {
    pub(crate) fn new() -> Result<Self> {
        let protocol = Protocol::new("bench", 1);
        let mut server = Server::new(protocol.clone(), ServerSettings::default())?;
        let mut world = World::new();
        let entities = spawn(&mut world, ENTITIES);
        let now = Duration::ZERO;
        let mut players = Vec::new();
        for number in 0..CLIENTS {
            let account = u64::try_from(number)? + 1;
            let id = server.connect(Identity::Account(account), now)?;
            server.set_player(id, entities.get(number * SEEN).copied());
            let mut client = Client::new(protocol.clone(), ClientSettings::default())?;
            client.connect(now);
            players.push(Player {
                id,
                client,
                world: World::new(),
            });
        }
        Ok(Self {
            server,
            world,
            entities,
            players,
            now,
            walked: 0,
        })
    }

    pub(crate) fn counts(&self) -> Counts {
        let mut all = Counts::default();
        for player in &self.players {
            if let Some(stats) = self.server.replication_stats(player.id) {
                all.bytes += stats.position_bytes;
                all.places += stats.places;
                all.steps += stats.steps;
                all.cells += stats.cells;
            }
        }
        all
    }
}

impl Game for Nebula {
    fn tick(&mut self, motion: Motion) -> Cost {
        // Only ticks with motion count, so that all walk the same way.
        self.walked += u64::from(motion != Motion::Still);
        self.now += TICK;
        let now = self.now;
        if motion != Motion::Still {
            walk(&mut self.world, &self.entities, motion, self.walked);
        }
        let mut inbox = Vec::new();
        for player in &mut self.players {
            let mut bytes = Vec::new();
            while player.client.transmit_stream(4_096, &mut bytes) {
                inbox.push((player.id, true, std::mem::take(&mut bytes)));
            }
            while player.client.transmit(MAX, &mut bytes) {
                inbox.push((player.id, false, std::mem::take(&mut bytes)));
            }
        }
        let mut outbox: Vec<(ClientId, Vec<u8>)> = Vec::new();
        let time = cpu(|| {
            for (id, stream, bytes) in &inbox {
                if *stream {
                    self.server.receive_stream(*id, bytes, now)
                } else {
                    self.server.receive(*id, bytes, now)
                }
                .expect("our own client");
            }
            self.server.tick(&mut self.world, now);
            self.server
                .transmit_all(MAX, |id, bytes| outbox.push((id, bytes.to_vec())));
        });
        let mut packets = outbox.iter().peekable();
        for player in &mut self.players {
            let mut bytes = Vec::new();
            while self.server.transmit_stream(player.id, 65_536, &mut bytes) {
                player
                    .client
                    .receive_stream(&bytes, now)
                    .expect("our own server");
                bytes.clear();
            }
            // They come in the order of the clients.
            while let Some((_, datagram)) = packets.next_if(|(id, _)| *id == player.id) {
                player
                    .client
                    .receive(datagram, now)
                    .expect("our own server");
            }
            player.client.tick(&mut player.world, now);
        }
        self.server.events();
        Cost {
            cpu: time,
            bytes: outbox.iter().map(|(_, bytes)| bytes.len()).sum(),
        }
    }

    fn seen(&mut self, number: usize) -> Vec<[i64; 3]> {
        seen(&mut self.players[number].world)
    }
}
