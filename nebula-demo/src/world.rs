//! What moves and what is counted: entities and a player on the ground of a far-away planet.

use std::time::{Duration, Instant};

use nebula_coords::{Region, SpatialIndex, SpatialQuery};
use nebula_math::WorldPosition;

use crate::rng::Rng;

mod ground;
mod walker;

pub use ground::{Ground, PLANET_CENTER, PLANET_RADIUS_MM};
pub use walker::{SPREAD_MM, Walker};

/// How many ticks make one second of the world's time.
pub const TICKS_PER_SECOND: u32 = 20;
/// The most entities a world takes.
pub const ENTITIES_MAX: u32 = 200_000;

/// An index that the world keeps up to date and asks: the question part and the change part.
pub trait NearIndex: SpatialQuery<Id = u32> {
    /// Stores entities that are new to the index.
    fn insert_all(&mut self, new: &[(u32, WorldPosition)]);
    /// Moves entities that the index knows.
    fn move_all(&mut self, moves: &[(u32, WorldPosition)]);
    /// Forgets one entity.
    fn forget(&mut self, id: u32);
}

impl NearIndex for SpatialIndex<u32> {
    fn insert_all(&mut self, new: &[(u32, WorldPosition)]) {
        for (id, at) in new {
            self.insert(*id, *at);
        }
    }

    fn move_all(&mut self, moves: &[(u32, WorldPosition)]) {
        self.update_batch(moves);
    }

    fn forget(&mut self, id: u32) {
        self.remove(id);
    }
}

/// What one count found, and what it cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Reading {
    /// The tick that was counted.
    pub tick: u64,
    /// How many entities are near the player, according to the index.
    pub index: usize,
    /// The same, by asking every entity.
    pub brute_force: usize,
    /// Whether both named the same entities, not only equally many.
    pub identical: bool,
    /// What the index took. Real time: never part of `--ticks` output.
    pub index_time: Duration,
    /// What asking every entity took.
    pub brute_force_time: Duration,
}

/// An entity that was pointed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Its id.
    pub id: u32,
    /// Where it is.
    pub at: WorldPosition,
    /// How far from the player, rounded down to a millimetre.
    pub distance_mm: u128,
}

/// A player among walking entities, counted by an index and by asking everyone.
///
/// All movement is integer arithmetic from a seed: the same seed and steps give the same world on
/// every machine.
///
/// ```
/// use nebula_demo::World;
///
/// let mut world = World::new(7, 1_000, 100_000);
/// world.step();
/// let reading = world.measure();
/// assert!(reading.identical && reading.index > 0);
/// ```
pub struct World {
    seed: u64,
    tick: u64,
    player: Walker,
    walkers: Vec<Walker>,
    /// Where the walkers are, by id: derived from them once per step.
    places: Vec<WorldPosition>,
    radius_mm: i128,
    index: Box<dyn NearIndex>,
    moves: Vec<(u32, WorldPosition)>,
    near: Vec<u32>,
    asked: Vec<u32>,
}

impl core::fmt::Debug for World {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("World")
            .field("seed", &self.seed)
            .field("tick", &self.tick)
            .field("entities", &self.walkers.len())
            .field("radius_mm", &self.radius_mm)
            .finish_non_exhaustive()
    }
}

impl World {
    /// Makes a world at tick 0 with the default index. More than [`ENTITIES_MAX`] entities are not made.
    #[must_use]
    pub fn new(seed: u64, entities: u32, radius_mm: i128) -> Self {
        Self::with_index(seed, entities, radius_mm, Box::new(SpatialIndex::new()))
    }

    /// Makes a world around an empty index of the caller's choice.
    #[must_use]
    pub fn with_index(
        seed: u64,
        entities: u32,
        radius_mm: i128,
        index: Box<dyn NearIndex>,
    ) -> Self {
        let mut world = Self {
            seed,
            tick: 0,
            player: Walker::player(Rng::new(seed)),
            walkers: Vec::new(),
            places: Vec::new(),
            radius_mm,
            index,
            moves: Vec::new(),
            near: Vec::new(),
            asked: Vec::new(),
        };
        world.set_entities(entities);
        world
    }

