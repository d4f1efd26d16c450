//! Boxes.

use nebula_coords::Region;
use nebula_math::{Aabb128, WorldPosition};

use super::check::{agrees, assorted, each_way, finds, numbered};
use crate::common::coords::{SECTOR, at};
use crate::common::index::TestIndex;
use crate::common::source::{Seeded, Source};

fn corners(a: WorldPosition, b: WorldPosition) -> Region {
    Region::Box(Aabb128::from_corners(a, b))
}

pub(crate) fn a_box_holds_its_faces_and_corners<X: TestIndex>() {
    let points = numbered([
        at(-2, -2, -2),
        at(2, 2, 2),
        at(2, 0, 0),
        at(0, -2, 1),
        at(3, 0, 0),
        at(0, 0, -3),
        at(-2, 2, 3),
    ]);
    let region = corners(at(-2, -2, -2), at(2, 2, 2));
    each_way(&points, |x: &X| finds(x, &region, &[0, 1, 2, 3]));
}

pub(crate) fn a_box_of_one_point<X: TestIndex>() {
    let p = at(-SECTOR, SECTOR - 1, -1);
    let points = numbered([p, at(p.x, p.y, 0), p, at(p.x - 1, p.y, p.z)]);
    each_way(&points, |x: &X| finds(x, &corners(p, p), &[0, 2]));
}

pub(crate) fn a_flat_box<X: TestIndex>() {
    let points = numbered((-3..=3).map(|z| at(5, -5, z)));
    each_way(&points, |x: &X| {
        finds(x, &corners(at(i128::MIN, -9, 0), at(i128::MAX, 9, 0)), &[3]);
    });
}

pub(crate) fn a_box_that_is_a_line<X: TestIndex>() {
    let points = numbered((0..200).map(|i| at(-100 + i, 4, 4)));
    let hits: Vec<u32> = (90..=110).collect();
    each_way(&points, |x: &X| {
        finds(x, &corners(at(-10, 4, 4), at(10, 4, 4)), &hits);
        finds(x, &corners(at(-10, 4, 5), at(10, 4, 5)), &[]);
    });
}

pub(crate) fn the_universe_holds_everything<X: TestIndex>() {
    let points = assorted(31, 300);
    let all: Vec<u32> = (0..300).collect();
    each_way(&points, |x: &X| {
        finds(x, &Region::Box(Aabb128::UNIVERSE), &all);
    });
}

pub(crate) fn corners_may_come_in_any_order<X: TestIndex>() {
    let points = assorted(32, 100);
    let (a, b) = (
        at(-9_000, SECTOR, -(1 << 91)),
        at(9_000, -(1 << 70), 1 << 99),
    );
    each_way(&points, |x: &X| {
        let expected = x.visited(&corners(a, b));
        finds(x, &corners(b, a), &expected);
        finds(x, &corners(at(a.x, b.y, a.z), at(b.x, a.y, b.z)), &expected);
    });
}

pub(crate) fn a_box_across_zero<X: TestIndex>() {
    let points = numbered((-4..=4).map(|i| at(i, -i, i)));
    each_way(&points, |x: &X| {
        finds(x, &corners(at(-1, -1, -1), at(0, 0, 0)), &[4]);
        finds(x, &corners(at(-1, -1, -1), at(1, 1, 1)), &[3, 4, 5]);
        finds(x, &corners(at(-2, 1, -9), at(-1, 9, -1)), &[2, 3]);
    });
}

pub(crate) fn a_box_that_ends_at_a_sector_edge<X: TestIndex>() {
    let points = numbered([-SECTOR - 1, -SECTOR, -1, 0, SECTOR - 1, SECTOR].map(|x| at(x, 0, 0)));
    let slab = |lo, hi| corners(at(lo, -1, -1), at(hi, 1, 1));
    each_way(&points, |x: &X| {
        finds(x, &slab(0, SECTOR - 1), &[3, 4]);
        finds(x, &slab(-SECTOR, -1), &[1, 2]);
        finds(x, &slab(SECTOR, SECTOR), &[5]);
        finds(x, &slab(-SECTOR - 1, SECTOR), &[0, 1, 2, 3, 4, 5]);
    });
}

pub(crate) fn eight_octants_share_out_all_points<X: TestIndex>() {
    let points = assorted(33, 400);
    each_way(&points, |x: &X| {
        let mut seen = Vec::new();
        for octant in 0..8 {
            let end = |bit: i32| match octant >> bit & 1 {
                0 => (i128::MIN, -1),
                _ => (0, i128::MAX),
            };
            let (ex, ey, ez) = (end(0), end(1), end(2));
            seen.extend(x.visited(&corners(at(ex.0, ey.0, ez.0), at(ex.1, ey.1, ez.1))));
        }
        seen.sort_unstable();
        assert_eq!(seen, (0..400).collect::<Vec<u32>>());
    });
}

pub(crate) fn boxes_at_the_ends_of_the_universe<X: TestIndex>() {
    let (min, max) = (WorldPosition::MIN, WorldPosition::MAX);
    let points = numbered([
        min,
        max,
        at(min.x + 1, min.y, min.z),
        at(max.x, max.y, max.z - 1),
    ]);
    each_way(&points, |x: &X| {
        finds(x, &corners(min, min), &[0]);
        finds(x, &corners(max, max), &[1]);
        finds(x, &corners(min, at(-1, -1, -1)), &[0, 2]);
        finds(x, &corners(max, at(0, 0, max.z)), &[1]);
    });
}

pub(crate) fn boxes_agree_with_big_integers<X: TestIndex>() {
    let points = assorted(34, 400);
    let mut s = Seeded(35);
    let regions: Vec<Region> = (0..40)
        .map(|_| {
            let a = points[s.index(points.len())].1;
            corners(a, points[s.index(points.len())].1)
        })
        .collect();
    agrees::<X>(&points, &regions);
}
