//! Tile maps: the shared position service, collision and interaction, one claim each.

use core::ops::ControlFlow;
use core::time::Duration;

use cpu_time::ThreadTime;
use nebula_coords::{
    Collider, Elevation, ElevationRules, EntityPositions, Metric, Tile, TileIndex, TileKind,
    TilePosition, TileRange,
};

fn floor(number: i64) -> Elevation {
    Elevation::new(number).unwrap()
}

fn at(x: i32, y: i32) -> TilePosition {
    TilePosition::new(x, y, Elevation::GROUND)
}

/// 100 characters spread over a town of 50 x 20 tiles, none on (25, 15), and two put there.
fn town() -> TileIndex<u32, &'static str> {
    let mut index = TileIndex::new();
    for id in 0..100_i32 {
        let place = at((id * 7) % 50, (id * 3) % 15);
        index.insert(u32::try_from(id).unwrap(), &"town", place);
    }
    index.insert(100, &"town", at(25, 15));
    index.insert(101, &"town", TilePosition::new(25, 15, floor(3)));
    index
}

#[test]
fn exact_lookup_matches_map_tile_and_elevation() {
    let index = town();
    assert_eq!(index.query_at(&"town", at(25, 15)), [100]);
    assert_eq!(
        index.query_at(&"town", TilePosition::new(25, 15, floor(3))),
        [101]
    );
    assert!(
        index
            .query_at(&"town", TilePosition::new(25, 15, floor(2)))
            .is_empty()
    );
    assert!(index.query_at(&"town", at(25, 16)).is_empty());
    assert!(index.query_at(&"cave", at(25, 15)).is_empty());
}

#[test]
fn any_elevation_finds_all_sixteen_floors_lowest_first() {
    let mut index = TileIndex::new();
    for number in (0..16).rev() {
        index.insert(number, &0, TilePosition::new(-3, -3, floor(number)));
    }
    let expected: Vec<i64> = (0..16).collect();
    assert_eq!(
        index.query_at_any_elevation(&0, Tile::new(-3, -3)),
        expected
    );
}

#[test]
fn elevations_beyond_fifteen_cannot_be_made() {
    for number in [-1, 16, 255, 256, i64::MIN, i64::MAX] {
        let error = Elevation::new(number).unwrap_err();
        assert_eq!(error.number(), number);
        assert!(error.to_string().contains(&number.to_string()));
    }
}

#[test]
fn range_is_manhattan_and_inclusive() {
    let mut index = TileIndex::new();
    for x in -4..=4 {
        for y in -4..=4 {
            index.insert((x, y), &0, at(x, y));
        }
    }
    let mut found = Vec::new();
    for range in -2..=5 {
        let asked = TileRange::manhattan(Tile::new(1, -1), range, Elevation::GROUND);
        index.query_range(&0, &asked, &mut found);
        let mut expected: Vec<(i32, i32)> = index_of_square()
            .filter(|(x, y)| (x - 1).abs() + (y + 1).abs() <= range)
            .collect();
        expected.sort_unstable();
        assert_eq!(found, expected, "range {range}");
    }
}

fn index_of_square() -> impl Iterator<Item = (i32, i32)> {
    (-4..=4).flat_map(|x| (-4..=4).map(move |y| (x, y)))
}

#[test]
fn the_metric_is_part_of_the_question() {
    let mut index = TileIndex::new();
    index.insert('c', &0, at(-3, -3));
    index.insert('e', &0, at(-3, 4));
    let count = |metric, range| {
        let mut found = Vec::new();
        let asked = TileRange {
            center: Tile::new(0, 0),
            range,
            metric,
            elevation: None,
        };
        index.query_range(&0, &asked, &mut found);
        found.len()
    };
    assert_eq!(
        [count(Metric::Manhattan, 5), count(Metric::Manhattan, 7)],
        [0, 2]
    );
    assert_eq!(
        [count(Metric::Euclidean, 4), count(Metric::Euclidean, 5)],
        [0, 2]
    );
    assert_eq!(
        [count(Metric::Chebyshev, 3), count(Metric::Chebyshev, 4)],
        [1, 2]
    );
}

