//! Wide integers: sums of three squares of 128-bit values, kept whole.

use core::fmt;

/// An unsigned integer of 384 bits, wide enough for any squared distance between two positions.
///
/// A difference of two `i128` needs up to 128 bits as a magnitude, its square 256, and a sum of
/// three such squares 258. The type exists to compare such sums exactly; it is not a general
/// big-integer library.
///
/// ```
/// use nebula_math::U384;
///
/// let a = U384::square(u128::MAX);
/// assert!(U384::from(u128::MAX) < a);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct U384 {
    // Field order is the order of significance, so that the derived `Ord` is the numeric one.
    hi: u128,
    mid: u128,
    lo: u128,
}

impl U384 {
    /// Zero.
    pub const ZERO: Self = Self {
        hi: 0,
        mid: 0,
        lo: 0,
    };
    /// The largest value, 2^384 - 1.
    pub const MAX: Self = Self {
        hi: u128::MAX,
        mid: u128::MAX,
        lo: u128::MAX,
    };

    /// Returns `value * value`, exactly.
    #[must_use]
    #[inline]
    pub fn square(value: u128) -> Self {
        Self::product(value, value)
    }

    /// Returns `a * b`, exactly.
    #[must_use]
    #[inline]
    pub fn product(a: u128, b: u128) -> Self {
        let (lo, mid) = a.carrying_mul(b, 0);
        Self { hi: 0, mid, lo }
    }

    /// Returns `self + other`, or `None` past 384 bits.
    #[must_use]
    #[inline]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        let (lo, carry) = self.lo.carrying_add(other.lo, false);
        let (mid, carry) = self.mid.carrying_add(other.mid, carry);
        let (hi, carry) = self.hi.carrying_add(other.hi, carry);
        if carry {
            None
        } else {
            Some(Self { hi, mid, lo })
        }
    }

    /// Returns the sum of three squares, which always fits.
    #[must_use]
    #[inline]
    pub fn sum_of_squares(x: u128, y: u128, z: u128) -> Self {
        let (a, b, c) = (Self::square(x), Self::square(y), Self::square(z));
        let (lo, carry1) = a.lo.carrying_add(b.lo, false);
        let (mid, over1) = a.mid.carrying_add(b.mid, carry1);
        let (lo, carry2) = lo.carrying_add(c.lo, false);
        let (mid, over2) = mid.carrying_add(c.mid, carry2);
        Self {
            hi: u128::from(over1) + u128::from(over2),
            mid,
            lo,
        }
    }

    /// Makes a value from its limbs, the least significant first.
    ///
    /// ```
    /// use nebula_math::U384;
    ///
    /// assert_eq!(U384::from_limbs([0, 1, 0]), U384::square(1 << 64)); // 2^128
    /// ```
    #[must_use]
    #[inline]
    pub const fn from_limbs([lo, mid, hi]: [u128; 3]) -> Self {
        Self { hi, mid, lo }
    }

    /// Returns the limbs from the least significant to the most significant.
    #[must_use]
    #[inline]
    pub const fn limbs(self) -> [u128; 3] {
        [self.lo, self.mid, self.hi]
    }

    /// Returns the value as `u128` if it fits.
    #[must_use]
    #[inline]
    pub const fn to_u128(self) -> Option<u128> {
        if self.hi == 0 && self.mid == 0 {
            Some(self.lo)
        } else {
            None
        }
    }
}

impl From<u128> for U384 {
    #[inline]
    fn from(lo: u128) -> Self {
        Self { hi: 0, mid: 0, lo }
    }
}

impl fmt::Debug for U384 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "U384(0x{:032x}_{:032x}_{:032x})",
            self.hi, self.mid, self.lo
        )
    }
}
