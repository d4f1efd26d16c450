//! Planets: cube-face coordinates and altitude to positions, and back.

mod coord;
mod error;
mod face;

pub use coord::FaceCoord;
pub use error::PlanetError;
pub use face::CubeFace;

use nebula_math::{Aabb128, U384, WorldPosition};

/// A sphere in the universe whose surface is addressed by the six faces of a cube around it.
///
/// A place on a face is the point where the straight line from the planet's centre through the
/// cube meets the sphere (the gnomonic projection): face coordinates `(u, v)` from -1 to 1 stand
/// for the direction `normal + u * u_axis + v * v_axis`. It uses only operations that IEEE 754
/// rounds exactly (`+ * /` and square root), so every machine computes the same bits; a projection
/// with even cells needs a tangent, which does not. Warp `u` and `v` first if you want such cells.
///
/// # Precision
/// With `d = radius + altitude`, each coordinate of [`to_world`](Self::to_world) is within
/// `0.5 mm + d * 2^-50` of the exact real one: six micrometres on top of the rounding for Earth.
/// The altitude from [`to_face`](Self::to_face) is the nearest millimetre, exactly, and going there
/// and back moves a position by at most `1 mm + d * 2^-49` an axis.
///
/// Indexes work on positions, so the edge between two faces is no seam: a place on an edge or a
/// corner has the very same position from each of its faces.
///
/// ```
/// use nebula_coords::{CubeFace, FaceCoord, Planet};
/// use nebula_math::WorldPosition;
///
/// let planet = Planet::new(WorldPosition::new(-5_000, 0, 0), 1_000)?;
/// let pole = FaceCoord::new(CubeFace::NegZ, 0.0, 0.0, 50)?;
/// let at = planet.to_world(&pole)?;
/// assert_eq!(at, WorldPosition::new(-5_000, 0, -1_050));
/// assert_eq!(planet.to_face(&at)?, pole);
/// # Ok::<(), nebula_coords::PlanetError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "RawPlanet")
)]
pub struct Planet {
    center: WorldPosition,
    radius_mm: i128,
}

impl Planet {
    /// Makes a planet that lies wholly inside the universe.
    ///
    /// # Errors
    /// When the radius is not positive, or the sphere reaches past the end of the universe.
    ///
    /// ```
    /// use nebula_coords::Planet;
    /// use nebula_math::WorldPosition;
    ///
    /// let error = Planet::new(WorldPosition::new(i128::MIN + 9, 0, 0), 10).unwrap_err();
    /// assert!(error.to_string().contains("radius of 10 mm"));
    /// assert!(Planet::new(WorldPosition::new(i128::MIN + 10, 0, 0), 10).is_ok());
    /// ```
    pub fn new(center: WorldPosition, radius_mm: i128) -> Result<Self, PlanetError> {
        if radius_mm < 1 {
            return Err(PlanetError::Radius { radius_mm });
        }
        let fits =
            |at: i128| at.checked_add(radius_mm).is_some() && at.checked_sub(radius_mm).is_some();
        if fits(center.x) && fits(center.y) && fits(center.z) {
            Ok(Self { center, radius_mm })
        } else {
            Err(PlanetError::LeavesUniverse { center, radius_mm })
        }
    }

    /// Returns the middle of the planet.
    #[must_use]
    pub const fn center(&self) -> WorldPosition {
        self.center
    }

    /// Returns the distance from the middle to altitude zero, in millimetres.
    #[must_use]
    pub const fn radius_mm(&self) -> i128 {
        self.radius_mm
    }

    /// Returns the smallest box around the sphere.
    #[must_use]
    pub fn bounds(&self) -> Aabb128 {
        let (c, r) = (self.center, self.radius_mm);
        // The constructor made sure that neither corner leaves the universe.
        Aabb128::from_corners(
            WorldPosition::new(c.x - r, c.y - r, c.z - r),
            WorldPosition::new(c.x + r, c.y + r, c.z + r),
        )
    }

    /// Returns the position of a place on a face, to the nearest millimetre.
    ///
    /// The type's documentation states how near that is.
    ///
    /// # Errors
    /// When the altitude lies beyond the planet's centre, or the place outside the universe.
    pub fn to_world(&self, place: &FaceCoord) -> Result<WorldPosition, PlanetError> {
        let altitude_mm = place.altitude_mm();
        let leaves = PlanetError::PlaceLeavesUniverse {
            center: self.center,
            altitude_mm,
        };
        let distance = self.radius_mm.checked_add(altitude_mm).ok_or(leaves)?;
        if distance < 0 {
            return Err(PlanetError::BelowCenter {
                radius_mm: self.radius_mm,
                altitude_mm,
            });
        }
        let [x, y, z] = place.direction();
        let reach = to_f64(distance.unsigned_abs());
        let along = |center: i128, part: f64| {
            to_i128((part * reach).round()).and_then(|step| center.checked_add(step))
        };
        match (
            along(self.center.x, x),
            along(self.center.y, y),
            along(self.center.z, z),
        ) {
            (Some(x), Some(y), Some(z)) => Ok(WorldPosition::new(x, y, z)),
            _ => Err(leaves),
        }
    }

