//! bevy_replicon 0.44 over renet and netcode, with a visibility filter that names each client's group.

use std::net::{SocketAddr, UdpSocket};
use std::time::{Instant, SystemTime};

use anyhow::{Result, ensure};
use bevy::prelude::*;
use bevy_replicon::prelude::*;
use bevy_replicon_renet::netcode::{
    ClientAuthentication, NetcodeClientTransport, NetcodeServerTransport, ServerAuthentication,
    ServerConfig,
};
use bevy_replicon_renet::renet::ConnectionConfig;
use bevy_replicon_renet::{RenetChannelsExt, RenetClient, RenetServer, RepliconRenetPlugins};
use nebula_peers::scene::replicon::{app, group_newcomer, seen, spawn, walk};
use nebula_peers::scene::{Motion, TICK};

use super::relay::{Doors, Relay};
use super::{CLIENTS, ENTITIES, Game, PATIENCE};

const PROTOCOL: u64 = 7;

pub(crate) struct Replicon {
    server: App,
    clients: Vec<App>,
    entities: Vec<Entity>,
    relay: Relay,
    walked: u64,
}

impl Replicon {
    pub(crate) fn new() -> Result<Self> {
        let doors = Doors::new(CLIENTS)?;
        let addresses = doors.addresses()?;
        let mut server = app(RepliconRenetPlugins);
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        let address = socket.local_addr()?;
        let config = ServerConfig {
            current_time: unix_time()?,
            max_clients: CLIENTS,
            protocol_id: PROTOCOL,
            // Clients speak to the relay's doors.
            public_addresses: addresses.clone(),
            authentication: ServerAuthentication::Unsecure,
        };
        let connection = connection_config(&server);
        server
            .insert_resource(RenetServer::new(connection))
            .insert_resource(NetcodeServerTransport::new(config, socket)?);
        let relay = doors.open(address)?;
        let mut replicon = Self {
            server,
            clients: Vec::new(),
            entities: Vec::new(),
            relay,
            walked: 0,
        };
        for (number, address) in addresses.into_iter().enumerate() {
            replicon.join(number, address)?;
        }
        replicon.entities = spawn(&mut replicon.server, ENTITIES);
        Ok(replicon)
    }

    /// Connects the next client and puts it into its group.
    fn join(&mut self, number: usize, server: SocketAddr) -> Result<()> {
        let mut client = app(RepliconRenetPlugins);
        let authentication = ClientAuthentication::Unsecure {
            client_id: u64::try_from(number)?,
            protocol_id: PROTOCOL,
            server_addr: server,
            user_data: None,
        };
        let socket = UdpSocket::bind("127.0.0.1:0")?;
        let transport = NetcodeClientTransport::new(unix_time()?, authentication, socket)?;
        let connection = connection_config(&client);
        client
            .insert_resource(RenetClient::new(connection))
            .insert_resource(transport);
        self.clients.push(client);
        let start = Instant::now();
        loop {
            ensure!(start.elapsed() < PATIENCE, "client {number} cannot connect");
            self.tick(Motion::Still)?;
            std::thread::sleep(TICK / 10);
            if group_newcomer(&mut self.server, number) {
                return Ok(());
            }
        }
    }
}

fn connection_config(app: &App) -> ConnectionConfig {
    let channels = app.world().resource::<RepliconChannels>();
    ConnectionConfig {
        server_channels_config: channels.server_configs(),
        client_channels_config: channels.client_configs(),
        ..ConnectionConfig::default()
    }
}

fn unix_time() -> Result<std::time::Duration> {
    Ok(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH)?)
}

impl Game for Replicon {
    fn tick(&mut self, motion: Motion) -> Result<()> {
        // Only ticks with motion count, so that all walk the same way.
        if motion != Motion::Still {
            self.walked += 1;
            walk(&mut self.server, &self.entities, motion, self.walked);
        }
        self.server.update();
        for client in &mut self.clients {
            client.update();
        }
        Ok(())
    }

    fn seen(&mut self, number: usize) -> Vec<[i64; 3]> {
        seen(&mut self.clients[number])
    }

    fn relay(&self) -> &Relay {
        &self.relay
    }
}
