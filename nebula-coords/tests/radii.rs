//! Every radius is right and its work bounded by what is stored: 100,000 points, radii from nothing
//! to everything.
//!
//! The bound is CPU time of the asking thread, generous enough for a debug build on a busy machine;
//! a loop over the cells that such a radius covers would not end in a lifetime.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use core::ops::ControlFlow;
use core::time::Duration;
use std::sync::LazyLock;

use common::adapters::HashMap;
use common::coords::at;
use common::grids::{DefaultGrid, DefaultSorted};
use common::index::TestIndex;
use common::source::{Seeded, Source};
use cpu_time::ThreadTime;
use nebula_coords::{LinearIndex, Metric, Region, SpatialIndex, SpatialQuery};
use nebula_math::WorldPosition;

const N: u32 = 100_000;

const RADII: [i128; 8] = [0, 1, 1 << 31, 1 << 32, 1 << 33, 1 << 64, 1 << 96, i128::MAX];

/// Bounds are stated for release builds; debug builds do the same work some ten times slower.
const BOUND: Duration = Duration::from_millis(if cfg!(debug_assertions) { 900 } else { 250 });

/// Points of every scale around one centre, so that every radius has a border to get right.
fn points() -> Vec<(u32, WorldPosition)> {
    let mut s = Seeded(100);
    (0..N)
        .map(|id| {
            let bits = s.pick(&[2, 20, 30, 31, 32, 33, 34, 63, 64, 65, 96, 97, 127]);
            let mut axis = || s.wide() >> (127 - bits);
            (id, at(axis(), axis(), axis()))
        })
        .collect()
}

/// The questions, and the slow twin's answers; worked out once for all indexes.
static ANSWERS: LazyLock<Vec<(Region, Vec<u32>)>> = LazyLock::new(|| {
    let points = points();
    let twin = LinearIndex::<u32>::bulk(&points);
    let mut answers = Vec::new();
    for center in [
        WorldPosition::ORIGIN,
        points[77].1,
        at(1 << 33, -1, 1 << 31),
    ] {
        for radius_mm in RADII {
            for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Chebyshev] {
                let region = Region::Ball {
                    center,
                    radius_mm,
                    metric,
                };
                answers.push((region, twin.visited(&region)));
            }
        }
    }
    answers
});

fn right_and_bounded<X: TestIndex>() {
    let index = X::bulk(&points());
    for (region, expected) in &*ANSWERS {
        same_and_bounded(&index, region, expected);
    }
}

fn same_and_bounded<X: TestIndex>(index: &X, region: &Region, expected: &[u32]) {
    let (mut slices, mut hits) = (0, 0);
    let before = ThreadTime::now();
    let _ = index.query().visit(region, &mut |ids| {
        slices += 1;
        hits += ids.len();
        ControlFlow::Continue(())
    });
    let spent = before.elapsed();
    assert!(spent < BOUND, "{spent:?} for {region:?}");
    assert!(slices <= hits, "{slices} slices for {hits} ids");
    assert_eq!(hits, expected.len(), "{region:?}");
    let mut found = index.visited(region);
    found.sort_unstable();
    assert!(found == expected, "wrong ids in {region:?}");
}

const NEIGHBOURS: usize = 20;

/// The nearest few, with every radius as the limit.
static NEAREST: LazyLock<Vec<(WorldPosition, i128, Vec<u32>)>> = LazyLock::new(|| {
    let points = points();
    let twin = LinearIndex::<u32>::bulk(&points);
    let mut answers = Vec::new();
    for center in [WorldPosition::ORIGIN, points[77].1, WorldPosition::MAX] {
        for limit in RADII {
            answers.push((center, limit, twin.closest(&center, NEIGHBOURS, limit)));
        }
    }
    answers
});

fn nearest_is_right_and_bounded<X: TestIndex>() {
    let index = X::bulk(&points());
    for (center, limit, expected) in &*NEAREST {
        let before = ThreadTime::now();
        let found = index.closest(center, NEIGHBOURS, *limit);
        let spent = before.elapsed();
        assert!(spent < BOUND, "{spent:?} for the nearest within {limit}");
        assert_eq!(found, *expected, "nearest to {center:?} within {limit}");
    }
}

#[test]
fn each_radius_holds_more_than_the_one_before() {
    let twin = LinearIndex::<u32>::bulk(&points());
    let counts = RADII.map(|r| twin.count(&Region::ball(WorldPosition::ORIGIN, r)));
    assert!(counts[0] > 0 && counts.is_sorted(), "{counts:?}");
    assert!(counts[2] < counts[3] && counts[4] < counts[5], "{counts:?}");
    assert!(
        counts[6] < counts[7] && counts[7] < N as usize,
        "{counts:?}"
    );
}

#[test]
fn spatial_index() {
    right_and_bounded::<SpatialIndex<u32>>();
}

#[test]
fn spatial_index_nearest() {
    nearest_is_right_and_bounded::<SpatialIndex<u32>>();
}

#[test]
fn spatial_hash_map() {
    right_and_bounded::<HashMap>();
}

#[test]
fn spatial_hash_map_nearest() {
    nearest_is_right_and_bounded::<HashMap>();
}

#[test]
fn spatial_grid() {
    right_and_bounded::<DefaultGrid>();
}

#[test]
fn spatial_grid_nearest() {
    nearest_is_right_and_bounded::<DefaultGrid>();
}

#[test]
fn sorted_index() {
    right_and_bounded::<DefaultSorted>();
}

#[test]
fn sorted_index_nearest() {
    nearest_is_right_and_bounded::<DefaultSorted>();
}
