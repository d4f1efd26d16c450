//! The grid's questions: candidates (whole cells) and exact answers.

use core::hash::{BuildHasher, Hash};
use core::ops::ControlFlow;

use nebula_math::{Aabb128, WorldPosition};

use super::cells::CellRange;
use super::{Cell, CellKey, SpatialGrid};
use crate::nearest::Nearest;
use crate::{Region, SpatialQuery};

/// Below this many entries a cell is asked entry by entry: comparing the whole cell with the region
/// costs about as much as three entries.
const WHOLE_CELL_MIN: usize = 4;

impl<I: Copy + Ord + Hash, S: BuildHasher + Clone> SpatialGrid<I, S> {
    /// Returns every id at most `radius_mm` from `center`, exactly.
    #[must_use]
    pub fn query_radius(&self, center: &WorldPosition, radius_mm: i128) -> Vec<I> {
        let mut out = Vec::new();
        self.collect(&Region::ball(*center, radius_mm), &mut out);
        out
    }

    /// Returns every id in the box, exactly.
    ///
    /// ```
    /// use nebula_coords::SpatialGrid;
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let mut grid = SpatialGrid::default();
    /// grid.insert(1_u32, WorldPosition::new(-10_000, -1, 0));
    /// grid.insert(2, WorldPosition::new(-10_001, -1, 0));
    /// let yard = Aabb128::from_corners(
    ///     WorldPosition::new(-10_000, -5, 0),
    ///     WorldPosition::new(0, 0, 0),
    /// );
    /// assert_eq!(grid.query_box(&yard), [1]);
    /// ```
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

    /// Replaces the contents of `out` by every id whose cell the region's box touches, without any
    /// distance check.
    ///
    /// That is every id of the exact answer and some of their neighbours. It is the cheapest answer
    /// for a caller who tests each one anyway. On a grid of columns `z` plays no part.
    ///
    /// ```
    /// use nebula_coords::{Region, SpatialGrid};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut grid = SpatialGrid::new(10)?;
    /// grid.insert(1_u32, WorldPosition::new(-1, 0, 0));
    /// grid.insert(2, WorldPosition::new(-10, 9, 9)); // 15 mm away, in a cell that is touched
    /// let mut out = Vec::new();
    /// grid.candidates(&Region::ball(WorldPosition::ORIGIN, 1), &mut out);
    /// assert_eq!(out, [1, 2]);
    /// assert_eq!(grid.query_radius(&WorldPosition::ORIGIN, 1), [1]);
    /// # Ok::<(), nebula_coords::CellSizeError>(())
    /// ```
    pub fn candidates(&self, region: &Region, out: &mut Vec<I>) {
        out.clear();
        let _ = self.visit_candidates(region, &mut |ids| {
            out.extend_from_slice(ids);
            ControlFlow::Continue(())
        });
    }

    /// Hands the ids of every cell that the region's box touches to `f`, cell by cell, until it breaks.
    ///
    /// Allocates nothing.
    pub fn visit_candidates(
        &self,
        region: &Region,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match region.bounds() {
            Some(bounds) => self.walk(self.range_of(&bounds), |cell| f(&cell.ids)),
            None => ControlFlow::Continue(()),
        }
    }

    /// Returns how many ids a candidate query hands over.
    #[must_use]
    pub fn candidate_count(&self, region: &Region) -> usize {
        let mut n = 0;
        let _ = self.visit_candidates(region, &mut |ids| {
            n += ids.len();
            ControlFlow::Continue(())
        });
        n
    }

    /// Returns the ids in one cell, or nothing for a cell that does not exist.
    ///
    /// ```
    /// use nebula_coords::SpatialGrid;
    /// use nebula_math::WorldPosition;
    ///
    /// let mut grid = SpatialGrid::default();
    /// grid.insert(5_u32, WorldPosition::new(-1, -1, -1));
    /// let key = grid.cell_of(&WorldPosition::new(-9_999, -3, -2));
    /// assert_eq!(grid.query_cell(&key), [5]);
    /// ```
    #[must_use]
    pub fn query_cell(&self, key: &CellKey) -> &[I] {
        self.slots
            .get(key)
            .map_or(&[], |slot| self.cells[*slot].ids.as_slice())
    }

