//! Checks of the whole map.

use core::hash::BuildHasher;

use super::{Handle, SpatialHashMap};
use crate::{SectorKey, SpatialEntity, SpatialQuery};

impl<T: SpatialEntity, S: BuildHasher> SpatialHashMap<T, S> {
    /// Checks every invariant of the map, and that no value changed its id or position behind the
    /// map's back.
    ///
    /// Looks at every value; meant for tests and for finding a bug.
    ///
    /// # Errors
    /// A sentence that names the first value or table that is wrong.
    ///
    /// # Examples
    /// ```
    /// use nebula_coords::{EntityId, SpatialHashMap};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut map = SpatialHashMap::new();
    /// map.insert((EntityId(1), WorldPosition::new(-1, 0, 0)));
    /// assert_eq!(map.validate(), Ok(()));
    ///
    /// map.update_with(EntityId(1), |(id, _)| *id = EntityId(2)); // a mistake
    /// assert!(map.validate().unwrap_err().contains("entity 1 now says that it is 2"));
    /// ```
    pub fn validate(&self) -> Result<(), String> {
        self.tree.validate()?;
        self.buckets.validate()?;
        self.check_totals()?;
        for bucket in self.buckets.iter() {
            for (value, handle) in bucket.values().iter().zip(bucket.handles()) {
                self.check_tables(*handle, bucket.key())?;
                self.check_value(value, *handle)?;
            }
        }
        Ok(())
    }

    fn check_totals(&self) -> Result<(), String> {
        let values: usize = self.buckets.iter().map(|b| b.values().len()).sum();
        let totals = [values, self.tree.len(), self.rows.len()];
        if totals != [values; 3] {
            return Err(format!(
                "buckets, tree and id table hold {totals:?} entries instead of the same number"
            ));
        }
        if values + self.free_rows.len() != self.places.len() {
            return Err(format!(
                "{} rows are neither used nor free",
                self.places.len().abs_diff(values + self.free_rows.len())
            ));
        }
        Ok(())
    }

    /// Checks that every table leads to the value and says the same of it.
    fn check_tables(&self, handle: Handle, key: SectorKey) -> Result<(), String> {
        let id = handle.id();
        if self.rows.get(&id) != Some(&handle.row()) {
            return Err(format!("the id table does not lead to entity {id}"));
        }
        let place = self.places.get(handle.row() as usize);
        if place.and_then(|place| self.buckets.handle(*place)) != Some(handle) {
            return Err(format!("the place of entity {id} holds another value"));
        }
        match self.tree.get(handle) {
            None => Err(format!("the tree does not know entity {id}")),
            Some(at) if SectorKey::from_world(&at) != key => Err(format!(
                "entity {id} is tracked at {at:?} but lies in the bucket of sector {key}"
            )),
            Some(_) => Ok(()),
        }
    }

    /// Checks that the value still says what it said when the map last asked.
    fn check_value(&self, value: &T, handle: Handle) -> Result<(), String> {
        let id = handle.id();
        let says = value.entity_id();
        if says != id {
            return Err(format!(
                "entity {id} now says that it is {says}; remove a value before you change its id"
            ));
        }
        let now = value.world_position();
        match self.tree.get(handle) {
            Some(at) if at != *now => Err(format!(
                "entity {id} is tracked at {at:?} but now says {now:?}; move it by \
                 update_position or update_with, or call refresh"
            )),
            _ => Ok(()),
        }
    }
}
