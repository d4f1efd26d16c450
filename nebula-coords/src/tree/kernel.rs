//! The inner loop of sphere queries: eight points at a time against a band of doubt.
//!
//! Distances are taken in floats from a leaf's offsets. Every step that can be off (what a frame of floats
//! cuts away, the float rounding) is covered by two thresholds: at most `sure` is certainly inside,
//! above `never` is certainly outside, and the few in between are asked exactly. So floats decide
//! nothing that integers would decide differently.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    reason = "every rounding step is covered by the band of doubt"
)]

use core::ops::Range;

use super::best::float;
use super::cube::Key;
use super::frame::{Frame, OFFSET_END};
use super::leaf::{Block, LANES, Leaf};
use super::shape::Keep;
use super::simd::{self, GROUP, Masks};

/// A word has a bit for each point of a group of blocks.
const WORD: usize = GROUP * LANES;

/// Conversion, square and two sums round five times by 2^-24; a margin of 2^-20 also covers the
/// thresholds' own rounding, and what a frame of floats cuts away by the share of the distance.
const NEAR_ROUNDING: f64 = 1.0 / (1 << 20) as f64;

/// The same in `f64`, far more than it takes.
const FAR_ROUNDING: f64 = 1.0 / (1_u64 << 46) as f64;

/// A float and a centre lose less than 2^-23 and 2^-24 of themselves. A point is at most as far from the corner
/// as the centre and the distance together: by this share of the farthest axis of the centre, and within the
/// rounding by its own, a distance may be off.
const FLOAT_CUT: f64 = 1.0 / (1 << 20) as f64;

/// Centres beyond this are asked in `f64`: they are some hundred cubes away.
const FLOAT_FAR: f64 = (1_u128 << 70) as f64;

/// Centres beyond this have squares that overflow, so all is taken by the power of two below it: then no
/// number is above 2^59, and what is lost below the smallest float is nothing beside the cut.
const FLOAT_WIDE: f64 = (1_u64 << 61) as f64;
const WIDE_SCALE: f64 = 1.0 / (1 << 12) as f64;

/// No float of a leaf is above this, and none loses more than 2^-23 of itself.
const FLOAT_END: f64 = (1_u64 << 63) as f64;

/// Squares below this may have lost bits or vanished.
const TINY: f64 = 1.0 / (1_u128 << 100) as f64;

/// The lowest centre whose difference to every offset fits `i32`.
pub(super) const NEAR_LOW: i32 = i32::MIN + OFFSET_END.cast_signed();

/// A sphere as a leaf's offsets show it.
#[derive(Clone, Copy, Debug)]
pub(super) enum Band {
    /// The centre is close to the frame.
    Near {
        center: Center,
        sure: f32,
        never: f32,
    },
    /// The centre is far from the frame, measured by its units.
    Far {
        center: [f64; 3],
        floats: bool,
        sure: f64,
        never: f64,
    },
}

/// A centre close to a frame, in its units.
#[derive(Clone, Copy, Debug)]
pub(super) enum Center {
    /// Differences to every offset fit `i32`, and are exact.
    Whole([i32; 3]),
    /// Offsets are floats, and count by the scale.
    Floats { at: [f32; 3], scale: f32 },
}

impl Band {
    /// Returns the thresholds of a sphere in an exact frame, which depend on its radius alone.
    pub(super) fn exact_thresholds(radius: f64) -> (f32, f32) {
        let (sure, never) = thresholds(radius, 0.0, NEAR_ROUNDING);
        (sure as f32, never as f32)
    }

    #[inline]
    pub(super) fn whole(center: [i32; 3], (sure, never): (f32, f32)) -> Self {
        Self::Near {
            center: Center::Whole(center),
            sure,
            never,
        }
    }

    /// Returns the band of a sphere that is far from an exact frame.
    #[cold]
    pub(super) fn far(center: &Key, radius: f64, frame: &Frame) -> Self {
        let center = [0, 1, 2].map(|k| signed(center[k], frame.origin[k]));
        // The centre itself is rounded to 2^-52 of its distance here.
        let error = (farthest(&center) + f64::from(OFFSET_END)) * FAR_ROUNDING / 8.0;
        let (sure, never) = thresholds(radius, error, FAR_ROUNDING);
        Self::Far {
            center,
            floats: false,
            sure,
            never,
        }
    }

