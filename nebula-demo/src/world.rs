//! What moves and what is counted: entities and players, and who is near one of them.

use std::time::{Duration, Instant};

use nebula_coords::{Region, SpatialIndex, SpatialQuery};
use nebula_math::{Aabb128, WorldPosition};

use crate::Scenario;

mod cast;
mod ground;
mod particles;
mod town;
mod walker;

pub use cast::{Cast, Extra, PLAYER_SPEED_MM, Plan, Walkers};
pub use ground::{Globe, Ground, PLANET_CENTER, PLANET_RADIUS_MM};
pub use particles::Particles;
pub use town::{TILE_MM, Town};
pub use walker::{Home, Route, Walker};

/// How many ticks make one second of the world's time.
pub const TICKS_PER_SECOND: u32 = 20;
/// The most entities a world takes.
pub const ENTITIES_MAX: u32 = 200_000;
/// The most players a world takes.
pub const PLAYERS_MAX: usize = 16;

/// An index that the world keeps up to date and asks: the question part and the change part.
pub trait NearIndex: SpatialQuery<Id = u32> {
    /// Stores entities that are new to the index.
    fn insert_all(&mut self, new: &[(u32, WorldPosition)]);
    /// Moves entities that the index knows.
    fn move_all(&mut self, moves: &[(u32, WorldPosition)]);
    /// Forgets one entity.
    fn forget(&mut self, id: u32);
    /// Returns the cubes in which entities are kept, and how many each holds; none if there are none.
    fn leaves(&self) -> Vec<(Aabb128, usize)> {
        Vec::new()
    }
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

    fn leaves(&self) -> Vec<(Aabb128, usize)> {
        self.occupied_regions().collect()
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

/// Players among entities that move, counted by an index and by asking everyone.
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
    tick: u64,
    cast: Box<dyn Cast>,
    /// Whose neighbours are counted.
    watched: usize,
    radius_mm: i128,
    index: Box<dyn NearIndex>,
    /// Where the index was last told that everyone is.
    told: Vec<WorldPosition>,
    moves: Vec<(u32, WorldPosition)>,
    near: Vec<u32>,
    asked: Vec<u32>,
}

impl core::fmt::Debug for World {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("World")
            .field("tick", &self.tick)
            .field("entities", &self.entities())
            .field("radius_mm", &self.radius_mm)
            .finish_non_exhaustive()
    }
}

impl World {
    /// Makes the world of the counter scenario with so many entities, at tick 0 and with the default
    /// index. More than [`ENTITIES_MAX`] entities are not made.
    #[must_use]
    pub fn new(seed: u64, entities: u32, radius_mm: i128) -> Self {
        Self::with_index(seed, entities, radius_mm, Box::new(SpatialIndex::new()))
    }

    /// Makes the same world around an empty index of the caller's choice.
    #[must_use]
    pub fn with_index(
        seed: u64,
        entities: u32,
        radius_mm: i128,
        index: Box<dyn NearIndex>,
    ) -> Self {
        let mut world = Self::of(Scenario::Counter.cast(seed), radius_mm, index);
        world.set_entities(entities);
        world
    }

    /// Makes a world of this cast, around an empty index.
    #[must_use]
    pub fn of(cast: Box<dyn Cast>, radius_mm: i128, index: Box<dyn NearIndex>) -> Self {
        let mut world = Self {
            tick: 0,
            cast,
            watched: 0,
            radius_mm,
            index,
            told: Vec::new(),
            moves: Vec::new(),
            near: Vec::new(),
            asked: Vec::new(),
        };
        world.tell_index();
        world
    }

    /// Advances the world by one tick and keeps the index up to date.
    pub fn step(&mut self) {
        self.tick += 1;
        self.cast.step();
        self.tell_index();
    }

    /// Tells the index who moved, came or went.
    fn tell_index(&mut self) {
        let places = self.cast.places();
        for id in (0_u32..).take(self.told.len()).skip(places.len()) {
            self.index.forget(id);
        }
        self.told.truncate(places.len());
        self.moves.clear();
        for (id, (told, place)) in (0_u32..).zip(self.told.iter_mut().zip(places)) {
            if told != place {
                *told = *place;
                self.moves.push((id, *place));
            }
        }
        self.index.move_all(&self.moves);
        self.moves.clear();
        let known = self.told.len();
        self.moves
            .extend((0_u32..).zip(places.iter().copied()).skip(known));
        self.index.insert_all(&self.moves);
        self.told.extend_from_slice(&places[known..]);
    }

