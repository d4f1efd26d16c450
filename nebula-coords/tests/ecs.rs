//! Entities of a world in a space: who comes in, who leaves, and what a tick costs.
#![cfg(feature = "bevy_ecs")]

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use nebula_coords::{
    Nearby, NebulaSystems, SpatialQuery, SpatialSpace, SpatialWorld, spatial_systems,
};
use nebula_math::WorldPosition;

#[derive(Component)]
struct Player;

#[derive(Component)]
#[component(storage = "SparseSet")]
struct Burning;

fn at(x: i128) -> WorldPosition {
    WorldPosition::new(x, -x, 0)
}

fn schedule() -> Schedule {
    let mut schedule = Schedule::default();
    schedule.add_systems(spatial_systems::<()>());
    schedule
}

/// Asserts that the space holds exactly these entities, where the world has them.
#[track_caller]
fn check<F: bevy_ecs::query::ArchetypeFilter + 'static>(world: &World, expected: &[Entity]) {
    let index = world.resource::<SpatialSpace<F>>().index();
    index.validate().unwrap();
    let mut found: Vec<_> = index.iter().collect();
    found.sort_unstable();
    let mut expected: Vec<_> = expected
        .iter()
        .map(|id| (*id, *world.get::<WorldPosition>(*id).unwrap()))
        .collect();
    expected.sort_unstable();
    assert_eq!(found, expected);
}

#[test]
fn spawned_entities_are_found_on_the_next_run() {
    let mut world = World::new();
    let mut schedule = schedule();
    schedule.run(&mut world);
    let a = world.spawn(at(i128::MAX)).id();
    let b = world.spawn(at(-1)).id();
    schedule.run(&mut world);
    check::<()>(&world, &[a, b]);
}

#[test]
fn entities_that_were_there_first_are_taken_in() {
    let mut world = World::new();
    let a = world.spawn(at(-1)).id();
    let mut schedule = schedule();
    schedule.run(&mut world);
    check::<()>(&world, &[a]);
}

#[test]
fn only_what_moved_is_updated() {
    let mut world = World::new();
    let mut schedule = schedule();
    let ids: Vec<_> = world.spawn_batch((0..100).map(at)).collect();
    schedule.run(&mut world);
    let mark = world.resource_mut::<SpatialSpace>().mark();
    world.get_mut::<WorldPosition>(ids[7]).unwrap().x = -7;
    schedule.run(&mut world);
    let space = world.resource::<SpatialSpace>();
    assert_eq!(space.report().moved, 1);
    assert_eq!(space.report().entered + space.report().exited, 0);
    let changes = space
        .index()
        .changes_since(mark)
        .expect("the mark is recent");
    assert_eq!(changes.ids(), [ids[7]]);
    check::<()>(&world, &ids);
}

#[test]
fn writing_an_equal_position_is_no_move() {
    let mut world = World::new();
    let mut schedule = schedule();
    let a = world.spawn(at(-1)).id();
    schedule.run(&mut world);
    let mark = world.resource_mut::<SpatialSpace>().mark();
    world.get_mut::<WorldPosition>(a).unwrap().set_changed();
    world.entity_mut(a).insert(at(-1));
    schedule.run(&mut world);
    let space = world.resource::<SpatialSpace>();
    assert_eq!((space.report().scanned, space.report().moved), (1, 0));
    let changes = space.index().changes_since(mark);
    assert!(changes.expect("the mark is recent").is_empty());
}

#[test]
fn idle_ticks_look_at_no_entity_and_leave_the_resource_unchanged() {
    #[derive(Resource, Default)]
    struct Changed(u32);
    fn note(space: Res<SpatialSpace>, mut changed: ResMut<Changed>) {
        changed.0 += u32::from(space.is_changed());
    }
    let mut world = World::new();
    world.init_resource::<Changed>();
    world.spawn_batch((0..10_000).map(at));
    let mut schedule = schedule();
    schedule.add_systems(note.after(NebulaSystems::Index));
    schedule.run(&mut world);
    assert_eq!(world.resource::<Changed>().0, 1);
    for _ in 0..10 {
        schedule.run(&mut world);
        assert_eq!(world.resource::<SpatialSpace>().report().scanned, 0);
    }
    assert_eq!(world.resource::<Changed>().0, 1);
}

