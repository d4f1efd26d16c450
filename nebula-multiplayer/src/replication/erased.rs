//! A component type behind a trait object: scan, encode, insert, remove.

use core::any::TypeId;
use core::marker::PhantomData;

use bevy_ecs::component::{Component, ComponentId};
use bevy_ecs::entity::Entity;
use bevy_ecs::world::{EntityRef, EntityWorldMut, World};
use nebula_math::WorldPosition;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::reference::{MAX_REFERENCES, NetRef, References};
use super::scan::{Scan, Scanner};
use crate::wire::{self, Codec, DecodeError, EncodeError};

/// A decoded component that waits to be inserted.
pub(crate) trait Staged: Send + Sync {
    /// Returns how many references it holds.
    fn references(&mut self) -> usize;

    /// Inserts it, with references in the order they were written.
    fn insert(self: Box<Self>, entity: &mut EntityWorldMut<'_>, references: &[Option<Entity>]);
}

/// What the crate does with a component type it knows by number only.
pub(crate) trait Erased: Send + Sync {
    fn type_id(&self) -> TypeId;
    fn type_name(&self) -> &'static str;
    fn is_position(&self) -> bool;
    fn has_summary_tick(&self) -> bool;
    fn has_references(&self) -> bool;
    fn register(&self, world: &mut World) -> ComponentId;
    fn scanner(&self, world: &mut World) -> Box<dyn Scan>;

    /// Appends the component, and the entities it refers to; `Ok(false)` if the entity has none.
    fn encode(
        &self,
        entity: EntityRef<'_>,
        out: &mut Vec<u8>,
        references: &mut Vec<Option<Entity>>,
    ) -> Result<bool, EncodeError>;

    fn decode(&self, bytes: &[u8]) -> Result<Box<dyn Staged>, DecodeError>;
    fn remove(&self, entity: &mut EntityWorldMut<'_>);
}

/// A component without references.
pub(crate) struct Plain<C> {
    codec: Codec<C>,
}

impl<C> Plain<C> {
    pub(crate) fn new(codec: Codec<C>) -> Self {
        Self { codec }
    }
}

impl<C: Component> Erased for Plain<C> {
    fn type_id(&self) -> TypeId {
        TypeId::of::<C>()
    }

    fn type_name(&self) -> &'static str {
        core::any::type_name::<C>()
    }

    fn is_position(&self) -> bool {
        TypeId::of::<C>() == TypeId::of::<WorldPosition>()
    }

    fn has_summary_tick(&self) -> bool {
        C::HAS_SUMMARY_TICK
    }

    fn has_references(&self) -> bool {
        false
    }

    fn register(&self, world: &mut World) -> ComponentId {
        world.register_component::<C>()
    }

    fn scanner(&self, world: &mut World) -> Box<dyn Scan> {
        Box::new(Scanner::<C>::new(world))
    }

    fn encode(
        &self,
        entity: EntityRef<'_>,
        out: &mut Vec<u8>,
        _: &mut Vec<Option<Entity>>,
    ) -> Result<bool, EncodeError> {
        let Some(value) = entity.get::<C>() else {
            return Ok(false);
        };
        self.codec.encode(value, out)?;
        Ok(true)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Box<dyn Staged>, DecodeError> {
        Ok(Box::new(Value(self.codec.decode(bytes)?)))
    }

    fn remove(&self, entity: &mut EntityWorldMut<'_>) {
        entity.remove::<C>();
    }
}

/// A value without references.
struct Value<C>(C);

impl<C: Component> Staged for Value<C> {
    fn references(&mut self) -> usize {
        0
    }

    fn insert(self: Box<Self>, entity: &mut EntityWorldMut<'_>, _: &[Option<Entity>]) {
        entity.insert(self.0);
    }
}

/// A component with references.
pub(crate) struct Referring<C>(PhantomData<fn() -> C>);

impl<C> Referring<C> {
    pub(crate) fn new() -> Self {
        Self(PhantomData)
    }
}

impl<C> Erased for Referring<C>
where
    C: Component + References + Clone + Serialize + DeserializeOwned,
{
    fn type_id(&self) -> TypeId {
        TypeId::of::<C>()
    }

    fn type_name(&self) -> &'static str {
        core::any::type_name::<C>()
    }

    fn is_position(&self) -> bool {
        false
    }

    fn has_summary_tick(&self) -> bool {
        C::HAS_SUMMARY_TICK
    }

    fn has_references(&self) -> bool {
        true
    }

    fn register(&self, world: &mut World) -> ComponentId {
        world.register_component::<C>()
    }

    fn scanner(&self, world: &mut World) -> Box<dyn Scan> {
        Box::new(Scanner::<C>::new(world))
    }

    fn encode(
        &self,
        entity: EntityRef<'_>,
        out: &mut Vec<u8>,
        references: &mut Vec<Option<Entity>>,
    ) -> Result<bool, EncodeError> {
        let Some(value) = entity.get::<C>() else {
            return Ok(false);
        };
        let mut value = value.clone();
        let before = references.len();
        value.each_reference(&mut |reference: &mut NetRef| references.push(reference.0));
        let held = references.len() - before;
        if held > MAX_REFERENCES {
            return Err(EncodeError::TooLong {
                what: "a list of references",
                len: held as u64,
                max: MAX_REFERENCES as u64,
            });
        }
        wire::encode(&value, out)?;
        Ok(true)
    }

    fn decode(&self, bytes: &[u8]) -> Result<Box<dyn Staged>, DecodeError> {
        let value: C = wire::decode(bytes)?;
        Ok(Box::new(Pointing(value)))
    }

    fn remove(&self, entity: &mut EntityWorldMut<'_>) {
        entity.remove::<C>();
    }
}

/// A value with references, which are filled in last.
struct Pointing<C>(C);

impl<C: Component + References> Staged for Pointing<C> {
    fn references(&mut self) -> usize {
        let mut count = 0;
        self.0.each_reference(&mut |_| count += 1);
        count
    }

    fn insert(self: Box<Self>, entity: &mut EntityWorldMut<'_>, references: &[Option<Entity>]) {
        let mut value = self.0;
        let mut given = references.iter();
        value.each_reference(&mut |reference| {
            *reference = NetRef(given.next().copied().flatten());
        });
        entity.insert(value);
    }
}
