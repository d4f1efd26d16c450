//! A server and a client as two Bevy apps that meet in memory.
//!
//! `cargo run -p nebula-multiplayer --features bevy_app --example bevy_plugins`

use core::time::Duration;

use bevy_app::App;
use nebula_math::WorldPosition;
use nebula_multiplayer::ecs::{
    NebulaClient, NebulaClientPlugin, NebulaServer, NebulaServerPlugin, NetworkTime,
};
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::{ClientId, ClientSettings, Identity, Protocol, ServerSettings};

/// Carries everything that is due, both ways.
fn carry(server: &mut App, client: &mut App, id: ClientId, now: Duration) {
    let mut bytes = Vec::new();
    let server = &mut server.world_mut().resource_mut::<NebulaServer>().0;
    let client = &mut client.world_mut().resource_mut::<NebulaClient>().0;
    if client.transmit_stream(4_096, &mut bytes) {
        server
            .receive_stream(id, &bytes, now)
            .expect("our own bytes");
    }
    bytes.clear();
    while client.transmit(1_150, &mut bytes) {
        server.receive(id, &bytes, now).expect("our own bytes");
        bytes.clear();
    }
    if server.transmit_stream(id, 65_536, &mut bytes) {
        client.receive_stream(&bytes, now).expect("our own bytes");
    }
    bytes.clear();
    while server.transmit(id, 1_150, &mut bytes) {
        client.receive(&bytes, now).expect("our own bytes");
        bytes.clear();
    }
}

#[expect(clippy::print_stdout, reason = "an example shows what it does")]
fn main() {
    let protocol = Protocol::new("two apps", 1);
    let (mut server, mut client) = (App::new(), App::new());
    server.add_plugins(NebulaServerPlugin {
        protocol: protocol.clone(),
        settings: ServerSettings::default(),
    });
    client.add_plugins(NebulaClientPlugin {
        protocol,
        settings: ClientSettings::default(),
    });
    let at = WorldPosition::new(i128::MIN + 5, -1, 0);
    let player = server.world_mut().spawn((Replicate, at)).id();

    let handle = &mut server.world_mut().resource_mut::<NebulaServer>().0;
    let id = handle
        .connect(Identity::Account(1), Duration::ZERO)
        .expect("there is room");
    handle.set_player(id, Some(player));
    let handle = &mut client.world_mut().resource_mut::<NebulaClient>().0;
    handle.connect(Duration::ZERO);

    for tick in 1..=12 {
        let now = Duration::from_millis(50 * tick);
        for app in [&mut server, &mut client] {
            app.insert_resource(NetworkTime(now));
        }
        server.update();
        carry(&mut server, &mut client, id, now);
        client.update();
    }
    let own = client.world().resource::<NebulaClient>().0.own_entity();
    let own = own.expect("the client was told");
    let seen = client.world().get::<WorldPosition>(own).copied();
    assert_eq!(seen, Some(at), "exact, at the edge of the universe");
    println!(
        "the client's own entity is at {:?}",
        seen.map(WorldPosition::to_array)
    );
}
