//! Change ticks are 32 bits and wrap: a space outlives that, and so does one that slept.
//!
//! Ticks can only be counted up one by one, so these run in release builds only.
#![cfg(feature = "bevy_ecs")]

use bevy_ecs::change_detection::{CHECK_TICK_THRESHOLD, MAX_CHANGE_AGE};
use bevy_ecs::prelude::*;
use nebula_coords::nebula_math::WorldPosition;
use nebula_coords::{SpatialSpace, spatial_systems};

/// Lets that many ticks pass, with the checks that a running app makes.
fn pass(world: &mut World, ticks: u64) {
    for tick in 0..ticks {
        world.increment_change_tick();
        if tick % u64::from(CHECK_TICK_THRESHOLD) == 0 {
            world.check_change_ticks();
        }
    }
    world.check_change_ticks();
}

#[track_caller]
fn check(world: &World, id: Entity, resynced: bool) {
    let space = world.resource::<SpatialSpace>();
    let at = world.get::<WorldPosition>(id).copied();
    assert_eq!(space.index().get(id), at);
    assert_eq!(space.report().resynced, resynced);
}

fn start() -> (World, Schedule, Entity) {
    let mut world = World::new();
    let mut schedule = Schedule::default();
    schedule.add_systems(spatial_systems::<()>());
    let id = world.spawn(WorldPosition::new(-1, 0, 0)).id();
    schedule.run(&mut world);
    (world, schedule, id)
}

#[test]
#[cfg_attr(debug_assertions, ignore = "counts half a billion ticks")]
fn changes_survive_the_tick_check() {
    let (mut world, mut schedule, id) = start();
    pass(&mut world, u64::from(CHECK_TICK_THRESHOLD) + 10);
    schedule.run(&mut world);
    check(&world, id, false);
    assert_eq!(world.resource::<SpatialSpace>().report().scanned, 0);
    world.get_mut::<WorldPosition>(id).unwrap().x = -2;
    pass(&mut world, u64::from(CHECK_TICK_THRESHOLD) + 10);
    schedule.run(&mut world);
    check(&world, id, false);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "counts three billion ticks")]
fn a_space_that_slept_past_the_age_of_ticks_looks_at_everything() {
    let (mut world, mut schedule, id) = start();
    world.get_mut::<WorldPosition>(id).unwrap().x = -3;
    pass(&mut world, u64::from(MAX_CHANGE_AGE) + 10);
    schedule.run(&mut world);
    check(&world, id, true);
}

#[test]
#[cfg_attr(debug_assertions, ignore = "counts five billion ticks")]
fn a_space_that_slept_through_a_full_turn_of_ticks_looks_at_everything() {
    let (mut world, mut schedule, id) = start();
    world.get_mut::<WorldPosition>(id).unwrap().x = -4;
    // The schedule belongs to nobody, so nothing ages its system: by its own tick, a moment passed.
    pass(&mut world, u64::from(u32::MAX) + 10);
    schedule.run(&mut world);
    check(&world, id, true);
}
