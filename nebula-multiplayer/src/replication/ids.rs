//! `Replicate`: which entities are replicated, and the ids they go by.

use bevy_ecs::change_detection::DetectChangesMut;
use bevy_ecs::component::Component;
use bevy_ecs::entity::Entity;
use bevy_ecs::entity_disabling::Disabled;
use bevy_ecs::lifecycle::{Add, Remove};
use bevy_ecs::observer::{Observer, On};
use bevy_ecs::query::{Allow, With};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::ResMut;
use bevy_ecs::world::World;

use crate::NetworkId;

/// Marks an entity for replication. Without it nothing about an entity leaves the server.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::replication::{NetworkIds, Replicate};
///
/// let mut world = World::new();
/// let tree = world.spawn((WorldPosition::MIN, Replicate)).id();
/// NetworkIds::maintain(&mut world);
/// let ids = world.resource::<NetworkIds>();
/// let id = ids.of(tree).unwrap();
/// assert_eq!(ids.entity(id), Some(tree));
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Replicate;

/// What became of the entities since the last call of [`NetworkIds::maintain`].
#[derive(Clone, Debug, Default)]
pub struct IdChanges {
    /// New members with their ids, sorted by id.
    pub added: Vec<(NetworkId, Entity)>,
    /// Former members, sorted by id.
    pub removed: Vec<Removed>,
}

impl IdChanges {
    fn is_empty(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty()
    }
}

/// An entity that is replicated no more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Removed {
    /// The id it had.
    pub id: NetworkId,
    /// The entity, which may be alive.
    pub entity: Entity,
    /// Whether it is gone for good and not merely hidden by `Disabled`.
    pub gone: bool,
}

/// The ids of all replicated entities. An index freed in one tick is given out again from the next.
///
/// An entity with `Disabled` is no member, so it is hidden from every client; it gets another id when
/// it is enabled again.
#[derive(Resource, Debug, Default)]
pub struct NetworkIds {
    /// By the entity's index.
    of: Vec<Option<(Entity, NetworkId)>>,
    /// By the id's index.
    slots: Vec<IdSlot>,
    /// Indices that may be given out, the lowest last.
    free: Vec<u32>,
    /// Indices freed since the last call, which rest for one.
    resting: Vec<u32>,
    queue: Vec<Entity>,
    changes: IdChanges,
    /// How often there were changes.
    round: u64,
    alive: usize,
    started: bool,
}

#[derive(Clone, Copy, Debug, Default)]
struct IdSlot {
    generation: u32,
    entity: Option<Entity>,
}

impl NetworkIds {
    /// Gives ids to new members and takes them from former ones. A server calls it once a tick; call it
    /// in between to learn the id of an entity at once.
    ///
    /// It costs what changed, but the first call, which looks at every member.
    pub fn maintain(world: &mut World) {
        let mut ids = world.remove_resource::<Self>().unwrap_or_default();
        if !ids.started {
            ids.started = true;
            ids.start(world);
        }
        ids.apply(world);
        ids.mark(world);
        world.insert_resource(ids);
    }

    /// Returns what the last [`maintain`](Self::maintain) found.
    #[must_use]
    pub fn changes(&self) -> &IdChanges {
        &self.changes
    }

    /// Returns whether [`changes`](Self::changes) is all that is new to whoever last saw round `seen`,
    /// and makes that the present round. It is not if somebody else called
    /// [`maintain`](Self::maintain) meanwhile.
    pub(crate) fn is_next(&self, seen: &mut u64) -> bool {
        let before = core::mem::replace(seen, self.round);
        before == self.round || (before + 1 == self.round && !self.changes.is_empty())
    }

    /// Returns every entity that has an id, by the index of the entity.
    pub(crate) fn by_entity(&self) -> &[Option<(Entity, NetworkId)>] {
        &self.of
    }

    /// Returns the id of an entity, `None` if it is not replicated.
    #[must_use]
    pub fn of(&self, entity: Entity) -> Option<NetworkId> {
        let place = usize::try_from(entity.index_u32()).ok()?;
        let (known, id) = (*self.of.get(place)?)?;
        (known == entity).then_some(id)
    }

    /// Returns the entity with an id, `None` if it is no more.
    #[must_use]
    pub fn entity(&self, id: NetworkId) -> Option<Entity> {
        let slot = self.slots.get(usize::try_from(id.index()).ok()?)?;
        (slot.generation == id.generation())
            .then_some(slot.entity)
            .flatten()
    }

