//! `LinearIndex`: the slow twin. It asks every point, and is obviously right.

use core::ops::ControlFlow;
use std::collections::BTreeMap;

use nebula_math::{Aabb128, WorldPosition};

use crate::{Region, SpatialQuery};

/// A list of points that answers every question by asking each point in turn.
///
/// Results come in id order. Use it for a handful of points, and to check the fast indexes.
///
/// ```
/// use nebula_coords::{LinearIndex, Region, SpatialQuery};
/// use nebula_math::WorldPosition;
///
/// let mut index = LinearIndex::new();
/// index.insert(7_u32, WorldPosition::new(-300, 400, 0));
/// index.insert(8, WorldPosition::new(-300, 401, 0));
/// assert_eq!(index.count(&Region::ball(WorldPosition::ORIGIN, 500)), 1);
/// ```
#[derive(Clone, Debug)]
pub struct LinearIndex<I> {
    points: BTreeMap<I, WorldPosition>,
}

impl<I> Default for LinearIndex<I> {
    fn default() -> Self {
        Self {
            points: BTreeMap::new(),
        }
    }
}

impl<I: Copy + Ord> LinearIndex<I> {
    /// Makes an empty list.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Stores `id` at a position and returns where it was before.
    pub fn insert(&mut self, id: I, at: WorldPosition) -> Option<WorldPosition> {
        self.points.insert(id, at)
    }

    /// Moves `id`, and returns whether it was stored; an unknown id changes nothing.
    pub fn update(&mut self, id: I, to: WorldPosition) -> bool {
        self.points.get_mut(&id).map(|at| *at = to).is_some()
    }

    /// Removes `id` and returns where it was.
    pub fn remove(&mut self, id: I) -> Option<WorldPosition> {
        self.points.remove(&id)
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.points.clear();
    }

    /// Returns every id and its position, in id order.
    pub fn iter(&self) -> impl Iterator<Item = (I, WorldPosition)> + '_ {
        self.points.iter().map(|(id, at)| (*id, *at))
    }

    /// Returns whether `id` is stored.
    #[must_use]
    pub fn contains(&self, id: I) -> bool {
        self.points.contains_key(&id)
    }

    /// Returns where `id` is, if it is stored.
    #[must_use]
    pub fn get(&self, id: I) -> Option<WorldPosition> {
        self.points.get(&id).copied()
    }

    /// Returns the ids in a region one by one, in id order, without a buffer.
    ///
    /// ```
    /// use nebula_coords::{LinearIndex, Metric, Region};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut index = LinearIndex::new();
    /// index.insert('a', WorldPosition::new(-1, -1, 0));
    /// index.insert('b', WorldPosition::new(0, -1, 0));
    /// let one_step = Region::ball_in(WorldPosition::ORIGIN, 1, Metric::Manhattan);
    /// assert!(index.query_iter(&one_step).eq(['b']));
    /// ```
    pub fn query_iter<'a>(&'a self, region: &Region) -> impl Iterator<Item = I> + use<'a, I> {
        let region = *region;
        self.points
            .iter()
            .filter(move |(_, at)| region.contains(at))
            .map(|(id, _)| *id)
    }

    /// Returns every id at most `radius_mm` from `center`, in id order; a negative radius finds
    /// nothing. For other metrics ask with a [`Region`].
    ///
    /// ```
    /// use nebula_coords::LinearIndex;
    /// use nebula_math::WorldPosition;
    ///
    /// let mut index = LinearIndex::new();
    /// index.insert(1, WorldPosition::new(-3, -4, 0));
    /// assert_eq!(index.query_radius(&WorldPosition::ORIGIN, 5), [1]);
    /// assert_eq!(index.query_radius(&WorldPosition::ORIGIN, 4), []);
    /// ```
    #[must_use]
    pub fn query_radius(&self, center: &WorldPosition, radius_mm: i128) -> Vec<I> {
        self.query_iter(&Region::ball(*center, radius_mm)).collect()
    }

    /// Returns every id in the box, its boundary included, in id order.
    #[must_use]
    pub fn query_box(&self, aabb: &Aabb128) -> Vec<I> {
        self.query_iter(&Region::Box(*aabb)).collect()
    }

    /// Returns every id exactly at a position, in id order.
    ///
    /// ```
    /// use nebula_coords::LinearIndex;
    /// use nebula_math::WorldPosition;
    ///
    /// let mut index = LinearIndex::new();
    /// index.insert(2, WorldPosition::MIN);
    /// index.insert(1, WorldPosition::MIN);
    /// assert_eq!(index.query_at(&WorldPosition::MIN), [1, 2]);
    /// ```
    #[must_use]
    pub fn query_at(&self, at: &WorldPosition) -> Vec<I> {
        self.query_iter(&Region::at(*at)).collect()
    }
}

impl<I: Copy + Ord> SpatialQuery for LinearIndex<I> {
    type Id = I;

    fn len(&self) -> usize {
        self.points.len()
    }

    fn position(&self, id: I) -> Option<WorldPosition> {
        self.points.get(&id).copied()
    }

    fn visit(
        &self,
        region: &Region,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.points
            .iter()
            .filter(|(_, at)| region.contains(at))
            .try_for_each(|(id, _)| f(&[*id]))
    }

    fn nearest(&self, at: &WorldPosition, k: usize, limit_mm: i128, out: &mut Vec<I>) {
        let mut found: Vec<_> = self
            .points
            .iter()
            .filter(|(_, p)| at.is_within(p, limit_mm))
            .map(|(id, p)| (at.distance_squared(p), *id))
            .collect();
        found.sort_unstable();
        out.clear();
        out.extend(found.into_iter().take(k).map(|(_, id)| id));
    }
}
