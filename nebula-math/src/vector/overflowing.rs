//! The `overflowing_` family: the wrapped result, and whether any axis wrapped.

use crate::IVec3_128;

impl IVec3_128 {
    /// Returns `self + other` axis by axis modulo 2^128, and whether any axis wrapped.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let (v, wrapped) = IVec3_128::MAX.overflowing_add(IVec3_128::X);
    /// assert_eq!(v, IVec3_128::new(i128::MIN, i128::MAX, i128::MAX));
    /// assert!(wrapped);
    /// ```
    #[must_use]
    #[inline]
    pub fn overflowing_add(self, other: Self) -> (Self, bool) {
        self.zip_flagged(other, i128::overflowing_add)
    }

    /// Returns `self - other` axis by axis modulo 2^128, and whether any axis wrapped.
    #[must_use]
    #[inline]
    pub fn overflowing_sub(self, other: Self) -> (Self, bool) {
        self.zip_flagged(other, i128::overflowing_sub)
    }

    /// Returns `self * other` axis by axis modulo 2^128, and whether any axis wrapped.
    #[must_use]
    #[inline]
    pub fn overflowing_mul(self, other: Self) -> (Self, bool) {
        self.zip_flagged(other, i128::overflowing_mul)
    }

    /// Returns `self / other` axis by axis modulo 2^128, and whether any axis wrapped.
    ///
    /// # Panics
    /// When a component of `other` is zero.
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn overflowing_div(self, other: Self) -> (Self, bool) {
        other.refuse_zero("checked_div");
        self.zip_flagged(other, i128::overflowing_div)
    }

    /// Returns `self % other` axis by axis modulo 2^128, and whether any axis wrapped.
    ///
    /// # Panics
    /// When a component of `other` is zero.
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn overflowing_rem(self, other: Self) -> (Self, bool) {
        other.refuse_zero("checked_rem");
        self.zip_flagged(other, i128::overflowing_rem)
    }

    /// Returns the Euclidean quotient of each pair of components modulo 2^128, and whether any axis wrapped.
    ///
    /// # Panics
    /// When a component of `other` is zero.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let v = IVec3_128::new(i128::MIN, -1, 7);
    /// let (cells, wrapped) = v.overflowing_div_euclid(IVec3_128::new(-1, 10, 10));
    /// assert_eq!(cells, IVec3_128::new(i128::MIN, -1, 0));
    /// assert!(wrapped); // x is 2^127
    /// ```
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn overflowing_div_euclid(self, other: Self) -> (Self, bool) {
        other.refuse_zero("checked_div_euclid");
        self.zip_flagged(other, i128::overflowing_div_euclid)
    }

    /// Returns the Euclidean remainder of each pair of components modulo 2^128, and whether any axis wrapped.
    ///
    /// # Panics
    /// When a component of `other` is zero.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let v = IVec3_128::new(i128::MIN, -1, 7);
    /// let (places, wrapped) = v.overflowing_rem_euclid(IVec3_128::new(-1, 10, 10));
    /// assert_eq!(places, IVec3_128::new(0, 9, 7));
    /// assert!(wrapped); // as `i128` has it: the quotient on x does not fit
    /// ```
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn overflowing_rem_euclid(self, other: Self) -> (Self, bool) {
        other.refuse_zero("checked_rem_euclid");
        self.zip_flagged(other, i128::overflowing_rem_euclid)
    }

    /// Returns `-self` modulo 2^128, and whether any component was `MIN`.
    #[must_use]
    #[inline]
    pub fn overflowing_neg(self) -> (Self, bool) {
        self.zip_flagged(self, |c, _| c.overflowing_neg())
    }

    /// Returns the magnitude of each component modulo 2^128, and whether any component was `MIN`.
    #[must_use]
    #[inline]
    pub fn overflowing_abs(self) -> (Self, bool) {
        self.zip_flagged(self, |c, _| c.overflowing_abs())
    }

    /// Returns `self << (bits % 128)`, and whether `bits` was 128 or more.
    #[must_use]
    #[inline]
    pub fn overflowing_shl(self, bits: u32) -> (Self, bool) {
        self.zip_flagged(self, |c, _| c.overflowing_shl(bits))
    }

    /// Returns `self >> (bits % 128)`, and whether `bits` was 128 or more.
    #[must_use]
    #[inline]
    pub fn overflowing_shr(self, bits: u32) -> (Self, bool) {
        self.zip_flagged(self, |c, _| c.overflowing_shr(bits))
    }

    /// Applies `f` to each pair of components and joins the flags.
    #[inline]
    fn zip_flagged(self, other: Self, f: impl Fn(i128, i128) -> (i128, bool)) -> (Self, bool) {
        let (x, x_wrapped) = f(self.x, other.x);
        let (y, y_wrapped) = f(self.y, other.y);
        let (z, z_wrapped) = f(self.z, other.z);
        (Self { x, y, z }, x_wrapped || y_wrapped || z_wrapped)
    }
}
