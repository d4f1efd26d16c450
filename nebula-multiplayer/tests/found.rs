//! What simulations found, in its smallest form.

use core::time::Duration;

use bevy_ecs::entity_disabling::Disabled;
use nebula_math::WorldPosition;
use nebula_multiplayer::interest::{
    Area, ClientFacts, Facts, FollowsParent, Interest, InterestArea, Layers,
};
use nebula_multiplayer::limits::Limits;
use nebula_multiplayer::protocol::{Channel, Protocol};
use nebula_multiplayer::replication::{DespawnReason, NetworkIds, Replicate};
use nebula_multiplayer::server::{ServerEvent, ServerSettings};
use nebula_multiplayer::testing::TestPair;
use nebula_multiplayer::transport::Lane;
use nebula_multiplayer::{ClientEvent, ClientId, NetworkId};

fn protocol() -> Protocol {
    Protocol::new("game", 1)
        .message::<u32>("ping", 1, Channel::Unordered)
        .message::<Vec<u8>>("parcel", 1, Channel::Ordered)
}

#[test]
fn a_ticket_of_an_expired_session_resumes_nothing() {
    let limits = Limits {
        resume_window: Duration::from_secs(1),
        ..Limits::default()
    };
    let settings = ServerSettings {
        limits,
        ..ServerSettings::default()
    };
    let mut pair = TestPair::with(&protocol(), settings, 1);
    pair.run_ms(200);
    // The message arrives, its acknowledgement does not.
    pair.client_mut(0).client.send(&1_u32).expect("connected");
    pair.client_mut(0).link.to_client.partition(Duration::MAX);
    pair.run_ms(100);
    let heard = |pair: &mut TestPair| pair.server.messages().map(|(_, n)| n).collect::<Vec<u32>>();
    assert_eq!(heard(&mut pair), [1]);
    pair.cut(0);
    pair.run_ms(1_500);
    // The session is gone. The server welcomes a new one, and that welcome goes down with its link.
    pair.reconnect(0);
    pair.client_mut(0).link.to_client.partition(Duration::MAX);
    pair.run_ms(100);
    pair.cut(0);
    pair.reconnect(0);
    pair.run_ms(1_000);
    assert!(pair.the_client().is_connected());
    assert_eq!(heard(&mut pair), [0; 0], "an old message in a new session");
}

#[test]
fn a_stream_stays_within_the_budget() {
    let limits = Limits {
        bytes_out_per_second: 10_000,
        burst_bytes: 2_000,
        ..Limits::default()
    };
    let settings = ServerSettings {
        limits: limits.clone(),
        ..ServerSettings::default()
    };
    let mut pair = TestPair::with(&protocol(), settings, 1);
    pair.run_ms(200);
    let id = pair.client(0).id().expect("connected");
    for _ in 0..20 {
        pair.server
            .send(id, &vec![7_u8; 4_000])
            .expect("room in the queue");
    }
    let mut bytes = 0;
    for _ in 0..40 {
        pair.step_seen(&mut |sent| {
            if !sent.to_server && sent.lane == Lane::Stream {
                bytes += sent.bytes.len() + 64 * sent.bytes.len().div_ceil(limits.datagram_bytes);
            }
        });
    }
    assert!(bytes > 15_000, "two seconds of budget are used: {bytes}");
    assert!(
        bytes <= 22_000,
        "two seconds of budget and the burst: {bytes}"
    );
}

#[test]
fn a_follower_without_a_parent_stays_unseen_when_it_moves() {
    let mut pair = TestPair::new(&protocol());
    let at = |x| WorldPosition::new(x, 0, 0);
    let player = pair.world.spawn((Replicate, at(-1))).id();
    let orphan = pair.world.spawn((Replicate, at(0), FollowsParent)).id();
    pair.run_ms(100);
    pair.play(player);
    pair.run_ms(200);
    pair.world.entity_mut(orphan).insert(at(1));
    pair.run_ms(200);
    let mut seen = pair.client_world().query::<&WorldPosition>();
    let seen: Vec<_> = seen.iter(pair.client_world()).copied().collect();
    assert_eq!(seen, [at(-1)]);
}

#[test]
fn a_disabled_player_sees_on_while_it_moves() {
    let mut pair = TestPair::new(&protocol());
    let at = |km: i128| WorldPosition::new(km * 1_000_000, 0, 0);
    let player = pair.world.spawn((Replicate, at(-1))).id();
    pair.world.spawn((Replicate, at(5)));
    pair.run_ms(100);
    pair.play(player);
    pair.world.entity_mut(player).insert(Disabled);
    pair.run_ms(200);
    pair.world.entity_mut(player).insert(at(5));
    pair.run_ms(200);
    let mut seen = pair.client_world().query::<&WorldPosition>();
    let seen: Vec<_> = seen.iter(pair.client_world()).copied().collect();
    assert_eq!(seen, [at(5)]);
}

#[test]
fn an_id_that_went_and_came_back_within_a_tick_is_still_seen() {
    let (client, at) = (ClientId::new(1), WorldPosition::MIN);
    let [old, new] = [0, 1].map(|generation| NetworkId::new(4, generation));
    let mut interest = Interest::new();
    interest.add_client(client, ClientFacts::default());
    interest.set_areas(client, &[Area::new(at, 500)]);
    interest.insert(new, Facts::at(at));
    interest.update();

    // An older generation takes the place for a moment.
    interest.insert(old, Facts::at(at));
    interest.insert(new, Facts::at(at));
    interest.update();
    assert_eq!(interest.viewers(new), [client]);

    interest.move_batch(&[(new, WorldPosition::MAX)]);
    interest.update();
    assert!(interest.viewers(new).is_empty(), "who sees it is told");
}

