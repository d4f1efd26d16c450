//! What `SpatialHashMap` does when values, hashers, callers or inputs misbehave, and what threads
//! may do with it.

use std::hash::{BuildHasher, BuildHasherDefault, Hasher, RandomState};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::RwLock;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use nebula_coords::{
    EntityId, Region, SectorKey, SpatialEntity, SpatialEntityMut, SpatialHashMap, SpatialQuery,
};
use nebula_math::{Aabb128, WorldPosition};

/// A value that can change its id and position without the map.
#[derive(Debug)]
struct Slippery {
    id: AtomicU64,
    places: [WorldPosition; 2],
    now: AtomicUsize,
}

impl Slippery {
    fn new(id: u64) -> Self {
        Self {
            id: AtomicU64::new(id),
            places: [WorldPosition::ORIGIN, WorldPosition::new(-1, 0, 0)],
            now: AtomicUsize::new(0),
        }
    }

    fn slip(&self) {
        self.now.fetch_xor(1, Ordering::Relaxed);
    }
}

impl SpatialEntity for Slippery {
    fn entity_id(&self) -> EntityId {
        EntityId(self.id.load(Ordering::Relaxed))
    }

    fn world_position(&self) -> &WorldPosition {
        &self.places[self.now.load(Ordering::Relaxed)]
    }
}

fn slippery_map() -> SpatialHashMap<Slippery> {
    let map: SpatialHashMap<_> = (1..=5).map(Slippery::new).collect();
    map.validate().unwrap();
    map
}

#[test]
fn a_position_changed_behind_the_maps_back_is_found_and_mended() {
    let mut map = slippery_map();
    map.get(EntityId(3)).unwrap().slip();
    let error = map.validate().unwrap_err();
    assert!(error.contains("entity 3 is tracked at"), "{error}");
    // Answers stay those of the tracked position.
    assert_eq!(map.position(EntityId(3)), Some(WorldPosition::ORIGIN));
    assert_eq!(map.query_at(&WorldPosition::ORIGIN).len(), 5);

    assert!(map.refresh(EntityId(3)));
    map.validate().unwrap();
    assert_eq!(map.query_at(&WorldPosition::ORIGIN).len(), 4);
    assert_eq!(map.sector_count(), 2);
}

#[test]
fn a_value_that_slipped_can_still_be_moved_replaced_and_removed() {
    let mut map = slippery_map();
    for id in 1..=3 {
        map.get(EntityId(id)).unwrap().slip();
    }
    assert!(map.remove(EntityId(1)));
    assert!(map.insert(Slippery::new(2)).is_some());
    assert!(map.update_with(EntityId(3), Slippery::slip2).is_some());
    map.validate().unwrap();
    assert_eq!(map.len(), 4);
}

impl Slippery {
    fn slip2(&mut self) {
        self.slip();
        self.slip();
        self.now = AtomicUsize::new(0);
    }
}

#[test]
fn an_id_changed_behind_the_maps_back_is_found() {
    let mut map = slippery_map();
    let value = map.get(EntityId(2)).unwrap();
    value.id.store(5, Ordering::Relaxed); // now two values say 5
    let error = map.validate().unwrap_err();
    assert!(error.contains("entity 2 now says that it is 5"), "{error}");
    // The map still calls it 2.
    assert_eq!(map.get(EntityId(2)).unwrap().entity_id(), EntityId(5));
    assert!(map.remove(EntityId(2)));
    map.validate().unwrap();
    assert!(map.contains(EntityId(5)));
}

/// A value whose setter rounds down to even places, and panics at 13.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Even(EntityId, WorldPosition);

impl SpatialEntity for Even {
    fn entity_id(&self) -> EntityId {
        self.0
    }

    fn world_position(&self) -> &WorldPosition {
        &self.1
    }
}

impl SpatialEntityMut for Even {
    fn set_world_position(&mut self, new_pos: WorldPosition) {
        self.1 = WorldPosition {
            x: new_pos.x & !1,
            ..new_pos
        };
        assert_ne!(new_pos.x, 13, "thirteen");
    }
}

