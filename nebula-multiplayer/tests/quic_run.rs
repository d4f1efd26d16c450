//! What `quic::run` does beside the ticks.

use bevy_ecs::component::Component;
use bevy_ecs::world::World;
use nebula_multiplayer::auth::OpenLogin;
use nebula_multiplayer::transport::quic::{self, QuicSettings, Stop};
use nebula_multiplayer::{Protocol, Server, ServerSettings};

#[derive(Component)]
struct Shot;

#[test]
fn removals_are_not_remembered_for_good() {
    let settings = ServerSettings {
        tick_rate: 500,
        ..ServerSettings::default()
    };
    let server = Server::new(Protocol::new("test", 1), settings).unwrap();
    let listen = QuicSettings {
        listen: "127.0.0.1:0".parse().unwrap(),
        ..QuicSettings::default()
    };
    let net = quic::serve(&server, &listen, OpenLogin).unwrap();
    let (stop, mut most) = (Stop::default(), 0);
    quic::run(net, server, World::new(), &stop, |turn| {
        let shot = turn.world.spawn(Shot).id();
        turn.world.despawn(shot);
        most = most.max(turn.world.removed::<Shot>().count());
        if turn.tick == 50 {
            stop.stop();
        }
    });
    assert_eq!(most, 1, "that of the tick at hand");
}
