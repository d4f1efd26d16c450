//! Every end of a session and every limit that is hit is counted, and the count outlives the client.

mod common;
mod log_common;

use core::time::Duration;

use bevy_ecs::component::Component;
use bevy_ecs::world::World;
use common::{Chat, Health, Hit, Pair, protocol};
use log_common::Recorder;
use nebula_math::WorldPosition;
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::replication::Replicate;
use nebula_multiplayer::testing::TestPair;
use nebula_multiplayer::{Client, ClientSettings, Identity, Protocol, Server, ServerSettings};
use serde::{Deserialize, Serialize};

/// Checks that exactly these counters of a server are not 0, whoever is still there.
#[track_caller]
fn assert_counted(server: &Server, expected: &[(&str, u64)]) {
    let totals = serde_json::to_value(server.totals()).unwrap();
    let mut counted = Vec::new();
    for (name, count) in totals.as_object().unwrap() {
        let count = count.as_u64().unwrap();
        if count > 0 {
            counted.push((name.as_str(), count));
        }
    }
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    counted.sort_unstable();
    assert_eq!(counted, expected);
}

/// Lets time pass for the server alone.
fn wait(pair: &mut Pair, time: Duration) {
    pair.now += time;
    pair.server.tick(&mut pair.world, pair.now);
}

#[test]
fn each_end_is_counted_once() {
    let mut pair = Pair::connected();
    pair.stream(&[0; 8]).unwrap_err();
    assert_counted(&pair.server, &[("joined", 1), ("bad_messages", 1)]);

    let mut pair = Pair::new();
    while pair.datagram(&[0; 1_000]).is_ok() {}
    let totals = pair.server.totals();
    assert_eq!(totals.floods, 1);
    assert!(
        totals.ignored_datagrams > 100,
        "counted still: {}",
        totals.ignored_datagrams
    );

    let mut pair = Pair::new();
    wait(&mut pair, Duration::from_secs(5));
    assert_counted(&pair.server, &[("hello_timeouts", 1)]);

    let mut pair = Pair::connected();
    wait(&mut pair, Duration::from_secs(10));
    assert_counted(&pair.server, &[("joined", 1), ("idle", 1)]);
    wait(&mut pair, Duration::from_secs(30));
    assert_counted(&pair.server, &[("joined", 1), ("idle", 1), ("expired", 1)]);

    let mut pair = Pair::connected();
    pair.client.disconnect(pair.now);
    let mut bytes = Vec::new();
    assert!(pair.client.transmit_stream(100, &mut bytes));
    pair.stream(&bytes).unwrap_err();
    assert_counted(&pair.server, &[("joined", 1), ("left", 1)]);

    let mut pair = Pair::connected();
    pair.server.kick(pair.id, "no reason", pair.now);
    wait(&mut pair, Duration::from_secs(1));
    assert_counted(&pair.server, &[("joined", 1), ("kicked", 1)]);

    let mut pair = Pair::connected();
    pair.server.disconnect(pair.id, pair.now);
    wait(&mut pair, Duration::from_secs(30));
    assert_counted(&pair.server, &[("joined", 1), ("expired", 1)]);

    let mut pair = Pair::new();
    let id = pair.server.connect(Identity::Anonymous, pair.now).unwrap();
    pair.server.disconnect(id, pair.now);
    assert_counted(&pair.server, &[("links_lost", 1)]);
}

