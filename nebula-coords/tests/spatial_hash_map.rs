//! `SpatialHashMap` as its seed describes it: the ten tests by their names, then the contract of
//! each method.

use std::hash::RandomState;
use std::ops::ControlFlow;

use nebula_coords::{
    EntityId, Region, SECTOR_SIZE_MM, SectorIndex, SectorKey, SpatialEntity, SpatialEntityMut,
    SpatialHashMap, SpatialQuery,
};
use nebula_math::{Aabb128, WorldPosition};

#[derive(Clone, Debug, PartialEq, Eq)]
struct Npc {
    id: EntityId,
    at: WorldPosition,
    name: &'static str,
}

impl SpatialEntity for Npc {
    fn entity_id(&self) -> EntityId {
        self.id
    }

    fn world_position(&self) -> &WorldPosition {
        &self.at
    }
}

impl SpatialEntityMut for Npc {
    fn set_world_position(&mut self, new_pos: WorldPosition) {
        self.at = new_pos;
    }
}

fn npc(id: u64, x: i128, y: i128, z: i128) -> Npc {
    Npc {
        id: EntityId(id),
        at: WorldPosition::new(x, y, z),
        name: "npc",
    }
}

fn sector(x: i128, y: i128, z: i128) -> SectorKey {
    SectorKey(SectorIndex::new(x, y, z))
}

fn map_of(npcs: impl IntoIterator<Item = Npc>) -> SpatialHashMap<Npc> {
    let mut map = SpatialHashMap::new();
    for npc in npcs {
        map.insert(npc);
    }
    map.validate().unwrap();
    map
}

/// The ids of an answer, sorted: where the order is not the claim.
fn ids(found: Vec<&Npc>) -> Vec<u64> {
    let mut ids: Vec<_> = found.iter().map(|npc| npc.id.0).collect();
    ids.sort_unstable();
    ids
}

// The seed's tests.

#[test]
fn test_insert_and_retrieve() {
    let map = map_of([npc(1, 1000, 2000, 3000)]);
    let key = SectorKey::from_world(&WorldPosition::new(1000, 2000, 3000));
    let found = map.query_sector(&key);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].entity_id(), EntityId(1));
    assert_eq!(
        found[0].world_position(),
        &WorldPosition::new(1000, 2000, 3000)
    );
}

#[test]
fn test_query_empty_sector_returns_empty() {
    let map = SpatialHashMap::<Npc>::new();
    assert_eq!(map.query_sector(&sector(3, -4, 5)).len(), 0);
}

#[test]
fn test_query_radius_finds_adjacent_sector_entities() {
    let a = npc(1, SECTOR_SIZE_MM - 1, 0, 0);
    let b = npc(2, SECTOR_SIZE_MM, 0, 0);
    let map = map_of([a.clone(), b]);
    assert_eq!(map.query_sector(&sector(0, 0, 0)).len(), 1);
    assert_eq!(map.query_sector(&sector(1, 0, 0)).len(), 1);
    assert_eq!(ids(map.query_radius(&a.at, 100)), [1, 2]);
}

#[test]
fn test_query_radius_excludes_distant_entities() {
    let a = npc(1, 0, 0, 0);
    let map = map_of([a.clone(), npc(2, 10_000_000_000, 0, 0)]);
    assert_eq!(ids(map.query_radius(&a.at, 1_000_000)), [1]);
}

#[test]
fn test_update_position_same_sector() {
    let mut map = map_of([npc(1, 100, 100, 100)]);
    assert!(map.update_position(EntityId(1), WorldPosition::new(200, 200, 200)));
    let found = map.query_sector(&sector(0, 0, 0));
    assert_eq!(found[0].at, WorldPosition::new(200, 200, 200));
    assert_eq!(map.len(), 1);
    map.validate().unwrap();
}

