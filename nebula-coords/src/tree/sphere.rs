//! The sphere, exactly.

use nebula_math::U384;

use super::cube::Key;

#[derive(Clone, Copy, Debug)]
pub(super) struct Sphere {
    pub(super) center: Key,
    pub(super) radius: u128,
}

impl Sphere {
    /// Returns whether a point is within the radius.
    #[inline]
    pub(super) fn contains(&self, key: &Key) -> bool {
        let [x, y, z] = [0, 1, 2].map(|k| self.center[k].abs_diff(key[k]));
        let r = self.radius;
        if x > r || y > r || z > r {
            return false;
        }
        if r >> 63 == 0 {
            // Each square is below 2^126, so three fit 128 bits.
            return x * x + y * y + z * z <= r * r;
        }
        U384::sum_of_squares(x, y, z) <= U384::square(r)
    }
}
