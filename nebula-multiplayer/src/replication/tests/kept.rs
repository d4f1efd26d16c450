//! What a client remembers of those that left, beside what the server thinks it does.

use bevy_ecs::prelude::*;
use nebula_math::WorldPosition;

use super::behaviour::{near, one};
use super::{Harness, Health, Label};
use crate::Tick;
use crate::mirror::{Mirror, MirrorLimits};
use crate::replication::record::{FORM_CONTROL, MAX_SLOTS, flag, op};
use crate::replication::{DespawnReason, Replicate};
use crate::wire::put_varint;

fn remembering(kept: usize) -> Mirror {
    let limits = MirrorLimits {
        kept,
        ..MirrorLimits::default()
    };
    Mirror::new(super::kinds(), limits)
}

fn small(kept: usize) -> Harness {
    let mut h = one();
    h.clients[0].mirror = remembering(kept);
    h
}

fn put(h: &mut Harness, entity: Entity, at: WorldPosition) {
    *h.world.get_mut::<WorldPosition>(entity).unwrap() = at;
}

/// Returns a record of a slot.
fn control(slot: u32, rest: &[u8]) -> Vec<u8> {
    let mut record = Vec::new();
    put_varint(&mut record, u64::from(slot) << 2 | FORM_CONTROL);
    record.extend(rest);
    record
}

/// Returns a body in which an entity without components appears.
fn spawn(slot: u32, flags: u8, generation: u8) -> Vec<u8> {
    let record = control(slot, &[op::SPAWN, flags, generation, 0, 0]);
    [&[0], &record[..]].concat()
}

/// Returns a body in which an entity leaves.
fn leave(slot: u32, reason: DespawnReason) -> Vec<u8> {
    let reason = u8::from(reason == DespawnReason::Destroyed);
    let record = control(slot, &[op::LEAVE, reason]);
    [&[0], &record[..]].concat()
}

#[test]
fn what_left_again_is_asked_for_no_more() {
    let mut h = small(0);
    let e = h.world.spawn((Replicate, near(0), Health(1))).id();
    h.spawn_at(near(1));
    h.steps(4);
    put(&mut h, e, near(90_000));
    h.steps(4);
    put(&mut h, e, near(0));
    h.step();
    assert_eq!(h.clients[0].mirror.needs_full().count(), 1);
    put(&mut h, e, near(90_000));
    h.steps(40);
    assert_eq!(h.clients[0].mirror.needs_full().count(), 0);
    h.check_equal();
}

#[test]
fn a_late_leave_does_not_take_back_a_question() {
    let mut mirror = remembering(0);
    let left = leave(0, DespawnReason::Left);
    let lacks = |mirror: &Mirror| mirror.needs_full().count() == 1;
    mirror.read(Tick::new(1), &spawn(0, 0, 1)).unwrap();
    mirror.read(Tick::new(2), &left).unwrap();
    mirror.read(Tick::new(4), &spawn(0, flag::KEPT, 2)).unwrap();
    assert!(lacks(&mirror));
    mirror.read(Tick::new(3), &left).unwrap();
    assert!(lacks(&mirror), "it left before it came back");
    mirror.read(Tick::new(5), &left).unwrap();
    assert!(!lacks(&mirror));
}

/// Brings an entity back into view; nobody asks for what should have been kept of it.
#[track_caller]
fn check_return(h: &mut Harness, e: Entity) {
    put(h, e, near(0));
    for _ in 0..8 {
        h.step();
        assert_eq!(h.clients[0].mirror.needs_full().count(), 0, "it is kept");
    }
    h.check_equal();
}

#[test]
fn those_destroyed_displace_nothing_that_is_kept() {
    let mut h = small(3);
    let e = h
        .world
        .spawn((Replicate, near(0), Label("x".repeat(300))))
        .id();
    let others: Vec<Entity> = (1..9).map(|by| h.spawn_at(near(by))).collect();
    h.steps(4);
    put(&mut h, e, near(90_000));
    h.steps(4);
    for other in others {
        h.world.despawn(other);
    }
    h.steps(4);
    check_return(&mut h, e);
}

#[test]
fn those_that_come_and_go_displace_nothing_that_is_kept() {
    let mut h = small(2);
    let e = h.world.spawn((Replicate, near(0), Health(1))).id();
    let restless = h.world.spawn((Replicate, near(1), Health(2))).id();
    h.steps(4);
    put(&mut h, e, near(90_000));
    for _ in 0..20 {
        put(&mut h, restless, near(90_000));
        h.steps(2);
        put(&mut h, restless, near(1));
        h.steps(2);
    }
    check_return(&mut h, e);
}

#[test]
fn a_leave_that_is_said_twice_is_forgotten_as_any_other() {
    let mut h = small(1);
    let label = |len: usize| Label("x".repeat(len));
    let first = h.world.spawn((Replicate, near(0), label(300))).id();
    let second = h.world.spawn((Replicate, near(1), label(10))).id();
    h.steps(4);
    let id = *h.world.get::<crate::NetworkId>(first).unwrap();
    let slot = h.replicator.slot_of(h.clients[0].id, id).unwrap();
    put(&mut h, first, near(90_000));
    h.steps(4);
    let mirror = &mut h.clients[0].mirror;
    assert!(mirror.bytes() > 300);
    let again = leave(slot, DespawnReason::Left);
    mirror.read(Tick::new(h.tick), &again).unwrap();
    put(&mut h, second, near(90_000));
    h.steps(4);
    let bytes = h.clients[0].mirror.bytes();
    assert!((10..300).contains(&bytes), "{bytes} bytes");
}

#[test]
fn every_slot_of_an_honest_server_is_taken() {
    let mut mirror = Mirror::new(super::kinds(), MirrorLimits::default());
    let info = allocation_counter::measure(|| {
        for slot in 0..MAX_SLOTS {
            mirror.read(Tick::new(1), &spawn(slot, 0, 1)).unwrap();
        }
    });
    let each = info.bytes_max / u64::from(MAX_SLOTS);
    assert!(
        each < 1_024 + 8 * 100,
        "{each} bytes, none of positions of the past"
    );
    assert_eq!(mirror.len(), 1 << 16);
    for slot in 0..MAX_SLOTS {
        mirror
            .read(Tick::new(2), &leave(slot, DespawnReason::Destroyed))
            .unwrap();
    }
    assert_eq!(mirror.len(), 0);
    assert!(mirror.read(Tick::new(3), &spawn(MAX_SLOTS, 0, 1)).is_err());
}

#[test]
fn no_more_entities_than_allowed_are_taken_by_any_way() {
    let limits = MirrorLimits {
        entities: 2,
        ..MirrorLimits::default()
    };
    let left = |slot| leave(slot, DespawnReason::Left);
    // Slots that are new, that were left before they came, and that return.
    let mut mirror = Mirror::new(super::kinds(), limits);
    mirror.read(Tick::new(1), &spawn(9, 0, 1)).unwrap();
    mirror.read(Tick::new(2), &left(9)).unwrap();
    mirror.read(Tick::new(2), &spawn(0, 0, 1)).unwrap();
    mirror.read(Tick::new(2), &spawn(1, 0, 1)).unwrap();
    mirror.read(Tick::new(2), &left(7)).unwrap();
    assert_eq!(mirror.len(), 2);
    for body in [spawn(2, 0, 1), spawn(7, 0, 2), spawn(9, flag::KEPT, 2)] {
        assert!(mirror.read(Tick::new(3), &body).is_err(), "{body:?}");
        assert_eq!(mirror.len(), 2);
    }
}
