//! `WorldPosition`: a point of the universe, and exact distances between points.

mod ops;
mod within;

use core::cmp::Ordering;

use crate::units::meters_to_mm;
use crate::{IVec3_128, MetersError, U384};

/// A point: three `i128` millimetres from the origin of the universe.
///
/// The difference of two points is a displacement, a point plus a displacement is a point, and there
/// is no sum of two points. Every distance is exact for every input: where it could leave a type,
/// the result is wider or an `Option`.
///
/// Points order by `x`, then `y`, then `z`; that order means nothing in space and serves maps and
/// sorted lists.
///
/// With the feature `bevy_ecs` it is a component. It keeps a summary tick, so that looking for
/// changed positions costs nothing where none changed.
///
/// ```
/// use nebula_math::{IVec3_128, WorldPosition};
///
/// let a = WorldPosition::new(-5, 0, 0);
/// let b = a + IVec3_128::new(2, 0, 0);
/// assert_eq!(b - a, IVec3_128::new(2, 0, 0));
/// assert_eq!(WorldPosition::MIN.offset_to(&WorldPosition::MAX), None); // needs 129 bits
/// ```
///
/// Points do not add up:
///
/// ```compile_fail
/// use nebula_math::WorldPosition;
///
/// let _ = WorldPosition::ORIGIN + WorldPosition::ORIGIN;
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[cfg_attr(
    feature = "bevy_ecs",
    derive(bevy_ecs::component::Component),
    component(summary_tick)
)]
#[repr(C)]
pub struct WorldPosition {
    /// Millimetres along x.
    pub x: i128,
    /// Millimetres along y.
    pub y: i128,
    /// Millimetres along z.
    pub z: i128,
}

impl WorldPosition {
    /// The origin of the universe.
    pub const ORIGIN: Self = Self::new(0, 0, 0);
    /// The corner with the smallest coordinates.
    pub const MIN: Self = Self::new(i128::MIN, i128::MIN, i128::MIN);
    /// The corner with the largest coordinates.
    pub const MAX: Self = Self::new(i128::MAX, i128::MAX, i128::MAX);

    /// Makes a point from its coordinates in millimetres.
    #[must_use]
    #[inline]
    pub const fn new(x: i128, y: i128, z: i128) -> Self {
        Self { x, y, z }
    }

    /// Makes a point from coordinates in metres, each rounded once to the nearest millimetre.
    ///
    /// # Errors
    /// When a coordinate is NaN, infinite, or outside the universe; the error names it.
    ///
    /// # Examples
    /// ```
    /// use nebula_math::WorldPosition;
    ///
    /// let p = WorldPosition::from_meters(-1.5, 0.0, 0.0004)?;
    /// assert_eq!(p, WorldPosition::new(-1_500, 0, 0));
    ///
    /// let error = WorldPosition::from_meters(0.0, f64::INFINITY, 0.0).unwrap_err();
    /// assert_eq!(error.to_string(), "inf metres is not finite");
    /// # Ok::<(), nebula_math::MetersError>(())
    /// ```
    pub fn from_meters(x: f64, y: f64, z: f64) -> Result<Self, MetersError> {
        Ok(Self::new(
            meters_to_mm(x)?,
            meters_to_mm(y)?,
            meters_to_mm(z)?,
        ))
    }

    /// Makes a point from `[x, y, z]` in millimetres.
    #[must_use]
    #[inline]
    pub const fn from_array([x, y, z]: [i128; 3]) -> Self {
        Self { x, y, z }
    }

    /// Returns the coordinates as `[x, y, z]` in millimetres.
    #[must_use]
    #[inline]
    pub const fn to_array(self) -> [i128; 3] {
        [self.x, self.y, self.z]
    }