    /// Returns the band of a sphere in a frame of floats, for a leaf whose points stray by so many bits.
    pub(super) fn floats(center: &Key, radius: f64, frame: &Frame, stray: u8) -> Self {
        let view = View::new(center, frame, stray);
        let (sure, never) = view.thresholds(radius);
        if view.is_far {
            return Self::Far {
                center: view.center,
                floats: true,
                sure,
                never,
            };
        }
        Self::Near {
            center: view.near_center(),
            // What overflows is not sure.
            sure: (sure as f32).min(f32::MAX),
            never: never as f32,
        }
    }
}

/// How distances from a centre look in a frame of floats.
#[derive(Clone, Copy, Debug)]
pub(super) struct View {
    center: [f64; 3],
    is_far: bool,
    /// What the frame's floats are multiplied by.
    scale: f64,
    millimetre: f64,
    /// By how much a distance may be off, besides the share that is rounding.
    error: f64,
}

impl View {
    #[inline]
    pub(super) fn new(center: &Key, frame: &Frame, stray: u8) -> Self {
        let millimetre = frame.millimetre();
        let center = [0, 1, 2].map(|k| {
            let way = signed(center[k], frame.origin[k]) * millimetre;
            if frame.counts_down(k) { -way } else { way }
        });
        let far = farthest(&center);
        let is_far = far > FLOAT_FAR;
        let scale = if is_far || far <= FLOAT_WIDE {
            1.0
        } else {
            WIDE_SCALE
        };
        let cut = if is_far {
            FLOAT_END * FLOAT_CUT + (far + FLOAT_END) * FAR_ROUNDING / 8.0
        } else {
            far * FLOAT_CUT
        };
        // A stray is written as if it stood on the corner, along up to three axes.
        let room = if stray == 0 { 0.0 } else { power_of_two(stray) };
        Self {
            center: center.map(|v| v * scale),
            is_far,
            scale,
            millimetre: millimetre * scale,
            error: (cut + 2.0 * room * millimetre) * scale,
        }
    }

    #[inline]
    pub(super) fn near_center(&self) -> Center {
        Center::Floats {
            at: self.center.map(|v| v as f32),
            scale: self.scale as f32,
        }
    }

    /// Returns the thresholds of a sphere around the centre.
    #[inline]
    fn thresholds(&self, radius: f64) -> (f64, f64) {
        let rounding = if self.is_far {
            FAR_ROUNDING
        } else {
            NEAR_ROUNDING
        };
        let (sure, never) = thresholds(radius * self.millimetre, self.error, rounding);
        (if sure < TINY { -1.0 } else { sure }, never + TINY)
    }

    /// Returns the square beyond which a point is surely farther than `radius` from the centre, or infinity if
    /// the centre is too far to say.
    #[inline]
    pub(super) fn never(&self, radius: f64) -> f32 {
        if self.is_far {
            return f32::INFINITY;
        }
        self.thresholds(radius).1 as f32
    }
}

impl View {
    /// Returns a distance in millimetres within which so many points of a leaf surely are, if that is
    /// quickly told.
    pub(super) fn reach<I: Copy>(&self, leaf: &Leaf<I>, wanted: usize) -> Option<f64> {
        if self.is_far {
            return None;
        }
        let square = square_within(leaf, self.near_center(), wanted)? + TINY;
        let distance = square.sqrt() * (1.0 + NEAR_ROUNDING) + self.error;
        Some(distance / self.millimetre)
    }
}

/// Does the same in an exact frame, for a centre near it.
pub(super) fn reach<I: Copy>(leaf: &Leaf<I>, center: [i32; 3], wanted: usize) -> Option<f64> {
    let square = square_within(leaf, Center::Whole(center), wanted)?;
    Some(square.sqrt() * (1.0 + NEAR_ROUNDING))
}

