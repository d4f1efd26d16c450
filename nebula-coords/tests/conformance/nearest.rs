//! The nearest k.

use nebula_coords::{Region, SpatialQuery};
use nebula_math::WorldPosition;

use super::check::{assorted, each_way, numbered};
use crate::common::coords::{SECTOR, at, radius};
use crate::common::index::TestIndex;
use crate::common::oracle;
use crate::common::source::{Seeded, Source};

const O: WorldPosition = WorldPosition::ORIGIN;
const FAR: i128 = i128::MAX;

pub(crate) fn nearest_come_by_distance<X: TestIndex>() {
    let points = numbered([at(0, 0, -40), at(30, 0, 0), at(0, -20, 0), at(10, 0, 0)]);
    each_way(&points, |x: &X| {
        assert_eq!(x.closest(&O, 4, FAR), [3, 2, 1, 0]);
        assert_eq!(x.closest(&O, 2, FAR), [3, 2]);
        assert_eq!(x.closest(&at(0, 0, -39), 1, FAR), [0]);
    });
}

pub(crate) fn equal_distances_come_by_id<X: TestIndex>() {
    // Inserted in an order that is not the order of ids.
    let points = [
        (9, at(5, 0, 0)),
        (2, at(-5, 0, 0)),
        (7, at(0, 3, 4)),
        (4, at(0, -4, 3)),
        (1, at(0, 0, -6)),
        (3, at(0, 5, 0)),
    ];
    each_way(&points, |x: &X| {
        assert_eq!(x.closest(&O, 6, FAR), [2, 3, 4, 7, 9, 1]);
        assert_eq!(x.closest(&O, 3, FAR), [2, 3, 4]);
    });
}

pub(crate) fn no_neighbours_when_none_are_asked_for<X: TestIndex>() {
    each_way(&numbered([O, at(1, 1, 1)]), |x: &X| {
        assert!(x.closest(&O, 0, FAR).is_empty());
    });
}

pub(crate) fn more_than_stored_gives_all<X: TestIndex>() {
    each_way(&numbered([at(3, 0, 0), O, at(0, 2, 0)]), |x: &X| {
        assert_eq!(x.closest(&O, 4, FAR), [1, 2, 0]);
        assert_eq!(x.closest(&O, usize::MAX, FAR), [1, 2, 0]);
    });
}

pub(crate) fn nearest_in_an_empty_index<X: TestIndex>() {
    each_way(&[], |x: &X| assert!(x.closest(&O, 5, FAR).is_empty()));
}

pub(crate) fn the_limit_belongs<X: TestIndex>() {
    let points = numbered([at(3, 4, 12), at(0, 0, -13), at(0, 0, -14), at(1, 0, 0)]);
    each_way(&points, |x: &X| {
        assert_eq!(x.closest(&O, 9, 13), [3, 0, 1]);
        assert_eq!(x.closest(&O, 9, 12), [3]);
        assert_eq!(x.closest(&O, 2, 14), [3, 0]);
    });
}

pub(crate) fn a_negative_limit_finds_nothing<X: TestIndex>() {
    each_way(&numbered([O]), |x: &X| {
        assert!(x.closest(&O, 5, -1).is_empty());
        assert!(x.closest(&O, 5, i128::MIN).is_empty());
    });
}

pub(crate) fn limit_zero_finds_the_very_position<X: TestIndex>() {
    let p = at(-SECTOR, SECTOR, -1);
    each_way(&numbered([at(-SECTOR, SECTOR, 0), p, p]), |x: &X| {
        assert_eq!(x.closest(&p, 5, 0), [1, 2]);
    });
}

pub(crate) fn the_largest_limit_is_still_a_limit<X: TestIndex>() {
    let points = numbered([at(i128::MAX, 0, 0), at(i128::MIN, 0, 0), WorldPosition::MAX]);
    each_way(&points, |x: &X| {
        assert_eq!(x.closest(&O, 9, i128::MAX), [0]);
        assert_eq!(x.closest(&at(-1, 0, 0), 9, i128::MAX), [1]);
    });
}

pub(crate) fn nearest_replaces_the_buffer<X: TestIndex>() {
    each_way(&numbered([at(8, 0, 0)]), |x: &X| {
        let mut out = vec![X::id(77), X::id(78)];
        x.query().nearest(&O, 3, FAR, &mut out);
        assert_eq!(out.len(), 1);
        assert_eq!(X::number(out[0]), 0);
        x.query().nearest(&O, 0, FAR, &mut out);
        assert!(out.is_empty());
        out.push(X::id(77));
        x.query().nearest(&O, 3, -1, &mut out);
        assert!(out.is_empty());
    });
}

pub(crate) fn nearest_among_identical_points_come_by_id<X: TestIndex>() {
    let points: Vec<_> = (0..500).map(|i| (499 - i, at(-4, -4, -4))).collect();
    each_way(&points, |x: &X| {
        assert_eq!(x.closest(&O, 4, FAR), [0, 1, 2, 3]);
        assert_eq!(
            x.closest(&at(-4, -4, -4), 500, 0),
            (0..500).collect::<Vec<_>>()
        );
    });
}

pub(crate) fn nearest_crosses_zero_and_sector_edges<X: TestIndex>() {
    let points = numbered([
        at(-1, 0, 0),
        at(3, 0, 0),
        at(SECTOR - 1, 0, 0),
        at(SECTOR + 5, 0, 0),
    ]);
    each_way(&points, |x: &X| {
        assert_eq!(x.closest(&O, 1, FAR), [0]);
        assert_eq!(x.closest(&at(SECTOR, 0, 0), 2, FAR), [2, 3]);
        assert_eq!(x.closest(&at(SECTOR, 0, 0), 1, FAR), [2]);
    });
}

pub(crate) fn nearest_without_limit_holds_the_whole_ball<X: TestIndex>() {
    let points = assorted(41, 300);
    each_way(&points, |x: &X| {
        for (_, p) in points.iter().step_by(29) {
            for r in [0, 3, 1 << 33, 1 << 90, i128::MAX] {
                let mut near = x.closest(p, usize::MAX, r);
                near.sort_unstable();
                let mut ball = x.visited(&Region::ball(*p, r));
                ball.sort_unstable();
                assert_eq!(near, ball, "{p:?} {r}");
            }
        }
    });
}

pub(crate) fn nearest_agree_with_big_integers<X: TestIndex>() {
    let points = assorted(42, 300);
    let mut s = Seeded(43);
    let asks: Vec<_> = (0..40)
        .map(|_| {
            let p = points[s.index(points.len())].1;
            let p = at(p.x.saturating_add(s.pick(&[0, 1, -5])), p.y, p.z);
            (p, s.pick(&[1, 2, 10, 100, 1_000]), radius(&mut s))
        })
        .collect();
    each_way(&points, |x: &X| {
        for (p, k, limit) in &asks {
            let truth = oracle::nearest(&points, p, *k, *limit);
            assert_eq!(x.closest(p, *k, *limit), truth, "{p:?} {k} {limit}");
        }
    });
}
