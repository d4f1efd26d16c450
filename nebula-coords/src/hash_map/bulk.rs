//! Many values at once.

use core::hash::BuildHasher;

use nebula_math::WorldPosition;

use super::{Handle, SpatialHashMap};
use crate::{BatchReport, EntityId, SectorKey, SpatialEntity, SpatialEntityMut, SpatialIndex};

impl<T: SpatialEntityMut, S: BuildHasher> SpatialHashMap<T, S> {
    /// Moves many values at once; the last entry for an id wins, and unknown ids change nothing.
    ///
    /// Every value ends where calling [`update_position`](Self::update_position) for each entry would
    /// put it, but the tree takes all moves together, so answers may come in another order.
    ///
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::ORIGIN));
    /// let west = WorldPosition::new(-1, 0, 0);
    /// let report = map.update_batch(&[(EntityId(1), west), (EntityId(2), west)]);
    /// assert_eq!((report.moved, report.unknown), (1, 1));
    /// assert_eq!(map.position(EntityId(1)), Some(west));
    /// ```
    pub fn update_batch(&mut self, moves: &[(EntityId, WorldPosition)]) -> BatchReport {
        // First all calls into the user's code, then all changes to the tables: a setter that
        // panics leaves a value to `refresh`, never tables that contradict each other.
        let mut tracked = Vec::with_capacity(moves.len());
        for (id, to) in moves {
            if let Some(handle) = self.handle(*id) {
                let value = self.buckets.get_mut(self.places[handle.row() as usize]);
                value.set_world_position(*to);
                tracked.push((handle, *value.world_position()));
            }
        }
        for (handle, at) in &tracked {
            self.relocate(*handle, SectorKey::from_world(at));
        }
        let mut report = self.tree.update_batch(&tracked);
        report.unknown += moves.len() - tracked.len();
        report
    }
}

/// Fills an empty map. The tree is built when this goes, also when the caller's iterator or values
/// panic half way: what was stored by then is a valid map.
struct Fill<'a, T, S> {
    map: &'a mut SpatialHashMap<T, S>,
    points: Vec<(Handle, WorldPosition)>,
}

impl<T: SpatialEntity, S: BuildHasher> Fill<'_, T, S> {
    fn push(&mut self, value: T) {
        let id = value.entity_id();
        let at = *value.world_position();
        let (handle, _) = self.map.store(id, &at, value);
        // A handle that comes again comes with a later position, and the last one wins.
        self.points.push((handle, at));
    }
}

impl<T, S> Drop for Fill<'_, T, S> {
    fn drop(&mut self) {
        self.map.tree = SpatialIndex::from_points(&self.points);
    }
}

impl<T: SpatialEntity, S: BuildHasher> SpatialHashMap<T, S> {
    fn fill(&mut self, values: impl Iterator<Item = T>) {
        // The lower bound is what the iterator promises at least.
        let (at_least, _) = values.size_hint();
        self.reserve(at_least);
        let points = Vec::with_capacity(at_least);
        let mut fill = Fill { map: self, points };
        values.for_each(|value| fill.push(value));
    }
}

impl<T: SpatialEntity, S: BuildHasher + Default> FromIterator<T> for SpatialHashMap<T, S> {
    /// Builds a map at once, faster than by inserting one by one; of values with the same id the
    /// last one wins.
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let mut map = Self::default();
        map.fill(values.into_iter());
        map
    }
}

impl<T: SpatialEntity, S: BuildHasher> Extend<T> for SpatialHashMap<T, S> {
    /// Inserts every value; one with a known id replaces the stored one.
    fn extend<I: IntoIterator<Item = T>>(&mut self, values: I) {
        if self.is_empty() {
            self.clear();
            self.fill(values.into_iter());
        } else {
            for value in values {
                self.insert(value);
            }
        }
    }
}