/// Returns a squared distance that so many points of a leaf are within, as floats see it, if that is quickly told.
fn square_within<I: Copy>(leaf: &Leaf<I>, center: Center, wanted: usize) -> Option<f64> {
    const ALL: usize = 2 * LANES;
    let pairs = leaf.len() / ALL;
    if pairs == 0 || wanted == 0 || wanted > ALL {
        return None;
    }
    let mut minima = simd::minima(&leaf.blocks()[..2 * pairs], center);
    let square = match wanted {
        1 => minima.into_iter().fold(f32::INFINITY, f32::min),
        ALL => minima.into_iter().fold(0.0, f32::max),
        _ => {
            minima.sort_unstable_by(f32::total_cmp);
            minima[wanted - 1]
        }
    };
    Some(square.into())
}

/// Returns the squared distance beyond which a point is surely farther than `radius` from a centre near an
/// exact frame.
#[inline]
pub(super) fn never(radius: f64) -> f32 {
    thresholds(radius, 0.0, NEAR_ROUNDING).1 as f32
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
pub(super) const fn power_of_two(power: u8) -> f64 {
    f64::from_bits((1_023 + power as u64) << 52)
}

/// Returns the squared distances up to which a point is surely inside, and beyond which it is
/// surely outside, if distances are off by at most `error` and squares by the share `rounding`.
#[inline]
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

/// Returns a difference to within 2^-51 of itself.
#[inline]
pub(super) fn signed(at: u128, origin: u128) -> f64 {
    let (difference, below) = at.overflowing_sub(origin);
    if below {
        -float(difference.wrapping_neg())
    } else {
        float(difference)
    }
}

#[inline]
fn farthest(center: &[f64; 3]) -> f64 {
    center.iter().fold(0.0_f64, |far, v| far.max(v.abs()))
}

/// Hands the ids of a leaf's points in some slots that lie in a band, and those in doubt that `exactly`
/// confirms, to `out`.
pub(super) fn scan<I: Copy>(
    band: &Band,
    leaf: &Leaf<I>,
    slots: Range<usize>,
    out: &mut impl Keep<I>,
    exactly: impl Fn(usize) -> bool,
) {
    debug_assert!(slots.start.is_multiple_of(LANES), "scans start at a block");
    match *band {
        Band::Near {
            center,
            sure,
            never,
        } => scan_by(leaf, slots, out, exactly, |blocks| {
            simd::near(blocks, center, sure, never)
        }),
        Band::Far {
            center,
            floats,
            sure,
            never,
        } => scan_by(leaf, slots, out, exactly, |blocks| {
            simd::masks(blocks, sure, never, |block| far(block, center, floats))
        }),
    }
}

#[inline]
fn scan_by<I: Copy>(
    leaf: &Leaf<I>,
    slots: Range<usize>,
    out: &mut impl Keep<I>,
    exactly: impl Fn(usize) -> bool,
    masks: impl Fn(&[Block]) -> Masks,
) {
    let from = slots.start;
    let blocks = &leaf.blocks()[from / LANES..slots.end.div_ceil(LANES)];
    let ids = leaf.ids()[slots].chunks(WORD);
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
        out.keep(ids, sure & used);
    }
}

/// Returns the squared distances of a block's points.
#[inline]
pub(super) fn near(block: &Block, center: Center) -> [f32; LANES] {
    let mut squares = [0.0; LANES];
    for (k, axis) in block.axes.iter().enumerate() {
        for lane in 0..LANES {
            let d = match center {
                Center::Whole(center) => axis[lane].cast_signed().wrapping_sub(center[k]) as f32,
                Center::Floats { at, scale } => f32::from_bits(axis[lane]) * scale - at[k],
            };
            squares[lane] += d * d;
        }
    }
    squares
}

#[inline]
fn far(block: &Block, center: [f64; 3], floats: bool) -> [f64; LANES] {
    let mut squares = [0.0; LANES];
    for (axis, at) in block.axes.iter().zip(center) {
        for lane in 0..LANES {
            let offset = if floats {
                f64::from(f32::from_bits(axis[lane]))
            } else {
                f64::from(axis[lane])
            };
            let d = offset - at;
            squares[lane] += d * d;
        }
    }
    squares
}

