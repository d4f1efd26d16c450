//! The walkers in an app with bevy_replicon, and a visibility filter that names each client's group.

use bevy::app::Plugins;
use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy_replicon::prelude::*;
use serde::{Deserialize, Serialize};

use super::{Motion, SEEN, home, stride};

/// Where an entity is.
#[derive(Component, Serialize, Deserialize, Clone, Copy)]
pub struct Position {
    x: i64,
    y: i64,
    z: i64,
}

/// Whose group an entity or client belongs to.
#[derive(Component, Clone, Copy, PartialEq)]
#[component(immutable)]
pub struct Group(pub usize);

impl VisibilityFilter for Group {
    type ClientComponent = Self;
    type Scope = Entity;

    fn is_visible(&self, _: Entity, component: Option<&Self>) -> bool {
        component == Some(self)
    }
}

/// Returns an app with bevy_replicon and `more` plugins, as server or client.
pub fn app<M>(more: impl Plugins<M>) -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        StatesPlugin,
        RepliconPlugins.set(ServerPlugin::new(PostUpdate)),
    ))
    .add_plugins(more)
    .replicate::<Position>()
    .add_visibility_filter::<Group>()
    .finish();
    app
}

/// Puts the client that has just come, the one without a group, into this one; returns whether
/// there was one.
pub fn group_newcomer(server: &mut App, group: usize) -> bool {
    let world = server.world_mut();
    let mut fresh = world.query_filtered::<Entity, (With<ConnectedClient>, Without<Group>)>();
    let newcomer = fresh.iter(world).next();
    newcomer
        .map(|id| world.entity_mut(id).insert(Group(group)).id())
        .is_some()
}

/// Spawns so many replicated entities at their homes.
pub fn spawn(app: &mut App, entities: usize) -> Vec<Entity> {
    (0..entities)
        .map(|n| {
            let [x, y, z] = home(n);
            let at = Position { x, y, z };
            let group = Group(n / SEEN);
            app.world_mut().spawn((Replicated, at, group)).id()
        })
        .collect()
}

/// Moves them all once.
pub fn walk(app: &mut App, entities: &[Entity], motion: Motion, tick: u64) {
    for (n, entity) in entities.iter().enumerate() {
        let (x, z) = stride(motion, n, tick);
        if let Some(mut at) = app.world_mut().get_mut::<Position>(*entity) {
            at.x += x;
            at.z += z;
        }
    }
}

/// Returns all positions of an app's world, sorted.
pub fn seen(app: &mut App) -> Vec<[i64; 3]> {
    let world = app.world_mut();
    let mut rows = world.query::<&Position>();
    let mut seen: Vec<[i64; 3]> = rows.iter(world).map(|at| [at.x, at.y, at.z]).collect();
    seen.sort_unstable();
    seen
}