#[test]
fn ranges_at_the_ends_of_a_map_neither_wrap_nor_hang() {
    let mut index = TileIndex::new();
    let corners = [
        (i32::MIN, i32::MIN),
        (i32::MIN, i32::MAX),
        (i32::MAX, i32::MIN),
        (i32::MAX, i32::MAX),
    ];
    for (id, (x, y)) in (0..).zip(corners) {
        index.insert(id, &0, at(x, y));
    }
    let mut found = vec![9];
    for (id, (x, y)) in (0..).zip(corners) {
        for metric in [Metric::Manhattan, Metric::Euclidean, Metric::Chebyshev] {
            for range in [0, 1, 3, 1_000, i32::MAX] {
                let asked = TileRange {
                    center: Tile::new(x, y),
                    range,
                    metric,
                    elevation: None,
                };
                index.query_range(&0, &asked, &mut found);
                assert_eq!(found, [id], "{asked:?}");
            }
        }
        index.query_adjacent(&0, at(x, y), &mut found);
        assert!(found.is_empty());
    }
}

#[test]
fn a_second_question_does_not_change_the_first_answer() {
    let index = town();
    let first = index.query_at_any_elevation(&"town", Tile::new(25, 15));
    let second = index.query_at_any_elevation(&"town", Tile::new(0, 0));
    assert_eq!(first, [100, 101]);
    assert_ne!(first, second);
    let mut pairs = 0;
    let near = TileRange::manhattan(Tile::new(25, 15), 9, Elevation::GROUND);
    let _ = index.visit_range(&"town", &near, &mut |outer| {
        // A question inside the answer of another.
        index.visit_range(&"town", &near, &mut |inner| {
            pairs += outer.len() * inner.len();
            ControlFlow::Continue(())
        })
    });
    let mut found = Vec::new();
    index.query_range(&"town", &near, &mut found);
    assert!(found.len() > 1);
    assert_eq!(pairs, found.len() * found.len());
}

#[test]
fn a_visitor_stops_a_range_early() {
    let index = town();
    for range in [2, 1_000] {
        let asked = TileRange::manhattan(Tile::new(25, 13), range, Elevation::GROUND);
        let mut calls = 0;
        let ended = index.visit_range(&"town", &asked, &mut |_| {
            calls += 1;
            ControlFlow::Break(())
        });
        assert_eq!((ended, calls), (ControlFlow::Break(()), 1));
    }
}

#[test]
fn a_move_is_seen_by_the_next_collision_check() {
    let mut index = TileIndex::new();
    let solid = |_| {
        Some(Collider {
            solid: true,
            pass_through: false,
        })
    };
    index.insert('a', &0, at(-1, 0));
    index.insert('b', &0, at(1, 0));
    let gap = at(0, 0);
    let mut entered = Vec::new();
    for mover in ['a', 'b'] {
        if !index.is_blocked(&0, gap, mover, &solid) {
            assert!(index.update(mover, gap));
            entered.push(mover);
        }
    }
    assert_eq!(entered, ['a']);
    assert_eq!(index.get('b'), Some((&0, at(1, 0))));
}

