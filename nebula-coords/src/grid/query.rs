//! The grid's questions: candidates (whole cells) and exact answers.

use core::hash::{BuildHasher, Hash};
use core::ops::ControlFlow;

use nebula_math::{Aabb128, WorldPosition};

use super::cells::CellRange;
use super::{Cell, CellKey, SpatialGrid};
use crate::nearest::Nearest;
use crate::runs::{Look, iter_run, nearest_by_balls, offer_run, visit_run};
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
            Some(bounds) => self
                .cells_in(self.range_of(&bounds))
                .try_for_each(|cell| f(&cell.ids)),
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

    /// Returns the ids in a region one by one, in the order of `visit`, without a buffer.
    ///
    /// ```
    /// use nebula_coords::{Region, SpatialGrid};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut grid = SpatialGrid::default();
    /// grid.insert(1_u32, WorldPosition::new(-1, 0, 0));
    /// grid.insert(2, WorldPosition::new(-2, 0, 0));
    /// let near = Region::ball(WorldPosition::ORIGIN, 1);
    /// assert!(grid.query_iter(&near).eq([1]));
    /// ```
    pub fn query_iter<'a>(&'a self, region: &Region) -> impl Iterator<Item = I> + use<'a, I, S> {
        let region = *region;
        let cells = region
            .bounds()
            .map(|bounds| self.cells_in(self.range_of(&bounds)));
        cells
            .into_iter()
            .flatten()
            .flat_map(move |cell| iter_run(&cell.ids, &cell.positions, region))
    }

    /// Returns every occupied cell of the range: each of its keys looked up, or each occupied cell compared with
    /// it, whichever are fewer.
    fn cells_in(&self, range: CellRange) -> impl Iterator<Item = &Cell<I>> {
        let is_wide = range.count() > self.occupied.len() as u128;
        let listed = (if is_wide {
            self.occupied.as_slice()
        } else {
            &[]
        })
        .iter()
        .map(|slot| &self.cells[*slot])
        .filter(move |cell| range.contains(&cell.key));
        let keys = (!is_wide).then(|| range.keys()).into_iter().flatten();
        let found = keys.filter_map(|key| self.slots.get(&key).map(|slot| &self.cells[*slot]));
        listed.chain(found)
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
        visit_run(&cell.ids, &cell.positions, region, f)
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
        for cell in self.cells_in(range) {
            offer_run(&cell.ids, &cell.positions, at, radius_mm, best);
        }
        true
    }

    /// Offers everything at most `limit_mm` away, cell by cell, without those that cannot win.
    fn offer_all(&self, at: &WorldPosition, limit_mm: i128, best: &mut Nearest<I>) {
        for slot in &self.occupied {
            let cell = &self.cells[*slot];
            if best.refuses(self.cell_bounds(&cell.key).distance_squared(at)) {
                continue;
            }
            offer_run(&cell.ids, &cell.positions, at, limit_mm, best);
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
            Some(bounds) => self
                .cells_in(self.range_of(&bounds))
                .try_for_each(|cell| self.visit_cell(cell, region, f)),
            None => ControlFlow::Continue(()),
        }
    }

    /// Looks at growing balls while they touch few cells, then at each occupied cell once.
    fn nearest(&self, at: &WorldPosition, k: usize, limit_mm: i128, out: &mut Vec<I>) {
        nearest_by_balls(
            k.min(self.len()),
            self.cell_mm,
            limit_mm,
            out,
            |look, best| match look {
                Look::Ball(radius_mm) => self.offer_near(at, radius_mm, best),
                Look::All => {
                    self.offer_all(at, limit_mm, best);
                    true
                }
            },
        );
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
