//! Building from a list at once.

use nebula_math::WorldPosition;

use super::SpatialIndex;
use super::cube::{Key, key_of};
use super::node::Place;
use super::table::Paged;
use crate::DenseId;

impl<I: DenseId> SpatialIndex<I> {
    pub(super) fn build(points: &[(I, WorldPosition)]) -> Self {
        let mut index = Self::new();
        let mut points = last_of_each(points);
        if !points.is_empty() {
            let mut scratch = points.clone();
            index.len = points.len();
            index.plant(Place::Root, &mut points, &mut scratch);
        }
        index
    }
}

/// Returns the last entry of each id, in the order of those entries.
fn last_of_each<I: DenseId>(points: &[(I, WorldPosition)]) -> Vec<(I, Key)> {
    let mut last = Paged::new(usize::MAX);
    for (at, (id, _)) in points.iter().enumerate() {
        last.set(id.dense_index(), at);
    }
    let is_last = |(at, (id, _)): &(usize, &(I, _))| last.get(id.dense_index()) == *at;
    points
        .iter()
        .enumerate()
        .filter(is_last)
        .map(|(_, (id, at))| (*id, key_of(at)))
        .collect()
}
