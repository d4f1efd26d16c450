//! The inner loop of sphere queries: eight points at a time against a band of doubt.
//!
//! Distances are taken in floats from a leaf's 31-bit offsets. Every step that can be off (units
//! cut away by a coarse frame, the float rounding) is covered by two thresholds: at most `sure`
//! is certainly inside, above `never` is certainly outside, and the few in between are asked
//! exactly. So floats decide nothing that integers would decide differently.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "every rounding step is covered by the band of doubt"
)]

use super::cube::Key;
use super::frame::{Frame, OFFSET_END};
use super::leaf::{Block, LANES, Leaf};
use super::simd::{self, GROUP, Masks};

/// A word has a bit for each point of a group of blocks.
const WORD: usize = GROUP * LANES;

/// Conversion, square and two sums round five times by 2^-24; a margin of 2^-20 also covers the
/// thresholds' own rounding.
const NEAR_ROUNDING: f64 = 1.0 / (1 << 20) as f64;

/// The same in `f64`, far more than it takes.
const FAR_ROUNDING: f64 = 1.0 / (1_u64 << 46) as f64;

/// Offset and centre each lose less than one unit per axis to a coarse frame, in the same direction: a
/// distance is off by less than sqrt(3) units.
const CUT: f64 = 2.0;

/// The lowest centre whose difference to every offset fits `i32`.
pub(super) const NEAR_LOW: i32 = i32::MIN + OFFSET_END.cast_signed();

/// A sphere relative to a frame, in the frame's units.
#[derive(Clone, Copy, Debug)]
pub(super) enum Band {
    /// The centre is close enough for exact `i32` differences.
    Near {
        center: [i32; 3],
        sure: f32,
        never: f32,
    },
    /// The centre is far from the frame, measured by its units.
    Far {
        center: [f64; 3],
        sure: f64,
        never: f64,
    },
}

impl Band {
    /// Returns the thresholds of a sphere in an exact frame, which depend on its radius alone.
    pub(super) fn exact_thresholds(radius: f64) -> (f32, f32) {
        let (sure, never) = thresholds(radius, 0.0, NEAR_ROUNDING);
        (sure as f32, never as f32)
    }

    /// Returns the thresholds of a sphere in a coarse frame, for a centre in its units.
    #[inline]
    pub(super) fn coarse_thresholds(radius: f64, frame: &Frame) -> (f32, f32) {
        let (sure, never) = thresholds(radius / power_of_two(frame.shift), CUT, NEAR_ROUNDING);
        (sure as f32, never as f32)
    }

    #[inline]
    pub(super) fn near(center: [i32; 3], (sure, never): (f32, f32)) -> Self {
        Self::Near {
            center,
            sure,
            never,
        }
    }

    pub(super) fn new(center: &Key, radius: u128, frame: &Frame) -> Self {
        let view = View::new(center, frame);
        let (sure, never) = view.thresholds(radius as f64);
        match view.center {
            Center::Near(center) => Self::Near {
                center,
                sure: sure as f32,
                never: never as f32,
            },
            Center::Far(center) => Self::Far {
                center,
                sure,
                never,
            },
        }
    }
}

/// A centre in a frame's units.
#[derive(Clone, Copy, Debug)]
enum Center {
    Near([i32; 3]),
    Far([f64; 3]),
}

/// How distances from a centre look in a frame.
#[derive(Clone, Copy, Debug)]
struct View {
    center: Center,
    /// Millimetres to a unit.
    unit: f64,
    /// By how many units a distance may be off.
    error: f64,
    /// By what share a square may be off.
    rounding: f64,
}

impl View {
    #[inline]
    fn new(center: &Key, frame: &Frame) -> Self {
        let unit = power_of_two(frame.shift);
        let cut = if frame.is_exact() { 0.0 } else { CUT };
        if let Some(center) = near_center(center, frame) {
            return Self {
                center: Center::Near(center),
                unit,
                error: cut,
                rounding: NEAR_ROUNDING,
            };
        }
        let relative = [0, 1, 2].map(|k| signed(center[k], frame.origin[k]) / unit);
        let far = relative.iter().fold(0.0_f64, |far, v| far.max(v.abs()));
        Self {
            center: Center::Far(relative),
            unit,
            // The centre itself is rounded to 2^-52 of its distance here.
            error: cut + (far + f64::from(OFFSET_END)) * FAR_ROUNDING / 8.0,
            rounding: FAR_ROUNDING,
        }
    }

    /// Returns the thresholds of a sphere around the centre.
    #[inline]
    fn thresholds(&self, radius: f64) -> (f64, f64) {
        thresholds(radius / self.unit, self.error, self.rounding)
    }
}

