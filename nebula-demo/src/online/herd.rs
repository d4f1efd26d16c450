//! The creatures of a served world.

use bevy_ecs::entity::Entity;
use bevy_ecs::world::World;
use nebula_math::WorldPosition;
use nebula_multiplayer::replication::Replicate;

use super::Kind;
use crate::rng::Rng;

/// How many creatures walk about.
const CREATURES: u32 = 500;

/// The world's middle: the far corner of a sector, 2^100 mm from the origin. Players start here.
pub const MIDDLE: WorldPosition = WorldPosition::new(-(1 << 100), (1 << 100) - 1, 0);

/// Half the side of the square that everyone walks in: 1.5 km, of which a player sees a part.
pub(super) const HALF: i64 = 1_500_000;

/// Returns where the creatures of a server are at its start: the same in every run.
///
/// ```
/// use nebula_demo::online::{MIDDLE, RADIUS_MM, creatures};
///
/// let near = creatures().filter(|at| at.is_within(&MIDDLE, RADIUS_MM)).count();
/// assert!((10..100).contains(&near));
/// ```
pub fn creatures() -> impl Iterator<Item = WorldPosition> {
    starts().map(|creature| place(creature.at))
}

/// A creature, relative to the middle, and its step per tick in millimetres.
#[derive(Clone, Copy, Debug)]
struct Creature {
    at: [i64; 2],
    step: [i64; 2],
}

fn starts() -> impl Iterator<Item = Creature> {
    let mut rng = Rng::new(1);
    (0..CREATURES).map(move |_| {
        let mut pair = |most: i64| [rng.between(-most, most), rng.between(-most, most)];
        Creature {
            at: pair(HALF),
            // Up to 20 m a second, at 20 ticks a second.
            step: pair(1_000),
        }
    })
}

/// The creatures, each with its entity.
pub(super) struct Herd(Vec<(Entity, Creature)>);

impl Herd {
    pub(super) fn new(world: &mut World) -> Self {
        let creatures = (0..).zip(starts()).map(|(number, creature)| {
            let kind = Kind::Creature(number);
            let entity = world.spawn((Replicate, place(creature.at), kind)).id();
            (entity, creature)
        });
        Self(creatures.collect())
    }

    /// Moves everyone by a step; who reaches the edge of the square turns back.
    pub(super) fn walk(&mut self, world: &mut World) {
        for (entity, creature) in &mut self.0 {
            for (at, step) in creature.at.iter_mut().zip(&mut creature.step) {
                *at += *step;
                if at.abs() > HALF {
                    *step = -*step;
                    *at += 2 * *step;
                }
            }
            if let Some(mut position) = world.get_mut::<WorldPosition>(*entity) {
                *position = place(creature.at);
            }
        }
    }

    /// Returns where everyone is, by number.
    pub(super) fn places(&self) -> impl Iterator<Item = WorldPosition> {
        self.0.iter().map(|(_, creature)| place(creature.at))
    }
}

/// Returns the position of a spot that is given relative to the middle.
pub(super) fn place([x, y]: [i64; 2]) -> WorldPosition {
    WorldPosition::new(MIDDLE.x + i128::from(x), MIDDLE.y + i128::from(y), MIDDLE.z)
}