#[test]
fn ends_of_clients_that_go_on_talking_are_counted() {
    // Its datagrams come, but it hears none, and so acknowledges none.
    let mut pair = Pair::connected();
    pair.spawn_player();
    while pair.server.held() > 0 {
        pair.now += Duration::from_millis(50);
        let mut bytes = Vec::new();
        while pair.client.transmit(common::MAX, &mut bytes) {
            pair.datagram(&bytes).unwrap();
            bytes.clear();
        }
        pair.server.tick(&mut pair.world, pair.now);
        while pair.server.transmit(pair.id, common::MAX, &mut bytes) {
            bytes.clear();
        }
        pair.client.tick(&mut pair.mirror, pair.now);
    }
    assert_eq!(pair.server.totals().never_acks, 1);

    // Half a frame comes, and nothing more on the stream.
    let mut pair = Pair::connected();
    pair.stream(&[200, 0]).unwrap();
    pair.steps(99);
    assert_eq!(pair.server.totals().frame_timeouts, 0);
    pair.now += Duration::from_millis(50);
    pair.server.tick(&mut pair.world, pair.now);
    assert_eq!(pair.server.totals().frame_timeouts, 1);

    // It does not read its stream.
    let mut pair = Pair::connected();
    pair.server.send(pair.id, &Chat("a".repeat(900))).unwrap();
    let mut bytes = Vec::new();
    assert!(pair.server.transmit_stream(pair.id, 2_000, &mut bytes));
    for _ in 0..200 {
        if pair.server.held() == 0 {
            break;
        }
        pair.now += Duration::from_millis(50);
        let mut bytes = Vec::new();
        while pair.client.transmit(common::MAX, &mut bytes) {
            pair.datagram(&bytes).unwrap();
            bytes.clear();
        }
        pair.server.note_unsent(pair.id, 900, pair.now);
        pair.server.tick(&mut pair.world, pair.now);
        while pair.server.transmit(pair.id, common::MAX, &mut bytes) {
            pair.client.receive(&bytes, pair.now).unwrap();
            bytes.clear();
        }
        pair.client.tick(&mut pair.mirror, pair.now);
    }
    let totals = pair.server.totals();
    assert_eq!((totals.stalled, totals.resyncs), (1, 1), "{totals:?}");

    // It speaks another protocol.
    let mut pair = Pair::new();
    let other = Protocol::new("another game", 1);
    let mut client = Client::new(other, ClientSettings::default()).unwrap();
    client.connect(pair.now);
    let mut bytes = Vec::new();
    client.transmit_stream(usize::MAX, &mut bytes);
    pair.stream(&bytes).unwrap();
    wait(&mut pair, Duration::from_secs(1));
    assert_counted(&pair.server, &[("mismatches", 1)]);
}

#[test]
fn each_limit_that_is_hit_is_counted_while_the_client_stays() {
    let mut pair = Pair::with(Limits {
        inbox_messages: 1,
        clients: 1,
        ..Limits::default()
    });
    pair.join();
    for n in 0..3 {
        pair.client.send(&Hit(n)).unwrap();
    }
    pair.steps(2);
    let far = pair.server.connect(Identity::Account(1 << 63), pair.now);
    assert!(far.is_err());
    assert!(pair.server.connect(Identity::Account(8), pair.now).is_err());
    let long = Chat("a".repeat(70_000));
    assert!(pair.server.send(pair.id, &long).is_err());
    pair.client.link_lost(pair.now);
    pair.server.disconnect(pair.id, pair.now);
    pair.server.connect(Identity::Account(7), pair.now).unwrap();
    pair.client.connect(pair.now);
    pair.steps(2);
    assert_counted(
        &pair.server,
        &[
            ("joined", 1),
            ("resumed", 1),
            ("dropped_messages", 2),
            ("refused_accounts", 1),
            ("refused_full", 1),
            ("refused_messages", 1),
        ],
    );
    // Counted of the client and no more, so that it is not counted twice when it goes.
    let before = pair.server.totals();
    pair.server.kick(pair.id, "", pair.now);
    wait(&mut pair, Duration::from_secs(1));
    let after = pair.server.totals();
    assert_eq!(after.dropped_messages, before.dropped_messages);
    assert_eq!(after.kicked, 1);
}

#[test]
fn a_budget_that_is_spent_is_counted() {
    let mut pair = Pair::with(Limits {
        bytes_out_per_second: 1_024,
        burst_bytes: 1_300,
        ..Limits::default()
    });
    pair.join();
    pair.spawn_player();
    for n in 0..3_000 {
        let at = WorldPosition::new(-n, 0, i128::MAX);
        pair.world.spawn((Replicate, at, Health(1)));
    }
    pair.steps(3);
    assert!(pair.server.totals().starved > 0);
}