#[test]
fn a_write_scans_its_own_table_only() {
    let mut world = World::new();
    world.spawn_batch((0..10_000).map(at));
    let hero = world.spawn((at(-5), Player)).id();
    let mut schedule = schedule();
    schedule.run(&mut world);
    world.get_mut::<WorldPosition>(hero).unwrap().x = 1;
    schedule.run(&mut world);
    assert_eq!(world.resource::<SpatialSpace>().report().scanned, 1);
}

#[test]
fn despawned_entities_leave() {
    let mut world = World::new();
    let mut schedule = schedule();
    let [a, b] = [1, 2].map(|x| world.spawn(at(x)).id());
    schedule.run(&mut world);
    world.despawn(a);
    schedule.run(&mut world);
    check::<()>(&world, &[b]);
    let report = world.resource::<SpatialSpace>().report();
    assert_eq!((report.exited, report.resynced), (1, false));
}

#[test]
fn entities_that_lose_their_position_leave_and_come_back() {
    let mut world = World::new();
    let mut schedule = schedule();
    let a = world.spawn(at(-3)).id();
    schedule.run(&mut world);
    world.entity_mut(a).remove::<WorldPosition>();
    schedule.run(&mut world);
    check::<()>(&world, &[]);
    world.entity_mut(a).insert(at(-4));
    schedule.run(&mut world);
    check::<()>(&world, &[a]);
}

#[test]
fn disabled_entities_leave_and_return_to_where_they_are_by_then() {
    let mut world = World::new();
    let mut schedule = schedule();
    let [a, b] = [1, 2].map(|x| world.spawn(at(x)).id());
    schedule.run(&mut world);
    world.entity_mut(a).insert(Disabled);
    schedule.run(&mut world);
    check::<()>(&world, &[b]);
    world.get_mut::<WorldPosition>(a).unwrap().z = i128::MIN;
    schedule.run(&mut world);
    schedule.run(&mut world);
    check::<()>(&world, &[b]);
    world.entity_mut(a).remove::<Disabled>();
    schedule.run(&mut world);
    check::<()>(&world, &[a, b]);
}

#[test]
fn custom_disabling_components_count_too() {
    #[derive(Component)]
    struct Prefab;
    let mut world = World::new();
    world.install_space::<()>(); // before the registration, as an early plugin would
    world.register_disabling_component::<Prefab>();
    let mut schedule = schedule();
    let [a, b] = [1, 2].map(|x| world.spawn(at(x)).id());
    schedule.run(&mut world);
    world.entity_mut(a).insert(Prefab);
    schedule.run(&mut world);
    check::<()>(&world, &[b]);
    world.entity_mut(a).remove::<Prefab>();
    world.entity_mut(b).insert(Prefab);
    schedule.run(&mut world);
    check::<()>(&world, &[a]);
    assert!(!world.resource::<SpatialSpace>().report().resynced);
}

#[test]
fn insert_remove_insert_in_one_frame_ends_inside() {
    let mut world = World::new();
    let mut schedule = schedule();
    let a = world.spawn(at(1)).id();
    schedule.run(&mut world);
    let mut entity = world.entity_mut(a);
    entity.remove::<WorldPosition>();
    entity.insert(at(2));
    entity.insert(Disabled);
    entity.remove::<Disabled>();
    entity.remove::<WorldPosition>();
    entity.insert(at(-3));
    schedule.run(&mut world);
    check::<()>(&world, &[a]);
}

#[test]
fn remove_insert_remove_in_one_frame_ends_outside() {
    let mut world = World::new();
    let mut schedule = schedule();
    let a = world.spawn(at(1)).id();
    schedule.run(&mut world);
    let mut entity = world.entity_mut(a);
    entity.remove::<WorldPosition>();
    entity.insert(at(2));
    entity.remove::<WorldPosition>();
    schedule.run(&mut world);
    check::<()>(&world, &[]);
}

