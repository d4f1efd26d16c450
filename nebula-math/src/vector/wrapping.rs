//! The `wrapping_` family: results modulo 2^128, for kernels that mean it.

use crate::IVec3_128;

impl IVec3_128 {
    /// Returns `self + other` axis by axis, modulo 2^128.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let v = IVec3_128::new(i128::MAX, 0, 0);
    /// assert_eq!(v.wrapping_add(IVec3_128::X), IVec3_128::new(i128::MIN, 0, 0));
    /// ```
    #[must_use]
    #[inline]
    pub fn wrapping_add(self, other: Self) -> Self {
        self.zip(other, i128::wrapping_add)
    }

    /// Returns `self - other` axis by axis, modulo 2^128.
    #[must_use]
    #[inline]
    pub fn wrapping_sub(self, other: Self) -> Self {
        self.zip(other, i128::wrapping_sub)
    }

    /// Returns `self * other` axis by axis, modulo 2^128.
    #[must_use]
    #[inline]
    pub fn wrapping_mul(self, other: Self) -> Self {
        self.zip(other, i128::wrapping_mul)
    }

    /// Returns `self / other` axis by axis, modulo 2^128.
    ///
    /// # Panics
    /// When a component of `other` is zero.
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn wrapping_div(self, other: Self) -> Self {
        other.refuse_zero("checked_div");
        self.zip(other, i128::wrapping_div)
    }

    /// Returns `self % other` axis by axis, modulo 2^128.
    ///
    /// # Panics
    /// When a component of `other` is zero.
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn wrapping_rem(self, other: Self) -> Self {
        other.refuse_zero("checked_rem");
        self.zip(other, i128::wrapping_rem)
    }

    /// Returns the Euclidean quotient of each pair of components, modulo 2^128.
    ///
    /// # Panics
    /// When a component of `other` is zero.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let v = IVec3_128::new(i128::MIN, -1, 7);
    /// let cells = v.wrapping_div_euclid(IVec3_128::new(-1, 10, 10));
    /// assert_eq!(cells, IVec3_128::new(i128::MIN, -1, 0)); // 2^127 wraps
    /// ```
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn wrapping_div_euclid(self, other: Self) -> Self {
        other.refuse_zero("checked_div_euclid");
        self.zip(other, i128::wrapping_div_euclid)
    }

    /// Returns the Euclidean remainder of each pair of components, modulo 2^128.
    ///
    /// # Panics
    /// When a component of `other` is zero.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let v = IVec3_128::new(i128::MIN, -1, 7);
    /// let places = v.wrapping_rem_euclid(IVec3_128::new(-1, 10, 10));
    /// assert_eq!(places, IVec3_128::new(0, 9, 7));
    /// ```
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn wrapping_rem_euclid(self, other: Self) -> Self {
        other.refuse_zero("checked_rem_euclid");
        self.zip(other, i128::wrapping_rem_euclid)
    }

    /// Returns `-self`; `MIN` stays `MIN`.
    #[must_use]
    #[inline]
    pub fn wrapping_neg(self) -> Self {
        self.map(i128::wrapping_neg)
    }

    /// Returns the magnitude of each component; `MIN` stays `MIN`.
    #[must_use]
    #[inline]
    pub fn wrapping_abs(self) -> Self {
        self.map(i128::wrapping_abs)
    }

    /// Returns `self << (bits % 128)`.
    #[must_use]
    #[inline]
    pub fn wrapping_shl(self, bits: u32) -> Self {
        self.map(|c| c.wrapping_shl(bits))
    }

    /// Returns `self >> (bits % 128)`.
    #[must_use]
    #[inline]
    pub fn wrapping_shr(self, bits: u32) -> Self {
        self.map(|c| c.wrapping_shr(bits))
    }
}
