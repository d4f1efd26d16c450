//! Edges of sectors, of powers of two, of the sign, and of the universe.

use nebula_coords::Region;
use nebula_math::{Aabb128, WorldPosition};

use super::check::{agrees, ball_finds, each_way, finds, inserted, numbered};
use crate::common::coords::{SECTOR, at};
use crate::common::index::TestIndex;

const ENDS: [i128; 2] = [i128::MIN, i128::MAX];

/// The eight points that touch at a corner, numbered by their bits.
fn around(corner: WorldPosition) -> Vec<(u32, WorldPosition)> {
    numbered((0..8).map(|bits| {
        at(
            corner.x - (bits & 1),
            corner.y - (bits >> 1 & 1),
            corner.z - (bits >> 2),
        )
    }))
}

#[track_caller]
fn corner_is_no_wall<X: TestIndex>(corner: WorldPosition) {
    each_way(&around(corner), |x: &X| {
        ball_finds(x, corner, 0, &[0]);
        ball_finds(x, corner, 1, &[0, 1, 2, 4]);
        ball_finds(x, corner, 2, &[0, 1, 2, 3, 4, 5, 6, 7]);
        let opposite = at(corner.x - 1, corner.y - 1, corner.z - 1);
        ball_finds(x, opposite, 1, &[7, 6, 5, 3]);
        assert_eq!(x.closest(&corner, 4, 5), [0, 1, 2, 4]);
    });
}

pub(crate) fn a_sector_corner_is_no_wall<X: TestIndex>() {
    corner_is_no_wall::<X>(at(SECTOR, SECTOR, SECTOR));
    corner_is_no_wall::<X>(at(SECTOR * 5, -SECTOR * 3, 0));
}

pub(crate) fn a_negative_sector_corner_is_no_wall<X: TestIndex>() {
    corner_is_no_wall::<X>(at(-SECTOR, -SECTOR, -SECTOR));
    corner_is_no_wall::<X>(at(-SECTOR << 60, -SECTOR, SECTOR << 60));
}

pub(crate) fn the_origin_is_no_wall<X: TestIndex>() {
    corner_is_no_wall::<X>(WorldPosition::ORIGIN);
}

pub(crate) fn no_power_of_two_is_a_wall<X: TestIndex>() {
    for k in [1, 8, 29, 30, 31, 33, 62, 64, 95, 97, 126] {
        corner_is_no_wall::<X>(at(1 << k, -(1 << k), 1 << k));
    }
}

pub(crate) fn neighbours_across_a_sector_edge_are_near<X: TestIndex>() {
    // The seed's own case: one millimetre apart, in different sectors.
    let points = numbered([
        at(SECTOR - 1, 0, 0),
        at(SECTOR, 0, 0),
        at(SECTOR + 101, 0, 0),
    ]);
    each_way(&points, |x: &X| ball_finds(x, points[0].1, 100, &[0, 1]));
}

pub(crate) fn each_axis_reaches_both_ends<X: TestIndex>() {
    let points = numbered(
        ENDS.into_iter()
            .flat_map(|end| [at(end, 0, 0), at(0, end, 0), at(0, 0, end)]),
    );
    each_way(&points, |x: &X| {
        for (id, p) in &points {
            assert_eq!(x.place_of(*id), Some(*p));
            ball_finds(x, *p, 0, &[*id]);
            ball_finds(x, *p, 1 << 100, &[*id]);
        }
        ball_finds(x, WorldPosition::ORIGIN, i128::MAX, &[3, 4, 5]);
    });
}

pub(crate) fn every_mix_of_extremes_is_kept_apart<X: TestIndex>() {
    let values = [i128::MIN, -1, 0, 1, i128::MAX];
    let points = numbered((0..125).map(|i| at(values[i % 5], values[i / 5 % 5], values[i / 25])));
    let mut regions = vec![Region::Box(Aabb128::UNIVERSE)];
    for (_, p) in &points {
        regions.push(Region::ball(*p, 0));
        regions.push(Region::ball(*p, 1));
    }
    regions.push(Region::ball(WorldPosition::MIN, i128::MAX));
    regions.push(Region::ball(WorldPosition::ORIGIN, i128::MAX));
    agrees::<X>(&points, &regions);
}

pub(crate) fn points_two_to_the_64_apart_are_never_near<X: TestIndex>() {
    let points = numbered([at(-5, 0, 0), at((1 << 64) - 5, 0, 0), at(-5, -(1 << 64), 0)]);
    each_way(&points, |x: &X| {
        for r in [0, 500_000, SECTOR, (1 << 64) - 1] {
            ball_finds(x, points[0].1, r, &[0]);
        }
        ball_finds(x, points[0].1, 1 << 64, &[0, 1, 2]);
    });
}

pub(crate) fn points_two_to_the_127_apart_are_never_near<X: TestIndex>() {
    let points = numbered([at(-1 << 126, 9, 9), at(1 << 126, 9, 9)]);
    each_way(&points, |x: &X| {
        for r in [0, 500_000, 1 << 64, 1 << 126, i128::MAX] {
            ball_finds(x, points[0].1, r, &[0]);
            ball_finds(x, points[1].1, r, &[1]);
        }
    });
}

pub(crate) fn the_whole_range_apart_is_never_near<X: TestIndex>() {
    let points = numbered([
        WorldPosition::MIN,
        WorldPosition::MAX,
        at(i128::MIN, i128::MAX, 0),
    ]);
    each_way(&points, |x: &X| {
        for (id, p) in &points {
            for r in [0, 1, SECTOR, 1 << 126, i128::MAX - 1] {
                ball_finds(x, *p, r, &[*id]);
            }
            assert_eq!(x.closest(p, 9, i128::MAX), [*id]);
        }
    });
}

pub(crate) fn space_does_not_wrap_around<X: TestIndex>() {
    // Arithmetic that wraps puts MIN one beside MAX.
    let points = numbered([at(i128::MIN, 0, 0), at(i128::MAX, 0, 0)]);
    each_way(&points, |x: &X| {
        ball_finds(x, points[0].1, 1_000, &[0]);
        ball_finds(x, points[1].1, 1_000, &[1]);
        let strip = Aabb128::from_corners(at(i128::MAX - 9, -9, -9), at(i128::MAX, 9, 9));
        finds(x, &Region::Box(strip), &[1]);
    });
}

pub(crate) fn every_power_of_two_is_found_alone<X: TestIndex>() {
    let points = numbered((0..127).flat_map(|k| {
        let p = 1_i128 << k;
        [at(p, 0, 0), at(-p, p, 0), at(0, -p - 1, p - 1)]
    }));
    let regions: Vec<Region> = points
        .iter()
        .step_by(5)
        .flat_map(|(_, p)| [Region::ball(*p, 0), Region::ball(*p, p.y.abs() / 2 + 3)])
        .collect();
    agrees::<X>(&points, &regions);
}

pub(crate) fn a_point_moves_from_end_to_end<X: TestIndex>() {
    let stay = at(4, 4, 4);
    let mut x: X = inserted(&[(0, WorldPosition::MIN), (1, stay)]);
    for to in [
        WorldPosition::MAX,
        at(i128::MIN, i128::MAX, 0),
        WorldPosition::ORIGIN,
        at(-1, -1, -1),
        WorldPosition::MIN,
    ] {
        assert!(x.update(0, to));
        x.validate().expect("whole after a long move");
        assert_eq!(x.place_of(0), Some(to));
        ball_finds(&x, to, 0, &[0]);
        ball_finds(&x, stay, 1, &[1]);
    }
}
