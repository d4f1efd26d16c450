//! Building from a list at once.

use nebula_math::WorldPosition;

use super::SpatialIndex;
use super::node::Place;
use super::table::Spot;
use crate::DenseId;

impl<I: DenseId> SpatialIndex<I> {
    pub(super) fn build(points: &[(I, WorldPosition)]) -> Self {
        let mut index = Self::new();
        // The last entry of each id counts; until its leaf is known, the table says which that is.
        for (slot, (id, _)) in (0..).zip(points) {
            let leaf = u32::MAX;
            index.table.set(id.dense_index(), Spot { leaf, slot });
        }
        let last: Vec<u32> = (0..)
            .zip(points)
            .filter(|(at, (id, _))| index.table.get(id.dense_index()).slot == *at)
            .map(|(at, _)| at)
            .collect();
        index.len = last.len();
        if !last.is_empty() {
            index.plant(Place::Root, points, last.iter().copied());
        }
        index
    }
}
