//! Random lives of entities: after every run each space equals a linear index rebuilt from the world.
#![cfg(feature = "bevy_ecs")]

use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::prelude::*;
use bevy_ecs::query::ArchetypeFilter;
use bevy_ecs::schedule::{MultiThreadedExecutor, SingleThreadedExecutor};
use nebula_coords::nebula_math::WorldPosition;
use nebula_coords::{LinearIndex, Region, SpatialQuery, SpatialSpace, spatial_systems};

#[derive(Component)]
struct Player;

#[derive(Component)]
#[component(storage = "SparseSet")]
struct Burning;

/// A component that spreads the entities over more tables.
#[derive(Component)]
struct Cargo(#[expect(dead_code, reason = "gives the table a column")] u64);

type Mixed = (Without<Burning>, Or<(With<Player>, With<Cargo>)>);

/// SplitMix64: small, seeded, the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }

    fn pick<T: Copy>(&mut self, list: &[T]) -> Option<T> {
        let n = u64::try_from(list.len()).unwrap();
        (n > 0).then(|| list[usize::try_from(self.below(n)).unwrap()])
    }

    fn axis(&mut self) -> i128 {
        let near = i128::from(self.below(7)) - 3;
        match self.below(6) {
            0 => i128::MIN + 3 + near,
            1 => i128::MAX - 3 + near,
            2 => (1 << 32) + near,
            3 => -(1_i128 << self.below(126)) + near,
            _ => near,
        }
    }

    fn position(&mut self) -> WorldPosition {
        WorldPosition::new(self.axis(), self.axis(), self.axis())
    }
}

#[track_caller]
fn check<F: ArchetypeFilter + 'static>(world: &mut World, random: &mut Random, context: &str) {
    let mut truth = LinearIndex::new();
    let mut members = world.query_filtered::<(Entity, &WorldPosition), F>();
    for (entity, at) in members.iter(world) {
        truth.insert(entity, *at);
    }
    let index = world.resource::<SpatialSpace<F>>().index();
    index
        .validate()
        .unwrap_or_else(|e| panic!("{context}: {e}"));
    let mut stored: Vec<_> = index.iter().collect();
    stored.sort_unstable();
    assert_eq!(stored, truth.iter().collect::<Vec<_>>(), "{context}");

    let (center, radius) = (random.position(), random.axis());
    let region = Region::ball(center, radius);
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    index.collect(&region, &mut found);
    found.sort_unstable();
    truth.collect(&region, &mut expected);
    assert_eq!(found, expected, "{context}: {region:?}");
    index.nearest(&center, 5, i128::MAX, &mut found);
    truth.nearest(&center, 5, i128::MAX, &mut expected);
    assert_eq!(found, expected, "{context}: nearest to {center:?}");
}

/// Every entity ever made, alive or not: operations must stand the dead ones too.
fn act(world: &mut World, ids: &mut Vec<Entity>, random: &mut Random) {
    let at = random.position();
    let kind = random.below(16);
    if kind < 3 {
        ids.push(match random.below(6) {
            0 => world.spawn(at).id(),
            1 => world.spawn((at, Player)).id(),
            2 => world.spawn((at, Burning)).id(),
            3 => world.spawn((at, Player, Cargo(1))).id(),
            4 => world.spawn((at, Disabled, Player)).id(),
            _ => world.spawn(Player).id(),
        });
        return;
    }
    let Some(id) = random.pick(ids) else { return };
    let Ok(mut entity) = world.get_entity_mut(id) else {
        return;
    };
    match kind {
        3 | 4 => entity.despawn(),
        5 => drop(entity.insert(at)),
        6 => drop(entity.remove::<WorldPosition>()),
        7 => drop(entity.insert(Disabled)),
        8 => drop(entity.remove::<Disabled>()),
        9 => drop(entity.insert(Player)),
        10 => drop(entity.remove::<Player>()),
        11 => drop(entity.insert(Burning)),
        12 => drop(entity.remove::<(Burning, Cargo)>()),
        13 => drop(entity.insert(Cargo(2))),
        _ => {
            if let Some(mut position) = entity.get_mut::<WorldPosition>() {
                *position = at;
            }
        }
    }
}

/// A system that moves some of the players, as game code would.
fn drift(mut players: Query<&mut WorldPosition, With<Player>>, mut frame: Local<u8>) {
    *frame = frame.wrapping_add(1);
    if frame.is_multiple_of(3) {
        players
            .iter_mut()
            .for_each(|mut at| at.z = at.z.wrapping_add(1));
    }
}

fn run(seed: u64, several_threads: bool) {
    let mut random = Random(seed);
    let mut world = World::new();
    let mut schedule = Schedule::default();
    if several_threads {
        schedule.set_executor(MultiThreadedExecutor::new());
    } else {
        schedule.set_executor(SingleThreadedExecutor::new());
    }
    schedule.add_systems((
        drift.before(nebula_coords::NebulaSystems::Index),
        spatial_systems::<()>(),
        spatial_systems::<With<Player>>(),
        spatial_systems::<With<Burning>>(),
        spatial_systems::<Mixed>(),
    ));
    let mut ids = Vec::new();
    for frame in 0..12 {
        // Some frames pass without a run, and some runs see nothing new.
        for _ in 0..random.below(4) {
            for _ in 0..random.below(120) {
                act(&mut world, &mut ids, &mut random);
            }
            world.clear_trackers();
        }
        schedule.run(&mut world);
        let context = format!("seed {seed}, frame {frame}");
        if frame == 1 && seed % 4 < 2 {
            // From now on the index must follow by single steps and may not be replaced.
            world.resource_mut::<SpatialSpace>().mark();
            world.resource_mut::<SpatialSpace<Mixed>>().mark();
        }
        check::<()>(&mut world, &mut random, &context);
        check::<With<Player>>(&mut world, &mut random, &context);
        check::<With<Burning>>(&mut world, &mut random, &context);
        check::<Mixed>(&mut world, &mut random, &context);
        let resynced = world.resource::<SpatialSpace<Mixed>>().report().resynced;
        assert_eq!(
            resynced,
            frame == 0,
            "{context}: events tell all but the start"
        );
    }
}

/// How many lives each test runs; a long run in a release build sets thousands.
fn lives() -> u64 {
    match std::env::var("NEBULA_MODEL_SEQUENCES") {
        Ok(text) => text.parse().expect("NEBULA_MODEL_SEQUENCES is a number"),
        Err(_) => 60,
    }
}

#[test]
fn spaces_equal_the_world_on_one_thread() {
    (0..lives()).for_each(|seed| run(seed, false));
}

#[test]
fn spaces_equal_the_world_on_several_threads() {
    (1_000_000..1_000_000 + lives()).for_each(|seed| run(seed, true));
}
