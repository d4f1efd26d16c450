//! What only `SpatialIndex` does: batches, the change feed, generations, snapshots, reports.

#[expect(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use common::entity::Entity;
use common::source::{Seeded, Source};
use nebula_coords::{LinearIndex, SpatialIndex, SpatialQuery};
use nebula_math::{Aabb128, WorldPosition};

/// Returns points in a few crowds, some of them astride a sector edge or the middle of the universe.
fn crowd(source: &mut Seeded, count: u32) -> Vec<(u32, WorldPosition)> {
    let centers = [0, 1 << 32, -(1 << 40), i128::MAX - (1 << 20)];
    let near = |source: &mut Seeded, center: i128| {
        center.saturating_add(i128::from(source.below(1 << 21)) - (1 << 20))
    };
    (0..count)
        .map(|id| {
            let center = source.pick(&centers);
            let [x, y, z] = [0; 3].map(|_| near(source, center));
            (id, WorldPosition::new(x, y, z))
        })
        .collect()
}

/// Returns a random walk of every point, with leaps, unknown ids and ids named twice.
fn walk(source: &mut Seeded, points: &[(u32, WorldPosition)]) -> Vec<(u32, WorldPosition)> {
    let mut moves = Vec::new();
    for (id, at) in points {
        let step = |source: &mut Seeded, v: i128| {
            let reach = if source.below(20) == 0 {
                1 << 33
            } else {
                5_000
            };
            v.saturating_add(i128::from(source.below(2 * reach)) - i128::from(reach))
        };
        for _ in 0..1 + source.below(8) / 7 {
            let [x, y, z] = [at.x, at.y, at.z].map(|v| step(source, v));
            moves.push((*id, WorldPosition::new(x, y, z)));
        }
        if source.below(50) == 0 {
            moves.push((1_000_000 + id, *at));
        }
    }
    moves
}

#[test]
fn the_last_entry_of_a_batch_wins_whether_or_not_it_crosses() {
    for seed in 0..20 {
        let mut source = Seeded(seed);
        let points = crowd(&mut source, 3_000);
        let mut index = SpatialIndex::from_points(&points);
        let mut twin = LinearIndex::new();
        for (id, at) in &points {
            twin.insert(*id, *at);
        }
        for _ in 0..3 {
            let moves = walk(&mut source, &points);
            let report = index.update_batch(&moves);
            let known = moves
                .iter()
                .filter(|(id, to)| twin.update(*id, *to))
                .count();
            assert_eq!(
                (report.moved, report.unknown),
                (known, moves.len() - known),
                "seed {seed}"
            );
            assert!(
                report.crossed > 0 && report.crossed < report.moved,
                "seed {seed}: {report:?}"
            );
            index
                .validate()
                .unwrap_or_else(|e| panic!("seed {seed}: {e}"));
            let mut now: Vec<_> = index.iter().collect();
            now.sort_unstable();
            assert!(twin.iter().eq(now), "seed {seed}");
        }
    }
}

#[cfg(feature = "rayon")]
#[test]
fn a_batch_gives_the_same_tree_for_any_number_of_threads() {
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        pool.install(|| {
            let mut source = Seeded(7);
            let points = crowd(&mut source, 20_000);
            let mut index = SpatialIndex::from_points(&points);
            let mark = index.mark();
            let reports = [0; 3].map(|_| index.update_batch(&walk(&mut source, &points)));
            index.validate().expect("valid");
            let changed = index.changes_since(mark).expect("young").ids().to_vec();
            (index.iter().collect::<Vec<_>>(), reports, changed)
        })
    };
    let one = run(1);
    assert!(
        one.1[0].moved > 4_096,
        "large enough to be spread over threads"
    );
    assert!(one == run(2) && one == run(8));
}

#[test]
fn a_new_generation_evicts_the_old_one_and_the_old_one_stays_unknown() {
    let [old, new] = [1, 2].map(|generation| Entity {
        row: u32::MAX,
        generation,
    });
    let mut index = SpatialIndex::new();
    assert_eq!(index.insert(old, WorldPosition::MIN), None);
    assert_eq!(index.insert(new, WorldPosition::MAX), None);
    assert_eq!(
        (index.len(), index.get(old), index.contains(new)),
        (1, None, true)
    );
    assert!(!index.update(old, WorldPosition::ORIGIN));
    assert_eq!(index.remove(old), None);
    assert_eq!(
        index.update_batch(&[(old, WorldPosition::ORIGIN)]).unknown,
        1
    );
    assert_eq!(
        index.insert(new, WorldPosition::ORIGIN),
        Some(WorldPosition::MAX)
    );
    assert_eq!(index.remove(new), Some(WorldPosition::ORIGIN));
    assert!(index.is_empty());
    index.validate().expect("valid");
}

