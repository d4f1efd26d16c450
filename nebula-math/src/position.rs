//! `WorldPosition`: a point of the universe, and exact distances between points.

use core::ops::Add;

use crate::{IVec3_128, U384};

/// A point: three `i128` millimetres from the origin of the universe.
///
/// Points order by `x`, then `y`, then `z`; that order means nothing in space and serves maps and
/// sorted lists.
///
/// With the feature `bevy_ecs` it is a component. It keeps a summary tick, so that looking for
/// changed positions costs nothing where none changed.
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

    /// Returns the exact squared distance to `other`.
    #[must_use]
    #[inline]
    pub fn distance_squared(&self, other: &Self) -> U384 {
        U384::sum_of_squares(
            self.x.abs_diff(other.x),
            self.y.abs_diff(other.y),
            self.z.abs_diff(other.z),
        )
    }

    /// Returns the sum of the axis distances to `other`, which can need 130 bits.
    #[must_use]
    pub fn manhattan_distance(&self, other: &Self) -> U384 {
        let x = U384::from(self.x.abs_diff(other.x));
        let y = U384::from(self.y.abs_diff(other.y));
        let z = U384::from(self.z.abs_diff(other.z));
        x.checked_add(y)
            .and_then(|s| s.checked_add(z))
            .expect("three values of 128 bits fit 130")
    }

    /// Returns the largest axis distance to `other`.
    #[must_use]
    #[inline]
    pub fn chebyshev_distance(&self, other: &Self) -> u128 {
        self.x
            .abs_diff(other.x)
            .max(self.y.abs_diff(other.y))
            .max(self.z.abs_diff(other.z))
    }

    /// Returns whether `other` is at most `radius_mm` away; the boundary counts, and a negative
    /// radius reaches nothing.
    ///
    /// Axes farther apart than the radius are rejected first, so each square is below 2^254 and
    /// three fit 256 bits.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    ///
    /// let far = WorldPosition::new(1 << 64, 0, 0);
    /// assert!(!WorldPosition::ORIGIN.is_within(&far, 500_000)); // wrapping squares say "near"
    /// ```
    #[must_use]
    #[inline]
    pub fn is_within(&self, other: &Self, radius_mm: i128) -> bool {
        if radius_mm < 0 {
            return false;
        }
        let r = radius_mm.unsigned_abs();
        let x = self.x.abs_diff(other.x);
        let y = self.y.abs_diff(other.y);
        let z = self.z.abs_diff(other.z);
        if x > r || y > r || z > r {
            return false;
        }
        if r >> 63 == 0 {
            // Each square is below 2^126, so three fit 128 bits.
            return x * x + y * y + z * z <= r * r;
        }
        is_within_wide(x, y, z, r)
    }
}

/// The rare case of `is_within`, kept out of line so that the common one inlines small.
#[cold]
fn is_within_wide(x: u128, y: u128, z: u128, r: u128) -> bool {
    let [lo, mid, _] = U384::sum_of_squares(x, y, z).limbs();
    let [r_lo, r_mid, _] = U384::square(r).limbs();
    mid < r_mid || (mid == r_mid && lo <= r_lo)
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
        match (
            self.x.checked_add(by.x),
            self.y.checked_add(by.y),
            self.z.checked_add(by.z),
        ) {
            (Some(x), Some(y), Some(z)) => Self { x, y, z },
            _ => panic!("{self:?} + {by:?} leaves the universe; use checked_add to handle that"),
        }
    }
}
