//! The ground: a small patch on the surface of a planet far from the origin.

use nebula_math::WorldPosition;

/// The middle of the planet: some 131 million light years out along x. A `f64` of millimetres has a
/// step of 2^38 mm there, 275 km, and could not tell the walkers apart.
pub const PLANET_CENTER: WorldPosition = WorldPosition::new(
    (1 << 90) + 271_828,
    -(1 << 89) - 314_159,
    (1 << 88) + 141_421,
);
/// The radius of the planet, in millimetres: that of the Earth.
pub const PLANET_RADIUS_MM: i64 = 6_371_000_000;

/// A patch of ground around the planet's pole, measured east and north in millimetres.
#[derive(Clone, Copy, Debug)]
pub struct Ground;

impl Ground {
    /// Returns the point of the surface above a spot of the patch, rounded down to a millimetre.
    ///
    /// The surface is a sphere: 500 m from the pole it lies 19 mm lower. Spots beyond the planet's
    /// edge lie on its equator plane.
    ///
    /// ```
    /// use nebula_demo::world::{Ground, PLANET_CENTER, PLANET_RADIUS_MM};
    ///
    /// let pole = Ground::at(0, 0);
    /// assert_eq!(pole.z - PLANET_CENTER.z, i128::from(PLANET_RADIUS_MM));
    /// assert_eq!(pole.z - Ground::at(-500_000, 0).z, 20); // 19.6 mm, and rounded down
    /// ```
    #[must_use]
    pub fn at(east_mm: i64, north_mm: i64) -> WorldPosition {
        let square = |v: i64| u128::from(v.unsigned_abs()).pow(2);
        // Below 2^127 each, so the sum of two fits.
        let flat = square(east_mm) + square(north_mm);
        let up = square(PLANET_RADIUS_MM).saturating_sub(flat).isqrt();
        WorldPosition::new(
            PLANET_CENTER.x + i128::from(east_mm),
            PLANET_CENTER.y + i128::from(north_mm),
            PLANET_CENTER.z.saturating_add_unsigned(up),
        )
    }
}
