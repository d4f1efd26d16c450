//! The shared store: what is known of each entity that somebody sees, encoded once for all.

use std::collections::{BTreeMap, BTreeSet};

use bevy_ecs::entity::Entity;
use bevy_ecs::world::{EntityRef, World};
use nebula_math::WorldPosition;

use super::history::History;
use super::ids::{IdChanges, table_index};
use super::position;
use super::registry::Kinds;
use super::subscribers::{Subscriber, Subscribers};
use crate::interest::OwnedBy;
use crate::stats::bump;
use crate::{ClientId, NetworkId, Tick};

/// A step longer than this in one tick (67 km) starts a new history: sixteen shorter ones stay within
/// the 32 bits that a history keeps of a position.
const JUMP_MM: u128 = 1 << 26;

/// The most that a reference takes on the wire.
const SLOT_BYTES: usize = 3;

/// No store.
const NONE: u32 = u32::MAX;

/// The id of a store that is free. The generation after the last one ever: no id that is alive.
const NOBODY: NetworkId = NetworkId::new(u32::MAX, u32::MAX);

/// Stores whose memory is kept for whoever comes next.
const KEPT_STORES: usize = 16;

/// Where an entity is and was. What follows from the position is worked out when it is written: reading
/// a line of memory less takes less than that. All but the entries of the history is one line.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Moving {
    pub(crate) at: WorldPosition,
    pub(crate) tick: Tick,
    /// Since when it has a position.
    since: Tick,
    /// Since when it is in its cell.
    pub(crate) cell_tick: Tick,
    pub(crate) history: History,
}

impl Moving {
    fn new(at: WorldPosition, tick: Tick) -> Self {
        Self {
            at,
            tick,
            since: tick,
            cell_tick: tick,
            history: History::new(tick, position::low_bits(&at)),
        }
    }

    #[inline]
    fn move_to(&mut self, to: WorldPosition, tick: Tick) {
        let low = position::low_bits(&to);
        let crosses = !position::share_cell(&self.at, &to);
        if crosses {
            self.cell_tick = tick;
        }
        if crosses && self.at.chebyshev_distance(&to) > JUMP_MM {
            self.history = History::new(tick, low);
        } else {
            self.history.push(tick, low);
        }
        self.at = to;
        self.tick = tick;
    }
}

/// An encoded component.
#[derive(Debug, Default)]
pub(crate) struct Encoded {
    pub(crate) bytes: Vec<u8>,
    pub(crate) references: Vec<Option<Entity>>,
    /// When it last changed.
    pub(crate) tick: Tick,
    /// When it came.
    since: Tick,
}

/// What is known of one entity. Of one that moves, a tick reads a line of `Moving`, one of its history,
/// and the one from `id` on.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Store {
    pub(crate) position: Option<Moving>,
    pub(crate) id: NetworkId,
    /// Bits of the kinds it has; bit 0 is the position.
    pub(crate) has: u64,
    pub(crate) subscribers: Subscribers,
    /// By number of the kind, from 1.
    encoded: Box<[Encoded]>,
    pub(crate) entity: Entity,
    pub(crate) owner: Option<ClientId>,
    /// When a kind last came or went.
    pub(crate) has_tick: Tick,
}

impl Store {
    /// Returns the encoded component of a kind; it means something only while `has` says so.
    pub(crate) fn encoded(&self, kind: usize) -> &Encoded {
        &self.encoded[kind - 1]
    }

    /// Returns since when it has a kind.
    pub(crate) fn since(&self, kind: usize) -> Tick {
        match (&self.position, kind) {
            (Some(position), 0) => position.since,
            (None, 0) => self.has_tick,
            _ => self.encoded[kind - 1].since,
        }
    }

    /// Returns when a kind last changed, its removal included.
    pub(crate) fn tick_of(&self, kind: usize) -> Tick {
        match (&self.position, kind) {
            (Some(position), 0) => position.tick,
            (None, 0) => self.has_tick,
            _ => self.encoded[kind - 1].tick,
        }
    }
}

const _: () = assert!(size_of::<Store>() == 7 * 64, "lines are not shared");

/// Where the store of an entity is. The generation stands here too, so that a store that nobody needs
/// is not read to find that out.
#[derive(Clone, Copy, Debug)]
struct Place {
    store: u32,
    generation: u32,
}

/// Every store, and what leads to them.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    pub(crate) kinds: Kinds,
    pub(crate) tick: Tick,
    pub(crate) stores: Vec<Store>,
    /// By the index of the `NetworkId`: whose store is where.
    places: Vec<Place>,
    free: Vec<u32>,
    /// By the index of the entity.
    ids: Vec<Option<(Entity, NetworkId)>>,
    /// Who refers to an entity, with which kind. Thousands may refer to one: each comes and goes alone.
    holders: BTreeMap<Entity, BTreeSet<(NetworkId, usize)>>,
    scratch: Vec<u8>,
    references: Vec<Option<Entity>>,
    /// Changes that could not be sent.
    pub(crate) unsendable: u64,
    /// The first of them since that was last asked.
    pub(crate) complaint: Option<String>,
}

