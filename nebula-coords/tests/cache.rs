//! `QueryCache`: always the answer of the index itself, and reused when nothing near has moved.

#[allow(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use common::coords::at;
use common::ops::{Maker, Op, Size};
use common::source::{Seeded, Source};
use nebula_coords::{
    DenseId, LinearIndex, QueryCache, Region, SpatialGrid, SpatialIndex, SpatialQuery, SpatialStore,
};

fn near(x: i128) -> Region {
    Region::ball(at(x, 0, 0), 10_000)
}

#[test]
fn a_question_asked_twice_is_answered_once() {
    let mut cache = QueryCache::new(SpatialGrid::default());
    cache.insert(4_u32, at(-1, 0, 0));
    cache.insert(2, at(1, 0, 0));
    assert_eq!(cache.query(&near(0)), [2, 4]);
    assert_eq!(cache.query(&near(0)), [2, 4]);
    assert_eq!((cache.hits(), cache.misses(), cache.kept()), (1, 1, 1));
}

#[test]
fn only_what_crosses_the_border_counts() {
    let mut cache = QueryCache::new(SpatialGrid::default());
    cache.insert(1_u32, at(0, 0, 0));
    cache.insert(2, at(90_000, 0, 0));
    assert_eq!(cache.query(&near(0)), [1]);
    assert!(
        cache.update(1, at(-10_000, 0, 0)),
        "inside, from the middle to the border"
    );
    assert!(
        cache.update(2, at(10_001, 0, 0)),
        "outside, up to the border"
    );
    assert!(!cache.update(9, at(0, 0, 0)), "unknown");
    assert_eq!(cache.remove(9), None);
    assert_eq!(cache.query(&near(0)), [1]);
    assert_eq!((cache.hits(), cache.misses()), (1, 1));
    cache.update(2, at(10_000, 0, 0));
    assert_eq!(cache.query(&near(0)), [1, 2]);
    cache.remove(1);
    assert_eq!(cache.query(&near(0)), [2]);
    cache.insert(2, at(80_000, 0, 0));
    assert_eq!(cache.query(&near(0)), []);
    assert_eq!((cache.hits(), cache.misses()), (1, 4));
}

#[test]
fn a_batch_of_moves_counts_like_its_moves() {
    let mut cache = QueryCache::new(SpatialGrid::default());
    for id in 0..3_000_u32 {
        cache.insert(id, at(i128::from(id) * 100_000, 0, 0));
    }
    assert_eq!(cache.query(&near(0)), [0]);
    // The last entry of an id counts, and a stranger changes nothing.
    let moves = [
        (1, at(0, 0, 0)),
        (9_999, at(0, 0, 0)),
        (1, at(90_000, 0, 0)),
    ];
    assert_eq!(cache.update_batch(&moves), 2);
    assert_eq!(cache.query(&near(0)), [0]);
    assert_eq!(cache.update_batch(&[(1, at(5, 0, 0))]), 1);
    assert_eq!(cache.query(&near(0)), [0, 1]);
    assert_eq!((cache.hits(), cache.misses()), (0, 3));
    // More than are remembered: every answer is asked anew, and right.
    let all: Vec<_> = (0..3_000).map(|id| (id, at(0, 0, 0))).collect();
    assert_eq!(cache.update_batch(&all), 3_000);
    assert_eq!(cache.kept(), 0);
    assert_eq!(cache.query(&near(0)).len(), 3_000);
}

#[test]
fn a_new_tick_and_clear_forget_everything() {
    let mut cache = QueryCache::new(SpatialGrid::default());
    cache.insert(1_u32, at(0, 0, 0));
    assert_eq!(cache.query(&near(0)), [1]);
    cache.next_tick();
    assert_eq!(cache.kept(), 0);
    assert_eq!(cache.query(&near(0)), [1]);
    assert_eq!(cache.misses(), 2);
    cache.clear();
    assert_eq!(cache.query(&near(0)), []);
    assert!(cache.index().is_empty());
}

#[test]
fn answers_are_capped() {
    let mut cache = QueryCache::with_capacity(SpatialGrid::default(), 3);
    cache.insert(1_u32, at(0, 0, 0));
    for x in 0..100 {
        cache.query(&near(x));
        assert!(cache.kept() <= 3);
    }
    let mut least = QueryCache::with_capacity(cache.into_inner(), 0);
    assert_eq!(least.query(&near(0)), [1]);
    assert_eq!(least.query(&near(0)), [1]);
    assert_eq!((least.kept(), least.hits()), (1, 1));
}

#[test]
fn more_moves_than_are_remembered_forget_the_answers() {
    let mut cache = QueryCache::new(SpatialGrid::default());
    cache.insert(1_u32, at(0, 0, 0));
    cache.query(&near(0));
    for x in 0..5_000 {
        cache.update(1, at(x * 10, 0, 0));
    }
    assert_eq!(cache.query(&near(0)), []);
    assert_eq!(cache.query(&near(49_990)), [1]);
}

/// An id with a generation: two ids can share a place, and the newer drives the older out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
struct Reused(u32, u32);

impl DenseId for Reused {
    fn dense_index(self) -> u32 {
        self.0
    }
}

#[test]
fn an_id_driven_out_by_its_successor_leaves_the_answer() {
    let mut cache = QueryCache::new(SpatialIndex::new());
    cache.insert(Reused(0, 1), at(0, 0, 0));
    assert_eq!(cache.query(&near(0)), [Reused(0, 1)]);
    cache.insert(Reused(0, 2), at(1 << 60, 0, 0));
    assert_eq!(cache.query(&near(0)), []);
}

/// Random operations: the cache always says what the index says now, and does reuse answers.
fn agrees<X: SpatialStore<Id = u32>>(make: impl Fn() -> X) {
    let (mut hits, mut misses) = (0, 0);
    for seed in 0..400 {
        let mut s = Seeded(seed);
        let size = Size {
            ops: 80,
            ids: 30,
            crowd: 8,
            large_one_in: 1,
        };
        let mut maker = Maker::new(&mut s, size);
        let mut cache = QueryCache::with_capacity(make(), 6);
        let mut asked: Vec<Region> = Vec::new();
        for _ in 0..size.ops {
            match maker.next(&mut s) {
                Op::Insert(id, at) => {
                    cache.insert(id, at);
                }
                Op::Update(id, to) => {
                    cache.update(id, to);
                }
                Op::Remove(id) => {
                    cache.remove(id);
                }
                Op::Query(region) => asked.push(region),
                Op::Clear => cache.clear(),
                Op::Nearest(..) if s.below(8) == 0 => cache.next_tick(),
                _ => {}
            }
            for region in asked.iter().rev().take(3) {
                let mut truth = Vec::new();
                cache.index().collect(region, &mut truth);
                truth.sort_unstable();
                assert_eq!(cache.query(region), truth, "seed {seed}: {region:?}");
            }
        }
        hits += cache.hits();
        misses += cache.misses();
    }
    assert!(hits > misses, "{hits} hits, {misses} misses");
}

#[test]
fn the_cache_agrees_with_the_grid() {
    agrees(SpatialGrid::default);
}

#[test]
fn the_cache_agrees_with_the_slow_twin() {
    agrees(LinearIndex::new);
}