    /// Returns every id and its position, cell by cell in the order of the grid's list.
    pub fn iter(&self) -> impl Iterator<Item = (I, WorldPosition)> + '_ {
        self.occupied.iter().flat_map(|slot| {
            let cell = &self.cells[*slot];
            cell.ids.iter().copied().zip(cell.positions.iter().copied())
        })
    }

    /// Hands every occupied cell of the range to `f`.
    fn walk<'a>(
        &'a self,
        range: CellRange,
        mut f: impl FnMut(&'a Cell<I>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if range.count() > self.occupied.len() as u128 {
            return self
                .occupied
                .iter()
                .map(|slot| &self.cells[*slot])
                .filter(|cell| range.contains(&cell.key))
                .try_for_each(f);
        }
        for z in range.min.z..=range.max.z {
            for y in range.min.y..=range.max.y {
                for x in range.min.x..=range.max.x {
                    if let Some(slot) = self.slots.get(&CellKey { z, y, x }) {
                        f(&self.cells[*slot])?;
                    }
                }
            }
        }
        ControlFlow::Continue(())
    }

    /// Hands the ids of one cell that are in the region to `f`, in runs.
    fn visit_cell(
        &self,
        cell: &Cell<I>,
        region: &Region,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if cell.ids.len() >= WHOLE_CELL_MIN {
            match compare(region, &self.cell_bounds(&cell.key)) {
                Overlap::None => return ControlFlow::Continue(()),
                Overlap::Whole => return f(&cell.ids),
                Overlap::Part => {}
            }
        }
        let mut start = 0;
        for (i, at) in cell.positions.iter().enumerate() {
            if !region.contains(at) {
                if start < i {
                    f(&cell.ids[start..i])?;
                }
                start = i + 1;
            }
        }
        if start < cell.ids.len() {
            f(&cell.ids[start..])?;
        }
        ControlFlow::Continue(())
    }

    /// Offers everything at most `radius_mm` away, while that touches no more cells than are occupied.
    /// Returns whether it did.
    fn offer_near(&self, at: &WorldPosition, radius_mm: i128, best: &mut Nearest<I>) -> bool {
        let Some(bounds) = Region::ball(*at, radius_mm).bounds() else {
            return true;
        };
        let range = self.range_of(&bounds);
        if range.count() > self.occupied.len() as u128 {
            return false;
        }
        let _ = self.walk(range, |cell| {
            for (id, p) in cell.ids.iter().zip(&cell.positions) {
                if at.is_within(p, radius_mm) {
                    best.offer(at.distance_squared(p), *id);
                }
            }
            ControlFlow::Continue(())
        });
        true
    }

    /// Offers everything at most `limit_mm` away, cell by cell, without those that cannot win.
    fn offer_all(&self, at: &WorldPosition, limit_mm: i128, best: &mut Nearest<I>) {
        for slot in &self.occupied {
            let cell = &self.cells[*slot];
            if best.refuses(self.cell_bounds(&cell.key).distance_squared(at)) {
                continue;
            }
            for (id, p) in cell.ids.iter().zip(&cell.positions) {
                if at.is_within(p, limit_mm) {
                    best.offer(at.distance_squared(p), *id);
                }
            }
        }
    }
}

impl<I: Copy + Ord + Hash, S: BuildHasher + Clone> SpatialQuery for SpatialGrid<I, S> {
    type Id = I;

    fn len(&self) -> usize {
        self.places.len()
    }

    fn position(&self, id: I) -> Option<WorldPosition> {
        self.get(id)
    }

    fn visit(
        &self,
        region: &Region,
        f: &mut dyn FnMut(&[I]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        match region.bounds() {
            Some(bounds) => self.walk(self.range_of(&bounds), |cell| {
                self.visit_cell(cell, region, f)
            }),
            None => ControlFlow::Continue(()),
        }
    }

    /// Looks at growing balls while they touch few cells, then at each occupied cell once.
    fn nearest(&self, at: &WorldPosition, k: usize, limit_mm: i128, out: &mut Vec<I>) {
        out.clear();
        let mut best = Nearest::new(k.min(self.len()), out);
        let mut radius_mm = self.cell_mm.min(limit_mm);
        loop {
            best.clear();
            if !self.offer_near(at, radius_mm, &mut best) {
                self.offer_all(at, limit_mm, &mut best);
                break;
            }
            // A full list has nothing nearer left outside the ball.
            if best.is_full() || radius_mm >= limit_mm {
                break;
            }
            radius_mm = radius_mm.saturating_mul(2).min(limit_mm);
        }
        best.finish(out);
    }
}

/// How much of a box lies in a region.
enum Overlap {
    None,
    Part,
    Whole,
}

/// Compares a whole box with a region; `Part` when that is not worth knowing exactly.
fn compare(region: &Region, aabb: &Aabb128) -> Overlap {
    match region {
        Region::Ball { center, .. } => {
            // The nearest point and the farthest corner are extreme on each axis, so for every metric.
            if !region.contains(&aabb.nearest_point(center)) {
                Overlap::None
            } else if region.contains(&aabb.farthest_corner(center)) {
                Overlap::Whole
            } else {
                Overlap::Part
            }
        }
        Region::Box(wanted) if wanted.contains(&aabb.min()) && wanted.contains(&aabb.max()) => {
            Overlap::Whole
        }
        Region::Box(_) | Region::Swept { .. } => Overlap::Part,
    }
}
