//! What an update did, for game code.

use super::EnterReason;
use crate::{ClientId, NetworkId};

/// Why an entity left a client's set or view. On the wire only "destroyed" and "left" are told apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum ExitReason {
    /// The entity is gone from the world.
    Destroyed,
    /// The entity's rule is never, now.
    Hidden,
    /// The layers match no longer.
    Layers,
    /// It is out of every area and its margin.
    Distance,
    /// The client has no area any more.
    NoArea,
    /// The entity has no position any more.
    NoPosition,
    /// The client does not see the parent that it follows.
    Parent,
    /// It is still in the set, but others come first in the view.
    Capacity,
}

/// An entity came into a client's set or left it; see [`Interest::events`](super::Interest::events).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InterestEvent {
    /// Whose set changed.
    pub client: ClientId,
    /// Who came or went.
    pub entity: NetworkId,
    /// What happened, and why.
    pub change: Change,
}

/// What happened to an entity in a client's set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It came in.
    Entered(EnterReason),
    /// It left.
    Exited(ExitReason),
}

/// What an update did.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UpdateReport {
    /// How many clients were looked at: those that moved or changed, and those near which something
    /// changed.
    pub examined: usize,
    /// How many clients' sets or views changed.
    pub changed: usize,
    /// How many entities entered sets, over all clients.
    pub entered: usize,
    /// How many entities left sets, over all clients.
    pub exited: usize,
}
