//! Boxes with spheres. A sphere includes its surface; one of negative radius holds nothing.

use crate::{Aabb128, WorldPosition};

impl Aabb128 {
    /// Returns the smallest box that holds every point of the universe within `radius_mm` of
    /// `center`, or `None` for a negative radius. It ends where the universe does.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let around = Aabb128::around_sphere(&WorldPosition::new(i128::MIN, 0, 0), 10).unwrap();
    /// assert_eq!(around.min(), WorldPosition::new(i128::MIN, -10, -10));
    /// assert_eq!(Aabb128::around_sphere(&WorldPosition::ORIGIN, -1), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn around_sphere(center: &WorldPosition, radius_mm: i128) -> Option<Self> {
        let by = u128::try_from(radius_mm).ok()?;
        Some(Self::from_point(*center).saturating_expand(by))
    }

    /// Returns whether some point of the box is within `radius_mm` of `center`; touching counts.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let room = Aabb128::from_corners(WorldPosition::ORIGIN, WorldPosition::new(9, 9, 9));
    /// let center = WorldPosition::new(-3, -4, 5);
    /// assert!(room.intersects_sphere(&center, 5));
    /// assert!(!room.intersects_sphere(&center, 4));
    /// ```
    #[must_use]
    #[inline]
    pub fn intersects_sphere(&self, center: &WorldPosition, radius_mm: i128) -> bool {
        self.nearest_point(center).is_within(center, radius_mm)
    }

    /// Returns whether every point of the box is within `radius_mm` of `center`.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let plate = Aabb128::from_corners(WorldPosition::new(-3, -4, 0), WorldPosition::new(3, 4, 0));
    /// assert!(plate.is_inside_sphere(&WorldPosition::ORIGIN, 5));
    /// assert!(!plate.is_inside_sphere(&WorldPosition::ORIGIN, 4));
    /// ```
    #[must_use]
    #[inline]
    pub fn is_inside_sphere(&self, center: &WorldPosition, radius_mm: i128) -> bool {
        self.farthest_corner(center).is_within(center, radius_mm)
    }

    /// Returns whether the whole sphere lies in the box. A sphere that reaches past the end of the
    /// universe lies in no box; one of negative radius, holding nothing, in every box.
    ///
    /// ```
    /// use nebula_math::{Aabb128, WorldPosition};
    ///
    /// let room = Aabb128::from_corners(WorldPosition::ORIGIN, WorldPosition::new(9, 9, 9));
    /// assert!(room.contains_sphere(&WorldPosition::new(4, 4, 4), 4));
    /// assert!(!room.contains_sphere(&WorldPosition::new(4, 4, 4), 5));
    /// assert!(!Aabb128::UNIVERSE.contains_sphere(&WorldPosition::MAX, 1));
    /// ```
    #[must_use]
    pub fn contains_sphere(&self, center: &WorldPosition, radius_mm: i128) -> bool {
        let Ok(by) = u128::try_from(radius_mm) else {
            return true;
        };
        Self::from_point(*center)
            .checked_expand(by)
            .is_some_and(|around| self.contains_box(&around))
    }
}