    /// Counts who is near the player, with the index and by asking everyone.
    pub fn measure(&mut self) -> Reading {
        let region = Region::ball(self.player(), self.radius_mm);
        let Self {
            index,
            near,
            asked,
            cast,
            ..
        } = self;
        let places = cast.places();
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
        self.cast.set_entities(entities.min(ENTITIES_MAX));
        self.tell_index();
    }

    /// Changes how many players there are, from 1 to [`PLAYERS_MAX`].
    pub fn set_players(&mut self, players: usize) {
        self.cast.set_players(players.clamp(1, PLAYERS_MAX));
        self.watch(self.watched);
    }

    /// Chooses whose neighbours are counted; an unknown player is the last one.
    pub fn watch(&mut self, player: usize) {
        self.watched = player.min(self.players().len().saturating_sub(1));
    }

    /// Returns whose neighbours are counted.
    #[must_use]
    pub const fn watched(&self) -> usize {
        self.watched
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
        self.cast.places().len()
    }

    /// Returns where the entities are; the position in the slice is the id.
    #[must_use]
    pub fn places(&self) -> &[WorldPosition] {
        self.cast.places()
    }

    /// Returns where the players are.
    #[must_use]
    pub fn players(&self) -> &[WorldPosition] {
        self.cast.players()
    }

    /// Returns where the player is whose neighbours are counted.
    #[must_use]
    pub fn player(&self) -> WorldPosition {
        let players = self.players();
        players.get(self.watched).copied().unwrap_or_default()
    }

    /// Returns everything that moves.
    #[must_use]
    pub fn cast(&self) -> &dyn Cast {
        &*self.cast
    }

    /// Switches the slow twin of the scenario's own work on or off.
    pub fn set_brute_force(&mut self, on: bool) {
        self.cast.set_brute_force(on);
    }

    /// Returns the ids that the last [`measure`](Self::measure) found by the index, ascending.
    #[must_use]
    pub fn near(&self) -> &[u32] {
        &self.near
    }

    /// Returns the entity that is nearest to a point as seen from above, if one is within the limit on
    /// both axes; of equally near ones the first by id.
    #[must_use]
    pub fn entity_at(&self, at: &WorldPosition, limit_mm: i128) -> Option<Seen> {
        let low = |v: i128| v.saturating_sub(limit_mm);
        let high = |v: i128| v.saturating_add(limit_mm);
        // A pillar: a spot on the map says nothing about height.
        let pillar = Aabb128::from_corners(
            WorldPosition::new(low(at.x), low(at.y), i128::MIN),
            WorldPosition::new(high(at.x), high(at.y), i128::MAX),
        );
        let mut found = Vec::new();
        self.index.collect(&Region::Box(pillar), &mut found);
        let flat = |id: &u32| {
            let place = self.index.position(*id)?;
            let level = WorldPosition::new(place.x, place.y, at.z);
            Some((level.distance_squared(at), *id, place))
        };
        let (_, id, place) = found.iter().filter_map(flat).min()?;
        Some(Seen {
            id,
            at: place,
            distance_mm: self.distance_mm(&place),
        })
    }

    /// Returns how far a point is from the watched player, rounded down to a millimetre; the largest
    /// number if that is more.
    #[must_use]
    pub fn distance_mm(&self, at: &WorldPosition) -> u128 {
        let squared = self.player().distance_squared(at);
        squared.to_u128().map_or(u128::MAX, u128::isqrt)
    }

    /// Returns how many leaves of the index the query's ball meets, and how many entities they hold.
    #[must_use]
    pub fn visited(&self) -> (usize, usize) {
        let (player, radius) = (self.player(), self.radius_mm);
        let met = |leaf: &Aabb128| leaf.intersects_sphere(&player, radius);
        self.leaves()
            .iter()
            .filter(|(leaf, _)| met(leaf))
            .fold((0, 0), |(leaves, held), (_, len)| (leaves + 1, held + len))
    }

    /// Makes the watched player walk east and north by these signs until told otherwise; `(0, 0)`
    /// lets it go on by itself.
    pub fn steer(&mut self, east: i64, north: i64) {
        self.cast.steer(self.watched, east, north);
    }

    /// Returns the cubes in which the index keeps its entities, and how many each holds.
    #[must_use]
    pub fn leaves(&self) -> Vec<(Aabb128, usize)> {
        self.index.leaves()
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
