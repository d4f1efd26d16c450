//! `SpatialQuery`: the few questions every index answers.

use core::ops::ControlFlow;

use nebula_math::WorldPosition;

use crate::Region;

/// The few questions every index of points answers. Object safe.
///
/// Answers are exact. Their order is a function of the operations that built the index, never of a
/// hash or a thread. A region is visited without allocating.
///
/// There is no iterator here: through `dyn` it would have to be boxed. Indexes that can stop after any
/// id at no cost have a `query_iter` of their own (`LinearIndex`, `SpatialGrid`, `SortedIndex`), and a sector of a
/// `SpatialHashMap` or a tile of a `TileIndex` is a slice. `SpatialIndex` has none: it tests 64 points at
/// a time and fetches leaves ahead, which an iterator would undo; its visitor can break off at any slice.
pub trait SpatialQuery {
    /// The caller's name for a point.
    type Id: Copy + Ord;

    /// Returns how many points are stored.
    fn len(&self) -> usize;

    /// Returns whether nothing is stored.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns where `id` is, if it is stored.
    fn position(&self, id: Self::Id) -> Option<WorldPosition>;

    /// Hands every id in the region to `f`, each once, in slices, until `f` breaks.
    fn visit(
        &self,
        region: &Region,
        f: &mut dyn FnMut(&[Self::Id]) -> ControlFlow<()>,
    ) -> ControlFlow<()>;

    /// Replaces the contents of `out` by the `k` ids nearest to `at` that are at most `limit_mm`
    /// away, ordered by (distance, id). A negative limit finds nothing.
    fn nearest(&self, at: &WorldPosition, k: usize, limit_mm: i128, out: &mut Vec<Self::Id>);

    /// Replaces the contents of `out` by every id in the region, in visiting order.
    fn collect(&self, region: &Region, out: &mut Vec<Self::Id>) {
        out.clear();
        let _ = self.visit(region, &mut |ids| {
            out.extend_from_slice(ids);
            ControlFlow::Continue(())
        });
    }

    /// Returns how many ids are in the region.
    fn count(&self, region: &Region) -> usize {
        let mut n = 0;
        let _ = self.visit(region, &mut |ids| {
            n += ids.len();
            ControlFlow::Continue(())
        });
        n
    }
}
