//! `I384`: what a dot product needs.

use core::cmp::Ordering;
use core::ops::Neg;

use crate::U384;

/// A signed integer, sign and 384-bit magnitude, wide enough for any dot product of two
/// displacements.
///
/// ```
/// use nebula_math::{I384, IVec3_128};
///
/// let dot = IVec3_128::MIN.dot(IVec3_128::MAX);
/// assert!(dot.is_negative());
/// assert!(dot < I384::from(i128::MIN));
/// assert_eq!((-dot).magnitude(), dot.magnitude());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct I384 {
    // Never set for zero, so that equality can be derived.
    negative: bool,
    magnitude: U384,
}

impl I384 {
    /// Zero.
    pub const ZERO: Self = Self {
        negative: false,
        magnitude: U384::ZERO,
    };

    /// Returns `a - b`, exactly.
    ///
    /// ```
    /// use nebula_math::{I384, U384};
    ///
    /// assert_eq!(I384::difference(U384::from(3), U384::from(5)), I384::from(-2));
    /// ```
    #[must_use]
    #[inline]
    pub fn difference(a: U384, b: U384) -> Self {
        match a.checked_sub(b) {
            Some(magnitude) => Self {
                negative: false,
                magnitude,
            },
            None => Self {
                negative: true,
                magnitude: b.checked_sub(a).unwrap_or(U384::ZERO),
            },
        }
    }

    /// Returns whether the value is below zero.
    #[must_use]
    #[inline]
    pub const fn is_negative(self) -> bool {
        self.negative
    }

    /// Returns the value without its sign.
    #[must_use]
    #[inline]
    pub const fn magnitude(self) -> U384 {
        self.magnitude
    }

    /// Returns the value as `i128` if it fits.
    ///
    /// ```
    /// use nebula_math::{I384, U384};
    ///
    /// assert_eq!(I384::from(i128::MIN).to_i128(), Some(i128::MIN));
    /// assert_eq!((-I384::from(i128::MIN)).to_i128(), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn to_i128(self) -> Option<i128> {
        let magnitude = self.magnitude.to_u128()?;
        if self.negative {
            0_i128.checked_sub_unsigned(magnitude)
        } else {
            0_i128.checked_add_unsigned(magnitude)
        }
    }
}

impl From<i128> for I384 {
    #[inline]
    fn from(value: i128) -> Self {
        Self {
            negative: value < 0,
            magnitude: value.unsigned_abs().into(),
        }
    }
}

impl From<U384> for I384 {
    #[inline]
    fn from(magnitude: U384) -> Self {
        Self {
            negative: false,
            magnitude,
        }
    }
}

impl Neg for I384 {
    type Output = Self;

    /// Turns the sign around; sign and magnitude apart, it cannot overflow.
    #[inline]
    fn neg(self) -> Self {
        Self {
            negative: !self.negative && self.magnitude != U384::ZERO,
            magnitude: self.magnitude,
        }
    }
}

impl Ord for I384 {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (self.negative, other.negative) {
            (false, false) => self.magnitude.cmp(&other.magnitude),
            (true, true) => other.magnitude.cmp(&self.magnitude),
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
        }
    }
}

impl PartialOrd for I384 {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