#[test]
fn only_others_that_are_solid_and_not_passable_block() {
    let mut index = TileIndex::new();
    let here = at(-5, 5);
    let kinds = [(false, false), (false, true), (true, true), (true, false)];
    for (id, _) in (0_usize..).zip(kinds) {
        index.insert(id, &0, here);
    }
    index.insert(9, &0, here); // has no collider at all
    let blocked_by = |ids: &[usize], mover| {
        index.is_blocked(&0, here, mover, &|id| {
            let (solid, pass_through) = *kinds.get(id)?;
            ids.contains(&id).then_some(Collider {
                solid,
                pass_through,
            })
        })
    };
    assert!(!blocked_by(&[0, 1, 2], 9));
    assert!(blocked_by(&[0, 1, 2, 3], 9));
    assert!(
        !blocked_by(&[0, 1, 2, 3], 3),
        "the mover does not block itself"
    );
    let other_floor = TilePosition {
        elevation: floor(1),
        ..here
    };
    assert!(!index.is_blocked(&0, other_floor, 9, &|_| Some(Collider {
        solid: true,
        pass_through: false
    })));
}

#[test]
fn interaction_reaches_exactly_one_step() {
    let mut index = TileIndex::new();
    for x in -2..=2 {
        for y in -2..=2 {
            index.insert((x, y), &0, at(x, y));
        }
    }
    index.insert((9, 9), &0, TilePosition::new(0, 1, floor(1)));
    let mut found = vec![(7, 7)];
    index.query_adjacent(&0, at(0, 0), &mut found);
    assert_eq!(found, [(-1, 0), (0, -1), (0, 1), (1, 0)]);
}

#[test]
fn elevation_comes_from_the_kind_and_injected_settings() {
    let rules = ElevationRules::default();
    assert_eq!(rules.elevation_of(TileKind::Player), floor(3));
    assert_eq!(
        rules.elevation_of(TileKind::Npc {
            elevation: floor(7)
        }),
        floor(7)
    );
    assert_eq!(rules.elevation_of(TileKind::Item), floor(0));
    assert_eq!(rules.elevation_of(TileKind::Pushable), floor(0));
    let injected = ElevationRules { player: floor(12) };
    assert_eq!(injected.elevation_of(TileKind::Player), floor(12));
}

#[test]
fn reindex_holds_exactly_what_is_listed() {
    let mut index = town();
    index.insert(500, &"cave", at(0, 0));
    // Only what has an active map is listed; ids 50 and up lost theirs.
    let listed: Vec<_> = (0..100_u32)
        .map(|id| (id, (id < 50).then_some("town")))
        .filter_map(|(id, map)| Some((id, map?, at(i32::try_from(id).unwrap(), -1))))
        .collect();
    let report = index.reindex(listed.iter().map(|(id, map, at)| (*id, map, *at)));
    assert_eq!((report.entered, report.moved, report.exited), (0, 50, 53));
    assert_eq!(
        (
            index.len(),
            index.len_of_map(&"town"),
            index.len_of_map(&"cave")
        ),
        (50, 50, 0)
    );
    let report = index.reindex(listed);
    assert_eq!((report.unchanged, report.moved, report.exited), (50, 0, 0));
    index.validate().unwrap();
    // The last entry for an id wins.
    let report = index.reindex([
        (1, "town", at(0, 0)),
        (1, "cave", at(2, 2)),
        (1, "cave", at(3, 3)),
    ]);
    assert_eq!((report.moved, report.exited), (3, 49));
    assert_eq!(index.get(1), Some((&"cave", at(3, 3))));
    index.validate().unwrap();
}

#[test]
fn maps_are_independent_and_forgotten_when_empty() {
    let mut index = TileIndex::new();
    for map in 0..1_000_u32 {
        index.insert('x', &map, at(0, 0));
        index.validate().unwrap();
    }
    assert_eq!(
        (index.len(), index.len_of_map(&999), index.len_of_map(&998)),
        (1, 1, 0)
    );
    assert_eq!(index.remove('x'), Some((999, at(0, 0))));
    assert_eq!(index.remove('x'), None);
    assert!(index.is_empty() && !index.contains('x') && !index.update('x', at(0, 0)));
    index.validate().unwrap();
}

