//! `SpatialGrid`: memory that follows what is stored, order without hashes, work without cell counts.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use core::hash::{BuildHasher, Hasher};

use common::coords::at;
use common::source::{Seeded, Source};
use nebula_coords::{Region, SpatialGrid, SpatialQuery};
use nebula_math::{Aabb128, WorldPosition};

#[test]
fn walking_entities_reuse_cells() {
    let mut grid = SpatialGrid::default();
    let mut s = Seeded(5);
    let mut place = || {
        at(
            i128::from(s.below(200_000)) - 100_000,
            i128::from(s.below(200_000)),
            0,
        )
    };
    for id in 0..500_u32 {
        grid.insert(id, place());
    }
    // Warm up: every cell of the square and every buffer comes to exist.
    for round in 0..40 {
        for id in 0..500 {
            grid.update(id, place());
        }
        if round == 20 {
            grid.validate().expect("sound");
        }
    }
    let cells = grid.occupied_cells();
    assert!(cells <= 20 * 20, "{cells} cells for 400 places");
    let bytes = grid.memory_bytes();
    for _ in 0..40 {
        for id in 0..500 {
            grid.update(id, place());
        }
    }
    assert!(grid.memory_bytes() < bytes * 2, "memory grows with moves");
}

#[test]
fn emptied_cells_are_not_walked_and_can_be_given_back() {
    let mut grid = SpatialGrid::default();
    for id in 0..10_000_u32 {
        grid.insert(id, at(i128::from(id) * 50_000, 0, 0));
    }
    for id in 3..10_000 {
        grid.remove(id);
    }
    assert_eq!(grid.occupied_cells(), 3);
    let full = grid.memory_bytes();
    let before = grid.query_box(&Aabb128::UNIVERSE);
    grid.shrink_to_fit();
    grid.validate().expect("sound");
    assert_eq!(grid.query_box(&Aabb128::UNIVERSE), before);
    assert!(grid.memory_bytes() * 100 < full);
    assert!(grid.update(2, at(-5, -5, -5)));
    grid.validate().expect("sound");
}

/// A hasher that sends everything to one bucket.
#[derive(Clone, Default)]
struct Collide;

impl BuildHasher for Collide {
    type Hasher = Self;
    fn build_hasher(&self) -> Self {
        Self
    }
}

impl Hasher for Collide {
    fn finish(&self) -> u64 {
        7
    }
    fn write(&mut self, _: &[u8]) {}
}

#[test]
fn the_order_does_not_depend_on_the_hash() {
    let mut keyed = SpatialGrid::new(1_000).expect("positive");
    let mut other_key = SpatialGrid::new(1_000).expect("positive");
    let mut colliding = SpatialGrid::with_hasher(1_000, Collide).expect("positive");
    let mut s = Seeded(9);
    for _ in 0..600 {
        let id = u32::try_from(s.below(80)).expect("small");
        let to = at(
            i128::from(s.below(9_000)) - 4_500,
            i128::from(s.below(9_000)),
            0,
        );
        if s.below(5) == 0 {
            keyed.remove(id);
            other_key.remove(id);
            colliding.remove(id);
        } else {
            keyed.insert(id, to);
            other_key.insert(id, to);
            colliding.insert(id, to);
        }
        for radius in [500, 2_500, 1 << 60] {
            let expected = keyed.query_radius(&to, radius);
            assert_eq!(other_key.query_radius(&to, radius), expected);
            assert_eq!(colliding.query_radius(&to, radius), expected);
        }
    }
    assert!(keyed.iter().eq(colliding.iter()));
    let mut flat = SpatialGrid::with_hasher_2d(1_000, Collide).expect("positive");
    flat.insert(1_u32, at(0, 0, 0));
    assert!(flat.is_2d());
}

#[test]
fn cells_too_many_to_count_are_no_trouble() {
    // The range has 2^384 cells.
    let mut grid = SpatialGrid::new(1).expect("positive");
    grid.insert(1_u32, WorldPosition::MIN);
    grid.insert(2, WorldPosition::MAX);
    assert_eq!(grid.candidate_count(&Region::Box(Aabb128::UNIVERSE)), 2);
    let mut out = Vec::new();
    grid.nearest(&WorldPosition::MAX, 1, i128::MAX, &mut out);
    assert_eq!(out, [2]);
}
