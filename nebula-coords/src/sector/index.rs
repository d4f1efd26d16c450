//! `SectorIndex` and `SectorKey`: which sector.

use core::fmt;

use nebula_math::{Aabb128, WorldPosition};

use super::{SECTOR_BITS, SECTOR_SIZE_MM, SectorNeighbors, SectorRangeError};

/// Which sector: the upper 96 bits of a position's coordinates.
///
/// The sectors of the universe run from [`SectorIndex::MIN`] to [`SectorIndex::MAX`] on every
/// axis. The fields are public, so an index can be made that names no sector; methods that need a
/// place for it then return an error, and lookups find nothing. Nothing wraps.
///
/// ```
/// use nebula_coords::SectorIndex;
/// use nebula_math::WorldPosition;
///
/// let at = SectorIndex::from_world(&WorldPosition::new(-1, 0, 1 << 32));
/// assert_eq!(at, SectorIndex { x: -1, y: 0, z: 1 });
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "RawIndex")
)]
pub struct SectorIndex {
    /// Sectors along x.
    pub x: i128,
    /// Sectors along y.
    pub y: i128,
    /// Sectors along z.
    pub z: i128,
}

/// The smallest and the largest index on one axis.
const AXIS_MIN: i128 = i128::MIN >> SECTOR_BITS;
const AXIS_MAX: i128 = i128::MAX >> SECTOR_BITS;

impl SectorIndex {
    /// The sector that holds [`WorldPosition::MIN`].
    pub const MIN: Self = Self::new(AXIS_MIN, AXIS_MIN, AXIS_MIN);
    /// The sector that holds [`WorldPosition::MAX`].
    pub const MAX: Self = Self::new(AXIS_MAX, AXIS_MAX, AXIS_MAX);

    /// Makes an index from its three numbers.
    #[must_use]
    #[inline]
    pub const fn new(x: i128, y: i128, z: i128) -> Self {
        Self { x, y, z }
    }

    /// Returns the sector that holds a position.
    #[must_use]
    #[inline]
    pub const fn from_world(at: &WorldPosition) -> Self {
        // An arithmetic shift rounds down, so -1 mm lies in sector -1 and not in sector 0.
        Self::new(
            at.x >> SECTOR_BITS,
            at.y >> SECTOR_BITS,
            at.z >> SECTOR_BITS,
        )
    }

    /// Returns whether the index names a sector of the universe.
    ///
    /// ```
    /// use nebula_coords::SectorIndex;
    ///
    /// assert!(SectorIndex::MIN.is_in_universe());
    /// assert!(!SectorIndex::new(0, 0, SectorIndex::MAX.z + 1).is_in_universe());
    /// ```
    #[must_use]
    #[inline]
    pub const fn is_in_universe(&self) -> bool {
        axis_in_universe(self.x) && axis_in_universe(self.y) && axis_in_universe(self.z)
    }

    /// Returns the sector so many steps away, or `None` past the end of the universe.
    ///
    /// ```
    /// use nebula_coords::SectorIndex;
    ///
    /// assert_eq!(SectorIndex::default().checked_add(-1, 0, 2), Some(SectorIndex::new(-1, 0, 2)));
    /// assert_eq!(SectorIndex::MIN.checked_add(0, -1, 0), None);
    /// ```
    #[must_use]
    pub fn checked_add(&self, dx: i128, dy: i128, dz: i128) -> Option<Self> {
        let moved = Self::new(
            self.x.checked_add(dx)?,
            self.y.checked_add(dy)?,
            self.z.checked_add(dz)?,
        );
        moved.is_in_universe().then_some(moved)
    }

