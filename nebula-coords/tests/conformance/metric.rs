//! Balls with the other metrics.

use nebula_coords::{Metric, Region};
use nebula_math::WorldPosition;

use super::check::{agrees, assorted, each_way, finds, numbered};
use crate::common::coords::{at, radius};
use crate::common::index::TestIndex;
use crate::common::source::{Seeded, Source};

const O: WorldPosition = WorldPosition::ORIGIN;

fn ball(center: WorldPosition, radius_mm: i128, metric: Metric) -> Region {
    Region::Ball {
        center,
        radius_mm,
        metric,
    }
}

pub(crate) fn a_manhattan_boundary_belongs<X: TestIndex>() {
    let points = numbered([at(3, -4, 5), at(-12, 0, 0), at(4, -4, 5), at(-12, 0, 1)]);
    each_way(&points, |x: &X| {
        finds(x, &ball(O, 12, Metric::Manhattan), &[0, 1]);
        finds(x, &ball(O, 11, Metric::Manhattan), &[]);
        finds(x, &ball(O, 13, Metric::Manhattan), &[0, 1, 2, 3]);
    });
}

pub(crate) fn a_manhattan_sum_past_128_bits_does_not_wrap<X: TestIndex>() {
    let third = i128::MAX / 3; // Three thirds are MAX, or just below it.
    let points = numbered([
        WorldPosition::MIN,
        WorldPosition::MAX,
        at(i128::MIN, i128::MAX, i128::MIN),
        at(third, -third, third),
        at(i128::MAX - 2, 1, -1),
        at(i128::MAX, 1, 0),
    ]);
    each_way(&points, |x: &X| {
        finds(x, &ball(O, i128::MAX, Metric::Manhattan), &[3, 4]);
        finds(
            x,
            &ball(WorldPosition::MIN, i128::MAX, Metric::Manhattan),
            &[0],
        );
        finds(
            x,
            &ball(WorldPosition::MAX, 1 << 40, Metric::Manhattan),
            &[1],
        );
    });
}

pub(crate) fn a_chebyshev_boundary_belongs<X: TestIndex>() {
    let points = numbered([at(9, -9, 9), at(-9, 0, 3), at(10, 0, 0), at(0, 9, -10)]);
    each_way(&points, |x: &X| {
        finds(x, &ball(O, 9, Metric::Chebyshev), &[0, 1]);
        finds(x, &ball(O, 8, Metric::Chebyshev), &[]);
        finds(x, &ball(O, 10, Metric::Chebyshev), &[0, 1, 2, 3]);
    });
}

pub(crate) fn the_largest_chebyshev_ball_is_exact<X: TestIndex>() {
    let points = numbered([
        WorldPosition::MAX,
        WorldPosition::MIN,
        at(-i128::MAX, i128::MAX, 0),
        at(0, i128::MIN, 0),
    ]);
    each_way(&points, |x: &X| {
        finds(x, &ball(O, i128::MAX, Metric::Chebyshev), &[0, 2]);
        finds(
            x,
            &ball(at(-1, -1, -1), i128::MAX, Metric::Chebyshev),
            &[1, 3],
        );
    });
}

pub(crate) fn every_metric_treats_a_negative_radius_as_empty<X: TestIndex>() {
    each_way(&numbered([O, at(1, 1, 1)]), |x: &X| {
        for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Chebyshev] {
            finds(x, &ball(O, -1, metric), &[]);
            finds(x, &ball(O, i128::MIN, metric), &[]);
        }
    });
}

pub(crate) fn every_metric_finds_the_very_position_at_radius_zero<X: TestIndex>() {
    let p = at(-1, i128::MIN, 1 << 32);
    let points = numbered([p, at(0, i128::MIN, 1 << 32)]);
    each_way(&points, |x: &X| {
        for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Chebyshev] {
            finds(x, &ball(p, 0, metric), &[0]);
        }
    });
}

pub(crate) fn metrics_agree_along_an_axis<X: TestIndex>() {
    let points = numbered((-50..=50).map(|i| at(7, i * 1_000, -7)));
    each_way(&points, |x: &X| {
        let hits: Vec<u32> = (50 - 12..=50 + 12).collect();
        for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Chebyshev] {
            finds(x, &ball(at(7, 0, -7), 12_000, metric), &hits);
            finds(x, &ball(at(7, 0, -7), 12_999, metric), &hits);
        }
    });
}

pub(crate) fn metrics_nest<X: TestIndex>() {
    let points = numbered((0..1_331).map(|i| at(i % 11 - 5, i / 11 % 11 - 5, i / 121 - 5)));
    each_way(&points, |x: &X| {
        for r in [1, 3, 5] {
            let [octahedron, sphere, cube] =
                [Metric::Manhattan, Metric::Euclidean, Metric::Chebyshev]
                    .map(|metric| x.visited(&ball(O, r, metric)));
            assert!(octahedron.iter().all(|id| sphere.contains(id)));
            assert!(sphere.iter().all(|id| cube.contains(id)));
            assert!(octahedron.len() < cube.len());
            let side = usize::try_from(2 * r + 1).expect("small");
            assert_eq!(cube.len(), side * side * side);
        }
    });
}

pub(crate) fn metrics_agree_with_big_integers<X: TestIndex>() {
    let points = assorted(21, 300);
    let mut s = Seeded(22);
    let regions: Vec<Region> = (0..40)
        .map(|_| {
            let metric = s.pick(&[Metric::Manhattan, Metric::Chebyshev]);
            let center = points[s.index(points.len())].1;
            ball(center, radius(&mut s), metric)
        })
        .collect();
    agrees::<X>(&points, &regions);
}
