//! Batches large enough for every way a batch can go (in place, a few crossings, many, nearly all;
//! on several threads with feature `rayon`), against the slow twin.

#[expect(
    dead_code,
    reason = "each test binary uses its own part of the common module"
)]
mod common;

use common::source::{Seeded, Source};
use nebula_coords::{LinearIndex, Region, SpatialIndex, SpatialQuery};
use nebula_math::WorldPosition;

type Points = Vec<(u32, WorldPosition)>;

/// Where a batch leads.
#[derive(Clone, Copy, Debug)]
enum Way {
    /// A step; nearly all stay in their leaf.
    Step,
    /// One in ten goes where another one is.
    SomeLeap,
    /// Everyone goes where another one is.
    AllLeap,
    /// Everyone to one spot.
    Gather,
    /// Everyone to the powers of two, on every level.
    Scatter,
}

const WAYS: [Way; 5] = [
    Way::Step,
    Way::SomeLeap,
    Way::AllLeap,
    Way::Gather,
    Way::Scatter,
];

/// Returns plus or minus a power of two, or one beside it.
fn power(s: &mut Seeded) -> i128 {
    let power = 1_i128 << s.below(127);
    (power + i128::from(s.below(3)) - 1) * s.pick(&[1, -1])
}

fn anywhere(s: &mut Seeded, center: i128) -> WorldPosition {
    let [x, y, z] = [0; 3].map(|_| center.saturating_add(i128::from(s.below(1 << 22)) - (1 << 21)));
    WorldPosition::new(x, y, z)
}

/// Returns a batch, with ids named twice and ids that nobody has.
fn batch(s: &mut Seeded, way: Way, now: &[(u32, WorldPosition)]) -> Points {
    let spot = s.pick(now).1;
    let mut moves = Vec::new();
    for (id, at) in now {
        let step = |s: &mut Seeded, v: i128| v.saturating_add(i128::from(s.below(4_096)) - 2_048);
        let other = s.pick(now).1;
        let to = match way {
            Way::SomeLeap if s.below(10) > 0 => *at,
            Way::SomeLeap | Way::AllLeap => other,
            Way::Gather => spot,
            Way::Scatter => WorldPosition::new(power(s), power(s), power(s)),
            Way::Step => WorldPosition::new(step(s, at.x), step(s, at.y), step(s, at.z)),
        };
        if s.below(16) == 0 {
            moves.push((*id, other)); // The entry after it counts.
        }
        moves.push((*id, to));
        if s.below(64) == 0 {
            moves.push((id + 1_000_000, to));
        }
    }
    moves
}

#[track_caller]
fn compare(index: &SpatialIndex<u32>, twin: &LinearIndex<u32>, s: &mut Seeded, what: &str) {
    index.validate().unwrap_or_else(|e| panic!("{what}: {e}"));
    let mut now: Points = index.iter().collect();
    now.sort_unstable();
    assert!(twin.iter().eq(now.iter().copied()), "{what}");
    let (mut found, mut expected) = (Vec::new(), Vec::new());
    for radius in [0, 1, 3_000, 1 << 21, 1 << 70, i128::MAX] {
        let center = s.pick(&now).1;
        let region = Region::ball(center, radius);
        index.collect(&region, &mut found);
        found.sort_unstable();
        twin.collect(&region, &mut expected);
        assert_eq!(found, expected, "{what}: {region:?}");
        index.nearest(&center, 9, radius, &mut found);
        twin.nearest(&center, 9, radius, &mut expected);
        assert_eq!(
            found, expected,
            "{what}: nearest within {radius} of {center:?}"
        );
    }
}

