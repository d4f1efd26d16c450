//! Servers and clients as resources of a world, and the systems that run them.
//!
//! ```text
//! server:  Receive -> Interest, Collect (server_systems) -> Send
//! client:  Receive -> Apply (client_systems)             -> Send
//! ```
//!
//! A transport is two systems of yours: one in [`NebulaSystems::Receive`] that hands bytes over, one in
//! [`NebulaSystems::Send`] that takes them away. They read the time from [`NetworkTime`], which you set,
//! because nothing in this crate asks a clock. Plain `bevy_ecs` schedules are enough; the feature
//! `bevy_app` adds plugins.

#[cfg(feature = "bevy_app")]
mod plugin;

use core::time::Duration;

use bevy_ecs::change_detection::Mut;
use bevy_ecs::resource::Resource;
use bevy_ecs::schedule::{IntoScheduleConfigs, ScheduleConfigs, SystemSet};
use bevy_ecs::system::ScheduleSystem;
use bevy_ecs::world::World;
use nebula_coords::NebulaSystems;

#[cfg(feature = "bevy_app")]
pub use plugin::{NebulaClientPlugin, NebulaServerPlugin};

use crate::{Client, Server};

/// A [`Server`] as a resource of the world that it replicates.
#[derive(Resource, Debug)]
pub struct NebulaServer(pub Server);

/// A [`Client`] as a resource of the world that it mirrors into.
#[derive(Resource, Debug)]
pub struct NebulaClient(pub Client);

/// The time that servers and clients go by. Set it once a frame; it need not start at zero.
#[derive(Resource, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NetworkTime(pub Duration);

/// Returns the system that ticks [`NebulaServer`], between `Receive` and `Send`.
///
/// It belongs to the phases `Interest` and `Collect`, which are one step of a server: order what must
/// be seen by clients `before` the first, and what reads the interest `after` the second.
///
/// ```
/// use core::time::Duration;
/// use bevy_ecs::prelude::*;
/// use nebula_coords::NebulaSystems;
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::ecs::{NebulaServer, NetworkTime, server_systems};
/// use nebula_multiplayer::replication::{NetworkIds, Replicate};
/// use nebula_multiplayer::{Protocol, Server, ServerSettings};
///
/// fn play(mut commands: Commands) {
///     commands.spawn((Replicate, WorldPosition::new(-1, 0, 0)));
/// }
///
/// let mut world = World::new();
/// let server = Server::new(Protocol::new("my game", 1), ServerSettings::default()).unwrap();
/// world.insert_resource(NebulaServer(server));
/// world.insert_resource(NetworkTime(Duration::from_millis(50)));
///
/// let mut schedule = Schedule::default();
/// schedule.add_systems((server_systems(), play.before(NebulaSystems::Interest)));
/// schedule.run(&mut world);
/// assert_eq!(world.resource::<NetworkIds>().len(), 1);
/// ```
pub fn server_systems() -> ScheduleConfigs<ScheduleSystem> {
    tick_server
        .in_set(NebulaSystems::Interest)
        .in_set(NebulaSystems::Collect)
        .after(NebulaSystems::Receive)
        .before(NebulaSystems::Send)
        .into_configs()
}

/// Returns the system that ticks [`NebulaClient`], in phase `Apply`, between `Receive` and `Send`.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_multiplayer::ecs::{NebulaClient, NetworkTime, client_systems};
/// use nebula_multiplayer::{Client, ClientSettings, Protocol};
///
/// let mut world = World::new();
/// let client = Client::new(Protocol::new("my game", 1), ClientSettings::default()).unwrap();
/// world.insert_resource(NebulaClient(client));
/// world.init_resource::<NetworkTime>();
///
/// let mut schedule = Schedule::default();
/// schedule.add_systems(client_systems());
/// schedule.run(&mut world);
/// assert!(!world.resource::<NebulaClient>().0.is_connected());
/// ```
pub fn client_systems() -> ScheduleConfigs<ScheduleSystem> {
    tick_client
        .in_set(NebulaSystems::Apply)
        .after(NebulaSystems::Receive)
        .before(NebulaSystems::Send)
        .into_configs()
}

/// Returns the phases of a world that is server, client or both, in their order.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_coords::NebulaSystems;
/// use nebula_multiplayer::ecs::phases;
///
/// #[derive(Resource, Default)]
/// struct Log(Vec<&'static str>);
///
/// let mut schedule = Schedule::default();
/// schedule.configure_sets(phases());
/// schedule.add_systems((
///     (|mut log: ResMut<Log>| log.0.push("send")).in_set(NebulaSystems::Send),
///     (|mut log: ResMut<Log>| log.0.push("receive")).in_set(NebulaSystems::Receive),
/// ));
/// let mut world = World::new();
/// world.init_resource::<Log>();
/// schedule.run(&mut world);
/// assert_eq!(world.resource::<Log>().0, ["receive", "send"]);
/// ```
pub fn phases() -> ScheduleConfigs<bevy_ecs::intern::Interned<dyn SystemSet>> {
    (
        NebulaSystems::Receive,
        NebulaSystems::Apply,
        NebulaSystems::Index,
        NebulaSystems::Interest,
        NebulaSystems::Send,
    )
        .chain()
}

fn tick_server(world: &mut World) {
    let now = world.get_resource_or_init::<NetworkTime>().0;
    world.try_resource_scope(|world, mut server: Mut<NebulaServer>| {
        server.0.tick(world, now);
    });
}

fn tick_client(world: &mut World) {
    let now = world.get_resource_or_init::<NetworkTime>().0;
    world.try_resource_scope(|world, mut client: Mut<NebulaClient>| {
        client.0.tick(world, now);
    });
}
