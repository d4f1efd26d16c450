//! `Aabb128`: an inclusive box.

use core::error::Error;
use core::fmt;

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

    /// Makes the box from its smallest and its largest corner.
    ///
    /// # Errors
    /// When `min` exceeds `max` on some axis; the error names the axis and both values. Corners in
    /// any order are taken by [`from_corners`](Self::from_corners).
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let swapped = Aabb128::try_new(WorldPosition::new(0, 5, 0), WorldPosition::new(9, -5, 9));
    /// assert_eq!(swapped.unwrap_err().to_string(), "a box needs min <= max, but on y min is 5 and max is -5");
    /// ```
    pub const fn try_new(min: WorldPosition, max: WorldPosition) -> Result<Self, AabbError> {
        if min.x > max.x {
            Err(AabbError::new('x', min.x, max.x))
        } else if min.y > max.y {
            Err(AabbError::new('y', min.y, max.y))
        } else if min.z > max.z {
            Err(AabbError::new('z', min.z, max.z))
        } else {
            Ok(Self { min, max })
        }
    }

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

/// Why two corners are not a box: on some axis the smaller one is larger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AabbError {
    axis: char,
    min: i128,
    max: i128,
}

impl AabbError {
    const fn new(axis: char, min: i128, max: i128) -> Self {
        Self { axis, min, max }
    }
}

impl fmt::Display for AabbError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { axis, min, max } = self;
        write!(
            f,
            "a box needs min <= max, but on {axis} min is {min} and max is {max}"
        )
    }
}

impl Error for AabbError {}
