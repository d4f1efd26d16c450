//! Building from a list at once.

use nebula_math::WorldPosition;

use super::SpatialIndex;
use super::cube::key_of;
use super::node::Place;
use super::seed::{Keys, Source, Window};
use super::simd;
use super::table::Spot;
use crate::DenseId;

/// So many points are fetched ahead of the one that is read: a processor stops at the end of each page.
const AHEAD: usize = 64;

impl<I: DenseId> SpatialIndex<I> {
    pub(super) fn build(points: &[(I, WorldPosition)]) -> Self {
        let mut index = Self::new();
        let keys = (0..).zip(points).map(|(at, (_, p))| {
            if let Some(later) = points.get(at as usize + AHEAD) {
                simd::prefetch(later);
            }
            (at, key_of(p))
        });
        // The last entry of each id counts; until its leaf is known, the table says which that is.
        let mut repeats = false;
        let mut ids = Vec::with_capacity(points.len());
        let (mut seeds, window) = Window::open_and(keys, |slot| {
            let (id, _) = points[slot as usize];
            let entry = index.table.entry(id.dense_index());
            repeats |= *entry != Spot::VACANT;
            *entry = Spot::leaving(slot);
            ids.push(id);
        });
        if repeats {
            let counts = |at: u32| index.table.get(points[at as usize].0.dense_index()).slot == at;
            seeds.retain(|seed| counts(seed.point));
        }
        index.len = seeds.len();
        if !seeds.is_empty() {
            let source = Source {
                ids,
                keys: Keys::Points(points, &[]),
            };
            index.plant_all(Place::Root, &source, window, &mut seeds);
        }
        index
    }
}
