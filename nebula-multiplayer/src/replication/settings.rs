//! What a server may choose about replication.

use serde::Serialize;

use crate::fields::from_fields;

/// How replication behaves for every client.
///
/// ```
/// let settings = nebula_multiplayer::replication::ReplicationSettings::default();
/// assert_eq!(settings.spawns_per_tick, 256);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ReplicationSettings {
    /// How many entities may begin to appear for a client in one tick, nearest first.
    pub spawns_per_tick: usize,
    /// For how many ticks after an entity left a client may be expected to remember it. 0: never.
    pub grace_ticks: u32,
    /// How many such entities are remembered for a client; the oldest give way.
    pub kept_max: usize,
}

from_fields!(ReplicationSettings {
    spawns_per_tick,
    grace_ticks,
    kept_max,
});

impl Default for ReplicationSettings {
    fn default() -> Self {
        Self {
            spawns_per_tick: 256,
            grace_ticks: 200,
            kept_max: 1_024,
        }
    }
}
