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
#[derive(Clone, Debug, Default)]
pub struct ClientSettings {
    /// Every cap. Rates and sizes must not exceed the server's, or it ignores the surplus.
    pub limits: Limits,
    /// What may be held of the server's world.
    pub mirror: MirrorLimits,
}
