//! References from one replicated entity to another.

use bevy_ecs::entity::Entity;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A reference to an entity inside a replicated component.
///
/// Entity ids mean nothing on another machine, so a reference is written for each client as the
/// client's own slot. To an entity that the client does not see it is `None`, and it is sent again
/// when that entity appears or leaves. A component that holds references implements [`References`].
///
/// Serde writes one byte in its place (a list of references then has a length that cannot lie); the
/// slot travels beside the component.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct NetRef(pub Option<Entity>);

impl Serialize for NetRef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        // Always the same byte: whether it is set depends on who looks.
        serializer.serialize_bool(false)
    }
}

impl<'de> Deserialize<'de> for NetRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        bool::deserialize(deserializer)?;
        Ok(Self(None))
    }
}

/// A component that names other entities.
///
/// ```
/// use bevy_ecs::prelude::*;
/// use nebula_multiplayer::replication::{Kind, NetRef, References};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Component, Clone, Serialize, Deserialize)]
/// #[component(summary_tick)]
/// struct Aims {
///     at: NetRef,
///     power: u8,
/// }
///
/// impl References for Aims {
///     fn each_reference(&mut self, f: &mut dyn FnMut(&mut NetRef)) {
///         f(&mut self.at);
///     }
/// }
/// let kind = Kind::with_references::<Aims>("aims");
/// # assert_eq!(kind.name(), "aims");
/// ```
pub trait References {
    /// Calls `f` for each reference, always in the same order.
    fn each_reference(&mut self, f: &mut dyn FnMut(&mut NetRef));
}

/// References that one component may hold; more are an encoding error.
pub const MAX_REFERENCES: usize = 64;
