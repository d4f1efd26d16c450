//! Plugins for Bevy apps.

use bevy_app::{App, Plugin, PostUpdate, PreUpdate};

use super::{NebulaClient, NebulaServer, NetworkTime, client_systems, phases, server_systems};
use crate::{Client, ClientSettings, Protocol, Server, ServerSettings};

/// Adds a [`NebulaServer`] that ticks in `PostUpdate`, after the game moved things.
///
/// ```
/// use bevy_app::App;
/// use nebula_multiplayer::ecs::{NebulaServer, NebulaServerPlugin};
/// use nebula_multiplayer::{Protocol, ServerSettings};
///
/// let mut app = App::new();
/// app.add_plugins(NebulaServerPlugin {
///     protocol: Protocol::new("my game", 1),
///     settings: ServerSettings::default(),
/// });
/// app.update();
/// assert_eq!(app.world().resource::<NebulaServer>().0.clients().count(), 0);
/// ```
///
/// # Panics
/// When added with a protocol or settings that [`Server::new`] refuses; it says why.
#[derive(Clone, Debug)]
pub struct NebulaServerPlugin {
    /// What the game sends.
    pub protocol: Protocol,
    /// How the server behaves.
    pub settings: ServerSettings,
}

impl Plugin for NebulaServerPlugin {
    fn build(&self, app: &mut App) {
        let server = Server::new(self.protocol.clone(), self.settings.clone());
        let server = server.unwrap_or_else(|error| panic!("the server cannot start: {error}"));
        app.insert_resource(NebulaServer(server))
            .init_resource::<NetworkTime>()
            .configure_sets(PostUpdate, phases())
            .add_systems(PostUpdate, server_systems());
    }
}

/// Adds a [`NebulaClient`] that applies what arrived in `PreUpdate`, before the game reads it.
///
/// ```
/// use bevy_app::App;
/// use nebula_multiplayer::ecs::{NebulaClient, NebulaClientPlugin};
/// use nebula_multiplayer::{ClientSettings, Protocol};
///
/// let mut app = App::new();
/// app.add_plugins(NebulaClientPlugin {
///     protocol: Protocol::new("my game", 1),
///     settings: ClientSettings::default(),
/// });
/// app.update();
/// assert!(!app.world().resource::<NebulaClient>().0.is_connected());
/// ```
///
/// # Panics
/// When added with a protocol or settings that [`Client::new`] refuses; it says why.
#[derive(Clone, Debug)]
pub struct NebulaClientPlugin {
    /// What the game sends.
    pub protocol: Protocol,
    /// How the client behaves.
    pub settings: ClientSettings,
}

impl Plugin for NebulaClientPlugin {
    fn build(&self, app: &mut App) {
        let client = Client::new(self.protocol.clone(), self.settings.clone());
        let client = client.unwrap_or_else(|error| panic!("the client cannot start: {error}"));
        app.insert_resource(NebulaClient(client))
            .init_resource::<NetworkTime>()
            .configure_sets(PreUpdate, phases())
            .add_systems(PreUpdate, client_systems());
    }
}
