//! Entities of a `bevy_ecs` world in an index (features `bevy_ecs` and `bevy_app`).
//!
//! ```text
//! WorldPosition components --changed ones, one batch--> SpatialSpace<F> --shared--> Nearby<F>
//! despawned, disabled, unmarked --observers, a queue--/
//! ```

use bevy_ecs::entity::Entity;
use bevy_ecs::schedule::SystemSet;

use crate::DenseId;

mod maintain;
mod nearby;
#[cfg(feature = "bevy_app")]
mod plugin;
mod space;
mod watch;
mod world;

pub use maintain::spatial_systems;
pub use nearby::Nearby;
#[cfg(feature = "bevy_app")]
pub use plugin::SpatialPlugin;
pub use space::{SpaceReport, SpatialSpace};
pub use world::SpatialWorld;

/// The phases of a tick, in order; systems order themselves against a phase, not against a system.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_coords::{NebulaSystems, Nearby, spatial_systems};
/// use nebula_math::WorldPosition;
///
/// fn vision(nearby: Nearby, mut seen: ResMut<Seen>) {
///     seen.0 = nearby.query_radius(&WorldPosition::ORIGIN, 500_000).len();
/// }
/// #[derive(Resource, Default)]
/// struct Seen(usize);
///
/// let mut world = World::new();
/// world.init_resource::<Seen>();
/// world.spawn(WorldPosition::new(-499_999, 0, 0));
///
/// let mut schedule = Schedule::default();
/// schedule.add_systems((spatial_systems::<()>(), vision.after(NebulaSystems::Index)));
/// schedule.run(&mut world);
/// assert_eq!(world.resource::<Seen>().0, 1);
/// ```
#[derive(SystemSet, Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NebulaSystems {
    /// Every [`SpatialSpace`] takes in what moved, appeared and left. Readers come after it.
    Index,
    /// A server finds out who is near each client.
    Interest,
    /// A server finds out what changed, and for whom it matters.
    Collect,
    /// Bytes leave: transports ask servers and clients for them.
    Send,
    /// Bytes arrive: transports hand them to servers and clients.
    Receive,
    /// A client's world takes in what arrived.
    Apply,
}

/// An entity's place in a table is its index; the generation stays part of the id, so an entity
/// that reuses an index is another id and evicts the one before it.
///
/// ```
/// use bevy_ecs::world::World;
/// use nebula_coords::DenseId;
///
/// let mut world = World::new();
/// let first = world.spawn_empty().id();
/// assert_eq!(first.dense_index(), first.index_u32());
/// ```
impl DenseId for Entity {
    #[inline]
    fn dense_index(self) -> u32 {
        self.index_u32()
    }
}
