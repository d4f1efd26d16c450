//! What a server is told at its start, and who may connect.

use core::fmt;
use core::hash::{BuildHasher, Hasher};
use std::hash::RandomState;

use nebula_math::MetersError;
use serde::Serialize;
use thiserror::Error;

use crate::fields::from_fields;
use crate::interest::InterestConfig;
use crate::limits::{LimitError, Limits, check};
use crate::protocol::ProtocolError;
use crate::replication::ReplicationSettings;

/// Who stands behind a link, as whoever made the link has found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Identity {
    /// A known player: the same number gives the same [`ClientId`](crate::ClientId) each time, also
    /// after a restart. Below 2^63.
    Account(u64),
    /// Anyone. Gets a number that no one had before, and cannot resume.
    Anonymous,
}

impl Identity {
    /// The first number of clients without an account.
    pub(crate) const FIRST_ANONYMOUS: u64 = 1 << 63;
}

/// What a server is told at its start.
///
/// ```
/// use nebula_multiplayer::server::ServerSettings;
///
/// let settings = ServerSettings { tick_rate: 30, ..ServerSettings::default() };
/// assert_eq!(settings.interest.area.radius, 500.0);
/// assert_eq!(settings.interest.margin_mm(500_000), 50_000, "a tenth of the radius");
/// ```
///
/// Reads from a settings file; any field may be left out, and errors name the field. The secret is
/// neither read nor written.
///
/// ```
/// use nebula_multiplayer::server::ServerSettings;
///
/// let settings: ServerSettings = serde_json::from_str(
///     r#"{ "tick_rate": 30, "limits": { "clients": 64 }, "interest": { "margin_percent": 20 } }"#,
/// )?;
/// assert_eq!((settings.tick_rate, settings.limits.clients), (30, 64));
/// let read = serde_json::from_str::<ServerSettings>;
/// let error = read(r#"{ "limits": { "clients": -1 } }"#).unwrap_err().to_string();
/// assert!(error.starts_with("limits: clients: invalid value: integer `-1`"), "{error}");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Serialize)]
pub struct ServerSettings {
    /// Ticks a second, told to clients: 1 to 1,000.
    pub tick_rate: u16,
    /// Every cap.
    pub limits: Limits,
    /// How far clients see unless told otherwise: 500 m, and a tenth of it as margin. The smaller
    /// of its `max_visible` and that of the limits counts.
    pub interest: InterestConfig,
    /// How replication behaves.
    pub replication: ReplicationSettings,
    /// The key of resume tickets. Drawn at random by default; set it where a run must repeat byte
    /// for byte, and keep it to yourself.
    #[serde(skip)]
    pub secret: [u8; 16],
}

from_fields!(ServerSettings {
    tick_rate,
    limits,
    interest,
    replication,
});

impl fmt::Debug for ServerSettings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The secret is not for logs.
        f.debug_struct("ServerSettings")
            .field("tick_rate", &self.tick_rate)
            .field("limits", &self.limits)
            .field("interest", &self.interest)
            .field("replication", &self.replication)
            .finish_non_exhaustive()
    }
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            tick_rate: 20,
            limits: Limits::default(),
            interest: InterestConfig::with_margin_percent(10),
            replication: ReplicationSettings::default(),
            secret: random_secret(),
        }
    }
}

impl ServerSettings {
    /// Checks every setting.
    ///
    /// # Errors
    /// [`SettingsError`] naming the first bad one.
    pub fn validate(&self) -> Result<(), SettingsError> {
        self.limits.validate()?;
        if !(1..=1_000).contains(&self.tick_rate) {
            return Err(SettingsError::TickRate(self.tick_rate));
        }
        self.interest.radius_mm()?;
        let most = 1 << 16;
        let (interest, replication) = (&self.interest, &self.replication);
        for (name, value, min) in [
            ("interest.max_visible", interest.max_visible, 1),
            (
                "replication.spawns_per_tick",
                replication.spawns_per_tick,
                1,
            ),
            ("replication.kept_max", replication.kept_max, 0),
        ] {
            check(name, u64::try_from(value).unwrap_or(u64::MAX), min, most)?;
        }
        Ok(())
    }

    /// Returns the interest settings within the limits.
    pub(super) fn interest_config(&self) -> InterestConfig {
        let max_visible = self.interest.max_visible.min(self.limits.max_visible);
        InterestConfig {
            max_visible,
            ..self.interest
        }
    }
}

/// Returns 16 bytes that differ from run to run: the standard library seeds its hash tables from
/// the system's random source.
fn random_secret() -> [u8; 16] {
    let half = || RandomState::new().build_hasher().finish();
    (u128::from(half()) << 64 | u128::from(half())).to_le_bytes()
}

/// Why a server or client cannot start.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A limit is out of range.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The protocol cannot be used.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    /// The default radius cannot be used.
    #[error("default radius of interest: {0}")]
    Radius(#[from] MetersError),
    /// The tick rate is out of range.
    #[error("tick rate is {0}; give 1 to 1000 ticks a second")]
    TickRate(u16),
}

/// Why a link was not taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConnectError {
    /// No more clients are taken.
    #[error("the server is full: {0} clients")]
    Full(usize),
    /// The account's number is reserved.
    #[error("account {0} is out of range; give a number below 2^63")]
    BadAccount(u64),
}
