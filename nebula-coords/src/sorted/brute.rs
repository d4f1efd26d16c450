//! Pairs without any order: each against each, and each against its surroundings.

use core::ops::ControlFlow;

use nebula_math::{Aabb128, WorldPosition};

use super::SortedIndex;
use super::query::touches;

impl<I: Copy + Ord> SortedIndex<I> {
    /// Hands every pair of touching spheres to `f` by asking each against each: the slow twin of
    /// [`visit_pairs`](Self::visit_pairs), and the faster one for up to a dozen entries.
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

    /// Finds pairs where numbers are too large for the sweep: each entry asks for the smaller ones around
    /// it, so that one giant does not make every question wide.
    pub(super) fn visit_pairs_wide(
        &self,
        mut f: impl FnMut(I, I) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        for i in 0..self.ids.len() {
            let size = (self.radii[i], i);
            let bounds = around(&self.positions[i], self.radii[i]);
            self.walk(&bounds, |run| {
                for j in run {
                    if (self.radii[j], j) < size {
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

/// Returns the box in which a sphere of this radius touches the middles of no larger ones.
fn around(at: &WorldPosition, radius_mm: i128) -> Aabb128 {
    let reach = radius_mm.max(0).saturating_mul(2);
    let wide = radius_mm > i128::MAX / 2;
    let low = |v: i128| {
        if wide {
            i128::MIN
        } else {
            v.saturating_sub(reach)
        }
    };
    let high = |v: i128| {
        if wide {
            i128::MAX
        } else {
            v.saturating_add(reach)
        }
    };
    Aabb128::from_corners(
        WorldPosition::new(low(at.x), low(at.y), low(at.z)),
        WorldPosition::new(high(at.x), high(at.y), high(at.z)),
    )
}