#[cfg(test)]
mod tests {
    use super::super::ball::{Ball, near_center};
    use super::super::best::square_below;
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
        let mut points: Vec<_> = (0..64).map(|id| (id, inside(random))).collect();
        if random.word().is_multiple_of(4) {
            // Some stray, on both sides.
            let slack = |random: &mut Random| random.wide(level.saturating_sub(6).into());
            for (_, key) in points.iter_mut().step_by(5) {
                let axis = usize::try_from(random.word() % 3).expect("small");
                let (low, high) = (cube.origin[axis], cube.last()[axis]);
                key[axis] = if random.word().is_multiple_of(2) {
                    low.saturating_sub(slack(random))
                } else {
                    high.saturating_add(slack(random))
                };
            }
        }
        let mut leaf = Leaf::new(cube, Place::Root, points.iter().copied());
        leaf.find_strays();
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
            let mut found = Vec::new();
            ball.scan(&leaf, 0..leaf.len(), &mut found);
            let exact: Vec<u32> = leaf
                .points()
                .filter(|(_, key)| sphere.contains(key))
                .map(|(id, _)| id)
                .collect();
            assert_eq!(found, exact, "{:x?} {:x}", sphere.center, sphere.radius);
            asked += leaf.len();
            inside += found.len();
        }
        assert!(
            inside > asked / 10 && inside < asked / 10 * 9,
            "{inside} of {asked} inside"
        );
    }

    /// What floats promise to the nearest few against the points themselves.
    #[test]
    fn as_many_as_are_wanted_are_within_reach() {
        let mut random = Random(7);
        let (mut exact, mut floats) = (0, 0);
        for case in 0..20_000 {
            let (leaf, Sphere { center, .. }) = scene(&mut random);
            let (frame, wanted) = (&leaf.frame(), 1 + case % (2 * LANES));
            let reach = if frame.is_exact() {
                near_center(&center, &frame.origin).and_then(|at| reach(&leaf, at, wanted))
            } else {
                View::new(&center, frame, leaf.stray()).reach(&leaf, wanted)
            };
            let Some(reach) = reach else { continue };
            *(if frame.is_exact() {
                &mut exact
            } else {
                &mut floats
            }) += 1;
            let gaps = |key: Key| [0, 1, 2].map(|k| center[k].abs_diff(key[k]));
            let within = leaf
                .keys()
                .filter(|key| square_below(gaps(*key)) <= reach * reach);
            let within = within.count();
            assert!(
                within >= wanted,
                "{within} of {wanted} within {reach} of {center:x?}"
            );
        }
        assert!(
            exact > 1_000 && floats > 1_000,
            "{exact} exact, {floats} not"
        );
    }

    /// Spheres far larger than a leaf of a large cube, whose squares would overflow in its own units.
    #[test]
    fn few_points_are_in_doubt_however_large_the_sphere() {
        let mut random = Random(3);
        for level in [40, 96, 101, 115] {
            let cube = Cube::around(&[1 << 127; 3], level);
            let points = (0..256).map(|id| {
                let all =
                    [0; 3].map(|_| u128::from(random.word()) << 64 | u128::from(random.word()));
                let spread = |v: u128| v >> (128 - level);
                (id, [0, 1, 2].map(|k| cube.origin[k] | spread(all[k])))
            });
            let leaf: Leaf<u32> = Leaf::new(cube, Place::Root, points);
            let side = power_of_two(level);
            for sides in [1_u16, 2, 4, 8, 16, 64, 200, 1_000] {
                // The surface goes through the middle of the cube.
                let mut center = cube.middle();
                center[0] -= u128::from(sides) << level;
                let band = Band::floats(&center, side * f64::from(sides), &leaf.frame(), 0);
                let asked = core::cell::Cell::new(0);
                let mut found = Vec::new();
                scan(&band, &leaf, 0..256, &mut found, |_| {
                    asked.set(asked.get() + 1);
                    false
                });
                assert!(
                    asked.get() <= 4,
                    "level {level}, {sides} sides: {} asked",
                    asked.get()
                );
                assert!((64..192).contains(&found.len()), "{found:?} inside");
            }
        }
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
                let mut out = Vec::new();
                ball.scan(&leaf, 0..2, &mut out);
                assert_eq!(out, [0], "{origin:x} {scale}");
            }
        }
    }
}