#[test]
fn test_update_position_cross_sector() {
    let mut map = map_of([npc(1, 100, 0, 0)]);
    let to = WorldPosition::new(SECTOR_SIZE_MM + 100, 0, 0);
    assert!(map.update_position(EntityId(1), to));
    assert!(map.query_sector(&sector(0, 0, 0)).is_empty());
    let found = map.query_sector(&sector(1, 0, 0));
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].id, found[0].at), (EntityId(1), to));
    map.validate().unwrap();
}

#[test]
fn test_remove_entity() {
    let mut map = map_of([npc(1, 10, 0, 0), npc(2, 20, 0, 0)]);
    assert!(map.remove(EntityId(1)));
    let found = map.query_sector(&sector(0, 0, 0));
    assert_eq!(found, [npc(2, 20, 0, 0)]);
    assert_eq!(map.len(), 1);
    map.validate().unwrap();
}

#[test]
fn test_remove_nonexistent_returns_false() {
    let mut map = SpatialHashMap::<Npc>::new();
    assert!(!map.remove(EntityId(99)));
}

#[test]
fn test_remove_cleans_up_empty_bucket() {
    let mut map = map_of([npc(1, -1, 0, 0)]);
    assert_eq!(map.sector_count(), 1);
    assert!(map.remove(EntityId(1)));
    assert!(map.query_sector(&sector(-1, 0, 0)).is_empty());
    assert_eq!(map.len(), 0);
    assert_eq!(map.sector_count(), 0);
    assert_eq!(map.sectors().count(), 0);
    map.validate().unwrap();
}

#[test]
fn test_insert_duplicate_replaces() {
    let (a, b) = (npc(42, 0, 0, 0), npc(42, -1, 0, 0));
    let map = map_of([a, b.clone()]);
    assert_eq!(map.len(), 1);
    assert_eq!(map.query_sector(&sector(-1, 0, 0)), [b]);
    assert!(map.query_sector(&sector(0, 0, 0)).is_empty());
    assert_eq!(map.sector_count(), 1);
}

// The contract beyond them.

#[test]
fn insert_returns_the_value_it_replaces_in_both_sectors() {
    let mut map = map_of([npc(1, 0, 0, 0), npc(2, 1, 0, 0), npc(3, 2, 0, 0)]);
    let mut same = npc(1, 5, 0, 0);
    same.name = "renamed";
    assert_eq!(map.insert(same.clone()), Some(npc(1, 0, 0, 0)));
    // A replaced value keeps its place in the slice.
    assert_eq!(map.query_sector(&sector(0, 0, 0))[0], same);
    assert_eq!(map.insert(npc(1, -1, 0, 0)), Some(same));
    assert_eq!(map.len(), 3);
    // The last value fills the gap.
    assert_eq!(
        map.query_sector(&sector(0, 0, 0)),
        [npc(3, 2, 0, 0), npc(2, 1, 0, 0)]
    );
    map.validate().unwrap();
}

#[test]
fn unknown_ids_change_nothing_and_say_so() {
    let mut map = map_of([npc(1, 0, 0, 0)]);
    assert!(!map.update_position(EntityId(2), WorldPosition::MAX));
    assert!(!map.refresh(EntityId(2)));
    assert_eq!(map.update_with(EntityId(2), |_| ()), None);
    assert_eq!(map.take(EntityId(2)), None);
    assert_eq!(map.get(EntityId(2)), None);
    assert_eq!(map.position(EntityId(2)), None);
    assert_eq!(map.sector_of(EntityId(2)), None);
    assert!(!map.contains(EntityId(2)));
    assert_eq!(map.iter().collect::<Vec<_>>(), [&npc(1, 0, 0, 0)]);
}

#[test]
fn update_with_follows_the_value_across_sectors() {
    let mut map = map_of([npc(1, 0, 0, 0), npc(2, 0, 0, 0)]);
    let name = map.update_with(EntityId(1), |npc| {
        npc.at.z = -1;
        npc.name
    });
    assert_eq!(name, Some("npc"));
    assert_eq!(map.sector_of(EntityId(1)), Some(sector(0, 0, -1)));
    assert_eq!(
        map.position(EntityId(1)),
        Some(WorldPosition::new(0, 0, -1))
    );
    map.validate().unwrap();
}

