//! Wide integers: sums of three squares of 128-bit values, kept whole.

mod signed;
mod text;

pub use signed::I384;

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
/// assert_eq!(U384::from(1_000).to_string(), "1000");
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
    pub const ZERO: Self = Self::from_limbs([0; 3]);
    /// The largest value, 2^384 - 1.
    pub const MAX: Self = Self::from_limbs([u128::MAX; 3]);

    /// Returns `value * value`, exactly.
    #[must_use]
    #[inline]
    pub fn square(value: u128) -> Self {
        Self::sum_of_squares(value, 0, 0)
    }

    /// Returns `a * b`, exactly.
    ///
    /// ```
    /// use nebula_math::U384;
    ///
    /// assert_eq!(U384::product(1 << 100, 1 << 100).limbs(), [0, 1 << 72, 0]);
    /// ```
    #[must_use]
    #[inline]
    pub fn product(a: u128, b: u128) -> Self {
        let (lo, mid) = a.carrying_mul(b, 0);
        Self { hi: 0, mid, lo }
    }

    /// Returns the sum of three squares, which always fits.
    ///
    /// ```
    /// use nebula_math::U384;
    ///
    /// assert_eq!(U384::sum_of_squares(2, 3, 6), U384::from(49));
    /// assert_eq!(U384::sum_of_squares(1 << 127, 1 << 127, 0).limbs(), [0, 1 << 127, 0]); // 2^255
    /// ```
    #[must_use]
    #[inline]
    pub fn sum_of_squares(x: u128, y: u128, z: u128) -> Self {
        // With v = 2^64 h + l, a square is 2^128 hh + 2^65 hl + ll. Adding up each kind of product
        // first leaves one long addition instead of five.
        let [(xh, xl), (yh, yl), (zh, zl)] = [halves(x), halves(y), halves(z)];
        let (low, low_carry) = sum3(product64(xl, xl), product64(yl, yl), product64(zl, zl));
        let (cross, cross_carry) = sum3(product64(xh, xl), product64(yh, yl), product64(zh, zl));
        let (high, high_carry) = sum3(product64(xh, xh), product64(yh, yh), product64(zh, zh));
        let (lo, carry) = low.overflowing_add(cross << 65);
        // Below 2^68, carries included.
        let upper = (cross >> 63)
            .wrapping_add(cross_carry << 65)
            .wrapping_add(low_carry)
            .wrapping_add(carry.into());
        let (mid, carry) = high.overflowing_add(upper);
        let hi = high_carry.wrapping_add(carry.into());
        Self { hi, mid, lo }
    }

    /// Returns the sum of three 128-bit values, which always fits.
    ///
    /// ```
    /// use nebula_math::U384;
    ///
    /// assert_eq!(U384::sum_of_three([u128::MAX; 3]).limbs(), [u128::MAX - 2, 2, 0]);
    /// ```
    #[must_use]
    #[inline]
    pub fn sum_of_three([x, y, z]: [u128; 3]) -> Self {
        Self::from(x)
            .wrapping_add(Self::from(y))
            .wrapping_add(Self::from(z))
    }

    /// Returns `self + other`, or `None` past 384 bits.
    ///
    /// ```
    /// use nebula_math::U384;
    ///
    /// let one = U384::from(1);
    /// assert_eq!(U384::from(u128::MAX).checked_add(one), Some(U384::square(1 << 64)));
    /// assert_eq!(U384::MAX.checked_add(one), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn checked_add(self, other: Self) -> Option<Self> {
        match self.overflowing_add(other) {
            (sum, false) => Some(sum),
            (_, true) => None,
        }
    }

    /// Returns `self - other`, or `None` when `other` is larger.
    ///
    /// ```
    /// use nebula_math::U384;
    ///
    /// let a = U384::square(1 << 64);
    /// assert_eq!(a.checked_sub(U384::from(1)), Some(U384::from(u128::MAX)));
    /// assert_eq!(U384::ZERO.checked_sub(a), None);
    /// ```
    #[must_use]
    #[inline]
    pub fn checked_sub(self, other: Self) -> Option<Self> {
        let (lo, borrow) = self.lo.borrowing_sub(other.lo, false);
        let (mid, borrow) = self.mid.borrowing_sub(other.mid, borrow);
        let (hi, borrow) = self.hi.borrowing_sub(other.hi, borrow);
        if borrow {
            None
        } else {
            Some(Self { hi, mid, lo })
        }
    }

    /// Returns the number of bits up to the highest one that is set; zero for zero.
    ///
    /// ```
    /// use nebula_math::U384;
    ///
    /// assert_eq!(U384::ZERO.bit_length(), 0);
    /// assert_eq!(U384::from(255).bit_length(), 8);
    /// assert_eq!(U384::square(1 << 64).bit_length(), 129);
    /// ```
    #[must_use]
    #[inline]
    pub const fn bit_length(self) -> u32 {
        match self {
            Self { hi: 0, mid: 0, lo } => 128 - lo.leading_zeros(),
            Self { hi: 0, mid, .. } => 256 - mid.leading_zeros(),
            Self { hi, .. } => 384 - hi.leading_zeros(),
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

    /// Adds modulo 2^384, for sums that are known to fit.
    #[inline]
    pub(crate) fn wrapping_add(self, other: Self) -> Self {
        self.overflowing_add(other).0
    }

    #[inline]
    fn overflowing_add(self, other: Self) -> (Self, bool) {
        let (lo, carry) = self.lo.carrying_add(other.lo, false);
        let (mid, carry) = self.mid.carrying_add(other.mid, carry);
        let (hi, carry) = self.hi.carrying_add(other.hi, carry);
        (Self { hi, mid, lo }, carry)
    }

    /// Returns the low 128 bits of `self >> bits`, for `bits <= 256`, and whether any of the bits
    /// shifted out was set.
    pub(crate) fn shift_right(self, bits: u32) -> (u128, bool) {
        let [lo, mid, hi] = self.limbs();
        let join = |high: u128, low: u128, by: u32| match by {
            0 => (low, false),
            128 => (high, low != 0),
            by => (low >> by | high << (128 - by), low << (128 - by) != 0),
        };
        if bits <= 128 {
            join(mid, lo, bits)
        } else {
            let (top, lost) = join(hi, mid, bits - 128);
            (top, lost || lo != 0)
        }
    }
}

/// The upper and the lower 64 bits, each in a type that holds its products.
#[inline]
const fn halves(value: u128) -> (u128, u128) {
    (value >> 64, value & 0xffff_ffff_ffff_ffff)
}

/// The product of two values below 2^64.
#[inline]
const fn product64(a: u128, b: u128) -> u128 {
    a.wrapping_mul(b)
}

/// The sum of three values, and how often it wrapped.
#[inline]
fn sum3(a: u128, b: u128, c: u128) -> (u128, u128) {
    let (sum, first) = a.overflowing_add(b);
    let (sum, second) = sum.overflowing_add(c);
    (sum, u128::from(first).wrapping_add(second.into()))
}

impl From<u128> for U384 {
    #[inline]
    fn from(lo: u128) -> Self {
        Self::from_limbs([lo, 0, 0])
    }
}
