//! Where a thing stands on a tile map, and what a range query asks about.

use core::fmt;

use crate::Metric;

/// A tile of a map. Tiles order by x, then y, which is the order of every answer.
///
/// ```
/// use nebula_coords::Tile;
///
/// assert_eq!(Tile::new(-1, 2).manhattan_distance(Tile::new(1, 1)), 3);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Tile {
    /// Tiles along x.
    pub x: i32,
    /// Tiles along y.
    pub y: i32,
}

impl Tile {
    /// Makes a tile from its coordinates.
    #[must_use]
    pub const fn new(x: i32, y: i32) -> Self {
        Self { x, y }
    }

    /// Returns the number of steps along the axes to another tile, which can need 33 bits.
    #[must_use]
    pub fn manhattan_distance(self, other: Self) -> u64 {
        u64::from(self.x.abs_diff(other.x)) + u64::from(self.y.abs_diff(other.y))
    }

    /// Returns this tile at an elevation.
    ///
    /// ```
    /// use nebula_coords::{Elevation, Tile, TilePosition};
    ///
    /// let ground = Tile::new(-3, 4).at(Elevation::GROUND);
    /// assert_eq!(ground, TilePosition::new(-3, 4, Elevation::GROUND));
    /// ```
    #[must_use]
    pub const fn at(self, elevation: Elevation) -> TilePosition {
        TilePosition {
            tile: self,
            elevation,
        }
    }
}

impl fmt::Display for Tile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {})", self.x, self.y)
    }
}

/// A floor of a tile map: 0 to 15.
///
/// The type holds no other value, so a lookup at any elevation can miss nothing.
///
/// ```
/// use nebula_coords::Elevation;
///
/// assert_eq!(Elevation::new(15)?, Elevation::MAX);
/// let error = Elevation::new(16).unwrap_err();
/// assert_eq!(error.to_string(), "elevation 16 does not exist; give 0 to 15");
/// # Ok::<(), nebula_coords::ElevationError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "i64", into = "u8")
)]
pub struct Elevation(u8);

impl Elevation {
    /// The lowest floor.
    pub const GROUND: Self = Self(0);
    /// The highest floor.
    pub const MAX: Self = Self(15);
    /// How many floors there are.
    pub(super) const COUNT: usize = 16;

    /// Makes an elevation.
    ///
    /// # Errors
    /// When the number is not 0 to 15.
    pub fn new(number: i64) -> Result<Self, ElevationError> {
        match u8::try_from(number) {
            Ok(number @ 0..=15) => Ok(Self(number)),
            _ => Err(ElevationError { number }),
        }
    }

    /// Returns the number of the floor, 0 to 15.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the number as a list index.
    pub(super) fn index(self) -> usize {
        usize::from(self.0)
    }
}

impl TryFrom<i64> for Elevation {
    type Error = ElevationError;

    fn try_from(number: i64) -> Result<Self, ElevationError> {
        Self::new(number)
    }
}

impl From<Elevation> for u8 {
    fn from(elevation: Elevation) -> Self {
        elevation.0
    }
}

impl fmt::Display for Elevation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A number is no elevation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ElevationError {
    number: i64,
}

impl ElevationError {
    /// Returns the number that was given.
    #[must_use]
    pub const fn number(&self) -> i64 {
        self.number
    }
}

impl fmt::Display for ElevationError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "elevation {} does not exist; give 0 to 15", self.number)
    }
}

impl core::error::Error for ElevationError {}

/// A tile and an elevation: one place of a map.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TilePosition {
    /// Which tile.
    pub tile: Tile,
    /// Which floor of it.
    pub elevation: Elevation,
}

impl TilePosition {
    /// Makes a place from a tile's coordinates and an elevation.
    #[must_use]
    pub const fn new(x: i32, y: i32, elevation: Elevation) -> Self {
        Tile::new(x, y).at(elevation)
    }
}

impl fmt::Display for TilePosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "({}, {}) at elevation {}",
            self.tile.x, self.tile.y, self.elevation
        )
    }
}

/// The tiles a range query asks about. The boundary belongs to it.
///
/// ```
/// use nebula_coords::{Elevation, Metric, Tile, TileRange};
///
/// let steps = TileRange::manhattan(Tile::new(-1, 0), 2, Elevation::GROUND);
/// assert!(steps.contains(Tile::new(0, 1)));
/// assert!(!steps.contains(Tile::new(1, 1)));
/// let square = TileRange { metric: Metric::Chebyshev, ..steps };
/// assert!(square.contains(Tile::new(1, 2)));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TileRange {
    /// The tile in the middle.
    pub center: Tile,
    /// How many tiles away still counts; a negative range holds nothing.
    pub range: i32,
    /// How distance is measured.
    pub metric: Metric,
    /// The floor to look at, or `None` for all of them.
    pub elevation: Option<Elevation>,
}

impl TileRange {
    /// Makes the range of all tiles at most `range` steps along the axes away, on one floor.
    #[must_use]
    pub const fn manhattan(center: Tile, range: i32, elevation: Elevation) -> Self {
        Self {
            center,
            range,
            metric: Metric::Manhattan,
            elevation: Some(elevation),
        }
    }

    /// Returns whether the tile is in range, whatever the elevation.
    #[must_use]
    pub fn contains(&self, tile: Tile) -> bool {
        let Ok(range) = u32::try_from(self.range) else {
            return false;
        };
        let dx = tile.x.abs_diff(self.center.x);
        let dy = tile.y.abs_diff(self.center.y);
        Self::half_height(self.metric, range, dx).is_some_and(|half| dy <= half)
    }

    /// Returns how far up and down the range reaches in the column `dx` tiles beside its middle.
    pub(super) fn half_height(metric: Metric, range: u32, dx: u32) -> Option<u32> {
        let rest = range.checked_sub(dx)?;
        Some(match metric {
            Metric::Manhattan => rest,
            Metric::Chebyshev => range,
            Metric::Euclidean => {
                let (r, d) = (u64::from(range), u64::from(dx));
                u32::try_from((r * r - d * d).isqrt()).expect("at most the range")
            }
        })
    }
}
