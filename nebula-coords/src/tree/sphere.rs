//! The sphere: the shape that matters most, with a fast scan of leaves.

use nebula_math::U384;

use super::cube::{Cube, Key};
use super::kernel::{self, Band};
use super::leaf::Leaf;
use super::local::LocalSphere;
use super::shape::{BoxShape, Relation, Shape, relation_by};

pub(super) struct Sphere {
    pub(super) center: Key,
    pub(super) radius: u128,
    pub(super) bounds: BoxShape,
}

impl Sphere {
    /// Returns whether a point these axis distances away is within the radius, exactly.
    #[inline]
    pub(super) fn reaches(&self, [x, y, z]: [u128; 3]) -> bool {
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

impl Shape for Sphere {
    fn touched(&self, cube: &Cube, stray: u8) -> u64 {
        self.bounds.touched(cube, stray)
    }

    fn narrowed(&self, cube: &Cube) -> Option<LocalSphere<'_>> {
        LocalSphere::new(self, cube)
    }

    #[inline]
    fn relation(&self, cube: &Cube, stray: u8) -> Relation {
        relation_by(&self.center, cube, stray, |distances| {
            self.reaches(distances)
        })
    }

    #[inline]
    fn contains(&self, key: &Key) -> bool {
        self.reaches([0, 1, 2].map(|k| self.center[k].abs_diff(key[k])))
    }

    fn scan<I: Copy>(&self, leaf: &Leaf<I>, from: usize, out: &mut [I]) -> usize {
        kernel::scan(
            &Band::new(&self.center, self.radius, leaf.frame()),
            leaf,
            from,
            out,
            |slot| self.contains(&leaf.key(slot)),
        )
    }
}
