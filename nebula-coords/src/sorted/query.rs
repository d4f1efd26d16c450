//! Reading a region row by row, skipping what is not there.

use core::ops::{ControlFlow, Range};

use nebula_math::{Aabb128, WorldPosition};

use super::SortedIndex;
use crate::grid::{CellKey, CellRange};
use crate::nearest::Nearest;
use crate::{Region, SpatialQuery};

/// Growing balls tried before `nearest` asks every entry.
const NEAREST_ROUNDS: u32 = 12;

impl<I: Copy + Ord> SortedIndex<I> {
    /// Returns every id at most `radius_mm` from `center`, by its middle.
    #[must_use]
    pub fn query_radius(&self, center: &WorldPosition, radius_mm: i128) -> Vec<I> {
        let mut out = Vec::new();
        self.collect(&Region::ball(*center, radius_mm), &mut out);
        out
    }

    /// Returns every id in the box, by its middle.
    #[must_use]
    pub fn query_box(&self, aabb: &Aabb128) -> Vec<I> {
        let mut out = Vec::new();
        self.collect(&Region::Box(*aabb), &mut out);
        out
    }

    /// Returns every id exactly at a position: one search, then one cell.
    ///
    /// ```
    /// use nebula_coords::SortedIndex;
    /// use nebula_math::WorldPosition;
    ///
    /// let mut index = SortedIndex::default();
    /// index.insert(1_u32, WorldPosition::new(-7, 0, 0));
    /// index.insert(2, WorldPosition::new(-8, 0, 0));
    /// assert_eq!(index.query_at(&WorldPosition::new(-7, 0, 0)), [1]);
    /// ```
    #[must_use]
    pub fn query_at(&self, at: &WorldPosition) -> Vec<I> {
        self.query_box(&Aabb128::from_corners(*at, *at))
    }

    /// Replaces the contents of `out` by every particle whose sphere touches the given one, in array
    /// order. The boundary counts; a negative radius touches nothing.
    ///
    /// ```
    /// use nebula_coords::{Particle, SortedIndex};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut index = SortedIndex::default();
    /// let position = WorldPosition::new(-100, 0, 0);
    /// index.insert_particle(Particle { id: 1_u32, position, radius_mm: 60 });
    /// let mut out = Vec::new();
    /// index.query_touching(&WorldPosition::ORIGIN, 40, &mut out);
    /// assert_eq!(out, [1]);
    /// index.query_touching(&WorldPosition::ORIGIN, 39, &mut out);
    /// assert_eq!(out, []);
    /// ```
    pub fn query_touching(&self, center: &WorldPosition, radius_mm: i128, out: &mut Vec<I>) {
        out.clear();
        if radius_mm < 0 || self.radius_max < 0 {
            return;
        }
        // Past the end of the numbers the ball holds everything anyway: the exact test follows.
        let reach = radius_mm.saturating_add(self.radius_max);
        let everything = reach == i128::MAX;
        let bounds = if everything {
            Some(Aabb128::UNIVERSE)
        } else {
            Region::ball(*center, reach).bounds()
        };
        let Some(bounds) = bounds else { return };
        let _ = self.walk(&bounds, |run| {
            for i in run {
                if touches(&self.positions[i], self.radii[i], center, radius_mm) {
                    out.push(self.ids[i]);
                }
            }
            ControlFlow::Continue(())
        });
    }

