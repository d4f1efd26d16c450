//! bevy_replicon 0.44 with a visibility filter that names each client's group.

use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy_replicon::prelude::*;
use bevy_replicon::test_app::ServerTestAppExt;
use nebula_peers::clock::cpu;
use serde::{Deserialize, Serialize};

use super::{CLIENTS, Cost, ENTITIES, Game, Motion, SEEN, home, stride};

#[derive(Component, Serialize, Deserialize, Clone, Copy)]
struct Position {
    x: i64,
    y: i64,
    z: i64,
}

#[derive(Component, Clone, Copy, PartialEq)]
#[component(immutable)]
struct Group(usize);

impl VisibilityFilter for Group {
    type ClientComponent = Self;
    type Scope = Entity;

    fn is_visible(&self, _: Entity, component: Option<&Self>) -> bool {
        component == Some(self)
    }
}

pub(crate) struct Replicon {
    server: App,
    clients: Vec<App>,
    entities: Vec<Entity>,
    walked: u64,
}

impl Replicon {
    pub(crate) fn new() -> Self {
        let mut server = app();
        let mut clients: Vec<App> = (0..CLIENTS).map(|_| app()).collect();
        for (number, client) in clients.iter_mut().enumerate() {
            server.connect_client(client);
            // The one without a group is the one that has just come.
            let mut fresh = server
                .world_mut()
                .query_filtered::<Entity, (With<ConnectedClient>, Without<Group>)>();
            let ids: Vec<Entity> = fresh.iter(server.world()).collect();
            for id in ids {
                server.world_mut().entity_mut(id).insert(Group(number));
            }
        }
        let entities = (0..ENTITIES)
            .map(|n| {
                let [x, y, z] = home(n);
                let at = Position { x, y, z };
                let group = Group(n / SEEN);
                server.world_mut().spawn((Replicated, at, group)).id()
            })
            .collect();
        Self {
            server,
            clients,
            entities,
            walked: 0,
        }
    }
}

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        StatesPlugin,
        RepliconPlugins.set(ServerPlugin::new(PostUpdate)),
    ))
    .replicate::<Position>()
    .add_visibility_filter::<Group>()
    .finish();
    app
}

impl Game for Replicon {
    fn tick(&mut self, motion: Motion) -> Cost {
        // Only ticks with motion count, so that all walk the same way.
        self.walked += u64::from(motion != Motion::Still);
        if motion != Motion::Still {
            for (n, entity) in self.entities.iter().enumerate() {
                let (x, z) = stride(motion, n, self.walked);
                if let Some(mut at) = self.server.world_mut().get_mut::<Position>(*entity) {
                    at.x += x;
                    at.z += z;
                }
            }
        }
        let time = cpu(|| self.server.update());
        let mut bytes = 0;
        let mut messages = self.server.world_mut().resource_mut::<ServerMessages>();
        messages.retain_sent(|(_, _, message)| {
            bytes += message.len();
            true
        });
        for client in &mut self.clients {
            self.server.exchange_with_client(client);
            client.update();
            self.server.exchange_with_client(client);
        }
        Cost { cpu: time, bytes }
    }

    fn seen(&mut self, number: usize) -> Vec<[i64; 3]> {
        let world = self.clients[number].world_mut();
        let mut rows = world.query::<&Position>();
        let mut seen: Vec<[i64; 3]> = rows.iter(world).map(|at| [at.x, at.y, at.z]).collect();
        seen.sort_unstable();
        seen
    }
}