    /// Returns how many entities are replicated.
    #[must_use]
    pub fn len(&self) -> usize {
        self.alive
    }

    /// Returns whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.alive == 0
    }

    fn start(&mut self, world: &mut World) {
        let replicate = world.register_component::<Replicate>();
        let disabled = world.register_component::<Disabled>();
        let came = Observer::new(|on: On<Add<()>>, ids: Option<ResMut<Self>>| {
            note(ids, on.entity);
        });
        let left = Observer::new(|on: On<Remove<()>>, ids: Option<ResMut<Self>>| {
            note(ids, on.entity);
        });
        world.spawn(came.with_component(replicate).with_component(disabled));
        world.spawn(left.with_component(replicate).with_component(disabled));
        let mut members = world.query_filtered::<Entity, (With<Replicate>, Allow<Disabled>)>();
        self.queue.extend(members.iter(world));
    }

    fn apply(&mut self, world: &World) {
        self.changes.added.clear();
        self.changes.removed.clear();
        self.free.append(&mut self.resting);
        // Lowest index first, whatever the order in which they were freed.
        self.free.sort_unstable_by(|a, b| b.cmp(a));

        let mut queue = core::mem::take(&mut self.queue);
        // By index, so that ids do not depend on the order of events.
        queue.sort_unstable_by_key(|entity| (entity.index_u32(), *entity));
        queue.dedup();
        // Departures first, so that an entity which reuses an index finds its place free.
        for &entity in &queue {
            let Some(id) = self.of(entity) else { continue };
            let now = world.get_entity(entity).ok();
            if !now.is_some_and(|e| e.contains::<Replicate>() && !e.contains::<Disabled>()) {
                let gone = !now.is_some_and(|e| e.contains::<Replicate>());
                self.release(entity, id);
                self.changes.removed.push(Removed { id, entity, gone });
            }
        }
        for &entity in &queue {
            let member = world
                .get_entity(entity)
                .is_ok_and(|e| e.contains::<Replicate>() && !e.contains::<Disabled>());
            if member && self.of(entity).is_none() {
                let id = self.allocate(entity);
                self.changes.added.push((id, entity));
            }
        }
        queue.clear();
        self.queue = queue;
        self.changes.added.sort_unstable_by_key(|(id, _)| *id);
        self.changes
            .removed
            .sort_unstable_by_key(|removed| removed.id);
        self.round += u64::from(!self.changes.is_empty());
    }

    /// Puts the ids on the entities, for queries.
    fn mark(&self, world: &mut World) {
        for removed in &self.changes.removed {
            if let Ok(mut entity) = world.get_entity_mut(removed.entity) {
                entity.remove::<NetworkId>();
            }
        }
        for &(id, entity) in &self.changes.added {
            if let Ok(mut entity) = world.get_entity_mut(entity) {
                entity.insert(id);
            }
        }
    }

    fn release(&mut self, entity: Entity, id: NetworkId) {
        if let Some(place) = self.of.get_mut(table_index(entity.index_u32())) {
            *place = None;
        }
        let slot = &mut self.slots[table_index(id.index())];
        slot.entity = None;
        slot.generation = slot.generation.wrapping_add(1);
        self.alive -= 1;
        self.resting.push(id.index());
    }

    fn allocate(&mut self, entity: Entity) -> NetworkId {
        let index = self.free.pop().unwrap_or_else(|| {
            self.slots.push(IdSlot::default());
            u32::try_from(self.slots.len() - 1).expect("a world holds fewer than 2^32 entities")
        });
        let slot = &mut self.slots[table_index(index)];
        slot.entity = Some(entity);
        let id = NetworkId::new(index, slot.generation);
        let place = table_index(entity.index_u32());
        if place >= self.of.len() {
            self.of.resize(place + 1, None);
        }
        self.of[place] = Some((entity, id));
        self.alive += 1;
        id
    }
}

/// Returns a table index; a `u32` fits every `usize` that this crate supports.
#[inline]
pub(crate) fn table_index(index: u32) -> usize {
    usize::try_from(index).expect("usize has at least 32 bits")
}

fn note(ids: Option<ResMut<NetworkIds>>, entity: Entity) {
    if let Some(mut ids) = ids {
        ids.bypass_change_detection().queue.push(entity);
    }
}