    /// Returns the face, the face coordinates and the altitude of a position.
    ///
    /// A position on an edge or a corner of the cube belongs to the face of the first axis of
    /// x, y, z among those that tie. The altitude is exact, to the nearest millimetre.
    ///
    /// # Errors
    /// When the position is the planet's centre, which has no direction, or so far away that its
    /// altitude does not fit an `i128`.
    pub fn to_face(&self, at: &WorldPosition) -> Result<FaceCoord, PlanetError> {
        let size = [
            at.x.abs_diff(self.center.x),
            at.y.abs_diff(self.center.y),
            at.z.abs_diff(self.center.z),
        ];
        let negative = [
            at.x < self.center.x,
            at.y < self.center.y,
            at.z < self.center.z,
        ];
        if size == [0; 3] {
            return Err(PlanetError::AtCenter {
                center: self.center,
            });
        }
        let altitude_mm = self
            .altitude_mm(at)
            .ok_or(PlanetError::TooFar { position: *at })?;
        let mut axis = 0;
        for other in 1..3 {
            if size[other] > size[axis] {
                axis = other;
            }
        }
        let face = CubeFace::from_axis(axis, negative[axis]);
        // Rounding to f64 keeps the order, so no ratio exceeds 1.
        let ratio = |i: usize| {
            let part = to_f64(size[i]) / to_f64(size[axis]);
            if negative[i] { -part } else { part }
        };
        let (u, v) = face.uv_axes();
        FaceCoord::new(face, ratio(u), ratio(v), altitude_mm)
    }

    /// Returns the height of a position above the sphere to the nearest millimetre, exactly;
    /// negative inside. `None` if it does not fit an `i128`.
    ///
    /// ```
    /// use nebula_coords::Planet;
    /// use nebula_math::WorldPosition;
    ///
    /// let planet = Planet::new(WorldPosition::ORIGIN, 100)?;
    /// assert_eq!(planet.altitude_mm(&WorldPosition::new(-60, 0, -80)), Some(0));
    /// assert_eq!(planet.altitude_mm(&WorldPosition::ORIGIN), Some(-100));
    /// assert_eq!(planet.altitude_mm(&WorldPosition::MIN), None);
    /// # Ok::<(), nebula_coords::PlanetError>(())
    /// ```
    #[must_use]
    pub fn altitude_mm(&self, at: &WorldPosition) -> Option<i128> {
        let distance = nearest_root(self.center.distance_squared(at))?;
        let radius = self.radius_mm.unsigned_abs();
        if distance >= radius {
            i128::try_from(distance - radius).ok()
        } else {
            // The radius fits an i128, so the depth does.
            i128::try_from(radius - distance).ok().map(|depth| -depth)
        }
    }
}

/// Returns the square root of a squared distance, rounded to the nearest whole number, or `None`
/// if it needs more than 128 bits.
fn nearest_root(squared: U384) -> Option<u128> {
    let floor = match squared.to_u128() {
        Some(small) => small.isqrt(),
        None => wide_floor_root(squared)?,
    };
    // (f + 1/2)^2 = f^2 + f + 1/4, and the square is whole: above f^2 + f, round up.
    let halfway = U384::square(floor).checked_add(U384::from(floor))?;
    if squared > halfway {
        floor.checked_add(1)
    } else {
        Some(floor)
    }
}

/// The rare case of distances above 2^64 mm: halves the range of answers 128 times.
#[cold]
fn wide_floor_root(squared: U384) -> Option<u128> {
    if squared.limbs()[2] != 0 {
        return None;
    }
    let mut floor = 0_u128;
    for bit in (0..128).rev() {
        let candidate = floor | 1 << bit;
        if U384::square(candidate) <= squared {
            floor = candidate;
        }
    }
    Some(floor)
}

/// Rounds to the nearest `f64`; the relative error is at most 2^-53.
#[expect(
    clippy::cast_precision_loss,
    reason = "part of the error bound that Planet states"
)]
fn to_f64(value: u128) -> f64 {
    value as f64
}

/// Converts a whole number, or returns `None` outside the range.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the value is whole and in range"
)]
fn to_i128(whole: f64) -> Option<i128> {
    // 2^127, written by its exponent.
    const LIMIT: f64 = f64::from_bits((1023 + 127) << 52);
    (whole.abs() < LIMIT).then_some(whole as i128)
}

/// What a [`Planet`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawPlanet {
    center: WorldPosition,
    radius_mm: i128,
}

#[cfg(feature = "serde")]
impl TryFrom<RawPlanet> for Planet {
    type Error = PlanetError;

    fn try_from(raw: RawPlanet) -> Result<Self, PlanetError> {
        Self::new(raw.center, raw.radius_mm)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_root(squared: U384, expected: Option<u128>) {
        assert_eq!(nearest_root(squared), expected);
    }

    #[test]
    fn roots_round_to_the_nearest_whole_number() {
        check_root(U384::ZERO, Some(0));
        check_root(U384::from(2), Some(1)); // 1.41
        check_root(U384::from(3), Some(2)); // 1.73
        check_root(U384::from(6), Some(2)); // 2.45
        check_root(U384::from(7), Some(3)); // 2.65
        check_root(U384::square(u128::MAX), Some(u128::MAX));
        check_root(U384::product(u128::MAX, u128::MAX - 1), Some(u128::MAX - 1));
        check_root(U384::sum_of_squares(u128::MAX, 1, 0), Some(u128::MAX));
        check_root(U384::sum_of_squares(u128::MAX, u128::MAX, 0), None);
    }

    #[test]
    fn wide_and_narrow_roots_agree() {
        for value in [
            0,
            1,
            2,
            3,
            4,
            99,
            u128::from(u64::MAX),
            u128::MAX - 1,
            u128::MAX,
        ] {
            assert_eq!(wide_floor_root(U384::from(value)), Some(value.isqrt()));
        }
    }
}
