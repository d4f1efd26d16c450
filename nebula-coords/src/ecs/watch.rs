//! What positions alone do not tell: who lost one, and who gained or lost a marker.
//!
//! Observers queue the entity and nothing else. The maintenance asks the world what became of it, so
//! the order of events within a tick does not matter, nor how often one entity appears.

use core::marker::PhantomData;

use bevy_ecs::change_detection::{CheckChangeTicks, Ref, Tick};
use bevy_ecs::component::{Component, ComponentId};
use bevy_ecs::entity::Entity;
use bevy_ecs::lifecycle::{Add, Remove};
use bevy_ecs::observer::{Observer, On};
use bevy_ecs::query::{ArchetypeFilter, QueryState, With};
use bevy_ecs::resource::Resource;
use bevy_ecs::system::{Query, ResMut};
use bevy_ecs::world::{FromWorld, World};
use nebula_math::WorldPosition;

use crate::SpatialSpace;

/// Entries in the queue before the maintenance compares the whole world instead: 8 MiB, reached
/// only when it does not run for long.
const QUEUE_CAP: usize = 1 << 20;

/// Entities that something happened to since the maintenance last ran.
#[derive(Resource)]
pub(super) struct Pending<F: ArchetypeFilter + 'static> {
    pub(super) queue: Vec<Entity>,
    /// Something was missed, or may have been: compare the whole world.
    pub(super) resync: bool,
    /// When the maintenance last ran.
    pub(super) synced: Tick,
    filter: PhantomData<fn() -> F>,
}

impl<F: ArchetypeFilter + 'static> Default for Pending<F> {
    fn default() -> Self {
        Self {
            queue: Vec::new(),
            resync: true,
            synced: Tick::default(),
            filter: PhantomData,
        }
    }
}

/// Marks the observers of a space, and names the components they watch.
#[derive(Component)]
pub(super) struct Watcher<F: ArchetypeFilter + 'static> {
    components: Vec<ComponentId>,
    /// How many observers the space has.
    of: usize,
    filter: PhantomData<fn() -> F>,
}

/// The observers of a space, as far as they are still there.
pub(super) type Watchers<'w, 's, F> = Query<'w, 's, &'static Watcher<F>, With<Observer>>;

/// Returns whether all observers of the space are alive.
pub(super) fn all_alive<F: ArchetypeFilter + 'static>(watchers: &Watchers<F>) -> bool {
    let first = watchers.iter().next();
    first.is_some_and(|watcher| watchers.iter().len() == watcher.of)
}

/// Runs [`install`] at the moment a system is initialised; the system's own query is made at the same
/// moment, so both agree on what disables an entity.
pub(super) struct Install<F>(PhantomData<fn() -> F>);

impl<F: ArchetypeFilter + 'static> FromWorld for Install<F> {
    fn from_world(world: &mut World) -> Self {
        install::<F>(world);
        Self(PhantomData)
    }
}

/// Adds resources and observers where they are missing or watch other components than they should.
pub(super) fn install<F: ArchetypeFilter + 'static>(world: &mut World) {
    world.init_resource::<SpatialSpace<F>>();
    world.init_resource::<Pending<F>>();
    let components = watched::<F>(world);
    let mut found = world.query_filtered::<(Entity, &Watcher<F>), With<Observer>>();
    let old: Vec<Entity> = found.iter(world).map(|(entity, _)| entity).collect();
    let right = |w: &Watcher<F>| w.components == components && w.of == old.len();
    if !old.is_empty() && found.iter(world).all(|(_, w)| right(w)) {
        return;
    }
    for entity in old {
        world.despawn(entity);
    }
    spawn_watchers::<F>(world, &components);
    world.resource_mut::<Pending<F>>().resync = true;
}

/// Returns the components that decide who is in the space: the position, those the filter names, and
/// those that disable entities (`Disabled`, and any that the world registered).
fn watched<F: ArchetypeFilter + 'static>(world: &mut World) -> Vec<ComponentId> {
    let members = QueryState::<(Entity, Ref<WorldPosition>), F>::new(world);
    let access = members.component_access();
    let mut ids: Vec<_> = access
        .with_filters()
        .chain(access.without_filters())
        .collect();
    ids.sort_unstable();
    ids.dedup();
    ids
}

fn spawn_watchers<F: ArchetypeFilter + 'static>(world: &mut World, components: &[ComponentId]) {
    let left = Observer::new(|on: On<Remove<()>>, pending: Option<ResMut<Pending<F>>>| {
        push(pending, on.entity);
    });
    let came = Observer::new(|on: On<Add<()>>, pending: Option<ResMut<Pending<F>>>| {
        push(pending, on.entity);
    });
    // Change ticks older than about 3 billion ticks are lost; whoever slept so long must look at
    // everything.
    let aged = Observer::new(
        |check: On<CheckChangeTicks>, pending: Option<ResMut<Pending<F>>>| {
            if let Some(mut pending) = pending
                && pending.synced.check_tick(*check)
            {
                pending.resync = true;
            }
        },
    );
    let mut observers = vec![left.with_components(components.iter().copied()), aged];

    // A new position has a new change tick, which the maintenance sees anyway: spawning entities
    // that carry nothing but a position costs no observer.
    let position = world.register_component::<WorldPosition>();
    let mut markers = components.iter().copied().filter(|id| *id != position);
    // An observer without components would watch them all.
    if let Some(first) = markers.next() {
        observers.push(came.with_component(first).with_components(markers));
    }

    let of = observers.len();
    for observer in observers {
        world.spawn((
            observer,
            Watcher::<F> {
                components: components.to_vec(),
                of,
                filter: PhantomData,
            },
        ));
    }
}

fn push<F: ArchetypeFilter + 'static>(pending: Option<ResMut<Pending<F>>>, entity: Entity) {
    let Some(mut pending) = pending else { return };
    if pending.queue.len() < QUEUE_CAP {
        pending.queue.push(entity);
    } else {
        pending.resync = true;
    }
}