#[test]
fn the_change_feed_names_every_change_and_covers_where_it_happened() {
    let mut source = Seeded(3);
    let points = crowd(&mut source, 4_000);
    let mut index = SpatialIndex::from_points(&points);
    for round in 0..10 {
        let mark = index.mark();
        assert!(
            index
                .changes_since(mark)
                .is_some_and(|changes| changes.is_empty())
        );
        let mut touched = Vec::new();
        for _ in 0..200 {
            let (id, _) = source.pick(&points);
            let to = source.pick(&points).1;
            let before = index.get(id);
            match source.below(3) {
                0 => drop(index.remove(id)),
                1 => drop(index.insert(id, to)),
                _ => drop(index.update_batch(&[(id, to)])),
            }
            let after = index.get(id);
            if before != after {
                touched.push((id, before, after));
            }
        }
        let changes = index.changes_since(mark).expect("young");
        let regions: Vec<_> = changes.regions().collect();
        for (id, before, after) in &touched {
            assert!(
                changes.ids().contains(id),
                "round {round}: {id} is not named"
            );
            for at in [before, after].into_iter().flatten() {
                assert!(
                    regions.iter().any(|r| r.contains(at)),
                    "round {round}: {at:?} not covered"
                );
            }
        }
        let named: std::collections::BTreeSet<_> = changes.ids().iter().collect();
        assert_eq!(
            named.len(),
            changes.ids().len(),
            "round {round}: an id is named twice"
        );
        assert!(
            named
                .iter()
                .all(|id| touched.iter().any(|(t, ..)| t == *id))
        );
    }
}

#[test]
fn a_mark_is_forgotten_after_64_others_or_a_clear() {
    let mut index = SpatialIndex::from_points(&[(1_u32, WorldPosition::ORIGIN)]);
    let old = index.mark();
    let marks: Vec<_> = (0..64).map(|_| index.mark()).collect();
    index.update(1, WorldPosition::MAX);
    assert!(index.changes_since(old).is_none());
    assert!(
        marks
            .iter()
            .all(|mark| index.changes_since(*mark).is_some_and(|c| c.ids() == [1]))
    );
    index.clear();
    assert!(index.changes_since(marks[63]).is_none());
    let new = index.mark();
    index.insert(5, WorldPosition::MIN);
    assert_eq!(
        index.changes_since(new).map(|c| c.ids().to_vec()),
        Some(vec![5])
    );
}

#[test]
fn occupied_regions_hold_all_points_and_nothing_twice() {
    let mut index = SpatialIndex::from_points(&crowd(&mut Seeded(11), 5_000));
    index.reserve(1_000);
    let regions: Vec<_> = index.occupied_regions().collect();
    assert_eq!(
        regions.iter().map(|(_, count)| count).sum::<usize>(),
        index.len()
    );
    for (region, count) in &regions {
        assert_eq!(index.query_box(region).len(), *count);
    }
}

#[test]
fn memory_is_returned_when_everybody_leaves() {
    let points = crowd(&mut Seeded(5), 50_000);
    let mut index = SpatialIndex::from_points(&points);
    let full = index.memory();
    for (id, _) in &points {
        index.remove(*id);
    }
    index.validate().expect("valid");
    assert!(
        index.memory().leaves < full.leaves / 4,
        "{full:?} became {:?}",
        index.memory()
    );
    index.clear();
    assert_eq!(index.memory().total(), 0);
}

/// Returns points on a lattice around a spot, some metres apart.
fn apart(count: u32, spot: WorldPosition) -> Vec<(u32, WorldPosition)> {
    let step = |v: i128, n: u32| v.saturating_add(i128::from(n % 32) * 3_000);
    (0..count)
        .map(|id| {
            let [x, y, z] = [
                step(spot.x, id),
                step(spot.y, id / 32),
                step(spot.z, id / 1_024),
            ];
            (id, WorldPosition::new(x, y, z))
        })
        .collect()
}

