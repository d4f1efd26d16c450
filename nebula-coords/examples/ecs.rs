//! A valley of wolves, deer and villagers: six systems that each asked every entity, and now ask
//! the index.
//!
//! `cargo run --release -p nebula-coords --features bevy_ecs --example ecs`

#![expect(clippy::print_stdout, reason = "an example shows its results")]

use std::time::{Duration, Instant};

use bevy_ecs::prelude::*;
use nebula_coords::{
    Nearby, NebulaSystems, Region, SpatialQuery, SpatialSpace, SpatialWorld, spatial_systems,
};
use nebula_math::WorldPosition;

const ANIMALS: i128 = 4_000;
/// The valley is one kilometre on each side and lies across a corner of the sector grid.
const VALLEY_MM: i128 = 1_000_000;

#[derive(Component)]
struct Wolf;
#[derive(Component)]
struct Deer {
    alarmed: bool,
}
#[derive(Component, Default)]
struct Villager {
    company: usize,
}
#[derive(Component)]
struct Health(u32);

/// What the systems saw, for the page this prints.
#[derive(Resource, Default)]
struct Diary {
    seen: usize,
    bites: usize,
    hunted: usize,
    fell: usize,
}

fn main() {
    let mut world = World::new();
    world.init_resource::<Diary>();
    settle(&mut world);

    // The phase comes first, whatever else the schedule holds; readers then run side by side.
    let mut schedule = Schedule::default();
    schedule.add_systems((
        wander.before(NebulaSystems::Index),
        spatial_systems::<()>(),
        spatial_systems::<With<Wolf>>(),
        (
            vision,
            animal_brain,
            social_gradient,
            hunting,
            predator_attack,
            bury,
        )
            .chain()
            .after(NebulaSystems::Index),
    ));
    println!("tick  in the index  moved  wolves see  bites  hunted  fallen");
    for tick in 0..8 {
        schedule.run(&mut world);
        let report = world.resource::<SpatialSpace>().report();
        let diary = world.resource::<Diary>();
        println!(
            "{tick:>4}  {:>12}  {:>5}  {:>10}  {:>5}  {:>6}  {:>6}",
            world.resource::<SpatialSpace>().index().len(),
            report.moved,
            diary.seen,
            diary.bites,
            diary.hunted,
            diary.fell
        );
    }
    assert_index_equals_world(&mut world);
    compare_with_scanning(&mut world);
    println!();
    what_a_tick_costs();
}

/// Scatters the animals by a fixed rule, most of them at negative coordinates.
fn settle(world: &mut World) {
    let mut state = 7_u64;
    let mut draw = |span: i128| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        i128::from(state >> 33) % span
    };
    for n in 0..ANIMALS {
        let at = WorldPosition::new(
            draw(VALLEY_MM) - VALLEY_MM * 3 / 4,
            draw(VALLEY_MM) - VALLEY_MM / 2,
            draw(3_000),
        );
        match n % 20 {
            0 => world.spawn((at, Wolf, Health(90))),
            1..=4 => world.spawn((at, Villager::default(), Health(60))),
            _ => world.spawn((at, Deer { alarmed: false }, Health(30))),
        };
    }
}

/// A tenth of the animals take a step; the others cost the index nothing.
fn wander(mut all: Query<(Entity, &mut WorldPosition)>, mut tick: Local<u32>) {
    *tick += 1;
    for (id, mut at) in &mut all {
        if id.index_u32() % 10 == *tick % 10 {
            at.x += i128::from(id.index_u32() % 7) * 1_000 - 3_000;
            at.y -= 1_000;
        }
    }
}

/// Uses the index if there is one, and asks everyone if there is none.
fn vision(
    nearby: Option<Nearby>,
    wolves: Query<&WorldPosition, With<Wolf>>,
    everyone: Query<&WorldPosition>,
    mut diary: ResMut<Diary>,
) {
    let sight_mm = 15_000;
    diary.seen = wolves
        .iter()
        .map(|eye| match &nearby {
            Some(nearby) => nearby.count(&Region::ball(*eye, sight_mm)),
            None => everyone
                .iter()
                .filter(|at| eye.is_within(at, sight_mm))
                .count(),
        })
        .sum();
}

/// Deer look out for wolves alone: a space of its own holds nothing else.
fn animal_brain(wolves: Nearby<With<Wolf>>, mut deer: Query<(&WorldPosition, &mut Deer)>) {
    for (at, mut deer) in &mut deer {
        let alarmed = wolves.count(&Region::ball(*at, 20_000)) > 0;
        if deer.alarmed != alarmed {
            deer.alarmed = alarmed;
        }
    }
}

