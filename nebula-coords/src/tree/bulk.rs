//! Building from a list at once.

use nebula_math::WorldPosition;

use super::SpatialIndex;
use super::cube::key_of;
use super::node::Place;
use super::seed::{Keys, Source, Window};
use super::table::Spot;
use crate::DenseId;

impl<I: DenseId> SpatialIndex<I> {
    pub(super) fn build(points: &[(I, WorldPosition)]) -> Self {
        let mut index = Self::new();
        // The last entry of each id counts; until its leaf is known, the table says which that is.
        let mut repeats = false;
        for (slot, (id, _)) in (0..).zip(points) {
            let entry = index.table.entry(id.dense_index());
            repeats |= *entry != Spot::VACANT;
            let leaf = u32::MAX;
            *entry = Spot { leaf, slot };
        }
        let (mut seeds, window) =
            Window::open((0..).zip(points).map(|(at, (_, p))| (at, key_of(p))));
        if repeats {
            let counts = |at: u32| index.table.get(points[at as usize].0.dense_index()).slot == at;
            seeds.retain(|seed| counts(seed.point));
        }
        index.len = seeds.len();
        if !seeds.is_empty() {
            let source = Source {
                ids: points.iter().map(|(id, _)| *id).collect(),
                keys: Keys::Points(points, &[]),
            };
            index.plant_all(Place::Root, &source, window, &mut seeds);
        }
        index
    }
}