/// A leaf of a small cube holds at most so many, unless they stand on one spot.
const LEAF_LIMIT: usize = 384;

/// The same where the cube is at most 2^16 mm wide.
const CROWDED_LIMIT: usize = 768;

/// Returns the leaf that holds most beyond its limit.
fn overfull(index: &SpatialIndex<u32>) -> Option<(Aabb128, usize)> {
    let limit = |region: &Aabb128| {
        let side = region.max().x.abs_diff(region.min().x);
        // Points stray out of their cube by up to a 64th of its side.
        if side < (1 << 16) + (1 << 11) {
            CROWDED_LIMIT
        } else {
            LEAF_LIMIT
        }
    };
    let over = index
        .occupied_regions()
        .filter(|(region, count)| *count > limit(region));
    over.max_by_key(|(_, count)| *count)
}

/// Returns the points of the fullest leaf.
fn fullest(index: &SpatialIndex<u32>) -> usize {
    let sizes = index.occupied_regions().map(|(_, count)| count);
    sizes.max().unwrap_or(0)
}

/// The same where the cube is above 2^30 mm.
const WIDE_LIMIT: usize = 256;

#[test]
fn leaves_of_large_cubes_are_smaller() {
    let at = |id: u32| WorldPosition::new(i128::from(id) << 90, 0, 0);
    let points: Vec<_> = (0..300).map(|id| (id, at(id))).collect();
    let mut one_by_one = SpatialIndex::new();
    for (id, at) in &points {
        one_by_one.insert(*id, *at);
    }
    for index in [one_by_one, SpatialIndex::from_points(&points)] {
        index.validate().expect("valid");
        assert!(fullest(&index) <= WIDE_LIMIT, "{index:?}");
    }
}

#[test]
fn a_crowd_that_walks_apart_is_split() {
    for spot in [WorldPosition::ORIGIN, WorldPosition::new(1 << 90, -7, 0)] {
        let crowd: Vec<_> = (0..5_000_u32).map(|id| (id, spot)).collect();
        let after = apart(5_000, spot);
        let mut one_by_one = SpatialIndex::new();
        for (id, at) in &crowd {
            one_by_one.insert(*id, *at);
        }
        assert_eq!(fullest(&one_by_one), 5_000);
        let mut in_a_batch = one_by_one.clone();
        in_a_batch.update_batch(&after);
        for (id, to) in &after {
            one_by_one.update(*id, *to);
            if id % 500 == 0 {
                one_by_one.validate().expect("valid");
            }
        }
        for index in [&one_by_one, &in_a_batch] {
            index.validate().expect("valid");
            assert_eq!(overfull(index), None);
            let mut now: Vec<_> = index.iter().collect();
            now.sort_unstable();
            assert_eq!(now, after);
        }
    }
}

#[test]
fn strangers_do_not_stay_in_the_leaf_of_a_crowd() {
    let mut index = SpatialIndex::new();
    for id in 0..5_000_u32 {
        index.insert(id, WorldPosition::ORIGIN);
    }
    for (id, at) in apart(5_000, WorldPosition::new(1, 1, 1)) {
        index.insert(5_000 + id, at);
    }
    index.validate().expect("valid");
    let crowded = |region: &Aabb128| region.contains(&WorldPosition::ORIGIN);
    let (crowd, count) = overfull(&index).expect("those on one spot are one leaf");
    assert!(crowded(&crowd), "{crowd:?}");
    assert_eq!(count, 5_000);
    let full = index
        .occupied_regions()
        .filter(|(_, count)| *count > CROWDED_LIMIT);
    assert_eq!(full.count(), 1);
    // Who leaves and comes back finds the crowd as it was.
    for id in 0..4_990 {
        index.remove(id);
    }
    index.validate().expect("valid");
    for (id, at) in apart(4_990, WorldPosition::new(-9_000, 0, 0)) {
        index.insert(id, at);
    }
    index.validate().expect("valid");
    assert_eq!(overfull(&index), None);
}

