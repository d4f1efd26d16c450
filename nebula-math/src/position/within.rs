//! The distance test that everything above this crate leans on.

use crate::{U384, WorldPosition};

impl WorldPosition {
    /// Returns whether `other` is at most `radius_mm` away; the boundary counts, and a negative
    /// radius reaches nothing.
    ///
    /// Exact for every input. Axes farther apart than the radius are rejected first, so each square
    /// is below 2^254 and three fit 256 bits; below a radius of 2^63 they fit 128.
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
    #[inline]
    pub fn is_within(&self, other: &Self, radius_mm: i128) -> bool {
        // A negative radius is none of 63 bits either.
        if radius_mm >> 63 != 0 {
            return is_within_wide(self, other, radius_mm);
        }
        let diameter = radius_mm.cast_unsigned() << 1;
        // Measured from the near side of the cube around the sphere, an axis is in reach when it is
        // at most the diameter; what lies left of the cube wraps to more than that, so that one
        // comparison does for both sides.
        let x = from_side(self.x, other.x, radius_mm);
        if x > diameter {
            return false;
        }
        let y = from_side(self.y, other.y, radius_mm);
        if y > diameter {
            return false;
        }
        let z = from_side(self.z, other.z, radius_mm);
        if z > diameter {
            return false;
        }
        // Points at opposite ends of the universe look near modulo 2^128. They cannot be at such
        // ends when one is in the middle, and only points that seem near get here to be asked.
        if !self.is_in_the_middle() {
            return is_within_wide(self, other, radius_mm);
        }
        // Each square is at most r * r, below 2^126: the sum fits.
        let r = low(radius_mm.cast_unsigned());
        let squared = centered_square(x, r)
            .wrapping_add(centered_square(y, r))
            .wrapping_add(centered_square(z, r));
        squared <= u128::from(r).wrapping_mul(u128::from(r))
    }

    /// Whether every coordinate is in `-2^126..2^126`: the two highest bits are the same.
    #[inline]
    fn is_in_the_middle(&self) -> bool {
        // On the upper halves alone, because shifting all 128 bits doubled the cost of the test.
        let differ = |c: i128| upper(c) ^ (upper(c) << 1);
        differ(self.x) | differ(self.y) | differ(self.z) >= 0
    }
}

/// The rare cases: a negative radius, one from 2^63, and points in the outer half of the universe.
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
const fn from_side(center: i128, c: i128, radius: i128) -> u128 {
    c.wrapping_sub(center.wrapping_sub(radius)).cast_unsigned()
}

/// The square of the distance from the centre, for a value of `from_side` up to `2 * r`.
#[inline]
fn centered_square(from_side: u128, r: u64) -> u128 {
    let distance = i128::from(low(from_side).wrapping_sub(r).cast_signed());
    distance.wrapping_mul(distance).cast_unsigned()
}

/// The upper half of a coordinate, which has its sign.
#[inline]
const fn upper(c: i128) -> i64 {
    (c >> 64) as i64
}

/// The low half of a value whose high half is known to be zero.
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "callers have shown that nothing is cut off"
)]
const fn low(value: u128) -> u64 {
    value as u64
}
