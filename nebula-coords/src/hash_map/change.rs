//! Insert, remove and move.

use core::hash::BuildHasher;
use core::mem;

use nebula_math::WorldPosition;

use super::buckets::small;
use super::{Entry, Handle, SpatialHashMap};
use crate::{EntityId, SectorKey, SpatialEntity, SpatialEntityMut};

impl<T: SpatialEntity, S: BuildHasher> SpatialHashMap<T, S> {
    /// Stores a value, and returns the one with the same id that it replaces.
    ///
    /// Id and position are read once, now.
    ///
    /// # Panics
    /// When the map already holds 2^32 - 1 values.
    ///
    /// # Examples
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let (west, east) = (WorldPosition::new(-1, 0, 0), WorldPosition::new(0, 0, 0));
    /// let mut map = SpatialHashMap::new();
    /// assert_eq!(map.insert((EntityId(42), west)), None);
    /// assert_eq!(map.insert((EntityId(42), east)), Some((EntityId(42), west)));
    /// assert_eq!(map.len(), 1);
    /// ```
    pub fn insert(&mut self, entity: T) -> Option<T> {
        let id = entity.entity_id();
        let at = *entity.world_position();
        let (handle, old) = self.store(id, &at, entity);
        self.tree.insert(handle, at);
        old
    }

    /// Changes the value with this id through a closure, and returns the closure's answer; `None`
    /// when the id is unknown.
    ///
    /// The position is read again afterwards, so the closure may move the value. It must not change
    /// the id: the map goes on calling the value by its old one, and
    /// [`validate`](Self::validate) reports it. Should the closure panic after moving the value,
    /// call [`refresh`](Self::refresh).
    ///
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::ORIGIN));
    /// map.update_with(EntityId(1), |(_, at)| at.x -= 1);
    /// assert_eq!(map.query_at(&WorldPosition::new(-1, 0, 0)).len(), 1);
    /// assert_eq!(map.update_with(EntityId(2), |_| "not called"), None);
    /// ```
    pub fn update_with<R>(&mut self, id: EntityId, f: impl FnOnce(&mut T) -> R) -> Option<R> {
        let handle = self.handle(id)?;
        let place = self.place(handle.row());
        let answer = f(self.buckets.get_mut(place));
        self.settle(handle);
        Some(answer)
    }

    /// Moves the value with this id, and returns whether the id was known.
    ///
    /// A move inside a sector leaves every value in its place. A move to another sector appends the
    /// value there, and the last value of the old sector takes its place. The map then tracks the
    /// position that the value reports, should its setter have chosen another.
    ///
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::ORIGIN));
    /// assert!(map.update_position(EntityId(1), WorldPosition::new(-1, 0, 0)));
    /// assert!(!map.update_position(EntityId(2), WorldPosition::ORIGIN));
    /// ```
    pub fn update_position(&mut self, id: EntityId, new_pos: WorldPosition) -> bool
    where
        T: SpatialEntityMut,
    {
        self.update_with(id, |value| value.set_world_position(new_pos))
            .is_some()
    }

    /// Reads the position of the value with this id again, and returns whether the id was known.
    ///
    /// Mends the map after a value was moved behind its back.
    pub fn refresh(&mut self, id: EntityId) -> bool {
        match self.handle(id) {
            Some(handle) => {
                self.settle(handle);
                true
            }
            None => false,
        }
    }

    /// Removes the values for which `keep` says no, sector by sector.
    ///
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::new(-1, 0, 0)));
    /// map.insert((EntityId(2), WorldPosition::new(0, 0, 0)));
    /// map.retain(|(_, at)| at.x < 0);
    /// assert_eq!(map.len(), 1);
    /// ```
    pub fn retain(&mut self, mut keep: impl FnMut(&T) -> bool) {
        let mut gone = Vec::new();
        for bucket in self.buckets.iter() {
            let pairs = bucket.values().iter().zip(bucket.handles());
            gone.extend(
                pairs
                    .filter(|(value, _)| !keep(value))
                    .map(|(_, handle)| handle.id()),
            );
        }
        for id in gone {
            self.take(id);
        }
    }

    /// Brings tree and buckets in line with the position that a value reports.
    fn settle(&mut self, handle: Handle) {
        let at = *self.value(handle).world_position();
        self.relocate(handle, SectorKey::from_world(&at));
        self.tree.update(handle, at);
    }
}

impl<T, S: BuildHasher> SpatialHashMap<T, S> {
    /// Removes the value with this id, and returns whether there was one.
    ///
    /// The last value of its sector takes its place; a sector without values is forgotten.
    ///
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::new(-1, 0, 0)));
    /// assert!(map.remove(EntityId(1)));
    /// assert!(!map.remove(EntityId(1)));
    /// ```
    pub fn remove(&mut self, id: EntityId) -> bool {
        self.take(id).is_some()
    }

    /// Removes the value with this id and hands it over.
    ///
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::MIN));
    /// assert_eq!(map.take(EntityId(1)), Some((EntityId(1), WorldPosition::MIN)));
    /// assert_eq!(map.take(EntityId(1)), None);
    /// ```
    pub fn take(&mut self, id: EntityId) -> Option<T> {
        let row = self.rows.remove(&id)?;
        self.tree.remove(Handle::new(id, row));
        self.free_rows.push(row);
        Some(self.detach(row))
    }

    /// Stores a value everywhere but in the tree.
    pub(super) fn store(
        &mut self,
        id: EntityId,
        at: &WorldPosition,
        value: T,
    ) -> (Handle, Option<T>) {
        let key = SectorKey::from_world(at);
        let vacant = match self.rows.entry(id) {
            Entry::Occupied(known) => {
                let handle = Handle::new(id, *known.get());
                return (handle, Some(self.replace(handle, key, value)));
            }
            Entry::Vacant(vacant) => vacant,
        };
        let fresh = small(self.places.len());
        let row = self.free_rows.pop().unwrap_or(fresh);
        let handle = Handle::new(id, row);
        let place = self.buckets.push(key, handle, value);
        match self.places.get_mut(row as usize) {
            Some(stale) => *stale = place,
            None => self.places.push(place),
        }
        vacant.insert(row);
        (handle, None)
    }

    /// Puts a value in the place of a stored one: the same place if the sector is the same.
    fn replace(&mut self, handle: Handle, key: SectorKey, value: T) -> T {
        let place = self.place(handle.row());
        if self.buckets.key(place) == key {
            return mem::replace(self.buckets.get_mut(place), value);
        }
        let old = self.detach(handle.row());
        self.places[handle.row() as usize] = self.buckets.push(key, handle, value);
        old
    }

    /// Carries a value over to the bucket of its sector, unless it lies there already.
    pub(super) fn relocate(&mut self, handle: Handle, key: SectorKey) {
        if self.buckets.key(self.place(handle.row())) != key {
            let value = self.detach(handle.row());
            self.places[handle.row() as usize] = self.buckets.push(key, handle, value);
        }
    }

    /// Takes a value out of its bucket; its row's place is stale from then on.
    fn detach(&mut self, row: u32) -> T {
        let place = self.place(row);
        let (value, moved) = self.buckets.take(place);
        if let Some(moved) = moved {
            self.places[moved.row() as usize] = place;
        }
        value
    }
}
