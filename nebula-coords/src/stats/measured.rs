//! `Measured`: any index, with its queries counted.

use core::ops::ControlFlow;

use nebula_math::WorldPosition;

use super::QueryStats;
use crate::{Region, SpatialQuery};

/// How to count the entries that an index looks at for a region.
type CountCandidates<Q> = fn(&Q, &Region) -> usize;

/// An index whose queries are counted. It answers exactly as the index inside.
///
/// ```
/// use nebula_coords::{Measured, Region, SpatialGrid, SpatialQuery};
/// use nebula_math::WorldPosition;
///
/// let mut grid = Measured::with_candidates(SpatialGrid::default(), SpatialGrid::candidate_count);
/// grid.inner_mut().insert(1_u32, WorldPosition::new(-3_000, 0, 0));
/// grid.inner_mut().insert(2, WorldPosition::new(-9_000, 0, 0));
/// assert_eq!(grid.count(&Region::ball(WorldPosition::ORIGIN, 5_000)), 1);
/// let summary = grid.stats().summary();
/// assert_eq!((summary.candidates, summary.hits), (2, 1));
/// assert_eq!(summary.hits_per_query(), Some(1.0));
/// ```
#[derive(Debug)]
pub struct Measured<Q> {
    inner: Q,
    count_candidates: Option<CountCandidates<Q>>,
    stats: QueryStats,
}

impl<Q: SpatialQuery> Measured<Q> {
    /// Wraps an index; queries and hits are counted.
    pub fn new(inner: Q) -> Self {
        Self {
            inner,
            count_candidates: None,
            stats: QueryStats::new(),
        }
    }

    /// Wraps an index; candidates are counted too, at the cost of a second walk over the cells.
    pub fn with_candidates(inner: Q, count: CountCandidates<Q>) -> Self {
        Self {
            inner,
            count_candidates: Some(count),
            stats: QueryStats::new(),
        }
    }

    /// Returns the index. Questions put to it directly are not counted.
    pub const fn inner(&self) -> &Q {
        &self.inner
    }

    /// Returns the index, to change it.
    pub const fn inner_mut(&mut self) -> &mut Q {
        &mut self.inner
    }

    /// Gives the index back.
    pub fn into_inner(self) -> Q {
        self.inner
    }

    /// Returns what was counted.
    pub const fn stats(&self) -> &QueryStats {
        &self.stats
    }

    /// Forgets what was counted.
    pub fn reset(&mut self) {
        self.stats.reset();
    }
}

impl<Q: SpatialQuery> SpatialQuery for Measured<Q> {
    type Id = Q::Id;

    fn len(&self) -> usize {
        self.inner.len()
    }

    fn position(&self, id: Q::Id) -> Option<WorldPosition> {
        self.inner.position(id)
    }

    /// Counts what was handed over, also when `f` breaks.
    fn visit(
        &self,
        region: &Region,
        f: &mut dyn FnMut(&[Q::Id]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut hits = 0;
        let flow = self.inner.visit(region, &mut |ids| {
            hits += ids.len();
            f(ids)
        });
        let candidates = self
            .count_candidates
            .map(|count| count(&self.inner, region));
        self.stats.record(region, candidates, hits);
        flow
    }

    fn nearest(&self, at: &WorldPosition, k: usize, limit_mm: i128, out: &mut Vec<Q::Id>) {
        self.inner.nearest(at, k, limit_mm, out);
        self.stats.record_nearest(out.len());
    }
}
