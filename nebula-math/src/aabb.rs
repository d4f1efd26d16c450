//! `Aabb128`: an inclusive box.

mod sets;
mod sphere;

use crate::{AabbError, U384, WorldPosition};

/// An axis-aligned box whose two corners belong to it.
///
/// A box always holds at least one point: `min <= max` on every axis. Every answer is exact for
/// every box, point and radius.
///
/// ```
/// use nebula_math::{Aabb128, WorldPosition};
///
/// let room = Aabb128::from_corners(WorldPosition::new(5, 5, 5), WorldPosition::new(-5, 0, 0));
/// assert_eq!(room.min(), WorldPosition::new(-5, 0, 0));
/// assert!(room.contains(&WorldPosition::new(5, 0, 3))); // the boundary counts
/// ```
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
    /// assert_eq!(
    ///     swapped.unwrap_err().to_string(),
    ///     "a box needs min <= max, but on y min is 5 and max is -5"
    /// );
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
    #[inline]
    pub fn from_corners(a: WorldPosition, b: WorldPosition) -> Self {
        Self {
            min: a.min_corner(b),
            max: a.max_corner(b),
        }
    }

    /// Makes the box that holds the one point.
    #[must_use]
    #[inline]
    pub const fn from_point(p: WorldPosition) -> Self {
        Self { min: p, max: p }
    }

    /// Makes the smallest box that holds all the points, or `None` without any.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let points = [WorldPosition::new(-1, 5, 0), WorldPosition::new(3, -5, 0)];
    /// let hull = Aabb128::from_points(points).unwrap();
    /// assert_eq!(hull.max(), WorldPosition::new(3, 5, 0));
    /// assert_eq!(Aabb128::from_points([]), None);
    /// ```
    #[must_use]
    pub fn from_points(points: impl IntoIterator<Item = WorldPosition>) -> Option<Self> {
        points
            .into_iter()
            .map(Self::from_point)
            .reduce(|hull, point| hull.union(&point))
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

    /// Returns the middle of the box; a half millimetre rounds down on each axis.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let b = Aabb128::from_corners(WorldPosition::new(-3, 0, 0), WorldPosition::new(0, 4, 0));
    /// assert_eq!(b.center(), WorldPosition::new(-2, 2, 0));
    /// ```
    #[must_use]
    #[inline]
    pub const fn center(&self) -> WorldPosition {
        self.min.midpoint(&self.max)
    }

    /// Returns the length of the box along each axis, zero for a single point.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let b = Aabb128::from_corners(WorldPosition::new(-3, 0, 0), WorldPosition::new(0, 4, 0));
    /// assert_eq!(b.size(), [3, 4, 0]);
    /// assert_eq!(Aabb128::UNIVERSE.size(), [u128::MAX; 3]);
    /// ```
    #[must_use]
    #[inline]
    pub const fn size(&self) -> [u128; 3] {
        self.min.abs_diff(&self.max)
    }

    /// Returns the eight corners: those at `min.x` first, of these the ones at `min.y` first, and of
    /// these the one at `min.z`. A flat box repeats some.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let corners = Aabb128::UNIVERSE.corners();
    /// assert_eq!(corners[0], WorldPosition::MIN);
    /// assert_eq!(corners[1], WorldPosition::new(i128::MIN, i128::MIN, i128::MAX));
    /// assert_eq!(corners[7], WorldPosition::MAX);
    /// ```
    #[must_use]
    pub fn corners(&self) -> [WorldPosition; 8] {
        let (lo, hi) = (self.min, self.max);
        core::array::from_fn(|i| {
            WorldPosition::new(
                if i & 4 == 0 { lo.x } else { hi.x },
                if i & 2 == 0 { lo.y } else { hi.y },
                if i & 1 == 0 { lo.z } else { hi.z },
            )
        })
    }

    /// Returns whether the point lies in the box, its boundary included.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let b = Aabb128::from_corners(WorldPosition::new(-3, 0, 0), WorldPosition::new(0, 4, 0));
    /// assert!(b.contains(&WorldPosition::new(-3, 4, 0)));
    /// assert!(!b.contains(&WorldPosition::new(-4, 4, 0)));
    /// ```
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
    ///
    /// ```
    /// use nebula_math::{Aabb128, U384, WorldPosition};
    ///
    /// let room = Aabb128::from_corners(WorldPosition::ORIGIN, WorldPosition::new(9, 9, 9));
    /// assert_eq!(room.distance_squared(&WorldPosition::new(-3, 13, 5)), U384::from(25));
    /// ```
    #[must_use]
    #[inline]
    pub fn distance_squared(&self, p: &WorldPosition) -> U384 {
        self.nearest_point(p).distance_squared(p)
    }

    /// Returns the point of the box that is nearest to `p`: `p` itself inside.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let b = Aabb128::from_corners(WorldPosition::new(-3, 0, 0), WorldPosition::new(0, 4, 0));
    /// let nearest = b.nearest_point(&WorldPosition::new(-9, 2, i128::MAX));
    /// assert_eq!(nearest, WorldPosition::new(-3, 2, 0));
    /// ```
    #[must_use]
    #[inline]
    pub fn nearest_point(&self, p: &WorldPosition) -> WorldPosition {
        p.max_corner(self.min).min_corner(self.max)
    }

    /// Returns the corner of the box that is nearest to `p`; of two as near, the larger coordinate
    /// wins.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let room = Aabb128::from_corners(WorldPosition::ORIGIN, WorldPosition::new(9, 9, 9));
    /// let corner = room.nearest_corner(&WorldPosition::new(4, 5, -100));
    /// assert_eq!(corner, WorldPosition::new(0, 9, 0));
    /// ```
    #[must_use]
    #[inline]
    pub fn nearest_corner(&self, p: &WorldPosition) -> WorldPosition {
        self.corner_by(p, |to_min, to_max| to_min < to_max)
    }

    /// Returns the corner of the box that is farthest from `p`; of two as far, the larger
    /// coordinate wins.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let room = Aabb128::from_corners(WorldPosition::ORIGIN, WorldPosition::new(9, 9, 9));
    /// let corner = room.farthest_corner(&WorldPosition::new(4, 5, -100));
    /// assert_eq!(corner, WorldPosition::new(9, 0, 9));
    /// ```
    #[must_use]
    #[inline]
    pub fn farthest_corner(&self, p: &WorldPosition) -> WorldPosition {
        self.corner_by(p, |to_min, to_max| to_min > to_max)
    }

    /// Takes the smaller coordinate on the axes where `pick(distance to min, distance to max)`.
    #[inline]
    fn corner_by(&self, p: &WorldPosition, pick: impl Fn(u128, u128) -> bool) -> WorldPosition {
        let choose = |min: i128, max: i128, at: i128| {
            if pick(at.abs_diff(min), at.abs_diff(max)) {
                min
            } else {
                max
            }
        };
        WorldPosition::new(
            choose(self.min.x, self.max.x, p.x),
            choose(self.min.y, self.max.y, p.y),
            choose(self.min.z, self.max.z, p.z),
        )
    }
}
