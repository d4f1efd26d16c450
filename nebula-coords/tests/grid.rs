//! `SpatialGrid`: the behaviours of the seed's own test list, and what a grid adds to the common list.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use core::ops::ControlFlow;

use common::coords::at;
use common::source::{Seeded, Source};
use nebula_coords::{CellSizeError, Region, SpatialGrid, SpatialQuery};
use nebula_math::{Aabb128, WorldPosition};

fn grid(points: &[(u32, WorldPosition)]) -> SpatialGrid<u32> {
    let mut grid = SpatialGrid::default();
    for (id, at) in points {
        assert_eq!(grid.insert(*id, *at), None);
    }
    grid.validate().expect("sound");
    grid
}

fn boxed(a: (i128, i128), b: (i128, i128)) -> Aabb128 {
    Aabb128::from_corners(at(a.0, a.1, 0), at(b.0, b.1, 0))
}

#[track_caller]
fn near(grid: &SpatialGrid<u32>, center: WorldPosition, radius_mm: i128) -> Vec<u32> {
    let mut ids = grid.query_radius(&center, radius_mm);
    ids.sort_unstable();
    ids
}

// Constructor validation.

#[test]
fn the_default_cell_is_ten_metres() {
    let grid = SpatialGrid::<u32>::default();
    assert_eq!((grid.cell_size_mm(), grid.is_2d()), (10_000, false));
}

#[test]
fn a_custom_cell_size_is_kept() {
    let grid = SpatialGrid::<u32>::new(25_000).expect("positive");
    assert_eq!(grid.cell_size_mm(), 25_000);
    let flat = SpatialGrid::<u32>::new_2d(i128::MAX).expect("positive");
    assert_eq!((flat.cell_size_mm(), flat.is_2d()), (i128::MAX, true));
}

#[test]
fn a_zero_or_negative_cell_size_is_an_error_that_names_it() {
    for cell_mm in [0, -1, -10_000, i128::MIN] {
        let error = CellSizeError { cell_mm };
        assert_eq!(SpatialGrid::<u32>::new(cell_mm).err(), Some(error));
        assert_eq!(SpatialGrid::<u32>::new_2d(cell_mm).err(), Some(error));
        let mut grid = grid(&[(1, at(0, 0, 0))]);
        assert_eq!(grid.set_cell_size_mm(cell_mm), Err(error));
        assert_eq!((grid.cell_size_mm(), grid.len()), (10_000, 1));
        assert!(error.to_string().contains(&cell_mm.to_string()));
    }
}

// Insert.

#[test]
fn insert_one() {
    let grid = grid(&[(1, at(5_000, 5_000, 0))]);
    assert_eq!((grid.len(), grid.occupied_cells()), (1, 1));
    assert_eq!(grid.get(1), Some(at(5_000, 5_000, 0)));
    assert!(grid.contains(1) && !grid.contains(2));
}

#[test]
fn insert_many() {
    let grid = grid(&[
        (1, at(0, 0, 0)),
        (2, at(50_000, 0, 0)),
        (3, at(0, 50_000, 0)),
    ]);
    assert_eq!((grid.len(), grid.occupied_cells()), (3, 3));
}

#[test]
fn inserting_again_moves() {
    let mut grid = grid(&[(1, at(0, 0, 0))]);
    assert_eq!(grid.insert(1, at(90_000, 0, 0)), Some(at(0, 0, 0)));
    assert_eq!((grid.len(), grid.occupied_cells()), (1, 1));
    assert_eq!(near(&grid, at(0, 0, 0), 5_000), []);
    assert_eq!(near(&grid, at(90_000, 0, 0), 0), [1]);
}

#[test]
fn insert_into_the_same_cell() {
    let grid = grid(&[
        (1, at(1, 1, 1)),
        (2, at(9_999, 9_999, 9_999)),
        (3, at(1, 1, 1)),
    ]);
    assert_eq!(grid.occupied_cells(), 1);
    let key = grid.cell_of(&at(0, 0, 0));
    assert_eq!(grid.query_cell(&key), [1, 2, 3]);
}