/// Returns the squared distance in a frame's units beyond which a point is surely farther than `radius` from
/// a centre near the frame.
#[inline]
pub(super) fn never(radius: f64, frame: &Frame) -> f32 {
    let error = if frame.is_exact() { 0.0 } else { CUT };
    thresholds(radius / power_of_two(frame.shift), error, NEAR_ROUNDING).1 as f32
}

/// Returns a squared distance in an exact frame. Differences are below 2^31, so three squares fit.
#[inline]
pub(super) fn exact_square(block: &Block, lane: usize, center: [i32; 3]) -> u64 {
    let mut sum = 0;
    for (axis, at) in block.axes.iter().zip(center) {
        let d = u64::from(axis[lane].cast_signed().wrapping_sub(at).unsigned_abs());
        sum += d * d;
    }
    sum
}

/// Returns two to a power, without the loop of `powi`.
#[inline]
pub(super) fn power_of_two(power: u8) -> f64 {
    f64::from_bits((1_023 + u64::from(power)) << 52)
}

/// Returns the squared distances up to which a point is surely inside, and beyond which it is
/// surely outside, if distances are off by at most `error` and squares by the share `rounding`.
fn thresholds(radius: f64, error: f64, rounding: f64) -> (f64, f64) {
    let inner = radius - error;
    let sure = if inner < 0.0 {
        -1.0
    } else {
        inner * inner * (1.0 - rounding)
    };
    let outer = radius + error;
    (sure, outer * outer * (1.0 + rounding))
}

/// Returns the centre in the frame's units if differences to every offset fit `i32`.
fn near_center(center: &Key, frame: &Frame) -> Option<[i32; 3]> {
    let mut near = [0; 3];
    for axis in 0..3 {
        let (at, origin) = (center[axis], frame.origin[axis]);
        near[axis] = if at >= origin {
            i32::try_from((at - origin) >> frame.shift).ok()?
        } else {
            // Rounds down, as the offsets do.
            let below = ((origin - at - 1) >> frame.shift) + 1;
            let near = -i32::try_from(below).ok()?;
            if near < NEAR_LOW {
                return None;
            }
            near
        };
    }
    Some(near)
}

fn signed(at: u128, origin: u128) -> f64 {
    if at >= origin {
        (at - origin) as f64
    } else {
        -((origin - at) as f64)
    }
}

/// Writes the ids of a leaf's points from slot `from` on that lie in a band, and those in doubt that
/// `exactly` confirms, to `out`, and returns how many there were.
pub(super) fn scan<I: Copy>(
    band: &Band,
    leaf: &Leaf<I>,
    from: usize,
    out: &mut [I],
    exactly: impl Fn(usize) -> bool,
) -> usize {
    debug_assert!(from.is_multiple_of(LANES), "scans start at a block");
    match *band {
        Band::Near {
            center,
            sure,
            never,
        } => scan_by(leaf, from, out, exactly, |blocks| {
            simd::near(blocks, center, sure, never)
        }),
        Band::Far {
            center,
            sure,
            never,
        } => scan_by(leaf, from, out, exactly, |blocks| {
            simd::masks(blocks, sure, never, |block| far(block, center))
        }),
    }
}

#[inline]
fn scan_by<I: Copy>(
    leaf: &Leaf<I>,
    from: usize,
    out: &mut [I],
    exactly: impl Fn(usize) -> bool,
    masks: impl Fn(&[Block]) -> Masks,
) -> usize {
    let until = leaf.len().min(from + out.len());
    let mut found = 0;
    let blocks = &leaf.blocks()[from / LANES..until.div_ceil(LANES)];
    let ids = leaf.ids()[from..until].chunks(WORD);
    for (at, (blocks, ids)) in blocks.chunks(GROUP).zip(ids).enumerate() {
        let Masks { mut sure, maybe } = masks(blocks);
        let used = u64::MAX >> (WORD - ids.len());
        let mut doubt = maybe & !sure & used;
        while doubt != 0 {
            let lane = doubt.trailing_zeros();
            doubt &= doubt - 1;
            if exactly(from + at * WORD + lane as usize) {
                sure |= 1 << lane;
            }
        }
        found += keep(ids, sure & used, &mut out[found..]);
    }
    found
}

/// Copies the ids whose bits are set, and returns how many there are.
#[inline]
fn keep<I: Copy>(ids: &[I], mut bits: u64, out: &mut [I]) -> usize {
    let count = bits.count_ones() as usize;
    if count == ids.len() {
        out[..count].copy_from_slice(ids);
        return count;
    }
    for id in &mut out[..count] {
        *id = ids[bits.trailing_zeros() as usize];
        bits &= bits - 1;
    }
    count
}

#[inline]
pub(super) fn near(block: &Block, center: [i32; 3]) -> [f32; LANES] {
    let mut squares = [0.0; LANES];
    for (axis, at) in block.axes.iter().zip(center) {
        for lane in 0..LANES {
            let d = axis[lane].cast_signed().wrapping_sub(at) as f32;
            squares[lane] += d * d;
        }
    }
    squares
}