/// Lets 20,000 walk from their tiles to those beside, each `spread` tiles apart, and returns the time.
fn walk(spread: i32) -> (Duration, TileIndex<i32, u8>) {
    let mut index = TileIndex::new();
    for id in 0..20_000 {
        index.insert(id, &0, at(id * spread, 0));
    }
    let start = ThreadTime::now();
    for id in 0..20_000 {
        let floor = floor(i64::from(id % 16));
        assert!(index.update(id, TilePosition::new(id * spread, 1, floor)));
    }
    (start.elapsed(), index)
}

/// A scan of the tile on each move makes the crowd hundreds of times slower than this.
#[test]
fn a_crowd_on_one_tile_moves_without_scanning_it() {
    let best = |spread| (0..3).map(|_| walk(spread).0).min().expect("three runs");
    let (crowd, apart) = (best(0), best(1));
    assert!(
        crowd < apart * 4,
        "on one tile {crowd:?}, on tiles of their own {apart:?}"
    );
    let (_, mut index) = walk(0);
    assert_eq!(
        index.query_at_any_elevation(&0, Tile::new(0, 1)).len(),
        20_000
    );
    assert_eq!(
        index.query_at(&0, TilePosition::new(0, 1, floor(5))).len(),
        1_250
    );
    assert!(index.query_at(&0, at(0, 0)).is_empty());
    index.clear();
    index.shrink_to_fit();
    index.validate().unwrap();
    assert!(index.is_empty());
}

/// A position service made of three lines, to test a system without an index.
struct Mock(Vec<(u32, TilePosition)>, Vec<u32>);

impl EntityPositions for Mock {
    type Id = u32;
    type Map = str;

    fn query_at(&self, map: &str, at: TilePosition) -> &[u32] {
        let stands = map == "stage" && self.0.iter().any(|(_, place)| *place == at);
        if stands { &self.1 } else { &[] }
    }

    fn query_at_any_elevation(&self, map: &str, tile: Tile) -> &[u32] {
        let stands = map == "stage" && self.0.iter().any(|(_, place)| place.tile == tile);
        if stands { &self.1 } else { &[] }
    }

    fn visit_range(
        &self,
        _map: &str,
        range: &TileRange,
        f: &mut dyn FnMut(&[u32]) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let mut inside = self
            .0
            .iter()
            .filter(|(_, place)| range.contains(place.tile));
        inside.try_for_each(|(id, _)| f(&[*id]))
    }
}

/// A system under test, which knows the service by its trait alone.
fn can_step(
    positions: &dyn EntityPositions<Id = u32, Map = str>,
    mover: u32,
    to: TilePosition,
) -> bool {
    !positions.is_blocked("stage", to, mover, &|_| {
        Some(Collider {
            solid: true,
            pass_through: false,
        })
    })
}

#[test]
fn a_system_can_be_tested_with_a_mock_of_the_service() {
    let mock = Mock(vec![(7, at(-1, 0))], vec![7]);
    assert!(!can_step(&mock, 1, at(-1, 0)));
    assert!(can_step(&mock, 7, at(-1, 0)));
    assert!(can_step(&mock, 1, at(0, 0)));
    let mut found = Vec::new();
    mock.query_adjacent("stage", at(0, 0), &mut found);
    assert_eq!(found, [7]);
    mock.query_range(
        "stage",
        &TileRange::manhattan(Tile::new(3, 0), 3, Elevation::GROUND),
        &mut found,
    );
    assert!(found.is_empty());
    assert_eq!(mock.query_at_any_elevation("stage", Tile::new(-1, 0)), [7]);
}

#[cfg(feature = "serde")]
#[test]
fn places_round_trip_and_elevations_are_checked() {
    let place = TilePosition::new(-1, i32::MAX, floor(15));
    let text = serde_json::to_string(&place).unwrap();
    assert_eq!(serde_json::from_str::<TilePosition>(&text).unwrap(), place);
    let error = serde_json::from_str::<TilePosition>(&text.replace("15", "16")).unwrap_err();
    assert!(
        error.to_string().contains("elevation 16 does not exist"),
        "{error}"
    );
}