#[test]
fn insert_at_negative_coordinates() {
    let grid = grid(&[
        (1, at(-1, -1, -1)),
        (2, at(-10_000, -10_000, -10_000)),
        (3, at(-10_001, 0, 0)),
    ]);
    assert_eq!(grid.occupied_cells(), 2);
    let key = grid.cell_of(&at(-1, -1, -1));
    assert_eq!((key.x, key.y, key.z), (-1, -1, -1));
    assert_eq!(grid.query_cell(&key), [1, 2]);
}

// Remove.

#[test]
fn remove_one() {
    let mut grid = grid(&[(1, at(-3, 0, 0))]);
    assert_eq!(grid.remove(1), Some(at(-3, 0, 0)));
    assert_eq!((grid.len(), grid.occupied_cells()), (0, 0));
}

#[test]
fn remove_many() {
    let mut grid = grid(&[(1, at(0, 0, 0)), (2, at(1, 0, 0)), (3, at(-1, 0, 0))]);
    assert!(grid.remove(3).is_some() && grid.remove(1).is_some());
    assert_eq!(near(&grid, at(0, 0, 0), 100), [2]);
    grid.validate().expect("sound");
}

#[test]
fn removing_what_is_not_there_changes_nothing() {
    let mut grid = grid(&[(1, at(0, 0, 0))]);
    assert_eq!(grid.remove(9), None);
    assert_eq!(grid.len(), 1);
}

#[test]
fn remove_from_a_cell_of_many() {
    let mut grid = grid(&[(1, at(1, 0, 0)), (2, at(2, 0, 0)), (3, at(3, 0, 0))]);
    assert_eq!(grid.remove(1), Some(at(1, 0, 0)));
    grid.validate().expect("sound");
    // The last entry took the gap.
    assert_eq!(grid.query_cell(&grid.cell_of(&at(0, 0, 0))), [3, 2]);
    assert_eq!(grid.get(3), Some(at(3, 0, 0)));
}

// Update.

#[test]
fn update_in_the_same_cell_writes_the_position_alone() {
    let mut grid = grid(&[(1, at(1, 0, 0)), (2, at(2, 0, 0))]);
    let allocations = allocation_counter::measure(|| {
        assert!(grid.update(1, at(9_999, 0, 0)));
    });
    assert_eq!(allocations.count_total, 0);
    assert_eq!(near(&grid, at(9_999, 0, 0), 0), [1]);
    // The order in the cell shows that nothing was taken out and put back.
    assert_eq!(grid.query_cell(&grid.cell_of(&at(0, 0, 0))), [1, 2]);
}

#[test]
fn update_to_another_cell() {
    let mut grid = grid(&[(1, at(1, 0, 0))]);
    assert!(grid.update(1, at(-1, 0, 0)));
    assert_eq!(grid.occupied_cells(), 1);
    assert_eq!(grid.query_cell(&grid.cell_of(&at(1, 0, 0))), []);
    assert_eq!(grid.query_cell(&grid.cell_of(&at(-1, 0, 0))), [1]);
}

#[test]
fn updating_what_is_not_there_changes_nothing() {
    let mut grid = grid(&[]);
    assert!(!grid.update(1, at(0, 0, 0)));
    assert_eq!((grid.len(), grid.occupied_cells()), (0, 0));
}

#[test]
fn the_tracked_position_wins_over_many_updates() {
    let mut grid = grid(&[(1, at(0, 0, 0)), (2, at(0, 0, 0))]);
    for step in 1..50 {
        assert!(grid.update(1, at(step * 7_000, -step * 3_000, 0)));
        assert!(grid.update(2, at(-step * 7_000, step, 0)));
        grid.validate().expect("sound");
        assert_eq!((grid.len(), grid.occupied_cells() <= 2), (2, true));
    }
    assert_eq!(near(&grid, at(343_000, -147_000, 0), 0), [1]);
}

// Radius.

#[test]
fn radius_within_and_outside() {
    let grid = grid(&[
        (1, at(3_000, 4_000, 0)),
        (2, at(3_000, 4_001, 0)),
        (3, at(90_000, 0, 0)),
    ]);
    assert_eq!(near(&grid, at(0, 0, 0), 5_000), [1]);
    assert_eq!(near(&grid, at(0, 0, 0), 5_001), [1, 2]);
}