#[test]
fn leaves_of_a_dense_crowd_are_larger() {
    // 512 to a cube of 2^16 mm, and to each eighth of one that is twice as wide.
    let at = |id: u32| {
        let step = |n: u32| i128::from(n % 16) * (1 << 13);
        WorldPosition::new(step(id), step(id / 16), step(id / 256))
    };
    let points: Vec<_> = (0..4_096).map(|id| (id, at(id))).collect();
    let mut one_by_one = SpatialIndex::new();
    for (id, at) in &points {
        one_by_one.insert(*id, *at);
    }
    for index in [one_by_one, SpatialIndex::from_points(&points)] {
        index.validate().expect("valid");
        let mut sizes = index.occupied_regions().map(|(_, count)| count);
        assert!(sizes.all(|count| count == 512), "{index:?}");
    }
}

#[test]
fn one_who_comes_and_goes_rebuilds_nothing() {
    let mut index = SpatialIndex::from_points(&apart(256, WorldPosition::ORIGIN));
    index.insert(999, WorldPosition::MAX);
    index.remove(999);
    let shape = format!("{index:?}").replace("len: 256", "len: 257");
    index.insert(999, WorldPosition::MAX);
    let with = format!("{index:?}");
    index.remove(999);
    assert_eq!(format!("{index:?}").replace("len: 256", "len: 257"), shape);
    // One more leaf for the guest, and not a node more or less.
    assert_eq!(
        shape.split("nodes").nth(1),
        with.split("nodes").nth(1),
        "{shape} {with}"
    );
    index.validate().expect("valid");
}

#[test]
fn the_change_feed_names_each_generation() {
    let [old, new] = [1, 2].map(|generation| Entity { row: 3, generation });
    let mut index = SpatialIndex::from_points(&[(old, WorldPosition::ORIGIN)]);
    let mark = index.mark();
    index.remove(old);
    index.insert(new, WorldPosition::MIN);
    assert_eq!(
        index.changes_since(mark).map(|c| c.ids().to_vec()),
        Some(vec![old, new])
    );
}

#[test]
fn the_change_feed_is_silent_when_nothing_moves_and_covers_leaps() {
    let points = apart(600, WorldPosition::ORIGIN);
    let mut index = SpatialIndex::from_points(&points);
    let mark = index.mark();
    index.update_batch(&points);
    assert!(points.iter().all(|(id, at)| index.update(*id, *at)));
    assert!(
        index
            .changes_since(mark)
            .is_some_and(|changes| changes.is_empty())
    );
    // Leaves shrink and grow under the leaps; every landing must be covered all the same.
    let mut source = Seeded(17);
    for _ in 0..2_000 {
        let id = source.pick(&points).0;
        let to = WorldPosition::new(source.wide() >> source.below(128), 0, source.wide() >> 64);
        let before = index.get(id);
        if source.below(4) == 0 {
            index.remove(id);
        } else {
            index.insert(id, to);
        }
        let changes = index.changes_since(mark).expect("young");
        for at in [before, index.get(id)].into_iter().flatten() {
            assert!(
                changes.regions().any(|region| region.contains(&at)),
                "{at:?}"
            );
        }
    }
}

#[test]
fn a_mark_means_nothing_to_another_index() {
    let mut one = SpatialIndex::from_points(&[(1_u32, WorldPosition::ORIGIN)]);
    let mark = one.mark();
    let mut other = one.clone();
    assert!(other.changes_since(mark).is_none());
    let _ = other.mark();
    assert!(other.changes_since(mark).is_none());
    assert!(one.changes_since(mark).is_some());
}

#[test]
fn the_change_feed_forgets_old_marks_before_it_grows_large() {
    let points = apart(20_000, WorldPosition::ORIGIN);
    let mut index = SpatialIndex::from_points(&points);
    let first = index.mark();
    for round in 0..40 {
        let moved: Vec<_> = points
            .iter()
            .map(|(id, at)| (*id, WorldPosition::new(at.x, at.y + round + 1, at.z)))
            .collect();
        let mark = index.mark();
        index.update_batch(&moved);
        let named = index.changes_since(mark).expect("the youngest is known");
        assert_eq!(named.ids().len(), points.len());
    }
    assert!(index.changes_since(first).is_none());
    let bytes = index.memory().changes / points.len();
    // Twice what is remembered, in a list that grows by doubling, and 16 bytes in the table.
    assert!(bytes < 140, "{bytes} bytes a point");
}

