//! `IVec3_128`: fields, constants, constructors, and what works axis by axis.

mod checked;
mod convert;
mod metric;
mod ops;
mod overflowing;
mod saturating;
mod wrapping;

/// A displacement: three `i128` millimetres.
///
/// Plain operators panic on overflow in every profile. Each has `checked_`, `saturating_`,
/// `wrapping_` and `overflowing_` forms; pass [`splat`](Self::splat) where one number serves all
/// axes. Displacements order by `x`, then `y`, then `z`, which serves maps and sorted lists and
/// means nothing in space.
///
/// ```
/// use nebula_math::{IVec3_128, WorldPosition};
///
/// let step = IVec3_128::new(1, -2, 3);
/// assert_eq!(WorldPosition::ORIGIN + step * 2, WorldPosition::new(2, -4, 6));
/// assert_eq!(step.checked_mul(IVec3_128::splat(i128::MAX)), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[repr(C)]
pub struct IVec3_128 {
    /// Millimetres along x.
    pub x: i128,
    /// Millimetres along y.
    pub y: i128,
    /// Millimetres along z.
    pub z: i128,
}

impl IVec3_128 {
    /// The displacement that goes nowhere.
    pub const ZERO: Self = Self::splat(0);
    /// One millimetre along every axis.
    pub const ONE: Self = Self::splat(1);
    /// One millimetre back along every axis.
    pub const NEG_ONE: Self = Self::splat(-1);
    /// The smallest value on every axis.
    pub const MIN: Self = Self::splat(i128::MIN);
    /// The largest value on every axis.
    pub const MAX: Self = Self::splat(i128::MAX);
    /// One millimetre along x.
    pub const X: Self = Self::new(1, 0, 0);
    /// One millimetre along y.
    pub const Y: Self = Self::new(0, 1, 0);
    /// One millimetre along z.
    pub const Z: Self = Self::new(0, 0, 1);
    /// One millimetre back along x.
    pub const NEG_X: Self = Self::new(-1, 0, 0);
    /// One millimetre back along y.
    pub const NEG_Y: Self = Self::new(0, -1, 0);
    /// One millimetre back along z.
    pub const NEG_Z: Self = Self::new(0, 0, -1);

    /// Makes a displacement from its components.
    #[must_use]
    #[inline]
    pub const fn new(x: i128, y: i128, z: i128) -> Self {
        Self { x, y, z }
    }

    /// Makes a displacement with the same component on every axis.
    #[must_use]
    #[inline]
    pub const fn splat(value: i128) -> Self {
        Self::new(value, value, value)
    }

    /// Makes a displacement from `[x, y, z]`.
    #[must_use]
    #[inline]
    pub const fn from_array([x, y, z]: [i128; 3]) -> Self {
        Self::new(x, y, z)
    }

    /// Returns the components as `[x, y, z]`.
    #[must_use]
    #[inline]
    pub const fn to_array(self) -> [i128; 3] {
        [self.x, self.y, self.z]
    }

    /// Returns the smaller component on each axis. It takes the place of [`Ord::min`], which would
    /// pick one of the two whole.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let a = IVec3_128::new(-5, 9, 0);
    /// assert_eq!(a.min(IVec3_128::new(1, 2, 0)), IVec3_128::new(-5, 2, 0));
    /// ```
    #[must_use]
    #[inline]
    pub fn min(self, other: Self) -> Self {
        self.zip(other, Ord::min)
    }

    /// Returns the larger component on each axis. It takes the place of [`Ord::max`], which would
    /// pick one of the two whole.
    #[must_use]
    #[inline]
    pub fn max(self, other: Self) -> Self {
        self.zip(other, Ord::max)
    }

    /// Returns each component moved into `low..=high`. Never panics: where `low` exceeds `high`,
    /// `high` is the result.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let v = IVec3_128::new(-500, 7, 500);
    /// let clamped = v.clamp(IVec3_128::splat(-10), IVec3_128::splat(10));
    /// assert_eq!(clamped, IVec3_128::new(-10, 7, 10));
    /// ```
    #[must_use]
    #[inline]
    pub fn clamp(self, low: Self, high: Self) -> Self {
        self.max(low).min(high)
    }

