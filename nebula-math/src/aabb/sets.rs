//! Boxes with boxes: overlap, union, growth.

use crate::{Aabb128, IVec3_128, WorldPosition};

impl Aabb128 {
    /// Returns whether the other box lies wholly in this one; equal boxes do.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let room = Aabb128::from_corners(WorldPosition::new(-9, -9, -9), WorldPosition::ORIGIN);
    /// let wall = Aabb128::from_corners(WorldPosition::new(-9, -9, -9), WorldPosition::new(-9, 0, 0));
    /// assert!(room.contains_box(&wall) && room.contains_box(&room));
    /// assert!(!wall.contains_box(&room));
    /// ```
    #[must_use]
    #[inline]
    pub const fn contains_box(&self, other: &Self) -> bool {
        self.contains(&other.min) && self.contains(&other.max)
    }

    /// Returns whether the boxes share a point; touching ones do.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let left = Aabb128::from_corners(WorldPosition::MIN, WorldPosition::new(-1, 0, 0));
    /// let right = Aabb128::from_corners(WorldPosition::new(-1, 0, 0), WorldPosition::MAX);
    /// assert!(left.intersects(&right));
    /// ```
    #[must_use]
    #[inline]
    pub const fn intersects(&self, other: &Self) -> bool {
        self.min.x <= other.max.x
            && other.min.x <= self.max.x
            && self.min.y <= other.max.y
            && other.min.y <= self.max.y
            && self.min.z <= other.max.z
            && other.min.z <= self.max.z
    }

    /// Returns the smallest box that holds both.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let a = Aabb128::from_point(WorldPosition::new(-5, 0, 7));
    /// let b = Aabb128::from_point(WorldPosition::new(1, -2, 7));
    /// let hull = a.union(&b);
    /// assert_eq!(hull.min(), WorldPosition::new(-5, -2, 7));
    /// assert_eq!(hull.max(), WorldPosition::new(1, 0, 7));
    /// ```
    #[must_use]
    #[inline]
    pub fn union(&self, other: &Self) -> Self {
        Self {
            min: self.min.min_corner(other.min),
            max: self.max.max_corner(other.max),
        }
    }

    /// Returns the box of the points that both hold, or `None` when there are none.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let a = Aabb128::from_corners(WorldPosition::new(-9, -9, -9), WorldPosition::new(2, 2, 2));
    /// let b = Aabb128::from_corners(WorldPosition::ORIGIN, WorldPosition::new(9, 9, 9));
    /// let both = Aabb128::from_corners(WorldPosition::ORIGIN, WorldPosition::new(2, 2, 2));
    /// assert_eq!(a.intersection(&b), Some(both));
    /// ```
    #[must_use]
    #[inline]
    pub fn intersection(&self, other: &Self) -> Option<Self> {
        Self::try_new(
            self.min.max_corner(other.min),
            self.max.min_corner(other.max),
        )
        .ok()
    }

    /// Returns the box grown by `by_mm` on all six sides, or `None` when it would leave the
    /// universe.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let point = Aabb128::from_point(WorldPosition::new(-7, 0, 0));
    /// let grown = point.checked_expand(3).unwrap();
    /// assert_eq!(grown.min(), WorldPosition::new(-10, -3, -3));
    /// assert_eq!(grown.checked_expand(u128::MAX), None);
    /// ```
    #[must_use]
    pub fn checked_expand(&self, by_mm: u128) -> Option<Self> {
        let (lo, hi) = (self.min, self.max);
        Some(Self {
            min: WorldPosition::new(
                lo.x.checked_sub_unsigned(by_mm)?,
                lo.y.checked_sub_unsigned(by_mm)?,
                lo.z.checked_sub_unsigned(by_mm)?,
            ),
            max: WorldPosition::new(
                hi.x.checked_add_unsigned(by_mm)?,
                hi.y.checked_add_unsigned(by_mm)?,
                hi.z.checked_add_unsigned(by_mm)?,
            ),
        })
    }

    /// Returns the box grown by `by_mm` on all six sides as far as the universe goes. No point is
    /// lost by that: none lies beyond.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let corner = Aabb128::from_point(WorldPosition::MAX).saturating_expand(5);
    /// assert_eq!(corner.size(), [5, 5, 5]);
    /// ```
    #[must_use]
    pub const fn saturating_expand(&self, by_mm: u128) -> Self {
        let (lo, hi) = (self.min, self.max);
        Self {
            min: WorldPosition::new(
                lo.x.saturating_sub_unsigned(by_mm),
                lo.y.saturating_sub_unsigned(by_mm),
                lo.z.saturating_sub_unsigned(by_mm),
            ),
            max: WorldPosition::new(
                hi.x.saturating_add_unsigned(by_mm),
                hi.y.saturating_add_unsigned(by_mm),
                hi.z.saturating_add_unsigned(by_mm),
            ),
        }
    }

    /// Returns the box with `by_mm` taken off all six sides, or `None` when nothing is left.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let room = Aabb128::from_corners(WorldPosition::ORIGIN, WorldPosition::new(10, 10, 4));
    /// assert_eq!(room.checked_shrink(2).map(|b| b.size()), Some([6, 6, 0]));
    /// assert_eq!(room.checked_shrink(3), None);
    /// ```
    #[must_use]
    pub fn checked_shrink(&self, by_mm: u128) -> Option<Self> {
        let (lo, hi) = (self.min, self.max);
        let min = WorldPosition::new(
            lo.x.checked_add_unsigned(by_mm)?,
            lo.y.checked_add_unsigned(by_mm)?,
            lo.z.checked_add_unsigned(by_mm)?,
        );
        let max = WorldPosition::new(
            hi.x.checked_sub_unsigned(by_mm)?,
            hi.y.checked_sub_unsigned(by_mm)?,
            hi.z.checked_sub_unsigned(by_mm)?,
        );
        Self::try_new(min, max).ok()
    }

    /// Returns the box moved by `by`, or `None` when it would leave the universe.
    ///
    /// ```
    /// use nebula_math::{Aabb128, IVec3_128, WorldPosition};
    ///
    /// let b = Aabb128::from_point(WorldPosition::new(i128::MIN, 0, 0));
    /// let moved = b.checked_add(IVec3_128::new(5, -1, 0)).unwrap();
    /// assert_eq!(moved.min(), WorldPosition::new(i128::MIN + 5, -1, 0));
    /// assert_eq!(b.checked_add(IVec3_128::NEG_X), None);
    /// ```
    #[must_use]
    pub fn checked_add(&self, by: IVec3_128) -> Option<Self> {
        Some(Self {
            min: self.min.checked_add(by)?,
            max: self.max.checked_add(by)?,
        })
    }
}
