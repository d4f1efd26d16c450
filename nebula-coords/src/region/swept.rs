//! The exact test for a swept sphere: is a point within a radius of a segment?
//!
//! With `v` the way from start to end and `w` the way from start to the point, the nearest place
//! of the segment is its start when `w.v <= 0`, its end when `w.v >= v.v`, and inside otherwise.
//! Inside, the distance to the line decides: `|w|^2 - (w.v)^2 / |v|^2 <= r^2`, that is
//! `(|w|^2 - r^2) |v|^2 <= (w.v)^2`. This form needs 516 bits for the largest input; the cross
//! product of the textbook needs 520 and three more multiplications.

use core::cmp::Ordering;

use nebula_math::{U384, WorldPosition};

/// Returns whether `p` is at most `radius_mm` from the segment between `from` and `to`.
pub(super) fn contains(
    from: &WorldPosition,
    to: &WorldPosition,
    radius_mm: i128,
    p: &WorldPosition,
) -> bool {
    if radius_mm < 0 || is_outside_bounds(from, to, radius_mm.unsigned_abs(), p) {
        return false;
    }
    let v = Way::new(from, to);
    let w = Way::new(from, p);
    if v.is_short() && w.is_short() {
        return contains_short(&v, &w, radius_mm.unsigned_abs());
    }
    contains_wide(from, to, radius_mm, p, &v, &w)
}

/// Rejects points farther than the radius from the segment's box: cheap, and most points are.
fn is_outside_bounds(from: &WorldPosition, to: &WorldPosition, r: u128, p: &WorldPosition) -> bool {
    let outside = |a: i128, b: i128, at: i128| {
        let (low, high) = (a.min(b), a.max(b));
        at.abs_diff(at.clamp(low, high)) > r
    };
    outside(from.x, to.x, p.x) || outside(from.y, to.y, p.y) || outside(from.z, to.z, p.z)
}

/// A displacement whose components may need 129 bits: magnitudes and signs apart.
struct Way {
    size: [u128; 3],
    negative: [bool; 3],
}

impl Way {
    fn new(from: &WorldPosition, to: &WorldPosition) -> Self {
        Self {
            size: [
                to.x.abs_diff(from.x),
                to.y.abs_diff(from.y),
                to.z.abs_diff(from.z),
            ],
            negative: [to.x < from.x, to.y < from.y, to.z < from.z],
        }
    }

    /// Returns whether products of four components of such ways fit 128 bits.
    fn is_short(&self) -> bool {
        self.size.iter().all(|size| *size <= 1 << 31)
    }
}

/// The common case: ways of at most 2^31 mm (2,147 km) an axis.
fn contains_short(v: &Way, w: &Way, r: u128) -> bool {
    let square = |way: &Way| way.size.iter().map(|s| s * s).sum::<u128>();
    // Each square is at most 2^62, so three are below 2^64 and their products below 2^128.
    let (vv, ww) = (square(v), square(w));
    // A radius beyond 2^32 reaches every point of a short way.
    let rr = r.saturating_mul(r);
    let (mut along, mut against) = (0_u128, 0_u128);
    for i in 0..3 {
        let product = v.size[i] * w.size[i];
        if v.negative[i] == w.negative[i] {
            along += product;
        } else {
            against += product;
        }
    }
    if ww <= rr {
        return true;
    }
    if along <= against {
        return false; // The start is nearest, and it is too far away.
    }
    let wv = along - against;
    if wv >= vv {
        // The end is nearest; |w - v|^2 = ww - 2 wv + vv, and is never negative.
        return ww + vv - 2 * wv <= rr;
    }
    (ww - rr) * vv <= wv * wv
}

/// Every other case, in 768-bit arithmetic.
#[cold]
fn contains_wide(
    from: &WorldPosition,
    to: &WorldPosition,
    radius_mm: i128,
    p: &WorldPosition,
    v: &Way,
    w: &Way,
) -> bool {
    if from.is_within(p, radius_mm) || to.is_within(p, radius_mm) {
        return true;
    }
    let (mut along, mut against) = (U384::ZERO, U384::ZERO);
    for i in 0..3 {
        let product = U384::product(v.size[i], w.size[i]);
        let sum = if v.negative[i] == w.negative[i] {
            &mut along
        } else {
            &mut against
        };
        *sum = sum
            .checked_add(product)
            .expect("three products of 256 bits fit 258");
    }
    if along <= against {
        return false; // The start is nearest, and it is too far away.
    }
    let wv = minus(along.limbs(), against.limbs());
    let vv = from.distance_squared(to).limbs();
    if compare(&wv, &vv) != Ordering::Less {
        return false; // The end is nearest, and it is too far away.
    }
    let ww = from.distance_squared(p).limbs();
    let rr = U384::square(radius_mm.unsigned_abs()).limbs();
    // The start is farther away than the radius, so the difference is positive.
    compare(&times(minus(ww, rr), vv), &times(wv, wv)) != Ordering::Greater
}

/// Returns `a - b`, for `a >= b`, least significant limb first.
fn minus(a: [u128; 3], b: [u128; 3]) -> [u128; 3] {
    let (lo, borrow) = a[0].borrowing_sub(b[0], false);
    let (mid, borrow) = a[1].borrowing_sub(b[1], borrow);
    let (hi, borrow) = a[2].borrowing_sub(b[2], borrow);
    debug_assert!(!borrow, "the caller compared the two");
    [lo, mid, hi]
}

/// Returns `a * b`, least significant limb first.
fn times(a: [u128; 3], b: [u128; 3]) -> [u128; 6] {
    let mut product = [0; 6];
    for (i, x) in a.into_iter().enumerate() {
        let mut carry = 0;
        for (j, y) in b.into_iter().enumerate() {
            (product[i + j], carry) = x.carrying_mul_add(y, product[i + j], carry);
        }
        product[i + 3] = carry;
    }
    product
}

/// Compares two numbers whose least significant limb is first.
fn compare<const N: usize>(a: &[u128; N], b: &[u128; N]) -> Ordering {
    a.iter().rev().cmp(b.iter().rev())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn product_of_the_largest_limbs_is_exact() {
        // (2^384 - 1)^2 = 2^768 - 2^385 + 1
        let all = [u128::MAX; 3];
        let expected = [1, 0, 0, u128::MAX - 1, u128::MAX, u128::MAX];
        assert_eq!(times(all, all), expected);
    }

    #[test]
    fn short_and_wide_arithmetic_agree_on_every_small_case() {
        let axis = [-3_i128, -1, 0, 2, 4];
        let mut decided = [0_u32; 2];
        for (vx, vy, vz) in triples(&axis) {
            for (wx, wy, wz) in triples(&axis) {
                let (from, to, p) = (
                    WorldPosition::new(1, -1, 2),
                    WorldPosition::new(1 + vx, -1 + vy, 2 + vz),
                    WorldPosition::new(1 + wx, -1 + wy, 2 + wz),
                );
                let (v, w) = (Way::new(&from, &to), Way::new(&from, &p));
                for r in 0..6 {
                    let wide = contains_wide(&from, &to, r, &p, &v, &w);
                    assert_eq!(contains_short(&v, &w, r.unsigned_abs()), wide);
                    decided[usize::from(wide)] += 1;
                }
            }
        }
        assert!(decided[0] > 10_000 && decided[1] > 10_000, "{decided:?}");
    }

    fn triples(axis: &[i128]) -> impl Iterator<Item = (i128, i128, i128)> {
        axis.iter().flat_map(move |x| {
            axis.iter()
                .flat_map(move |y| axis.iter().map(move |z| (*x, *y, *z)))
        })
    }
}
