//! Many points: at one spot, on a line, on a plane, in clusters, and after they left.

use nebula_coords::Region;
use nebula_math::WorldPosition;

use super::check::{agrees, ball_finds, each_way, inserted, numbered};
use crate::common::coords::{SECTOR, at};
use crate::common::index::TestIndex;
use crate::common::source::{Seeded, Source};

fn thousand(p: WorldPosition) -> Vec<(u32, WorldPosition)> {
    numbered(core::iter::repeat_n(p, 1_000))
}

fn small(s: &mut Seeded, bits: u32) -> i128 {
    i128::from(s.below(1 << bits)) - (1 << (bits - 1))
}

pub(crate) fn a_thousand_points_at_one_spot<X: TestIndex>() {
    let p = at(-77, SECTOR - 1, 5);
    let all: Vec<u32> = (0..1_000).collect();
    each_way(&thousand(p), |x: &X| {
        assert_eq!(x.stored(), 1_000);
        ball_finds(x, p, 0, &all);
        ball_finds(x, p, i128::MAX, &all);
        ball_finds(x, at(-78, p.y, p.z), 0, &[]);
        assert_eq!(x.closest(&p, 3, 0), [0, 1, 2]);
    });
}

pub(crate) fn a_thousand_points_at_either_end<X: TestIndex>() {
    for p in [WorldPosition::MIN, WorldPosition::MAX] {
        let all: Vec<u32> = (0..1_000).collect();
        each_way(&thousand(p), |x: &X| {
            ball_finds(x, p, 0, &all);
            ball_finds(x, WorldPosition::ORIGIN, 1 << 100, &[]);
        });
    }
}

pub(crate) fn a_thousand_points_leave_one_spot<X: TestIndex>() {
    let p = at(1, 2, 3);
    let mut x: X = inserted(&thousand(p));
    for id in (0..1_000).step_by(2) {
        assert_eq!(x.remove(id), Some(p));
    }
    for id in (1..1_000).step_by(4) {
        assert!(x.update(id, at(i128::from(id), -1, 0)));
    }
    x.validate().expect("whole after half left");
    let left: Vec<u32> = (0..1_000).filter(|id| id % 4 == 3).collect();
    ball_finds(&x, p, 0, &left);
    ball_finds(&x, at(997, -1, 0), 0, &[997]);
    assert_eq!(x.stored(), 500);
}

pub(crate) fn two_crowds_a_millimetre_apart<X: TestIndex>() {
    let points = numbered((0..1_200).map(|i| at(i % 2 - 1, 0, 0)));
    let even: Vec<u32> = (0..1_200).step_by(2).collect();
    let all: Vec<u32> = (0..1_200).collect();
    each_way(&points, |x: &X| {
        ball_finds(x, at(-1, 0, 0), 0, &even);
        ball_finds(x, at(-2, 0, 0), 1, &even);
        ball_finds(x, at(-1, 0, 0), 1, &all);
    });
}

pub(crate) fn two_clusters_two_to_the_126_apart<X: TestIndex>() {
    let mut s = Seeded(61);
    let points = numbered((0..1_500).map(|i| {
        let side = if i % 2 == 0 { -(1 << 125) } else { 1 << 125 };
        at(
            side + small(&mut s, 20),
            side + small(&mut s, 20),
            small(&mut s, 20),
        )
    }));
    let regions: Vec<Region> = (0..12)
        .map(|i| Region::ball(points[i * 31].1, 1 << (10 + i)))
        .chain([Region::ball(points[0].1, 1 << 126)])
        .collect();
    agrees::<X>(&points, &regions);
}

pub(crate) fn points_on_one_line<X: TestIndex>() {
    let points = numbered((0..2_000).map(|i| at(i * 1_000 - 1_000_000, -3, SECTOR)));
    let hits: Vec<u32> = (990..=1_010).collect();
    each_way(&points, |x: &X| {
        ball_finds(x, at(0, -3, SECTOR), 10_000, &hits);
        ball_finds(x, at(0, -3, SECTOR - 10_000), 10_000, &[1_000]);
        assert_eq!(
            x.closest(&at(0, -3, SECTOR), 3, SECTOR),
            [1_000, 999, 1_001]
        );
    });
}

