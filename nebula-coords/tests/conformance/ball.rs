//! Balls with the straight-line metric.

use nebula_coords::Region;
use nebula_math::WorldPosition;

use super::check::{agrees, assorted, ball_finds, each_way, numbered};
use crate::common::coords::{at, radius};
use crate::common::index::TestIndex;
use crate::common::source::{Seeded, Source};

const O: WorldPosition = WorldPosition::ORIGIN;

pub(crate) fn an_empty_index_has_no_hits<X: TestIndex>() {
    each_way(&[], |x: &X| {
        ball_finds(x, O, i128::MAX, &[]);
        ball_finds(x, WorldPosition::MIN, 0, &[]);
    });
}

pub(crate) fn the_boundary_belongs_to_the_ball<X: TestIndex>() {
    // 3^2 + 4^2 + 12^2 = 13^2
    let points = numbered([at(3, 4, 12), at(-3, -4, -12), at(13, 0, 0), at(0, -13, 0)]);
    each_way(&points, |x: &X| ball_finds(x, O, 13, &[0, 1, 2, 3]));
}

pub(crate) fn one_past_the_boundary_is_out<X: TestIndex>() {
    let points = numbered([at(3, 4, 13), at(-4, -4, -12), at(14, 0, 0), at(13, 1, 0)]);
    each_way(&points, |x: &X| ball_finds(x, O, 13, &[]));
}

pub(crate) fn a_negative_radius_finds_nothing<X: TestIndex>() {
    each_way(&numbered([O, at(1, 0, 0)]), |x: &X| {
        ball_finds(x, O, -1, &[]);
        ball_finds(x, O, -500_000, &[]);
        ball_finds(x, O, i128::MIN, &[]);
    });
}

pub(crate) fn radius_zero_finds_the_very_position<X: TestIndex>() {
    let p = at(-(1 << 90), 1 << 32, i128::MAX);
    let beside = at(p.x, p.y, p.z - 1);
    each_way(&numbered([p, beside, p]), |x: &X| {
        ball_finds(x, p, 0, &[0, 2]);
        ball_finds(x, beside, 0, &[1]);
        ball_finds(x, at(p.x + 1, p.y, p.z), 0, &[]);
    });
}

pub(crate) fn radius_one_finds_axis_neighbours<X: TestIndex>() {
    let points = numbered(
        (0..27).map(|i| at(i % 3 - 1, i / 3 % 3 - 1, i / 9 - 1)), // A cube of 3^3 around zero.
    );
    each_way(&points, |x: &X| {
        ball_finds(x, O, 1, &[4, 10, 12, 13, 14, 16, 22]);
    });
}

/// At radius 2^k: the axis points at 2^k are in, those one farther are out, and the scaled triple
/// (3, 4, 0) / 5 lies inside while the corner (r, r, r) does not.
fn exact_at_power<X: TestIndex>(k: u32) {
    let r = 1_i128 << k;
    let points = numbered([
        at(r, 0, 0),
        at(0, -r, 0),
        at(0, 0, r),
        at(-r - 1, 0, 0),
        at(0, r + 1, 0),
        at(0, 0, -r - 1),
        at(r, 1, 0),
        at(r / 5 * 3, -(r / 5 * 4), 0),
        at(r, r, r),
        O,
    ]);
    each_way(&points, |x: &X| {
        ball_finds(x, O, r, &[0, 1, 2, 7, 9]);
        ball_finds(x, O, r - 1, &[7, 9]);
        ball_finds(x, O, r + 1, &[0, 1, 2, 3, 4, 5, 6, 7, 9]);
        ball_finds(x, at(r, 0, 0), r, &[0, 6, 7, 9]);
    });
}

