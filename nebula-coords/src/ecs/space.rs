//! `SpatialSpace`: the index of one space, as a resource.

use core::fmt;
use core::marker::PhantomData;

use bevy_ecs::entity::Entity;
use bevy_ecs::query::ArchetypeFilter;
use bevy_ecs::resource::Resource;

use crate::{Mark, SpatialIndex, SpatialQuery};

/// Where the entities of a world are: a [`SpatialIndex`] of every entity that has a
/// [`WorldPosition`](nebula_math::WorldPosition) and passes the filter `F`.
///
/// `F` is any filter made of `With`, `Without`, `Or` and tuples: `SpatialSpace` holds every entity,
/// `SpatialSpace<With<Player>>` the players only. Spaces with different filters are independent, so a
/// world can hold one per map or layer: give each map a marker component.
///
/// [`spatial_systems`](crate::spatial_systems) keeps it up to date in phase
/// [`NebulaSystems::Index`](crate::NebulaSystems::Index); readers use [`Nearby`](crate::Nearby). It
/// shows the world as of that phase: an entity that moves later in the tick is still where it was.
/// Entities leave when they are despawned or disabled, or lose their position or marker. A position
/// changed through `bypass_change_detection` is not noticed.
///
/// # Complexity
/// A tick costs as much as what changed. Tables in which no position was written are passed over
/// whole by their summary tick, so a million idle entities cost less than a microsecond. In a table with one
/// write, the change ticks of its rows are read (4 bytes each, some 0.6 ms for a million). Markers stored as sparse sets
/// cost a look at each entity of that space, because such tables are shared with unmarked entities.
///
/// # Examples
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_coords::{SpatialSpace, spatial_systems};
/// use nebula_math::WorldPosition;
///
/// #[derive(Component)]
/// struct Player;
///
/// let mut world = World::new();
/// let rock = world.spawn(WorldPosition::new(-1, 0, 0)).id();
/// let hero = world.spawn((WorldPosition::new(-2, 0, 0), Player)).id();
///
/// let mut schedule = Schedule::default();
/// schedule.add_systems((spatial_systems::<()>(), spatial_systems::<With<Player>>()));
/// schedule.run(&mut world);
///
/// let players = world.resource::<SpatialSpace<With<Player>>>().index();
/// assert_eq!(players.query_radius(&WorldPosition::ORIGIN, 2), [hero]);
///
/// world.despawn(rock);
/// schedule.run(&mut world);
/// assert!(!world.resource::<SpatialSpace>().index().contains(rock));
/// ```
#[derive(Resource)]
pub struct SpatialSpace<F: ArchetypeFilter + 'static = ()> {
    pub(super) index: SpatialIndex<Entity>,
    pub(super) report: SpaceReport,
    /// Once somebody follows the change feed, the index is never replaced by a fresh one.
    pub(super) marked: bool,
    filter: PhantomData<fn() -> F>,
}

/// What the last run of a space's maintenance did.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_coords::{SpatialSpace, SpatialWorld};
/// use nebula_math::WorldPosition;
///
/// let mut world = World::new();
/// world.spawn_batch((0..1000).map(|x| WorldPosition::new(-x, 0, 0)));
/// world.sync_space::<()>();
/// world.sync_space::<()>();
/// let report = world.resource::<SpatialSpace>().report();
/// assert_eq!(report.scanned, 0, "nothing moved, so no entity was looked at");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SpaceReport {
    /// Entities whose change tick or value was looked at.
    pub scanned: usize,
    /// Stored entities whose position was written, all in one batch. Once [`SpatialSpace::mark`] was
    /// called, writing an equal value does not count.
    pub moved: usize,
    /// Entities that came in.
    pub entered: usize,
    /// Entities that went out.
    pub exited: usize,
    /// Whether the world was compared in full: on the first run, and when events were missed.
    pub resynced: bool,
}

impl<F: ArchetypeFilter + 'static> SpatialSpace<F> {
    /// Returns the index, for every question it answers.
    #[must_use]
    pub fn index(&self) -> &SpatialIndex<Entity> {
        &self.index
    }

    /// Returns what the last run of the maintenance did.
    #[must_use]
    pub fn report(&self) -> SpaceReport {
        self.report
    }

    /// Returns the present moment of the index, to ask `index().changes_since(mark)` later.
    ///
    /// ```
    /// use bevy_ecs::prelude::*;
    /// use nebula_coords::{SpatialSpace, SpatialWorld};
    /// use nebula_math::WorldPosition;
    ///
    /// let mut world = World::new();
    /// let scout = world.spawn(WorldPosition::new(-7, 0, 0)).id();
    /// world.sync_space::<()>();
    /// let mark = world.resource_mut::<SpatialSpace>().mark();
    /// world.get_mut::<WorldPosition>(scout).unwrap().x = -8;
    /// world.sync_space::<()>();
    /// let changes = world.resource::<SpatialSpace>().index().changes_since(mark);
    /// assert_eq!(changes.expect("the mark is recent").ids(), [scout]);
    /// ```
    pub fn mark(&mut self) -> Mark {
        self.marked = true;
        self.index.mark()
    }

    /// Removes everything from the index at once; the next run of the maintenance puts back what
    /// is still in the world. To empty the world too, use
    /// [`despawn_space`](crate::SpatialWorld::despawn_space).
    pub fn clear(&mut self) {
        self.index.clear();
    }

    /// Returns whether so many arrivals call for a fresh index. A followed index is never
    /// replaced: its marks would mean nothing to the new one.
    pub(super) fn should_rebuild(&self, arrivals: usize) -> bool {
        arrivals > self.index.len() && !self.marked
    }
}

impl<F: ArchetypeFilter + 'static> Default for SpatialSpace<F> {
    fn default() -> Self {
        Self {
            index: SpatialIndex::new(),
            report: SpaceReport::default(),
            marked: false,
            filter: PhantomData,
        }
    }
}

impl<F: ArchetypeFilter + 'static> fmt::Debug for SpatialSpace<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpatialSpace")
            .field("filter", &core::any::type_name::<F>())
            .field("len", &self.index.len())
            .field("report", &self.report)
            .finish_non_exhaustive()
    }
}
