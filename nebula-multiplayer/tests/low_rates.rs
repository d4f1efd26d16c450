//! What still goes out when little may be sent.

use core::time::Duration;

use bevy_ecs::entity::Entity;
use nebula_math::{IVec3_128, WorldPosition};
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::protocol::{Channel, Protocol};
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::server::ServerSettings;
use nebula_multiplayer::testing::TestPair;
use serde::{Deserialize, Serialize};

#[derive(Serialize, Deserialize)]
struct Parcel(Vec<u8>);

#[derive(Serialize, Deserialize)]
struct Weather(Vec<u8>);

fn pair(limits: Limits) -> TestPair {
    let protocol = Protocol::new("game", 1)
        .message::<Parcel>("parcel", 1, Channel::Unordered)
        .message::<Weather>("weather", 1, Channel::Latest);
    let settings = ServerSettings {
        limits: limits.clone(),
        ..ServerSettings::default()
    };
    let mut pair = TestPair::with(&protocol, settings, 1);
    pair.client_settings.limits = limits;
    pair
}

/// Moves everyone by a millimetre, and lets a tick pass.
fn stir(pair: &mut TestPair, crowd: &[Entity]) {
    for entity in crowd {
        let mut at = pair.world.get_mut::<WorldPosition>(*entity).unwrap();
        *at += IVec3_128::new(0, 1, 0);
    }
    pair.step();
}

#[test]
fn a_large_message_goes_out_although_state_would_take_every_byte() {
    // 819 bytes a tick: less than the message, and less than the crowd's steps.
    let mut pair = pair(Limits {
        bytes_out_per_second: 16 * 1_024,
        burst_bytes: 2_000,
        ..Limits::default()
    });
    let at = |x| WorldPosition::new(x, 0, i128::MIN);
    let crowd: Vec<Entity> = (0..300)
        .map(|x| pair.world.spawn((Replicate, at(x))).id())
        .collect();
    pair.run_ms(100);
    pair.play(crowd[0]);
    for _ in 0..100 {
        stir(&mut pair, &crowd);
    }
    let id = pair.client(0).id().expect("connected");
    let deferred = |pair: &TestPair| pair.server.stats(id).unwrap().starved;
    let before = deferred(&pair);
    pair.server.send(id, &Parcel(vec![7; 1_000])).unwrap();
    pair.server.send(id, &Weather(vec![8; 1_000])).unwrap();
    for _ in 0..20 {
        stir(&mut pair, &crowd);
    }
    assert!(
        deferred(&pair) > before,
        "the budget was spent all the time"
    );
    let parcels: Vec<_> = pair.the_client().messages::<Parcel>().collect();
    assert!(parcels.iter().map(|parcel| parcel.0.len()).eq([1_000]));
    let weather: Vec<_> = pair.the_client().messages::<Weather>().collect();
    assert!(weather.iter().map(|weather| weather.0.len()).eq([1_000]));
    // State goes on behind it.
    let sent = |pair: &TestPair| pair.server.replication_stats(id).unwrap().bytes;
    let before = sent(&pair);
    for _ in 0..20 {
        stir(&mut pair, &crowd);
    }
    assert!(sent(&pair) - before > 10_000);
}

#[test]
fn a_client_that_may_send_less_than_a_datagram_a_second_still_speaks() {
    let limits = Limits {
        bytes_in_per_second: 1_024,
        ack_timeout: Duration::from_secs(2),
        ..Limits::default()
    };
    assert!(limits.validate().is_ok());
    let mut pair = pair(limits);
    // The first client has the settings of all others; this one has those of the server.
    let number = pair.join();
    pair.run_ms(100);
    let player = pair.world.spawn((Replicate, WorldPosition::MIN)).id();
    pair.set_player(number, Some(player));
    for _ in 0..100 {
        stir(&mut pair, &[player]);
    }
    assert!(pair.client(number).client.is_connected());
    assert_eq!(pair.server.totals().never_acks, 0);
}
