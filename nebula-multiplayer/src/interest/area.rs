//! Areas of interest in metres, as components and configuration; and the plain question "is it near?".

use bevy_ecs::component::Component;
use nebula_coords::{Region, SpatialQuery};
use nebula_math::{MetersError, WorldPosition, units};
use serde::{Deserialize, Serialize};

/// How far a client sees around an entity, in metres; 500 by default.
///
/// Put it on the client's player (or on another entity that [`Watches`](super::Watches) for it) to
/// override the server's default, and change it whenever you like. It is read once per tick. An
/// invalid radius (NaN, infinite, negative, beyond the universe) never takes effect: the last valid
/// one stays, and an event says so.
///
/// ```
/// use nebula_multiplayer::interest::InterestArea;
///
/// assert_eq!(InterestArea::default().radius, 500.0);
/// assert_eq!(InterestArea::new(200.0)?.radius_mm()?, 200_000);
/// let error = InterestArea::new(-1.0).unwrap_err();
/// assert_eq!(error.to_string(), "-1.0 metres is negative; a radius is zero or more");
/// # Ok::<(), nebula_math::MetersError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[component(summary_tick)]
#[serde(try_from = "UncheckedArea")]
pub struct InterestArea {
    /// The radius in metres.
    pub radius: f64,
}

impl Default for InterestArea {
    fn default() -> Self {
        Self { radius: 500.0 }
    }
}

impl InterestArea {
    /// Returns an area with a radius in metres.
    ///
    /// # Errors
    /// When the radius is NaN, infinite, negative or beyond the universe; the error names it.
    pub fn new(radius: f64) -> Result<Self, MetersError> {
        units::radius_to_mm(radius).map(|_| Self { radius })
    }

    /// Returns the radius in millimetres, rounded once to the nearest.
    ///
    /// # Errors
    /// When the radius is NaN, infinite, negative or beyond the universe.
    pub fn radius_mm(&self) -> Result<u128, MetersError> {
        meters(self.radius)
    }
}

#[derive(Deserialize)]
#[serde(rename = "InterestArea")]
struct UncheckedArea {
    radius: f64,
}

impl TryFrom<UncheckedArea> for InterestArea {
    type Error = MetersError;

    fn try_from(area: UncheckedArea) -> Result<Self, MetersError> {
        Self::new(area.radius)
    }
}

/// How much farther than the radius an entity must go before it leaves the set, in metres.
///
/// It lies beside an [`InterestArea`] and overrides the server's default. What hovers at the border
/// then enters once instead of every other tick. Invalid values are treated like those of
/// [`InterestArea`].
///
/// ```
/// use nebula_multiplayer::interest::InterestMargin;
///
/// assert_eq!(InterestMargin::new(50.0)?.margin_mm()?, 50_000);
/// assert!(InterestMargin::new(f64::NAN).is_err());
/// # Ok::<(), nebula_math::MetersError>(())
/// ```
#[derive(Component, Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[component(summary_tick)]
#[serde(try_from = "UncheckedMargin")]
pub struct InterestMargin {
    /// The margin in metres.
    pub margin: f64,
}

impl InterestMargin {
    /// Returns a margin in metres.
    ///
    /// # Errors
    /// When the margin is NaN, infinite, negative or beyond the universe; the error names it.
    pub fn new(margin: f64) -> Result<Self, MetersError> {
        units::radius_to_mm(margin).map(|_| Self { margin })
    }

    /// Returns the margin in millimetres, rounded once to the nearest.
    ///
    /// # Errors
    /// When the margin is NaN, infinite, negative or beyond the universe.
    pub fn margin_mm(&self) -> Result<u128, MetersError> {
        meters(self.margin)
    }
}

#[derive(Deserialize)]
#[serde(rename = "InterestMargin")]
struct UncheckedMargin {
    margin: f64,
}

impl TryFrom<UncheckedMargin> for InterestMargin {
    type Error = MetersError;

    fn try_from(margin: UncheckedMargin) -> Result<Self, MetersError> {
        Self::new(margin.margin)
    }
}

/// Returns whether two positions are at most `radius` metres apart.
///
/// The radius is rounded once to the nearest millimetre; the comparison is exact, boundary included,
/// for any two positions. An invalid radius is never near.
///
/// ```
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::interest::within_interest;
///
/// let a = WorldPosition::new(i128::MIN, 0, 0);
/// let b = WorldPosition::new(i128::MIN + 500_000, 0, 0);
/// assert!(within_interest(&a, &b, 500.0));
/// assert!(!within_interest(&a, &b, 499.999));
/// assert!(!within_interest(&a, &a, f64::NAN));
/// assert!(!within_interest(&WorldPosition::MIN, &WorldPosition::MAX, 1e35));
/// ```
#[must_use]
pub fn within_interest(a: &WorldPosition, b: &WorldPosition, radius: f64) -> bool {
    units::radius_to_mm(radius).is_ok_and(|radius_mm| a.is_within(b, radius_mm))
}

/// Returns everything in an index at most `radius` metres from `center`, in the index's order.
///
/// The radius is rounded once to the nearest millimetre, the boundary belongs to the area, and an
/// invalid radius finds nothing. Any index of points will do.
///
/// ```
/// use nebula_coords::SpatialIndex;
/// use nebula_math::WorldPosition;
/// use nebula_multiplayer::interest::entities_in_interest_area;
///
/// let mut index = SpatialIndex::new();
/// index.insert(1_u32, WorldPosition::new(-500_000, 0, 0));
/// index.insert(2, WorldPosition::new(-500_001, 0, 0));
/// assert_eq!(entities_in_interest_area(&index, &WorldPosition::ORIGIN, 500.0), [1]);
/// assert!(entities_in_interest_area(&index, &WorldPosition::ORIGIN, -1.0).is_empty());
/// ```
#[must_use]
pub fn entities_in_interest_area<Q: SpatialQuery + ?Sized>(
    index: &Q,
    center: &WorldPosition,
    radius: f64,
) -> Vec<Q::Id> {
    let mut found = Vec::new();
    if let Ok(radius_mm) = units::radius_to_mm(radius) {
        index.collect(&Region::ball(*center, radius_mm), &mut found);
    }
    found
}

/// Returns a length of zero or more metres in millimetres.
pub(super) fn meters(length: f64) -> Result<u128, MetersError> {
    units::radius_to_mm(length).map(i128::unsigned_abs)
}
