//! What a server is told at its start, and who may connect.

use core::hash::{BuildHasher, Hasher};
use std::hash::RandomState;

use thiserror::Error;

use crate::limits::{LimitError, Limits};
use crate::protocol::ProtocolError;

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
    pub(super) const FIRST_ANONYMOUS: u64 = 1 << 63;
}

/// What a server is told at its start.
///
/// ```
/// use nebula_multiplayer::server::ServerSettings;
///
/// let settings = ServerSettings { tick_rate: 30, ..ServerSettings::default() };
/// assert_eq!(settings.radius_mm, 500_000);
/// assert_eq!(settings.margin_mm, 50_000, "a tenth of the radius");
/// ```
#[derive(Clone, Debug)]
pub struct ServerSettings {
    /// Ticks a second, told to clients: 1 to 1,000.
    pub tick_rate: u16,
    /// Every cap.
    pub limits: Limits,
    /// How far a client sees unless its area says otherwise, in millimetres.
    pub radius_mm: u128,
    /// How much farther something must go before it leaves a client's set, in millimetres.
    pub margin_mm: u128,
    /// The key of resume tickets. Drawn at random by default; set it where a run must repeat byte
    /// for byte, and keep it to yourself.
    pub secret: [u8; 16],
}

impl Default for ServerSettings {
    fn default() -> Self {
        Self {
            tick_rate: 20,
            limits: Limits::default(),
            radius_mm: 500_000,
            margin_mm: 50_000,
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
        Ok(())
    }
}

/// Returns 16 bytes that differ from run to run: the standard library seeds its hash tables from
/// the system's random source.
fn random_secret() -> [u8; 16] {
    let half = || RandomState::new().build_hasher().finish();
    (u128::from(half()) << 64 | u128::from(half())).to_le_bytes()
}

/// Why a server or client cannot start.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// A limit is out of range.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// The protocol cannot be used.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
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
