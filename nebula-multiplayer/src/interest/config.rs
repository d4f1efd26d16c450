//! What a server sets for all clients.

use nebula_math::MetersError;
use serde::Serialize;

use crate::fields::from_fields;

use super::{ClientFacts, DEFAULT_MAX_VISIBLE, InterestArea, Layers};

/// The defaults of a server, for clients that override nothing.
///
/// ```
/// use nebula_multiplayer::interest::{InterestArea, InterestConfig};
///
/// let config = InterestConfig { area: InterestArea::new(200.0)?, ..InterestConfig::default() };
/// assert_eq!((config.radius_mm()?, config.margin_mm(200_000)), (200_000, 0));
/// assert_eq!(InterestConfig::with_margin_percent(10).margin_mm(200_000), 20_000);
/// # Ok::<(), nebula_math::MetersError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct InterestConfig {
    /// How far a client sees.
    pub area: InterestArea,
    /// The margin, in hundredths of the radius; 0 is the literal rule.
    pub margin_percent: u32,
    /// How many entities of its set are replicated to a client.
    pub max_visible: usize,
}

from_fields!(InterestConfig {
    area,
    margin_percent,
    max_visible,
});

impl Default for InterestConfig {
    fn default() -> Self {
        Self {
            area: InterestArea::default(),
            margin_percent: 0,
            max_visible: DEFAULT_MAX_VISIBLE,
        }
    }
}

impl InterestConfig {
    /// Returns the defaults with a margin in hundredths of the radius.
    #[must_use]
    pub fn with_margin_percent(margin_percent: u32) -> Self {
        Self {
            margin_percent,
            ..Self::default()
        }
    }

    /// Returns the radius in millimetres.
    ///
    /// # Errors
    /// When the radius is NaN, infinite, negative or beyond the universe.
    pub fn radius_mm(&self) -> Result<u128, MetersError> {
        self.area.radius_mm()
    }

    /// Returns the margin that belongs to a radius, rounded down, at most `u128::MAX`.
    #[must_use]
    pub fn margin_mm(&self, radius_mm: u128) -> u128 {
        let percent = u128::from(self.margin_percent);
        let whole = (radius_mm / 100).saturating_mul(percent);
        whole.saturating_add(radius_mm % 100 * percent / 100)
    }

    /// Returns the facts of a client that overrides nothing.
    #[must_use]
    pub fn client_facts(&self) -> ClientFacts {
        ClientFacts {
            layers: Layers::default(),
            max_visible: self.max_visible,
        }
    }
}
