//! `SortedIndex`: keys in negative quadrants, rows, sync, and what it adds to the common list.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use std::panic::{AssertUnwindSafe, catch_unwind};

use common::coords::{self, SPREADS, at};
use common::source::{Seeded, Source};
use nebula_coords::{LinearIndex, Particle, Region, SortedIndex, SpatialQuery};
use nebula_math::{Aabb128, WorldPosition};

fn particle(id: u32, position: WorldPosition, radius_mm: i128) -> Particle<u32> {
    Particle {
        id,
        position,
        radius_mm,
    }
}

#[test]
fn cells_are_the_next_power_of_two() {
    for (asked, cell_mm) in [
        (1, 1),
        (2, 2),
        (3, 4),
        (1_000, 1_024),
        (1_024, 1_024),
        (1_025, 2_048),
    ] {
        let index = SortedIndex::<u32>::new(asked).expect("positive");
        assert_eq!(index.cell_size_mm(), cell_mm);
    }
    let largest = SortedIndex::<u32>::new(i128::MAX).expect("positive");
    assert_eq!(largest.cell_size_mm(), 1 << 127);
    assert_eq!(SortedIndex::<u32>::default().cell_size_mm(), 16_384);
    for bad in [0, -1, i128::MIN] {
        let error = SortedIndex::<u32>::new(bad).expect_err("not positive");
        assert_eq!(error.cell_mm, bad);
        assert!(SortedIndex::<u32>::from_particles(bad, &[]).is_err());
    }
}

/// Packing a negative column into the low half of a word would overwrite the row.
#[test]
fn negative_quadrants_have_cells_of_their_own() {
    let mut index = SortedIndex::new(10).expect("positive");
    let quadrants = [
        at(-1, -1, 0),
        at(-1, 1, 0),
        at(1, -1, 0),
        at(1, 1, 0),
        at(-1, 0, -1),
    ];
    for (id, place) in (0_u32..).zip(quadrants) {
        index.insert(id, place);
    }
    index.validate().expect("sound");
    let mut keys: Vec<_> = quadrants.iter().map(|p| index.cell_of(p)).collect();
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 5);
    for (id, place) in (0_u32..).zip(quadrants) {
        assert_eq!(index.query_at(&place), [id]);
    }
    // Row by row: z, then y, then x.
    assert_eq!(index.ids(), [4, 0, 2, 1, 3]);
}

/// Walking past the last column of a row must not read the next row.
#[test]
fn a_row_ends_where_it_ends() {
    let mut index = SortedIndex::new(1).expect("positive");
    index.insert(1_u32, at(i128::MAX, 0, 0));
    index.insert(2, at(i128::MIN, 1, 0));
    index.insert(3, at(i128::MIN, 0, 0));
    let right = Aabb128::from_corners(at(0, 0, 0), at(i128::MAX, 0, 0));
    assert_eq!(index.query_box(&right), [1]);
    let left = Aabb128::from_corners(at(i128::MIN, 0, 0), at(-1, 1, 0));
    assert_eq!(index.query_box(&left), [3, 2]);
}

#[test]
fn order_is_kept_at_the_ends_of_the_universe() {
    for cell_mm in [1, 1 << 64, i128::MAX] {
        let mut index = SortedIndex::new(cell_mm).expect("positive");
        for (id, x) in (0_u32..).zip([i128::MAX, i128::MIN, 0, -1]) {
            index.insert(id, at(x, x, x));
        }
        index.validate().expect("sound");
        for (id, x) in (0_u32..).zip([i128::MAX, i128::MIN, 0, -1]) {
            assert_eq!(index.query_at(&at(x, x, x)), [id], "cells of {cell_mm}");
        }
    }
}

