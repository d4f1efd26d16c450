//! Nebula's own: `SpatialIndex`.

use std::ops::Range;

use nebula_coords::{Region, SpatialIndex, SpatialQuery as _};
use nebula_math::WorldPosition;
use nebula_peers::report::Role;

use super::{Contender, Sink};
use crate::data::Entry;

/// The name of our row.
pub(crate) const NAME: &str = "Nebula SpatialIndex";

#[derive(Debug, Default)]
pub(crate) struct Tree {
    index: SpatialIndex<u32>,
    loaded: Vec<Entry>,
    centers: Vec<WorldPosition>,
}

impl Contender for Tree {
    fn name(&self) -> &'static str {
        NAME
    }

    fn role(&self) -> Role {
        Role::Ours
    }

    fn is_exact(&self, _reach_mm: i128, _radius_mm: i128) -> bool {
        true
    }

    fn load(&mut self, entries: &[Entry]) {
        self.loaded = entries.to_vec();
    }

    fn bulk(&mut self) {
        self.index = SpatialIndex::from_points(&self.loaded);
    }

    fn insert(&mut self) {
        for (id, at) in &self.loaded {
            self.index.insert(*id, *at);
        }
    }

    fn shift(&mut self) {
        self.index.update_batch(&self.loaded);
    }

    fn remove(&mut self) {
        let ids: Vec<u32> = self.loaded.iter().map(|(id, _)| *id).collect();
        self.index.remove_batch(&ids);
    }

    fn aim(&mut self, centers: &[WorldPosition]) {
        self.centers = centers.to_vec();
    }

    fn balls(&self, queries: Range<usize>, radius_mm: i128, sink: &mut Sink) {
        for center in &self.centers[queries] {
            self.index
                .collect(&Region::ball(*center, radius_mm), &mut sink.out);
            sink.done();
        }
    }

    fn batch(
        &self,
        centers: &[WorldPosition],
        queries: Range<usize>,
        radius_mm: i128,
        sink: &mut Sink,
    ) {
        let questions: Vec<_> = centers[queries]
            .iter()
            .map(|center| Region::ball(*center, radius_mm))
            .collect();
        self.index
            .query_batch(&questions, |number, ids| sink.take(number, ids));
    }

    fn nearest(&self, queries: Range<usize>, k: usize, sink: &mut Sink) {
        for center in &self.centers[queries] {
            self.index.nearest(center, k, i128::MAX, &mut sink.out);
            sink.done();
        }
    }
}
