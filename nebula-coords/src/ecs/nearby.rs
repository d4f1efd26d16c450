//! `Nearby`: the system parameter that asks who is near.

use core::fmt;
use core::ops::{ControlFlow, Deref};

use bevy_ecs::entity::Entity;
use bevy_ecs::query::{ArchetypeFilter, QueryData, QueryFilter, ROQueryItem};
use bevy_ecs::system::{Query, Res, SystemParam};
use nebula_math::WorldPosition;

use crate::{Region, SpatialIndex, SpatialQuery, SpatialSpace};

/// A system parameter that answers who is near, from [`SpatialSpace<F>`].
///
/// It reads and never writes, so any number of systems that use it run at the same time. It
/// dereferences to the [`SpatialIndex`], whose queries give ids; [`positions`](Self::positions) adds
/// where they are, and [`entities`](Self::entities) the components of a query. Systems that must also
/// work without the index take `Option<Nearby>`.
///
/// Answers show the world as of phase [`NebulaSystems::Index`](crate::NebulaSystems::Index): run
/// `after` it. An id may belong to an entity that was despawned since; `entities` leaves those out.
///
/// # Examples
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_coords::{NebulaSystems, Nearby, spatial_systems};
/// use nebula_math::WorldPosition;
///
/// #[derive(Component)]
/// struct Health(u32);
/// #[derive(Component)]
/// struct Wolf;
/// #[derive(Resource, Default)]
/// struct Prey(u32);
///
/// fn hunt(wolves: Query<&WorldPosition, With<Wolf>>, animals: Query<&Health, Without<Wolf>>, nearby: Nearby, mut prey: ResMut<Prey>) {
///     for at in &wolves {
///         prey.0 += nearby.entities(&animals, at, 2_000).map(|health| health.0).sum::<u32>();
///     }
/// }
///
/// let mut world = World::new();
/// world.init_resource::<Prey>();
/// world.spawn((WorldPosition::new(-2_000, 0, 0), Health(3)));
/// world.spawn((WorldPosition::new(-2_001, 0, 0), Health(4))); // one millimetre too far
/// world.spawn((WorldPosition::ORIGIN, Wolf));
///
/// let mut schedule = Schedule::default();
/// schedule.add_systems((spatial_systems::<()>(), hunt.after(NebulaSystems::Index)));
/// schedule.run(&mut world);
/// assert_eq!(world.resource::<Prey>().0, 3);
/// ```
#[derive(SystemParam)]
pub struct Nearby<'w, F: ArchetypeFilter + 'static = ()> {
    space: Res<'w, SpatialSpace<F>>,
}

impl<F: ArchetypeFilter + 'static> Nearby<'_, F> {
    /// Returns every entity at most `radius_mm` from `center` with its position, in the index's order.
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_ecs::system::RunSystemOnce;
    /// use nebula_coords::{Nearby, SpatialWorld};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut world = World::new();
    /// let at = WorldPosition::new(-3, 4, 0);
    /// let bird = world.spawn(at).id();
    /// world.sync_space::<()>();
    /// let found = world
    ///     .run_system_once(|nearby: Nearby| -> Vec<_> {
    ///         nearby.positions(&WorldPosition::ORIGIN, 5).collect()
    ///     })
    ///     .unwrap();
    /// assert_eq!(found, [(bird, at)]);
    /// ```
    pub fn positions(
        &self,
        center: &WorldPosition,
        radius_mm: i128,
    ) -> impl Iterator<Item = (Entity, WorldPosition)> + '_ {
        let index = self.space.index();
        let ids = index.query_radius(center, radius_mm).into_iter();
        ids.filter_map(|id| Some((id, index.get(id)?)))
    }

    /// Returns what `query` says of every entity at most `radius_mm` from `center`; entities that
    /// do not match the query are left out.
    ///
    /// It allocates a list of ids; [`for_each`](Self::for_each) does not.
    pub fn entities<'q, D: QueryData, Q: QueryFilter>(
        &self,
        query: &'q Query<'_, '_, D, Q>,
        center: &WorldPosition,
        radius_mm: i128,
    ) -> impl Iterator<Item = ROQueryItem<'q, 'q, D>> {
        let ids = self.space.index().query_radius(center, radius_mm);
        ids.into_iter().filter_map(|id| query.get(id).ok())
    }

    /// Calls `f` with what `query` says of every entity in the region, without allocating.
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_ecs::system::RunSystemOnce;
    /// use nebula_coords::{Nearby, Region, SpatialWorld};
    /// use nebula_math::WorldPosition;
    ///
    /// #[derive(Component)]
    /// struct Mass(u64);
    ///
    /// let mut world = World::new();
    /// world.spawn((WorldPosition::new(-10, 0, 0), Mass(7)));
    /// world.spawn(WorldPosition::new(-10, 0, 0)); // near, but no mass
    /// world.sync_space::<()>();
    /// let weigh = |nearby: Nearby, masses: Query<&Mass>| {
    ///     let mut sum = 0;
    ///     nearby.for_each(&masses, &Region::ball(WorldPosition::ORIGIN, 10), |mass| sum += mass.0);
    ///     sum
    /// };
    /// assert_eq!(world.run_system_once(weigh).unwrap(), 7);
    /// ```
    pub fn for_each<'q, D: QueryData, Q: QueryFilter>(
        &self,
        query: &'q Query<'_, '_, D, Q>,
        region: &Region,
        mut f: impl FnMut(ROQueryItem<'q, 'q, D>),
    ) {
        let _ = self.space.index().visit(region, &mut |ids| {
            ids.iter()
                .filter_map(|id| query.get(*id).ok())
                .for_each(&mut f);
            ControlFlow::Continue(())
        });
    }

    /// Calls `f` with what `query` lends, for writing, of every entity in the region, without allocating.
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use bevy_ecs::system::RunSystemOnce;
    /// use nebula_coords::{Nearby, Region, SpatialWorld};
    /// use nebula_math::WorldPosition;
    ///
    /// #[derive(Component)]
    /// struct Health(u32);
    ///
    /// let mut world = World::new();
    /// let hit = world.spawn((WorldPosition::new(0, -500, 0), Health(10))).id();
    /// world.sync_space::<()>();
    /// let blast = Region::ball(WorldPosition::ORIGIN, 500);
    /// world
    ///     .run_system_once(move |nearby: Nearby, mut all: Query<&mut Health>| {
    ///         nearby.for_each_mut(&mut all, &blast, |mut health| health.0 -= 4);
    ///     })
    ///     .unwrap();
    /// assert_eq!(world.get::<Health>(hit).unwrap().0, 6);
    /// ```
    pub fn for_each_mut<D: QueryData, Q: QueryFilter>(
        &self,
        query: &mut Query<'_, '_, D, Q>,
        region: &Region,
        mut f: impl FnMut(D::Item<'_, '_>),
    ) {
        let _ = self.space.index().visit(region, &mut |ids| {
            for id in ids {
                if let Ok(item) = query.get_mut(*id) {
                    f(item);
                }
            }
            ControlFlow::Continue(())
        });
    }
}

impl<F: ArchetypeFilter + 'static> Deref for Nearby<'_, F> {
    type Target = SpatialIndex<Entity>;

    fn deref(&self) -> &Self::Target {
        self.space.index()
    }
}

impl<F: ArchetypeFilter + 'static> fmt::Debug for Nearby<'_, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Nearby").field(&*self.space).finish()
    }
}
