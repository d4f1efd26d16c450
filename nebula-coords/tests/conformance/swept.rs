//! The space that a sphere sweeps on its way from one point to another.

use nebula_coords::Region;
use nebula_math::WorldPosition;

use super::check::{agrees, assorted, each_way, finds, numbered};
use crate::common::coords::{SECTOR, at, radius};
use crate::common::index::TestIndex;
use crate::common::source::{Seeded, Source};

fn swept(from: WorldPosition, to: WorldPosition, radius_mm: i128) -> Region {
    Region::Swept {
        from,
        to,
        radius_mm,
    }
}

pub(crate) fn a_sphere_that_stays_is_a_ball<X: TestIndex>() {
    let c = at(-100, SECTOR, 0);
    let points = numbered([
        at(-97, SECTOR - 4, 12),
        at(-86, SECTOR, 0),
        c,
        at(-100, SECTOR, -13),
    ]);
    each_way(&points, |x: &X| finds(x, &swept(c, c, 13), &[0, 2, 3]));
}

pub(crate) fn the_side_of_the_path_belongs<X: TestIndex>() {
    let points = numbered([at(0, 5, 0), at(500, 3, -4), at(999, 0, 6), at(1_000, -5, 0)]);
    let region = swept(at(0, 0, 0), at(1_000, 0, 0), 5);
    each_way(&points, |x: &X| finds(x, &region, &[0, 1, 3]));
}

pub(crate) fn the_ends_of_the_path_are_round<X: TestIndex>() {
    let points = numbered([
        at(-5, 0, 0),
        at(-3, 4, 0),
        at(-4, 4, 0),
        at(1_005, 0, 0),
        at(1_004, 0, 4),
    ]);
    let region = swept(at(0, 0, 0), at(1_000, 0, 0), 5);
    each_way(&points, |x: &X| finds(x, &region, &[0, 1, 3]));
}

pub(crate) fn a_slanted_path_is_exact<X: TestIndex>() {
    // Direction (1, 1, 0): the point (a, b, 0) is |a - b| / sqrt 2 away. 7 / sqrt 2 = 4.9497...,
    // 8 / sqrt 2 = 5.6568..., so radius 5 separates them; (10, 0, 0) is sqrt 50 away, radius 7.07.
    let points = numbered([at(7, 0, 0), at(0, 8, 0), at(53, 50, 4), at(53, 50, 5)]);
    let (from, to) = (at(-100, -100, 0), at(100, 100, 0));
    each_way(&points, |x: &X| {
        finds(x, &swept(from, to, 5), &[0, 2]);
        finds(x, &swept(from, to, 4), &[]);
        finds(x, &swept(from, to, 6), &[0, 1, 2, 3]);
    });
}

pub(crate) fn a_negative_swept_radius_finds_nothing<X: TestIndex>() {
    let points = numbered([at(0, 0, 0), at(5, 0, 0)]);
    each_way(&points, |x: &X| {
        finds(x, &swept(at(0, 0, 0), at(9, 0, 0), -1), &[]);
        finds(x, &swept(at(0, 0, 0), at(9, 0, 0), i128::MIN), &[]);
    });
}

pub(crate) fn radius_zero_finds_points_on_the_path<X: TestIndex>() {
    let points = numbered([
        at(2, 3, 6),
        at(4, 6, 12),
        at(4, 6, 13),
        at(-2, -3, -6),
        at(20, 30, 60),
    ]);
    let region = swept(at(0, 0, 0), at(20, 30, 60), 0);
    each_way(&points, |x: &X| finds(x, &region, &[0, 1, 4]));
}

pub(crate) fn a_path_is_the_same_backwards<X: TestIndex>() {
    let points = assorted(51, 200);
    let (a, b) = (at(-5_000, SECTOR, 77), at(1 << 90, -(1 << 90), -(1 << 91)));
    each_way(&points, |x: &X| {
        for r in [0, 1_000, 1 << 40, 1 << 89] {
            let expected = x.visited(&swept(a, b, r));
            finds(x, &swept(b, a, r), &expected);
        }
    });
}

pub(crate) fn a_path_through_the_whole_universe<X: TestIndex>() {
    let (min, max) = (WorldPosition::MIN, WorldPosition::MAX);
    // The diagonal passes through (k, k, k) and ever so slightly beside (k, k, k + 1).
    let points = numbered([
        min,
        max,
        at(-1, -1, -1),
        at(7, 7, 7),
        at(0, 0, 1),
        at(0, 0, 2),
    ]);
    each_way(&points, |x: &X| {
        finds(x, &swept(min, max, 0), &[0, 1, 2, 3]);
        finds(x, &swept(max, min, 1), &[0, 1, 2, 3, 4]); // (0, 0, 2) is sqrt(8 / 3) away.
        finds(x, &swept(min, max, 2), &[0, 1, 2, 3, 4, 5]);
    });
}

pub(crate) fn the_widest_path_is_exact<X: TestIndex>() {
    let (from, to) = (at(0, 0, 0), at(10, 0, 0));
    let points = numbered([
        at(5, i128::MAX, 0),
        at(5, i128::MIN, 0),
        at(i128::MAX, 0, 0),
        at(-i128::MAX, 0, 0),
        at(-i128::MAX, 1, 0),
        at(i128::MIN, 0, 0),
    ]);
    each_way(&points, |x: &X| {
        finds(x, &swept(from, to, i128::MAX), &[0, 2, 3]);
    });
}

pub(crate) fn paths_agree_with_big_integers<X: TestIndex>() {
    let points = assorted(52, 300);
    let mut s = Seeded(53);
    let regions: Vec<Region> = (0..40)
        .map(|_| {
            let from = points[s.index(points.len())].1;
            let to = points[s.index(points.len())].1;
            swept(from, to, radius(&mut s))
        })
        .collect();
    agrees::<X>(&points, &regions);
}
