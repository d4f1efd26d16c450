//! The distance test that everything above this crate leans on.

use crate::{U384, WorldPosition};

impl WorldPosition {
    /// Returns whether `other` is at most `radius_mm` away; the boundary counts, and a negative
    /// radius reaches nothing.
    ///
    /// Exact for every input. Axes farther apart than the radius are rejected first, so each square
    /// is below 2^254 and three fit 256 bits; below a radius of 2^62 they fit 128.
    ///
    /// In a loop over many points, let `self` be the one that stays: what depends on it and on the
    /// radius alone is then computed once.
    ///
    /// ```
    /// use nebula_math::WorldPosition;
    ///
    /// let far = WorldPosition::new(1 << 64, 0, 0);
    /// assert!(!WorldPosition::ORIGIN.is_within(&far, 500_000)); // wrapping squares say "near"
    /// ```
    #[must_use]
    // Left to choose, the compiler makes it a call where a program has several, and a loop over points
    // twice as slow: what stays the same is then computed for each.
    #[inline(always)]
    pub fn is_within(&self, other: &Self, radius_mm: i128) -> bool {
        // A negative radius is none of 62 bits either.
        if radius_mm >> 62 != 0 {
            return is_within_wide(self, other, radius_mm);
        }
        let r = low(radius_mm);
        let diameter = r << 1;
        // Measured from the near side of the cube around the sphere, an axis is in reach when it is
        // at most the diameter; what lies left of the cube wraps to far more than that.
        let [x, y, z] = [
            from_side(self.x, other.x, radius_mm),
            from_side(self.y, other.y, radius_mm),
            from_side(self.z, other.z, radius_mm),
        ];
        let high = upper(x) | upper(y) | upper(z);
        let (x, y, z) = (low(x), low(y), low(z));
        // What is left to the far side. Neither it nor the way from the near side has a 64th bit
        // when the axis is in reach, and one of them has it when it is not.
        let (to_x, to_y, to_z) = (
            diameter.wrapping_sub(x),
            diameter.wrapping_sub(y),
            diameter.wrapping_sub(z),
        );
        let signs = x | y | z | to_x | to_y | to_z;
        // One question for all axes and both sides: which of them is out of reach changes from point
        // to point, and guessing it wrong costs a processor more than all of this function.
        if high.cast_unsigned() | (signs >> 63) != 0 {
            return false;
        }
        // Points at opposite ends of the universe look near modulo 2^128. They cannot be at such
        // ends when one is in the middle, and only points that seem near get here to be asked.
        if !self.is_in_the_middle() {
            return is_within_wide(self, other, radius_mm);
        }
        // (x - r)^2 = r^2 - x(2r - x), so the sum of three squares is at most r^2 when the sum of
        // the products is at least 2r^2. Each is at most r^2, below 2^124: the sum fits.
        let products = product(x, to_x)
            .wrapping_add(product(y, to_y))
            .wrapping_add(product(z, to_z));
        products >= product(r, diameter)
    }

    /// Whether every coordinate is in `-2^126..2^126`: the two highest bits are the same.
    #[inline]
    fn is_in_the_middle(&self) -> bool {
        // On the upper halves alone, because shifting all 128 bits doubled the cost of the test.
        let differ = |c: i128| upper(c) ^ (upper(c) << 1);
        differ(self.x) | differ(self.y) | differ(self.z) >= 0
    }
}

/// The rare cases: a negative radius, one from 2^62, and points in the outer half of the universe.
/// Out of line, so that the common one inlines small.
#[cold]
#[inline(never)]
fn is_within_wide(center: &WorldPosition, other: &WorldPosition, radius_mm: i128) -> bool {
    let Ok(r) = u128::try_from(radius_mm) else {
        return false;
    };
    let [x, y, z] = center.abs_diff(other);
    if x > r || y > r || z > r {
        return false;
    }
    U384::sum_of_squares(x, y, z) <= U384::square(r)
}

/// How far `c` lies right of `center - radius`, modulo 2^128.
#[inline]
const fn from_side(center: i128, c: i128, radius: i128) -> i128 {
    c.wrapping_sub(center.wrapping_sub(radius))
}

/// The product of two values of 64 bits.
#[inline]
fn product(a: u64, b: u64) -> u128 {
    u128::from(a).wrapping_mul(b.into())
}

/// The upper half of a coordinate, which has its sign.
#[inline]
const fn upper(c: i128) -> i64 {
    (c >> 64) as i64
}

/// The lower half.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "callers look at the upper half on their own"
)]
const fn low(value: i128) -> u64 {
    value as u64
}
