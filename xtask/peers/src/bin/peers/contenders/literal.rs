//! The sector hash exactly as the first story of Nebula's design described it: buckets of 2^32 mm, a
//! scan of every bucket in reach, `i128` arithmetic, linear searches on moves and removals.

use std::collections::HashMap;
use std::ops::Range;

use nebula_coords::{EntityId, SectorCoord, SectorIndex, SectorKey};
use nebula_math::WorldPosition;

use super::{Contender, Sink, Work};
use crate::data::Entry;

/// What a bucket holds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Item {
    pub(crate) id: EntityId,
    pub(crate) at: WorldPosition,
}

/// The map of the story.
#[derive(Debug, Default)]
pub(crate) struct SectorMap {
    buckets: HashMap<SectorKey, Vec<Item>>,
    index: HashMap<EntityId, SectorKey>,
    count: usize,
}

impl SectorMap {
    pub(crate) fn insert(&mut self, item: Item) {
        let key = SectorKey::from_world(&item.at);
        if let Some(old) = self.index.remove(&item.id) {
            self.drop_from(old, item.id);
        } else {
            self.count += 1;
        }
        self.buckets.entry(key).or_default().push(item);
        self.index.insert(item.id, key);
    }

    fn drop_from(&mut self, key: SectorKey, id: EntityId) {
        if let Some(bucket) = self.buckets.get_mut(&key) {
            bucket.retain(|item| item.id != id);
            if bucket.is_empty() {
                self.buckets.remove(&key);
            }
        }
    }

    fn remove(&mut self, id: EntityId) -> bool {
        let Some(key) = self.index.remove(&id) else {
            return false;
        };
        self.drop_from(key, id);
        self.count -= 1;
        true
    }

    fn update_position(&mut self, id: EntityId, to: WorldPosition) {
        let new = SectorKey::from_world(&to);
        let Some(old) = self.index.get(&id).copied() else {
            return;
        };
        let Some(bucket) = self.buckets.get_mut(&old) else {
            return;
        };
        let Some(slot) = bucket.iter().position(|item| item.id == id) else {
            return;
        };
        if old == new {
            bucket[slot].at = to;
            return;
        }
        let mut item = bucket.swap_remove(slot);
        item.at = to;
        if bucket.is_empty() {
            self.buckets.remove(&old);
        }
        self.buckets.entry(new).or_default().push(item);
        self.index.insert(id, new);
    }

    pub(crate) fn query_radius(&self, center: &WorldPosition, radius: i128) -> Vec<&Item> {
        let sector = SectorCoord::from_world(center).sector;
        let reach = (radius / (1_i128 << 32)) + 1;
        let limit = radius.checked_mul(radius).unwrap_or(i128::MAX);
        let mut found = Vec::new();
        for dx in -reach..=reach {
            for dy in -reach..=reach {
                for dz in -reach..=reach {
                    let key = SectorKey(SectorIndex {
                        x: sector.x + dx,
                        y: sector.y + dy,
                        z: sector.z + dz,
                    });
                    let Some(bucket) = self.buckets.get(&key) else {
                        continue;
                    };
                    found.extend(bucket.iter().filter(|i| apart(center, &i.at) <= limit));
                }
            }
        }
        found
    }
}

/// The story's `distance_squared_128`; it wraps from 2^63.5 mm on.
fn apart(a: &WorldPosition, b: &WorldPosition) -> i128 {
    let (x, y, z) = (a.x - b.x, a.y - b.y, a.z - b.z);
    let square = |v: i128| v.wrapping_mul(v);
    square(x).wrapping_add(square(y)).wrapping_add(square(z))
}

#[derive(Debug, Default)]
pub(crate) struct Literal {
    map: SectorMap,
    loaded: Vec<Item>,
    centers: Vec<WorldPosition>,
}

impl Contender for Literal {
    fn name(&self) -> &'static str {
        "literal sector hash"
    }

    fn refuses(&self, work: Work) -> Option<&'static str> {
        match work {
            Work::Nearest(_) => Some("it has no order by distance"),
            Work::Ball(radius) if radius >= 1 << 40 => Some("its loop over sectors would not end"),
            _ => None,
        }
    }

    fn is_exact(&self, reach_mm: i128, _radius_mm: i128) -> bool {
        reach_mm < 1 << 61
    }

    fn load(&mut self, entries: &[Entry]) {
        let item = |(id, at): &Entry| Item {
            id: EntityId::from(*id),
            at: *at,
        };
        self.loaded = entries.iter().map(item).collect();
    }

    fn bulk(&mut self) {
        self.map = SectorMap::default();
        self.insert();
    }

    fn insert(&mut self) {
        for item in &self.loaded {
            self.map.insert(*item);
        }
    }

    fn shift(&mut self) {
        for item in &self.loaded {
            self.map.update_position(item.id, item.at);
        }
    }

    /// A move searches a bucket of some 18,000 entities.
    fn most_moves(&self) -> usize {
        2_000
    }

    fn remove(&mut self) {
        for item in &self.loaded {
            self.map.remove(item.id);
        }
    }

    fn aim(&mut self, centers: &[WorldPosition]) {
        self.centers = centers.to_vec();
    }

    fn balls(&self, queries: Range<usize>, radius_mm: i128, sink: &mut Sink) {
        for center in &self.centers[queries] {
            let found = self.map.query_radius(center, radius_mm);
            let id = |item: &&Item| u32::try_from(item.id.as_u64()).expect("a small id");
            sink.out.extend(found.iter().map(id));
            sink.done();
        }
    }
}