#[test]
fn an_index_reused_in_the_same_frame_belongs_to_the_new_entity() {
    let mut world = World::new();
    let mut schedule = schedule();
    let old: Vec<_> = world.spawn_batch((0..500).map(at)).collect();
    schedule.run(&mut world);
    // Several generations come and go between two runs: bevy_ecs hands indexes out again once 128 of them
    // were freed.
    let mut alive = old.clone();
    for round in 1..4 {
        alive.drain(..).for_each(|id| assert!(world.despawn(id)));
        alive.extend(world.spawn_batch((0..500).map(|x| at(-x * round))));
    }
    let taken: Vec<_> = alive.iter().map(|id| id.index()).collect();
    let reused = old.iter().filter(|id| taken.contains(&id.index())).count();
    assert!(
        reused > 100,
        "the test needs reused indexes, there are {reused}"
    );
    schedule.run(&mut world);
    check::<()>(&world, &alive);
    let report = world.resource::<SpatialSpace>().report();
    assert_eq!(
        (report.exited, report.entered, report.resynced),
        (500, 500, false)
    );
}

#[test]
fn frames_without_a_run_lose_nothing() {
    let mut world = World::new();
    let mut schedule = schedule();
    let ids: Vec<_> = world.spawn_batch((0..50).map(at)).collect();
    schedule.run(&mut world);
    let mut alive = ids.clone();
    for frame in 0..10 {
        world.despawn(alive.pop().unwrap());
        alive.insert(0, world.spawn(at(-frame)).id());
        world.get_mut::<WorldPosition>(ids[3]).unwrap().y += 1;
        world.clear_trackers(); // as an app does at the end of each frame
    }
    schedule.run(&mut world);
    check::<()>(&world, &alive);
    assert!(!world.resource::<SpatialSpace>().report().resynced);
}

#[test]
fn marked_entities_have_a_space_of_their_own() {
    let mut world = World::new();
    let mut schedule = schedule();
    schedule.add_systems((
        spatial_systems::<With<Player>>(),
        spatial_systems::<Without<Player>>(),
    ));
    let hero = world.spawn((at(1), Player)).id();
    let rock = world.spawn(at(1)).id();
    schedule.run(&mut world);
    check::<()>(&world, &[hero, rock]);
    check::<With<Player>>(&world, &[hero]);
    check::<Without<Player>>(&world, &[rock]);

    // Neither position is written: the markers alone change sides.
    world.entity_mut(hero).remove::<Player>();
    world.entity_mut(rock).insert(Player);
    schedule.run(&mut world);
    check::<()>(&world, &[hero, rock]);
    check::<With<Player>>(&world, &[rock]);
    check::<Without<Player>>(&world, &[hero]);
    let report = world.resource::<SpatialSpace<With<Player>>>().report();
    assert_eq!(
        (report.entered, report.exited, report.resynced),
        (1, 1, false)
    );
}

#[test]
fn filters_combine_and_sparse_markers_work() {
    type Hot = (With<Player>, Or<(With<Burning>, Without<Name>)>);
    let mut world = World::new();
    let mut schedule = Schedule::default();
    schedule.add_systems((spatial_systems::<Hot>(), spatial_systems::<With<Burning>>()));
    let a = world.spawn((at(1), Player, Burning, Name::new("a"))).id();
    let b = world.spawn((at(2), Player)).id();
    let c = world.spawn((at(3), Player, Name::new("c"))).id();
    let d = world.spawn((at(4), Burning)).id();
    schedule.run(&mut world);
    check::<Hot>(&world, &[a, b]);
    check::<With<Burning>>(&world, &[a, d]);
    world.entity_mut(a).remove::<Burning>();
    world.entity_mut(c).remove::<Name>();
    world.get_mut::<WorldPosition>(d).unwrap().x = -9;
    schedule.run(&mut world);
    check::<Hot>(&world, &[b, c]);
    check::<With<Burning>>(&world, &[d]);
}

#[test]
fn a_space_of_the_disabled_is_possible() {
    let mut world = World::new();
    world.spawn(at(1));
    let ghost = world.spawn((at(2), Disabled)).id();
    world.sync_space::<With<Disabled>>();
    check::<With<Disabled>>(&world, &[ghost]);
}

