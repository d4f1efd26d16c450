//! bevy_replicon 0.44 with a visibility filter that names each client's group.

use bevy::prelude::*;
use bevy_replicon::prelude::*;
use bevy_replicon::test_app::ServerTestAppExt;
use nebula_peers::clock::cpu;

use nebula_peers::scene::Motion;
use nebula_peers::scene::replicon::{app, group_newcomer, seen, spawn, walk};

use super::{CLIENTS, Cost, ENTITIES, Game};

pub(crate) struct Replicon {
    server: App,
    clients: Vec<App>,
    entities: Vec<Entity>,
    walked: u64,
}

impl Replicon {
    pub(crate) fn new() -> Self {
        let mut server = app(());
        let mut clients: Vec<App> = (0..CLIENTS).map(|_| app(())).collect();
        for (number, client) in clients.iter_mut().enumerate() {
            server.connect_client(client);
            group_newcomer(&mut server, number);
        }
        let entities = spawn(&mut server, ENTITIES);
        Self {
            server,
            clients,
            entities,
            walked: 0,
        }
    }
}

impl Game for Replicon {
    fn tick(&mut self, motion: Motion) -> Cost {
        // Only ticks with motion count, so that all walk the same way.
        self.walked += u64::from(motion != Motion::Still);
        if motion != Motion::Still {
            walk(&mut self.server, &self.entities, motion, self.walked);
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
        seen(&mut self.clients[number])
    }
}
