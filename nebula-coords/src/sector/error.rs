//! The error for sectors that no position lies in.

use core::fmt;

use super::SectorIndex;

/// A sector index lies outside the universe.
///
/// Sectors run from -2^95 to 2^95 - 1 on every axis; only a hand-made index can leave that range.
///
/// ```
/// use nebula_coords::SectorIndex;
///
/// let error = SectorIndex::new(0, -(1 << 95) - 1, 0).bounds().unwrap_err();
/// assert_eq!(error.index().y, -(1 << 95) - 1);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SectorRangeError {
    index: SectorIndex,
}

impl SectorRangeError {
    pub(super) const fn new(index: SectorIndex) -> Self {
        Self { index }
    }

    /// Returns the index that is out of range.
    #[must_use]
    pub const fn index(&self) -> SectorIndex {
        self.index
    }
}

impl fmt::Display for SectorRangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "sector {} is outside the universe; each axis runs from -2^95 to 2^95 - 1",
            self.index
        )
    }
}

impl core::error::Error for SectorRangeError {}
