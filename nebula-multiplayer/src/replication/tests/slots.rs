//! Slots: who has one, for how long, and what is kept beside it.

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;

use super::{Aims, Harness};
use crate::replication::admit::MAX_LEAVING;
use crate::replication::viewer::Viewer;
use crate::replication::{NetRef, Replicate, ReplicationSettings};

const HOME: WorldPosition = WorldPosition::new(-(1_i128 << 70), -1, i128::MAX - 9_000);

fn near(by: i128) -> WorldPosition {
    WorldPosition::new(HOME.x - by, HOME.y, HOME.z + by)
}

fn spawning(spawns_per_tick: usize) -> Harness {
    let settings = ReplicationSettings {
        spawns_per_tick,
        ..ReplicationSettings::default()
    };
    let mut harness = Harness::with(1, 1, settings);
    harness.look(0, HOME, 5_000);
    harness
}

/// Has so many come each tick, and go in the next.
fn churn(h: &mut Harness, ticks: usize, count: i128) {
    let mut last = Vec::new();
    for _ in 0..ticks {
        for gone in last.drain(..) {
            h.world.despawn(gone);
        }
        last.extend((0..count).map(|by| h.spawn_at(near(by))));
        h.step();
    }
}

fn viewer(h: &Harness) -> &Viewer {
    h.replicator.viewer(h.clients[0].id).expect("a client")
}

#[test]
fn a_client_that_gets_nothing_takes_no_slots_for_who_came_and_went() {
    for spawns_per_tick in [1, 256] {
        let mut h = spawning(spawns_per_tick);
        h.spawn_at(near(9));
        h.steps(4);
        h.net.packets = 0;
        churn(&mut h, 600, 60);
        let viewer = viewer(&h);
        assert!(viewer.slots.len() <= 1_024, "{}", viewer.slots.len());
        assert!(viewer.waiting.len() <= 60, "{}", viewer.waiting.len());
        assert_eq!(h.replicator.stored(), 61, "nobody else is stored");
        h.net.packets = 64;
        h.steps(70);
        h.check_equal();
    }
}

#[test]
fn who_was_sent_keeps_its_slot_until_the_leave_arrived() {
    let mut h = spawning(256);
    let e = h.spawn_at(near(1));
    // Written, and never acknowledged.
    h.net.loss_percent = 100;
    h.step();
    h.world.despawn(e);
    h.steps(3);
    assert_eq!(viewer(&h).by_id.len(), 1);
    h.net.loss_percent = 0;
    h.steps(9);
    assert_eq!(viewer(&h).by_id.len(), 0);
    assert_eq!(h.replicator.stored(), 0);
}

#[test]
fn a_client_that_acknowledges_nothing_takes_no_more_than_so_many_slots() {
    let mut h = spawning(1_500);
    h.net.loss_percent = 100;
    churn(&mut h, 20, 1_500);
    let viewer = viewer(&h);
    assert!(viewer.leaving > MAX_LEAVING, "{}", viewer.leaving);
    let most = MAX_LEAVING + 2 * 1_500;
    assert!(viewer.slots.len() <= most, "{}", viewer.slots.len());
    h.settle();
    h.check_equal();
}

#[test]
fn who_takes_a_slot_freed_in_the_same_tick_begins_once() {
    let mut h = spawning(2);
    let [_, _, third, _] = [10, 20, 30, 40].map(|by| h.spawn_at(near(by)));
    h.step();
    assert_eq!(viewer(&h).stats.spawns, 2, "the nearest two");
    // Nearer than who still waits, and in the slot of one of those.
    h.world.despawn(third);
    h.spawn_at(near(1));
    h.step();
    assert_eq!(viewer(&h).slots.len(), 4, "the slot was given out again");
    h.steps(6);
    h.check_equal();
    assert_eq!(viewer(&h).stats.spawns, 4, "each that was seen, once");
}

#[test]
fn who_returns_and_then_moves_is_not_asked_for() {
    let mut h = spawning(256);
    let e = h.spawn_at(near(5));
    h.steps(4);
    let hop = |h: &mut Harness| h.world.get_mut::<WorldPosition>(e).unwrap().y -= 3;
    hop(&mut h);
    h.step();
    let steps = viewer(&h).stats.steps;
    assert_eq!(steps, 1, "it can be a step");
    // The client looks elsewhere for a moment, while the entity stands still.
    h.look(0, WorldPosition::new(HOME.x, 0, 0), 5_000);
    h.steps(3);
    assert_eq!(h.clients[0].mirror.len(), 0);
    h.look(0, HOME, 5_000);
    h.steps(3);
    h.check_equal();
    for _ in 0..3 {
        hop(&mut h);
        h.step();
        h.check_equal();
    }
    assert_eq!(h.clients[0].asked, 0);
    assert_eq!(viewer(&h).stats.steps, steps + 3, "steps again");
}

#[test]
fn who_saw_an_entity_that_is_gone_takes_no_memory() {
    let mut h = Harness::new(1, 3);
    (0..3).for_each(|client| h.look(client, HOME, 5_000));
    let all: Vec<Entity> = (0..100).map(|by| h.spawn_at(near(by))).collect();
    h.steps(4);
    for e in &all {
        h.world.get_mut::<WorldPosition>(*e).unwrap().y += 1;
    }
    h.step();
    let kept = |h: &Harness| {
        let stores = h.replicator.shared.stores.iter();
        stores.map(|store| store.subscribers.kept()).sum::<usize>()
    };
    assert!(kept(&h) >= 200, "{}", kept(&h));
    for e in &all[..99] {
        h.world.despawn(*e);
    }
    h.steps(4);
    assert_eq!(h.replicator.stored(), 1);
    assert!(kept(&h) <= 8, "{}", kept(&h));
    assert!(h.replicator.told.capacity() >= 300);
    for viewing in h.clients.drain(..) {
        h.replicator.remove_client(viewing.id);
    }
    assert_eq!(h.replicator.told.capacity(), 0);
}

#[test]
fn references_from_many_reach_a_client_that_sees_few_of_them() {
    let mut h = Harness::new(1, 2);
    let target = h.spawn_at(near(4_000));
    // The first sees one of those who refer, the second all of them.
    h.look(0, near(-4_000), 1_000);
    h.look(1, HOME, 9_000);
    let aims = Aims(NetRef(Some(target)), 1);
    h.world.spawn((Replicate, near(-4_000), aims.clone()));
    for by in 0..50 {
        h.world.spawn((Replicate, near(by), aims.clone()));
    }
    h.steps(4);
    h.check_equal();
    let there = *h.world.get::<WorldPosition>(target).unwrap();
    for at in [near(-4_100), there, near(-4_200)] {
        *h.world.get_mut::<WorldPosition>(target).unwrap() = at;
        h.steps(5);
        h.check_equal();
    }
    h.world.despawn(target);
    h.steps(4);
    let mut aims = h.clients[0].world.query::<&Aims>();
    let aims = aims.single(&h.clients[0].world).unwrap();
    assert_eq!(aims.0, NetRef(None));
}
