//! Reading a region row by row, skipping what is not there.

use core::ops::{ControlFlow, Range};

use nebula_math::{Aabb128, WorldPosition};

use super::SortedIndex;
use crate::grid::{CellKey, CellRange};
use crate::nearest::Nearest;
use crate::runs::{Look, iter_run, nearest_by_balls, offer_run, visit_run};
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
        for i in self.runs(bounds).flatten() {
            if touches(&self.positions[i], self.radii[i], center, radius_mm) {
                out.push(self.ids[i]);
            }
        }
    }

    /// Returns the ids in a region one by one, in array order, without a buffer.
    ///
    /// ```
    /// use nebula_coords::{Region, SortedIndex};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut index = SortedIndex::default();
    /// index.insert(1_u32, WorldPosition::new(-1, 0, 0));
    /// index.insert(2, WorldPosition::new(-2, 0, 0));
    /// let near = Region::ball(WorldPosition::ORIGIN, 1);
    /// assert!(index.query_iter(&near).eq([1]));
    /// ```
    pub fn query_iter<'a>(&'a self, region: &Region) -> impl Iterator<Item = I> + use<'a, I> {
        let region = *region;
        let runs = region.bounds().map(|bounds| self.runs(bounds));
        let runs = runs.into_iter().flatten();
        runs.flat_map(move |run| iter_run(&self.ids[run.clone()], &self.positions[run], region))
    }

    /// Returns every run of entries whose cells touch the box, row by row.
    ///
    /// From the entry at hand follows the next cell of the range at or after it; a search leads there.
    /// Each search passes a row that exists, and searches gallop, so the work is bounded by the entries
    /// and not by the rows of the range.
    fn runs(&self, bounds: Aabb128) -> impl Iterator<Item = Range<usize>> {
        let range = CellRange {
            min: self.cell_of(&bounds.min()),
            max: self.cell_of(&bounds.max()),
        };
        let mut i = if self.in_order {
            self.lower_bound(0, &range.min)
        } else {
            0
        };
        core::iter::from_fn(move || {
            if !self.in_order {
                // Out of order there are no rows: everything is one run.
                let all = i..self.ids.len();
                i = all.end;
                return Some(all).filter(|all| !all.is_empty());
            }
            while i < self.ids.len() {
                let target = range.at_or_after(&self.key(i))?;
                let start = self.lower_bound(i, &target);
                // The end of the row is a full key, so the walk cannot run on into the next row.
                let row_end = CellKey {
                    x: range.max.x,
                    ..target
                };
                // Past `row_end` lies another row, or the rest of this one beyond the range.
                i = self.upper_bound(start, &row_end);
                if start < i {
                    return Some(start..i);
                }
            }
            None
        })
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

    fn offer(&self, run: Range<usize>, at: &WorldPosition, limit: i128, best: &mut Nearest<I>) {
        offer_run(
            &self.ids[run.clone()],
            &self.positions[run],
            at,
            limit,
            best,
        );
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
            Some(bounds) => self.runs(bounds).try_for_each(|run| {
                visit_run(&self.ids[run.clone()], &self.positions[run], region, f)
            }),
            None => ControlFlow::Continue(()),
        }
    }

    /// Looks at a few growing balls, then at every entry.
    fn nearest(&self, at: &WorldPosition, k: usize, limit_mm: i128, out: &mut Vec<I>) {
        let cell_mm = i128::try_from(self.cell_size_mm()).unwrap_or(i128::MAX);
        let mut rounds = 0;
        nearest_by_balls(k.min(self.len()), cell_mm, limit_mm, out, |look, best| {
            match look {
                Look::Ball(_) if rounds == NEAREST_ROUNDS => return false,
                Look::Ball(radius_mm) => {
                    rounds += 1;
                    let bounds = Region::ball(*at, radius_mm).bounds();
                    for run in bounds.into_iter().flat_map(|bounds| self.runs(bounds)) {
                        self.offer(run, at, radius_mm, best);
                    }
                }
                Look::All => self.offer(0..self.ids.len(), at, limit_mm, best),
            }
            true
        });
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