#[test]
fn the_map_tracks_what_the_setter_made_of_a_position() {
    let mut map: SpatialHashMap<_> = [Even(EntityId(1), WorldPosition::ORIGIN)]
        .into_iter()
        .collect();
    assert!(map.update_position(EntityId(1), WorldPosition::new(-1, 0, 0)));
    assert_eq!(
        map.position(EntityId(1)),
        Some(WorldPosition::new(-2, 0, 0))
    );
    map.update_batch(&[(EntityId(1), WorldPosition::new(7, 0, 0))]);
    assert_eq!(map.position(EntityId(1)), Some(WorldPosition::new(6, 0, 0)));
    map.validate().unwrap();
}

#[test]
fn a_setter_that_panics_leaves_a_map_that_refresh_mends() {
    let mut map: SpatialHashMap<_> = (0..4)
        .map(|n| Even(EntityId(n), WorldPosition::ORIGIN))
        .collect();
    let thirteen = WorldPosition::new(13, 0, 0);
    let west = WorldPosition::new(-2, 0, 0);
    let moves = [(EntityId(0), west), (EntityId(1), thirteen)];
    catch_unwind(AssertUnwindSafe(|| map.update_batch(&moves))).unwrap_err();
    catch_unwind(AssertUnwindSafe(|| {
        map.update_position(EntityId(2), thirteen);
    }))
    .unwrap_err();
    assert!(map.validate().is_err());
    for n in 0..3 {
        map.refresh(EntityId(n));
    }
    map.validate().unwrap();
    assert_eq!(
        map.sector_of(EntityId(0)),
        Some(SectorKey::from_world(&west))
    );
}

#[test]
fn an_iterator_that_panics_leaves_a_valid_map() {
    let mut map = SpatialHashMap::<(EntityId, WorldPosition)>::new();
    let values = (0..10).map(|n| {
        assert_ne!(n, 7, "seven");
        (EntityId(n), WorldPosition::MIN)
    });
    catch_unwind(AssertUnwindSafe(|| map.extend(values))).unwrap_err();
    map.validate().unwrap();
    assert_eq!(map.len(), 7);
    assert_eq!(map.query_at(&WorldPosition::MIN).len(), 7);
}

/// Hashes everything to the same value: the worst a stranger could do to an unkeyed hasher.
#[derive(Default)]
struct Same;

impl Hasher for Same {
    fn finish(&self) -> u64 {
        0
    }

    fn write(&mut self, _: &[u8]) {}
}

fn crowd() -> impl Iterator<Item = (EntityId, WorldPosition)> {
    (0..300_u64).map(|n| {
        let x = (i128::from(n) - 150) << 31;
        (
            EntityId(n.wrapping_mul(0x9E37_79B9_7F4A_7C15)),
            WorldPosition::new(x, 0, -1),
        )
    })
}

#[test]
fn the_default_hasher_is_keyed_anew_for_every_map() {
    let (a, b) = (
        SpatialHashMap::<(EntityId, WorldPosition)>::new(),
        SpatialHashMap::<(EntityId, WorldPosition)>::new(),
    );
    let hasher: &RandomState = a.hasher();
    let key = SectorKey::from_world(&WorldPosition::MAX);
    assert_ne!(hasher.hash_one(key), b.hasher().hash_one(key));
    assert_ne!(
        hasher.hash_one(EntityId(1)),
        b.hasher().hash_one(EntityId(1))
    );
}

#[test]
fn the_hasher_never_reaches_a_result() {
    let keyed: SpatialHashMap<_> = crowd().collect();
    let again: SpatialHashMap<_> = crowd().collect();
    let same: SpatialHashMap<_, BuildHasherDefault<Same>> = crowd().collect();
    same.validate().unwrap();
    let region = Region::Box(Aabb128::UNIVERSE);
    assert_eq!(keyed.query(&region), again.query(&region));
    assert_eq!(keyed.query(&region), same.query(&region));
    assert!(keyed.sectors().eq(again.sectors()));
    assert!(keyed.sectors().eq(same.sectors()));
    assert!(keyed.iter().eq(same.iter()));
}

/// Gives a different hash each time: not a hasher at all.
#[derive(Clone, Default)]
struct Liar(std::rc::Rc<std::cell::Cell<u64>>);

impl BuildHasher for Liar {
    type Hasher = std::hash::DefaultHasher;

    fn build_hasher(&self) -> Self::Hasher {
        let mut hasher = std::hash::DefaultHasher::new();
        self.0.set(self.0.get() + 1);
        hasher.write_u64(self.0.get());
        hasher
    }
}

