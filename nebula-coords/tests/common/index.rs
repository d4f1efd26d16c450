//! One face for every index, so that one list of tests runs for all of them.

use nebula_coords::{EntityId, LinearIndex, Region, SpatialHashMap, SpatialIndex, SpatialQuery};
use nebula_math::WorldPosition;

/// What every index can do, with ids as plain numbers.
pub(crate) trait TestIndex: Sized {
    /// The index's own id.
    type Id: Copy + Ord;
    /// What answers the questions.
    type Query: SpatialQuery<Id = Self::Id>;

    fn empty() -> Self;
    fn bulk(points: &[(u32, WorldPosition)]) -> Self;
    /// Stores or moves, and returns where the id was.
    fn insert(&mut self, id: u32, at: WorldPosition) -> Option<WorldPosition>;
    /// Moves, and returns whether the id was known.
    fn update(&mut self, id: u32, to: WorldPosition) -> bool;
    /// Moves many; unknown ids change nothing, and the last entry for an id wins. Returns how many
    /// entries named a stored id.
    fn update_batch(&mut self, moves: &[(u32, WorldPosition)]) -> usize;
    /// Removes, and returns where the id was.
    fn remove(&mut self, id: u32) -> Option<WorldPosition>;
    fn clear(&mut self);
    /// Checks the whole structure, where the index can.
    fn validate(&self) -> Result<(), String>;

    fn query(&self) -> &Self::Query;
    fn id(number: u32) -> Self::Id;
    fn number(id: Self::Id) -> u32;

    /// Returns the ids in the region in visiting order.
    fn visited(&self, region: &Region) -> Vec<u32> {
        let mut out = Vec::new();
        self.query().collect(region, &mut out);
        out.into_iter().map(Self::number).collect()
    }

    /// Returns the nearest ids, in order.
    fn closest(&self, at: &WorldPosition, k: usize, limit_mm: i128) -> Vec<u32> {
        let mut out = Vec::new();
        self.query().nearest(at, k, limit_mm, &mut out);
        out.into_iter().map(Self::number).collect()
    }

    fn stored(&self) -> usize {
        self.query().len()
    }

    fn place_of(&self, id: u32) -> Option<WorldPosition> {
        self.query().position(Self::id(id))
    }
}

impl TestIndex for LinearIndex<u32> {
    type Id = u32;
    type Query = Self;

    fn empty() -> Self {
        Self::new()
    }
    fn bulk(points: &[(u32, WorldPosition)]) -> Self {
        let mut index = Self::new();
        for (id, at) in points {
            Self::insert(&mut index, *id, *at);
        }
        index
    }
    fn insert(&mut self, id: u32, at: WorldPosition) -> Option<WorldPosition> {
        Self::insert(self, id, at)
    }
    fn update(&mut self, id: u32, to: WorldPosition) -> bool {
        Self::update(self, id, to)
    }
    fn update_batch(&mut self, moves: &[(u32, WorldPosition)]) -> usize {
        let known = moves.iter().filter(|(id, to)| Self::update(self, *id, *to));
        known.count()
    }
    fn remove(&mut self, id: u32) -> Option<WorldPosition> {
        Self::remove(self, id)
    }
    fn clear(&mut self) {
        Self::clear(self);
    }
    fn validate(&self) -> Result<(), String> {
        Ok(())
    }
    fn query(&self) -> &Self {
        self
    }
    fn id(number: u32) -> u32 {
        number
    }
    fn number(id: u32) -> u32 {
        id
    }
}

impl TestIndex for SpatialIndex<u32> {
    type Id = u32;
    type Query = Self;

    fn empty() -> Self {
        Self::new()
    }
    fn bulk(points: &[(u32, WorldPosition)]) -> Self {
        Self::from_points(points)
    }
    fn insert(&mut self, id: u32, at: WorldPosition) -> Option<WorldPosition> {
        Self::insert(self, id, at)
    }
    fn update(&mut self, id: u32, to: WorldPosition) -> bool {
        Self::update(self, id, to)
    }
    fn update_batch(&mut self, moves: &[(u32, WorldPosition)]) -> usize {
        let report = Self::update_batch(self, moves);
        assert_eq!(report.moved + report.unknown, moves.len());
        report.moved
    }
    fn remove(&mut self, id: u32) -> Option<WorldPosition> {
        Self::remove(self, id)
    }
    fn clear(&mut self) {
        Self::clear(self);
    }
    fn validate(&self) -> Result<(), String> {
        Self::validate(self)
    }
    fn query(&self) -> &Self {
        self
    }
    fn id(number: u32) -> u32 {
        number
    }
    fn number(id: u32) -> u32 {
        id
    }
}

/// Numbers become ids that differ in the upper half alone, so that a half that is lost shows.
impl TestIndex for SpatialHashMap<(EntityId, WorldPosition)> {
    type Id = EntityId;
    type Query = Self;

    fn empty() -> Self {
        Self::new()
    }
    fn bulk(points: &[(u32, WorldPosition)]) -> Self {
        let values = points.iter().map(|(id, at)| (Self::id(*id), *at));
        values.collect()
    }
    fn insert(&mut self, id: u32, at: WorldPosition) -> Option<WorldPosition> {
        Self::insert(self, (Self::id(id), at)).map(|(_, old)| old)
    }
    fn update(&mut self, id: u32, to: WorldPosition) -> bool {
        self.update_position(Self::id(id), to)
    }
    fn update_batch(&mut self, moves: &[(u32, WorldPosition)]) -> usize {
        let moves: Vec<_> = moves.iter().map(|(id, to)| (Self::id(*id), *to)).collect();
        let report = Self::update_batch(self, &moves);
        assert_eq!(report.moved + report.unknown, moves.len());
        report.moved
    }
    fn remove(&mut self, id: u32) -> Option<WorldPosition> {
        self.take(Self::id(id)).map(|(_, old)| old)
    }
    fn clear(&mut self) {
        Self::clear(self);
    }
    fn validate(&self) -> Result<(), String> {
        Self::validate(self)
    }
    fn query(&self) -> &Self {
        self
    }
    fn id(number: u32) -> EntityId {
        EntityId(u64::from(number) << 32)
    }
    fn number(id: EntityId) -> u32 {
        u32::try_from(id.0 >> 32).expect("32 bits are left")
    }
}