#[test]
fn negative_radius_finds_nothing_and_zero_finds_the_place() {
    let map = map_of([npc(1, 0, 0, 0)]);
    for radius in [-1, -SECTOR_SIZE_MM, i128::MIN] {
        assert!(map.query_radius(&WorldPosition::ORIGIN, radius).is_empty());
    }
    assert_eq!(ids(map.query_radius(&WorldPosition::ORIGIN, 0)), [1]);
    assert_eq!(ids(map.query_at(&WorldPosition::ORIGIN)), [1]);
}

#[test]
fn any_radius_ends_and_is_right_at_the_corners_of_the_universe() {
    let far = 1 << 64; // where wrapping squares say "near"
    let map = map_of([
        Npc {
            at: WorldPosition::MIN,
            ..npc(1, 0, 0, 0)
        },
        Npc {
            at: WorldPosition::MAX,
            ..npc(2, 0, 0, 0)
        },
        npc(3, far, 0, 0),
        npc(4, 0, 0, 0),
    ]);
    let center = WorldPosition::ORIGIN;
    assert_eq!(ids(map.query_radius(&center, 500_000)), [4]);
    assert_eq!(ids(map.query_radius(&center, 1 << 48)), [4]);
    assert_eq!(ids(map.query_radius(&center, far - 1)), [4]);
    assert_eq!(ids(map.query_radius(&center, far)), [3, 4]);
    // The corners are sqrt(3) * 2^127 away, farther than any radius reaches.
    assert_eq!(ids(map.query_radius(&center, i128::MAX)), [3, 4]);
    assert_eq!(ids(map.query_box(&Aabb128::UNIVERSE)), [1, 2, 3, 4]);
}

#[test]
fn boxes_include_their_boundary() {
    let map = map_of([npc(1, -1, 0, 0), npc(2, 1, 0, 0), npc(3, 2, 0, 0)]);
    let aabb = Aabb128::from_corners(WorldPosition::new(-1, 0, 0), WorldPosition::new(1, 0, 0));
    assert_eq!(ids(map.query_box(&aabb)), [1, 2]);
    assert_eq!(map.count(&Region::Box(aabb)), 2);
}

#[test]
fn ties_of_distance_go_to_the_smaller_id_whatever_was_inserted_first() {
    let map = map_of((0..200).rev().map(|id| npc(id << 40, 7, 0, 0)));
    let nearest = map.query_nearest(&WorldPosition::ORIGIN, 3, i128::MAX);
    let found: Vec<_> = nearest.iter().map(|npc| npc.id.0).collect();
    assert_eq!(found, [0, 1 << 40, 2 << 40]);
    let mut out = vec![EntityId(77)];
    map.nearest(&WorldPosition::ORIGIN, 2, 6, &mut out);
    assert_eq!(out, []);
    map.nearest(&WorldPosition::ORIGIN, 2, 7, &mut out);
    assert_eq!(out, [EntityId(0), EntityId(1 << 40)]);
}

#[test]
fn visitors_and_buffers_see_what_the_lists_hold() {
    let map = map_of((0..1_000).map(|id| npc(id, i128::from(id) - 500, 0, 0)));
    let region = Region::ball(WorldPosition::ORIGIN, 300);
    let listed: Vec<_> = map.query(&region).iter().map(|npc| npc.id).collect();
    assert_eq!(listed.len(), 601);
    let mut values = Vec::new();
    map.collect_values(&region, &mut values);
    assert_eq!(values.iter().map(|npc| npc.id).collect::<Vec<_>>(), listed);
    let mut visited = Vec::new();
    let end = map.visit_values(&region, |npc| {
        visited.push(npc.id);
        ControlFlow::Continue(())
    });
    assert!(end.is_continue());
    assert_eq!(visited, listed);
    let mut by_id = vec![EntityId(5)];
    map.collect(&region, &mut by_id);
    assert_eq!(by_id, listed);
}

