//! Every step from exact integers to floats, each named `*_lossy` and rounded once.

#![expect(
    clippy::cast_precision_loss,
    reason = "rounding to floats is what this file is for"
)]

use crate::{I384, IVec3_128, U384, WorldPosition};

impl IVec3_128 {
    /// Returns the components in metres, each rounded once to the nearest `f64`.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::new(-1_500, 1, 0).to_meters_lossy(), [-1.5, 0.001, 0.0]);
    /// ```
    #[must_use]
    pub fn to_meters_lossy(self) -> [f64; 3] {
        self.to_array()
            .map(|mm| mm_to_f64_meters(mm < 0, mm.unsigned_abs()))
    }

    /// Returns the components in metres, each rounded once to the nearest `f32`, as drawing needs.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::new(-1_500, 1, 0).to_meters_f32_lossy(), [-1.5, 0.001, 0.0]);
    /// ```
    #[must_use]
    pub fn to_meters_f32_lossy(self) -> [f32; 3] {
        self.to_array()
            .map(|mm| mm_to_f32_meters(mm < 0, mm.unsigned_abs()))
    }

    /// Returns the length in metres, to about one part in 10^15.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::new(-3_000, 4_000, 0).length_lossy(), 5.0);
    /// ```
    #[must_use]
    pub fn length_lossy(self) -> f64 {
        root_in_meters(self.length_squared())
    }
}

impl WorldPosition {
    /// Returns where this point lies from `origin`, in metres, each axis rounded once to the nearest
    /// `f64`.
    ///
    /// The difference is taken exactly, also where it needs 129 bits, so that two points next to
    /// each other at the edge of the universe stay a millimetre apart.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    ///
    /// let origin = WorldPosition::new(i128::MAX, i128::MIN, 0);
    /// let p = WorldPosition::new(i128::MAX - 1, i128::MIN + 2_500, 0);
    /// assert_eq!(p.to_meters_lossy(&origin), [-0.001, 2.5, 0.0]);
    /// ```
    #[must_use]
    pub fn to_meters_lossy(&self, origin: &Self) -> [f64; 3] {
        self.each_axis_from(origin, mm_to_f64_meters)
    }

    /// Returns where this point lies from `origin`, in metres, each axis rounded once to the nearest
    /// `f32`: what a camera at `origin` draws.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    ///
    /// let camera = WorldPosition::new(1 << 100, 0, 0);
    /// let ship = WorldPosition::new((1 << 100) - 250, 0, 1_000);
    /// assert_eq!(ship.to_meters_f32_lossy(&camera), [-0.25, 0.0, 1.0]);
    /// ```
    #[must_use]
    pub fn to_meters_f32_lossy(&self, origin: &Self) -> [f32; 3] {
        self.each_axis_from(origin, mm_to_f32_meters)
    }

    /// Returns the distance to `other` in metres, to about one part in 10^15. For comparisons use
    /// [`is_within`](Self::is_within) or [`cmp_distance`](Self::cmp_distance), which are exact.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    ///
    /// let a = WorldPosition::new(i128::MIN, 0, 0);
    /// assert_eq!(a.distance_lossy(&WorldPosition::new(i128::MIN + 3_000, -4_000, 0)), 5.0);
    /// ```
    #[must_use]
    pub fn distance_lossy(&self, other: &Self) -> f64 {
        root_in_meters(self.distance_squared(other))
    }

    #[inline]
    fn each_axis_from<T>(&self, origin: &Self, convert: impl Fn(bool, u128) -> T) -> [T; 3] {
        let [x, y, z] = self.abs_diff(origin);
        [
            convert(self.x < origin.x, x),
            convert(self.y < origin.y, y),
            convert(self.z < origin.z, z),
        ]
    }
}

impl U384 {
    /// Returns the value rounded once to the nearest `f64`.
    ///
    /// ```
    /// use nebula_math::U384;
    ///
    /// assert_eq!(U384::square(1 << 100).to_f64_lossy(), 2_f64.powi(200));
    /// ```
    #[must_use]
    pub fn to_f64_lossy(self) -> f64 {
        let excess = self.bit_length().saturating_sub(128);
        // The top 128 bits hold far more than a float keeps, so all that the bits below can do is
        // break a tie: one sticky bit stands for them.
        let (top, lost) = self.shift_right(excess);
        let top = top | u128::from(lost);
        top as f64 * f64::from_bits(u64::from(1023 + excess) << 52)
    }
}

impl I384 {
    /// Returns the value rounded once to the nearest `f64`.
    ///
    /// ```
    /// use nebula_math::IVec3_128;
    ///
    /// assert_eq!(IVec3_128::X.dot(IVec3_128::NEG_X).to_f64_lossy(), -1.0);
    /// ```
    #[must_use]
    pub fn to_f64_lossy(self) -> f64 {
        let magnitude = self.magnitude().to_f64_lossy();
        if self.is_negative() {
            -magnitude
        } else {
            magnitude
        }
    }
}

/// Millimetres given as sign and magnitude, in metres, rounded once.
pub(crate) fn mm_to_f64_meters(negative: bool, mm: u128) -> f64 {
    let meters = if mm < 1 << 53 {
        mm as f64 / 1_000.0
    } else {
        let (scaled, scale) = thousandth(mm);
        scaled as f64 * f64::from(scale)
    };
    if negative { -meters } else { meters }
}

/// Millimetres given as sign and magnitude, in metres, rounded once; by way of `f64` it would be
/// twice.
pub(crate) fn mm_to_f32_meters(negative: bool, mm: u128) -> f32 {
    let meters = if mm < 1 << 24 {
        mm as f32 / 1_000.0
    } else {
        let (scaled, scale) = thousandth(mm);
        scaled as f32 * scale
    };
    if negative { -meters } else { meters }
}

/// Returns `mm / 1000` for `mm >= 2^24` as a whole number and a power of two to multiply it by.
/// The number has at least ten bits more than the float it becomes, with a sticky lowest bit, so
/// that one conversion rounds it as it would round the fraction.
fn thousandth(mm: u128) -> (u128, f32) {
    const SHIFT: u32 = 20;
    let (numerator, scale) = if mm.leading_zeros() >= SHIFT {
        (mm << SHIFT, 1.0 / (1 << SHIFT) as f32)
    } else {
        (mm, 1.0)
    };
    let sticky = u128::from(!numerator.is_multiple_of(1_000));
    ((numerator / 1_000) | sticky, scale)
}

/// The square root of square millimetres, in metres.
fn root_in_meters(squared: U384) -> f64 {
    square_root(squared.to_f64_lossy()) / 1_000.0
}

#[cfg(feature = "std")]
fn square_root(value: f64) -> f64 {
    value.sqrt()
}

#[cfg(not(feature = "std"))]
fn square_root(value: f64) -> f64 {
    libm::sqrt(value)
}
