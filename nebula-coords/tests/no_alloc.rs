//! Questions in visitor and buffer form allocate nothing, once the caller's buffer is large enough.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use core::hint::black_box;
use core::ops::ControlFlow;

use allocation_counter::measure;
use common::adapters::HashMap;
use common::coords::{SECTOR, at};
use common::grids::{DefaultGrid, DefaultSorted};
use common::index::TestIndex;
use common::source::{Seeded, Source};
use nebula_coords::{
    Elevation, LinearIndex, Metric, Region, SpatialIndex, SpatialQuery, Tile, TileIndex,
    TilePosition, TileRange,
};
use nebula_math::{Aabb128, WorldPosition};

/// Twenty thousand points around a sector corner, and some at the ends of the universe.
fn filled<X: TestIndex>() -> X {
    let mut s = Seeded(1);
    let mut near = || i128::from(s.below(1 << 24)) - (1 << 23);
    let mut points: Vec<_> = (0..20_000)
        .map(|id| (id, at(near(), SECTOR + near(), near())))
        .collect();
    points[17].1 = WorldPosition::MIN;
    points[18].1 = WorldPosition::MAX;
    let mut index = X::bulk(&points);
    // Single edits leave room in places where a bulk build leaves none.
    for id in (0..20_000).step_by(9) {
        index.update(id, at(near(), SECTOR - near(), near()));
    }
    index
}

fn regions() -> Vec<Region> {
    let center = at(0, SECTOR, 0);
    let mut regions = Vec::new();
    for metric in [Metric::Euclidean, Metric::Manhattan, Metric::Chebyshev] {
        for radius_mm in [-1, 0, 100_000, 1 << 21, 1 << 33, 1 << 96, i128::MAX] {
            regions.push(Region::Ball {
                center,
                radius_mm,
                metric,
            });
        }
    }
    regions.push(Region::Box(Aabb128::UNIVERSE));
    regions.push(Region::Box(Aabb128::from_corners(
        center,
        at(1 << 22, 0, 1 << 20),
    )));
    regions.push(Region::Swept {
        from: center,
        to: at(1 << 23, SECTOR + (1 << 22), -(1 << 23)),
        radius_mm: 300_000,
    });
    regions
}

#[track_caller]
fn allocates_nothing(what: &str, work: impl FnOnce()) {
    let info = measure(work);
    assert_eq!(info.count_total, 0, "{what}: {info:?}");
}

fn regions_allocate_nothing<X: TestIndex>() {
    let index = filled::<X>();
    let asked = index.query();
    let mut out = Vec::with_capacity(index.stored());
    let mut hits = 0;
    for region in regions() {
        allocates_nothing("visit", || {
            let _ = asked.visit(&region, &mut |ids| {
                hits += ids.len();
                ControlFlow::Continue(())
            });
        });
        allocates_nothing("count", || {
            black_box(asked.count(&region));
        });
        allocates_nothing("collect", || asked.collect(&region, &mut out));
    }
    assert!(hits > 50_000, "{hits} hits prove little");
}

fn nearest_allocates_nothing<X: TestIndex>() {
    let index = filled::<X>();
    let asked = index.query();
    let center = at(0, SECTOR, 0);
    let mut out = Vec::new();
    for (k, limit) in [(0, 9), (1, i128::MAX), (10, 1 << 22), (300, 1 << 90)] {
        asked.nearest(&center, k, limit, &mut out); // Warms the caller's buffer.
        assert_eq!(out.len(), k);
        allocates_nothing("nearest", || asked.nearest(&center, k, limit, &mut out));
    }
}

#[test]
fn the_counter_counts() {
    assert_eq!(measure(|| drop(black_box(vec![1_u8; 9]))).count_total, 1);
}

#[test]
fn linear_index() {
    // The slow twin sorts a list of its own in `nearest`.
    regions_allocate_nothing::<LinearIndex<u32>>();
}

#[test]
fn spatial_index() {
    regions_allocate_nothing::<SpatialIndex<u32>>();
}

#[test]
fn spatial_hash_map() {
    regions_allocate_nothing::<HashMap>();
}

#[test]
fn spatial_grid() {
    regions_allocate_nothing::<DefaultGrid>();
}

#[test]
fn sorted_index() {
    regions_allocate_nothing::<DefaultSorted>();
}

#[test]
fn spatial_index_nearest() {
    nearest_allocates_nothing::<SpatialIndex<u32>>();
}

#[test]
fn spatial_hash_map_nearest() {
    nearest_allocates_nothing::<HashMap>();
}

#[test]
fn spatial_grid_nearest() {
    nearest_allocates_nothing::<DefaultGrid>();
}

#[test]
fn sorted_index_nearest() {
    nearest_allocates_nothing::<DefaultSorted>();
}

/// Ranges wider than what is stored go through every occupied tile and sort what they find.
#[test]
fn tile_index_ranges() {
    let mut index = TileIndex::new();
    for id in 0..2_000_i32 {
        let at = TilePosition::new(id % 50 - 25, id / 50 * 1_000, Elevation::GROUND);
        index.insert(id, &0_u8, at);
    }
    let mut out = Vec::with_capacity(index.len());
    for reach in [0, 3, 30, 100_000, i32::MAX] {
        let range = TileRange::manhattan(Tile::new(0, 0), reach, Elevation::GROUND);
        index.query_range(&0, &range, &mut out); // Warms the thread's list.
        let mut seen = 0;
        allocates_nothing("visit_range", || {
            let _ = index.visit_range(&0, &range, &mut |ids| {
                seen += ids.len();
                ControlFlow::Continue(())
            });
        });
        allocates_nothing("query_range", || index.query_range(&0, &range, &mut out));
        assert_eq!(out.len(), seen);
        assert!(reach < 100_000 || seen == 2_000, "{seen} for {reach}");
    }
}

/// Iterators hold their place and nothing else.
#[test]
fn iterators() {
    let (grid, sorted) = (filled::<DefaultGrid>(), filled::<DefaultSorted>());
    let mut hits = 0;
    for region in regions() {
        let (grid, sorted) = (grid.query(), sorted.query());
        allocates_nothing("grid", || hits += grid.query_iter(&region).count());
        allocates_nothing("sorted", || hits += sorted.query_iter(&region).count());
        let (mut visited, mut out) = (Vec::new(), Vec::new());
        grid.collect(&region, &mut visited);
        out.extend(grid.query_iter(&region));
        assert_eq!(out, visited);
        sorted.collect(&region, &mut visited);
        assert!(sorted.query_iter(&region).eq(visited));
    }
    assert!(hits > 50_000, "{hits} hits prove little");
}
