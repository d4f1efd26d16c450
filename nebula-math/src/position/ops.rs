//! Moving points: operators, the `checked_` / `saturating_` / `wrapping_` families, conversions.

use core::ops::{Add, AddAssign, Sub, SubAssign};

use crate::{IVec3_128, WorldPosition};

impl WorldPosition {
    /// Returns the point moved by `by`, or `None` when it would leave the universe.
    ///
    /// ```
    /// use nebula_math::{IVec3_128, WorldPosition};
    ///
    /// let edge = WorldPosition::new(0, 0, i128::MAX);
    /// assert_eq!(edge.checked_add(IVec3_128::Z), None);
    /// assert_eq!(edge.checked_add(IVec3_128::X), Some(WorldPosition::new(1, 0, i128::MAX)));
    /// ```
    #[must_use]
    #[inline]
    pub fn checked_add(self, by: IVec3_128) -> Option<Self> {
        self.as_vector().checked_add(by).map(Self::at)
    }

    /// Returns the point moved back by `by`, or `None` when it would leave the universe.
    #[must_use]
    #[inline]
    pub fn checked_sub(self, by: IVec3_128) -> Option<Self> {
        self.as_vector().checked_sub(by).map(Self::at)
    }

    /// Returns the point moved by `by`, stopping at the end of the universe on each axis.
    ///
    /// ```
    /// use nebula_math::{IVec3_128, WorldPosition};
    ///
    /// let edge = WorldPosition::new(0, 0, i128::MAX - 1);
    /// let moved = edge.saturating_add(IVec3_128::splat(5));
    /// assert_eq!(moved, WorldPosition::new(5, 5, i128::MAX));
    /// ```
    #[must_use]
    #[inline]
    pub fn saturating_add(self, by: IVec3_128) -> Self {
        Self::at(self.as_vector().saturating_add(by))
    }

    /// Returns the point moved back by `by`, stopping at the end of the universe on each axis.
    #[must_use]
    #[inline]
    pub fn saturating_sub(self, by: IVec3_128) -> Self {
        Self::at(self.as_vector().saturating_sub(by))
    }

    /// Returns the point moved by `by` in a universe whose ends meet.
    ///
    /// ```
    /// use nebula_math::{IVec3_128, WorldPosition};
    ///
    /// let edge = WorldPosition::new(i128::MAX, -1, 0);
    /// let moved = edge.wrapping_add(IVec3_128::ONE);
    /// assert_eq!(moved, WorldPosition::new(i128::MIN, 0, 1));
    /// ```
    #[must_use]
    #[inline]
    pub fn wrapping_add(self, by: IVec3_128) -> Self {
        Self::at(self.as_vector().wrapping_add(by))
    }

    /// Returns the point moved back by `by` in a universe whose ends meet.
    #[must_use]
    #[inline]
    pub fn wrapping_sub(self, by: IVec3_128) -> Self {
        Self::at(self.as_vector().wrapping_sub(by))
    }

    /// Returns the displacement modulo 2^128 that leads from this point to `other` by
    /// [`wrapping_add`](Self::wrapping_add): the shorter way in a universe whose ends meet, and
    /// what [`offset_to`](Self::offset_to) gives where that gives anything.
    ///
    /// ```
    /// use nebula_math::{IVec3_128, WorldPosition};
    ///
    /// let edge = WorldPosition::new(i128::MAX, -1, 0);
    /// let beyond = WorldPosition::new(i128::MIN, 0, 0);
    /// assert_eq!(edge.wrapping_offset_to(&beyond), IVec3_128::new(1, 1, 0));
    /// assert_eq!(edge.offset_to(&beyond), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn wrapping_offset_to(&self, other: &Self) -> IVec3_128 {
        other.as_vector().wrapping_sub(self.as_vector())
    }

    #[inline]
    const fn as_vector(self) -> IVec3_128 {
        IVec3_128::new(self.x, self.y, self.z)
    }

    #[inline]
    const fn at(v: IVec3_128) -> Self {
        Self::new(v.x, v.y, v.z)
    }
}

impl Add<IVec3_128> for WorldPosition {
    type Output = Self;

    /// Moves the point.
    ///
    /// # Panics
    /// When a coordinate leaves the universe, in every profile.
    #[inline]
    #[track_caller]
    fn add(self, by: IVec3_128) -> Self {
        match self.checked_add(by) {
            Some(moved) => moved,
            None => panic!("{self} + {by} leaves the universe; use checked_add to handle that"),
        }
    }
}

impl Sub<IVec3_128> for WorldPosition {
    type Output = Self;

    /// Moves the point back.
    ///
    /// # Panics
    /// When a coordinate leaves the universe, in every profile.
    #[inline]
    #[track_caller]
    fn sub(self, by: IVec3_128) -> Self {
        match self.checked_sub(by) {
            Some(moved) => moved,
            None => panic!("{self} - {by} leaves the universe; use checked_sub to handle that"),
        }
    }
}

impl Sub for WorldPosition {
    type Output = IVec3_128;

    /// Returns the displacement that leads from `other` to this point.
    ///
    /// # Panics
    /// When a component leaves `i128`, in every profile; see
    /// [`offset_to`](WorldPosition::offset_to).
    #[inline]
    #[track_caller]
    fn sub(self, other: Self) -> IVec3_128 {
        match other.offset_to(&self) {
            Some(offset) => offset,
            None => panic!("{self} - {other} overflows i128; use offset_to to handle that"),
        }
    }
}

impl AddAssign<IVec3_128> for WorldPosition {
    #[inline]
    #[track_caller]
    fn add_assign(&mut self, by: IVec3_128) {
        *self = *self + by;
    }
}

impl SubAssign<IVec3_128> for WorldPosition {
    #[inline]
    #[track_caller]
    fn sub_assign(&mut self, by: IVec3_128) {
        *self = *self - by;
    }
}

impl From<[i128; 3]> for WorldPosition {
    #[inline]
    fn from(array: [i128; 3]) -> Self {
        Self::from_array(array)
    }
}

impl From<WorldPosition> for [i128; 3] {
    #[inline]
    fn from(p: WorldPosition) -> Self {
        p.to_array()
    }
}

impl From<(i128, i128, i128)> for WorldPosition {
    #[inline]
    fn from((x, y, z): (i128, i128, i128)) -> Self {
        Self { x, y, z }
    }
}

impl From<WorldPosition> for (i128, i128, i128) {
    #[inline]
    fn from(p: WorldPosition) -> Self {
        (p.x, p.y, p.z)
    }
}