impl Shared {
    pub(crate) fn new(kinds: Kinds) -> Self {
        Self {
            kinds,
            ..Self::default()
        }
    }

    /// Learns which entities have which ids.
    pub(crate) fn note_ids(&mut self, changes: &IdChanges) {
        for removed in &changes.removed {
            if let Some(place) = self.ids.get_mut(table_index(removed.entity.index_u32())) {
                *place = None;
            }
        }
        for &(id, entity) in &changes.added {
            let place = table_index(entity.index_u32());
            if place >= self.ids.len() {
                self.ids.resize(place + 1, None);
            }
            self.ids[place] = Some((entity, id));
        }
    }

    /// Learns all ids anew.
    pub(crate) fn set_ids(&mut self, by_entity: &[Option<(Entity, NetworkId)>]) {
        self.ids.clear();
        self.ids.extend_from_slice(by_entity);
    }

    /// Returns the id of an entity.
    pub(crate) fn id_of(&self, entity: Entity) -> Option<NetworkId> {
        let (known, id) = (*self.ids.get(table_index(entity.index_u32()))?)?;
        (known == entity).then_some(id)
    }

    /// Returns the entity with an id, as long as somebody sees it.
    pub(crate) fn find(&self, id: NetworkId) -> Option<u32> {
        let found = self.places.get(table_index(id.index()))?;
        (found.store != NONE && found.generation == id.generation()).then_some(found.store)
    }

    pub(crate) fn find_entity(&self, entity: Entity) -> Option<u32> {
        self.find(self.id_of(entity)?)
    }

    pub(crate) fn store(&self, place: u32) -> &Store {
        &self.stores[table_index(place)]
    }

    pub(crate) fn holders(&self, entity: Entity) -> Option<&BTreeSet<(NetworkId, usize)>> {
        self.holders.get(&entity)
    }

    /// Returns how many entities are noted as referred to.
    #[cfg(test)]
    pub(crate) fn referred(&self) -> usize {
        self.holders.len()
    }

    /// Returns how many entities are stored.
    #[cfg(test)]
    pub(crate) fn stored(&self) -> usize {
        self.stores.len() - self.free.len()
    }

    /// Adds a subscriber; the first one has the entity encoded.
    pub(crate) fn subscribe(
        &mut self,
        world: &World,
        id: NetworkId,
        entity: Entity,
        subscriber: Subscriber,
    ) -> u32 {
        let place = self
            .find(id)
            .unwrap_or_else(|| self.encode_all(world, id, entity));
        self.stores[table_index(place)].subscribers.push(subscriber);
        place
    }

    /// Takes a subscriber away; with the last one goes the encoded state.
    pub(crate) fn unsubscribe(&mut self, place: u32, subscriber: Subscriber) {
        let store = &mut self.stores[table_index(place)];
        store.subscribers.remove(subscriber);
        if store.subscribers.is_empty() {
            self.release(place);
        }
    }

    fn release(&mut self, place: u32) {
        let store = &mut self.stores[table_index(place)];
        let id = store.id;
        let encoded = (1..).zip(&store.encoded);
        let referred: Vec<(Entity, usize)> = encoded
            .flat_map(|(kind, encoded)| {
                let references = encoded.references.iter().flatten();
                references.map(move |entity| (*entity, kind))
            })
            .collect();
        // A younger entity may have taken the index already.
        let leads_here = &mut self.places[table_index(id.index())];
        if leads_here.store == place {
            leads_here.store = NONE;
        }
        store.id = NOBODY;
        store.position = None;
        store.encoded = Box::default();
        store.subscribers = Subscribers::default();
        self.free.push(place);
        for (entity, kind) in referred {
            self.forget_holder(entity, (id, kind));
        }
    }

    /// Gives memory back once three quarters of the stores are nobody's: those at the end.
    ///
    /// Every entity that is seen has a store of some 500 bytes, so a server that was full would keep
    /// tens of megabytes for nobody.
    pub(crate) fn shrink(&mut self) {
        if self.stores.capacity() < KEPT_STORES || self.free.len() / 3 < self.stores.len() / 4 {
            return;
        }
        let is_free = |store: &Store| store.id == NOBODY;
        let used = self.stores.iter().rposition(|store| !is_free(store));
        self.stores.truncate(used.map_or(0, |last| last + 1));
        self.stores.shrink_to(KEPT_STORES);
        let len = self.stores.len();
        if len == 0 {
            self.places = Vec::new();
        }
        self.free.retain(|place| table_index(*place) < len);
        self.free.shrink_to(KEPT_STORES);
    }