pub(crate) fn points_on_one_plane<X: TestIndex>() {
    let points = numbered((0..2_500).map(|i| at(i % 50 * 100 - 2_500, i / 50 * 100 - 2_500, 0)));
    let regions = [0, 100, 141, 142, 1_000, 2_600].map(|r| Region::ball(at(0, 0, 0), r));
    agrees::<X>(&points, &regions);
}

pub(crate) fn a_dense_cube<X: TestIndex>() {
    let mut s = Seeded(62);
    let points =
        numbered((0..3_000).map(|_| at(small(&mut s, 16), small(&mut s, 16), small(&mut s, 16))));
    let regions: Vec<Region> = (0..24)
        .map(|i| Region::ball(points[i * 100].1, [0, 500, 5_000, 30_000][i % 4]))
        .collect();
    agrees::<X>(&points, &regions);
}

/// Points lie on the first and the last millimetre of cells of every size, and each ball ends
/// exactly at one of them: a range of cells that is one millimetre short misses it.
pub(crate) fn balls_that_just_touch_a_cell_find_its_points<X: TestIndex>() {
    let mut s = Seeded(66);
    let points = numbered((0..4_096).map(|i| {
        let mut edge = |cell: i128| (cell - 8) * 4_096 - i128::from(s.below(2));
        at(edge(i % 16), edge(i / 16 % 16), edge(i / 256))
    }));
    each_way(&points, |x: &X| {
        for (i, (id, p)) in points.iter().step_by(17).enumerate() {
            let r = [12_345, 1 << 13, 999][i % 3];
            let d = if i % 2 == 0 { r } else { -r };
            for center in [
                at(p.x + d, p.y, p.z),
                at(p.x, p.y + d, p.z),
                at(p.x, p.y, p.z + d),
            ] {
                let found = |r| x.visited(&Region::ball(center, r)).contains(id);
                assert!(found(r), "{p:?} is {r} from {center:?}");
                assert!(!found(r - 1), "{p:?} is {r} from {center:?}");
            }
        }
    });
}

pub(crate) fn crowds_of_very_different_size<X: TestIndex>() {
    let mut s = Seeded(63);
    let points = numbered((0..2_400).map(|i| {
        let bits = [4, 12, 20, 28, 36, 62][i % 6];
        at(
            small(&mut s, bits),
            small(&mut s, bits),
            small(&mut s, bits),
        )
    }));
    let regions: Vec<Region> = (0..62)
        .step_by(3)
        .map(|k| Region::ball(points[k * 11].1, 1 << k))
        .collect();
    agrees::<X>(&points, &regions);
}

pub(crate) fn nothing_is_left_after_a_crowd_left<X: TestIndex>() {
    let mut s = Seeded(64);
    let points = numbered((0..2_000).map(|_| at(small(&mut s, 34), small(&mut s, 34), 0)));
    let mut x: X = inserted(&points);
    for id in (0..2_000).map(|i| i * 7 % 2_000).rev() {
        assert_eq!(x.remove(id), Some(points[id as usize].1));
    }
    x.validate().expect("whole when empty again");
    assert_eq!(x.stored(), 0);
    ball_finds(&x, WorldPosition::ORIGIN, i128::MAX, &[]);
    assert!(x.closest(&WorldPosition::ORIGIN, 5, i128::MAX).is_empty());
    for (id, p) in &points[..300] {
        assert_eq!(x.insert(*id, *p), None);
    }
    let all: Vec<u32> = (0..300).collect();
    ball_finds(&x, WorldPosition::ORIGIN, 1 << 40, &all);
}

pub(crate) fn a_crowd_that_walks_is_found_where_it_is<X: TestIndex>() {
    let mut s = Seeded(65);
    let mut points = numbered((0..1_500).map(|_| at(small(&mut s, 14), small(&mut s, 14), 0)));
    let mut x: X = inserted(&points);
    for _ in 0..6 {
        for (_, p) in &mut points {
            *p = at(p.x + small(&mut s, 12), p.y - small(&mut s, 12), p.z + 300);
        }
        assert_eq!(x.update_batch(&points), points.len());
        x.validate().expect("whole after a walk");
        for i in [0, 700, 1_499] {
            let region = Region::ball(points[i].1, 1_500);
            let truth = crate::common::oracle::ids_in(&points, &region);
            super::check::finds(&x, &region, &truth);
        }
    }
}