#[test]
fn packets_that_the_history_had_no_room_for_are_counted_as_lost() {
    let send: [fn(&mut Pair); 2] = [
        |pair| while pair.server.transmit(pair.id, 100, &mut Vec::new()) {},
        |pair| pair.server.transmit_all(100, |_, _| {}),
    ];
    for send in send {
        let mut pair = Pair::with(Limits {
            history_packets: 64,
            burst_bytes: 1 << 20,
            ..Limits::default()
        });
        pair.join();
        pair.spawn_player();
        for n in 0..700 {
            let at = WorldPosition::new(-n, 0, i128::MAX);
            pair.world.spawn((Replicate, at, Health(1)));
        }
        // Too many at once, before the client could have said what arrived.
        for _ in 0..3 {
            wait(&mut pair, Duration::from_millis(50));
            send(&mut pair);
        }
        let stats = pair.server.stats(pair.id).unwrap();
        let packets = stats.datagrams_sent - stats.packets_acked;
        assert!(packets > 64, "{packets} packets");
        assert_eq!(
            (stats.packets_lost, stats.packets_in_flight),
            (packets - 64, 64)
        );
    }
}

/// A server without sockets, for many clients that come and go.
fn server(clients: usize) -> Server {
    let limits = Limits {
        clients,
        ..Limits::default()
    };
    let settings = ServerSettings {
        limits,
        ..ServerSettings::default()
    };
    Server::new(protocol(), settings).unwrap()
}

fn come_and_go(server: &mut Server, times: usize) {
    for _ in 0..times {
        let id = server.connect(Identity::Anonymous, Duration::ZERO).unwrap();
        server.disconnect(id, Duration::ZERO);
    }
}

#[test]
fn no_end_is_lost_without_being_counted() {
    let mut few = server(16);
    come_and_go(&mut few, 16_384);
    assert_eq!(few.totals().lost_events, 0);
    come_and_go(&mut few, 3);
    let totals = few.totals();
    assert_eq!((totals.lost_events, totals.lost_ends), (3, 3));
    assert_eq!(
        (few.events().count(), few.take_ended().count()),
        (16_384, 16_384)
    );

    // With as many clients as this, more than that many may end within one tick.
    let mut many = server(8_192);
    come_and_go(&mut many, 20_000);
    let totals = many.totals();
    assert_eq!((totals.lost_events, totals.lost_ends), (0, 0));
    many.tick(&mut World::new(), Duration::ZERO);
    assert_eq!(
        (many.events().count(), many.take_ended().count()),
        (20_000, 20_000)
    );
}

#[test]
fn a_client_counts_events_that_nobody_took() {
    let mut pair = Pair::new();
    let mut world = World::new();
    for n in 1..=65_540 {
        // Each attempt runs out of time, which is an event.
        pair.client.connect(pair.now);
        pair.now += Duration::from_secs(5);
        pair.client.tick(&mut world, pair.now);
        assert_eq!(pair.client.lost_events(), u64::saturating_sub(n, 65_536));
    }
    assert_eq!(pair.client.events().count(), 65_536);
}

/// As long as the game says.
#[derive(Component, Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Story(String);

#[test]
fn a_component_that_cannot_be_sent_is_counted_and_the_last_value_stands() {
    let recorder = Recorder::default();
    tracing::subscriber::with_default(recorder.clone(), || {
        let protocol = Protocol::new("test", 1).replicate::<Story>("story", 1);
        let mut pair = TestPair::new(&protocol);
        let story = Story("short".into());
        let player = (Replicate, WorldPosition::ORIGIN, story);
        let player = pair.world.spawn(player).id();
        pair.run_ms(1_000);
        pair.play(player);
        pair.run_ms(1_000);
        for length in 0..200 {
            let long = Story("x".repeat(70_000 + length));
            pair.world.entity_mut(player).insert(long);
            pair.run_ms(50);
        }
        let totals = pair.server.totals();
        let lines = recorder
            .log()
            .lines("a component cannot be sent; its last value stands")
            .count();
        // Twenty at once, and ten a second for ten seconds.
        assert!((100..=121).contains(&lines), "{lines} lines");
        assert_eq!(totals.unsendable, 200);
        assert_eq!(
            lines,
            200 - usize::try_from(totals.suppressed_lines).unwrap()
        );
        let world = pair.client_world();
        let seen: Vec<_> = world.query::<&Story>().iter(world).cloned().collect();
        assert_eq!(seen, [Story("short".into())]);
    });
}
