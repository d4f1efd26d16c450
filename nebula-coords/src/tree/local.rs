//! A sphere in 64-bit numbers: nearly all of a query happens far below 2^62 millimetres.

#![expect(
    clippy::cast_possible_truncation,
    reason = "the low halves of keys are compared within one cube of at most 2^61"
)]

use super::cube::{Cube, Key, room_for};
use super::frame::Frame;
use super::kernel::{self, Band, NEAR_LOW};
use super::leaf::Leaf;
use super::node::RANGES;
use super::shape::{Relation, Shape};
use super::sphere::Sphere;

/// The largest cube and the largest radius for which differences stay below 2^63.
const LEVEL: u8 = 61;

/// A sphere relative to the corner of a cube that it touches.
pub(super) struct LocalSphere<'a> {
    sphere: &'a Sphere,
    /// The low halves of the cube's corner.
    base: [u64; 3],
    center: [i64; 3],
    radius: i64,
    squared: u128,
    /// Cubes up to this level are small enough to lie inside the sphere.
    inside_level: u8,
    /// The kernel's thresholds for exact frames.
    thresholds: (f32, f32),
}

impl<'a> LocalSphere<'a> {
    /// Returns the sphere relative to a cube it touches, if both are small enough.
    pub(super) fn new(sphere: &'a Sphere, cube: &Cube) -> Option<Self> {
        if cube.level > LEVEL || sphere.radius >> LEVEL != 0 {
            return None;
        }
        // The sphere touches the cube or its slack, so its centre is less than 2^62 away from it.
        let relative = |axis: usize| sphere.center[axis].wrapping_sub(cube.origin[axis]) as i64;
        let radius = sphere.radius as i64;
        Some(Self {
            sphere,
            base: cube.origin.map(|v| v as u64),
            center: [0, 1, 2].map(relative),
            radius,
            squared: square(radius.unsigned_abs()),
            inside_level: (2 * sphere.radius + 1).ilog2() as u8,
            thresholds: Band::exact_thresholds(sphere.radius),
        })
    }

    /// Returns a corner relative to the base.
    #[inline]
    fn relative(&self, corner: &Key) -> [i64; 3] {
        [0, 1, 2].map(|k| (corner[k] as u64).wrapping_sub(self.base[k]) as i64)
    }

    #[inline]
    fn reaches(&self, distances: [u64; 3]) -> bool {
        // Distances are below 2^63, so three squares fit 128 bits.
        let [x, y, z] = distances.map(square);
        x.wrapping_add(y).wrapping_add(z) <= self.squared
    }

    /// Returns the sphere as the kernel wants it for a leaf.
    #[inline]
    fn band(&self, frame: &Frame) -> Band {
        if frame.is_exact() {
            let origin = self.relative(&frame.origin);
            let center = [0, 1, 2].map(|k| self.center[k].wrapping_sub(origin[k]));
            let is_near = |at: i64| (i64::from(NEAR_LOW)..1 << 31).contains(&at);
            if center.iter().all(|at| is_near(*at)) {
                let (sure, never) = self.thresholds;
                return Band::Near {
                    center: center.map(|at| at as i32),
                    sure,
                    never,
                };
            }
        }
        Band::new(&self.sphere.center, self.sphere.radius, frame)
    }
}

#[inline]
fn square(v: u64) -> u128 {
    u128::from(v) * u128::from(v)
}

impl Shape for LocalSphere<'_> {
    #[inline]
    fn touched(&self, cube: &Cube, stray: u8) -> u64 {
        let shift = cube.level - 2;
        let origin = self.relative(&cube.origin);
        let reach = self.radius.wrapping_add(room_for(stray) as i64);
        let mut mask = u64::MAX;
        for axis in 0..3 {
            let center = self.center[axis].wrapping_sub(origin[axis]);
            let first = (center.wrapping_sub(reach) >> shift)
                .clamp(0, 3)
                .unsigned_abs();
            let last = (center.wrapping_add(reach) >> shift)
                .clamp(0, 3)
                .unsigned_abs();
            mask &= RANGES[axis][first as usize][last as usize];
        }
        mask
    }

    #[inline]
    fn relation(&self, cube: &Cube, stray: u8) -> Relation {
        let origin = self.relative(&cube.origin);
        let slack = room_for(stray) as i64;
        let side = (1_i64 << cube.level) - 1;
        let mut near = [0; 3];
        let mut far = [0; 3];
        for axis in 0..3 {
            let low = origin[axis].wrapping_sub(self.center[axis]);
            let high = low.wrapping_add(side).wrapping_add(slack);
            let low = low.wrapping_sub(slack);
            near[axis] = low.max(high.wrapping_neg()).max(0).unsigned_abs();
            far[axis] = high.max(low.wrapping_neg()).unsigned_abs();
        }
        if !self.reaches(near) {
            Relation::Outside
        } else if cube.level <= self.inside_level && self.reaches(far) {
            Relation::Inside
        } else {
            Relation::Partial
        }
    }

    #[inline]
    fn contains(&self, key: &Key) -> bool {
        self.sphere.contains(key)
    }

    #[inline]
    fn scan<I: Copy>(&self, leaf: &Leaf<I>, from: usize, out: &mut [I]) -> usize {
        kernel::scan(&self.band(leaf.frame()), leaf, from, out, |slot| {
            self.contains(&leaf.key(slot))
        })
    }
}