#[test]
fn a_crowd_that_leaves_gives_its_memory_back() {
    let crowd: Vec<_> = (0..50_000_u32).map(|id| (id, WorldPosition::MIN)).collect();
    let mut index = SpatialIndex::from_points(&crowd);
    let full = index.memory().leaves;
    for (id, _) in &crowd[1..] {
        index.remove(*id);
    }
    assert!(
        index.memory().leaves < full / 20,
        "{full} became {}",
        index.memory().leaves
    );
}

#[cfg(feature = "serde")]
mod snapshot {
    use super::*;

    #[test]
    fn a_restored_index_answers_in_the_same_order_and_stays_so() {
        let mut source = Seeded(9);
        let points = crowd(&mut source, 3_000);
        let mut index = SpatialIndex::new();
        for (id, at) in &points {
            index.insert(*id, *at);
        }
        let text = serde_json::to_string(&index).expect("saves");
        let mut restored: SpatialIndex<u32> = serde_json::from_str(&text).expect("restores");
        restored.validate().expect("valid");
        for _ in 0..3 {
            assert!(index.iter().eq(restored.iter()));
            let moves = walk(&mut source, &points);
            assert_eq!(index.update_batch(&moves), restored.update_batch(&moves));
        }
        assert!(index.iter().eq(restored.iter()));
    }

    #[test]
    fn a_snapshot_that_was_tampered_with_is_refused() {
        let points = [(1_u32, WorldPosition::MIN), (2, WorldPosition::MAX)];
        let good = serde_json::to_string(&SpatialIndex::from_points(&points)).expect("saves");
        assert!(serde_json::from_str::<SpatialIndex<u32>>(&good).is_ok());
        for (what, with) in [
            ("[[1,", "[[2,"),
            ("[[1,", "[[1,{\"x\":0,\"y\":0,\"z\":0}],[1,"),
        ] {
            let bad = good.replace(what, with);
            assert_ne!(bad, good, "nothing was replaced in {good}");
            assert!(
                serde_json::from_str::<SpatialIndex<u32>>(&bad).is_err(),
                "{bad}"
            );
        }
        assert!(
            serde_json::from_str::<SpatialIndex<u32>>("[]").is_ok_and(|index| index.is_empty())
        );
    }

    #[test]
    fn ids_spread_to_fill_the_memory_are_refused() {
        let points: Vec<_> = (0..3_000_u32)
            .map(|id| (id << 12, WorldPosition::ORIGIN))
            .collect();
        let text = serde_json::to_string(&SpatialIndex::from_points(&points)).expect("saves");
        let error = serde_json::from_str::<SpatialIndex<u32>>(&text).expect_err("refused");
        assert!(error.to_string().contains("3000 points"), "{error}");
    }

    #[test]
    fn more_points_than_a_leaf_holds_are_refused_unless_they_are_one_crowd() {
        let entry = |points: &[(u32, WorldPosition)]| {
            let points = serde_json::to_string(points).expect("saves");
            format!(r#"[{{"Leaf":{{"slot":0,"coarse":false,"points":{points}}}}}]"#)
        };
        let crowd: Vec<_> = (0..300).map(|id| (id, WorldPosition::MAX)).collect();
        assert!(serde_json::from_str::<SpatialIndex<u32>>(&entry(&crowd)).is_ok());
        let spread = entry(&apart(300, WorldPosition::ORIGIN));
        assert!(serde_json::from_str::<SpatialIndex<u32>>(&spread).is_err());
    }

    #[test]
    fn every_cut_or_changed_byte_of_a_snapshot_gives_an_error_or_a_valid_index() {
        let points = crowd(&mut Seeded(1), 600);
        let good = serde_json::to_vec(&SpatialIndex::from_points(&points)).expect("saves");
        let mut source = Seeded(2);
        for _ in 0..300 {
            let mut bad = good.clone();
            match source.below(2) {
                0 => bad.truncate(source.index(good.len())),
                _ => {
                    let at = source.index(good.len());
                    bad[at] = source.pick(b"0123456789,[]{}");
                }
            }
            if let Ok(index) = serde_json::from_slice::<SpatialIndex<u32>>(&bad) {
                index.validate().expect("checked when read");
            }
        }
    }
}