#[test]
fn radius_zero_finds_the_very_place() {
    let grid = grid(&[(1, at(-7, -7, 0)), (2, at(-7, -7, 1))]);
    assert_eq!(near(&grid, at(-7, -7, 0), 0), [1]);
    assert_eq!(grid.query_at(&at(-7, -7, 1)), [2]);
}

#[test]
fn a_large_radius_looks_at_occupied_cells_only() {
    let grid = grid(&[
        (1, at(0, 0, 0)),
        (2, at(1 << 100, 0, 0)),
        (3, at(-(1 << 90), 0, 0)),
    ]);
    assert_eq!(near(&grid, at(0, 0, 0), 1 << 95), [1, 3]);
    assert_eq!(near(&grid, at(0, 0, 0), i128::MAX), [1, 2, 3]);
}

#[test]
fn radius_around_negative_coordinates() {
    let grid = grid(&[
        (1, at(-50_000, -50_000, 0)),
        (2, at(-50_000, -35_000, 0)),
        (3, at(50_000, 50_000, 0)),
    ]);
    assert_eq!(near(&grid, at(-50_000, -50_000, 0), 15_000), [1, 2]);
}

#[test]
fn radius_in_an_empty_grid() {
    assert_eq!(near(&grid(&[]), at(0, 0, 0), i128::MAX), []);
}

#[test]
fn candidates_are_the_touched_cells_unfiltered() {
    let grid = grid(&[
        (1, at(0, 0, 0)),
        (2, at(9_999, 9_999, 9_999)),
        (3, at(10_000, 0, 0)),
        (4, at(-1, 0, 0)),
    ]);
    let ask = |radius_mm| {
        let mut out = Vec::new();
        let region = Region::ball(at(5_000, 5_000, 5_000), radius_mm);
        grid.candidates(&region, &mut out);
        assert_eq!(out.len(), grid.candidate_count(&region));
        out.sort_unstable();
        out
    };
    assert_eq!(ask(0), [1, 2]);
    assert_eq!(ask(4_999), [1, 2]);
    assert_eq!(
        ask(5_000),
        [1, 2, 3],
        "the ball touches x = 10,000 and x = 0, not x = -1"
    );
    assert_eq!(ask(5_001), [1, 2, 3, 4]);
    assert_eq!(ask(-1), []);
    // The exact question keeps what is really near.
    assert_eq!(near(&grid, at(5_000, 5_000, 5_000), 5_001), []);
}

#[test]
fn a_candidate_visit_stops_when_told() {
    let grid = grid(&[(1, at(0, 0, 0)), (2, at(50_000, 0, 0))]);
    let mut seen = Vec::new();
    let flow = grid.visit_candidates(&Region::Box(Aabb128::UNIVERSE), &mut |ids| {
        seen.extend_from_slice(ids);
        ControlFlow::Break(())
    });
    assert_eq!((flow, seen), (ControlFlow::Break(()), vec![1]));
}

#[test]
fn radius_15_with_cells_of_10_touches_few_cells() {
    // The seed's typical case, on the plane: one id per cell shows which cells are read.
    let mut grid = SpatialGrid::new_2d(10_000).expect("positive");
    let mut id = 0_u32;
    for x in -10..10 {
        for y in -10..10 {
            grid.insert(id, at(x * 10_000 + 5_000, y * 10_000 + 5_000, 0));
            id += 1;
        }
    }
    let from_a_middle = grid.candidate_count(&Region::ball(at(5_000, 5_000, 0), 14_999));
    assert_eq!(from_a_middle, 9);
    let from_anywhere = grid.candidate_count(&Region::ball(at(1, 9_999, 0), 15_000));
    assert_eq!(from_anywhere, 16, "never more than four a side");
}

// Bounds.

#[test]
fn bounds_in_and_out() {
    let grid = grid(&[
        (1, at(0, 0, 0)),
        (2, at(20_000, 20_000, 0)),
        (3, at(20_001, 20_000, 0)),
    ]);
    let mut ids = grid.query_box(&boxed((0, 0), (20_000, 20_000)));
    ids.sort_unstable();
    assert_eq!(ids, [1, 2]);
}