#[test]
fn large_batches_leave_what_their_last_entries_say() {
    for seed in 0..6 {
        let s = &mut Seeded(seed);
        let centers = [0, 1 << 32, -(1 << 40), i128::MAX - (1 << 21)];
        // From some 16,000 on, a batch that leads nearly all away has the tree built anew at once.
        let count = if seed == 0 { 20_000 } else { 6_000 };
        let points: Points = (0..count)
            .map(|id| {
                let center = s.pick(&centers);
                (id, anywhere(s, center))
            })
            .collect();
        let mut index = SpatialIndex::from_points(&points);
        let mut twin = LinearIndex::new();
        for (id, at) in &points {
            twin.insert(*id, *at);
        }
        for round in 0..12 {
            let way = s.pick(&WAYS);
            let now: Points = twin.iter().collect();
            let moves = batch(s, way, &now);
            let mark = index.mark();
            let report = index.update_batch(&moves);
            let known = moves
                .iter()
                .filter(|(id, to)| twin.update(*id, *to))
                .count();
            let what = format!("seed {seed}, round {round}, {way:?}");
            assert_eq!(report.moved, known, "{what}");
            compare(&index, &twin, s, &what);
            let changes = index.changes_since(mark).expect("the mark is young");
            let regions: Vec<_> = changes.regions().collect();
            for (id, before) in now.iter().step_by(97) {
                let after = index.get(*id).expect("moves remove nobody");
                if after == *before {
                    continue;
                }
                assert!(changes.ids().contains(id), "{what}: {id} is not named");
                for at in [before, &after] {
                    let is_covered = regions.iter().any(|region| region.contains(at));
                    assert!(is_covered, "{what}: {at:?} is not covered");
                }
            }
        }
    }
}

/// Removals of every size, with ids named twice and ids that nobody has, until nobody is left; between
/// them new ones come, so that leaves which lost some are filled again.
#[test]
fn removals_at_once_leave_who_is_not_named() {
    for seed in 0..6 {
        let s = &mut Seeded(seed);
        let mut twin = LinearIndex::new();
        for id in 0..6_000 {
            let at = match s.below(8) {
                0 => WorldPosition::new(power(s), power(s), power(s)),
                1 => WorldPosition::ORIGIN,
                _ => anywhere(s, 1 << 32),
            };
            twin.insert(id, at);
        }
        let points: Points = twin.iter().collect();
        let mut index = SpatialIndex::from_points(&points);
        for (round, share) in [100, 4, 2, 50, 2, 10, 1, 1].into_iter().enumerate() {
            let what = format!("seed {seed}, round {round}");
            let now: Points = twin.iter().collect();
            let mut ids = Vec::new();
            for (id, _) in &now {
                if s.below(share) == 0 {
                    ids.extend([*id, s.pick(&now).0, id + 1_000_000]);
                }
            }
            let mark = index.mark();
            let removed = index.remove_batch(&ids);
            let gone: Vec<_> = ids.iter().filter_map(|id| twin.remove(*id)).collect();
            assert_eq!(removed, gone.len(), "{what}");
            assert_eq!(index.len(), twin.len(), "{what}");
            if !twin.is_empty() {
                compare(&index, &twin, s, &what);
            }
            index.validate().unwrap_or_else(|e| panic!("{what}: {e}"));
            let changes = index.changes_since(mark).expect("the mark is young");
            assert!(changes.ids().iter().all(|id| ids.contains(id)), "{what}");
            let regions: Vec<_> = changes.regions().collect();
            for at in gone.iter().step_by(97) {
                let is_covered = regions.iter().any(|region| region.contains(at));
                assert!(is_covered, "{what}: {at:?} is not covered");
            }
            for id in (7_000..7_100).filter(|_| share != 1) {
                let at = anywhere(s, 1 << 32);
                index.insert(id, at);
                twin.insert(id, at);
            }
        }
        assert_eq!(index.iter().count(), 0, "seed {seed}");
    }
}

#[test]
fn a_leaf_alone_below_its_node_may_split() {
    let spot = |id: u32| WorldPosition::new(i128::from(id % 7), i128::from(id / 7), 0);
    let mut points: Points = (0..200).map(|id| (id, spot(id))).collect();
    points.extend((200..300).map(|id| (id, WorldPosition::new(-(1 << 40), 0, 0))));
    let mut index = SpatialIndex::from_points(&points);
    for id in 200..300 {
        index.remove(id);
        index.validate().expect("valid while others leave");
    }
    for id in 200..400 {
        index.insert(id, spot(id));
        index.validate().expect("valid while the rest grows");
    }
}