#[test]
fn the_order_is_a_function_of_what_is_stored() {
    let mut s = Seeded(2);
    let points: Vec<_> = (0..200_u32)
        .map(|id| (id, at(s.wide() >> 112, s.wide() >> 112, s.wide() >> 112)))
        .collect();
    let mut forwards = SortedIndex::new(1_000).expect("positive");
    let mut backwards = SortedIndex::new(1_000).expect("positive");
    for (id, place) in &points {
        forwards.insert(*id, *place);
    }
    for (id, place) in points.iter().rev() {
        backwards.insert(*id, at(0, 0, 0));
        backwards.update(*id, *place);
    }
    assert_eq!(forwards.ids(), backwards.ids());
    assert_eq!(forwards.positions(), backwards.positions());
    assert!(forwards.iter().eq(backwards.iter()));
}

#[test]
fn single_changes_keep_the_array_in_order() {
    let mut index = SortedIndex::new(100).expect("positive");
    index.reserve(4);
    assert_eq!(index.insert_particle(particle(1, at(-5, 0, 0), 7)), None);
    assert_eq!(
        index.insert_particle(particle(1, at(500, 0, 0), 8)),
        Some(particle(1, at(-5, 0, 0), 7))
    );
    assert!(index.update(1, at(-900, 0, 0)), "to another cell");
    assert!(
        index.update(1, at(-901, 0, 0)),
        "inside the cell? no, but in order"
    );
    assert_eq!(
        (index.get(1), index.radius(1)),
        (Some(at(-901, 0, 0)), Some(8))
    );
    assert!(index.set_radius(1, 9) && !index.set_radius(2, 9) && !index.update(2, at(0, 0, 0)));
    assert_eq!(
        index.remove_particle(1),
        Some(particle(1, at(-901, 0, 0), 9))
    );
    assert_eq!(
        (index.remove(1), index.contains(1), index.radius(1)),
        (None, false, None)
    );
    index.validate().expect("sound");
}

#[test]
fn of_equal_ids_the_last_wins() {
    let list = [
        particle(1, at(0, 0, 0), 1),
        particle(2, at(5, 0, 0), 2),
        particle(1, at(9, 0, 0), 3),
    ];
    let index = SortedIndex::from_particles(4, &list).expect("positive");
    index.validate().expect("sound");
    assert_eq!(index.len(), 2);
    assert_eq!(
        (index.get(1), index.radius(1)),
        (Some(at(9, 0, 0)), Some(3))
    );
}

/// Every way the sort can go: in order already, a few out of place, shuffled, too wide to pack.
#[test]
fn update_all_sorts_however_far_entries_move() {
    for seed in 0..120 {
        let mut s = Seeded(seed);
        let spread = s.pick(&SPREADS);
        let count = s.pick(&[1_u32, 2, 50, 700]);
        let list: Vec<_> = (0..count)
            .map(|id| {
                particle(
                    id,
                    coords::position(&mut s, spread, &WorldPosition::ORIGIN),
                    0,
                )
            })
            .collect();
        let cell_mm = s.pick(&[1, 1 << 10, 1 << 33, 1 << 120]);
        let mut index = SortedIndex::from_particles(cell_mm, &list).expect("positive");
        index.validate().expect("sound");
        let (one_in, far) = (s.pick(&[1, 3, 1_000]), s.pick(&[4, 100, 126]));
        let mut twin = LinearIndex::new();
        index.update_all(|id, place, radius_mm| {
            assert_eq!(radius_mm, 0);
            if s.below(one_in) == 0 {
                place.x = place.x.saturating_add(s.wide() >> (127 - far));
                place.y = place.y.saturating_sub(s.wide() >> (127 - far));
            }
            twin.insert(id, *place);
        });
        index
            .validate()
            .unwrap_or_else(|fault| panic!("seed {seed}: {fault}"));
        for (id, place) in twin.iter() {
            assert_eq!(index.get(id), Some(place), "seed {seed}");
        }
    }
}

#[test]
fn few_movers_are_merged_in_little_memory() {
    let list: Vec<_> = (0..2_000_u32)
        .map(|id| particle(id, at(i128::from(id) * 100, 0, 0), 0))
        .collect();
    let mut index = SortedIndex::from_particles(64, &list).expect("positive");
    let still = allocation_counter::measure(|| index.update_all(|_, place, _| place.y = 1));
    assert_eq!(still.count_total, 0, "nobody left a cell");
    let some = allocation_counter::measure(|| {
        index.update_all(|id, place, _| place.x += if id % 50 == 0 { 3_333 } else { 0 });
    });
    let entries = u64::try_from(index.memory_bytes()).expect("small");
    assert!(some.bytes_max * 5 < entries, "{some:?} for {entries} bytes");
    index.validate().expect("sound");
}