#[test]
fn bounds_in_a_single_cell() {
    let grid = grid(&[(1, at(2_000, 2_000, 0)), (2, at(8_000, 8_000, 0))]);
    assert_eq!(grid.query_box(&boxed((1_000, 1_000), (3_000, 3_000))), [1]);
}

#[test]
fn large_bounds() {
    let grid = grid(&[(1, at(0, 0, 0)), (2, at(1 << 100, -(1 << 100), 0))]);
    assert_eq!(grid.query_box(&Aabb128::UNIVERSE).len(), 2);
    let half = boxed((0, i128::MIN), (i128::MAX, -1));
    assert_eq!(grid.query_box(&half), [2]);
}

#[test]
fn negative_bounds() {
    let grid = grid(&[
        (1, at(-15_000, -15_000, 0)),
        (2, at(-25_000, -15_000, 0)),
        (3, at(15_000, 15_000, 0)),
    ]);
    assert_eq!(
        grid.query_box(&boxed((-20_000, -20_000), (-10_000, -10_000))),
        [1]
    );
}

#[test]
fn empty_bounds() {
    let grid = grid(&[(1, at(0, 0, 0))]);
    assert_eq!(grid.query_box(&boxed((1, 1), (9_999, 9_999))), []);
    assert_eq!(grid.query_box(&boxed((50_000, 0), (60_000, 9_000))), []);
}

// Clear.

#[test]
fn clear_leaves_nothing_and_the_grid_usable() {
    let mut grid = grid(&[(1, at(0, 0, 0)), (2, at(90_000, 0, 0))]);
    grid.clear();
    grid.validate().expect("sound");
    assert_eq!((grid.len(), grid.occupied_cells()), (0, 0));
    assert_eq!(near(&grid, at(0, 0, 0), i128::MAX), []);
    assert_eq!(grid.insert(1, at(5, 5, 5)), None);
    assert_eq!(near(&grid, at(0, 0, 0), 10), [1]);
}

// Cell boundaries.

#[test]
fn cells_are_half_open_on_both_sides_of_zero() {
    let grid = SpatialGrid::<u32>::default();
    let cell = |x| grid.cell_of(&at(x, 0, 0)).x;
    assert_eq!([cell(-10_001), cell(-10_000), cell(-1)], [-2, -1, -1]);
    assert_eq!([cell(0), cell(9_999), cell(10_000)], [0, 0, 1]);
}

#[test]
fn a_cell_boundary_is_no_wall() {
    let grid = grid(&[
        (1, at(9_999, 0, 0)),
        (2, at(10_000, 0, 0)),
        (3, at(-1, 0, 0)),
        (4, at(0, 0, 0)),
    ]);
    assert_eq!(near(&grid, at(10_000, 0, 0), 1), [1, 2]);
    assert_eq!(near(&grid, at(0, 0, 0), 1), [3, 4]);
}

#[test]
fn cell_bounds_hold_exactly_the_positions_of_the_cell() {
    for cell_mm in [1, 7, 10_000, 1 << 64, i128::MAX] {
        let grid = SpatialGrid::<u32>::new(cell_mm).expect("positive");
        for x in [
            i128::MIN,
            i128::MIN + 1,
            -cell_mm,
            -1,
            0,
            cell_mm - 1,
            i128::MAX - 1,
            i128::MAX,
        ] {
            let key = grid.cell_of(&at(x, 0, 0));
            let bounds = grid.cell_bounds(&key);
            let (low, high) = (bounds.min().x, bounds.max().x);
            assert!(low <= x && x <= high, "{x} is not in {low}..={high}");
            assert_eq!(grid.cell_of(&at(low, 0, 0)), key);
            assert_eq!(grid.cell_of(&at(high, 0, 0)), key);
            assert!(low == i128::MIN || grid.cell_of(&at(low - 1, 0, 0)) != key);
            assert!(high == i128::MAX || grid.cell_of(&at(high + 1, 0, 0)) != key);
        }
    }
}

// The seed's edge cases; its budgets are checked by the `seeds` bench.