#[test]
fn a_hasher_that_lies_gives_wrong_answers_and_nothing_worse() {
    let mut map = SpatialHashMap::with_hasher(Liar::default());
    for round in 0..20 {
        for (id, at) in crowd() {
            map.insert((id, at));
            map.update_position(id, WorldPosition::new(round << 32, at.y, at.z));
            map.remove(EntityId(id.0 ^ 1));
            let _ = map.query_sector(&SectorKey::from_world(&at));
        }
        let _ = map.query(&Region::Box(Aabb128::UNIVERSE));
        let _ = map.validate();
    }
    map.retain(|_| false);
    map.clear();
    assert!(map.is_empty());
}

#[test]
fn the_map_is_send_and_sync_when_its_values_are() {
    fn check<M: Send + Sync>() {}
    check::<SpatialHashMap<(EntityId, WorldPosition)>>();
    check::<SpatialHashMap<Slippery>>();
}

#[test]
fn readers_share_the_map_while_writers_wait() {
    let map = RwLock::new(crowd().collect::<SpatialHashMap<_>>());
    let everywhere = Region::Box(Aabb128::UNIVERSE);
    std::thread::scope(|threads| {
        for _ in 0..4 {
            threads.spawn(|| {
                for _ in 0..50 {
                    let map = map.read().unwrap();
                    // The writer moves everybody at once, so a reader sees one plane or the other.
                    let z = map.iter().next().unwrap().1.z;
                    assert!(map.query(&everywhere).iter().all(|(_, at)| at.z == z));
                    assert_eq!(map.count(&everywhere), 300);
                }
            });
        }
        threads.spawn(|| {
            for n in 0..20 {
                let moves: Vec<_> = crowd()
                    .map(|(id, at)| (id, WorldPosition { z: n, ..at }))
                    .collect();
                map.write().unwrap().update_batch(&moves);
            }
        });
    });
    map.into_inner().unwrap().validate().unwrap();
}

#[test]
fn two_readers_hold_the_map_at_the_same_time() {
    let map = RwLock::new(crowd().collect::<SpatialHashMap<_>>());
    let both = std::sync::Barrier::new(2);
    std::thread::scope(|threads| {
        for _ in 0..2 {
            threads.spawn(|| {
                let map = map.read().unwrap();
                both.wait(); // passes only when the other holds its read lock too
                let found = map
                    .query_radius(&WorldPosition::new(0, 0, -1), 1 << 32)
                    .len();
                both.wait();
                assert_eq!(found, 5);
            });
        }
    });
}

#[cfg(feature = "serde")]
mod snapshots {
    use super::*;

    type Map = SpatialHashMap<(EntityId, WorldPosition)>;

    #[test]
    fn a_snapshot_is_the_list_of_values_and_keeps_their_order() {
        let mut map: Map = crowd().collect();
        for n in 0..100_u64 {
            map.remove(EntityId(n.wrapping_mul(0x9E37_79B9_7F4A_7C15)));
        }
        let text = serde_json::to_string(&map).unwrap();
        let values: Vec<(EntityId, WorldPosition)> = serde_json::from_str(&text).unwrap();
        assert!(values.iter().eq(map.iter()));
        let back: Map = serde_json::from_str(&text).unwrap();
        back.validate().unwrap();
        assert!(back.sectors().eq(map.sectors()));
        assert_eq!(serde_json::to_string(&back).unwrap(), text);
    }

    #[test]
    fn the_last_of_two_equal_ids_wins_and_bad_text_is_an_error() {
        let twice = [
            (EntityId(1), WorldPosition::MIN),
            (EntityId(1), WorldPosition::MAX),
        ];
        let text = serde_json::to_string(&twice).unwrap();
        let map: Map = serde_json::from_str(&text).unwrap();
        map.validate().unwrap();
        assert_eq!(map.position(EntityId(1)), Some(WorldPosition::MAX));
        for bad in ["{}", "[1]", "[[1,null]]", &text[..text.len() - 1]] {
            assert!(serde_json::from_str::<Map>(bad).is_err(), "{bad}");
        }
        let error = serde_json::from_str::<Map>("7").unwrap_err().to_string();
        assert!(error.contains("a list of entities"), "{error}");
    }
}
