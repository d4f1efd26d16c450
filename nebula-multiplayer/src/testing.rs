//! A server, its clients and their links in one process and in virtual time, for tests of games.
//!
//! [`TestNet`] drives a real [`Server`] and real [`Client`]s, each with a `World` of its own, over
//! links that are perfect or as bad as a seed makes them. Nothing sleeps and nothing depends on the
//! machine: equal seeds give equal bytes. [`TestPair`] is the same with a single client.
//!
//! ```
//! use bevy_ecs::prelude::*;
//! use nebula_math::WorldPosition;
//! use nebula_multiplayer::protocol::Protocol;
//! use nebula_multiplayer::replication::Replicate;
//! use nebula_multiplayer::testing::TestPair;
//!
//! let mut pair = TestPair::new(&Protocol::new("game", 1));
//! let player = pair.world.spawn((Replicate, WorldPosition::new(-7, 0, 0))).id();
//! pair.play(player);
//! pair.run_ms(500);
//! let mut positions = pair.client_world().query::<&WorldPosition>();
//! let seen: Vec<_> = positions.iter(pair.client_world()).copied().collect();
//! assert_eq!(seen, [WorldPosition::new(-7, 0, 0)]);
//! ```

mod links;
mod pair;
mod peer;

use core::time::Duration;
use std::collections::BTreeMap;

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;

use crate::ClientId;
use crate::client::{Client, ClientSettings};
use crate::protocol::Protocol;
use crate::server::{Identity, Server, ServerEvent, ServerSettings};
use crate::transport::sim::{FaultCounts, Faults, Random};
use crate::transport::{Lane, MAX_DATAGRAM, Pipe};

pub use pair::TestPair;
pub use peer::TestClient;

/// Something that was sent, as it left: before the link did anything to it.
#[derive(Clone, Copy, Debug)]
pub struct Sent<'a> {
    /// The number of the client in the [`TestNet`].
    pub number: usize,
    /// The server's name for the client.
    pub client: ClientId,
    /// Whether it goes to the server; otherwise to the client.
    pub to_server: bool,
    /// The lane.
    pub lane: Lane,
    /// The bytes.
    pub bytes: &'a [u8],
    /// When.
    pub now: Duration,
}

/// A server, its clients and their links, in virtual time.
///
/// Each [`step`](Self::step) is one tick of the server: what has arrived is received, the server
/// ticks and sends, then the clients do. Change the server's [`world`](Self::world) in between.
///
/// ```
/// use nebula_multiplayer::protocol::Protocol;
/// use nebula_multiplayer::testing::TestNet;
/// use nebula_multiplayer::transport::sim::Faults;
///
/// let mut net = TestNet::new(&Protocol::new("game", 1), Default::default(), 7);
/// net.faults = Faults { drop: 5_000, ..Faults::NONE };
/// let (anna, bert) = (net.join(), net.join());
/// net.run_ms(5_000);
/// assert!(net.client(anna).client.is_connected() && net.client(bert).client.is_connected());
/// assert!(net.fault_counts().drops > 0);
/// ```
#[derive(Debug)]
pub struct TestNet {
    /// The server.
    pub server: Server,
    /// The server's world.
    pub world: World,
    /// The faults of links made from now on.
    pub faults: Faults,
    /// The settings of clients made from now on.
    pub client_settings: ClientSettings,
    /// What happened on the server and was not yet looked at, in order.
    pub events: Vec<ServerEvent>,
    protocol: Protocol,
    clients: Vec<TestClient>,
    /// Who the server's clients are.
    numbers: BTreeMap<ClientId, usize>,
    past: FaultCounts,
    now: Duration,
    tick: Duration,
    random: Random,
    buffer: Vec<u8>,
}

impl TestNet {
    /// Returns a server without clients at virtual time 0. The seed decides every fault.
    ///
    /// The secret of the settings is replaced by one made of the seed, so that runs repeat byte for
    /// byte.
    ///
    /// # Panics
    /// When the protocol or the settings cannot be used.
    #[must_use]
    pub fn new(protocol: &Protocol, settings: ServerSettings, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let settings = ServerSettings {
            secret: random.wide().to_le_bytes(),
            ..settings
        };
        let tick = Duration::from_secs(1) / u32::from(settings.tick_rate.max(1));
        let server = Server::new(protocol.clone(), settings).expect("usable settings");
        Self {
            server,
            world: World::new(),
            faults: Faults::NONE,
            client_settings: ClientSettings::default(),
            events: Vec::new(),
            protocol: protocol.clone(),
            clients: Vec::new(),
            numbers: BTreeMap::new(),
            past: FaultCounts::default(),
            now: Duration::ZERO,
            tick,
            random,
            buffer: Vec::new(),
        }
    }

