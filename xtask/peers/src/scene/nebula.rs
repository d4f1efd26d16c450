//! The walkers in a world of Nebula's.

use nebula_ecs::entity::Entity;
use nebula_ecs::world::World;
use nebula_math::WorldPosition;
use nebula_multiplayer::replication::Replicate;

use super::{Motion, home, stride};

/// Spawns so many replicated entities at their homes.
pub fn spawn(world: &mut World, entities: usize) -> Vec<Entity> {
    (0..entities)
        .map(|n| {
            let [x, y, z] = home(n).map(i128::from);
            world.spawn((Replicate, WorldPosition::new(x, y, z))).id()
        })
        .collect()
}

/// Moves them all once.
pub fn walk(world: &mut World, entities: &[Entity], motion: Motion, tick: u64) {
    for (n, entity) in entities.iter().enumerate() {
        let (x, z) = stride(motion, n, tick);
        if let Some(mut at) = world.get_mut::<WorldPosition>(*entity) {
            at.x += i128::from(x);
            at.z += i128::from(z);
        }
    }
}

/// Returns all positions of a world, sorted. Those that are far beyond any home come as 0.
pub fn seen(world: &mut World) -> Vec<[i64; 3]> {
    let mut rows = world.query::<&WorldPosition>();
    let axis = |axis: i128| i64::try_from(axis).unwrap_or(0);
    let mut seen: Vec<[i64; 3]> = rows
        .iter(world)
        .map(|at| [axis(at.x), axis(at.y), axis(at.z)])
        .collect();
    seen.sort_unstable();
    seen
}
