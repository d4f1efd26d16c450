//! One face for every index, so that one list of tests runs for all of them.

use nebula_coords::{Region, SpatialQuery};
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