/// Villagers count company, with a working array that is allocated once.
fn social_gradient(
    nearby: Nearby,
    people: Query<&WorldPosition, With<Villager>>,
    mut villagers: Query<(Entity, &WorldPosition, &mut Villager)>,
    mut working: Local<Vec<Entity>>,
) {
    for (me, at, mut villager) in &mut villagers {
        nearby.collect(&Region::ball(*at, 30_000), &mut working);
        let others = working.iter().filter(|id| **id != me);
        villager.company = others.filter(|id| people.contains(**id)).count();
    }
}

/// A villager with company hunts the nearest deer that stands within 25 m.
fn hunting(
    nearby: Nearby,
    villagers: Query<(&WorldPosition, &Villager)>,
    mut deer: Query<&mut Health, With<Deer>>,
    mut diary: ResMut<Diary>,
    mut nearest: Local<Vec<Entity>>,
) {
    for (at, villager) in &villagers {
        if villager.company < 2 {
            continue;
        }
        nearby.nearest(at, 8, 25_000, &mut nearest);
        if let Some(target) = nearest.iter().find(|id| deer.contains(**id)) {
            let mut health = deer.get_mut(*target).expect("just found");
            health.0 = health.0.saturating_sub(5);
            diary.hunted += 1;
        }
    }
}

/// Wolves bite whatever deer is within five metres, without allocating.
fn predator_attack(
    nearby: Nearby,
    wolves: Query<&WorldPosition, With<Wolf>>,
    mut prey: Query<&mut Health, With<Deer>>,
    mut diary: ResMut<Diary>,
) {
    for at in &wolves {
        nearby.for_each_mut(&mut prey, &Region::ball(*at, 5_000), |mut health| {
            health.0 = health.0.saturating_sub(10);
            diary.bites += 1;
        });
    }
}

/// The dead leave the index by themselves.
fn bury(
    mut commands: Commands,
    all: Query<(Entity, &Health), Changed<Health>>,
    mut diary: ResMut<Diary>,
) {
    for (id, health) in &all {
        if health.0 == 0 {
            commands.entity(id).despawn();
            diary.fell += 1;
        }
    }
}

fn assert_index_equals_world(world: &mut World) {
    world.sync_space::<()>();
    let mut all = world.query::<(Entity, &WorldPosition)>();
    let index = world.resource::<SpatialSpace>().index();
    assert!(all.iter(world).all(|(id, at)| index.get(id) == Some(*at)));
    assert_eq!(all.iter(world).count(), index.len());
}

/// The seed's claim, measured: 15 m around each wolf, by scanning and by the index.
fn compare_with_scanning(world: &mut World) {
    let mut scan = Schedule::default();
    scan.add_systems(vision);
    let mut least = |world: &mut World| (0..20).map(|_| time(|| scan.run(world))).min();
    let by_index = least(world).expect("twenty runs");
    let space = world.remove_resource::<SpatialSpace>();
    let by_scan = least(world).expect("twenty runs");
    world.insert_resource(space.expect("it was there"));
    println!();
    println!(
        "200 wolves look 15 m around: {by_scan:.1?} by asking everyone, {by_index:.1?} by the index ({:.0} times less)",
        by_scan.as_secs_f64() / by_index.as_secs_f64()
    );
}

/// A tick costs what changed, not what there is.
fn what_a_tick_costs() {
    let count = 1_000_000;
    let mut world = World::new();
    let mut schedule = Schedule::default();
    schedule.add_systems(spatial_systems::<()>());
    schedule.run(&mut world);
    let mut idle = || (0..1_000).map(|_| time(|| schedule.run(&mut world))).min();
    let empty = idle().expect("many runs");
    world.spawn_batch(
        (0..count).map(|n| {
            WorldPosition::new(n * 7_919 % (1 << 30), n * 104_729 % (1 << 30), -n % 1_000)
        }),
    );
    let fill = time(|| schedule.run(&mut world));
    let mut idle = || (0..1_000).map(|_| time(|| schedule.run(&mut world))).min();
    let full = idle().expect("many runs");
    println!("the schedule alone, in an empty world: {empty:.1?}");
    println!("a tick in which none of {count} entities moves: {full:.1?}");
    println!("the tick that takes them all in: {fill:.1?}");
    for share in [1_000, 100, 10, 1] {
        let mut all = world.query::<(Entity, &mut WorldPosition)>();
        let mut moved = 0;
        for (id, mut at) in all.iter_mut(&mut world) {
            if id.index_u32() % share == 0 {
                at.x += 700;
                moved += 1;
            }
        }
        let took = time(|| schedule.run(&mut world));
        println!("a tick in which {moved} move: {took:.1?}");
    }
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}