#[test]
fn a_visitor_that_breaks_is_not_called_again() {
    let map = map_of((0..1_000).map(|id| npc(id, 0, 0, 0)));
    let mut calls = 0;
    let end = map.visit(&Region::ball(WorldPosition::ORIGIN, 0), &mut |_| {
        calls += 1;
        ControlFlow::Break(())
    });
    assert!(end.is_break());
    assert_eq!(calls, 1);
}

#[test]
fn sectors_and_iteration_give_every_value_once() {
    let map = map_of((0..100).map(|id| npc(id, (i128::from(id) % 10 - 5) * SECTOR_SIZE_MM, 0, 0)));
    assert_eq!(map.sector_count(), 10);
    let mut total = 0;
    for (key, values) in map.sectors() {
        assert_eq!(values, map.query_sector(&key));
        assert!(
            values
                .iter()
                .all(|npc| SectorKey::from_world(&npc.at) == key)
        );
        total += values.len();
    }
    assert_eq!(total, 100);
    assert_eq!(ids(map.iter().collect()), (0..100).collect::<Vec<_>>());
}

#[test]
fn clear_and_retain_leave_a_working_map() {
    let mut map = map_of((0..100).map(|id| npc(id, i128::from(id) << 31, 0, 0)));
    map.retain(|npc| npc.id.0 % 3 == 0);
    map.validate().unwrap();
    assert_eq!(map.len(), 34);
    map.clear();
    map.validate().unwrap();
    assert!(map.is_empty());
    assert_eq!(map.query_box(&Aabb128::UNIVERSE), Vec::<&Npc>::new());
    map.reserve(10);
    assert_eq!(map.insert(npc(3, 0, 0, 0)), None);
    map.validate().unwrap();
}

#[test]
fn building_at_once_equals_inserting_one_by_one() {
    let npcs: Vec<_> = (0..500_u64)
        .map(|n| npc(n % 400, i128::from(n) * 977_777_777 - (1 << 38), -1, 0))
        .collect();
    let one_by_one = map_of(npcs.clone());
    let at_once: SpatialHashMap<Npc> = npcs.iter().cloned().collect();
    at_once.validate().unwrap();
    assert!(one_by_one.iter().eq(at_once.iter()));
    let mut extended = SpatialHashMap::<Npc, RandomState>::with_hasher(RandomState::new());
    extended.extend(npcs[..100].iter().cloned());
    extended.extend(npcs[100..].iter().cloned());
    extended.validate().unwrap();
    assert!(one_by_one.iter().eq(extended.iter()));
    let copy = extended.clone();
    assert!(copy.iter().eq(extended.iter()));
    copy.validate().unwrap();
}

#[test]
fn a_batch_moves_the_known_and_counts_the_unknown() {
    let mut map = map_of((0..50).map(|id| npc(id, 0, 0, 0)));
    let to = |n: u64| WorldPosition::new(-i128::from(n) << 31, 0, 0);
    let moves: Vec<_> = (25..75)
        .chain(25..30)
        .map(|n| (EntityId(n), to(n)))
        .collect();
    let report = map.update_batch(&moves);
    assert_eq!((report.moved, report.unknown), (30, 25));
    map.validate().unwrap();
    assert_eq!(map.position(EntityId(49)), Some(to(49)));
    assert_eq!(map.get(EntityId(49)).unwrap().at, to(49));
    assert_eq!(map.position(EntityId(24)), Some(WorldPosition::ORIGIN));
}

#[test]
fn an_entity_that_crosses_to_and_fro_leaves_nothing_behind() {
    let mut map = map_of([npc(1, 0, 0, 0)]);
    for n in 0..1_000 {
        map.update_position(EntityId(1), WorldPosition::new(-(n % 2), 0, 0));
        assert_eq!(map.sector_count(), 1);
    }
    map.validate().unwrap();
    assert_eq!(
        format!("{map:?}"),
        "SpatialHashMap { len: 1, sectors: 1, .. }"
    );
}
