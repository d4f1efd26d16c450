//! What `SpatialHashMap` costs: nothing grows with the number of values in a sector, and asking
//! allocates nothing.

use std::ops::ControlFlow;
use std::time::Duration;

use allocation_counter::measure;
use cpu_time::ThreadTime;
use nebula_coords::{EntityId, Region, SECTOR_SIZE_MM, SectorKey, SpatialHashMap, SpatialQuery};
use nebula_math::WorldPosition;

const VALUES: u64 = 20_000;

/// Spreads `VALUES` values over so many sectors in a row; in each they stand 1 km apart.
fn place(n: u64, sectors: u64, step: i128) -> (EntityId, WorldPosition) {
    let x = i128::from(n % sectors) * SECTOR_SIZE_MM + 1_000_000;
    let y = i128::from(n / sectors % 1_000) * 1_000_000;
    (EntityId(n), WorldPosition::new(x, y, step))
}

/// Inserts all, replaces all, moves all inside their sectors and to others and back, and removes
/// all, oldest first.
fn life(sectors: u64) -> Duration {
    let start = ThreadTime::now();
    let mut map = SpatialHashMap::new();
    for step in [0, 1] {
        for n in 0..VALUES {
            map.insert(place(n, sectors, step));
        }
    }
    for step in [2, SECTOR_SIZE_MM, 3] {
        for n in 0..VALUES {
            let (id, to) = place(n, sectors, step);
            assert!(map.update_position(id, to));
        }
    }
    for n in 0..VALUES {
        assert!(map.remove(EntityId(n)));
    }
    start.elapsed()
}

/// A search through the sector on each removal makes the crowd nine times slower than this.
#[test]
fn a_full_sector_costs_no_more_than_many_small_ones() {
    let best = |sectors| (0..3).map(|_| life(sectors)).min().expect("three runs");
    let (crowd, spread) = (best(1), best(1_000));
    assert!(
        crowd < spread * 3,
        "one sector took {crowd:?}, a thousand sectors {spread:?}"
    );
}

#[test]
fn asking_allocates_nothing() {
    let map: SpatialHashMap<_> = (0..VALUES).map(|n| place(n, 3, -1)).collect();
    let center = WorldPosition::new(1_000_000, 500_000_000, -1);
    let ball = Region::ball(center, 100_000_000);
    let mut values = Vec::with_capacity(map.len());
    let mut ids = Vec::with_capacity(map.len());
    let (mut visited, mut visited_ids) = (0, 0);
    let used = measure(|| {
        map.collect_values(&ball, &mut values);
        map.collect(&ball, &mut ids);
        let _ = map.visit_values(&ball, |_| {
            visited += 1;
            ControlFlow::Continue(())
        });
        let _ = map.visit(&ball, &mut |ids| {
            visited_ids += ids.len();
            ControlFlow::Continue(())
        });
        assert_eq!(map.count(&ball), visited);
        assert!(map.get(EntityId(1)).is_some());
        assert!(!map.query_sector(&SectorKey::from_world(&center)).is_empty());
    });
    assert_eq!(used.count_total, 0, "{used:?}");
    assert!(visited > 1_000, "{visited} hits show little");
    assert_eq!([values.len(), ids.len(), visited_ids], [visited; 3]);
}

/// The bucket that was left keeps a little room, so a border walker costs no memory traffic.
#[test]
fn walking_to_and_fro_over_a_border_allocates_nothing() {
    let mut map = SpatialHashMap::new();
    map.insert((EntityId(1), WorldPosition::ORIGIN));
    map.insert((EntityId(2), WorldPosition::ORIGIN));
    let mut walk = || {
        for n in 0..100 {
            map.update_position(EntityId(1), WorldPosition::new(-(n % 2), 0, 0));
        }
    };
    walk();
    let used = measure(walk);
    assert_eq!(used.count_total, 0, "{used:?}");
}
