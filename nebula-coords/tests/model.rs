//! Random operation sequences on every index, each step compared with the slow twin, and the twin
//! with big-integer arithmetic.
//!
//! `NEBULA_MODEL_SEQUENCES` sets how many sequences run for each index (2,000 by default);
//! `NEBULA_MODEL_SEED` runs one sequence alone. A failure prints the command that repeats it.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use common::adapters::HashMap;
use common::grids::{DefaultGrid, DefaultSorted, Grid, Sorted};
use common::index::TestIndex;
use common::ops::{self, Op, Size};
use common::source::Seeded;
use nebula_coords::{LinearIndex, Region, SpatialIndex, SpatialQuery};
use nebula_math::Aabb128;

const SEQUENCES: u64 = 2_000;

/// Most sequences are short and dense in edges; one in 16 has crowds that fill several leaves, and
/// one in 128 has thousands of points, so that trees split more than once.
fn size_of(seed: u64) -> Size {
    match seed % 128 {
        7 => Size {
            ops: 60,
            ids: 3_000,
            crowd: 2_600,
            large_one_in: 1,
        },
        x if x % 16 == 3 => Size {
            ops: 60,
            ids: 700,
            crowd: 400,
            large_one_in: 1,
        },
        x => Size {
            ops: 30 + usize::try_from(x % 32).expect("small"),
            ids: 40,
            crowd: 24,
            large_one_in: 1,
        },
    }
}

/// Prints how to repeat a sequence when the test dies inside it.
struct Replay<'a> {
    test: &'a str,
    seed: u64,
}

impl Drop for Replay<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!(
                "replay: NEBULA_MODEL_SEED={} cargo test -p nebula-coords --test model {}",
                self.seed, self.test
            );
        }
    }
}

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name}={text} is not a number")),
    )
}

fn sequence<X: TestIndex>(test: &str, seed: u64, validate_every: usize) {
    let _replay = Replay { test, seed };
    let size = size_of(seed);
    // Big integers are slow: they check the twin in every short sequence.
    let pair = ops::run::<X>(&mut Seeded(seed), size, 48, validate_every);
    if seed % 64 == 1 {
        // The same operations give the same answers in the same order.
        let again = ops::run::<X>(&mut Seeded(seed), size, 0, usize::MAX);
        let everything = Region::Box(Aabb128::UNIVERSE);
        assert_eq!(
            pair.index.visited(&everything),
            again.index.visited(&everything)
        );
    }
}

fn model<X: TestIndex>(test: &str) {
    if let Some(seed) = number("NEBULA_MODEL_SEED") {
        return sequence::<X>(test, seed, 1);
    }
    let sequences = number("NEBULA_MODEL_SEQUENCES").unwrap_or(SEQUENCES);
    let validate_every = if sequences > SEQUENCES { 16 } else { 1 };
    for seed in 0..sequences {
        sequence::<X>(test, seed, validate_every);
    }
}

#[test]
fn linear_index() {
    model::<LinearIndex<u32>>("linear_index");
}

#[test]
fn spatial_index() {
    model::<SpatialIndex<u32>>("spatial_index");
}

#[test]
fn spatial_hash_map() {
    model::<HashMap>("spatial_hash_map");
}

#[test]
fn spatial_grid() {
    model::<DefaultGrid>("spatial_grid");
}

/// Cells of every kind: the smallest, the largest, columns, and sizes that divide nothing evenly.
#[test]
fn spatial_grid_of_odd_cells() {
    let test = "spatial_grid_of_odd_cells";
    for seed in 0..100 {
        sequence::<Grid<1, false>>(test, seed, 4);
        sequence::<Grid<1, true>>(test, seed, 4);
        sequence::<Grid<7, false>>(test, seed, 4);
        sequence::<Grid<4_294_967_295, true>>(test, seed, 4);
        sequence::<Grid<{ i128::MAX / 3 }, false>>(test, seed, 4);
        sequence::<Grid<{ i128::MAX }, false>>(test, seed, 4);
    }
}

#[test]
fn sorted_index() {
    model::<DefaultSorted>("sorted_index");
}

#[test]
fn sorted_index_of_odd_cells() {
    let test = "sorted_index_of_odd_cells";
    for seed in 0..100 {
        sequence::<Sorted<1>>(test, seed, 4);
        sequence::<Sorted<{ 1 << 32 }>>(test, seed, 4);
        sequence::<Sorted<{ 1 << 100 }>>(test, seed, 4);
        sequence::<Sorted<{ i128::MAX }>>(test, seed, 4);
    }
}

/// The sequences must really do what the test claims: run every operation, and ask questions whose
/// answer is some of the points, not just all or none.
#[test]
fn sequences_reach_every_operation() {
    let mut seen = [0_usize; 10];
    let (mut partial, mut asked) = (0, 0);
    for seed in 0..200 {
        let mut s = Seeded(seed);
        let size = size_of(seed);
        let mut maker = ops::Maker::new(&mut s, size);
        let mut pair = ops::Pair::<LinearIndex<u32>>::new(0, usize::MAX);
        for _ in 0..size.ops {
            let op = maker.next(&mut s);
            seen[kind_of(&op)] += 1;
            pair.step(&op);
            if let Op::Query(region) = &op {
                let hits = pair.twin.count(region);
                partial += usize::from(0 < hits && hits < pair.twin.len());
                asked += 1;
            }
        }
    }
    assert!(seen.iter().all(|n| *n >= 50), "{seen:?}");
    assert!(partial * 4 >= asked, "{partial} of {asked} find some");
}

fn kind_of(op: &Op) -> usize {
    match op {
        Op::Insert(..) => 0,
        Op::Update(..) => 1,
        Op::Remove(..) => 2,
        Op::Batch(..) => 3,
        Op::Crowd(..) => 4,
        Op::Cull(..) => 5,
        Op::Bulk(..) => 6,
        Op::Clear => 7,
        Op::Query(..) => 8,
        Op::Nearest(..) => 9,
    }
}