    /// Returns the sector's corner with the smallest coordinates.
    ///
    /// # Errors
    /// When the index names no sector of the universe.
    ///
    /// ```
    /// use nebula_coords::{SECTOR_SIZE_MM, SectorIndex};
    /// use nebula_coords::nebula_math::WorldPosition;
    ///
    /// let corner = SectorIndex::new(-1, 0, 2).min_corner()?;
    /// assert_eq!(corner, WorldPosition::new(-SECTOR_SIZE_MM, 0, 2 * SECTOR_SIZE_MM));
    /// assert!(SectorIndex::new(i128::MAX, 0, 0).min_corner().is_err());
    /// # Ok::<(), nebula_coords::SectorRangeError>(())
    /// ```
    #[inline]
    pub fn min_corner(&self) -> Result<WorldPosition, SectorRangeError> {
        if !self.is_in_universe() {
            return Err(SectorRangeError::new(*self));
        }
        Ok(WorldPosition::new(
            self.x << SECTOR_BITS,
            self.y << SECTOR_BITS,
            self.z << SECTOR_BITS,
        ))
    }

    /// Returns the box of all positions in the sector.
    ///
    /// # Errors
    /// When the index names no sector of the universe.
    ///
    /// ```
    /// use nebula_coords::SectorIndex;
    ///
    /// let bounds = SectorIndex::new(-1, 0, 0).bounds()?;
    /// assert_eq!((bounds.min().x, bounds.max().x), (-(1 << 32), -1));
    /// # Ok::<(), nebula_coords::SectorRangeError>(())
    /// ```
    pub fn bounds(&self) -> Result<Aabb128, SectorRangeError> {
        let low = self.min_corner()?;
        let last = SECTOR_SIZE_MM - 1;
        // The corner is a multiple of the size, so the last place never overflows.
        let high = WorldPosition::new(low.x | last, low.y | last, low.z | last);
        Ok(Aabb128::from_corners(low, high))
    }

    /// Returns the sectors that touch this one by a side, an edge or a corner, without itself.
    ///
    /// There are 26 of them, fewer at the end of the universe, in (x, y, z) order.
    ///
    /// ```
    /// use nebula_coords::SectorIndex;
    ///
    /// assert_eq!(SectorIndex::new(-1, 0, 7).neighbors().count(), 26);
    /// assert_eq!(SectorIndex::MAX.neighbors().count(), 7);
    /// ```
    pub fn neighbors(&self) -> SectorNeighbors {
        SectorNeighbors::new(*self, false)
    }

    /// Returns this sector and the ones that touch it.
    ///
    /// There are 27 of them, fewer at the end of the universe, in (x, y, z) order.
    pub fn with_neighbors(&self) -> SectorNeighbors {
        SectorNeighbors::new(*self, true)
    }
}

const fn axis_in_universe(i: i128) -> bool {
    AXIS_MIN <= i && i <= AXIS_MAX
}

impl fmt::Display for SectorIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "[{}, {}, {}]", self.x, self.y, self.z)
    }
}

/// What a [`SectorIndex`] looks like before its range is checked.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct RawIndex {
    x: i128,
    y: i128,
    z: i128,
}

#[cfg(feature = "serde")]
impl TryFrom<RawIndex> for SectorIndex {
    type Error = SectorRangeError;

    fn try_from(raw: RawIndex) -> Result<Self, SectorRangeError> {
        let index = Self::new(raw.x, raw.y, raw.z);
        if index.is_in_universe() {
            Ok(index)
        } else {
            Err(SectorRangeError::new(index))
        }
    }
}

/// The name of a sector in a map: a [`SectorIndex`] that says what it is used for.
///
/// ```
/// use nebula_coords::{SectorIndex, SectorKey};
/// use nebula_math::WorldPosition;
///
/// let key = SectorKey::from_world(&WorldPosition::new(-1, 0, 0));
/// assert_eq!(key, SectorKey(SectorIndex { x: -1, y: 0, z: 0 }));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct SectorKey(pub SectorIndex);

impl SectorKey {
    /// Returns the key of the sector that holds a position.
    #[must_use]
    #[inline]
    pub const fn from_world(at: &WorldPosition) -> Self {
        Self(SectorIndex::from_world(at))
    }

    /// Returns the sector that the key names.
    #[must_use]
    #[inline]
    pub const fn index(&self) -> SectorIndex {
        self.0
    }
}

impl From<SectorIndex> for SectorKey {
    #[inline]
    fn from(index: SectorIndex) -> Self {
        Self(index)
    }
}

impl fmt::Display for SectorKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