/// Returns where the client's entities are, sorted.
fn seen(pair: &mut TestPair) -> Vec<i128> {
    let mut rows = pair.client_world().query::<&WorldPosition>();
    let mut seen: Vec<_> = rows.iter(pair.client_world()).map(|at| at.x).collect();
    seen.sort_unstable();
    seen
}

#[test]
fn ids_may_be_asked_for_between_ticks() {
    let mut pair = TestPair::new(&protocol());
    let at = |x| WorldPosition::new(x, i128::MIN, 0);
    let player = pair.world.spawn((Replicate, at(-1))).id();
    pair.run_ms(100);
    pair.play(player);
    let first = pair.world.spawn((Replicate, at(10))).id();
    NetworkIds::maintain(&mut pair.world);
    pair.run_ms(200);
    pair.world.entity_mut(first).insert(at(20));
    pair.run_ms(200);
    assert_eq!(seen(&mut pair), [-1, 20], "its changes are found");

    // As many as before, and yet others.
    pair.world.despawn(first);
    let second = pair.world.spawn((Replicate, at(30))).id();
    NetworkIds::maintain(&mut pair.world);
    NetworkIds::maintain(&mut pair.world);
    pair.run_ms(200);
    assert_eq!(seen(&mut pair), [-1, 30]);

    pair.the_client().events().for_each(drop);
    pair.world.entity_mut(second).insert(Disabled);
    NetworkIds::maintain(&mut pair.world);
    pair.run_ms(200);
    let mut left = pair.the_client().events().filter_map(|event| match event {
        ClientEvent::Despawned { reason, .. } => Some(reason),
        _ => None,
    });
    assert_eq!(left.next(), Some(DespawnReason::Left), "merely hidden");
}

#[test]
fn the_radius_of_the_server_changes_while_it_runs() {
    let mut pair = TestPair::new(&protocol());
    let at = |meters: i128| WorldPosition::new(i128::MAX - meters * 1_000, 0, 0);
    let player = pair.world.spawn((Replicate, at(0))).id();
    pair.world.spawn((Replicate, at(300)));
    pair.run_ms(100);
    pair.play(player);
    for (radius, count) in [(200.0, 1), (400.0, 2), (100.0, 1)] {
        pair.server
            .set_default_area(InterestArea { radius })
            .expect("a radius");
        pair.run_ms(300);
        assert_eq!(seen(&mut pair).len(), count, "{radius}");
    }
}

#[test]
fn a_radius_of_a_client_holds_before_it_has_joined_and_when_it_joins_anew() {
    let mut pair = TestPair::new(&protocol());
    let at = |meters: i128| WorldPosition::new(i128::MIN + meters * 1_000, 0, 0);
    let player = pair.world.spawn((Replicate, at(0))).id();
    pair.world.spawn((Replicate, at(300)));
    pair.play(player);
    let id = pair.client(0).id().expect("a link");
    let near = InterestArea { radius: 200.0 };
    assert_eq!(pair.server.set_area(id, Some(near)), Ok(true));
    pair.run_ms(300);
    assert_eq!(seen(&mut pair).len(), 1);
    pair.crash(0, true);
    pair.reconnect(0);
    pair.run_ms(500);
    assert!(pair.the_client().is_connected());
    assert_eq!(seen(&mut pair).len(), 1, "joined anew");
}

#[test]
fn layers_and_capacity_of_a_client_hold_when_it_joins_anew() {
    for noticed in [true, false] {
        let mut pair = TestPair::new(&protocol());
        let id = pair.client(0).id().expect("a link");
        let near = WorldPosition::ORIGIN;
        let player = pair.world.spawn((Replicate, near)).id();
        pair.play(player);
        pair.world.spawn_batch([(Replicate, near); 8]);
        let stealthy = (Replicate, near, Layers::only(3));
        pair.world.spawn_batch([stealthy; 5]);
        pair.run_ms(500);
        assert_eq!(seen(&mut pair).len(), 9, "those of the usual layer");
        let facts = ClientFacts {
            layers: Layers::only(3),
            max_visible: 4,
        };
        pair.server.interest_mut().add_client(id, facts);
        pair.run_ms(500);
        assert_eq!(seen(&mut pair).len(), 4, "the view's capacity of the other");
        pair.events.clear();
        pair.crash(0, noticed);
        pair.reconnect(0);
        // At no time is anybody sent whom the game took from its view.
        let mut most = 0;
        for _ in 0..40 {
            pair.run_ms(50);
            most = most.max(seen(&mut pair).len());
        }
        let joined = ServerEvent::Connected {
            client: id,
            resumed: false,
        };
        assert!(pair.events.contains(&joined), "{:?}", pair.events);
        assert_eq!(pair.server.interest().client_facts(id), Some(facts));
        assert_eq!((most, seen(&mut pair).len()), (4, 4), "{noticed}");
        // A session that is over takes all of it along.
        let now = pair.now();
        pair.server.kick(id, "enough", now);
        pair.run_ms(2_000);
        assert_eq!(pair.server.interest().client_facts(id), None);
    }
}
