//! `SpatialPlugin`: the space and its systems, as Bevy apps add things.

use core::fmt;
use core::marker::PhantomData;

use bevy_app::{App, Plugin, PreUpdate};
use bevy_ecs::intern::Interned;
use bevy_ecs::query::ArchetypeFilter;
use bevy_ecs::schedule::ScheduleLabel;

use crate::{SpatialWorld, spatial_systems};

/// Adds [`SpatialSpace<F>`](crate::SpatialSpace) and the systems that keep it up to date.
///
/// They run in `PreUpdate` unless [`in_schedule`](Self::in_schedule) says otherwise: the index is
/// then ready before anything in `FixedUpdate` or `Update` reads it, with no ordering to write, and
/// shows the world as the last frame (or `Startup`) left it. Add one plugin per space.
///
/// ```
/// use bevy_app::{App, Startup, Update};
/// use bevy_ecs::prelude::*;
/// use nebula_coords::{Nearby, SpatialPlugin};
/// use nebula_math::WorldPosition;
///
/// #[derive(Component)]
/// struct Player;
///
/// fn spawn(mut commands: Commands) {
///     commands.spawn((WorldPosition::new(-1, 0, 0), Player));
///     commands.spawn(WorldPosition::new(-1, 0, 0));
/// }
/// fn check(all: Nearby, players: Nearby<With<Player>>) {
///     assert_eq!(all.query_radius(&WorldPosition::ORIGIN, 1).len(), 2);
///     assert_eq!(players.query_radius(&WorldPosition::ORIGIN, 1).len(), 1);
/// }
///
/// App::new()
///     .add_plugins((SpatialPlugin::new(), SpatialPlugin::<With<Player>>::default()))
///     .add_systems(Startup, spawn)
///     .add_systems(Update, check)
///     .update();
/// ```
pub struct SpatialPlugin<F: ArchetypeFilter + 'static = ()> {
    schedule: Interned<dyn ScheduleLabel>,
    filter: PhantomData<fn() -> F>,
}

impl SpatialPlugin {
    /// Makes the plugin for the space of all positions; for another, `SpatialPlugin::<F>::default()`.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl<F: ArchetypeFilter + 'static> SpatialPlugin<F> {
    /// Moves the maintenance to another schedule; readers in the same one run `after`
    /// [`NebulaSystems::Index`](crate::NebulaSystems::Index).
    ///
    /// ```
    /// use bevy_app::{App, PostUpdate};
    /// use nebula_coords::{SpatialPlugin, SpatialSpace};
    ///
    /// let mut app = App::new();
    /// app.add_plugins(SpatialPlugin::new().in_schedule(PostUpdate));
    /// assert!(app.world().contains_resource::<SpatialSpace>());
    /// ```
    #[must_use]
    pub fn in_schedule(mut self, schedule: impl ScheduleLabel) -> Self {
        self.schedule = schedule.intern();
        self
    }
}

impl<F: ArchetypeFilter + 'static> Default for SpatialPlugin<F> {
    fn default() -> Self {
        Self {
            schedule: PreUpdate.intern(),
            filter: PhantomData,
        }
    }
}

impl<F: ArchetypeFilter + 'static> Plugin for SpatialPlugin<F> {
    fn build(&self, app: &mut App) {
        app.world_mut().install_space::<F>();
        app.add_systems(self.schedule, spatial_systems::<F>());
    }
}

impl<F: ArchetypeFilter + 'static> fmt::Debug for SpatialPlugin<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SpatialPlugin")
            .field("filter", &core::any::type_name::<F>())
            .field("schedule", &self.schedule)
            .finish()
    }
}
