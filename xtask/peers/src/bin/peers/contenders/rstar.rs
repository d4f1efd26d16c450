//! rstar: an R*-tree, packed by its bulk load.

use std::ops::Range;

use nebula_math::WorldPosition;
use rstar::RTree;
use rstar::primitives::GeomWithData;

use super::{Contender, Sink, floats, square};
use crate::data::Entry;

type Item = GeomWithData<[f64; 3], u32>;

/// From this share of moves on, a packed tree is built anew: measured faster.
const REBUILD_SHARE: f64 = 0.3;

#[derive(Default)]
pub(crate) struct Packed {
    tree: RTree<Item>,
    positions: Vec<[f64; 3]>,
    loaded: Vec<Item>,
    centers: Vec<[f64; 3]>,
}

impl Contender for Packed {
    fn name(&self) -> &'static str {
        "rstar"
    }

    fn load(&mut self, entries: &[Entry]) {
        self.loaded = entries
            .iter()
            .map(|(id, at)| Item::new(floats(at), *id))
            .collect();
        let last = entries.iter().map(|(id, _)| *id as usize + 1).max();
        if self.positions.len() < last.unwrap_or(0) {
            self.positions.resize(last.unwrap_or(0), [0.0; 3]);
        }
    }

    fn bulk(&mut self) {
        self.tree = RTree::bulk_load(self.loaded.clone());
        for item in &self.loaded {
            self.positions[item.data as usize] = *item.geom();
        }
    }

    fn insert(&mut self) {
        for item in &self.loaded {
            self.tree.insert(*item);
            self.positions[item.data as usize] = *item.geom();
        }
    }

    fn shift(&mut self) {
        if self.loaded.len() as f64 >= self.tree.size() as f64 * REBUILD_SHARE {
            for item in &self.loaded {
                self.positions[item.data as usize] = *item.geom();
            }
            let items = (0..)
                .zip(&self.positions)
                .map(|(id, at)| Item::new(*at, id));
            self.tree = RTree::bulk_load(items.collect());
            return;
        }
        for item in &self.loaded {
            let old = &mut self.positions[item.data as usize];
            self.tree.remove(&Item::new(*old, item.data));
            self.tree.insert(*item);
            *old = *item.geom();
        }
    }

    fn remove(&mut self) {
        for item in &self.loaded {
            self.tree.remove(item);
        }
    }

    fn aim(&mut self, centers: &[WorldPosition]) {
        self.centers = centers.iter().map(floats).collect();
    }

    fn balls(&self, queries: Range<usize>, radius_mm: i128, sink: &mut Sink) {
        let radius = square(radius_mm);
        for center in &self.centers[queries] {
            let hits = self.tree.locate_within_distance(*center, radius);
            sink.out.extend(hits.map(|item| item.data));
            sink.done();
        }
    }

    fn nearest(&self, queries: Range<usize>, k: usize, sink: &mut Sink) {
        for center in &self.centers[queries] {
            if k == 1 {
                sink.out
                    .extend(self.tree.nearest_neighbor(*center).map(|item| item.data));
            } else {
                let hits = self.tree.nearest_neighbor_iter(*center).take(k);
                sink.out.extend(hits.map(|item| item.data));
            }
            sink.done();
        }
    }
}