    /// Adds a client with an account of its own and starts to connect it; returns its number.
    pub fn join(&mut self) -> usize {
        let number = self.clients.len();
        let account = u64::try_from(number).unwrap_or(u64::MAX);
        self.join_as(Identity::Account(account))
    }

    /// Adds a client and starts to connect it; returns its number.
    pub fn join_as(&mut self, who: Identity) -> usize {
        let client = self.fresh_client();
        self.clients.push(TestClient::new(client, who));
        let number = self.clients.len() - 1;
        self.reconnect(number);
        number
    }

    /// Returns a client by its number.
    ///
    /// # Panics
    /// When there is none with this number.
    #[must_use]
    pub fn client(&self, number: usize) -> &TestClient {
        &self.clients[number]
    }

    /// Returns a client by its number, to change it.
    ///
    /// # Panics
    /// When there is none with this number.
    pub fn client_mut(&mut self, number: usize) -> &mut TestClient {
        &mut self.clients[number]
    }

    /// Returns how many clients were made.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.clients.len()
    }

    /// Returns whether no client was made.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.clients.is_empty()
    }

    /// Returns the virtual time.
    #[must_use]
    pub const fn now(&self) -> Duration {
        self.now
    }

    /// Sets the entity that a client plays.
    pub fn set_player(&mut self, number: usize, entity: Option<Entity>) {
        if let Some(id) = self.clients[number].last_id() {
            self.server.set_player(id, entity);
        }
    }

    /// Returns what the links did so far, all together.
    #[must_use]
    pub fn fault_counts(&self) -> FaultCounts {
        let mut total = self.past;
        for client in &self.clients {
            total += *client.link.to_server.counts();
            total += *client.link.to_client.counts();
        }
        total
    }

    /// Runs for so many virtual milliseconds, in whole ticks.
    pub fn run_ms(&mut self, ms: u64) {
        let end = self.now + Duration::from_millis(ms);
        while self.now < end {
            self.step();
        }
    }

    /// Lets one tick of the server pass.
    pub fn step(&mut self) {
        self.step_seen(&mut |_| {});
    }

    /// Lets one tick of the server pass and shows everything that is sent, as it leaves.
    pub fn step_seen(&mut self, seen: &mut dyn FnMut(Sent<'_>)) {
        self.begin();
        self.send(seen);
    }

    /// The first half of a step: what has arrived is received and the server ticks.
    pub fn begin(&mut self) {
        self.now += self.tick;
        self.deliver_to_server();
        self.server.tick(&mut self.world, self.now);
        self.take_events();
    }

    /// The second half of a step: the server sends, then the clients receive, tick and send.
    pub fn send(&mut self, seen: &mut dyn FnMut(Sent<'_>)) {
        self.server_sends(seen);
        self.clients_step(seen);
        // As an app does at the end of a frame.
        self.world.clear_trackers();
        for client in &mut self.clients {
            client.world.clear_trackers();
        }
    }

    fn server_sends(&mut self, seen: &mut dyn FnMut(Sent<'_>)) {
        let (now, clients) = (self.now, &mut self.clients);
        let mut pass = |number: usize, client: ClientId, lane: Lane, bytes: &[u8]| {
            let to_server = false;
            seen(Sent {
                number,
                client,
                to_server,
                lane,
                bytes,
                now,
            });
            // What a server sends to someone who is gone leaves it all the same.
            if clients[number].id() == Some(client) {
                clients[number].link.to_client.send(lane, bytes, now);
            }
        };
        let numbers = &self.numbers;
        for (&client, &number) in numbers {
            self.buffer.clear();
            while (self.server).transmit_stream(client, MAX_STREAM, &mut self.buffer) {
                pass(number, client, Lane::Stream, &self.buffer);
                self.buffer.clear();
            }
        }
        self.server.transmit_all(MAX_DATAGRAM, |client, bytes| {
            if let Some(&number) = numbers.get(&client) {
                pass(number, client, Lane::Datagram, bytes);
            }
        });
    }

    fn clients_step(&mut self, seen: &mut dyn FnMut(Sent<'_>)) {
        for number in 0..self.clients.len() {
            self.clients[number].step(number, self.now, &mut self.buffer, seen);
        }
    }

    fn fresh_client(&self) -> Client {
        Client::new(self.protocol.clone(), self.client_settings.clone()).expect("usable settings")
    }
}

/// How much of a stream is handed over at once.
const MAX_STREAM: usize = 16 * 1_024;