#[inline]
fn far(block: &Block, center: [f64; 3]) -> [f64; LANES] {
    let mut squares = [0.0; LANES];
    for (axis, at) in block.axes.iter().zip(center) {
        for lane in 0..LANES {
            let d = f64::from(axis[lane]) - at;
            squares[lane] += d * d;
        }
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::super::ball::Ball;
    use super::super::cube::Cube;
    use super::super::node::Place;
    use super::super::shape::Scan as _;
    use super::super::sphere::Sphere;
    use super::*;

    struct Random(u64);

    impl Random {
        fn word(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            z ^ (z >> 31)
        }

        /// Returns a number of a random size: small ones are as likely as huge ones.
        fn wide(&mut self, bits: u32) -> u128 {
            let all = u128::from(self.word()) << 64 | u128::from(self.word());
            let bits = u32::try_from(self.word() % u64::from(bits + 1)).expect("small");
            all.unbounded_shr(128 - bits)
        }
    }

    #[expect(clippy::cast_sign_loss, reason = "a root is not negative")]
    /// Returns a leaf of random points in a cube of random size, and a sphere that ends near one.
    fn scene(random: &mut Random) -> (Leaf<u32>, Sphere) {
        let level = u8::try_from(random.word() % 129).expect("small");
        let all = [0; 3].map(|_| u128::from(random.word()) << 64 | u128::from(random.word()));
        let cube = Cube::around(&all, level);
        let inside = |random: &mut Random| cube.origin.map(|v| v | random.wide(level.into()));
        let points: Vec<_> = (0..64).map(|id| (id, inside(random))).collect();
        let leaf = Leaf::new(cube, Place::Root, points.iter().copied());
        let center = match random.word() % 3 {
            0 => inside(random),
            1 => cube.origin.map(|v| v.saturating_sub(random.wide(128))),
            _ => cube.origin.map(|v| v.saturating_add(random.wide(128))),
        };
        // The sphere ends at the first point, give or take what a float of 53 bits can tell apart.
        let edge = [0, 1, 2].map(|k| center[k].abs_diff(points[0].1[k]) as f64);
        let far = edge.iter().map(|d| d * d).sum::<f64>().sqrt();
        let radius = (far as u128)
            .saturating_add(random.wide(2))
            .saturating_sub(random.wide(2));
        let radius = radius.min(u128::MAX >> 1);
        (leaf, Sphere { center, radius })
    }

    /// The floats in the kernel against the integers of `Sphere::contains`.
    #[test]
    fn the_kernel_agrees_with_exact_arithmetic() {
        let cases =
            std::env::var("NEBULA_KERNEL_CASES").map_or(200_000, |n| n.parse().expect("a number"));
        let mut random = Random(42);
        let (mut asked, mut inside) = (0, 0);
        while asked < cases {
            let (leaf, sphere) = scene(&mut random);
            let ball = Ball::new(sphere.center, sphere.radius);
            let mut out = [0; 64];
            let found = ball.scan(&leaf, 0, &mut out);
            let exact: Vec<u32> = leaf
                .points()
                .filter(|(_, key)| sphere.contains(key))
                .map(|(id, _)| id)
                .collect();
            assert_eq!(
                &out[..found],
                exact,
                "{:x?} {:x}",
                sphere.center,
                sphere.radius
            );
            asked += leaf.len();
            inside += found;
        }
        assert!(
            inside > asked / 10 && inside < asked / 10 * 9,
            "{inside} of {asked} inside"
        );
    }

    #[test]
    fn a_point_on_the_boundary_is_inside_and_one_past_it_is_not() {
        for origin in [0_u128, 1 << 70, u128::MAX - 5_000_000] {
            let cube = Cube {
                origin: [origin; 3],
                level: 128,
            };
            // 3^2 + 4^2 + 12^2 = 13^2, scaled until f32 can no longer tell the neighbours apart.
            for scale in [1, 1_000, 100_000] {
                let points: Vec<_> = [[3, 4, 12], [3, 4, 13]]
                    .iter()
                    .enumerate()
                    .map(|(id, p)| {
                        (
                            id,
                            p.map(|v: u128| origin + v * scale - u128::from(v == 13) * (scale - 1)),
                        )
                    })
                    .collect();
                let leaf = Leaf::new(cube, Place::Root, points.iter().copied());
                let ball = Ball::new([origin; 3], 13 * scale);
                let mut out = [9; 8];
                assert_eq!(
                    (ball.scan(&leaf, 0, &mut out), out[0]),
                    (1, 0),
                    "{origin:x} {scale}"
                );
            }
        }
    }
}