    /// Returns the displacement from this point to `other`, or `None` when a component leaves
    /// `i128`.
    ///
    /// ```
    /// use nebula_math::{IVec3_128, WorldPosition};
    ///
    /// let a = WorldPosition::new(-1, 0, 0);
    /// assert_eq!(a.offset_to(&WorldPosition::ORIGIN), Some(IVec3_128::X));
    /// assert_eq!(a.offset_to(&WorldPosition::MAX), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn offset_to(&self, other: &Self) -> Option<IVec3_128> {
        IVec3_128::from_array(other.to_array()).checked_sub(IVec3_128::from_array(self.to_array()))
    }

    /// Returns the distance to `other` along each axis.
    #[must_use]
    #[inline]
    pub const fn abs_diff(&self, other: &Self) -> [u128; 3] {
        [
            self.x.abs_diff(other.x),
            self.y.abs_diff(other.y),
            self.z.abs_diff(other.z),
        ]
    }

    /// Returns the exact squared distance to `other`.
    ///
    /// ```
    /// use nebula_math::{U384, WorldPosition};
    ///
    /// let a = WorldPosition::new(-3, 0, 0);
    /// assert_eq!(a.distance_squared(&WorldPosition::new(0, 4, 0)), U384::from(25));
    /// ```
    #[must_use]
    #[inline]
    pub fn distance_squared(&self, other: &Self) -> U384 {
        let [x, y, z] = self.abs_diff(other);
        U384::sum_of_squares(x, y, z)
    }

    /// Returns the sum of the axis distances to `other`, which can need 130 bits.
    ///
    /// ```
    /// use nebula_math::{U384, WorldPosition};
    ///
    /// let a = WorldPosition::new(-3, 0, 5);
    /// assert_eq!(a.manhattan_distance(&WorldPosition::new(0, 4, 5)), U384::from(7));
    /// let across = WorldPosition::MIN.manhattan_distance(&WorldPosition::MAX);
    /// assert_eq!(across.bit_length(), 130);
    /// ```
    #[must_use]
    #[inline]
    pub fn manhattan_distance(&self, other: &Self) -> U384 {
        U384::sum_of_three(self.abs_diff(other))
    }

    /// Returns the largest axis distance to `other`.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    ///
    /// let a = WorldPosition::new(-3, 0, 5);
    /// assert_eq!(a.chebyshev_distance(&WorldPosition::new(0, 4, 5)), 4);
    /// assert_eq!(WorldPosition::MIN.chebyshev_distance(&WorldPosition::MAX), u128::MAX);
    /// ```
    #[must_use]
    #[inline]
    pub fn chebyshev_distance(&self, other: &Self) -> u128 {
        let [x, y, z] = self.abs_diff(other);
        x.max(y).max(z)
    }

    /// Returns which of two points is nearer to this one: `Less` when `a` is, `Equal` when they are
    /// exactly as far.
    ///
    /// ```
    /// use core::cmp::Ordering;
    /// use nebula_math::WorldPosition;
    ///
    /// let near = WorldPosition::new(i128::MAX - 1, 0, 0);
    /// assert_eq!(WorldPosition::MIN.cmp_distance(&near, &WorldPosition::MAX), Ordering::Less);
    /// ```
    #[must_use]
    #[inline]
    pub fn cmp_distance(&self, a: &Self, b: &Self) -> Ordering {
        let (to_a, to_b) = (self.abs_diff(a), self.abs_diff(b));
        match (short_square(to_a), short_square(to_b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => wide_square(to_a).cmp(&wide_square(to_b)),
        }
    }

    /// Returns the point halfway to `other`, exact for every input; a half millimetre rounds down
    /// on each axis.
    ///
    /// Rounding down, and not towards zero, means that moving both points moves the midpoint by as
    /// much.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    ///
    /// let a = WorldPosition::new(-3, i128::MAX, i128::MIN);
    /// let b = WorldPosition::new(0, i128::MAX, i128::MAX);
    /// assert_eq!(a.midpoint(&b), WorldPosition::new(-2, i128::MAX, -1));
    /// ```
    #[must_use]
    #[inline]
    pub const fn midpoint(&self, other: &Self) -> Self {
        Self::new(
            floor_midpoint(self.x, other.x),
            floor_midpoint(self.y, other.y),
            floor_midpoint(self.z, other.z),
        )
    }

    /// Returns the smaller coordinate on each axis: the low corner of the box that the two points
    /// span. [`Ord::min`] picks one of the two points instead.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    ///
    /// let a = WorldPosition::new(-1, 5, 0);
    /// assert_eq!(a.min_corner(WorldPosition::ORIGIN), WorldPosition::new(-1, 0, 0));
    /// ```
    #[must_use]
    #[inline]
    pub fn min_corner(self, other: Self) -> Self {
        Self::new(
            self.x.min(other.x),
            self.y.min(other.y),
            self.z.min(other.z),
        )
    }

    /// Returns the larger coordinate on each axis: the high corner of the box that the two points
    /// span. [`Ord::max`] picks one of the two points instead.
    #[must_use]
    #[inline]
    pub fn max_corner(self, other: Self) -> Self {
        Self::new(
            self.x.max(other.x),
            self.y.max(other.y),
            self.z.max(other.z),
        )
    }
}

/// The bits that both share, plus half of those in which they differ: no sum, so no overflow.
const fn floor_midpoint(a: i128, b: i128) -> i128 {
    (a & b) + ((a ^ b) >> 1)
}

const MASK: u128 = u64::MAX as u128;

/// The sum of three squares in 128 bits, when every axis is below 2^63, about a light year.
#[inline]
fn short_square([x, y, z]: [u128; 3]) -> Option<u128> {
    // The mask changes nothing here, but tells the compiler that one multiplication is enough.
    let square = |v: u128| (v & MASK).wrapping_mul(v & MASK);
    ((x | y | z) >> 63 == 0).then(|| square(x).wrapping_add(square(y)).wrapping_add(square(z)))
}

/// Out of line, so that comparing ordinary distances inlines small.
#[cold]
#[inline(never)]
fn wide_square([x, y, z]: [u128; 3]) -> U384 {
    U384::sum_of_squares(x, y, z)
}
