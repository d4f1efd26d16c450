//! Sectors: positions split into a cube of 2^32 mm and an offset in it, and joined again.

mod error;
mod index;
mod neighbors;

pub use error::SectorRangeError;
pub use index::{SectorIndex, SectorKey};
pub use neighbors::SectorNeighbors;

use core::fmt;

use nebula_math::WorldPosition;

/// How many low bits of a coordinate are the offset inside a sector.
pub const SECTOR_BITS: u32 = 32;

/// The edge of a sector: 2^32 mm, about 4,295 km.
pub const SECTOR_SIZE_MM: i128 = 1 << SECTOR_BITS;

/// A place inside a sector: the low 32 bits of a position's coordinates, in millimetres.
///
/// Offsets count upwards from the sector's smallest corner on every axis, also where coordinates
/// are negative, so each value from 0 to 2^32 - 1 is a place of every sector.
///
/// ```
/// use nebula_coords::{SectorCoord, SectorOffset};
/// use nebula_math::WorldPosition;
///
/// let split = SectorCoord::from_world(&WorldPosition::new(-1, 0, 5));
/// assert_eq!(split.offset, SectorOffset { x: u32::MAX, y: 0, z: 5 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SectorOffset {
    /// Millimetres from the sector's low x side.
    pub x: u32,
    /// Millimetres from the sector's low y side.
    pub y: u32,
    /// Millimetres from the sector's low z side.
    pub z: u32,
}

impl SectorOffset {
    /// The sector's corner with the smallest coordinates.
    pub const ZERO: Self = Self::new(0, 0, 0);
    /// The sector's corner with the largest coordinates.
    pub const MAX: Self = Self::new(u32::MAX, u32::MAX, u32::MAX);

    /// Makes an offset from its millimetres.
    #[must_use]
    #[inline]
    pub const fn new(x: u32, y: u32, z: u32) -> Self {
        Self { x, y, z }
    }
}

impl fmt::Display for SectorOffset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "({}, {}, {})", self.x, self.y, self.z)
    }
}

/// A position written as a sector and an offset in it.
///
/// The split is a shift and a mask on each axis and loses nothing: every position has exactly one
/// `SectorCoord`, and joining it gives the position back. The order is by sector first, which is
/// not the order of [`WorldPosition`].
///
/// ```
/// use nebula_coords::{SectorCoord, SectorIndex};
/// use nebula_math::WorldPosition;
///
/// // One millimetre below the origin is the last place of the sector before it.
/// let at = WorldPosition::new(-1, 1 << 32, 0);
/// let split = SectorCoord::from_world(&at);
/// assert_eq!(split.sector, SectorIndex { x: -1, y: 1, z: 0 });
/// assert_eq!(split.offset.x, u32::MAX);
/// assert_eq!(split.to_world(), Ok(at));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SectorCoord {
    /// Which sector.
    pub sector: SectorIndex,
    /// Where in it.
    pub offset: SectorOffset,
}

impl SectorCoord {
    /// Splits a position; every position can be split.
    #[must_use]
    #[inline]
    pub const fn from_world(at: &WorldPosition) -> Self {
        Self {
            sector: SectorIndex::from_world(at),
            offset: SectorOffset::new(low_bits(at.x), low_bits(at.y), low_bits(at.z)),
        }
    }

    /// Joins sector and offset to the position they stand for.
    ///
    /// # Errors
    /// When the sector is outside the universe, which only a hand-made [`SectorIndex`] can be.
    ///
    /// ```
    /// use nebula_coords::{SectorCoord, SectorIndex, SectorOffset};
    ///
    /// let beyond = SectorCoord {
    ///     sector: SectorIndex { x: 1 << 95, y: 0, z: 0 },
    ///     offset: SectorOffset::ZERO,
    /// };
    /// let error = beyond.to_world().unwrap_err();
    /// assert!(error.to_string().contains("39614081257132168796771975168"));
    /// ```
    #[inline]
    pub fn to_world(&self) -> Result<WorldPosition, SectorRangeError> {
        let corner = self.sector.min_corner()?;
        // The corner's low 32 bits are zero, so "or" adds without a carry.
        Ok(WorldPosition::new(
            corner.x | i128::from(self.offset.x),
            corner.y | i128::from(self.offset.y),
            corner.z | i128::from(self.offset.z),
        ))
    }
}

/// Keeps the bits of a coordinate that lie inside a sector.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "dropping the upper 96 bits of the two's complement value is what this function is for"
)]
#[inline]
const fn low_bits(coordinate: i128) -> u32 {
    coordinate as u32
}

impl From<&WorldPosition> for SectorCoord {
    #[inline]
    fn from(at: &WorldPosition) -> Self {
        Self::from_world(at)
    }
}

impl From<WorldPosition> for SectorCoord {
    #[inline]
    fn from(at: WorldPosition) -> Self {
        Self::from_world(&at)
    }
}

impl TryFrom<SectorCoord> for WorldPosition {
    type Error = SectorRangeError;

    #[inline]
    fn try_from(split: SectorCoord) -> Result<Self, SectorRangeError> {
        split.to_world()
    }
}

impl fmt::Display for SectorCoord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} + {} mm", self.sector, self.offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(coordinate: i128, sector: i128, offset: u32) {
        let at = WorldPosition::new(coordinate, coordinate, coordinate);
        let split = SectorCoord::from_world(&at);
        assert_eq!(split.sector, SectorIndex::new(sector, sector, sector));
        assert_eq!(split.offset, SectorOffset::new(offset, offset, offset));
        assert_eq!(split.to_world(), Ok(at));
    }

    #[test]
    fn positions_split_at_multiples_of_the_sector_size() {
        check(0, 0, 0);
        check(SECTOR_SIZE_MM - 1, 0, u32::MAX);
        check(SECTOR_SIZE_MM, 1, 0);
        check(-1, -1, u32::MAX);
        check(-SECTOR_SIZE_MM, -1, 0);
        check(-SECTOR_SIZE_MM - 1, -2, u32::MAX);
    }

    #[test]
    fn the_ends_of_the_universe_split_into_the_outermost_sectors() {
        check(i128::MIN, -(1 << 95), 0);
        check(i128::MAX, (1 << 95) - 1, u32::MAX);
    }

    #[test]
    fn conversions_split_and_join() {
        let at = WorldPosition::new(-1, 0, SECTOR_SIZE_MM);
        let split = SectorCoord::from(at);
        assert_eq!(split, SectorCoord::from(&at));
        assert_eq!(WorldPosition::try_from(split), Ok(at));
        assert_eq!(SectorKey::from(split.sector), SectorKey::from_world(&at));
    }

    #[test]
    fn text_shows_sector_and_offset() {
        let split = SectorCoord::from_world(&WorldPosition::new(-1, 0, SECTOR_SIZE_MM));
        assert_eq!(split.to_string(), "[-1, 0, 1] + (4294967295, 0, 0) mm");
        assert_eq!(SectorKey(split.sector).to_string(), "[-1, 0, 1]");
    }
}
