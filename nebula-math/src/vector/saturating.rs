//! The `saturating_` family: the nearest `i128` when an axis overflows.

use crate::IVec3_128;

impl IVec3_128 {
    /// Returns `self + other` axis by axis; a component that would leave `i128` stops at its end.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let v = IVec3_128::new(i128::MAX, i128::MIN, 5);
    /// let moved = v.saturating_add(IVec3_128::new(1, -1, 1));
    /// assert_eq!(moved, IVec3_128::new(i128::MAX, i128::MIN, 6));
    /// ```
    #[must_use]
    #[inline]
    pub fn saturating_add(self, other: Self) -> Self {
        self.zip(other, i128::saturating_add)
    }

    /// Returns `self - other` axis by axis; a component that would leave `i128` stops at its end.
    #[must_use]
    #[inline]
    pub fn saturating_sub(self, other: Self) -> Self {
        self.zip(other, i128::saturating_sub)
    }

    /// Returns `self * other` axis by axis; a component that would leave `i128` stops at its end.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let v = IVec3_128::new(i128::MAX, i128::MIN, -5).saturating_mul(IVec3_128::splat(2));
    /// assert_eq!(v, IVec3_128::new(i128::MAX, i128::MIN, -10));
    /// ```
    #[must_use]
    #[inline]
    pub fn saturating_mul(self, other: Self) -> Self {
        self.zip(other, i128::saturating_mul)
    }

    /// Returns `self / other` axis by axis; `MIN / -1` gives `MAX`.
    ///
    /// # Panics
    /// When a component of `other` is zero.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let v = IVec3_128::new(i128::MIN, -7, 7).saturating_div(IVec3_128::new(-1, 2, 2));
    /// assert_eq!(v, IVec3_128::new(i128::MAX, -3, 3)); // rounds towards zero
    /// ```
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn saturating_div(self, other: Self) -> Self {
        other.refuse_zero("checked_div");
        self.zip(other, i128::saturating_div)
    }

    /// Returns `-self`; `MIN` gives `MAX`.
    #[must_use]
    #[inline]
    pub fn saturating_neg(self) -> Self {
        self.map(i128::saturating_neg)
    }

    /// Returns the magnitude of each component; `MIN` gives `MAX`.
    #[must_use]
    #[inline]
    pub fn saturating_abs(self) -> Self {
        self.map(i128::saturating_abs)
    }
}
