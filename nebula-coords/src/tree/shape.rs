//! Shapes: regions as the tree asks about them.

use core::ops::Range;

use super::cube::{Cube, Key, key_of, position_of};
use super::leaf::Leaf;
use super::node::slots_touched;
use super::simd;
use crate::Region;

/// How a shape and a cube lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Relation {
    /// They share no point.
    Outside,
    /// Every point of the cube is in the shape.
    Inside,
    /// Neither is known.
    Partial,
}

pub(super) trait Shape {
    /// Returns the fine slots of a node's cube that a box around the shape touches. The two
    /// overlap.
    fn touched(&self, cube: &Cube, stray: u8) -> u64;

    /// Returns how a cube lies whose points may stray out of it by so many bits. `Partial` is always a right answer, and the slowest.
    fn relation(&self, cube: &Cube, stray: u8) -> Relation;

    /// Returns whether the shape holds a point, exactly.
    fn contains(&self, key: &Key) -> bool;
}

/// Who takes the ids of points that were picked.
pub(super) trait Keep<I> {
    /// Takes the ids whose bits are set: of up to 64, in order.
    fn keep(&mut self, ids: &[I], bits: u64);
}

impl<I: Copy> Keep<I> for Vec<I> {
    #[inline]
    fn keep(&mut self, ids: &[I], bits: u64) {
        simd::append_kept(self, ids, bits);
    }
}

/// Who can pick points of a leaf.
pub(super) trait Scan {
    /// Hands the ids of a leaf's points in some slots that are wanted to `out`, in slot order. The first slot
    /// is that of a block.
    fn scan<I: Copy>(&self, leaf: &Leaf<I>, slots: Range<usize>, out: &mut impl Keep<I>);
}

impl<S: Shape> Scan for S {
    fn scan<I: Copy>(&self, leaf: &Leaf<I>, slots: Range<usize>, out: &mut impl Keep<I>) {
        for (slot, id) in slots.clone().zip(&leaf.ids()[slots]) {
            if self.contains(&leaf.key(slot)) {
                out.keep(core::slice::from_ref(id), 1);
            }
        }
    }
}

/// Returns the distance from `at` to the nearest point of `low..=high`, and to the farthest.
#[inline]
pub(super) fn near_and_far(at: u128, low: u128, high: u128) -> (u128, u128) {
    let near = if at < low {
        low - at
    } else {
        at.saturating_sub(high)
    };
    (near, at.abs_diff(low).max(at.abs_diff(high)))
}

/// Returns how a cube lies to a ball that reaches some distances along the axes from its centre.
#[inline]
pub(super) fn relation_by(
    center: &Key,
    cube: &Cube,
    stray: u8,
    reaches: impl Fn([u128; 3]) -> bool,
) -> Relation {
    let (low, high) = cube.stretched(stray);
    let ends = [0, 1, 2].map(|k| near_and_far(center[k], low[k], high[k]));
    if !reaches(ends.map(|(near, _)| near)) {
        Relation::Outside
    } else if reaches(ends.map(|(_, far)| far)) {
        Relation::Inside
    } else {
        Relation::Partial
    }
}

/// A box; also the ball of the Chebyshev metric.
pub(super) struct BoxShape {
    pub(super) low: Key,
    pub(super) high: Key,
}

impl Shape for BoxShape {
    #[inline]
    fn touched(&self, cube: &Cube, stray: u8) -> u64 {
        slots_touched(cube, stray, &self.low, &self.high)
    }

    fn relation(&self, cube: &Cube, stray: u8) -> Relation {
        let (first, last) = cube.stretched(stray);
        if (0..3).any(|k| last[k] < self.low[k] || self.high[k] < first[k]) {
            Relation::Outside
        } else if (0..3).all(|k| self.low[k] <= first[k] && last[k] <= self.high[k]) {
            Relation::Inside
        } else {
            Relation::Partial
        }
    }

    fn contains(&self, key: &Key) -> bool {
        (0..3).all(|k| self.low[k] <= key[k] && key[k] <= self.high[k])
    }
}

/// The ball of the Manhattan metric.
pub(super) struct Diamond {
    pub(super) center: Key,
    pub(super) radius: u128,
    pub(super) bounds: BoxShape,
}

impl Diamond {
    fn reaches(&self, distances: [u128; 3]) -> bool {
        let [x, y, z] = distances;
        x.checked_add(y)
            .and_then(|sum| sum.checked_add(z))
            .is_some_and(|sum| sum <= self.radius)
    }
}

impl Shape for Diamond {
    fn touched(&self, cube: &Cube, stray: u8) -> u64 {
        self.bounds.touched(cube, stray)
    }

    fn relation(&self, cube: &Cube, stray: u8) -> Relation {
        relation_by(&self.center, cube, stray, |distances| {
            self.reaches(distances)
        })
    }

    fn contains(&self, key: &Key) -> bool {
        self.reaches([0, 1, 2].map(|k| self.center[k].abs_diff(key[k])))
    }
}

/// The space a sphere sweeps. A cube is judged by the sphere around it.
pub(super) struct Sweep {
    pub(super) region: Region,
    pub(super) bounds: BoxShape,
}

impl Sweep {
    /// Returns whether a point is within reach of the swept segment when the radius changes.
    fn reaches(&self, key: &Key, change: impl Fn(i128) -> Option<i128>) -> Option<bool> {
        let Region::Swept {
            from,
            to,
            radius_mm,
        } = self.region
        else {
            return None;
        };
        Some(Region::swept(from, to, change(radius_mm)?).contains(&position_of(key)))
    }
}

impl Shape for Sweep {
    fn touched(&self, cube: &Cube, stray: u8) -> u64 {
        self.bounds.touched(cube, stray)
    }

    fn relation(&self, cube: &Cube, stray: u8) -> Relation {
        if self.bounds.relation(cube, stray) == Relation::Outside {
            return Relation::Outside;
        }
        if cube.level > 120 {
            return Relation::Partial;
        }
        // From the middle no point of the cube is farther than sqrt(3) / 2 of its side, plus what
        // its slack of a 64th and rounding the middle to a key cost; one whole side and 2 covers all.
        let middle = cube.origin.map(|v| v + ((1 << cube.level) >> 1));
        let reach = (1_i128 << cube.level) + 2;
        if self.reaches(&middle, |r| r.checked_add(reach)) == Some(false) {
            Relation::Outside
        } else if self.reaches(&middle, |r| r.checked_sub(reach)) == Some(true) {
            Relation::Inside
        } else {
            Relation::Partial
        }
    }

    fn contains(&self, key: &Key) -> bool {
        self.region.contains(&position_of(key))
    }
}

impl BoxShape {
    /// Returns the box around a region, or `None` if the region holds nothing.
    pub(super) fn around(region: &Region) -> Option<Self> {
        let bounds = region.bounds()?;
        Some(Self {
            low: key_of(&bounds.min()),
            high: key_of(&bounds.max()),
        })
    }
}
