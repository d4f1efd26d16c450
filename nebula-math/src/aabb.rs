//! `Aabb128`: an inclusive box.

use crate::{U384, WorldPosition};

/// An axis-aligned box whose two corners belong to it.
///
/// A box always holds at least one point: `min <= max` on every axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Aabb128 {
    min: WorldPosition,
    max: WorldPosition,
}

impl Aabb128 {
    /// The whole universe.
    pub const UNIVERSE: Self = Self {
        min: WorldPosition::MIN,
        max: WorldPosition::MAX,
    };

    /// Makes the box spanned by two opposite corners, given in any order.
    #[must_use]
    pub fn from_corners(a: WorldPosition, b: WorldPosition) -> Self {
        Self {
            min: WorldPosition::new(a.x.min(b.x), a.y.min(b.y), a.z.min(b.z)),
            max: WorldPosition::new(a.x.max(b.x), a.y.max(b.y), a.z.max(b.z)),
        }
    }

    /// Returns the corner with the smallest coordinates.
    #[must_use]
    #[inline]
    pub const fn min(&self) -> WorldPosition {
        self.min
    }

    /// Returns the corner with the largest coordinates.
    #[must_use]
    #[inline]
    pub const fn max(&self) -> WorldPosition {
        self.max
    }

    /// Returns whether the point lies in the box, its boundary included.
    #[must_use]
    #[inline]
    pub const fn contains(&self, p: &WorldPosition) -> bool {
        self.min.x <= p.x
            && p.x <= self.max.x
            && self.min.y <= p.y
            && p.y <= self.max.y
            && self.min.z <= p.z
            && p.z <= self.max.z
    }

    /// Returns the exact squared distance from the box to `p`; zero inside.
    #[must_use]
    pub fn distance_squared(&self, p: &WorldPosition) -> U384 {
        self.nearest_point(p).distance_squared(p)
    }

    /// Returns the point of the box that is nearest to `p`.
    #[must_use]
    #[inline]
    pub fn nearest_point(&self, p: &WorldPosition) -> WorldPosition {
        WorldPosition::new(
            p.x.clamp(self.min.x, self.max.x),
            p.y.clamp(self.min.y, self.max.y),
            p.z.clamp(self.min.z, self.max.z),
        )
    }

    /// Returns the corner of the box that is farthest from `p`.
    #[must_use]
    pub fn farthest_corner(&self, p: &WorldPosition) -> WorldPosition {
        let far = |lo: i128, hi: i128, at: i128| {
            if at.abs_diff(lo) > at.abs_diff(hi) {
                lo
            } else {
                hi
            }
        };
        WorldPosition::new(
            far(self.min.x, self.max.x, p.x),
            far(self.min.y, self.max.y, p.y),
            far(self.min.z, self.max.z, p.z),
        )
    }
}
