//! What a client is told at its start.

use crate::limits::Limits;
use crate::mirror::MirrorLimits;

/// What a client is told at its start.
///
/// ```
/// use nebula_multiplayer::client::ClientSettings;
///
/// assert_eq!(ClientSettings::default().limits.frame_out_bytes, 65_536);
/// ```
#[derive(Clone, Debug)]
pub struct ClientSettings {
    /// Every cap. Rates and sizes must not exceed the server's, or it ignores the surplus.
    pub limits: Limits,
    /// What may be held of the server's world.
    pub mirror: MirrorLimits,
    /// Bytes of ordered and unordered messages that wait to be taken, with 48 more for each. They must
    /// not be lost, so a client that has no room for the next one is disconnected. At the default rates
    /// of a server the default lasts for 15 s of the smallest messages, and for a minute of large ones.
    pub inbox_bytes: usize,
}

impl Default for ClientSettings {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            mirror: MirrorLimits::default(),
            inbox_bytes: 8 << 20,
        }
    }
}
