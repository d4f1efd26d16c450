//! `EntityId`, `SpatialEntity`, `SpatialEntityMut`: what a value must tell to be found in space.

use core::fmt;

use nebula_math::WorldPosition;

/// The name of an entity: any 64 bits, chosen by the caller.
///
/// Ids order as numbers. Equal ids mean the same entity: inserting a second value with an id
/// replaces the first.
///
/// ```
/// use nebula_coords::EntityId;
///
/// let id = EntityId::from(42_u64);
/// assert_eq!(id, EntityId(42));
/// assert_eq!(u64::from(id), 42);
/// assert_eq!(id.to_string(), "42");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(transparent))]
pub struct EntityId(pub u64);

impl EntityId {
    /// Returns the id as a number.
    #[must_use]
    #[inline]
    pub const fn as_u64(self) -> u64 {
        self.0
    }
}

impl From<u64> for EntityId {
    #[inline]
    fn from(id: u64) -> Self {
        Self(id)
    }
}

impl From<u32> for EntityId {
    #[inline]
    fn from(id: u32) -> Self {
        Self(u64::from(id))
    }
}

impl From<EntityId> for u64 {
    #[inline]
    fn from(id: EntityId) -> Self {
        id.0
    }
}

impl fmt::Display for EntityId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A value that knows who and where it is.
///
/// Both answers must stay the same while the value lies in a
/// [`SpatialHashMap`](crate::SpatialHashMap), except for changes made through the map. A value that
/// changes them behind its back (an atomic, a `Cell`) is found by
/// [`validate`](crate::SpatialHashMap::validate); until then the map answers by what it last read,
/// and nothing worse happens.
///
/// ```
/// use nebula_coords::{EntityId, SpatialEntity};
/// use nebula_math::WorldPosition;
///
/// struct Npc { id: EntityId, at: WorldPosition, name: String }
///
/// impl SpatialEntity for Npc {
///     fn entity_id(&self) -> EntityId {
///         self.id
///     }
///     fn world_position(&self) -> &WorldPosition {
///         &self.at
///     }
/// }
/// let guard = Npc { id: EntityId(7), at: WorldPosition::new(-1, 0, 0), name: "Ada".into() };
/// assert_eq!(guard.world_position().x, -1);
/// # let _ = guard.name;
/// ```
pub trait SpatialEntity {
    /// Returns the unique id of this entity.
    fn entity_id(&self) -> EntityId;

    /// Returns where the entity is.
    fn world_position(&self) -> &WorldPosition;
}

/// A value that can be told where it is now.
///
/// ```
/// use nebula_coords::{EntityId, SpatialEntity, SpatialEntityMut};
/// use nebula_math::WorldPosition;
///
/// // A bare id with a position is enough where nothing else is known.
/// let mut probe = (EntityId(1), WorldPosition::ORIGIN);
/// probe.set_world_position(WorldPosition::new(0, -5, 0));
/// assert_eq!(probe.world_position().y, -5);
/// ```
pub trait SpatialEntityMut: SpatialEntity {
    /// Changes what [`world_position`](SpatialEntity::world_position) returns.
    fn set_world_position(&mut self, new_pos: WorldPosition);
}

impl SpatialEntity for (EntityId, WorldPosition) {
    #[inline]
    fn entity_id(&self) -> EntityId {
        self.0
    }

    #[inline]
    fn world_position(&self) -> &WorldPosition {
        &self.1
    }
}

impl SpatialEntityMut for (EntityId, WorldPosition) {
    #[inline]
    fn set_world_position(&mut self, new_pos: WorldPosition) {
        self.1 = new_pos;
    }
}

impl<T: SpatialEntity + ?Sized> SpatialEntity for Box<T> {
    #[inline]
    fn entity_id(&self) -> EntityId {
        (**self).entity_id()
    }

    #[inline]
    fn world_position(&self) -> &WorldPosition {
        (**self).world_position()
    }
}

impl<T: SpatialEntityMut + ?Sized> SpatialEntityMut for Box<T> {
    #[inline]
    fn set_world_position(&mut self, new_pos: WorldPosition) {
        (**self).set_world_position(new_pos);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_convert_and_order_as_numbers() {
        assert_eq!(EntityId::from(7_u32), EntityId(7));
        assert_eq!(EntityId::from(u64::MAX).as_u64(), u64::MAX);
        assert_eq!(u64::from(EntityId(9)), 9);
        assert!(EntityId(u64::MAX) > EntityId(1 << 32));
        assert_eq!(EntityId(5).to_string(), "5");
    }

    #[test]
    fn a_boxed_trait_object_is_an_entity() {
        let mut boxed: Box<dyn SpatialEntityMut> = Box::new((EntityId(3), WorldPosition::MIN));
        boxed.set_world_position(WorldPosition::MAX);
        assert_eq!(boxed.entity_id(), EntityId(3));
        assert_eq!(boxed.world_position(), &WorldPosition::MAX);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn an_id_is_written_as_its_number() {
        assert_eq!(serde_json::to_string(&EntityId(42)).unwrap(), "42");
        assert_eq!(
            serde_json::from_str::<EntityId>("42").unwrap(),
            EntityId(42)
        );
    }
}