    /// Hands every run of entries whose cells touch the box to `f`, row by row.
    ///
    /// From the entry at hand follows the next cell of the range at or after it; a search leads there.
    /// Each search passes a row that exists, and searches gallop, so the work is bounded by the entries
    /// and not by the rows of the range.
    pub(super) fn walk(
        &self,
        bounds: &Aabb128,
        mut f: impl FnMut(Range<usize>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if !self.in_order {
            return f(0..self.ids.len());
        }
        let range = CellRange {
            min: self.cell_of(&bounds.min()),
            max: self.cell_of(&bounds.max()),
        };
        let mut i = self.lower_bound(0, &range.min);
        while i < self.ids.len() {
            let Some(target) = range.at_or_after(&self.key(i)) else {
                break;
            };
            let start = self.lower_bound(i, &target);
            // The end of the row is a full key, so the walk cannot run on into the next row.
            let row_end = CellKey {
                x: range.max.x,
                ..target
            };
            let end = self.upper_bound(start, &row_end);
            if start < end {
                f(start..end)?;
            }
            // Past `row_end` lies another row, or the rest of this one beyond the range.
            i = end;
        }
        ControlFlow::Continue(())
    }

    /// Returns the first entry from `from` on whose key is not below `key`.
    fn lower_bound(&self, from: usize, key: &CellKey) -> usize {
        self.gallop(from, |other| other < key)
    }

    /// Returns the first entry from `from` on whose key is above `key`.
    fn upper_bound(&self, from: usize, key: &CellKey) -> usize {
        self.gallop(from, |other| other <= key)
    }

    /// Returns the first entry from `from` on that is not `before`: in growing steps, then by halves.
    fn gallop(&self, from: usize, before: impl Fn(&CellKey) -> bool) -> usize {
        let n = self.ids.len();
        let (mut low, mut step) = (from, 1);
        while low + step <= n && before(&self.key(low + step - 1)) {
            low += step;
            step *= 2;
        }
        let mut high = (low + step - 1).min(n);
        while low < high {
            let middle = low.midpoint(high);
            if before(&self.key(middle)) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low
    }

    /// Hands the ids of a run that are in the region to `f`, in slices.
    fn visit_run(
        &self,
        run: Range<usize>,
        region: &Region,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let (mut start, end) = (run.start, run.end);
        for i in run {
            if !region.contains(&self.positions[i]) {
                if start < i {
                    f(&self.ids[start..i])?;
                }
                start = i + 1;
            }
        }
        if start < end {
            f(&self.ids[start..end])?;
        }
        ControlFlow::Continue(())
    }

    fn offer(&self, run: Range<usize>, at: &WorldPosition, limit: i128, best: &mut Nearest<I>) {
        for i in run {
            let p = &self.positions[i];
            if at.is_within(p, limit) {
                best.offer(at.distance_squared(p), self.ids[i]);
            }
        }
    }
}

impl<I: Copy + Ord> SpatialQuery for SortedIndex<I> {
    type Id = I;

    fn len(&self) -> usize {
        self.ids.len()
    }

    /// Looks at one entry after the other: O(n).
    fn position(&self, id: I) -> Option<WorldPosition> {
        self.get(id)
    }

    fn visit(
        &self,
        region: &Region,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match region.bounds() {
            Some(bounds) => self.walk(&bounds, |run| self.visit_run(run, region, f)),
            None => ControlFlow::Continue(()),
        }
    }

    /// Looks at a few growing balls, then at every entry.
    fn nearest(&self, at: &WorldPosition, k: usize, limit_mm: i128, out: &mut Vec<I>) {
        out.clear();
        let mut best = Nearest::new(k.min(self.len()), out);
        let cell_mm = i128::try_from(self.cell_size_mm()).unwrap_or(i128::MAX);
        let mut radius_mm = cell_mm.min(limit_mm);
        for _ in 0..NEAREST_ROUNDS {
            best.clear();
            let Some(bounds) = Region::ball(*at, radius_mm).bounds() else {
                best.finish(out);
                return;
            };
            let _ = self.walk(&bounds, |run| {
                self.offer(run, at, radius_mm, &mut best);
                ControlFlow::Continue(())
            });
            // A full list has nothing nearer left outside the ball.
            if best.is_full() || radius_mm >= limit_mm {
                best.finish(out);
                return;
            }
            radius_mm = radius_mm.saturating_mul(2).min(limit_mm);
        }
        best.clear();
        self.offer(0..self.ids.len(), at, limit_mm, &mut best);
        best.finish(out);
    }
}

/// Returns whether two spheres touch: their middles are at most the sum of the radii apart.
pub(super) fn touches(a: &WorldPosition, a_mm: i128, b: &WorldPosition, b_mm: i128) -> bool {
    let (Ok(ra), Ok(rb)) = (u128::try_from(a_mm), u128::try_from(b_mm)) else {
        return false;
    };
    // Each is below 2^127, so the sum fits.
    let reach = ra + rb;
    let (x, y, z) = (a.x.abs_diff(b.x), a.y.abs_diff(b.y), a.z.abs_diff(b.z));
    if x > reach || y > reach || z > reach {
        return false;
    }
    if reach >> 63 == 0 {
        // Each square is below 2^126, so three fit 128 bits.
        return x * x + y * y + z * z <= reach * reach;
    }
    nebula_math::U384::sum_of_squares(x, y, z) <= nebula_math::U384::square(reach)
}