/// A panic in the middle of a step must not lead to wrong answers.
#[test]
fn answers_stay_right_after_a_panic_in_update_all() {
    let mut index = SortedIndex::new(10).expect("positive");
    for id in 0..50_u32 {
        index.insert(id, at(i128::from(id) * 10, 0, 0));
    }
    let result = catch_unwind(AssertUnwindSafe(|| {
        index.update_all(|id, place, _| {
            assert!(id < 25, "stop half way");
            place.x = -place.x;
        });
    }));
    assert!(result.is_err());
    assert_eq!(index.query_at(&at(-240, 0, 0)), [24]);
    assert_eq!(index.count(&Region::ball(at(0, 0, 0), 240)), 25);
    assert_eq!(index.overlapping_pairs(), []);
    // The next change puts it in order again.
    index.insert(99, at(5, 5, 5));
    index.validate().expect("sound");
    assert_eq!(
        index.ids()[..2],
        [23, 24],
        "-230 and -240 share a cell of 16"
    );
    index.clear();
    assert!(index.is_empty());
}

#[test]
fn touching_counts_the_radius_of_each() {
    let list = [
        particle(1, at(100, 0, 0), 50),
        particle(2, at(-100, 0, 0), 49),
        particle(3, at(1_000, 0, 0), 950),
        particle(4, at(0, 0, 0), -1),
    ];
    let index = SortedIndex::from_particles(16, &list).expect("positive");
    let touching = |radius_mm| {
        let mut out = vec![77];
        index.query_touching(&at(0, 0, 0), radius_mm, &mut out);
        out.sort_unstable();
        out
    };
    assert_eq!(touching(50), [1, 3]);
    assert_eq!(touching(51), [1, 2, 3]);
    assert_eq!(touching(49), []);
    assert_eq!(touching(-1), []);
    assert_eq!(
        touching(i128::MAX),
        [1, 2, 3],
        "a negative radius touches nothing"
    );
}

#[test]
fn touching_agrees_with_big_integers() {
    for seed in 0..300 {
        let mut s = Seeded(seed);
        let spread = s.pick(&SPREADS);
        let list: Vec<_> = (0..40_u32)
            .map(|id| {
                let place = coords::position(&mut s, spread, &WorldPosition::ORIGIN);
                particle(id, place, coords::radius(&mut s))
            })
            .collect();
        let index = SortedIndex::from_particles(1 << 20, &list).expect("positive");
        let ask = particle(
            99,
            coords::position(&mut s, spread, &WorldPosition::ORIGIN),
            coords::radius(&mut s),
        );
        let mut found = Vec::new();
        index.query_touching(&ask.position, ask.radius_mm, &mut found);
        found.sort_unstable();
        let truth: Vec<u32> = list
            .iter()
            .filter(|p| truly_touch(p, &ask))
            .map(|p| p.id)
            .collect();
        assert_eq!(found, truth, "seed {seed}");
    }
}

fn truly_touch(a: &Particle<u32>, b: &Particle<u32>) -> bool {
    let reach = num_bigint::BigInt::from(a.radius_mm) + b.radius_mm;
    a.radius_mm >= 0
        && b.radius_mm >= 0
        && common::oracle::distance_squared(&a.position, &b.position) <= &reach * &reach
}

#[test]
fn memory_is_the_entries_alone() {
    let list: Vec<_> = (0..1_000_u32)
        .map(|id| particle(id, at(i128::from(id), 0, 0), 1))
        .collect();
    let index = SortedIndex::from_particles(8, &list).expect("positive");
    let entry = size_of::<u32>() + size_of::<WorldPosition>() + size_of::<i128>();
    assert!(index.memory_bytes() <= 1_024 * entry);
}
