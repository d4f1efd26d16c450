//! Pairs without the sweep: each against each, and each against its surroundings.

use core::ops::ControlFlow;

use nebula_math::{Aabb128, WorldPosition};

use super::SortedIndex;
use super::query::touches;
use crate::{Region, SpatialIndex, SpatialQuery};

impl<I: Copy + Ord> SortedIndex<I> {
    /// Hands every pair of touching spheres to `f` by asking each against each: the slow twin of
    /// [`visit_pairs`](Self::visit_pairs), and the faster one for up to a score of entries.
    ///
    /// Pairs come as there, in array order.
    pub fn visit_pairs_brute_force(
        &self,
        mut f: impl FnMut(I, I) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for i in 0..self.ids.len() {
            for j in i + 1..self.ids.len() {
                self.pair(i, j, &mut f)?;
            }
        }
        ControlFlow::Continue(())
    }

    /// Finds pairs where numbers are too large for the sweep: each entry asks a tree for the smaller ones
    /// around it, so that one giant does not make every question wide.
    ///
    /// The tree and not this array, since cells may be far too large or too small for where the entries
    /// are: one cell with everything in it took minutes.
    pub(super) fn visit_pairs_wide(
        &self,
        mut f: impl FnMut(I, I) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        if u32::try_from(self.ids.len()).is_err() {
            return self.visit_pairs_brute_force(f);
        }
        let points: Vec<(u32, WorldPosition)> = (0..).zip(self.positions.iter().copied()).collect();
        let tree = SpatialIndex::from_points(&points);
        for (i, radius) in self.radii.iter().enumerate() {
            let Some(region) = around(&self.positions[i], *radius) else {
                continue;
            };
            tree.visit(&region, &mut |near| {
                for j in near.iter().map(|j| *j as usize) {
                    if (self.radii[j], j) < (*radius, i) {
                        self.pair(j, i, &mut f)?;
                    }
                }
                ControlFlow::Continue(())
            })?;
        }
        ControlFlow::Continue(())
    }

    /// Hands a pair to `f` if it touches, the smaller id first.
    fn pair(
        &self,
        i: usize,
        j: usize,
        f: &mut impl FnMut(I, I) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let near = touches(
            &self.positions[i],
            self.radii[i],
            &self.positions[j],
            self.radii[j],
        );
        if near {
            let (a, b) = (self.ids[i], self.ids[j]);
            return f(a.min(b), a.max(b));
        }
        ControlFlow::Continue(())
    }
}

/// Returns where the middles of no larger spheres lie that this one touches; `None` if it touches nothing.
fn around(at: &WorldPosition, radius_mm: i128) -> Option<Region> {
    (radius_mm >= 0).then(|| {
        radius_mm
            .checked_mul(2)
            .map_or(Region::Box(Aabb128::UNIVERSE), |reach| {
                Region::ball(*at, reach)
            })
    })
}