    fn forget_holder(&mut self, entity: Entity, holder: (NetworkId, usize)) {
        if let Some(holders) = self.holders.get_mut(&entity) {
            holders.remove(&holder);
            if holders.is_empty() {
                self.holders.remove(&entity);
            }
        }
    }

    fn encode_all(&mut self, world: &World, id: NetworkId, entity: Entity) -> u32 {
        let kinds = 1..self.kinds.len();
        let store = Store {
            id,
            entity,
            owner: None,
            has: 0,
            has_tick: self.tick,
            position: None,
            encoded: kinds.map(|_| Encoded::default()).collect(),
            subscribers: Subscribers::default(),
        };
        let place = if let Some(place) = self.free.pop() {
            self.stores[table_index(place)] = store;
            place
        } else {
            self.stores.push(store);
            u32::try_from(self.stores.len() - 1).expect("fewer than 2^32 entities are seen")
        };
        let index = table_index(id.index());
        if index >= self.places.len() {
            let nowhere = Place {
                store: NONE,
                generation: 0,
            };
            self.places.resize(index + 1, nowhere);
        }
        self.places[index] = Place {
            store: place,
            generation: id.generation(),
        };
        if let Ok(entity) = world.get_entity(entity) {
            self.refresh(place, entity, u64::MAX);
        }
        place
    }

    /// Encodes the kinds of `mask` anew and returns the bits of those that differ from before.
    pub(crate) fn refresh(&mut self, place: u32, entity: EntityRef<'_>, mask: u64) -> u64 {
        let mut changed = 0;
        let had = self.store(place).has;
        if mask & 1 != 0 {
            let at = entity.get::<WorldPosition>().copied();
            changed |= self.set_position(place, at);
        }
        let kinds = self.kinds.clone();
        for (number, kind) in kinds.iter() {
            if mask & 1 << number != 0 {
                changed |= self.refresh_kind(place, entity, number, kind);
            }
        }
        let tick = self.tick;
        let store = &mut self.stores[table_index(place)];
        store.owner = entity.get::<OwnedBy>().map(|owner| owner.0);
        if store.has != had {
            store.has_tick = tick;
        }
        changed
    }

    /// Notes where an entity is; returns bit 0 if that is new.
    pub(crate) fn set_position(&mut self, place: u32, at: Option<WorldPosition>) -> u64 {
        let tick = self.tick;
        let store = &mut self.stores[table_index(place)];
        match (&mut store.position, at) {
            (Some(position), Some(at)) if position.at == at => 0,
            (Some(position), Some(at)) => {
                position.move_to(at, tick);
                1
            }
            (None, None) => 0,
            (_, at) => {
                store.has = store.has & !1 | u64::from(at.is_some());
                store.has_tick = tick;
                store.position = at.map(|at| Moving::new(at, tick));
                1
            }
        }
    }

    /// Counts a component that cannot be sent. The server says so, as often as its log may.
    fn complain(&mut self, kind: &str, why: &dyn core::fmt::Display) {
        bump(&mut self.unsendable);
        self.complaint
            .get_or_insert_with(|| format!("{kind}: {why}"));
    }

    fn refresh_kind(
        &mut self,
        place: u32,
        entity: EntityRef<'_>,
        number: usize,
        kind: &super::Kind,
    ) -> u64 {
        let bit = 1_u64 << number;
        self.scratch.clear();
        self.references.clear();
        let written = kind
            .erased
            .encode(entity, &mut self.scratch, &mut self.references);
        let present = match written {
            Ok(present) => present,
            Err(error) => {
                self.complain(kind.name(), &error);
                return 0;
            }
        };
        // Each reference travels beside the component as a slot.
        let bytes = self.scratch.len() + self.references.len() * SLOT_BYTES;
        if bytes > kind.max_bytes() {
            let max = kind.max_bytes();
            let why = format!("{bytes} bytes, at most {max}: declare it `stream` or split it");
            self.complain(kind.name(), &why);
            return 0;
        }
        let tick = self.tick;
        let store = &mut self.stores[table_index(place)];
        let id = store.id;
        let encoded = &mut store.encoded[number - 1];
        let had = store.has & bit != 0;
        if had == present && encoded.bytes == self.scratch && encoded.references == self.references
        {
            return 0;
        }
        if had != present {
            encoded.since = tick;
            store.has ^= bit;
            store.has_tick = tick;
        }
        encoded.bytes.clear();
        encoded.bytes.extend_from_slice(&self.scratch);
        encoded.tick = tick;
        if encoded.references != self.references {
            let before = core::mem::replace(&mut encoded.references, self.references.clone());
            let now = core::mem::take(&mut self.references);
            for entity in before.into_iter().flatten() {
                self.forget_holder(entity, (id, number));
            }
            for entity in now.iter().flatten() {
                let holders = self.holders.entry(*entity).or_default();
                holders.insert((id, number));
            }
            self.references = now;
        }
        bit
    }
}