    /// Advances the world by one tick and keeps the index up to date.
    pub fn step(&mut self) {
        self.tick += 1;
        self.player.step();
        self.moves.clear();
        let walkers = self.walkers.iter_mut().zip(&mut self.places);
        for (id, (walker, place)) in (0_u32..).zip(walkers) {
            walker.step();
            *place = walker.position();
            self.moves.push((id, *place));
        }
        self.index.move_all(&self.moves);
    }

    /// Counts who is near the player, with the index and by asking everyone.
    pub fn measure(&mut self) -> Reading {
        let region = Region::ball(self.player.position(), self.radius_mm);
        let Self {
            index,
            near,
            asked,
            places,
            ..
        } = self;
        let index_time = time_warm(|| index.collect(&region, near));
        let brute_force_time = time_warm(|| {
            asked.clear();
            let everyone = (0_u32..).zip(places.iter());
            asked.extend(
                everyone
                    .filter(|(_, at)| region.contains(at))
                    .map(|(id, _)| id),
            );
        });
        self.near.sort_unstable();
        Reading {
            tick: self.tick,
            index: self.near.len(),
            brute_force: self.asked.len(),
            identical: self.near == self.asked,
            index_time,
            brute_force_time,
        }
    }

    /// Changes how many entities there are. Those that stay are not disturbed.
    pub fn set_entities(&mut self, entities: u32) {
        let entities = entities.min(ENTITIES_MAX);
        let known = u32::try_from(self.walkers.len()).expect("at most ENTITIES_MAX walkers");
        for id in entities..known {
            self.index.forget(id);
        }
        self.walkers
            .truncate(usize::try_from(entities).expect("a u32 fits usize"));
        self.places.truncate(self.walkers.len());
        self.moves.clear();
        for id in known..entities {
            let walker = Walker::entity(Rng::for_member(self.seed, id));
            self.moves.push((id, walker.position()));
            self.places.push(walker.position());
            self.walkers.push(walker);
        }
        self.index.insert_all(&self.moves);
    }

    /// Changes how far the player looks; a negative radius finds nobody.
    pub fn set_radius_mm(&mut self, radius_mm: i128) {
        self.radius_mm = radius_mm;
    }

    /// Returns how far the player looks, in millimetres.
    #[must_use]
    pub const fn radius_mm(&self) -> i128 {
        self.radius_mm
    }

    /// Returns the current tick.
    #[must_use]
    pub const fn tick(&self) -> u64 {
        self.tick
    }

    /// Returns how many entities there are.
    #[must_use]
    pub fn entities(&self) -> usize {
        self.walkers.len()
    }

    /// Returns where the entities are; the position in the slice is the id.
    #[must_use]
    pub fn places(&self) -> &[WorldPosition] {
        &self.places
    }

    /// Returns where the player is.
    #[must_use]
    pub fn player(&self) -> WorldPosition {
        self.player.position()
    }

    /// Returns the ids that the last [`measure`](Self::measure) found by the index, ascending.
    #[must_use]
    pub fn near(&self) -> &[u32] {
        &self.near
    }

    /// Returns the entity nearest to a point, if one is within the limit, as the index says.
    #[must_use]
    pub fn entity_at(&self, at: &WorldPosition, limit_mm: i128) -> Option<Seen> {
        let mut found = Vec::new();
        self.index.nearest(at, 1, limit_mm, &mut found);
        let id = *found.first()?;
        let at = self.index.position(id)?;
        Some(Seen {
            id,
            at,
            distance_mm: self
                .player()
                .distance_squared(&at)
                .to_u128()
                .map_or(u128::MAX, u128::isqrt),
        })
    }

    /// Makes the player walk east and north by these signs until told otherwise; `(0, 0)` lets it
    /// wander again.
    pub fn steer(&mut self, east: i64, north: i64) {
        self.player.steer(east, north);
    }
}

/// Runs a question twice and returns the time of the second run: the first pays for memory that
/// everything else between two counts has pushed out of the caches.
fn time_warm(mut question: impl FnMut()) -> Duration {
    question();
    let start = Instant::now();
    question();
    start.elapsed()
}