pub(crate) fn radius_two_to_the_31_is_exact<X: TestIndex>() {
    exact_at_power::<X>(31);
}
pub(crate) fn radius_two_to_the_32_is_exact<X: TestIndex>() {
    exact_at_power::<X>(32);
}
pub(crate) fn radius_two_to_the_33_is_exact<X: TestIndex>() {
    exact_at_power::<X>(33);
}
pub(crate) fn radius_two_to_the_63_is_exact<X: TestIndex>() {
    exact_at_power::<X>(63);
}
pub(crate) fn radius_two_to_the_64_is_exact<X: TestIndex>() {
    exact_at_power::<X>(64);
}
pub(crate) fn radius_two_to_the_96_is_exact<X: TestIndex>() {
    exact_at_power::<X>(96);
}
pub(crate) fn radius_two_to_the_126_is_exact<X: TestIndex>() {
    exact_at_power::<X>(126);
}

pub(crate) fn the_largest_radius_is_exact<X: TestIndex>() {
    let max = i128::MAX;
    let points = numbered([
        at(max, 0, 0),
        at(max, 1, 0),
        at(-max, 0, 0),
        at(i128::MIN, 0, 0),
        at(max / 2, max / 2, max / 2),
        O,
    ]);
    each_way(&points, |x: &X| {
        // (max / 2)^2 * 3 is below max^2; MIN is one farther than MAX.
        ball_finds(x, O, max, &[0, 2, 4, 5]);
        ball_finds(x, O, max - 1, &[4, 5]);
        ball_finds(x, at(-1, 0, 0), max, &[2, 3, 4, 5]);
    });
}

pub(crate) fn a_square_that_wraps_is_not_near<X: TestIndex>() {
    // In wrapping 128-bit arithmetic the square of each of these differences is zero.
    let points =
        numbered([1_i128 << 64, -(1 << 64), 1 << 65, 1 << 80, 1 << 126].map(|d| at(d, d, 0)));
    each_way(&points, |x: &X| {
        ball_finds(x, O, 500_000, &[]);
        ball_finds(x, O, 1 << 63, &[]);
    });
}

pub(crate) fn the_corner_of_the_cube_is_outside<X: TestIndex>() {
    for r in [1, 999, 1 << 31, 1 << 50] {
        let points = numbered([at(r, r, r), at(-r, r, 0), at(0, r, -r), at(r, 0, 0)]);
        each_way(&points, |x: &X| ball_finds(x, O, r, &[3]));
    }
}

pub(crate) fn exact_at_every_scale<X: TestIndex>() {
    // 2^2 + 3^2 + 6^2 = 7^2, at every power of two that fits.
    for k in [0, 3, 10, 20, 27, 28, 29, 30, 40, 61, 64, 100, 124] {
        let s = 1_i128 << k;
        let on = at(2 * s, -3 * s, 6 * s);
        let points = numbered([on, at(on.x + 1, on.y, on.z), at(on.x, on.y, on.z - 1)]);
        each_way(&points, |x: &X| {
            ball_finds(x, O, 7 * s, &[0, 2]);
            // One nearer on z alone is still more than one nearer along the line.
            ball_finds(x, O, 7 * s - 1, &[]);
        });
    }
}

pub(crate) fn the_centre_may_be_far_from_everything<X: TestIndex>() {
    let points = numbered([at(-5, -5, -5), at(i128::MIN, 7, 7)]);
    each_way(&points, |x: &X| {
        ball_finds(x, at(1 << 100, -(1 << 100), 1 << 100), 1 << 40, &[]);
        ball_finds(x, WorldPosition::MAX, 1 << 99, &[]);
        ball_finds(x, at(-(1 << 100), 0, 0), 1 << 101, &[0]);
    });
}

pub(crate) fn balls_agree_with_big_integers<X: TestIndex>() {
    let points = assorted(11, 400);
    let mut s = Seeded(12);
    let regions: Vec<Region> = (0..40)
        .map(|_| Region::ball(points[s.index(points.len())].1, radius(&mut s)))
        .collect();
    agrees::<X>(&points, &regions);
}