    /// Returns -1, 0 or 1 on each axis: the sign of the component.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::new(-7, 0, i128::MAX).signum(), IVec3_128::new(-1, 0, 1));
    /// ```
    #[must_use]
    #[inline]
    pub fn signum(self) -> Self {
        self.map(i128::signum)
    }

    /// Returns the magnitude of each component.
    ///
    /// # Panics
    /// When a component is `i128::MIN`, in every profile; see
    /// [`unsigned_abs`](Self::unsigned_abs).
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::new(-7, 0, 7).abs(), IVec3_128::new(7, 0, 7));
    /// ```
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn abs(self) -> Self {
        match self.checked_abs() {
            Some(abs) => abs,
            None => panic!("|{self}| overflows i128; use unsigned_abs or checked_abs"),
        }
    }

    /// Returns the magnitude of each component, exact for every input.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::new(i128::MIN, -1, 1).unsigned_abs(), [1 << 127, 1, 1]);
    /// ```
    #[must_use]
    #[inline]
    pub const fn unsigned_abs(self) -> [u128; 3] {
        [
            self.x.unsigned_abs(),
            self.y.unsigned_abs(),
            self.z.unsigned_abs(),
        ]
    }

    /// Returns the distance to `other` along each axis, exact for every input.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::MIN.abs_diff(IVec3_128::MAX), [u128::MAX; 3]);
    /// ```
    #[must_use]
    #[inline]
    pub const fn abs_diff(self, other: Self) -> [u128; 3] {
        [
            self.x.abs_diff(other.x),
            self.y.abs_diff(other.y),
            self.z.abs_diff(other.z),
        ]
    }

    /// Returns the quotient of each pair of components, rounded so that the remainder is not
    /// negative: the cell that a coordinate lies in, also left of the origin.
    ///
    /// # Panics
    /// When a component of `other` is zero, or is -1 below `i128::MIN`, in every profile; see
    /// [`checked_div_euclid`](Self::checked_div_euclid).
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let cells = IVec3_128::new(-1, -10, 10).div_euclid(IVec3_128::splat(10));
    /// assert_eq!(cells, IVec3_128::new(-1, -1, 1));
    /// ```
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn div_euclid(self, other: Self) -> Self {
        match self.checked_div_euclid(other) {
            Some(quotient) => quotient,
            None => panic!("{self} has no Euclidean quotient by {other}; use checked_div_euclid"),
        }
    }

    /// Returns the remainder of each pair of components, never negative: the place of a coordinate
    /// in its cell, also left of the origin.
    ///
    /// # Panics
    /// When a component of `other` is zero, or is -1 below `i128::MIN`, in every profile; see
    /// [`checked_rem_euclid`](Self::checked_rem_euclid).
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// let places = IVec3_128::new(-1, -10, 13).rem_euclid(IVec3_128::splat(10));
    /// assert_eq!(places, IVec3_128::new(9, 0, 3));
    /// ```
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn rem_euclid(self, other: Self) -> Self {
        match self.checked_rem_euclid(other) {
            Some(remainder) => remainder,
            None => panic!("{self} has no Euclidean remainder by {other}; use checked_rem_euclid"),
        }
    }

    /// Ends a division by zero in the name of the line that asked for it. Left to `i128` inside a
    /// closure, the panic would name a line of this crate.
    #[inline]
    #[track_caller]
    fn refuse_zero(self, instead: &str) {
        assert!(
            self.x != 0 && self.y != 0 && self.z != 0,
            "division by {self}, which has a zero; use {instead} to handle that"
        );
    }

    /// Applies `f` to each component.
    #[inline]
    fn map(self, f: impl Fn(i128) -> i128) -> Self {
        Self::new(f(self.x), f(self.y), f(self.z))
    }

    /// Applies `f` to each pair of components.
    #[inline]
    fn zip(self, other: Self, f: impl Fn(i128, i128) -> i128) -> Self {
        Self::new(f(self.x, other.x), f(self.y, other.y), f(self.z, other.z))
    }

    /// Applies `f` to each pair of components; `None` if any gives none.
    #[inline]
    fn try_zip(self, other: Self, f: impl Fn(i128, i128) -> Option<i128>) -> Option<Self> {
        match (f(self.x, other.x), f(self.y, other.y), f(self.z, other.z)) {
            (Some(x), Some(y), Some(z)) => Some(Self { x, y, z }),
            _ => None,
        }
    }
}