#[test]
fn clearing_the_index_or_losing_observers_heals_by_itself() {
    let mut world = World::new();
    let mut schedule = schedule();
    let mut ids: Vec<_> = world.spawn_batch((0..20).map(at)).collect();
    schedule.run(&mut world);
    world.resource_mut::<SpatialSpace>().clear();
    schedule.run(&mut world);
    check::<()>(&world, &ids);

    let mut observers = world.query_filtered::<Entity, With<Observer>>();
    for observer in observers.iter(&world).collect::<Vec<_>>() {
        world.despawn(observer);
    }
    world.despawn(ids.pop().unwrap());
    schedule.run(&mut world);
    check::<()>(&world, &ids);
    assert!(world.resource::<SpatialSpace>().report().resynced);

    world.install_space::<()>();
    schedule.run(&mut world);
    world.despawn(ids.pop().unwrap());
    schedule.run(&mut world);
    check::<()>(&world, &ids);
    assert!(!world.resource::<SpatialSpace>().report().resynced);
}

#[test]
fn despawn_space_empties_world_and_index() {
    let mut world = World::new();
    let keep = world.spawn(at(1)).id();
    world.spawn_batch((0..20).map(|x| (at(x), Player)));
    world.sync_space::<()>();
    world.sync_space::<With<Player>>();
    assert_eq!(world.despawn_space::<With<Player>>(), 20);
    check::<With<Player>>(&world, &[]);
    world.sync_space::<()>();
    check::<()>(&world, &[keep]);
    assert_eq!(world.despawn_space::<()>(), 1);
    check::<()>(&world, &[]);
}

#[test]
fn entities_near_gives_whole_entities_and_skips_the_dead() {
    let mut world = World::new();
    assert!(world.entities_near::<()>(&at(0), i128::MAX).is_empty());
    let a = world.spawn((at(-1), Player)).id();
    let b = world.spawn(at(1)).id();
    world.sync_space::<()>();
    world.despawn(b);
    let near = world.entities_near::<()>(&at(0), 2);
    assert_eq!(near.iter().map(EntityRef::id).collect::<Vec<_>>(), [a]);
    assert!(near[0].contains::<Player>());
}

#[test]
fn nearby_falls_back_when_there_is_no_space() {
    #[derive(Resource, Default, PartialEq, Debug)]
    struct Seen(Vec<(&'static str, usize)>);
    fn vision(nearby: Option<Nearby>, all: Query<&WorldPosition>, mut seen: ResMut<Seen>) {
        seen.0.push(match nearby {
            Some(nearby) => (
                "index",
                nearby.count(&nebula_coords::Region::ball(at(0), 10)),
            ),
            None => (
                "scan",
                all.iter().filter(|p| p.is_within(&at(0), 10)).count(),
            ),
        });
    }
    let mut world = World::new();
    world.init_resource::<Seen>();
    world.spawn_batch((-20..20).map(at));
    let mut schedule = Schedule::default();
    schedule.add_systems(vision);
    schedule.run(&mut world);
    world.sync_space::<()>();
    schedule.run(&mut world);
    let seen = &world.resource::<Seen>().0;
    assert_eq!(seen[0].0, "scan");
    assert_eq!(seen[1].0, "index");
    assert_eq!(seen[0].1, seen[1].1);
}

#[test]
fn readers_after_the_phase_see_this_ticks_moves() {
    #[derive(Resource, Default)]
    struct Found(Vec<Entity>);
    fn step(mut all: Query<&mut WorldPosition>) {
        all.iter_mut().for_each(|mut at| at.x += 1_000);
    }
    fn read(nearby: Nearby, mut found: ResMut<Found>) {
        found.0 = nearby.query_at(&WorldPosition::new(1_000, 0, 0));
    }
    let mut world = World::new();
    world.init_resource::<Found>();
    let a = world.spawn(WorldPosition::ORIGIN).id();
    let mut schedule = schedule();
    schedule.add_systems((
        step.before(NebulaSystems::Index),
        read.after(NebulaSystems::Index),
    ));
    schedule.run(&mut world);
    assert_eq!(world.resource::<Found>().0, [a]);
}

#[test]
fn a_removed_resource_stops_the_maintenance_quietly() {
    let mut world = World::new();
    let mut schedule = schedule();
    let a = world.spawn(at(1)).id();
    schedule.run(&mut world);
    world.remove_resource::<SpatialSpace>();
    schedule.run(&mut world);
    let b = world.spawn(at(2)).id();
    world.init_resource::<SpatialSpace>();
    schedule.run(&mut world);
    check::<()>(&world, &[a, b]);
}
