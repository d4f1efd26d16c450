//! naia 0.25 over its own local link and its own adapter to bevy_ecs, with a room for each client.

use std::sync::Arc;

use anyhow::{Result, ensure};
use naia_bevy_shared::{Protocol, Replicate, WorldProxy, WorldProxyMut};
use naia_client::transport::local::{LocalAddrCell, LocalClientSocket, Socket as ClientSocket};
use naia_client::{Client, ClientConfig};
use naia_ecs::component::{Component, Mutable, StorageType};
use naia_ecs::entity::Entity;
use naia_ecs::world::World;
use naia_server::transport::local::{LocalServerSocket, Socket as ServerSocket};
use naia_server::{ConnectEvent, Server, ServerConfig};
use naia_shared::transport::local::{FAKE_SERVER_ADDR, LocalTransportHub};
use naia_shared::{Instant, Property, TestClock};
use nebula_peers::clock::cpu;
use parking_lot::Mutex;

use nebula_peers::scene::{Motion, SEEN, TICK, group_at, home, stride};

use super::{CLIENTS, Cost, ENTITIES, Game};

#[derive(Replicate)]
struct Position {
    x: Property<i64>,
    y: Property<i64>,
    z: Property<i64>,
}

// By hand: the derive takes the `bevy` of this package, which is a newer one.
impl Component for Position {
    const STORAGE_TYPE: StorageType = StorageType::Table;
    type Mutability = Mutable;
}

#[derive(naia_bevy_shared::Message)]
struct Auth;

pub(crate) struct Naia {
    hub: LocalTransportHub,
    server: Server<Entity>,
    world: World,
    clients: Vec<(Client<Entity>, World)>,
    entities: Vec<Entity>,
    walked: u64,
}

fn protocol() -> Protocol {
    let mut protocol = Protocol::builder();
    protocol
        .tick_interval(TICK)
        .add_default_channels()
        .add_message::<Auth>()
        .add_component::<Position>();
    protocol
}

/// Returns a world that naia's adapter can work with.
fn world() -> World {
    let mut world = World::new();
    world.insert_resource(protocol().take_world_data());
    world
}

impl Naia {
    pub(crate) fn new() -> Result<Self> {
        TestClock::init(0);
        let hub = LocalTransportHub::new(FAKE_SERVER_ADDR.parse()?);
        let mut config = ServerConfig::default();
        // Without the cap of 64 KB a second everything is sent in its tick, as by the others.
        config.connection.bandwidth.target_bytes_per_sec = u32::MAX;
        let mut server = Server::new(config, protocol().into());
        server.listen(ServerSocket::new(LocalServerSocket::new(hub.clone()), None));
        let clients = (0..CLIENTS).map(|_| client(&hub)).collect();
        let mut naia = Self {
            hub,
            server,
            world: world(),
            clients,
            entities: Vec::new(),
            walked: 0,
        };
        naia.join()?;
        Ok(naia)
    }

    /// Connects everybody, and gives each a room with a group of entities.
    fn join(&mut self) -> Result<()> {
        let mut users = Vec::new();
        for _ in 0..600 {
            self.tick(Motion::Still);
            let mut events = self.server.take_world_events();
            for (_, auths) in events.take_auths() {
                for (user, _) in auths {
                    self.server.accept_connection(&user);
                }
            }
            users.extend(events.read::<ConnectEvent>());
            if users.len() == CLIENTS {
                break;
            }
        }
        ensure!(
            users.len() == CLIENTS,
            "{} of {CLIENTS} naia clients connected",
            users.len()
        );
        // Their order is naia's; which client gets which group does not matter until they are
        // compared, and there groups are found by what they hold.
        for (number, user) in users.iter().enumerate() {
            let room = self.server.create_room().key();
            self.server.room_mut(&room).add_user(user);
            for n in number * SEEN..(number + 1) * SEEN {
                let [x, y, z] = home(n);
                let mut entity = self.server.spawn_entity(self.world.proxy_mut());
                entity.insert_component(Position::new_complete(x, y, z));
                let id = entity.id();
                self.server.room_mut(&room).add_entity(&id);
                self.entities.push(id);
            }
        }
        ensure!(self.entities.len() == ENTITIES, "a group is missing");
        Ok(())
    }
}

fn client(hub: &LocalTransportHub) -> (Client<Entity>, World) {
    let mut client = Client::new(ClientConfig::default(), protocol().into());
    let (address, auth_out, auth_in, data_out, data_in) = hub.register_client();
    let server = LocalAddrCell::new();
    server.set_sync(hub.server_addr());
    let inner = LocalClientSocket::new_with_tokens(
        address,
        hub.server_addr(),
        auth_out,
        auth_in,
        data_out,
        data_in,
        server,
        Arc::new(Mutex::new(None)),
        Arc::new(Mutex::new(None)),
    );
    client.auth(Auth);
    client.connect(ClientSocket::new(inner, None));
    (client, world())
}

impl Game for Naia {
    fn tick(&mut self, motion: Motion) -> Cost {
        // Only ticks with motion count, so that all walk the same way.
        self.walked += u64::from(motion != Motion::Still);
        TestClock::advance(TICK.as_millis().try_into().unwrap_or(50));
        let now = Instant::now();
        self.hub.process_time_queues();
        for (client, world) in &mut self.clients {
            client.receive_all_packets();
            client.process_all_packets(world.proxy_mut(), &now);
            client.take_world_events();
            client.take_tick_events(&now);
            client.send_all_packets(world.proxy_mut());
        }
        if motion != Motion::Still {
            for (n, entity) in self.entities.iter().enumerate() {
                let (x, z) = stride(motion, n, self.walked);
                let mut entity = self.server.entity_mut(self.world.proxy_mut(), entity);
                if let Some(mut at) = entity.component::<Position>() {
                    *at.x += x;
                    *at.z += z;
                }
            }
        }
        let time = cpu(|| {
            self.server.receive_all_packets();
            self.server
                .process_all_packets(self.world.proxy_mut(), &now);
            self.server.take_tick_events(&now);
            self.server.send_all_packets(self.world.proxy());
        });
        let bytes = usize::try_from(self.server.outgoing_bytes_last_tick()).unwrap_or(0);
        Cost { cpu: time, bytes }
    }

    fn seen(&mut self, number: usize) -> Vec<[i64; 3]> {
        // Clients connect in an order of naia's own: the one with this group is looked for.
        let group = i64::try_from(number).unwrap_or(0);
        for (_, world) in &mut self.clients {
            let mut rows = world.query::<&Position>();
            let mut seen: Vec<[i64; 3]> =
                rows.iter(world).map(|at| [*at.x, *at.y, *at.z]).collect();
            seen.sort_unstable();
            let here = |at: &[i64; 3]| group_at(*at) == group;
            if seen.first().is_some_and(here) {
                return seen;
            }
        }
        Vec::new()
    }
}
