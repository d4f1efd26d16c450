//! What can be wrong with a planet or a place on it.

use core::fmt;

use nebula_math::WorldPosition;

/// A planet or a place over it cannot exist; each case names the value that is wrong.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum PlanetError {
    /// The radius is zero or negative.
    Radius {
        /// The radius that was given.
        radius_mm: i128,
    },
    /// The sphere reaches past the end of the universe.
    LeavesUniverse {
        /// The centre that was given.
        center: WorldPosition,
        /// The radius that was given.
        radius_mm: i128,
    },
    /// A face coordinate is not a number from -1 to 1.
    FaceCoordinate {
        /// `u` or `v`.
        name: char,
        /// The value that was given.
        value: f64,
    },
    /// The altitude is so low that it lies beyond the centre of the planet.
    BelowCenter {
        /// The planet's radius.
        radius_mm: i128,
        /// The altitude that was given.
        altitude_mm: i128,
    },
    /// The place lies outside the universe.
    PlaceLeavesUniverse {
        /// The planet's centre.
        center: WorldPosition,
        /// The altitude that was given.
        altitude_mm: i128,
    },
    /// The position is the planet's centre, which lies under no face.
    AtCenter {
        /// The planet's centre.
        center: WorldPosition,
    },
    /// The position is so far away that its altitude does not fit an `i128`.
    TooFar {
        /// The position that was given.
        position: WorldPosition,
    },
}

impl fmt::Display for PlanetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Radius { radius_mm } => {
                write!(f, "planet radius is {radius_mm} mm; give at least 1")
            }
            Self::LeavesUniverse { center, radius_mm } => write!(
                f,
                "planet at {} with a radius of {radius_mm} mm reaches past the end of the universe; move it inwards",
                Point(center)
            ),
            Self::FaceCoordinate { name, value } => write!(
                f,
                "face coordinate {name} is {value}; give a number from -1 to 1"
            ),
            Self::BelowCenter {
                radius_mm,
                altitude_mm,
            } => write!(
                f,
                "altitude {altitude_mm} mm lies beyond the centre of a planet of {radius_mm} mm; give at least the negative radius"
            ),
            Self::PlaceLeavesUniverse {
                center,
                altitude_mm,
            } => write!(
                f,
                "altitude {altitude_mm} mm over the planet at {} leaves the universe; give a smaller one",
                Point(center)
            ),
            Self::AtCenter { center } => write!(
                f,
                "the centre {} of a planet lies under no face; ask for another position",
                Point(center)
            ),
            Self::TooFar { position } => write!(
                f,
                "the altitude of {} does not fit an i128; ask for a nearer position",
                Point(position)
            ),
        }
    }
}

impl core::error::Error for PlanetError {}

/// Writes a position in a sentence.
struct Point<'a>(&'a WorldPosition);

impl fmt::Display for Point<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.0.x, self.0.y, self.0.z)
    }
}
