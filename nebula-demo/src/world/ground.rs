//! The ground: a patch that is measured east and north, and where it lies in space.

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
/// How far east and north of the pole the corner of three cube faces lies: a radius over the root of 3.
const CORNER_MM: i64 = 3_678_298_565;

/// A sphere with the ground on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Globe {
    /// Its middle.
    pub center: WorldPosition,
    /// Its radius in millimetres.
    pub radius_mm: i64,
}

/// A patch of ground, measured east and north of its middle in millimetres.
///
/// ```
/// use nebula_demo::world::{Ground, PLANET_CENTER, PLANET_RADIUS_MM};
///
/// let pole = Ground::POLE.at(0, 0);
/// assert_eq!(pole.z - PLANET_CENTER.z, i128::from(PLANET_RADIUS_MM));
/// assert_eq!(pole.z - Ground::POLE.at(-500_000, 0).z, 20); // 19.6 mm, and rounded down
/// assert!(Ground::FAR_SIDE.at(0, 0).z < PLANET_CENTER.z);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ground {
    shape: Shape,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Shape {
    /// A patch on a sphere, around a spot given from its pole; below is the other half.
    Sphere {
        globe: Globe,
        from_pole: (i64, i64),
        below: bool,
    },
    /// A plane through this point, level in z.
    Plane(WorldPosition),
}

impl Ground {
    /// Around the pole of the planet.
    pub const POLE: Self = Self::on(PLANET_CENTER, (0, 0), false);
    /// Around its other pole.
    pub const FAR_SIDE: Self = Self::on(PLANET_CENTER, (0, 0), true);
    /// Where three faces of a planet's cube meet, and eight sectors as well.
    pub const SEAM: Self = Self::on(
        WorldPosition::new(
            (1 << 70) - CORNER_MM as i128,
            -(1 << 69) - CORNER_MM as i128,
            (1 << 68) - CORNER_MM as i128,
        ),
        (CORNER_MM, CORNER_MM),
        false,
    );

    const fn on(center: WorldPosition, from_pole: (i64, i64), below: bool) -> Self {
        Self {
            shape: Shape::Sphere {
                globe: Globe {
                    center,
                    radius_mm: PLANET_RADIUS_MM,
                },
                from_pole,
                below,
            },
        }
    }

    /// Returns a level plane around a point.
    #[must_use]
    pub const fn plane(middle: WorldPosition) -> Self {
        Self {
            shape: Shape::Plane(middle),
        }
    }

    /// Returns the point of the ground at a spot of the patch, rounded down to a millimetre.
    ///
    /// A planet's surface is a sphere: 500 m from the pole it lies 19 mm lower, and spots beyond its
    /// edge lie on its equator plane. A plane ends where space ends.
    #[must_use]
    pub fn at(&self, east_mm: i64, north_mm: i64) -> WorldPosition {
        match self.shape {
            Shape::Sphere {
                globe,
                from_pole,
                below,
            } => {
                let east_mm = east_mm.saturating_add(from_pole.0);
                let north_mm = north_mm.saturating_add(from_pole.1);
                let square = |v: i64| u128::from(v.unsigned_abs()).pow(2);
                // Below 2^127 each, so the sum of two fits.
                let flat = square(east_mm) + square(north_mm);
                let up = square(globe.radius_mm).saturating_sub(flat).isqrt();
                WorldPosition::new(
                    globe.center.x.saturating_add(east_mm.into()),
                    globe.center.y.saturating_add(north_mm.into()),
                    if below {
                        globe.center.z.saturating_sub_unsigned(up)
                    } else {
                        globe.center.z.saturating_add_unsigned(up)
                    },
                )
            }
            Shape::Plane(middle) => WorldPosition::new(
                middle.x.saturating_add(east_mm.into()),
                middle.y.saturating_add(north_mm.into()),
                middle.z,
            ),
        }
    }

    /// Returns the sphere under the patch, if it lies on one.
    #[must_use]
    pub const fn globe(&self) -> Option<Globe> {
        match self.shape {
            Shape::Sphere { globe, .. } => Some(globe),
            Shape::Plane(_) => None,
        }
    }
}
