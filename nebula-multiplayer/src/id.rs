//! Ids: who is connected, what is replicated, and when.

use core::fmt;

use bevy_ecs::component::Component;
use nebula_coords::DenseId;
use serde::{Deserialize, Serialize};

/// A connected client. Numbers are not reused while a server runs.
///
/// ```
/// use nebula_multiplayer::ClientId;
///
/// assert!(ClientId::new(1) < ClientId::new(2));
/// assert_eq!(ClientId::new(7).to_string(), "client 7");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClientId(u64);

impl ClientId {
    /// Returns the id with this number.
    #[must_use]
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u64 {
        self.0
    }
}

impl fmt::Display for ClientId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "client {}", self.0)
    }
}

/// A replicated entity, as the server knows it: a small index and a generation.
///
/// It never leaves the server: a client knows an entity by a slot of its own. An index that was
/// freed in one tick is given out again from the next, with another generation, so that a new
/// entity never looks like one that stayed.
///
/// ```
/// use nebula_multiplayer::NetworkId;
///
/// let first = NetworkId::new(3, 0);
/// assert_ne!(first, NetworkId::new(3, 1), "the same index, another entity");
/// assert_eq!(first.to_string(), "entity 3v0");
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[component(immutable)]
pub struct NetworkId {
    index: u32,
    generation: u32,
}

impl NetworkId {
    /// Returns the id with this index and generation.
    #[must_use]
    pub const fn new(index: u32, generation: u32) -> Self {
        Self { index, generation }
    }

    /// Returns the index, which tables are addressed by.
    #[must_use]
    pub const fn index(self) -> u32 {
        self.index
    }

    /// Returns how many entities had this index before.
    #[must_use]
    pub const fn generation(self) -> u32 {
        self.generation
    }
}

impl DenseId for NetworkId {
    #[inline]
    fn dense_index(self) -> u32 {
        self.index
    }
}

impl fmt::Display for NetworkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "entity {}v{}", self.index, self.generation)
    }
}

/// A moment of the server's simulation. It wraps, so ticks have no total order: ask
/// [`is_newer_than`](Self::is_newer_than).
///
/// ```
/// use nebula_multiplayer::Tick;
///
/// let last = Tick::new(u32::MAX);
/// assert_eq!(last.next(), Tick::new(0));
/// assert!(last.next().is_newer_than(last));
/// assert_eq!(last.next().since(last), 1);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Tick(u32);

impl Tick {
    /// Returns the tick with this number.
    #[must_use]
    pub const fn new(number: u32) -> Self {
        Self(number)
    }

    /// Returns the number.
    #[must_use]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns the tick after this one.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0.wrapping_add(1))
    }

    /// Returns how many ticks passed since `earlier`; a huge number if `earlier` is later.
    #[must_use]
    pub const fn since(self, earlier: Self) -> u32 {
        self.0.wrapping_sub(earlier.0)
    }

    /// Returns whether this tick comes after `other`, at most 2^31 - 1 ticks later.
    #[must_use]
    pub const fn is_newer_than(self, other: Self) -> bool {
        let ahead = self.since(other);
        ahead != 0 && ahead < 1 << 31
    }
}
