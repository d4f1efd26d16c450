//! Rooms that are too small: storms, staleness, sizes.

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;

use super::{Harness, Health};
use crate::replication::{Replicate, ReplicationSettings, staleness_bound};

#[test]
fn a_teleport_into_five_thousand_completes_within_the_cap() {
    let settings = ReplicationSettings::default();
    let mut h = Harness::new(3, 1);
    h.net.room = 1_000;
    h.net.packets = 4;
    let city = WorldPosition::new(-(1_i128 << 90), 5, -3);
    h.look(0, WorldPosition::ORIGIN, 500_000);
    for n in 0..5_000_i128 {
        let at = WorldPosition::new(city.x + n * 60, city.y - n % 77, city.z);
        h.world.spawn((Replicate, at, Health(1)));
    }
    h.interest.add_client(
        h.clients[0].id,
        crate::interest::ClientFacts {
            max_visible: 6_000,
            ..crate::interest::ClientFacts::default()
        },
    );
    h.steps(2);
    h.look(0, city, 500_000);
    let mut ticks = 0;
    let mut began: Vec<i128> = Vec::new();
    while h.clients[0].mirror.len() < 5_000 {
        let before = h.clients[0].bytes;
        let events = h.clients[0].events.len();
        h.step();
        ticks += 1;
        assert!(h.clients[0].bytes - before <= 4_000, "the cap holds");
        let new = &h.clients[0].events[events..];
        assert!(new.len() <= settings.spawns_per_tick * 2);
        for event in new {
            if let crate::mirror::MirrorEvent::Spawned(e) = event {
                let at = h.clients[0].world.get::<WorldPosition>(*e).unwrap();
                began.push(at.x - city.x);
            }
        }
        assert!(
            ticks < 200,
            "{} after {ticks} ticks",
            h.clients[0].mirror.len()
        );
    }
    // Nearest first, but for those that began in the same tick or had to be sent again.
    let mean = |part: &[i128]| part.iter().sum::<i128>() / part.len() as i128;
    let (first, last) = began.split_at(began.len() / 2);
    assert!(
        mean(first) < mean(last) / 2,
        "{} {}",
        mean(first),
        mean(last)
    );
    h.settle();
    h.check_equal();
}

#[test]
fn nothing_waits_longer_than_the_bound() {
    for (room, entities) in [(300, 400), (100, 100), (900, 1_500)] {
        let mut h = Harness::new(4, 1);
        h.look(0, WorldPosition::ORIGIN, 100_000);
        let all: Vec<Entity> = (0..entities)
            .map(|n: i128| h.spawn_at(WorldPosition::new(n * 100_000 / entities, -n, 0)))
            .collect();
        h.net.room = 1_000;
        h.steps(60);
        h.check_equal();
        h.net.room = room;
        h.net.packets = 1;
        let before = h.replicator.stats(h.clients[0].id).unwrap().stalest;
        for tick in 0..400_i128 {
            for e in &all {
                h.world.get_mut::<WorldPosition>(*e).unwrap().y += 1 + tick % 3;
            }
            h.step();
        }
        let stats = h.replicator.stats(h.clients[0].id).unwrap();
        // A position takes at most 9 bytes with the longest id here, now and then 60 with its cell.
        let bound = staleness_bound(all.len() * 12, room);
        let stalest = usize::try_from(stats.stalest).unwrap();
        eprintln!(
            "{entities} entities, room {room}: stalest {stalest}, bound {bound}, before {before}"
        );
        assert!(
            stalest > 2,
            "the room must be too small for this to mean anything"
        );
        assert!(stalest <= bound, "{stalest} ticks, bound {bound}");
        h.net.room = 1_000;
        h.net.packets = 64;
        h.settle();
        h.check_equal();
    }
}

#[test]
fn a_position_takes_seven_bytes_and_a_step_six_at_most() {
    let mut h = Harness::new(5, 1);
    h.look(0, WorldPosition::ORIGIN, 100_000);
    let all: Vec<Entity> = (0..31)
        .map(|n: i128| h.spawn_at(WorldPosition::new(n * 1_000, -n, 1 << 20)))
        .collect();
    h.look(0, WorldPosition::new(0, 0, 1 << 20), 100_000);
    h.steps(5);
    let id = h.clients[0].id;
    let before = h.replicator.stats(id).unwrap().clone();
    for _ in 0..50 {
        for e in &all {
            h.world.get_mut::<WorldPosition>(*e).unwrap().y -= 300;
        }
        h.step();
    }
    let stats = h.replicator.stats(id).unwrap();
    let steps = stats.steps - before.steps;
    let bytes = stats.position_bytes - before.position_bytes;
    assert!(steps > 1_400, "{steps} steps, {} places", stats.places);
    assert!(bytes <= (stats.places - before.places) * 7 + steps * 6);
    for e in &all {
        h.world.get_mut::<WorldPosition>(*e).unwrap().y += 9_000;
    }
    let before = h.replicator.stats(id).unwrap().clone();
    h.step();
    let stats = h.replicator.stats(id).unwrap();
    let places = stats.places - before.places;
    assert!(places > 20);
    assert_eq!(stats.position_bytes - before.position_bytes, places * 7);
    assert!(stats.kind_bytes[0] > 0);
}
