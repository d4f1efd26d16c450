//! Components that say who may see an entity. They are immutable: insert another to change one, so
//! that an observer notices and no tick has to look at entities that did not change.

use bevy_ecs::component::Component;
use nebula_math::{MetersError, units};
use serde::{Deserialize, Serialize};

use super::Rule;
use super::area::meters;
use crate::ClientId;

/// From how much farther than a client's radius the entity is seen, in metres: the size of big
/// things. A planet of radius 6,371 km has that reach.
///
/// An invalid reach counts as none and raises an event.
///
/// ```
/// use nebula_multiplayer::interest::Reach;
///
/// assert_eq!(Reach::new(6_371_000.0)?.reach_mm()?, 6_371_000_000);
/// assert!(Reach::new(f64::INFINITY).is_err());
/// # Ok::<(), nebula_math::MetersError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[component(immutable)]
#[serde(try_from = "UncheckedReach")]
pub struct Reach {
    /// The reach in metres.
    pub meters: f64,
}

impl Reach {
    /// Returns a reach in metres.
    ///
    /// # Errors
    /// When the reach is NaN, infinite, negative or beyond the universe; the error names it.
    pub fn new(reach: f64) -> Result<Self, MetersError> {
        units::radius_to_mm(reach).map(|_| Self { meters: reach })
    }

    /// Returns the reach in millimetres, rounded once to the nearest.
    ///
    /// # Errors
    /// When the reach is NaN, infinite, negative or beyond the universe.
    pub fn reach_mm(&self) -> Result<u128, MetersError> {
        meters(self.meters)
    }
}

#[derive(Deserialize)]
#[serde(rename = "Reach")]
struct UncheckedReach {
    meters: f64,
}

impl TryFrom<UncheckedReach> for Reach {
    type Error = MetersError;

    fn try_from(reach: UncheckedReach) -> Result<Self, MetersError> {
        Self::new(reach.meters)
    }
}

/// How the entity becomes relevant; without this component, by nearness.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_multiplayer::interest::{Relevance, Rule};
///
/// let mut world = World::new();
/// let score = world.spawn(Relevance(Rule::Always)).id();
/// world.entity_mut(score).insert(Relevance(Rule::Never)); // changed by replacing it
/// assert_eq!(world.get::<Relevance>(score), Some(&Relevance(Rule::Never)));
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[component(immutable)]
pub struct Relevance(pub Rule);

/// A set of 32 layers. A client sees an entity only if they share one; both are on layer 0 unless
/// told otherwise.
///
/// ```
/// use nebula_multiplayer::interest::Layers;
///
/// let ghosts = Layers::only(5);
/// assert!(!ghosts.intersects(Layers::default()));
/// assert!(ghosts.intersects(Layers::default().with(5)));
/// assert!(!Layers::NONE.intersects(Layers::ALL));
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[component(immutable)]
pub struct Layers(pub u32);

impl Layers {
    /// No layer: seen by nobody, or seeing nothing.
    pub const NONE: Self = Self(0);
    /// Every layer.
    pub const ALL: Self = Self(u32::MAX);

    /// Returns a single layer; `layer` counts from 0 and wraps at 32.
    #[must_use]
    pub const fn only(layer: u32) -> Self {
        Self(1_u32.rotate_left(layer))
    }

    /// Returns these layers and one more.
    #[must_use]
    pub const fn with(self, layer: u32) -> Self {
        Self(self.0 | Self::only(layer).0)
    }

    /// Returns whether both share a layer.
    #[must_use]
    pub const fn intersects(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }
}

impl Default for Layers {
    fn default() -> Self {
        Self::only(0)
    }
}

/// Whose entity this is. The owner sees it wherever it is.
///
/// ```
/// use nebula_multiplayer::{ClientId, interest::OwnedBy};
///
/// assert_eq!(OwnedBy(ClientId::new(3)).0.get(), 3);
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(immutable)]
pub struct OwnedBy(pub ClientId);

/// The entity is seen by those who see its parent ([`ChildOf`](bevy_ecs::hierarchy::ChildOf)), and
/// its own position plays no part. Without a parent it is seen by nobody.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_multiplayer::interest::FollowsParent;
///
/// let mut world = World::new();
/// let ship = world.spawn_empty().id();
/// let turret = world.spawn((ChildOf(ship), FollowsParent)).id();
/// assert!(world.entity(turret).contains::<FollowsParent>());
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[component(immutable)]
pub struct FollowsParent;

/// The client also sees what is near this entity: a drone, a camera, a second ship. The radius is the
/// entity's [`InterestArea`](super::InterestArea), or the client's default.
///
/// ```
/// use nebula_multiplayer::{ClientId, interest::Watches};
///
/// assert_eq!(Watches(ClientId::new(3)).0.get(), 3);
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[component(immutable)]
pub struct Watches(pub ClientId);