#[test]
fn large_coordinates() {
    let ends = [
        WorldPosition::MIN,
        WorldPosition::MAX,
        at(i128::MIN, i128::MAX, 0),
    ];
    for cell_mm in [1, 10_000, i128::MAX] {
        let mut grid = SpatialGrid::new(cell_mm).expect("positive");
        for (id, end) in (0_u32..).zip(ends) {
            grid.insert(id, end);
        }
        grid.validate().expect("sound");
        for (id, end) in (0_u32..).zip(ends) {
            assert_eq!(near(&grid, end, 0), [id]);
            assert_eq!(near(&grid, end, 10_000), [id]);
        }
        assert_eq!(grid.query_box(&Aabb128::UNIVERSE).len(), 3);
    }
}

#[test]
fn floating_point_positions_become_whole_millimetres_once() {
    // 0.1 + 0.2 metres is not 0.3 in floating point; in millimetres it is.
    #[expect(clippy::cast_possible_truncation, reason = "a few hundred millimetres")]
    let mm = |metres: f64| (metres * 1_000.0).round() as i128;
    let grid = grid(&[(1, at(mm(0.1 + 0.2), 0, 0))]);
    assert_eq!(near(&grid, at(0, 0, 0), mm(0.3)), [1]);
    assert_eq!(near(&grid, at(0, 0, 0), mm(0.3) - 1), []);
}

#[test]
fn an_id_may_be_reused() {
    let mut grid = grid(&[(1, at(0, 0, 0))]);
    grid.remove(1);
    assert_eq!(grid.insert(1, at(-90_000, 0, 0)), None);
    assert_eq!(near(&grid, at(0, 0, 0), 10_000), []);
    assert_eq!(near(&grid, at(-90_000, 0, 0), 0), [1]);
}

#[test]
fn ids_of_any_kind() {
    let mut grid = SpatialGrid::new(5).expect("positive");
    grid.insert(("npc", 7_u64), at(-1, 0, 0));
    assert_eq!(grid.query_radius(&at(0, 0, 0), 1), [("npc", 7)]);
}

// Columns.

#[test]
fn columns_ignore_z_for_cells_and_not_for_distances() {
    let mut grid = SpatialGrid::new_2d(10_000).expect("positive");
    grid.insert(1_u32, at(-1, -1, i128::MIN));
    grid.insert(2, at(-1, -1, i128::MAX));
    grid.insert(3, at(-1, -1, 0));
    assert_eq!(grid.occupied_cells(), 1);
    let mut all = Vec::new();
    grid.candidates(&Region::ball(at(-1, -1, 0), 1), &mut all);
    assert_eq!(all, [1, 2, 3]);
    assert_eq!(near(&grid, at(-1, -1, 0), 1), [3]);
}

// Whole grids.

#[test]
fn another_cell_size_keeps_every_entry() {
    let mut s = Seeded(3);
    let mut place = || at(s.wide() >> 100, s.wide() >> 100, s.wide() >> 100);
    let mut grid = SpatialGrid::new(77).expect("positive");
    for id in 0..300_u32 {
        grid.insert(id, place());
    }
    let center = place();
    let before = near(&grid, center, 1 << 27);
    assert!(!before.is_empty() && before.len() < 300);
    for cell_mm in [1, 1 << 20, i128::MAX] {
        grid.set_cell_size_mm(cell_mm).expect("positive");
        grid.validate().expect("sound");
        assert_eq!(near(&grid, center, 1 << 27), before);
    }
}

#[test]
fn one_grid_serves_several_readers_at_once() {
    let mut grid = grid(&[(1, at(0, 0, 0)), (2, at(-40_000, 0, 0))]);
    grid.reserve(10);
    let grid = &grid;
    std::thread::scope(|scope| {
        let hunters = scope.spawn(|| near(grid, at(0, 0, 0), 50_000));
        let vision = scope.spawn(|| near(grid, at(0, 0, 0), 15_000));
        assert_eq!(hunters.join().expect("no panic"), [1, 2]);
        assert_eq!(vision.join().expect("no panic"), [1]);
    });
    assert!(format!("{grid:?}").contains("occupied_cells: 2"));
}
