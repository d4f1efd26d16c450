//! Query statistics: what is counted, and that counting changes no answer.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use common::coords::at;
use common::source::{Seeded, Source};
use nebula_coords::{
    LinearIndex, Measured, Occupancy, QueryStats, Region, SortedIndex, SpatialGrid, SpatialQuery,
};
use nebula_math::{Aabb128, WorldPosition};

#[test]
fn radii_fall_into_powers_of_two() {
    let stats = QueryStats::new();
    for radius in [0, 1, 2, 3, 4, 15, 16, i128::MAX, -1] {
        stats.record(&Region::ball(WorldPosition::ORIGIN, radius), None, 0);
    }
    let summary = stats.summary();
    assert_eq!(
        summary.by_radius,
        [
            (0, 1),
            (1, 1),
            (2, 2),
            (4, 1),
            (8, 1),
            (16, 1),
            (1 << 126, 1)
        ]
    );
    assert_eq!((summary.queries, summary.balls), (9, 9));
}

#[test]
fn every_shape_is_counted() {
    let mut stats = QueryStats::new();
    let p = WorldPosition::ORIGIN;
    stats.record(&Region::Box(Aabb128::UNIVERSE), Some(6), 2);
    stats.record(&Region::swept(p, p, 5), None, 3);
    stats.record_nearest(4);
    let summary = stats.summary();
    assert_eq!((summary.boxes, summary.swept, summary.nearest), (1, 1, 1));
    assert_eq!((summary.queries, summary.hits), (3, 9));
    assert_eq!(summary.hits_per_query(), Some(3.0));
    // Only the box knew its candidates.
    assert_eq!(summary.candidates_per_hit(), Some(3.0));
    let line = summary.to_string();
    assert!(
        line.starts_with("3 queries, 9 hits (3.0 each), 3.0 candidates per hit"),
        "{line}"
    );
    stats.reset();
    assert_eq!(stats.summary(), nebula_coords::StatsSummary::default());
    assert_eq!(stats.summary().hits_per_query(), None);
    assert_eq!(stats.summary().suggested_cell_mm(), None);
}

#[test]
fn the_suggested_cell_follows_the_median_radius() {
    let suggest = |radii: &[i128]| {
        let stats = QueryStats::new();
        for radius in radii {
            stats.record(&Region::ball(WorldPosition::ORIGIN, *radius), None, 0);
        }
        stats.summary().suggested_cell_mm()
    };
    assert_eq!(suggest(&[0]), Some(1));
    assert_eq!(suggest(&[5, 5, 1 << 90]), Some(8));
    assert_eq!(suggest(&[5, 1 << 90, 1 << 90]), Some(1 << 91));
    assert_eq!(suggest(&[i128::MAX]), Some(i128::MAX));
}

#[test]
fn occupancy_counts_cells_by_power_of_two() {
    let mut occupancy = Occupancy::default();
    assert_eq!(occupancy.entries_per_cell(), None);
    for entries in [0, 1, 1, 2, 3, 4, 1_000] {
        occupancy.add(entries);
    }
    assert_eq!(occupancy.histogram(), [(1, 2), (2, 2), (4, 1), (512, 1)]);
    assert_eq!(
        (occupancy.cells, occupancy.entries, occupancy.fullest),
        (6, 1_011, 1_000)
    );
}

#[test]
fn a_grid_reports_hot_spots_and_occupancy() {
    let mut grid = SpatialGrid::default();
    for id in 0..30_u32 {
        grid.insert(id, at(-5, -5, -5));
    }
    grid.insert(30, at(0, 0, 0));
    grid.insert(31, at(50_000, 0, 0));
    let spots = grid.hot_spots(2);
    assert_eq!(spots[0], (grid.cell_of(&at(-1, -1, -1)), 30));
    assert_eq!(
        spots[1],
        (grid.cell_of(&at(0, 0, 0)), 1),
        "equal counts come by key"
    );
    assert_eq!(grid.hot_spots(99).len(), 3);
    assert_eq!(grid.occupancy().histogram(), [(1, 2), (16, 1)]);
    assert!(grid.memory_bytes() > 32 * 52);
}

/// Counting changes no answer, whatever the index.
fn same_answers<Q: SpatialQuery<Id = u32>>(measured: &Measured<Q>) {
    let mut s = Seeded(4);
    for _ in 0..50 {
        let region = Region::ball(at(s.wide() >> 100, 0, 0), 1 << 26);
        let (mut a, mut b) = (Vec::new(), Vec::new());
        measured.collect(&region, &mut a);
        measured.inner().collect(&region, &mut b);
        assert_eq!(a, b);
        measured.nearest(&at(0, 0, 0), 5, 1 << 27, &mut a);
        measured.inner().nearest(&at(0, 0, 0), 5, 1 << 27, &mut b);
        assert_eq!(a, b);
    }
    assert_eq!(measured.len(), 200);
    assert_eq!(measured.position(3), measured.inner().position(3));
    let summary = measured.stats().summary();
    assert_eq!((summary.balls, summary.nearest), (50, 50));
    assert!(summary.hits > 250);
}

#[test]
fn counting_changes_no_answer() {
    let mut s = Seeded(8);
    let mut linear = LinearIndex::new();
    let mut grid = SpatialGrid::new(1 << 24).expect("positive");
    let mut sorted = SortedIndex::new(1 << 24).expect("positive");
    for id in 0..200_u32 {
        let place = at(s.wide() >> 100, s.wide() >> 105, 0);
        linear.insert(id, place);
        grid.insert(id, place);
        sorted.insert(id, place);
    }
    same_answers(&Measured::new(linear));
    same_answers(&Measured::new(sorted));
    let mut measured = Measured::with_candidates(grid, SpatialGrid::candidate_count);
    same_answers(&measured);
    let summary = measured.stats().summary();
    assert!(summary.candidates >= summary.weighed_hits && summary.weighed_hits > 0);
    measured.reset();
    assert_eq!(measured.stats().summary().queries, 0);
    measured.inner_mut().clear();
    assert!(measured.into_inner().is_empty());
}
