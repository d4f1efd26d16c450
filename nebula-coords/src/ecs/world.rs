//! `SpatialWorld`: the same questions for code that holds the whole world.

use bevy_ecs::entity::Entity;
use bevy_ecs::query::{ArchetypeFilter, With};
use bevy_ecs::world::{EntityRef, World};
use nebula_math::WorldPosition;

use super::maintain::maintain;
use super::watch;
use crate::SpatialSpace;

/// What a `World` can do with its spaces, for set-up code, tools and tests.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_coords::SpatialWorld;
/// use nebula_math::WorldPosition;
///
/// let mut world = World::new();
/// let shrine = world.spawn(WorldPosition::new(-5, 0, 0)).id();
/// world.sync_space::<()>();
/// let near = world.entities_near::<()>(&WorldPosition::ORIGIN, 5);
/// assert_eq!(near[0].id(), shrine);
///
/// assert_eq!(world.despawn_space::<()>(), 1);
/// assert!(world.entities_near::<()>(&WorldPosition::ORIGIN, i128::MAX).is_empty());
/// ```
pub trait SpatialWorld {
    /// Adds [`SpatialSpace<F>`] and its observers, unless they are there already. It stays empty until
    /// [`spatial_systems`](crate::spatial_systems) or [`sync_space`](Self::sync_space) run.
    fn install_space<F: ArchetypeFilter + 'static>(&mut self);

    /// Brings [`SpatialSpace<F>`] up to date now, outside of any schedule; installs it first if
    /// needed.
    fn sync_space<F: ArchetypeFilter + 'static>(&mut self);

    /// Returns every living entity that [`SpatialSpace<F>`] has at most `radius_mm` from `center`, in
    /// the index's order; nothing if there is no such space.
    fn entities_near<F: ArchetypeFilter + 'static>(
        &self,
        center: &WorldPosition,
        radius_mm: i128,
    ) -> Vec<EntityRef<'_>>;

    /// Despawns every entity of the space, empties its index at once, and returns how many there
    /// were.
    ///
    /// Use this to clear a level. `World::clear_entities` of bevy_ecs 0.20 is no substitute: it
    /// also drops every resource and observer, ours and everyone else's.
    fn despawn_space<F: ArchetypeFilter + 'static>(&mut self) -> usize;
}

impl SpatialWorld for World {
    fn install_space<F: ArchetypeFilter + 'static>(&mut self) {
        watch::install::<F>(self);
    }

    fn sync_space<F: ArchetypeFilter + 'static>(&mut self) {
        self.install_space::<F>();
        self.run_system_cached(maintain::<F>)
            .expect("every parameter of the maintenance is optional or always there");
    }

    fn entities_near<F: ArchetypeFilter + 'static>(
        &self,
        center: &WorldPosition,
        radius_mm: i128,
    ) -> Vec<EntityRef<'_>> {
        let Some(space) = self.get_resource::<SpatialSpace<F>>() else {
            return Vec::new();
        };
        let ids = space.index().query_radius(center, radius_mm);
        ids.into_iter()
            .filter_map(|id| self.get_entity(id).ok())
            .collect()
    }

    fn despawn_space<F: ArchetypeFilter + 'static>(&mut self) -> usize {
        self.install_space::<F>();
        let mut members = self.query_filtered::<Entity, (With<WorldPosition>, F)>();
        let all: Vec<_> = members.iter(self).collect();
        for entity in &all {
            self.despawn(*entity);
        }
        self.resource_mut::<SpatialSpace<F>>().clear();
        all.len()
    }
}
