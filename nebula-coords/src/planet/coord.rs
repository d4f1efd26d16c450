//! `FaceCoord`: a place over a face of a planet's cube.

use core::fmt;

use super::{CubeFace, PlanetError};

/// A place over a planet: a face, coordinates on it from -1 to 1, and the altitude in millimetres.
///
/// `u` and `v` are finite and within -1 to 1, which the constructor checks; a place on an edge or
/// a corner can be written on each face that meets there.
///
/// ```
/// use nebula_coords::{CubeFace, FaceCoord};
///
/// let place = FaceCoord::new(CubeFace::PosX, -1.0, 0.25, -10)?;
/// assert_eq!((place.u(), place.v(), place.altitude_mm()), (-1.0, 0.25, -10));
/// let error = FaceCoord::new(CubeFace::PosX, 0.0, 1.5, 0).unwrap_err();
/// assert_eq!(error.to_string(), "face coordinate v is 1.5; give a number from -1 to 1");
/// # Ok::<(), nebula_coords::PlanetError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "RawCoord")
)]
pub struct FaceCoord {
    face: CubeFace,
    u: f64,
    v: f64,
    altitude_mm: i128,
}

impl FaceCoord {
    /// Makes a place from its face, face coordinates and altitude.
    ///
    /// # Errors
    /// When a face coordinate is not a number from -1 to 1.
    pub fn new(face: CubeFace, u: f64, v: f64, altitude_mm: i128) -> Result<Self, PlanetError> {
        for (name, value) in [('u', u), ('v', v)] {
            // Written so that NaN fails.
            if !(-1.0..=1.0).contains(&value) {
                return Err(PlanetError::FaceCoordinate { name, value });
            }
        }
        Ok(Self {
            face,
            u,
            v,
            altitude_mm,
        })
    }

    /// Returns the face.
    #[must_use]
    pub const fn face(&self) -> CubeFace {
        self.face
    }

    /// Returns the coordinate along the face's `u_axis`, from -1 to 1.
    #[must_use]
    pub const fn u(&self) -> f64 {
        self.u
    }

    /// Returns the coordinate along the face's `v_axis`, from -1 to 1.
    #[must_use]
    pub const fn v(&self) -> f64 {
        self.v
    }

    /// Returns the height above the sphere in millimetres; negative inside.
    #[must_use]
    pub const fn altitude_mm(&self) -> i128 {
        self.altitude_mm
    }

    /// Returns the unit vector from the planet's centre to the place.
    ///
    /// Each component has a relative error of at most 3.5 * 2^-53: three for the sum of squares,
    /// halved by the root, and one each for root and division.
    pub(super) fn direction(&self) -> [f64; 3] {
        let mut through = [0.0; 3];
        through[self.face.axis()] = if self.face.is_negative() { -1.0 } else { 1.0 };
        let (u, v) = self.face.uv_axes();
        through[u] = self.u;
        through[v] = self.v;
        // Summed in the order x, y, z whatever the face, so that two faces agree to the last bit
        // on the edge between them.
        let [x, y, z] = through;
        let length = (x * x + y * y + z * z).sqrt();
        through.map(|part| part / length)
    }
}

impl fmt::Display for FaceCoord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "face {} ({}, {}) at {} mm",
            self.face, self.u, self.v, self.altitude_mm
        )
    }
}

/// What a [`FaceCoord`] looks like before it is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawCoord {
    face: CubeFace,
    u: f64,
    v: f64,
    altitude_mm: i128,
}

#[cfg(feature = "serde")]
impl TryFrom<RawCoord> for FaceCoord {
    type Error = PlanetError;

    fn try_from(raw: RawCoord) -> Result<Self, PlanetError> {
        Self::new(raw.face, raw.u, raw.v, raw.altitude_mm)
    }
}
