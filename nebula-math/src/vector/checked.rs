//! The `checked_` family: `None` when any axis has no result in `i128`.

use crate::IVec3_128;

impl IVec3_128 {
    /// Returns `self + other` axis by axis, or `None` when a component leaves `i128`.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let v = IVec3_128::new(i128::MAX, 0, 0);
    /// assert_eq!(v.checked_add(IVec3_128::NEG_X), Some(IVec3_128::new(i128::MAX - 1, 0, 0)));
    /// assert_eq!(v.checked_add(IVec3_128::X), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        self.try_zip(other, i128::checked_add)
    }

    /// Returns `self - other` axis by axis, or `None` when a component leaves `i128`.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::MIN.checked_sub(IVec3_128::Z), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        self.try_zip(other, i128::checked_sub)
    }

    /// Returns `self * other` axis by axis, or `None` when a component leaves `i128`.
    #[must_use]
    #[inline]
    pub fn checked_mul(self, other: Self) -> Option<Self> {
        self.try_zip(other, i128::checked_mul)
    }

    /// Returns `self / other` axis by axis, or `None` when a component leaves `i128`, or a divisor is zero.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::ONE.checked_div(IVec3_128::X), None); // y and z divide by zero
    /// ```
    #[must_use]
    #[inline]
    pub fn checked_div(self, other: Self) -> Option<Self> {
        self.try_zip(other, i128::checked_div)
    }

    /// Returns `self % other` axis by axis, or `None` when a component leaves `i128`, or a divisor is zero.
    #[must_use]
    #[inline]
    pub fn checked_rem(self, other: Self) -> Option<Self> {
        self.try_zip(other, i128::checked_rem)
    }

    /// Returns the Euclidean quotient of each pair of components, or `None` when a component leaves `i128`, or a divisor is zero.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let cell = IVec3_128::splat(10);
    /// let cells = IVec3_128::new(-1, -10, 10).checked_div_euclid(cell);
    /// assert_eq!(cells, Some(IVec3_128::new(-1, -1, 1)));
    /// assert_eq!(cell.checked_div_euclid(IVec3_128::X), None); // y and z divide by zero
    /// ```
    #[must_use]
    #[inline]
    pub fn checked_div_euclid(self, other: Self) -> Option<Self> {
        self.try_zip(other, i128::checked_div_euclid)
    }

    /// Returns the Euclidean remainder of each pair of components, or `None` when a component leaves `i128`, or a divisor is zero.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let cell = IVec3_128::splat(10);
    /// let places = IVec3_128::new(-1, -10, 13).checked_rem_euclid(cell);
    /// assert_eq!(places, Some(IVec3_128::new(9, 0, 3)));
    /// assert_eq!(cell.checked_rem_euclid(IVec3_128::ZERO), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn checked_rem_euclid(self, other: Self) -> Option<Self> {
        self.try_zip(other, i128::checked_rem_euclid)
    }

    /// Returns `-self`, or `None` when a component is `i128::MIN`.
    #[must_use]
    #[inline]
    pub fn checked_neg(self) -> Option<Self> {
        self.try_zip(self, |c, _| c.checked_neg())
    }

    /// Returns the magnitude of each component, or `None` when a component is `i128::MIN`.
    #[must_use]
    #[inline]
    pub fn checked_abs(self) -> Option<Self> {
        self.try_zip(self, |c, _| c.checked_abs())
    }

    /// Returns `self << bits`, or `None` when `bits` is 128 or more. As with integers, bits
    /// that are shifted out are lost.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::ONE.checked_shl(32), Some(IVec3_128::splat(1 << 32)));
    /// assert_eq!(IVec3_128::ONE.checked_shl(128), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn checked_shl(self, bits: u32) -> Option<Self> {
        self.try_zip(self, |c, _| c.checked_shl(bits))
    }

    /// Returns `self >> bits`, or `None` when `bits` is 128 or more. As with integers, bits
    /// that are shifted out are lost.
    #[must_use]
    #[inline]
    pub fn checked_shr(self, bits: u32) -> Option<Self> {
        self.try_zip(self, |c, _| c.checked_shr(bits))
    }
}
